"""What was compared, as a table, as JSON and as Markdown."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from rich.cells import cell_len

from middlemark.document.judged import (
    common,
    interval_of,
    size_of,
    told_factors,
    trials_wanted,
    verdict_of,
    what,
)
from middlemark.document.numbers import ABSENT, measured, part, ratio
from middlemark.document.words import plain
from middlemark.model.cell import Cell
from middlemark.show.lines import aligned, hanging
from middlemark.stats.comparisons import AgainstFloor, Comparison, Side, against_floors, mirrored
from middlemark.stats.metrics import METRICS
from middlemark.stats.verdict import CONFIDENCE, Verdict

_COLUMNS = ("what", "metric", "A", "B", "B over A", "interval", "pairs", "verdict")
_FLOORS = ("A × alone", "B × alone")
_CANNOT, _EQUIVALENT = "~", "="
_MOST_NAME = 24
_LEAST_NAME = 16


def render_table(comparisons: Sequence[Comparison], margin: float, width: int, edge: str | None = None) -> str:
    """Return a matrix for each metric, every name once, within the width; what is to be known stands beneath."""
    lines: list[str] = [*hanging("", f"Edge {edge}", width), ""] if edge else []
    for metric in dict.fromkeys(each.metric for each in comparisons):
        members = [each for each in comparisons if each.metric == metric]
        two = len({each.pairing.names for each in members}) == 1
        lines += [*(_two(members, width) if two else _rivals(members, width)), ""]
    floors = [each for each in _remarks(comparisons, margin) if not each.startswith("×")]
    legend = (
        f"{_CANNOT} cannot be told: so many trials would; {_EQUIVALENT} within ±{100 * margin:g} %. "
        "--format json has every pair."
    )
    return "\n".join([*lines, *(line for each in (legend, *floors) for line in hanging("", each, width))]) + "\n"


def _two(members: Sequence[Comparison], width: int) -> Iterator[str]:
    """Yield one table of A beside B: a line for each configuration that both have, grouped by size."""
    told = [each for each in told_factors(_cells(members)) if each != "size"]
    a, b = members[0].pairing.names
    names = (_cut(a, _MOST_NAME), _cut(b, _MOST_NAME))
    rows: list[tuple[str, ...]] = [(members[0].metric, *names, "B over A", "interval", "pairs", "")]
    titles: dict[int, str] = {}
    for size, of in _by(members, lambda each: size_of(_cells([each]))).items():
        titles[len(rows)] = size
        rows += [
            (
                (f"{what(each.pairing, told, size=False)}" or members[0].metric)
                + (" (!)" if each.pairing.marks else ""),
                *(_figure(each.metric, median) for median in each.medians),
                *_verdict(each),
            )
            for each in of
        ]
    yield from _printed(rows, titles if len(titles) > 1 or any(titles.values()) else {}, width)


def _rivals(members: Sequence[Comparison], width: int) -> Iterator[str]:
    """Yield a group for each experiment and size: a line for each rival, beside the baseline or the best of all."""
    told = told_factors(_cells(members))
    metric = members[0].metric
    rows: list[tuple[str, ...]] = [(metric, "", "beside", "interval", "pairs", "")]
    titles: dict[int, str] = {}
    for of in _groups(members):
        titles[len(rows)] = common(_cells(of), told)
        beside = {(id(each.pairing.a), id(each.pairing.b)): each for each in of}
        beside |= {(b, a): mirrored(each) for (a, b), each in beside.items() if (b, a) not in beside}
        medians = {a: each.medians[0] for (a, _), each in beside.items()}
        names = {id(side): name for each in of for side, name in zip(_sides(each), each.pairing.names, strict=True)}
        firsts = {id(each.pairing.a) for each in of}
        sign = -1 if METRICS[metric].higher_is_better else 1
        base = firsts.pop() if len(firsts) == 1 else min(medians, key=lambda each: sign * medians[each])
        rows.append((names[base], _figure(metric, medians[base]), "", "", "", ""))
        found = [(b, each) for (a, b), each in beside.items() if a == base]
        for other, each in sorted(found, key=lambda item: sign * item[1].medians[1]):
            marked = names[other] + (" (!)" if each.pairing.marks else "")
            rows.append((marked, _figure(metric, each.medians[1]), *_verdict(each)))
    yield from _printed(rows, titles, width)


def _groups(members: Sequence[Comparison]) -> list[list[Comparison]]:
    """Return those together that have a side in common, directly or by others, in the order they are met."""
    parent: dict[int, int] = {}

    def root(side: int) -> int:
        while parent.setdefault(side, side) != side:
            parent[side] = side = parent[parent[side]]
        return side

    for each in members:
        a, b = map(id, _sides(each))
        parent[root(b)] = root(a)
    found: dict[int, list[Comparison]] = {}
    for each in members:
        found.setdefault(root(id(each.pairing.a)), []).append(each)
    return list(found.values())


def _verdict(each: Comparison) -> tuple[str, ...]:
    """Return the shift or what stands for it, its interval, the pairs, and how many trials would tell."""
    judged = each.judged
    shift = {Verdict.CANNOT_TELL: _CANNOT, Verdict.EQUIVALENT: _EQUIVALENT}.get(judged.verdict, part(judged.shift))
    open_ = judged.verdict is Verdict.CANNOT_TELL
    wanted = f"{trials_wanted(judged.trials_needed)} trials" if open_ else each.word
    return (shift, interval_of(judged).replace(" % …", " …"), str(judged.pairs), wanted)


def _printed(rows: Sequence[tuple[str, ...]], titles: Mapping[int, str], width: int) -> Iterator[str]:
    """Yield the rows in columns, names cut to what is left of the width, a title above the row of its number."""
    others = sum(max(cell_len(row[at]) for row in rows) + 2 for at in range(1, len(rows[0])))
    room = max(width - others, _LEAST_NAME)
    last = len(rows[0]) - 1
    if others + _LEAST_NAME > width:  # the words give way; the sign of the verdict says it too
        rows = [row[:last] for row in rows]
        room = max(width - others + max(cell_len(row[-1]) for row in rows) + 2, _LEAST_NAME)
    lines = aligned(
        [(_cut(f"  {row[0]}" if at else row[0], room), *row[1:]) for at, row in enumerate(rows)], right=True
    )
    for at, line in enumerate(lines):
        if titles.get(at):
            yield titles[at]
        yield _cut(line, width)


def _by(members: Sequence[Comparison], key: Callable[[Comparison], str]) -> dict[str, list[Comparison]]:
    found: dict[str, list[Comparison]] = {}
    for each in members:
        found.setdefault(key(each), []).append(each)
    return found


def _sides(each: Comparison) -> tuple[Side, Side]:
    return each.pairing.a, each.pairing.b


def _cells(members: Sequence[Comparison]) -> list[Cell]:
    return [side.cell for each in members for side in _sides(each)]


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else f"{text[: width - 1]}…"


def render_markdown(comparisons: Sequence[Comparison], margin: float, edge: str | None = None) -> str:
    """Return a table as pull requests and wikis show it."""
    head, *rows = _rows(comparisons)
    lines = [
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
        for row in (head, ("---",) * len(head), *rows)
    ]
    title = [f"Edge {edge}", ""] if edge else []
    return "\n".join([*title, *lines, "", *(f"- {each}" for each in _remarks(comparisons, margin))]) + "\n"


def _rows(comparisons: Sequence[Comparison]) -> list[tuple[str, ...]]:
    """Return the head and a row each; A and B as times of their floors where there is a floor at all."""
    told = told_factors([side.cell for each in comparisons for side in (each.pairing.a, each.pairing.b)])
    rows = [_COLUMNS, *(_row(each, told) for each in comparisons)]
    held = [against_floors(each) for each in comparisons]
    if not any(each for both in held for each in both):
        return rows
    floors = [_FLOORS, *(tuple(_times(each) for each in both) for both in held)]
    return [(*row[:-1], *both, row[-1]) for row, both in zip(rows, floors, strict=True)]


def _times(against: AgainstFloor | None) -> str:
    return ABSENT if against is None else f"{ratio(against.times)} × {against.floor}"


def _row(each: Comparison, told: Collection[str]) -> tuple[str, ...]:
    judged, same = each.judged, what(each.pairing, told)
    names = f"{each.pairing.names[0]} → {each.pairing.names[1]}" + (" (!)" if each.pairing.marks else "")
    figures = (_figure(each.metric, median) for median in each.medians)
    verdict = verdict_of(each)
    shift = (part(judged.shift), interval_of(judged), str(judged.pairs))
    return (plain(f"{same}: {names}" if same else names), each.metric, *figures, *shift, verdict)


def _families(comparisons: Sequence[Comparison]) -> str:
    """Return how many were judged together: all that the runs have, whichever of it is shown."""
    families = sorted({each.family for each in comparisons})
    return f"all {families[-1]:,} that are judged together" if families[-1] > 1 else "it alone"


def _figure(metric: str, value: float) -> str:
    return measured(value, METRICS[metric].unit)


def _remarks(comparisons: Sequence[Comparison], margin: float) -> list[str]:
    marks = dict.fromkeys(mark for each in comparisons for mark in each.pairing.marks)
    few = any(each.judged.low is None and each.judged.verdict is Verdict.CANNOT_TELL for each in comparisons)
    return [
        f"Paired by round, one figure a trial; Hodges–Lehmann shift with its exact {100 * CONFIDENCE:.0f} % interval; "
        f"different where the p-value over {_families(comparisons)} is at most 5 % and the shift "
        f"beyond {100 * margin:g} %, "
        f"equivalent where the interval lies within ±{100 * margin:g} %.",
        *(
            ["A dash: fewer than six pairs have no interval, and no verdict can come of them: --trials 10."]
            if few
            else []
        ),
        *(
            ["slower or faster without an interval, or with one that says less: one of them left the race as slower."]
            if any(each.pairing.a.place or each.pairing.b.place for each in comparisons)
            else []
        ),
        *(
            ["× alone: times slower than the machine alone, over the transport named, in that run."]
            if any(floor for each in comparisons for floor in against_floors(each))
            else []
        ),
        *(f"(!) {mark}" for mark in marks),
    ]
