"""Growth along a factor, and scorecards, as tables: figures as times another."""

from collections.abc import Iterator, Sequence

from middlemark.document.numbers import ABSENT, measured, ratio, share
from middlemark.document.table import Table, table_of
from middlemark.stats.interval import FEWEST
from middlemark.stats.scorecard import RESAMPLES
from middlemark.verdicts.growth import Grown, Growth
from middlemark.verdicts.scorecards import Scorecard

_FEW = f"fewer than {FEWEST} rounds do not say how sure the order is: --trials 10"


def growth_tables(growths: Sequence[Growth]) -> Iterator[tuple[str, Table]]:
    """Yield each factor and its table: each line's figure at its lowest level, and times that at the others."""
    for factor in dict.fromkeys(each.factor for each in growths):
        lines = [each for each in growths if each.factor == factor]
        levels = dict(sorted({point.at: point.level for each in lines for point in each.points}.items()))
        rows = []
        for each in lines:
            texts = {point.at: _text(each, point) for point in each.points}
            rows.append((each.line, each.metric, *(texts.get(at, ABSENT) for at in levels)))
        yield factor, table_of(("", "metric", *levels.values()), rows, f"Growth along {factor}")


def _text(growth: Growth, point: Grown) -> str:
    """Return the lowest level's figure, of the others ``× 3.00 (2.81 … 3.20)``."""
    if point is growth.points[0]:
        return measured(point.median, growth.unit)
    between = "" if point.low is None else f" ({ratio(point.low)} … {ratio(point.high)})"
    return f"× {ratio(point.times)}{between}"


def scorecard_table(card: Scorecard) -> Table:
    """Return a row a candidate: its score, how sure, and each metric as times the best; how it is made is a note."""
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
            "A score is the weighted geometric mean of times the best of each metric; 1 is the best in all; "
            f"{sure}.{left}",
        ),
    )
