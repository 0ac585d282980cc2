"""The verbs of the command line. Each is a module of this package."""

import importlib

import click

from middlemark import __version__

VERBS = {
    "which": "Find the best middleware for your messages on this machine, by a race.",
    "run": "Measure a suite, or the configurations that the options give.",
    "doctor": "Find settings of this machine that hold a middleware back, and print the command that fixes each.",
    "hosts": "Check that several machines are ready to measure between them.",
    "reproduce": "Measure a published study again, and judge each of its claims.",
    "show": "Print a stored run: the summary, or every row and warning.",
    "diagnose": "Find the limits of the machine that a run met, and measure before and after lifting one.",
    "compare": "Say whether B is faster than A, slower, equivalent, or undecided.",
    "report": "Write the results of runs as one HTML file, or as Markdown.",
    "view": "Show the stored runs in the browser.",
    "selftest": "Measure how often verdicts are false on this machine, and which differences they find.",
    "export": "Write a stored run for other tools: Google Benchmark, HdrHistogram, Parquet, CSV, JUnit, …",
    "import": "Read the logs of other tools into a run.",
    "tune": "Change the settings that doctor reports, and restore them.",
    "certs": "Make a set of certificates and keys, like the one that a trial with --security makes.",
    "build": "Build the workers of this checkout, or an adapter against another version of its middleware.",
    "workload": "Make a workload from a recorded bag, a topology or a running ROS 2 graph.",
    "about": "Print what a bug report needs: versions, machine, limits, environment.",
    "list": "List adapters, suites, frameworks or runs.",
}

MODULES = {"import": "import_"}
"""Verb → its module, where the verb is a keyword of Python."""


class Verbs(click.Group):
    """The group of verbs. Imports the module of a verb only when it is called, so `--version` does not import numpy."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of ``VERBS``."""
        return [*VERBS]  # not list(VERBS): the name `list` becomes the verb's module once that is imported

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
