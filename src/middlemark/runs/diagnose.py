"""The limits that the rows of a run met, the settings that lift them, and the plan that measures before and after."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from middlemark.model.asked import Lift
from middlemark.model.cell import Cell
from middlemark.model.description import Description
from middlemark.model.plan import Plan
from middlemark.model.units import format_count, format_percent
from middlemark.plan.make import Measuring, interleave
from middlemark.runs.remedies import lift_of
from middlemark.sites.machine import read_machine
from middlemark.stats.diagnosis import Limit, by_check, limits_of
from middlemark.stats.rates import counts as counts_of
from middlemark.stats.verdict import CONFIDENCE
from middlemark.verdicts.names import size

if TYPE_CHECKING:
    from middlemark.stats.result import CellResult
    from middlemark.verdicts.rows import MeasuredRun

MOST_SENTENCES = 3
ALL = 0.999
"""From this share of received messages on, all messages count as received: trials with one rate may differ by a
message."""
MOST_CELLS = 6
"""The most rows that are measured to try a setting. The rows that the limit affects most are chosen."""


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """One limit, the rows that met it, and the setting that lifts it (None: this machine has no such setting)."""

    check: str
    limits: tuple[Limit, ...]
    lift: Lift | None
    sentence: str


def diagnosed(run: "MeasuredRun") -> tuple[Diagnosis, ...]:
    """Return the limits for which the run has evidence, the worst first.

    On a machine that did not measure the run, the diagnoses have no settings.
    """
    described = {each.name: each for each in run.file.adapters}
    here = not run.file.imported and read_machine().host == run.file.machine.host
    found = limits_of(run.results, run.outcomes, described)
    return tuple(_diagnosis(check, limits, run.file.plan, described, here) for check, limits in by_check(found))


def _diagnosis(
    check: str, limits: Sequence[Limit], plan: Plan, described: Mapping[str, Description], here: bool
) -> Diagnosis:
    first = limits[0]
    lift = lift_of(first, plan, described) if here and not first.advice else None
    more = f" (and {format_count(len(limits) - 1, 'more row')})" if len(limits) > 1 else ""
    lifts = f"`{lift.command}` lifts it" if lift else first.advice and f"what helps: {first.advice}"
    end = f"; {lifts}" if lifts else ""
    sentence = f"{named(plan.cells[first.cell])}{more} {first.symptom}: {first.seen}{end}."
    return Diagnosis(check=check, limits=tuple(limits), lift=lift, sentence=sentence)


def diagnosis_lines(run: "MeasuredRun", folder: str) -> list[str]:
    """Return at most three sentences. If a setting lifts a limit, also return the command that tries the setting."""
    found = diagnosed(run)
    lines = [each.sentence for each in found[:MOST_SENTENCES]]
    if any(each.lift for each in found):
        lines.append(f"To measure before and after: middlemark diagnose {folder} --try")
    return lines


def named(cell: Cell) -> str:
    """Return the name of a row, such as ``cyclonedds udp at 1 MiB``."""
    name = cell.adapter if cell.adapter == cell.transport else f"{cell.adapter} {cell.transport}"
    return f"{name} {'in' if cell.workload else 'at'} {size(cell)}"


def trial_plan(run: "MeasuredRun", found: Diagnosis, trials: int, seed: int) -> Plan:
    """Return the plan that measures the rows of a diagnosis before and after the change, interleaved."""
    assert found.lift is not None
    plan = run.file.plan
    cells: list[Cell] = []
    measured: list[Measuring] = []
    for limit in found.limits[:MOST_CELLS]:
        model = next(each for each in plan.trials if each.cell == limit.cell)
        for side in found.lift.sides(plan.cells[limit.cell]):
            if side not in cells:
                cells.append(side)
                measured.append(Measuring(f"try {found.check}", model.limits, model.domain, trials, "diagnose --try"))
    return Plan(
        cells=tuple(cells),
        trials=tuple(interleave(measured, seed)),
        names=tuple(each.name for each in measured),
        seed=seed,
    )


def render_tried(run: "MeasuredRun", output_format: str) -> str:
    """Return the verdicts of a run of ``diagnose --try``, as text, JSON, CSV or Markdown."""
    from middlemark.show import output
    from middlemark.show.json.machine import LiftOutput, TriedLimitOutput, TriedRow
    from middlemark.show.records import render
    from middlemark.show.terminal import wrapped

    tried = run.file.tried
    assert tried is not None
    lift, sentences = tried.lift, verdicts(run, tried.lift)
    if output_format == "text":
        lines = [*sentences, f"The change is undone; to keep it: {lift.keep}"]
        return "\n".join(line for each in lines for line in wrapped(each, output.width())) + "\n"
    whole = TriedLimitOutput(
        check=tried.check,
        lift=msgspec.convert(lift, LiftOutput, from_attributes=True),
        verdicts=tuple(sentences),
        run=str(run.folder),
    )
    same = {"check": tried.check, "setting": lift.name, "before": lift.before, "after": lift.after}
    return render(output_format, whole, TriedRow, [TriedRow(verdict=each, **same) for each in sentences], indent=1)


def verdicts(run: "MeasuredRun", lift: Lift) -> list[str]:
    """Return a sentence for each row: the verdict on the change from before to after."""
    results = run.results
    return [
        f"{lift.name} {lift.before or 'free'} → {lift.after}: {_verdict(run, before, after, lift)}"
        for before, after in zip(results[::2], results[1::2], strict=False)
    ]


def _verdict(run: "MeasuredRun", before: "CellResult", after: "CellResult", lift: Lift) -> str:
    parts: list[str] = []
    if before.failed_trials or after.failed_trials:
        done = [f"{each.trials} of {each.trials + each.failed_trials}" for each in (before, after)]
        parts.append(f"measured in {done[0]} → {done[1]} trials")
    received = _received(run, (before.cell, after.cell))
    rounds = sorted(received[0].keys() & received[1].keys())
    shares = [statistics.fmean(some[number] for number in rounds) if rounds else 1.0 for some in received]
    if min(shares) < ALL:
        verdict = _sign_verdict([received[1][number] - received[0][number] for number in rounds])
        parts.append(f"received {_percent(shares[0])} → {_percent(shares[1])} ({verdict})")
    parts += _compared(run, before.cell, after.cell, lift)
    return f"{named(before.cell)}, {'; '.join(parts) or 'nothing could be measured on both sides'}."


def _received(run: "MeasuredRun", cells: Sequence[Cell]) -> list[dict[int, float]]:
    """Return for each cell: round → share of messages that arrived, 0 to 1. A failed trial has the share 0.

    With a fixed rate, the share is a share of the most messages that any trial sent. So messages that were not sent in
    time count as lost.
    """
    trials = [[each.outcome for each in run.trials[run.file.plan.cells.index(cell)]] for cell in cells]
    counted = [(outcome, counts_of(outcome)) for some in trials for outcome in some]
    most = max((counts.sent for _, counts in counted if counts), default=0)
    found = []
    for cell, outcomes in zip(cells, trials, strict=True):
        shares = {}
        for outcome in outcomes:
            counts = counts_of(outcome)
            if outcome.failed is not None:
                shares[outcome.number] = 0.0
            elif counts is not None and counts.sent:
                expected = sum(each.expected for each in outcome.subscribers) or counts.sent
                sent = 1.0 if isinstance(cell.rate, str) else counts.sent / most
                shares[outcome.number] = max(0.0, 1 - counts.lost / expected) * sent
        found.append(shares)
    return found


def _sign_verdict(differences: Sequence[float]) -> str:
    """Return the verdict of the exact sign test over the rounds. Ratios cannot be used, because shares may be 0."""
    more, less = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    n = more + less
    tail = sum(math.comb(n, k) for k in range(max(more, less), n + 1)) / 2**n
    if n == 0 or min(1.0, 2 * tail) > 1 - CONFIDENCE:
        return f"undecided: better in {more} of {len(differences)} rounds"
    word = "better" if more > less else "worse"
    return f"{word} in {max(more, less)} of {len(differences)} rounds"


def _percent(share: float) -> str:
    text = format_percent(float(f"{share:.3g}"))
    return "99.9 %" if share < 1 and text == "100 %" else text


def _compared(run: "MeasuredRun", before: Cell, after: Cell, lift: Lift) -> list[str]:
    """Return the verdicts of ``compare``: on the throughput of streams at full rate, else on p50 and p99."""
    from middlemark.runs.sides import sides_of
    from middlemark.stats.comparisons import compare
    from middlemark.stats.pairings import by_factors

    floods = before.pattern == "stream" and before.rate == "max"
    metrics = ("throughput",) if floods else ("p50", "p99")
    sides, _ = sides_of(run.folder, lambda _: None, "", metrics)
    field = "system" if lift.change else "native"
    pairs = [each for each in by_factors(sides, [field]) if (each.a.cell, each.b.cell) == (before, after)]
    found = []
    for each in compare(pairs, metrics):
        judged = each.judged
        low, high = judged.low, judged.high
        interval = "" if low is None or high is None else f", {_signed(low)}…{_signed(high)} %"
        found.append(f"{each.metric} {_signed(judged.shift)} % ({each.word}{interval})")
    return found


def _signed(part: float) -> str:
    """Return a change in percent with its sign. A decrease of more than 98 % has more digits."""
    text = f"{100 * part:+,.0f}" if part > -0.98 else f"{100 * part:+.4g}"
    return text if float(text.replace(",", "")) else "0"
