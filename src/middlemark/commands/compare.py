"""``middlemark compare``: verdicts on two runs, two selections of cells, or the levels of a factor."""

import click

from middlemark import exits
from middlemark.runs.sides import FORMATS, ComparisonRequest, PlannedComparisons, asked_pairings


@click.command(name="compare")
@click.argument("runs", nargs=-1, required=True, metavar="A [B]")
@click.option(
    "--by",
    metavar="FACTOR",
    help="Compare the levels of a factor within one run: receive, shared_memory, …; or of several: pin,priority.",
)
@click.option(
    "--reference", metavar="LEVEL", help="The level to compare the others with (with --by): off, or pin=off,…."
)
@click.option("--metric", metavar="M,…", help="p50, p99.9, throughput, memory.ping, … (default: p50).")
@click.option("--edge", metavar="'TOPIC → NODE'", help="For workloads: compare the figures of this edge only.")
@click.option("--margin", default="5%", metavar="PERCENT", help="Smaller differences do not matter (default: 5%).")
@click.option(
    "--fail-if",
    "fail_if",
    multiple=True,
    metavar="'M slower than P'",
    help="Exit with 4 if a comparison shows this, as in 'p50 slower than 5%'.",
)
@click.option(
    "--anyway", is_flag=True, help="Also compare configurations that are not comparable, and mark these lines."
)
@click.option("--format", "output_format", default="table", metavar="FORMAT", help=", ".join(FORMATS))
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
    """Say whether B is faster than A, slower, equivalent, or undecided.

    A and B are folders of runs, or folders of such folders (then the newest run counts). A selection may follow each:
    runs/today:adapter=zeromq,size=1k, or R:pin=off,priority=other R:pin=auto,priority=fifo:80. With --by
    one run is enough. An unknown metric is refused with the names of all metrics.
    """
    from middlemark.show import compare as report
    from middlemark.show import output
    from middlemark.show.json.comparisons import render_compare

    asked = ComparisonRequest(runs, by, reference, metric, margin, fail_if, output_format, edge)
    pairings = asked_pairings(asked, anyway, output.tell)
    judged = pairings.judged(asked.metrics, asked.part)
    width = output.width()
    text = {
        "table": lambda: report.render_table(judged, asked.part, width, pairings.edge),
        "json": lambda: render_compare(judged, asked.part, pairings.edge),
        "markdown": lambda: report.render_markdown(judged, asked.part, pairings.edge),
    }[output_format]()
    unwritten = output.write(text)
    if unwritten is not None:
        output.tell(unwritten)
        return exits.CELL_FAILED
    return _gate(asked, pairings)


def _gate(asked: ComparisonRequest, pairings: PlannedComparisons) -> int:
    """Print each missed --fail-if condition; return exit code 4 if there is one."""
    from middlemark.show import output
    from middlemark.stats.metrics import METRICS
    from middlemark.verdicts.names import distinguishing_factors, what

    status = exits.OK
    factors = distinguishing_factors(pairings.pairings)
    for metric, margin, each in pairings.missed(asked):
        names = " → ".join(each.pairing.names)
        shift = f"{100 * each.judged.shift:+.1f} %"
        text = (
            f"{what(each.pairing, factors)}: {names}: {metric} {METRICS[metric].worse} than {100 * margin:g} %: {shift}"
        )
        output.tell(text)
        status = exits.WORSE
    return status
