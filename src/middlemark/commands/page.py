"""The verbs, and their help pages: a sentence, examples, and the options in groups with their defaults."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import click

GROUPS = {
    "Choose": {
        "which": "Find the best middleware for your messages here, by a race.",
        "run": "Measure a suite, or the configurations that the options give.",
        "reproduce": "Measure a published study again, and judge each of its claims.",
    },
    "Read": {
        "show": "Print stored runs: the answer, every row, or data for programs.",
        "compare": "Print whether B is faster than A, slower, equivalent, or undecided.",
        "report": "Write the results of runs as one HTML file, or as Markdown.",
        "view": "Show the stored runs in the browser.",
        "list": "List adapters, suites, frameworks or runs.",
    },
    "Machine": {
        "doctor": "Find settings of this machine that hold a middleware back.",
        "diagnose": "Find the limits of the machine that a run met, and try lifting one.",
        "tune": "Change the settings that doctor reports, and restore them.",
        "selftest": "Measure how often verdicts are false on this machine.",
    },
    "Exchange": {
        "import": "Read the logs of other tools into a run.",
        "export": "Write stored runs for other tools: JUnit, Parquet, HdrHistogram, …",
        "workload": "Make a workload from a bag, a topology or a running ROS 2 graph.",
    },
    "Set up": {
        "build": "Build workers of this checkout, also against another version.",
        "hosts": "Check that several machines are ready to measure between them.",
        "certs": "Make a set of certificates and keys for trials with --security.",
        "about": "Print what a bug report needs: versions, machine, limits.",
    },
}
"""Group of verbs → verb → the sentence that describes it."""
VERBS = {verb: sentence for verbs in GROUPS.values() for verb, sentence in verbs.items()}

OPTION_GROUPS = ("What is measured", "Load", "What is shown", "How long", "Machine", "Output")
"""The groups of options, in the order of a help page."""


class Example(NamedTuple):
    """A command without its first word ``middlemark``, and its purpose."""

    command: str
    means: str


class Option(click.Option):
    """An option in a group of its page. ``default_text`` describes a default that is not a value."""

    def __init__(self, *names: Any, group: str, default_text: str = "", **attributes: Any) -> None:
        """``attributes``: those of click's option."""
        super().__init__(*names, **attributes)
        self.group = group
        self.default_text = default_text

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option as typed, and its help with the default."""
        record = super().get_help_record(ctx)
        if record is None:
            return None
        further = ["may be repeated"] if self.multiple else []
        default = self.default_text or (str(self.default) if isinstance(self.default, str | int | float) else "")
        if default and not (self.is_flag and default == "False"):
            further.append(f"default: {default}")
        text = str(self.help).rstrip(".")
        return record[0], f"{text} ({'; '.join(further)})." if further else f"{text}."


class Argument(click.Argument):
    """An argument with a help text."""

    def __init__(self, *names: Any, says: str, **attributes: Any) -> None:
        """``says``: the help text. ``attributes``: those of click's argument."""
        super().__init__(*names, **attributes)
        self.says = says


Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def option(*names: str, group: str, **attributes: Any) -> Callable[[Decorated], Decorated]:
    """Return the decorator that gives a command an option."""
    assert group in OPTION_GROUPS
    return click.option(*names, cls=Option, group=group, **attributes)


def argument(name: str, *, says: str, **attributes: Any) -> Callable[[Decorated], Decorated]:
    """Return the decorator that gives a command an argument."""
    return click.argument(name, cls=Argument, says=says, **attributes)


class Page(click.Command):
    """A command with a help page. ``notes``: paragraphs at the end of the page."""

    examples: Sequence[Example] = ()
    notes: Sequence[str] = ()

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the whole sentence; click would shorten it."""
        return self.help or ""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the page."""
        formatter.write("\n".join(self._lines(ctx, formatter.width)) + "\n")

    def sections(self, ctx: click.Context) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Yield the arguments, the subcommands and the groups of options, each with its title."""
        arguments = [each for each in self.params if isinstance(each, Argument)]
        yield "Arguments", [(each.make_metavar(ctx), each.says) for each in arguments]
        if isinstance(self, click.Group):
            commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
            yield "Commands", [(name, each.help or "") for name, each in commands if each]
        options = [each for each in self.params if isinstance(each, Option)]
        for group in OPTION_GROUPS:
            yield group, [record for each in options if each.group == group if (record := each.get_help_record(ctx))]

    def _lines(self, ctx: click.Context, width: int) -> Iterator[str]:
        from middlemark.show.wrapping import definitions, wrap

        yield from usage(self, ctx, width)
        yield ""
        yield from (f"  {line}" for line in wrap(self.help or "", width - 2))
        if self.examples:
            yield from ("", "Examples:")
            yield from examples(self.examples, width)
        for title, entries in self.sections(ctx):
            if entries:
                yield from ("", f"{title}:")
                yield from definitions(entries, width)
        for paragraph in self.notes:
            yield ""
            yield from wrap(paragraph, width)


class GroupPage(Page, click.Group):
    """A group of commands with a help page."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they were added."""
        return list(self.commands)


def usage(command: click.Command, ctx: click.Context, width: int) -> Iterator[str]:
    """Yield the first lines of a page: how the command is typed."""
    from middlemark.show.wrapping import wrap

    first, *further = wrap(" ".join([ctx.command_path, *command.collect_usage_pieces(ctx)]), width - 7)
    yield f"Usage: {first}"
    yield from (f"       {line}" for line in further)


def examples(listed: Iterable[Example], width: int) -> Iterator[str]:
    """Yield each command and its purpose: on the same line if all of them fit, else on the next line."""
    from middlemark.show.wrapping import wrap

    commands = [(f"middlemark {each.command}", each.means) for each in listed]
    longest = max(len(command) for command, _ in commands)
    if all(longest + len(means) + 7 <= width for _, means in commands):
        yield from (f"  {command:<{longest}}  # {means}" for command, means in commands)
        return
    for command, means in commands:
        yield f"  {command}"
        yield from (f"      {line}" for line in wrap(means, width - 6))


def advice_on(error: click.ClickException) -> str:
    """Return the next step after an error in the arguments of a command; empty if there is none."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return ""
    command, path = context.command, context.command_path
    if isinstance(error, click.NoSuchOption) and isinstance(command, click.Group):
        word = error.option_name.lstrip("-")
        if command.get_command(context, word):
            return f"it is a command: {path} {word}"
    return f"`middlemark help{path.removeprefix('middlemark')}` lists the options"


def page(
    name: str, *shown: tuple[str, str], notes: Sequence[str] = (), says: str = "", cls: type[Page] = Page, **more: Any
) -> Callable[[Callable[..., Any]], Any]:
    """Return the decorator that makes a function the command of this name.

    ``shown``: examples, each a command without ``middlemark`` and its purpose. ``says``: the sentence that describes a
    command that is no verb.
    """

    def decorate(function: Callable[..., Any]) -> click.Command:
        more_of_click = {"name": name, "cls": cls, "help": says or VERBS[name], "options_metavar": "[OPTION]…", **more}
        command: Page = click.command(**more_of_click)(function)
        command.examples = [Example(*each) for each in shown]
        command.notes = notes
        return command

    return decorate
