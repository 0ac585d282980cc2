"""Two that meet at several sizes: one sentence over all of them."""

from collections.abc import Collection, Iterable, Sequence

from middlemark.report.document.answers.contests import Contest
from middlemark.report.document.answers.sentences import place
from middlemark.report.document.comparisons import Judged
from middlemark.report.document.model import Answer
from middlemark.report.document.rows import Row
from middlemark.report.factors import plain
from middlemark.report.numbers import ratio
from middlemark.stats.floors import by_rate
from middlemark.stats.verdict import Verdict
from middlemark.units import format_size


def over_sizes(found: Sequence[Contest], judged: Judged, told: Collection[str]) -> list[Answer]:
    """Return a sentence for each two that meet at several sizes, where any can be told."""
    together: dict[tuple[object, ...], list[Contest]] = {}
    for contest in found:
        if contest.tellable and len(contest.contenders) == 2:
            names = tuple(sorted(each.name for each in contest.contenders))
            together.setdefault((contest.context, names), []).append(contest)
    sentences = [_sentence(each, judged, told) for each in together.values() if len(each) > 1]
    return [each for each in sentences if each is not None]


def _sentence(over: Sequence[Contest], judged: Judged, told: Collection[str]) -> Answer | None:
    first, second = sorted(over[0].contenders, key=lambda row: row.name)
    faster: dict[str, list[tuple[int, float]]] = {first.name: [], second.name: []}
    equivalent: list[int] = []
    unknown: list[int] = []
    for contest in over:
        best, other = contest.contenders
        known = judged.find(best.index, other.index, "throughput" if by_rate(best.result.cell) else "p50")
        verdict = known.judged.verdict if known else Verdict.CANNOT_TELL
        if known and verdict is Verdict.WORSE:
            faster[best.name].append((contest.size, known.judged.shift))
        elif verdict is Verdict.EQUIVALENT:
            equivalent.append(contest.size)
        else:
            unknown.append(contest.size)
    if len(unknown) == len(over):
        return None
    parts = [
        f"{name} is faster than {_other(name, first, second)} at {_sizes([size for size, _ in at])} ({_range(at)})"
        for name, at in sorted(faster.items(), key=lambda item: -len(item[1]))
        if at
    ]
    subject = "they" if parts else f"{first.name} and {second.name}"
    if equivalent:
        parts.append(f"{subject} are equivalent at {_sizes(equivalent)}")
        subject = "they"
    if unknown:
        parts.append(f"whether {subject} differ at {_sizes(unknown)} cannot be told")
    where = place(over[0], told, "", size=False)
    text = f"{where}: {'; '.join(parts)}." if where else f"{'; '.join(parts)}."
    return Answer(
        text=plain(text),
        sure="unsure" if unknown else "sure",
        cells=tuple(row.index for contest in over for row in contest.contenders),
        size=None,
    )


def _other(name: str, first: Row, second: Row) -> str:
    return second.name if name == first.name else first.name


def _sizes(sizes: Sequence[int]) -> str:
    shown = [format_size(each) for each in sizes]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _range(at: Sequence[tuple[int, float]]) -> str:
    """Return how much more the other needs, or how many fewer it receives."""
    shifts = sorted(abs(shift) for _, shift in at)
    ends = (shifts[0], shifts[-1])
    if at[0][1] > 0 and ends[1] >= 1:
        return f"the other takes {_span(ratio(1 + each) for each in ends)} times as long"
    much = _span(f"{100 * each:.2g}" for each in ends)
    return f"the other receives {much} % fewer" if at[0][1] < 0 else f"the other takes {much} % longer"


def _span(shown: Iterable[str]) -> str:
    return " to ".join(dict.fromkeys(shown))
