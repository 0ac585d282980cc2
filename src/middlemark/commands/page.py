"""The verbs, and their help pages: a sentence, examples, and the options in groups with their defaults."""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import click

from middlemark.problems import Problem, RequestError

GROUPS = {
    "Choose": {
        "which": "Find the best middleware for your messages here, by a race.",
        "run": "Measure a suite, or the configurations that the options give.",
        "reproduce": "Measure a published study again, and judge each of its claims.",
    },
    "Read": {
        "show": "Print stored runs: the answer, every row, or data for programs.",
        "compare": "Print whether B is faster than A, slower, equivalent, or undecided.",
        "history": "Find the runs at which a figure of a suite changed.",
        "report": "Write the results of runs as one HTML file, or as Markdown.",
        "view": "Show the stored runs in the browser.",
        "list": "List adapters, suites, frameworks or runs.",
    },
    "Machine": {
        "doctor": "Find settings of this machine that distort or limit results.",
        "diagnose": "Find the limits of the machine that a run met, and try lifting one.",
        "tune": "Change the settings that doctor reports, and restore them.",
        "selftest": "Measure how often verdicts are false on this machine.",
    },
    "Exchange": {
        "import": "Read the logs of other tools into a run.",
        "export": "Write stored runs for other tools: JUnit, Parquet, HdrHistogram, …",
        "publish": "Make a small public file of a run, or check such files.",
        "site": "Make a static site of public results.",
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


MOST_COLUMNS = 120
"""The most columns of a help page. Longer lines are hard to read, even on a wide terminal."""


class Example(NamedTuple):
    """A command without its first word ``middlemark``, and its purpose."""

    command: str
    means: str


class Option(click.Option):
    """An option in a group of its page. ``default_text`` describes a default that is not a value.

    ``separator`` joins the values of an option that is given several times. Without a separator a second, different
    value is refused.
    """

    def __init__(self, *names: Any, group: str, default_text: str = "", separator: str = "", **attributes: Any) -> None:
        """Create the option; ``attributes`` are passed to click's option."""
        super().__init__(*names, **attributes)
        self.group = group
        self.default_text = default_text
        self.separator = separator

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser keep every value of the option, because click keeps only the last."""
        self.multiple, multiple = True, self.multiple
        super().add_to_parser(parser, ctx)
        self.multiple = multiple

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> Any:
        """Join the values of an option that is given several times.

        Raises RequestError if the option takes only one value.
        """
        typed = opts.get(str(self.name))
        if isinstance(typed, list) and not self.multiple:
            opts = {**opts, str(self.name): typed[-1] if ctx.resilient_parsing else self._one_of(typed)}
        return super().consume_value(ctx, opts)

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Convert the value to its type.

        A flag with several levels is already a text (``true,false``) and stays unchanged.
        """
        return value if self.is_flag and isinstance(value, str) else super().type_cast_value(ctx, value)

    def _one_of(self, typed: Sequence[Any]) -> Any:
        """Return the only value, or several values joined into one text.

        Raises RequestError if the option takes one value.
        """
        if len({*typed}) == 1:
            return typed[0]
        if self.is_flag:
            on, off = self.opts[0], self.secondary_opts[0]
            if not self.separator:
                raise RequestError([Problem(on, f"excludes {off}; leave one of them out")])
            return self.separator.join("true" if each else "false" for each in dict.fromkeys(typed))
        if self.separator:
            return self.separator.join(typed)
        values = " and ".join(dict.fromkeys(typed))
        raise RequestError([Problem(self.opts[0], f"is given twice, as {values}; leave one of them out")])

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
        """Create the argument. ``says``: the help text. ``attributes``: passed to click's argument."""
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
        formatter.write("\n".join(self._lines(ctx, help_width(ctx, formatter))) + "\n")

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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse an unknown command, and suggest the nearest."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            raise unknown_command(self, args[0], ctx)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they were added."""
        return list(self.commands)


def unknown_command(command: click.Command, word: str, ctx: click.Context) -> RequestError:
    """Return the error for a word that is not a subcommand of this command."""
    from middlemark.model.spelling import nearest

    if not isinstance(command, click.Group):
        return RequestError([Problem(word, f"`{ctx.command_path}` has no commands; leave {word} out")])
    near = _command_of_a_group(command, word, ctx) or nearest(word, command.list_commands(ctx))
    hint = f"did you mean '{near}'?" if near else f"`{help_command(ctx)}` lists the commands"
    return RequestError([Problem(word, f"there is no such command; {hint}")])


def _command_of_a_group(command: click.Group, word: str, ctx: click.Context) -> str:
    """Return ``list suites`` for the word ``suites``: the word with its group. Empty: the word is in no group."""
    groups = [(name, command.get_command(ctx, name)) for name in ("list", "tune")]
    return next(
        (f"{name} {word}" for name, each in groups if isinstance(each, GroupPage) and word in each.commands), ""
    )


def help_command(ctx: click.Context) -> str:
    """Return the command that prints the help page of a context's command."""
    return f"middlemark help{ctx.command_path.removeprefix('middlemark')}"


def help_width(ctx: click.Context, formatter: click.HelpFormatter) -> int:
    """Return the width of a help page in columns. Click would leave two columns of the terminal empty."""
    if ctx.terminal_width is not None:
        return formatter.width
    return max(min(shutil.get_terminal_size().columns, MOST_COLUMNS), 50)


def usage(command: click.Command, ctx: click.Context, width: int) -> Iterator[str]:
    """Yield the first lines of a help page: ``Usage:`` and the command with its arguments."""
    from middlemark.show.wrapping import wrap

    first, *further = wrap(" ".join([ctx.command_path, *command.collect_usage_pieces(ctx)]), width - 7)
    yield f"Usage: {first}"
    yield from (f"       {line}" for line in further)


def examples(listed: Iterable[Example], width: int) -> Iterator[str]:
    """Yield each command and its purpose: on the same line if all commands and purposes fit, else on the next line."""
    from middlemark.show.wrapping import as_typed, wrap

    commands = [(as_typed(f"middlemark {each.command}"), each.means) for each in listed]
    longest = max(len(command) for command, _ in commands)
    if all(longest + len(means) + 7 <= width for _, means in commands):
        yield from (f"  {command:<{longest}}  # {means}" for command, means in commands)
        return
    for command, means in commands:
        yield f"  {command}"
        yield from (f"      {line}" for line in wrap(means, width - 6))


_USUAL_NAMES = {
    "--qos": "--reliability",
    "--output": "--out",
    "--out": "--html",
    "--message-size": "--size",
    "--payload-size": "--size",
    "--frequency": "--rate",
    "--runs": "--trials",
    "--repeat": "--trials",
    "--time": "--duration",
    "--middleware": "--adapter",
    "--baseline": "--reference",
    "--threshold": "--margin",
    "-V": "--version",
    "-v": "--version",
}
"""Option of another tool → the option of Middlemark that does this."""
_NO_NUMBER = re.compile(r"is not a valid (?:integer|float)(?: range)?")
_EXTRA = re.compile(r"Got unexpected extra arguments? \((.*)\)")


def explained(error: click.ClickException) -> tuple[str, str]:
    """Return the message about an error in the arguments of a command, and the next step (empty: no next step)."""
    if isinstance(error, click.BadOptionUsage):
        return f"{error.option_name}: needs a value after it", ""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return error.format_message(), ""
    advice = f"`{help_command(context)}` lists the options"
    match error:
        case click.NoSuchOption():
            return _no_such_option(context, error.option_name), advice
        case click.MissingParameter(param=Argument() as param):
            return f"{param.make_metavar(context)}: is missing. {param.says}", advice
        case click.MissingParameter(param=Option() as param):
            return f"{param.opts[0]}: is missing. Its values: {str(param.help).rstrip('.')}", advice
        case click.BadParameter(param=click.Parameter() as param):
            return f"{param.opts[0]}: {_NO_NUMBER.sub('is no number', error.message.rstrip('.'))}", advice
    if found := _EXTRA.match(error.message):
        return f"{found[1]}: `{context.command_path}` takes no such argument", advice
    return error.format_message(), advice


def _no_such_option(context: click.Context, typed: str) -> str:
    """Return the error for an unknown option; it suggests the option or the command that the user probably meant."""
    from middlemark.model.spelling import nearest, quoted

    command = context.command
    word = typed.lstrip("-")
    named = {name: each for each in command.params for name in (*each.opts, *each.secondary_opts)}
    begun = [name for name in named if len(word) > 1 and name.startswith(typed)]
    formats = getattr(getattr(named.get("--format"), "type", None), "names", ())
    usual = _USUAL_NAMES.get(typed)
    if word in formats:
        meant = f"--format {word}"
    elif usual in named:
        meant = str(usual)
    elif isinstance(command, click.Group) and command.get_command(context, word):
        meant = f"{context.command_path} {word}"
    elif typed == "--trials":
        return f"{typed}: there is no such option; `middlemark run` and `middlemark selftest` have it"
    else:
        meant = begun[0] if len(begun) == 1 else nearest(typed, [*named, "--help"]) or ""
    hint = f"; did you mean {quoted(meant)}?" if meant else ""
    return f"{typed}: there is no such option{hint}"


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
        if not any(isinstance(each, Option) for each in command.params):
            command.options_metavar = ""
        return command

    return decorate
