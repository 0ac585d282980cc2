"""The answer to `which`: on one screen for people, as one object for programs."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from middlemark.document.numbers import ABSENT, of_deadline, processors, ratio, rounded, share, us
from middlemark.document.race import Candidate, Raced
from middlemark.document.rows import per_message_ns
from middlemark.document.sentences import part
from middlemark.document.words import ASKED, plain, warning_name, words
from middlemark.model.cell import Cell
from middlemark.model.load import told as told_rate
from middlemark.model.spelling import listing
from middlemark.model.units import format_percent, format_seconds, format_size
from middlemark.show.graphs import HOLDS
from middlemark.show.lines import aligned, command_lines, hanging
from middlemark.stats.race import FINALISTS
from middlemark.stats.result import WorkloadResult
from middlemark.stats.workload import worst_edge

_ROWS = 4
"""Of the table: the answer's, and those that came next."""
_NAMED = 3
"""Of those that left for a reason of their own."""


def render_table(raced: Raced, folder: str, width: int) -> str:
    """Return the answer in its first lines, then the candidates that came near, what is doubtful, what to do next."""
    lines = [
        *(line for text in (_verdict(raced), _sure(raced)) if text for line in hanging("", text, width)),
        "",
        *_table(raced),
        "",
        *(line for text in _below(raced, folder) for line in hanging("", text, width)),
        *(command_lines("next: ", raced.settles, width) if raced.settles else ()),
    ]
    return plain_lines(lines)


def render_races(races: Sequence[Raced], width: int) -> str:
    """Return the answer of each race of a run in which there was anything to choose."""
    told = [f"{_verdict(each)} {_sure(each)}" for each in races if len(each.candidates) > 1]
    return plain_lines([line for text in told for line in hanging("", text, width)])


def plain_lines(lines: Sequence[str]) -> str:
    """Return the lines as one text; whatever a middleware calls itself stays on its line."""
    return "".join(f"{plain(each)}\n" for each in lines)


def _verdict(raced: Raced) -> str:
    asked = _asked(raced.cell)
    if raced.verdict == "none holds":
        return f"None holds for {asked}: {_reasons(raced)}."
    if not raced.answer:
        return f"Nothing is known yet for {asked}."
    told = raced.answer[: _NAMED if len(raced.answer) > FINALISTS else FINALISTS]
    took = f"{_took(raced, told)}{_alone(raced)}."
    more = len(raced.answer) - len(told)
    names = listing([*map(_name, told), *([f"{more} more"] if more else [])])
    if raced.verdict == "best":
        return f"{names} is best for {asked}: {took}"
    return f"{'Tie' if raced.verdict == 'tie' else 'Undecided'} for {asked}: {names}, {took}"


def _took(raced: Raced, told: Sequence[Candidate]) -> str:
    if raced.cell.workload is None:
        figures = dict.fromkeys(_us(each.p50_ns) for each in (told[0], told[-1]))
        return f"{' to '.join(figures)} µs {'one way' if raced.cell.pattern == 'stream' else 'round trip'}"
    figures = dict.fromkeys(of_deadline(each.figure) for each in (told[0], told[-1]))
    edges = dict.fromkeys(edge.label for each in told if (edge := each.worst_edge))
    of = f" ({next(iter(edges))})" if len(edges) == 1 else ""
    return f"the worst edge's p99 takes {' to '.join(figures)} of its deadline{of}"


def _asked(cell: Cell) -> str:
    """Return what they were asked for: ``1 KiB at 1 kHz, 2 processes``; ``amr at scale 2, a process each``."""
    if cell.workload is not None:
        under = f" at scale {cell.scale:g}" if cell.scale != 1 else ""
        return f"{cell.workload.name}{under}, {words(cell, ('processes', 'copies'))}"
    rate = told_rate(cell).replace("rate ", "at ")
    several = f", {cell.subscribers} subscribers" if cell.subscribers > 1 else ""
    return f"{format_size(cell.size)} {rate}{several}, {words(cell, ('processes',))}"


def _sure(raced: Raced) -> str:
    parts = []
    sure = f"Not sure ({', '.join(map(warning_name, raced.serious))})" if raced.serious else "Sure"
    if raced.verdict == "best":
        alone = "there was no other" if len(raced.candidates) == 1 else "nobody else does what is asked"
        parts.append(f"{sure}: {_behind(raced) or alone}.")
    elif raced.verdict == "tie":
        parts.append(f"{sure}: they differ by less than {format_percent(raced.within)}.")
    elif raced.verdict == "undecided":
        parts.append(f"Not sure: {raced.why_open}.")
    parts += [
        f"Over all its trials {_name(each)} does not hold: {each.graph.first_failing}."
        for each in raced.answer[:1]
        if each.graph and each.graph.holds is False
    ]
    if raced.answer and raced.answer[0].within is not None and raced.race.wanted.deadline_s is not None:
        parts.append(
            f"{share(raced.answer[0].within)} of messages within {format_seconds(raced.race.wanted.deadline_s)}."
        )
    return " ".join(parts)


def _behind(raced: Raced) -> str:
    if raced.behind is None:
        return ""
    candidate, shift = raced.behind
    far = part(math.expm1(shift.shift), rate=False)
    return f"{_name(candidate)}, the next, takes {far} ({shift.pairs} rounds)"


def _alone(raced: Raced) -> str:
    """Return how far the one that leads is from the machine alone."""
    times = raced.times_machine(raced.answer[0])
    return f", {ratio(times)} × the machine alone" if times is not None else ""


def _table(raced: Raced) -> Iterator[str]:
    shown = [*raced.answer, *(each for each in raced.candidates if each not in raced.answer and each.figure)][:_ROWS]
    if raced.cell.workload is not None:
        yield from aligned(_graph_rows(raced, shown), right=True)
        return
    within = raced.race.wanted.deadline_s is not None
    rare = _rare(raced, shown)
    longest = max((len(each.left or "") for each in shown), default=0)
    head = ["", "p50 µs", *([rare] if rare else []), *(["in time"] if within else []), "× alone", "rounds", ""]
    rows = [
        head,
        *(
            [
                _name(each),
                _us(each.p50_ns),
                *([_us(_at(each, rare))] if rare else []),
                *([share(each.within)] if within else []),
                ratio(raced.times_machine(each)),
                str(each.rounds),
                (each.left or "").ljust(longest),
            ]
            for each in shown
        ),
    ]
    if raced.machine_alone is not None:
        row = raced.machine_alone
        p50 = _us(per_message_ns(row.result))
        blank = [ABSENT] * (bool(rare) + within)
        rows.append(["machine alone", p50, *blank, ratio(1.0), str(row.result.trials), ""])
    yield from aligned(rows, right=True)


def _graph_rows(raced: Raced, shown: Sequence[Candidate]) -> list[list[str]]:
    longest = max((len(each.left or "") for each in shown), default=0)
    rows = [["", "", "of deadline", "p99 µs", "processors", "× alone", "rounds", ""]]
    rows += [
        [
            _name(each),
            *_graph_figures(each.graph),
            ratio(raced.times_machine(each)),
            str(each.rounds),
            (each.left or "").ljust(longest),
        ]
        for each in shown
    ]
    if raced.machine_alone is not None:
        result = raced.machine_alone.result
        rows.append(["machine alone", *_graph_figures(result.workload), ratio(1.0), str(result.trials), ""])
    return rows


def _graph_figures(found: WorkloadResult | None) -> list[str]:
    """Return whether it holds, the worst edge's part of its deadline and p99, and the processors it takes."""
    if found is None:
        return [ABSENT] * 4
    edge = worst_edge(found.topics)
    p99 = edge.one_way_ns.p99 if edge and edge.one_way_ns else None
    return [HOLDS[found.holds], of_deadline(found.worst_share), _us(p99), processors(found.cpu)]


def _failing(each: Candidate) -> str:
    """Return the edge by which it left."""
    by_edge = each.left in ("misses the deadline", "loses", "cannot keep the rate")
    return each.graph.first_failing or "" if by_edge and each.graph else ""


def _rare(raced: Raced, shown: Sequence[Candidate]) -> str:
    """Return the highest percentile that is known; empty: there is none, or a deadline, and who meets it is told."""
    if raced.race.wanted.deadline_s is not None:
        return ""
    return next((name for name in ("p99", "p90") if any(_at(each, name) is not None for each in shown)), "")


def _at(each: Candidate, percentile: str) -> float | None:
    return each.p99_ns if percentile == "p99" else each.p90_ns


def _below(raced: Raced, folder: str) -> Iterator[str]:
    if raced.verdict in ("best", "tie"):
        asked = ("receive", "loan", "native") if raced.cell.workload else (*ASKED, "receive")
        settings = dict.fromkeys(words(each.row.result.cell, asked) for each in raced.answer)
        if len(settings) == 1:  # of several that tie the names say what is not usual
            yield f"settings: {next(iter(settings))}"
    if raced.verdict != "none holds" and (reasons := _reasons(raced)):
        yield f"left: {reasons}"
    if _rare(raced, raced.answer) == "p90" and (absent := raced.answer[0].p99_absent):
        yield f"no p99: {absent.partition(';')[0]}"
    if raced.warnings:
        shown = [each.code for each in raced.warnings if each.code not in raced.serious]
        told = [", ".join(map(warning_name, shown[:_NAMED]))] if shown else []
        if not raced.settles:  # what to do next is said once
            told.append(_shortly(raced.warnings[0].advice or raced.warnings[0].text))
        if told:
            yield ": ".join(["warnings", *told])
    equal = f"equal shares: {raced.equal_trials}"
    yield f"{raced.trials} trials ({equal}) in {format_seconds(raced.seconds).removesuffix(' 00 s')}: {folder}"


def _shortly(advice: str) -> str:
    """Return the first of what it advises; the report has all."""
    return re.sub(r" \([^)]*\)", "", advice.partition("; ")[0].partition(", or ")[0])


def _reasons(raced: Raced) -> str:
    """Return how many left for which reason; of those that did not do what is asked, the names of some."""
    told = []
    for why, number in Counter(each.left for each in raced.candidates if each.left).most_common():
        names = [
            f"{_name(each)}: {_failing(each)}" if _failing(each) else _name(each)
            for each in raced.candidates
            if each.left == why
        ]
        more = ", …" if number > _NAMED else ""
        told.append(f"{why} {number}" + ("" if why == "slower" else f" ({', '.join(names[:_NAMED])}{more})"))
    return "; ".join(told)


def _name(each: Candidate) -> str:
    return each.row.name


def _us(ns: float | None) -> str:
    return us(rounded(ns))
