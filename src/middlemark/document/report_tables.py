"""The tables of a written report: latency, throughput and cost, comparisons, protection, failures."""

from collections.abc import Iterator, Sequence

from middlemark.document.columns import FIGURES
from middlemark.document.compare import row_of
from middlemark.document.document import Document
from middlemark.document.numbers import ABSENT, brief, four_digits, measured, ratio, share, us
from middlemark.document.security import proof_in_full, proof_in_short
from middlemark.document.table import Table, table_of
from middlemark.model.cell import ONE_WAY
from middlemark.stats.baselines import by_rate
from middlemark.stats.interval import FEWEST
from middlemark.stats.scorecard import RESAMPLES
from middlemark.verdicts.experiments import OF_MESSAGES
from middlemark.verdicts.growth import Grown, Growth
from middlemark.verdicts.names import size
from middlemark.verdicts.rows import Row, grouped, latency_of, place_of
from middlemark.verdicts.scorecards import Scorecard

MOST_COMPARISONS = 60


def by_size(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return size in words → its rows. Raw transports come first, then the rows by rising figure."""
    ascending = sorted(rows, key=lambda row: 0 if "size" in row.result.cell.unknown else row.result.cell.size)
    found = grouped(ascending, lambda row: size(row.result.cell))
    return {at: sorted(members, key=place_of) for at, members in found.items()}


def latency(document: Document) -> Iterator[tuple[str, list[Table]]]:
    """Yield a title with a table for each size: round trips, then one-way latencies."""
    titles = ("", "p50", "interval", "p99", "p99.9", "max", "× baseline", "lost", "trials", "warnings")
    for kind, title in (("round_trip", "Latency: round trip, µs"), ("one_way", "Latency: one way, µs")):
        timed = [row for row in document.rows if latency_of(row.result)]
        groups = by_size([row for row in timed if (row.result.cell.pattern in ONE_WAY) == (kind == "one_way")])
        if groups:
            yield title, [table_of(titles, [_latency(document, row) for row in of], at) for at, of in groups.items()]


def _latency(document: Document, row: Row) -> tuple[str, ...]:
    result, found = row.result, latency_of(row.result)
    p50, *others = (us(getattr(found, each, None)) for each in ("p50", "p99", "p99_9", "max"))
    held = result.interval if result.interval and not by_rate(result.cell) else ()
    codes = dict.fromkeys(each.code for each in result.warnings)
    baseline = None if row.baseline_row is None else document.everything[row.baseline_row]
    times = (
        ABSENT
        if row.ratio is None or baseline is None or row.is_raw_transport
        else f"{ratio(row.ratio)} {baseline.name}"
    )
    return (
        _name(row),
        p50,
        " – ".join(us(each) for each in held) or ABSENT,
        *others,
        times,
        FIGURES["loss"].text(result),
        f"{result.trials}{f' of {result.trials + result.failed_trials}' if result.failed_trials else ''}",
        ", ".join(codes),
    )


def throughput(document: Document) -> list[Table]:
    """Return a table for each size, with the rows that have a rate."""
    titles = ("", "messages/s", "interval", "MB/s", "lost", "processor ns per message", "processors", "RSS, MB")
    rated = [row for row in document.rows if row.result.rate_hz is not None]
    return [table_of(titles, [_throughput(row) for row in some], at) for at, some in by_size(rated).items()]


def _throughput(row: Row) -> tuple[str, ...]:
    result = row.result
    held = result.interval if result.interval and by_rate(result.cell) else ()
    cpu = FIGURES["cpu"].of(result)
    return (
        _name(row),
        FIGURES["rate_hz"].text(result),
        " – ".join(brief(each) for each in held) or ABSENT,
        *(FIGURES[each].text(result) for each in ("bytes_per_s", "loss", "ns_per_message")),
        ABSENT if cpu is None else f"{four_digits(cpu):.3g}",
        FIGURES["rss_bytes"].text(result),
    )


def protection(document: Document) -> Table | None:
    """Return the protection of each row with its proof; None: no row is protected."""
    rows = [
        (row.label, row.result.protected_by or ABSENT, proof_in_full(row.result))
        for row in document.rows
        if proof_in_short(row.result)
    ]
    return table_of(("configuration", "protected by", "proof"), rows) if rows else None


def comparisons(document: Document) -> Table | None:
    """Return the comparisons by p50 and throughput that have an interval; None: no comparison has one."""
    chosen = [
        each
        for each in document.comparisons
        if each.comparison.metric in OF_MESSAGES and each.comparison.judged.low is not None
    ]
    if not chosen:
        return None
    titles = ("A → B", "metric", "A", "B", "shift", "95 % interval", "pairs", "verdict")
    more = len(chosen) - MOST_COMPARISONS
    notes = (
        *([f"and {more:,} more: `middlemark compare` shows them."] if more > 0 else []),
        "Trials are paired by round, one figure per trial. A and B are the medians of their common rounds. A and B "
        "differ if the p-value over all comparisons of the run by that metric is at most 5 % and the shift exceeds "
        f"{100 * document.margin:g} %. A and B are equivalent if "
        f"the interval lies within ±{100 * document.margin:g} %.",
    )
    shown = [(each.what, each.comparison) for each in chosen[:MOST_COMPARISONS]]
    rows = [row_of(each, what, "; ".join(each.pairing.marks)) for what, each in shown]
    return table_of(titles, rows, notes=notes)


def failed(document: Document) -> Table | None:
    """Return the rows without a result, with the reason; None: every row has a result."""
    rows = [
        (row.label, why.code, why.text, why.advice) for row in document.rows if (why := row.result.failed) is not None
    ]
    return table_of(("configuration", "why", "what happened", "next"), rows) if rows else None


def expected(document: Document) -> Table:
    """Return the expectations with their verdicts."""
    rows = [(each.say, each.claimed, str(each.verdict), each.why) for each in document.expectations]
    return table_of(("expected", "claimed", "verdict", "why"), rows)


def _name(row: Row) -> str:
    return row.series + (" (raw transport)" if row.is_raw_transport else "")


_FEW = f"fewer than {FEWEST} rounds give no interval and no share of first places: use --trials 10"


def growth_tables(growths: Sequence[Growth]) -> Iterator[tuple[str, Table]]:
    """Yield a factor and its table. A line has its figure at the lowest level, and the growth at each other level."""
    for factor in dict.fromkeys(each.factor for each in growths):
        lines = [each for each in growths if each.factor == factor]
        levels = dict(sorted({point.at: point.level for each in lines for point in each.points}.items()))
        rows = []
        for each in lines:
            texts = {point.at: _text(each, point) for point in each.points}
            rows.append((each.line, each.metric, *(texts.get(at, ABSENT) for at in levels)))
        yield factor, table_of(("", "metric", *levels.values()), rows, f"Growth along {factor}")


def _text(growth: Growth, point: Grown) -> str:
    """Return the figure, at the factor's lowest level. At other levels return the growth: ``× 3.00 (2.81 … 3.20)``."""
    if point is growth.points[0]:
        return measured(point.median, growth.unit)
    between = "" if point.low is None else f" ({ratio(point.low)} … {ratio(point.high)})"
    return f"× {ratio(point.times)}{between}"


def scorecard_table(card: Scorecard) -> Table:
    """Return a row for each candidate: score, interval, and each metric as a multiple of the best.

    A note has the method.
    """
    drawn = f"{RESAMPLES:,} draws of the {card.rounds} rounds (bootstrap, seeded, the same rounds for all)"
    sure = f"first: the share of {drawn} in which it has the lowest score" if card.rounds >= FEWEST else _FEW
    left = f" Left out: {'; '.join(card.left_out)}." if card.left_out else ""
    rows = [
        (
            each.name,
            ratio(each.score),
            ABSENT if each.low is None else f"{ratio(each.low)} … {ratio(each.high)}",
            share(each.first),
            *map(ratio, each.parts),
        )
        for each in card.rows
    ]
    return table_of(
        ("", "score", "interval", "first", *(f"{metric} ({weight:g})" for metric, weight in card.weights)),
        rows,
        title=f"Scorecard{f': {card.experiment}' if card.experiment else ''}",
        notes=(
            "Score: the weighted geometric mean of a candidate's figures, each divided by the best "
            f"candidate's. 1: the best in every metric. {sure}.{left}",
        ),
    )
