"""``middlemark tune``: applies the changes that doctor recommends, and restores the old settings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from middlemark import exits
from middlemark.commands.options import LISTED, check_names, checks, formats, suites
from middlemark.commands.page import GroupPage, argument, option, page
from middlemark.problems import MeasureError, Problem, RequestError

if TYPE_CHECKING:
    from middlemark.model.setting import Setting
    from middlemark.show.json.machine import PlannedChange
    from middlemark.system.settings import CannotError


class Tune(GroupPage):
    """The command group ``tune``.

    For the name of a check without a command, the error names the command that changes it.
    """

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse an unknown command."""
        if args and args[0] not in self.commands and args[0] in check_names():
            raise RequestError([Problem(args[0], f"is a check; to change it: middlemark tune apply {args[0]}")])
        return super().resolve_command(ctx, args)


@page(
    "tune",
    ("tune plan", "prints the commands that would make the changes"),
    ("tune apply rmem_max", "makes one change"),
    ("tune restore", "restores all changed settings"),
    notes=(
        "The old values are on disk before the first change, and every change can be restored. "
        "Without a command, tune prints the settings that are changed now.",
    ),
    cls=Tune,
    invoke_without_command=True,
    subcommand_metavar="[COMMAND]",
)
@formats(*LISTED)
@click.pass_context
def command(ctx: click.Context, output_format: str) -> int | None:
    """Print the settings that are changed now; return the exit code."""
    return _print_changed(output_format) if ctx.invoked_subcommand is None else None


_named = argument(
    "names",
    nargs=-1,
    metavar="[CHECK]…",
    shell_complete=checks,
    says="Checks of doctor (default: every check with a finding).",
)
_suite = option(
    "--suite",
    metavar="SUITE",
    group="What is measured",
    shell_complete=suites,
    default_text="what middlewares need in general",
    help="Make only the changes that this suite needs.",
)


@page(
    "plan",
    ("tune plan", "all changes that doctor recommends"),
    says="Print the commands that would make the changes, but change nothing.",
)
@_named
@_suite
@formats(*LISTED)
def plan(names: tuple[str, ...], suite: str | None, output_format: str) -> int:
    """Print the commands; return the exit code."""
    return _print_plan(_changes(names, suite), output_format)


@page(
    "apply",
    ("tune apply rmem_max", "until `tune restore` or the next boot"),
    ("tune apply rmem_max --persist", "also at every boot"),
    says="Make the changes. They last until `tune restore` or the next boot.",
)
@_named
@_suite
@option(
    "--persist",
    "persists",
    is_flag=True,
    group="How long",
    help="Also make the changes at every boot, with a file under /etc/sysctl.d.",
)
def apply(names: tuple[str, ...], suite: str | None, persists: bool) -> int:
    """Make the changes; return the exit code."""
    return _apply(_changes(names, suite), persists=persists)


@page("restore", ("tune restore", "also removes the file that --persist wrote"), says="Restore all changed settings.")
def restore() -> int:
    """Restore the settings; return the exit code."""
    return _restore()


for each in (plan, apply, restore):
    command.add_command(each)


def _changes(typed: Sequence[str], suite: str | None) -> "dict[str, tuple[Setting, ...]]":
    from middlemark.model.spelling import did_you_mean
    from middlemark.runs.remedies import changes_here
    from middlemark.system.needs import GENERAL

    names = check_names()
    if unknown := [each for each in typed if each not in names]:
        raise RequestError(
            [Problem("tune", f"there is no check {each}; {did_you_mean(each, names)}") for each in unknown]
        )
    needs = GENERAL
    if suite is not None:
        from middlemark.runs.conduct import built_workers, plan_here
        from middlemark.runs.needs import needs_of
        from middlemark.suite import load, raw_options

        built = built_workers()
        plan = plan_here(load((suite,), raw_options()), built)
        needs = needs_of(plan, [each.description for each in built.workers.values()], "lo")
    return changes_here(needs, typed)


def _print_plan(found: "dict[str, tuple[Setting, ...]]", output_format: str) -> int:
    from middlemark.show import output
    from middlemark.show.json.machine import PlannedChange, TunePlanOutput
    from middlemark.show.records import render
    from middlemark.show.wrapping import as_typed

    changes = [_planned(check, change) for check, some in found.items() for change in some]
    if output_format == "text":
        lines = [] if changes else ["nothing to change: middlemark doctor prints the other findings"]
        for each in changes:
            remark = "# unchanged" if each.now == each.after else f"# now {each.now or 'free'}"
            cannot = f"; cannot be set: {each.cannot}" if each.cannot else ""
            lines.append(f"{each.command}  {remark}; {each.check}{cannot}")
        text = "".join(f"{as_typed(line)}\n" for line in lines)
    else:
        text = render(output_format, TunePlanOutput(changes=tuple(changes)), PlannedChange, changes)
    return exits.CELL_FAILED if output.failed(text) else exits.OK


def _planned(check: str, change: "Setting") -> "PlannedChange":
    """Return a change with the value that the setting has now, and why it cannot be set."""
    from middlemark.runs.remedies import as_settings
    from middlemark.show.json.machine import PlannedChange
    from middlemark.system.settings import CannotError, read, why_not

    now = ""
    try:
        [setting] = as_settings([change])
        now = read(setting.target)
        reason: CannotError | None = why_not(setting)
    except CannotError as error:
        reason = error
    return PlannedChange(
        check=check,
        target=change.target,
        now=now,
        after=change.value,
        command=change.command,
        cannot="" if reason is None else str(reason),
    )


def _apply(found: "dict[str, tuple[Setting, ...]]", *, persists: bool) -> int:
    from middlemark import interrupts
    from middlemark.show import output
    from middlemark.system import changes, settings
    from middlemark.system.journal import Journal, JournalError

    wanted, refused = _settable(found)
    if not wanted and not refused:
        click.echo("nothing to change: every setting has the value that doctor recommends")
        return exits.OK
    if not wanted and _by_hand(found):
        return exits.CELL_FAILED
    for check, error in refused:
        click.echo(f"middlemark: {check} is not changed: {error}", err=True)
    tell = _tell
    try:
        with interrupts.unwind(), changes.changing(Journal(), tell, kept=True, report=tell) as changing:
            if persists:
                for sentence in changes.persist(changing, wanted, tell):
                    click.echo(sentence)
            else:
                changing.make(wanted)
    except (JournalError, settings.CannotError) as error:
        raise MeasureError(f"nothing is changed: {error}", error.advice) from None
    for each in wanted:
        click.echo(f"{each.target} = {each.value}")
    output.say("to restore: middlemark tune restore")
    return exits.CELL_FAILED if refused else exits.OK


def _settable(found: "dict[str, tuple[Setting, ...]]") -> "tuple[list[Setting], list[tuple[str, CannotError]]]":
    """Return the settings to change, and the settings that cannot be set: each with its check's name and the reason."""
    from middlemark.runs.remedies import as_settings
    from middlemark.system.settings import CannotError, read, why_not

    wanted: list[Setting] = []
    refused: list[tuple[str, CannotError]] = []
    for check, some in found.items():
        for change in some:
            try:
                [setting] = as_settings([change])
                if (reason := why_not(setting)) is not None:
                    raise reason
                if read(setting.target) != setting.value:
                    wanted.append(setting)
            except CannotError as error:
                refused.append((check, error))
    return wanted, refused


def _by_hand(found: "dict[str, tuple[Setting, ...]]") -> bool:
    """Print the commands for an administrator, unless this process is root; return whether they were printed."""
    import os

    if os.geteuid() == 0:
        return False
    click.echo("this needs root; the commands:")
    for changes in found.values():
        for change in changes:
            click.echo(f"  {change.command}")
    return True


def _restore() -> int:
    from middlemark import interrupts
    from middlemark.system.changes import in_force, put_back
    from middlemark.system.journal import Journal, JournalError

    journal = Journal()
    try:
        if not journal.entries():
            click.echo("nothing is changed")
            return exits.OK
        with interrupts.unwind(), journal.locked():
            before = in_force(journal)
            sentences = put_back(journal, journal.entries(), _tell, {})
            still_changed = in_force(journal)
    except JournalError as error:
        raise MeasureError(str(error), error.advice) from None
    for each in before:
        if each not in still_changed and not any(sentence.startswith(f"{each.target}:") for sentence in sentences):
            click.echo(f"{each.target} = {each.before or 'free'}")
    for sentence in sentences:
        click.echo(f"middlemark: {sentence}", err=True)
    return exits.CELL_FAILED if still_changed else exits.OK


def _print_changed(output_format: str) -> int:
    from middlemark.show import output
    from middlemark.show.json.machine import ChangedSetting, TuneOutput
    from middlemark.show.json.output import filled
    from middlemark.show.records import render
    from middlemark.system.changes import in_force
    from middlemark.system.journal import JournalError

    try:
        changed = in_force()
    except JournalError as error:
        raise MeasureError(str(error), error.advice) from None
    if output_format != "text":
        listed = [filled(ChangedSetting, each) for each in changed]
        text = render(output_format, TuneOutput(changed=tuple(listed)), ChangedSetting, listed)
        return exits.CELL_FAILED if output.failed(text) else exits.OK
    for each in changed:
        file = f", at every boot by {each.file}" if each.file else ""
        orphaned = "; its process has ended, so the setting must be restored" if each.is_orphaned else ""
        click.echo(f"{each.target} = {each.after} (before: {each.before or 'free'}{file}{orphaned})")
    if changed:
        output.say("to restore them: middlemark tune restore")
    else:
        output.say("nothing is changed; `middlemark tune plan` prints the changes that doctor recommends")
    return exits.OK


def _tell(text: str) -> None:
    click.echo(f"middlemark: {text}", err=True)
