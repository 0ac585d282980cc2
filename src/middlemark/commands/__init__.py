"""The verbs: a table of contents. Each is a file of this folder, imported when it is called."""

import importlib

import click

from middlemark import __version__

VERBS = {
    "which": "Say which middleware is best for such messages here, and how sure that is.",
    "run": "Measure a suite, or what the options say.",
    "doctor": "Say what of this machine will hold a middleware back, and the command that mends it.",
    "hosts": "See whether several machines are ready to measure between them.",
    "reproduce": "Measure a published study again, and judge its claims one by one.",
    "show": "Print a stored run again: the answer, or every row and warning.",
    "diagnose": "Say which limit of the machine held a run back, and try a change before and after.",
    "compare": "Say whether B is faster than A, slower, equivalent, or undecided.",
    "report": "Write what runs came to as one HTML file, or as Markdown.",
    "view": "Show the stored runs in the browser.",
    "selftest": "Say how often a verdict is false on this machine, and which differences it finds.",
    "export": "Write a stored run for other tools: Google Benchmark, HdrHistogram, Parquet, CSV, JUnit, …",
    "import": "Read what other tools wrote into a run.",
    "tune": "Change what doctor finds wanting on this machine, and put it back.",
    "certs": "Make a set of certificates and keys, as trials with --security have it.",
    "build": "Build the workers of this checkout, or an adapter against another version, to compare the two.",
    "workload": "Make a workload from what there is: a recorded bag, a topology.",
    "about": "Say what a report of a fault needs: versions, machine, limits, environment.",
    "list": "List adapters, suites, frameworks or runs.",
}

MODULES = {"import": "import_"}
"""What a verb's file is called where Python does not allow its own name."""


class Verbs(click.Group):
    """Imports a verb's module when it is called: `--version` must not pay for numpy."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of the house."""
        return [*VERBS]  # `list` is a verb of this package once it is imported

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the verb's module and return its ``command``."""
        if name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"middlemark.commands.{MODULES.get(name, name)}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([*VERBS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest verb for an unknown one."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], VERBS, 1)
            ctx.fail(
                f"no such command: {args[0]}."
                + (f" Did you mean {near[0]}?" if near else f" There are: {', '.join(VERBS)}.")
            )
        return super().resolve_command(ctx, args)


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 everything measured; 1 a configuration failed, or something could not be stored or printed; "
    "2 the request is wrong; 3 nothing could be measured; 4 a --fail-if of run or compare holds, "
    "selftest gave false verdicts, or doctor found what falsifies or limits; 130 interrupted.",
)
@click.version_option(__version__, prog_name="middlemark")
def group() -> None:
    """Measure publish/subscribe and request/reply middleware with one ruler, and compare it with raw transports."""
