"""The cost of a client's language: each client beside the adapter of the same middleware, under the same load.

A difference is the language's alone only if the same version of the same library moves the messages of both. A ranking
needs no note about this: it ranks candidates to choose from, and makes no statement about a language.
"""

from collections.abc import Sequence

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.description import Description, WrittenIn
from middlemark.model.run import Run
from middlemark.model.version import adapter_of
from middlemark.verdicts.beside import beside, metric_of
from middlemark.verdicts.comparisons import Comparisons
from middlemark.verdicts.experiments import Standing
from middlemark.verdicts.names import is_contradicted
from middlemark.verdicts.rows import Row, grouped, per_message_ns

_MAY_DIFFER = ("adapter", "pair", "transport", "native", "label", "unknown")


class ClientCost(msgspec.Struct, frozen=True, kw_only=True):
    """A client in another language beside the adapter of the same middleware."""

    client: Row
    middleware: Row
    language: WrittenIn
    """The client's language."""
    libraries: tuple[str, str]
    """Name and version of the library that moves the messages: the client's, and the other adapter's."""
    times: float
    """The client's time per message divided by that of the other adapter."""
    standing: Standing | None
    """The client's standing beside the other adapter. None: language and library differ, so there is no verdict on the
    language."""

    @property
    def same_library(self) -> bool:
        """True if both rows use the same version of the same library."""
        return self.libraries[0] == self.libraries[1]


def client_costs(rows: Sequence[Row], runs: Sequence[Run], comparisons: Comparisons) -> tuple[ClientCost, ...]:
    """Return each client that was measured together with the adapter of its middleware, in the order of the rows."""
    described = [{each.name: each for each in run.file.adapters} for run in runs]
    measured = [
        row
        for row in rows
        if per_message_ns(row.result) and not row.result.cell.unknown and not is_contradicted(row.result)
    ]
    under_load = grouped(measured, _load)
    pairs: list[tuple[Row, Row, tuple[Description, Description]]] = []
    for row in measured:
        about = described[row.run].get(row.result.cell.adapter)
        if about is not None and about.client_of:
            others = [
                each for each in under_load[_load(row)] if adapter_of(each.result.cell.adapter) == about.client_of
            ]
            found = _nearest(row, about, others, described[row.run])
            if found is not None:
                pairs.append((row, found, (about, described[row.run][found.result.cell.adapter])))
    same = [(b, a) for a, b, (client, other) in pairs if client.moved_by == other.moved_by]
    for metric in ("p50", "throughput"):
        comparisons.also_judge([each for each in same if metric_of(each[0]) == metric], metric)
    return tuple(_cost(client, other, about, comparisons) for client, other, about in pairs)


def _load(row: Row) -> tuple[object, ...]:
    fields = (each for each in Cell.__struct_fields__ if each not in _MAY_DIFFER)
    return (row.run, *(getattr(row.result.cell, each) for each in fields))


def _nearest(client: Row, about: Description, others: Sequence[Row], described: dict[str, Description]) -> Row | None:
    """Return the row with the client's transport, or else its carrier. Prefer the client's version and settings."""
    cell = client.result.cell
    over = [each for each in others if each.result.cell.transport == cell.transport]
    over = over or [each for each in others if each.carrier == client.carrier]
    return min(
        over,
        key=lambda each: (
            described[each.result.cell.adapter].moved_by != about.moved_by,
            each.result.cell.native != cell.native,
            per_message_ns(each.result),
        ),
        default=None,
    )


def _cost(client: Row, middleware: Row, about: tuple[Description, Description], comparisons: Comparisons) -> ClientCost:
    libraries = (about[0].moved_by, about[1].moved_by)
    return ClientCost(
        client=client,
        middleware=middleware,
        language=about[0].language,
        libraries=libraries,
        times=(per_message_ns(client.result) or 0.0) / (per_message_ns(middleware.result) or 1.0),
        standing=beside(client, middleware, comparisons)[0] if libraries[0] == libraries[1] else None,
    )
