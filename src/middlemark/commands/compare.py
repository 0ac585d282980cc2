"""``middlemark compare``: verdicts on runs, selections of cells, or the levels of a factor."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from middlemark import exits
from middlemark.commands.options import (
    fail_if_option,
    formats,
    last_of,
    margin_option,
    metric_option,
    runs_argument,
)
from middlemark.commands.page import option, page
from middlemark.runs.sides import ComparisonRequest, PlannedComparisons, asked_pairings, named_sides

if TYPE_CHECKING:
    from middlemark.stats.comparisons import Comparison


def _factors(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    from middlemark.model.selection import FIELD_OF

    return last_of(typed, FIELD_OF)


@page(
    "compare",
    ("compare runs/before runs/after", "B against A"),
    ("compare --by adapter", "the adapters of the newest run"),
    ("compare --fail-if 'p50 slower than 5%'", "the newest run against the previous run; exits with 4 if slower"),
    notes=("A selection may follow a run: runs/today:adapter=zeromq,size=1k.",),
)
@runs_argument(
    "Folders of runs; a folder of such folders means its newest run. More than two runs are compared with the first. "
    "A single run is compared with the previous run of the same suites (default: the newest in runs).",
    metavar="[A] [B]…",
)
@option(
    "--by",
    metavar="FACTOR",
    group="What is shown",
    shell_complete=_factors,
    help="Compare the levels of a factor within one run: receive, shared_memory, …; or of several: pin,priority.",
)
@option(
    "--reference",
    metavar="LEVEL",
    group="What is shown",
    help="With --by: compare the other levels with this level: off, or pin=off,….",
)
@metric_option("p50, p99.9, throughput, memory.ping, …", default_text="p50")
@option(
    "--edge",
    metavar="'TOPIC → NODE'",
    group="What is shown",
    help="For workloads: compare the figures of this edge only.",
)
@margin_option()
@option(
    "--anyway",
    is_flag=True,
    group="What is shown",
    help="Also compare configurations that are not comparable, and mark these lines.",
)
@formats("text", "json", "csv", "markdown", "html")
@fail_if_option(
    "Exit with 4 if the condition is met. 'p50 slower than 5%': a comparison has this verdict; 'undecided': a "
    "comparison is undecided."
)
def command(
    runs: tuple[str, ...],
    by: str | None,
    reference: str | None,
    metric: str | None,
    edge: str | None,
    margin: str,
    fail_if: tuple[str, ...],
    anyway: bool,
    output_format: str,
) -> int:
    """Print the verdicts; return the exit code."""
    from middlemark.show import output

    named = named_sides(runs, by)
    requests = [ComparisonRequest(each, by, reference, metric, margin, fail_if, edge) for each in named]
    planned = [(each, asked_pairings(each, anyway, output.tell)) for each in requests]
    judged = [pairings.judged(asked.metrics, asked.part) for asked, pairings in planned]
    if output.failed(_text(output_format, named, planned, judged)):
        return exits.CELL_FAILED
    worse = [_gate(asked, pairings, found) for (asked, pairings), found in zip(planned, judged, strict=True)]
    return exits.WORSE if any(worse) else exits.OK


def _text(
    output_format: str,
    named: Sequence[Sequence[str]],
    planned: "Sequence[tuple[ComparisonRequest, PlannedComparisons]]",
    judged: "Sequence[Sequence[Comparison]]",
) -> str:
    """Return the comparisons in this format.

    CSV is one table and HTML is one page. The other formats have a part for each request.
    """
    from middlemark.show import compare as report
    from middlemark.show import output
    from middlemark.show.json.comparisons import render_compare

    if output_format == "csv":
        return report.render_csv([each for found in judged for each in found])
    if output_format == "html":
        return report.render_html(
            [
                (" → ".join(runs), found, asked.part, pairings.edge)
                for runs, (asked, pairings), found in zip(named, planned, judged, strict=True)
            ]
        )
    texts = []
    for runs, (asked, pairings), found in zip(named, planned, judged, strict=True):
        if output_format == "json":
            texts.append(render_compare(found, asked.part, pairings.edge))
        elif output_format == "markdown":
            texts.append(report.render_markdown(found, asked.part, pairings.edge))
        else:
            title = f"{' → '.join(runs)}:\n" if len(judged) > 1 else ""
            texts.append(title + report.render_table(found, asked.part, output.width(), pairings.edge))
    return ("" if output_format == "json" else "\n").join(texts)


def _gate(asked: ComparisonRequest, pairings: PlannedComparisons, judged: "Sequence[Comparison]") -> bool:
    """Print a sentence for each comparison that meets a condition of --fail-if; return whether any comparison does."""
    from middlemark.show import output
    from middlemark.stats.metrics import METRICS
    from middlemark.verdicts.names import distinguishing_factors, what

    factors = distinguishing_factors(pairings.pairings)

    def print_reason(each: "Comparison", text: str) -> None:
        output.tell(f"{what(each.pairing, factors)}: {' → '.join(each.pairing.names)}: {text}")

    missed = list(pairings.missed(asked))
    for metric, margin, each in missed:
        print_reason(
            each, f"{metric} {METRICS[metric].worse} than {100 * margin:g} %: {100 * each.judged.shift:+.1f} %"
        )
    undecided = [each for each in judged if asked.fail_if.undecided and each.word == "undecided"]
    for each in undecided:
        print_reason(each, f"{each.metric} undecided")
    return bool(missed or undecided)
