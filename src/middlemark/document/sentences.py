"""One contest → what can be said of it. No figure, order or difference that the trials do not bear."""

import math
from collections.abc import Collection, Sequence

from middlemark.document.contests import Contest
from middlemark.document.document import Conclusion, Row
from middlemark.document.judged import JudgedDocument, trials_wanted
from middlemark.document.numbers import brief, ratio, rounded, us
from middlemark.document.outcome import Outcome, outcome_of
from middlemark.document.rows import latency_of
from middlemark.document.words import is_unprotected, plain, words
from middlemark.model.spelling import listing
from middlemark.model.units import format_percent, format_size
from middlemark.stats.comparisons import Comparison
from middlemark.stats.floors import by_rate
from middlemark.stats.interval import FEWEST
from middlemark.stats.verdict import CONFIDENCE, MARGIN, Judgement, Verdict

CARRIERS = {
    "shared-memory": "over shared memory",
    "udp": "over UDP",
    "tcp": "over TCP",
    "unix-socket": "over Unix sockets",
    "message-queue": "over message queues",
    "process-memory": "within one process",
}
_LISTED = 4
"""Rows told one by one where there is no verdict."""


def place(contest: Contest, told: Collection[str], run: str, *, size: bool = True) -> str:
    """Return where it was: ``At 1 KiB over UDP (stream, 1 → 1, rate 1 kHz)``."""
    at = f"At {format_size(contest.size)}" if size else ""
    over = CARRIERS.get(contest.carrier, f"over {contest.carrier}") if contest.carrier else ""
    experiment = words(contest.contenders[0].result.cell, told)
    context = "; ".join(each for each in (experiment, run) if each)
    text = " ".join(each for each in (at, over, f"({context})" if context else "") if each)
    return plain(text[:1].upper() + text[1:])


def ranking(contest: Contest, judged: JudgedDocument, told: Collection[str], run: str) -> Conclusion:
    """Return the answer where every contender has the trials for a verdict."""
    best = contest.contenders[0]
    outcome = outcome_of(contest, judged)
    where = place(contest, told, run)
    fastest = outcome.verdict == "best"
    lead = f"{where}, {best.name} " + (
        f"is the fastest with {measure(best)}" if fastest else f"has the best median, {measure(best)}"
    )
    parts = [_beside(best, other, each, outcome) for other, each in outcome.beside]
    if outcome.gone:
        names = listing(f"{each.name} ({figure_of(each)})" for each in outcome.gone)
        parts.append(f"{names} left the race as slower")
    text = f"{lead}{_floor(best)}; {'; '.join(parts)}."
    return _answer(contest, text, "sure" if outcome.sure else "unsure")


def too_few(contest: Contest, told: Collection[str], run: str) -> Conclusion:
    """Return the answer where no difference can be called one."""
    listed, rest = contest.contenders[:_LISTED], contest.contenders[_LISTED:]
    first, *others = listed
    figures = [
        f"{first.name} {_took(first)} {measure(first)}{_floor(first)}",
        *(f"{each.name} {figure_of(each)}{_floor(each, beside=first)}" for each in others),
    ]
    if len(rest) == 1:
        figures.append(f"{rest[0].name} {figure_of(rest[0])}")
    elif rest:
        figures.append(f"{len(rest)} more up to {rest[-1].name} with {figure_of(rest[-1])}")
    text = f"{place(contest, told, run)}, {'; '.join(figures)}: {_trials(contest.contenders)}"
    return _answer(contest, f"{text}, too few to call a difference ({FEWEST} are the fewest).", "unsure")


def alone(contest: Contest, told: Collection[str], run: str) -> Conclusion:
    """Return the answer where nothing stands beside it but the floor."""
    (row,) = contest.contenders
    text = f"{place(contest, told, run)}, {row.name} {_took(row)} {measure(row)}"
    interval = row.result.interval
    if interval is None:
        few = f", too few for an interval: {FEWEST} are the fewest" if row.result.trials < FEWEST else ""
        sure = f"{_trials([row])}{few}"
    else:
        low, high = (_figure(row, each) for each in interval)
        sure = f"{100 * CONFIDENCE:.0f} % interval {low} to {high}, {_trials([row])}"
    return _answer(contest, f"{text} ({sure}){_floor(row)}.", "unsure" if interval is None else "sure")


def measure(row: Row) -> str:
    """Return the row's own figure and what it is of: ``21.0 µs a round trip``."""
    if _rate(row):
        return figure_of(row)
    what = {"stream": "one way", "request-reply": "a call"}.get(row.result.cell.pattern, "a round trip")
    return f"{figure_of(row)} {what}"


def figure_of(row: Row) -> str:
    """Return the figure that stands for the row, the median of its trials: ``21.0 µs``, ``412k messages/s``."""
    if _rate(row):
        return _figure(row, row.result.rate_hz)
    latency = latency_of(row.result)
    return _figure(row, latency.p50 if latency else None)


def part(shift: float, *, rate: bool) -> str:
    """Return how much more or less: ``12 % longer``, ``2.3 times as long``, ``32 % fewer messages``."""
    if rate:
        return f"{_percent(-shift)} fewer messages" if shift < 0 else f"{_percent(shift)} more messages"
    return f"{ratio(1 + shift)} times as long" if shift >= 1 else f"{_percent(shift)} longer"


def _beside(best: Row, other: Row, found: Comparison | None, outcome: Outcome) -> str:
    own = f"{figure_of(other)}{_floor(other, beside=best)}"
    if found is None:
        return f"{other.name} ({own}) was not compared with it: they share no round of trials"
    judged = found.judged
    if judged.low is None or judged.high is None:
        return f"{other.name} ({own}) shares only {judged.pairs} rounds of trials with it: too few to tell"
    pairs = f"{judged.pairs} trials each"
    interval = f"{100 * CONFIDENCE:.0f} % interval {_between(judged, rate=_rate(other))}"
    if judged.verdict is Verdict.EQUIVALENT:
        return f"{other.name} ({own}) is equivalent, within ±{100 * MARGIN:g} % ({interval}, {pairs})"
    if judged.verdict is Verdict.CANNOT_TELL and outcome.verdict == "tie":
        return f"{other.name} ({own}) differs by less than {format_percent(outcome.within)} ({interval}, {pairs})"
    if judged.verdict is Verdict.CANNOT_TELL:
        apart = judged.low > 0 or judged.high < 0
        # An interval is of one comparison, a verdict of all that are judged together.
        alone = f", but as one of {found.family} comparisons that is not enough" if apart and found.family > 1 else ""
        told = f"cannot be told with {pairs} ({interval}{alone})"
        return f"whether {other.name} ({own}) differs {told}: {trials_wanted(judged.trials_needed)} would"
    verb = "receives" if _rate(other) else "takes"
    much = part(judged.shift, rate=_rate(other))
    return f"{other.name} {verb} {much} ({interval}, {pairs}){_floor(other, beside=best)}"


def _between(judged: Judgement, *, rate: bool) -> str:
    low, high = judged.low or 0.0, judged.high or 0.0
    if not rate and judged.shift >= 1:  # as the shift itself is told, see part()
        return f"{ratio(1 + low)} to {ratio(1 + high)} times"
    if rate:
        return f"{_signed(low)} to {_signed(high)}"
    return f"{100 * low:.2g} to {_percent(high)}" if low >= 0 else f"{_signed(low)} to {_signed(high)}"


def _answer(contest: Contest, text: str, sure: str) -> Conclusion:
    rows = contest.contenders
    parts = [text]
    if contest.short:
        few = [f"{each.name} ({figure_of(each)}, {_trials([each])})" for each in contest.short[:_LISTED]]
        more = f" and {len(contest.short) - _LISTED} more" if len(contest.short) > _LISTED else ""
        parts.append(f"Too few trials to stand beside them: {', '.join(few)}{more}.")
    if contest.contradicted:
        unprotected = [each for each in contest.contradicted if is_unprotected(each.result)]
        names = ", ".join(
            f"{each.name} (carried by {each.result.carried_by or 'more than one'})"
            for each in contest.contradicted
            if each not in unprotected
        )
        parts += [f"Not carried by what their names say, so left out: {names}."] if names else []
        names = ", ".join(f"{each.name} (not {each.result.cell.security})" for each in unprotected)
        parts += [f"Not protected as their names say, so left out: {names}."] if names else []
    if contest.failed:
        names = ", ".join(
            f"{each.name} ({each.result.failed.code})" for each in contest.failed if each.result.failed is not None
        )
        parts.append(f"Without a result: {names}.")
    warned = [f"{each.name} ({', '.join(codes)})" for each in rows[:_LISTED] if (codes := _codes(each))]
    if warned:
        parts.append(f"Warnings: {', '.join(warned)}.")
    return Conclusion(
        text=plain(" ".join(parts)),
        sure=sure,
        cells=tuple(each.index for each in rows),
        size=contest.size,
    )


def _codes(row: Row) -> list[str]:
    """Return the codes of the warnings about what is told here: those about a p99 alone stand beside the p99."""
    codes = dict.fromkeys(each.code for each in row.result.warnings)
    return [each for each in codes if not each.startswith("p99")]


def _rate(row: Row) -> bool:
    return by_rate(row.result.cell)


def _figure(row: Row, figure: float | None) -> str:
    """Of the figure that the document holds, or a sentence and its table could differ in the last digit."""
    kept = rounded(figure)
    return f"{brief(kept)} messages/s" if _rate(row) else f"{us(kept)} µs"


def _took(row: Row) -> str:
    return "received" if _rate(row) else "took"


def _floor(row: Row, *, beside: Row | None = None) -> str:
    """Return how far it is from its floor, which is named once where it is the same."""
    times, label = rounded(row.result.times_floor), row.result.floor
    if times is None or row.floor:
        return ""
    named = "" if beside is not None and beside.result.floor == label else f" ({label})"
    return f", {ratio(times)} times {'slower than ' if _rate(row) else ''}the machine alone{named}"


def _trials(rows: Sequence[Row]) -> str:
    numbers = sorted({each.result.trials for each in rows})
    if numbers == [1]:
        return "1 trial" if len(rows) == 1 else "1 trial each"
    each = " each" if len(rows) > 1 else ""
    return f"{numbers[0]} to {numbers[-1]} trials{each}" if len(numbers) > 1 else f"{numbers[0]} trials{each}"


def _percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:.2g} %" if percent < 99.5 and math.isfinite(percent) else f"{percent:,.0f} %"


def _signed(share: float) -> str:
    return f"{100 * share:+.2g} %" if abs(share) < 0.995 else f"{100 * share:+,.0f} %"
