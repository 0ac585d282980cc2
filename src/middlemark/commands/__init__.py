"""The verbs of the command line. Each is a module of this package."""

import importlib
from collections.abc import Iterator

import click

from middlemark import __version__
from middlemark.commands.page import GROUPS, VERBS, argument, help_width, page, unknown_command, usage

MODULES = {"import": "import_"}
"""Verb → its module, for verbs that are keywords of Python."""


@page("help", says="Print the help page of a verb, or of one of its commands.")
@argument(
    "words",
    nargs=-1,
    metavar="[VERB]…",
    says="The verb, with its command if it has one, as in `tune apply` (default: list all verbs).",
)
def _help(words: tuple[str, ...]) -> None:
    command: click.Command = group
    context = click.Context(group, info_name="middlemark")
    for word in words:
        found = command.get_command(context, word) if isinstance(command, click.Group) else None
        if found is None:
            raise unknown_command(command, word, context)
        command, context = found, click.Context(found, info_name=word, parent=context)
    click.echo(command.get_help(context))


@page("version", says="Print the version.")
def _version() -> None:
    click.echo(f"middlemark, version {__version__}")


HELPERS = {"help": _help, "version": _version}
"""Verbs without a module of their own. The list of verbs does not contain them."""


class Verbs(click.Group):
    """The group of verbs. Imports the module of a verb only when it is called, so `--version` does not import numpy."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of ``VERBS``."""
        # not list(VERBS): after the verb `list` was imported, the name `list` is its module
        return [*VERBS]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the verb's module and return its ``command``."""
        if name in HELPERS:
            helper: click.Command = HELPERS[name]
            return helper
        if name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"middlemark.commands.{MODULES.get(name, name)}").command
        return command

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs in their groups, without importing their modules."""
        formatter.write("\n".join(self._lines(ctx, help_width(ctx, formatter))) + "\n")

    def _lines(self, ctx: click.Context, width: int) -> Iterator[str]:
        from middlemark.show.wrapping import definitions, wrap

        yield from usage(self, ctx, width)
        yield ""
        yield from (f"  {line}" for line in wrap(self.help or "", width - 2))
        longest = max(map(len, VERBS))
        for title, verbs in GROUPS.items():
            yield from ("", f"{title}:")
            yield from definitions(((f"{verb:<{longest}}", sentence) for verb, sentence in verbs.items()), width)
        for paragraph in (NEXT_STEPS, self.epilog or ""):
            yield ""
            yield from wrap(paragraph, width)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest verb for an unknown one."""
        if args and args[0] not in {**VERBS, **HELPERS} and not args[0].startswith("-"):
            raise unknown_command(self, args[0], ctx)
        return super().resolve_command(ctx, args)


NEXT_STEPS = (
    "`middlemark help VERB` prints the page of a verb, with examples; `middlemark version` prints the version. "
    "To begin: middlemark which --size 1k --rate 1k"
)


@click.group(
    cls=Verbs,
    options_metavar="VERB",
    subcommand_metavar="[OPTION]…",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 everything measured; 1 a configuration failed, or something could not be stored or printed; "
    "2 the request is wrong; 3 nothing could be measured; 4 a condition of --fail-if is met, "
    "selftest gave false verdicts, or doctor found something that falsifies or limits results; 130 interrupted.",
)
@click.version_option(__version__, prog_name="middlemark")
def group() -> None:
    """Measure publish/subscribe and request/reply middleware with one ruler, and compare it with raw transports."""
