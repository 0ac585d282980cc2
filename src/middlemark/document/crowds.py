"""Crowds in a report: the table of exponents, a sentence for each figure, and how complete the start is over time."""

from collections.abc import Iterator, Sequence

from middlemark.document.document import Conclusion
from middlemark.document.numbers import ABSENT, four_digits, ratio, whole
from middlemark.document.table import Column, Table, table_of
from middlemark.model.spelling import listing
from middlemark.model.units import format_count
from middlemark.stats.interval import FEWEST
from middlemark.verdicts.experiments import Standing
from middlemark.verdicts.exponents import MARGIN
from middlemark.verdicts.names import plain
from middlemark.verdicts.rows import Row, grouped
from middlemark.verdicts.scaling import Scaling

MOST_SENTENCES = 7
"""One for each figure of one load. The table has all verdicts."""
MOST_STEPS = 60
"""The most points of a start curve."""
_NO_VERDICT = {
    Standing.TOO_FEW_TRIALS: f"fewer than {FEWEST} trials",
    Standing.NO_COMMON_ROUNDS: f"fewer than {FEWEST} common rounds",
}
_WORDS = {
    Standing.BEST: "best",
    Standing.SLOWER: "grows significantly faster",
    Standing.EQUIVALENT: "equivalent",
    Standing.UNDECIDED: "undecided",
    Standing.ONLY: "only candidate",
    **_NO_VERDICT,
}


def scaling_tables(scalings: Sequence[Scaling]) -> list[Table]:
    """Return a table for each factor, with a row for each power law: exponent, fit, verdict, and where it breaks."""
    return [_table(along, members) for along, members in grouped(scalings, lambda each: each.along).items()]


def _table(along: str, scalings: Sequence[Scaling]) -> Table:
    shared = {each.line.removeprefix(each.name) for each in scalings}
    levels = shared.pop() if len(shared) == 1 else None
    rows = [
        (
            each.line if levels is None else each.name,
            each.figure,
            f"{each.exponent:.2f} ({each.low:.2f} … {each.high:.2f})",
            f"× {ratio(each.residual)}",
            ", ".join(f"{point.level:,}: {_percent(point.residual)}" for point in each.points),
            verdict_text(each),
            difference_text(each),
            break_text(each),
        )
        for each in scalings
    ]
    notes = (
        "figure ∝ (number)^exponent, with its 95 % interval (Theil-Sen and Sen, on the logarithms of all trials). "
        "residuals: how far the median of each number is from the line; worst fit: the largest of them. "
        "Idle figures are those of the whole crowd.",
        f"verdict: the exponent compared with the smallest one, paired by round; a difference of {MARGIN:g} matters, "
        f"and {FEWEST} rounds are needed. breaks at: the lowest number at which a trial failed, a publisher was never "
        "heard or a message was lost.",
    )
    columns = (
        *("", Column("figure", left=True), "exponent"),
        Column("worst fit", 7),
        Column("residuals", 1, left=True),
        Column("verdict", 9, left=True),
        Column("difference", 2, left=True),
        Column("breaks at", 8, left=True),
    )
    return table_of(columns, rows, f"Scaling of crowds along {along}{levels or ''}", notes=notes)


def _percent(residual: float) -> str:
    percent = round(100 * (residual - 1))
    return f"{percent:+} %" if percent else "0 %"


def verdict_text(scaling: Scaling) -> str:
    """Return the standing of an exponent in words."""
    return "raw transport" if scaling.standing is None else _WORDS[Standing(scaling.standing)]


def difference_text(scaling: Scaling) -> str:
    """Return the difference from the smallest exponent, with its interval: ``+0.93 (+0.85 … +0.99, 6 rounds)``."""
    if scaling.difference is None:
        return ABSENT
    low, high = scaling.difference_low, scaling.difference_high
    interval = "" if low is None or high is None else f"{low:+.2f} … {high:+.2f}, "
    return f"{scaling.difference:+.2f} ({interval}{format_count(scaling.rounds, 'round')})"


def break_text(scaling: Scaling) -> str:
    """Return the number at which the crowd breaks, with the highest number that held; or that nothing broke."""
    if scaling.breaks_at is None:
        return f"none up to {whole(scaling.holds_to)}" if scaling.holds_to else ABSENT
    held = f"holds to {scaling.holds_to:,}" if scaling.holds_to else "no number held"
    return f"{scaling.breaks_at:,} ({held})"


def start_curve(row: Row) -> tuple[tuple[float, float], ...]:
    """Return (ns, share) for a crowd: the share of the participants of all trials that were complete at that time.

    At most ``MOST_STEPS`` points. Empty: no crowd, or nobody had a publisher to hear.
    """
    crowds = [each.outcome.crowd for each in row.trials if each.outcome.failed is None and each.outcome.crowd]
    due = [at for crowd in crowds if crowd.publishers_due for at in crowd.complete_ns]
    times = sorted(at for at in due if at is not None)
    if not due:
        return ()
    count = min(MOST_STEPS, len(times))
    shown = [round((number + 1) * len(times) / count) for number in range(count)]
    return ((0.0, 0.0), *((four_digits(float(times[at - 1])), four_digits(at / len(due))) for at in shown))


def conclusions(scalings: Sequence[Scaling]) -> tuple[Conclusion, ...]:
    """Return where the crowds break, and a sentence for each figure with several candidates."""
    compared = [each for each in scalings if each.group is not None and each.standing != Standing.ONLY]
    groups = [*grouped(compared, lambda each: each.group).values()]
    decided = [members for members in groups if any(each.standing not in _NO_VERDICT for each in members)]
    found = [*map(_sentence, decided[:MOST_SENTENCES])]
    if groups and not decided:
        text = f"Exponents of crowds: fewer than {FEWEST} common rounds give no verdict; use --trials {FEWEST}."
        found.append(Conclusion(text=text, sure="unsure", cells=()))
    return (*_breaks(scalings), *found)


def _sentence(members: Sequence[Scaling]) -> Conclusion:
    ordered = sorted(members, key=lambda each: each.exponent)
    lead = next((each for each in ordered if each.reference is None), ordered[0])
    by_standing = grouped([each for each in ordered if each is not lead], lambda each: each.standing)
    parts = []
    for standing, one, several in (
        (Standing.SLOWER, "grows significantly faster", "grow significantly faster"),
        (Standing.EQUIVALENT, "is equivalent", "are equivalent"),
        (Standing.UNDECIDED, "is undecided", "are undecided"),
        *((each, f"has {why}", f"have {why}") for each, why in _NO_VERDICT.items()),
    ):
        if some := by_standing.get(str(standing)):
            named = listing([f"{each.name} ({each.exponent:.2f})" for each in some])
            parts.append(f"{named} {one if len(some) == 1 else several}")
    text = f"{lead.figure} along {lead.along}: {lead.name} has the smallest exponent, {lead.exponent:.2f}"
    return Conclusion(
        text=plain(f"{text}; {'; '.join(parts)}."),
        sure="sure" if {each.standing for each in members} <= {"best", "slower", "equivalent"} else "unsure",
        cells=tuple(sorted({row for each in members for row in each.rows})),
    )


def _breaks(scalings: Sequence[Scaling]) -> Iterator[Conclusion]:
    """Yield one sentence for each factor: where each configuration breaks, and which ones do not."""
    for along, members in grouped(scalings, lambda each: each.along).items():
        lines = {each.line: each for each in members}
        broken = [
            f"{each.line} at {break_text(each)}, {each.breaks_because}"
            for each in lines.values()
            if each.breaks_at is not None
        ]
        whole_lines = [each for each in lines.values() if each.breaks_at is None and each.holds_to]
        parts = [f"Broken along {along}: {'; '.join(broken)}"] if broken else []
        if broken and whole_lines:
            held = listing([f"{each.line} (up to {each.holds_to:,})" for each in whole_lines])
            parts.append(f"Nothing broke: {held}")
        if parts:
            rows = {row for each in members for row in each.rows}
            yield Conclusion(text=plain(f"{'. '.join(parts)}."), sure="sure", cells=tuple(sorted(rows)))
