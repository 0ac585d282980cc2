"""The cost of a client's language in sentences: one for each client, with all sizes."""

from collections.abc import Sequence

from middlemark.document.document import Conclusion
from middlemark.document.numbers import ratio
from middlemark.document.statements import BESIDE, DECIDED_BESIDE
from middlemark.model.units import format_size
from middlemark.verdicts.languages import ClientCost
from middlemark.verdicts.names import plain
from middlemark.verdicts.rows import grouped


def conclusions(costs: Sequence[ClientCost]) -> tuple[Conclusion, ...]:
    """Return a sentence for each client: its time as a multiple at each size, or that language and library differ."""
    found = grouped(costs, lambda each: (each.client.run, each.client.name, each.middleware.name, each.libraries))
    return tuple(map(_conclusion, found.values()))


def _conclusion(over: Sequence[ClientCost]) -> Conclusion:
    first = over[0]
    pair = f"{first.client.name} and {first.middleware.name}"
    own, other = first.libraries
    times = ", ".join(
        f"{ratio(each.times)} × as long at {format_size(each.client.result.cell.size)}{_word(each)}" for each in over
    )
    if first.same_library:
        text = f"{pair}, both with {own}: {first.language} takes {times}."
    else:
        why = f"language and library differ ({own}, {other}), so there is no verdict on {first.language}"
        text = f"{pair}: {why}; {first.client.name} takes {times}."
    return Conclusion(
        text=plain(text),
        sure="sure" if all(each.standing in DECIDED_BESIDE for each in over) else "unsure",
        cells=tuple(row.index for each in over for row in (each.client, each.middleware)),
    )


def _word(cost: ClientCost) -> str:
    return f" ({BESIDE.get(cost.standing, 'undecided')})" if cost.standing is not None else ""
