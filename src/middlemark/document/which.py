"""The answer of a race, in sentences and as a table."""

import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from middlemark.document.columns import FIGURES
from middlemark.document.numbers import ABSENT, megabytes, of_deadline, processors, ratio, share, us, whole
from middlemark.document.statements import bare_figure, eliminated_after, how_it_works, shift_in_words, some, worse
from middlemark.document.table import Column, Line, Table, TableCell
from middlemark.document.workloads import HOLDS, every, worst_edges_in_words
from middlemark.model.cell import ONE_WAY, Cell
from middlemark.model.load import rate_in_words
from middlemark.model.plan import Raced
from middlemark.model.spelling import listing
from middlemark.model.units import format_count, format_percent, format_seconds, format_size
from middlemark.stats.candidates import Elimination
from middlemark.stats.interval import FEWEST
from middlemark.stats.metrics import METRICS
from middlemark.stats.noise import DISTURBED
from middlemark.stats.quantiles import samples_needed
from middlemark.stats.race import FINALISTS
from middlemark.stats.warnings.cells import SERIOUS
from middlemark.verdicts.experiments import JudgedRow, Standing, figure_of
from middlemark.verdicts.names import ASKED, warning_name, words
from middlemark.verdicts.race import RaceVerdict, elimination, latency_in, rounds_of, worst_edge_of
from middlemark.verdicts.rows import Row, grouped, headline_figure

_P99 = Fraction(99, 100)
_ROWS = 4
"""The table has at most this number of candidates: the answer, then the next candidates."""
_WHAT: Mapping[Raced, str] = {
    "p50": "µs {way}",
    "p99": "µs p99, {way}",
    "cpu": "of processor time per message",
    "memory": "of memory",
    "complete_max": "until all participants have heard all their publishers",
    "idle_cpu": "for each participant while nothing is sent",
    "idle_memory": "of memory for each participant while nothing is sent",
}
"""The text after the figure of an answer, by the metric that decided the race."""
_OF_CROWD = {
    "complete_max": "all complete",
    "idle_cpu": "idle CPU",
    "idle_packets": "packets",
    "idle_memory": "memory",
}
"""The figures of the answer of a race of crowds → their columns."""
_NAMED = 3
"""The most names in a sentence."""
_ELIMINATED: Mapping[Elimination, tuple[str, str]] = {
    "misses the deadline": ("misses the deadline", "miss the deadline"),
    "cannot keep the rate": ("cannot keep the rate", "cannot keep the rate"),
    "loses": ("loses messages", "lose messages"),
    "never finds all": ("does not find all participants", "do not find all participants"),
    "takes too much processor time": ("takes too much processor time", "take too much processor time"),
    "failed": ("failed", "failed"),
}
"""The reason of an elimination → the predicate of a sentence about one candidate, and about several."""
_BY_EDGE = ("misses the deadline", "loses", "cannot keep the rate")
"""Reasons of eliminations that come from one edge of a workload."""


def answer(verdict: RaceVerdict) -> str:
    """Return the verdict with its figures, in one sentence."""
    asked = _asked(verdict.experiment.rows[0].row.result.cell)
    if verdict.verdict == "none holds":
        return f"No candidate meets the requirements for {asked}: {reasons(verdict)}."
    if not verdict.answer:
        return f"There is no result yet for {asked}."
    named = _NAMED if len(verdict.answer) > FINALISTS else FINALISTS
    first = verdict.answer[0]
    times = f", {ratio(first.ratio)} × the baseline" if first.ratio is not None else ""
    took = f"{_took(verdict, verdict.answer)}{times}."
    names = some((each.row.name for each in verdict.answer), named)
    if verdict.verdict == "best":
        return f"{names} is best for {asked}: {took}"
    return f"{'Tie' if verdict.verdict == 'tie' else 'Undecided'} for {asked}: {names}, {took}"


def _took(verdict: RaceVerdict, rows: Sequence[JudgedRow]) -> str:
    cell = rows[0].row.result.cell
    if cell.workload is None:
        figures = dict.fromkeys(bare_figure(verdict.experiment, each.figure) for each in (rows[0], rows[-1]))
        way = "one way" if cell.pattern in ONE_WAY else "round trip"
        return f"{' to '.join(figures)} {_WHAT[verdict.race.metric].format(way=way)}"
    edges = dict.fromkeys(edge.label for each in (rows[0], rows[-1]) if (edge := worst_edge_of(each.row)))
    figures = dict.fromkeys(of_deadline(each.figure) for each in (rows[0], rows[-1]))
    edge_text = f" ({', '.join(edges)})" if edges else ""
    tail = "longest latency" if all(p99_absent(each.row) for each in rows) else "p99"
    return f"the worst edge's {tail} takes {' to '.join(figures)} times its deadline{edge_text}"


def _asked(cell: Cell) -> str:
    """Return the question in words: ``1 KiB at 1 kHz, 2 processes``, or ``amr at scale 2, a process each``."""
    if cell.workload is not None:
        under = f" at scale {cell.scale:g}" if cell.scale != 1 else ""
        return f"{cell.workload.name}{under}, {words(cell, ('processes', 'copies'))}"
    if cell.pattern == "crowd":
        return f"a {words(cell, ('pattern',))}"
    rate = rate_in_words(cell).replace("rate ", "at ")
    several = f", {cell.subscribers} subscribers" if cell.subscribers > 1 else ""
    return f"{format_size(cell.size)} {rate}{several}, {words(cell, ('processes',))}"


def how_sure(verdict: RaceVerdict) -> str:
    """Return how the answer compares with the next candidate, and the doubts about the answer."""
    parts = []
    doubts = list(dict.fromkeys(each.doubt for each in verdict.experiment.doubted))
    sure = f"Not sure ({', '.join(doubts)})" if doubts else "Sure"
    if verdict.verdict == "best":
        without_rival = (
            "it is the only candidate" if len(verdict.candidates) == 1 else "no other candidate meets the requirements"
        )
        parts.append(f"{sure}: {_next(verdict) or without_rival}.")
    elif verdict.verdict == "tie":
        parts.append(f"{sure}: the candidates differ by less than {format_percent(verdict.experiment.within)}.")
    elif verdict.verdict == "undecided":
        parts.append(f"Reason: {why_open(verdict)}.")
    if verdict.also:
        many = len(verdict.also) > 1
        names = listing([each.row.name for each in verdict.also])
        parts.append(f"{names} {'are' if many else 'is'} equivalent to the best, or the difference is undecided.")
    parts += [
        f"Over all its trials {each.row.name} misses a deadline: {each.row.result.workload.first_failing}."
        for each in verdict.answer[:1]
        if each.row.result.workload and each.row.result.workload.holds is False
    ]
    within = verdict.answer[0].row.in_race.within if verdict.answer and verdict.answer[0].row.in_race else None
    if within is not None and verdict.race.wanted.deadline_s is not None:
        parts.append(f"{share(within)} of messages within {format_seconds(verdict.race.wanted.deadline_s)}.")
    return " ".join(parts)


def why_open(verdict: RaceVerdict) -> str:
    """Return why the race is undecided."""
    if verdict.cut_short:
        return "the run was cut short"
    if verdict.decided:
        return "the verdict needs more rounds"
    disturbed = any(each.code == DISTURBED for each in verdict.warnings)
    where = " on a disturbed machine" if disturbed else ""
    if not verdict.race.question:
        are = "is" if verdict.rounds == 1 else "are"
        return f"{format_count(verdict.rounds, 'round')} {are} too few for a verdict{where}"
    return f"the budget of {format_seconds(verdict.race.budget_s).removesuffix(' 00 s')} was spent{where}"


def _next(verdict: RaceVerdict) -> str:
    found = verdict.next
    if found is None or found.comparison is None:
        return ""
    judged = found.comparison.judged
    far = shift_in_words(judged.shift, verdict.experiment.metric) if math.isfinite(judged.shift) else ""
    if found.standing is Standing.ELIMINATED:
        return f"{found.row.name}, the next, was {eliminated_after(found)}, {far}"
    return f"{found.row.name}, the next, takes {far} ({format_count(judged.pairs, 'round')})"


def table_of(verdict: RaceVerdict) -> Table:
    """Return the rows of the answer, the next candidates, and the baselines."""
    shown = [*verdict.answer]
    shown += [each for each in verdict.candidates if each not in shown and each.figure is not None]
    shown = shown[:_ROWS]
    graph = shown[0].row.result.cell.workload is not None if shown else False
    last = (Column("× baseline"), Column("rounds", 0), Column("", left=True))
    columns: tuple[Column, ...]
    if graph:
        figures = (Column(""), Column("of deadline"), Column("p99 µs", 3), Column("CPU", 2))
        columns = (*figures, *last)
    else:
        columns = (*(each for each, _ in _figures(verdict)), *last)
    metric = verdict.experiment.metric
    lines = []
    for each in shown:
        after = (ratio(each.ratio), str(rounds_of(each)), standing_text(each, metric))
        lines.append(_line(verdict, each.row, after))
    own = ratio(1.0 if METRICS[metric].has_raw_transport else None)
    lines += [_line(verdict, row, (own, str(row.result.trials), "")) for row in verdict.baselines]
    return Table(columns=columns, lines=tuple(lines))


def _figures(verdict: RaceVerdict) -> Iterator[tuple[Column, Callable[[Row], str]]]:
    """Yield (column, function that writes a row's text for this column) for each figure of the answer."""
    if verdict.experiment.cell.pattern == "crowd":
        for name, title in _OF_CROWD.items():
            yield Column(title), functools.partial(_figure_text, name)
        return
    yield Column("p50 µs"), lambda row: us(headline_figure(row.result))
    rare, in_time = _rare(verdict), verdict.race.wanted.deadline_s is not None
    if rare and (rare == "p99" or not in_time):
        yield Column(f"{rare} µs", 3), lambda row: us(getattr(latency_in(row), rare, None))
    if in_time:
        yield Column("in time"), lambda row: share(row.in_race.within if row.in_race else None)
    if verdict.race.metric == "cpu":
        yield Column("ns/message"), lambda row: whole(figure_of(row, "cpu"))
    yield Column("CPU", 2), lambda row: processors(figure_of(row, "processors"))
    yield Column("MB", 1), lambda row: megabytes(figure_of(row, "memory"))


def _figure_text(name: str, row: Row) -> str:
    return FIGURES[name].text(row.result)


def _line(verdict: RaceVerdict, row: Row, after: Sequence[str]) -> Line:
    graph = row.result.workload is not None
    figures = _graph_figures(row) if graph else [write(row) for _, write in _figures(verdict)]
    name = row.name if row.in_race else f"baseline {how_it_works(row)}"
    return Line(name, tuple(map(TableCell, (*figures, *after))))


def standing_text(row: JudgedRow, metric: str) -> str:
    """Return a candidate's standing in words, or why it was eliminated."""
    missed = elimination(row)
    if missed is not None and missed != "slower":
        return _ELIMINATED[missed][0]
    return {
        Standing.SLOWER: f"significantly {worse(metric)}",
        Standing.TOO_FEW_TRIALS: f"fewer than {FEWEST} trials",
        Standing.NO_COMMON_ROUNDS: f"fewer than {FEWEST} common rounds",
    }.get(row.standing, str(row.standing))


def _graph_figures(row: Row) -> list[str]:
    """Return ✓, ✗ or ?; the worst edge's latency as a part of its deadline; its p99; the processors.

    An edge without a p99 has its longest latency in both places.
    """
    found, latency = row.result.workload, latency_in(row)
    if found is None:
        return [ABSENT] * 4
    p99 = ABSENT if latency is None else us(latency.p99) if latency.p99 is not None else f"max {us(latency.max)}"
    return [HOLDS[found.holds], of_deadline(found.worst_share), p99, processors(found.cpu)]


def _rare(verdict: RaceVerdict) -> str:
    """Return ``p99`` or ``p90``: the highest percentile that any row of the answer has. Empty: no row has either."""
    found = [latency_in(each.row) for each in verdict.answer or verdict.candidates]
    available = (name for name in ("p99", "p90") if any(getattr(each, name, None) is not None for each in found))
    return next(available, "")


def p99_absent(row: Row) -> str | None:
    """Return why a row has no p99; None: the row has a p99."""
    measured = [each for each in row.trials if each.outcome.failed is None]
    messages = [each.samples for each in measured]
    if measured and (edge := worst_edge_of(row)) is not None:
        messages = [edge.received // len(measured)]
    if getattr(latency_in(row), "p99", None) is not None or not messages:
        return None
    return f"its trials have {min(messages):,} messages; a p99 needs {samples_needed(_P99):,}"


def below(verdict: RaceVerdict, folder: str, next_command: str | None) -> Iterator[str]:
    """Yield the lines below the table: settings, eliminated candidates with reasons, warnings, trials and time."""
    graph = bool(verdict.answer) and verdict.answer[0].row.result.cell.workload is not None
    if verdict.verdict in ("best", "tie"):
        asked = ("receive", "loan", "native") if graph else (*ASKED, "receive")
        settings = dict.fromkeys(words(each.row.result.cell, asked) for each in verdict.answer)
        if len(settings) == 1:  # if the settings differ, they are in the candidates' names
            yield f"settings: {next(iter(settings))}"
    if verdict.verdict != "none holds" and (eliminated := reasons(verdict)):
        yield f"eliminated: {eliminated}"
    crowd = verdict.experiment.cell.pattern == "crowd"
    if (
        not crowd
        and verdict.answer
        and (graph or _rare(verdict) == "p90")
        and (absent := p99_absent(verdict.answer[0].row))
    ):
        yield f"no p99: {absent.partition(';')[0]}"
    if verdict.warnings:
        shown = [each.code for each in verdict.warnings if each.code not in SERIOUS]
        parts = [", ".join(map(warning_name, shown[:_NAMED]))] if shown else []
        if not next_command:  # else the next command is the advice
            parts.append(_shortly(verdict.warnings[0].advice or verdict.warnings[0].text))
        if parts:
            yield ": ".join(["warnings", *parts])
    trials = f"{format_count(verdict.trials, 'trial')} ({verdict.equal_trials} without elimination)"
    yield f"{trials} in {format_seconds(verdict.seconds).removesuffix(' 00 s')}: {folder}"


def _shortly(advice: str) -> str:
    """Return the first piece of advice without parentheses. The report has the whole text."""
    return re.sub(r" \([^)]*\)", "", advice.partition("; ")[0].partition(", or ")[0])


def reasons(verdict: RaceVerdict) -> str:
    """Return the number of eliminated candidates for each reason, with a few names; slower candidates have no names.

    ``5 miss the deadline (lyra shm, vega shm, mira shm, …); 1 significantly slower``
    """
    parts = []
    eliminated = [(reason, each) for each in verdict.candidates if (reason := elimination(each)) is not None]
    by_reason = grouped(eliminated, lambda each: each[0])
    for reason, pairs in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        members = [each for _, each in pairs]
        slower = f"significantly {worse(verdict.experiment.metric)}"
        one, several = (slower, slower) if reason == "slower" else _ELIMINATED[reason]
        more = ", …" if len(members) > _NAMED else ""
        names = ", ".join(each.row.name for each in members[:_NAMED])
        named = "" if reason == "slower" else f" ({names}{more})"
        parts.append(f"{len(members)} {one if len(members) == 1 else several}{named}")
    return "; ".join(parts)


def deadlines(verdict: RaceVerdict) -> str:
    """Return which candidates meet every deadline, and which edge fails first over others; empty: no workload.

    ``lyra shm and lyra udp meet every deadline (worst edge: image → detector); image → detector fails first over vega
    udp.``
    """
    results = {each.row.name: (each, each.row.result.workload) for each in verdict.candidates}
    if not any(graph for _, graph in results.values()):
        return ""
    holding: list[str] = []
    undecided: list[str] = []
    without: list[str] = []
    failing: dict[str, list[str]] = {}
    for name, (each, graph) in results.items():
        if graph is None:
            without.append(name)
        elif graph.holds is False or elimination(each) in _BY_EDGE:
            worst = worst_edge_of(each.row)
            failing.setdefault(graph.first_failing or (worst.label if worst else "an edge"), []).append(name)
        else:
            (holding if graph.holds else undecided).append(name)
    meet = "meets" if len(holding) == 1 else "meet"
    none_meets = f"No candidate {'is known to meet' if undecided else 'meets'} every deadline"
    tightest = worst_edges_in_words({name: worst_edge_of(results[name][0].row) for name in holding})
    parts = [f"{every(holding)} {meet} every deadline{tightest}" if holding else none_meets]
    parts += [f"{edge} fails first over {every(names)}" for edge, names in failing.items()]
    parts += [f"too few messages for a verdict over {every(undecided)}"] if undecided else []
    parts += [f"no result over {every(without)}"] if without else []
    return " ".join(filter(None, (f"{'; '.join(parts)}.", "" if holding else _missed_by_baselines(verdict))))


def _missed_by_baselines(verdict: RaceVerdict) -> str:
    """Return a sentence if no baseline meets the deadlines either: then the middlewares are not the reason."""
    baselines = [row for row in (verdict.experiment.copying, verdict.experiment.handing_over) if row is not None]
    graphs = [row.result.workload for row in baselines]
    if not graphs or not all(graph is not None and graph.holds is False for graph in graphs):
        return ""
    names = every(list(dict.fromkeys(row.name for row in baselines)))
    return (
        f"The baseline misses a deadline too ({names}), so this run says nothing against the middlewares: "
        "the machine was busy with other programs, or is too small."
    )


def race_sentences(verdicts: Sequence[RaceVerdict]) -> Iterator[str]:
    """Yield the answer of each race, for races with several candidates."""
    for each in verdicts:
        if len(each.candidates) > 1:
            yield " ".join(filter(None, (answer(each), how_sure(each), deadlines(each))))
