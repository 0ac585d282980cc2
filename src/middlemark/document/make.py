"""Make the document from runs. Samples are read only for one trial of each cell, for its distribution."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from middlemark.document.answers import answers
from middlemark.document.distributions import MOST_TRIALS, distribution
from middlemark.document.document import Compared, Document, OverTime
from middlemark.document.expectations import expectations_of
from middlemark.document.next_steps import commands_of
from middlemark.document.runs import seconds_of, title_of
from middlemark.document.screen import warnings_of
from middlemark.stats.verdict import Verdict
from middlemark.verdicts.comparisons import SHOWN_METRICS, Comparisons
from middlemark.verdicts.growth import growths
from middlemark.verdicts.interop import interop_tables
from middlemark.verdicts.judging import judged_experiments
from middlemark.verdicts.languages import client_costs
from middlemark.verdicts.long_trials import long_trials
from middlemark.verdicts.names import varied_factors, what
from middlemark.verdicts.rows import MeasuredRun, Row, rows_of
from middlemark.verdicts.scaling import scalings
from middlemark.verdicts.scorecards import scorecards
from middlemark.verdicts.security import cost_tables
from middlemark.verdicts.ways import way_costs
from middlemark.verdicts.workloads import cheapest, graph_tables

MOST_COMPARISONS = 1_000


def document_of(runs: Sequence[MeasuredRun], *, generated: str = "", middlemark: str = "") -> Document:
    """Return the document without verdicts. ``generated``: the time, ISO 8601 in UTC; ``middlemark``: the version."""
    rows = rows_of(runs)
    tried = {each.name for run in runs for each in run.file.adapters}
    return Document(
        title=title_of(runs),
        generated=generated,
        middlemark=middlemark,
        runs=tuple(runs),
        rows=rows,
        everything=rows,
        warnings=warnings_of(rows),
        expectations=expectations_of(runs, rows),
        not_tried=tuple(
            {each.adapter: each for run in runs for each in run.file.not_tried if each.adapter not in tried}.values()
        ),
        took=(seconds_of(runs[0]) or 0.0) if runs else 0.0,
        over_time=tuple(_over_time(runs)),
        growths=growths(rows),
        scalings=scalings(rows),
        scorecards=scorecards(rows, runs),
        workloads=graph_tables(rows),
    )


def _over_time(runs: Sequence[MeasuredRun]) -> Iterator[OverTime]:
    begin = 0
    for run in runs:
        yield from (OverTime(begin + each.cell, each) for each in long_trials(run))
        begin += len(run.results)


def with_experiments(document: Document, chosen: Callable[[Row], bool] = lambda _: True) -> Document:
    """Return the document with only the ``chosen`` rows, and with their experiments. All rows are judged together."""
    return _judged(document, Comparisons(document.rows, document.runs), tuple(filter(chosen, document.rows)))


def with_verdicts(document: Document, runs: Sequence[MeasuredRun]) -> Document:
    """Return the document of these runs with all verdicts, comparisons and distributions."""
    comparisons = Comparisons(document.rows, document.runs)
    shown, left_out = _compared(document, comparisons)
    every = sum(len(row.trials) for row in document.rows) <= MOST_TRIALS
    document = msgspec.structs.replace(
        _judged(document, comparisons, document.rows),
        comparisons=shown,
        comparisons_left_out=left_out,
        commands=commands_of(
            document.runs, list(dict.fromkeys(factor for factor, _ in comparisons.families if factor != "run"))
        ),
        distributions=tuple(
            distribution(row.result, row.trials, runs[row.run].samples, runs[row.run].kept, every=every)
            for row in document.rows
        ),
    )
    return msgspec.structs.replace(document, answers=answers(document, comparisons))


def _judged(document: Document, comparisons: Comparisons, rows: tuple[Row, ...]) -> Document:
    whole = len(rows) == len(document.rows)
    workloads = document.workloads if whole else graph_tables(rows)
    experiments = judged_experiments(document.rows, comparisons, rows)
    return msgspec.structs.replace(
        document,
        rows=rows,
        warnings=document.warnings if whole else warnings_of(rows),
        workloads=workloads,
        experiments=experiments,
        costs=cost_tables(rows, comparisons),
        interop=interop_tables(rows, experiments),
        languages=client_costs(rows, document.runs, comparisons),
        ways=way_costs(rows, comparisons),
        cheapest=tuple(tuple(cheapest(each, comparisons)) for each in workloads),
    )


def _compared(document: Document, comparisons: Comparisons) -> tuple[tuple[Compared, ...], dict[str, int]]:
    """Return at most ``MOST_COMPARISONS`` comparisons, decided ones first. Also return factor → number of others."""
    factors = varied_factors([row.result.cell for row in document.rows])
    left_out = dict(comparisons.unjudged)
    shown: list[Compared] = []
    for factor, metric in sorted(comparisons.families, key=lambda each: SHOWN_METRICS.index(each[1])):
        family = comparisons.families[factor, metric]
        room = MOST_COMPARISONS - len(shown)
        kept = family
        if len(family) > room:
            order = sorted(range(len(family)), key=lambda at: (family[at].judged.verdict is Verdict.UNDECIDED, at))
            kept = [family[at] for at in sorted(order[:room])]
            left_out[factor] = left_out.get(factor, 0) + len(family) - len(kept)
        for each in kept:
            a, b = comparisons.rows_of(each)
            shown.append(Compared(a=a, b=b, factor=factor, what=what(each.pairing, factors), comparison=each))
    return tuple(shown), left_out
