"""Selects the cells in which each candidate is measured, and the limits of each trial.

Most faults depend on a combination of two levels. So an adapter's cells contain every pair of levels that one of its
transports supports together, and each transport's cells contain every level that it supports. ``Extent`` selects fewer
or more cells.
"""

import functools
from collections.abc import Mapping
from itertools import product
from typing import Any, Literal, get_args

import msgspec
import numpy as np
import numpy.typing as npt
from candidate import KIB, MIB, Candidate, candidates
from declared import declared, left_out, why_left_out

from middlemark.model.cell import CAPABILITIES, Cell, cannot
from middlemark.model.plan import Limits
from middlemark.model.protocol import Security

DURATION_S = 0.25
LONGEST = 300
"""Number of messages of the longest trial with a fixed number. A history of this depth keeps all of them."""
REPLY_TIMEOUT_S = 10.0
"""Long, because the tests check whether a message arrives. A delay on a busy machine must not count as a loss."""
ROUND_TRIPS, STREAM, CALLS = PATTERNS = "ping-pong", "stream", "request-reply"
Extent = Literal["brief", "pairs", "every"]
"""``brief``: each level once (``./check``). ``pairs``: every pair of levels (``./check all``). ``every``: every pair,
and each level alone (``./check full``)."""


class Variant(msgspec.Struct, frozen=True):
    """One combination of levels, and the limits of its trial."""

    cell: Cell
    limits: Limits


class Level(msgspec.Struct, frozen=True):
    """A level of a factor, or of several factors that vary together. ``name`` is empty for the usual level."""

    name: str
    meaning: Mapping[str, Mapping[str, Any]]
    """For each pattern that has this level: the factors of the cell and the trial's ``samples``."""


Row = tuple[Level, ...]


def always(name: str, **factors: Any) -> Level:
    """Return a level with the same factors under every pattern."""
    return Level(name, dict.fromkeys(PATTERNS, factors))


def _levels(who: Candidate, every: bool) -> list[list[Level]]:
    small = [KIB, 16, 17, 64 * KIB, 70001, MIB] if every else [16, 70001]
    whole = min(_whole_bytes(who), (8 if every else 4) * MIB + 3)
    largest = {ROUND_TRIPS: {"size": whole}, STREAM: {"size": min(100 * KIB, whole)}, CALLS: {"size": min(MIB, whole)}}
    several = {"subscribers": 0 if who.transport.alone else 3}
    return [
        [Level(pattern, {pattern: {"pattern": pattern}}) for pattern in PATTERNS],
        [always("block", receive="block"), always("poll", receive="poll"), always("listen", receive="listen")],
        [*(always(f"{size}B", size=size) for size in small if size <= whole), Level("largest", largest)],
        [always("", loan=False), always("loan", loan=True)],
        [always("", processes=2), always("one-process", processes=1)],
        [always("", reliability="reliable"), always("best-effort", reliability="best-effort")],
        [
            # Streams have another usual depth than the other patterns, so the two usual depths are two levels.
            Level("", {STREAM: {}}),
            Level("depth-1", {ROUND_TRIPS: {"depth": 1}, CALLS: {"depth": 1}}),
            Level("depth-10", {ROUND_TRIPS: {"depth": 10}}),
            Level("deepest", {ROUND_TRIPS: {"depth": _deepest(who)}}),
        ],
        [
            always(""),
            Level("three-receive", {ROUND_TRIPS: several, STREAM: several}),
            Level("one-of-three-echoes", {ROUND_TRIPS: several | {"echo": "first"}}),
            Level("several-send", {STREAM: {"publishers": 2}, CALLS: {"publishers": 3}}),
            Level("two-topics", {STREAM: {"publishers": 2, "subscribers": 3, "topics": 2}}),
        ],
        [always(""), always("untouched", payload="untouched")],
        [always(""), *(always(level, security=level) for level in get_args(Security) if level != "none")],
        *(
            [
                always(""),
                *(always(f"{name}-{level}", **{name: level}) for level in listed if level != listed[0]),
            ]
            for name, listed in _others(who).items()
        ),
        [
            always(""),
            Level("for-a-while", {ROUND_TRIPS: {"samples": None}}),
            Level("at-a-rate", {ROUND_TRIPS: {"rate": 100.0, "samples": 30}, STREAM: {"rate": 500.0, "samples": 150}}),
        ],
    ]


def _others(who: Candidate) -> dict[str, tuple[Any, ...]]:
    """Return the transport's levels of all factors that neither another row of ``_levels`` nor another test varies."""
    varied = ("pattern", "receive", "loan", "processes", "reliability", "security", "type")
    offered = {name: getattr(who.transport, honour.capability) for name, honour in CAPABILITIES.items()}
    return {name: has for name, has in offered.items() if isinstance(has, tuple) and name not in varied}


def _whole_bytes(who: Candidate) -> int:
    return min((each.largest(who) for each in left_out(who.worker.description.name)), default=who.transport.max_bytes)


def _deepest(who: Candidate, writers: int = 1) -> int | None:
    """Return the largest depth for each of a topic's writers: None (keep-all) if the transport supports keep-all.

    If the transport's depth has no limit, return the number of messages of the longest trial.
    """
    if who.transport.keep_all:
        return None
    return LONGEST if who.transport.max_depth is None else max(1, who.transport.max_depth // writers)


def rows_of(who: Candidate, every: bool) -> list[Row]:
    """Return all combinations of levels that the candidate supports. In each pattern the usual levels come first."""
    rows: list[Row] = []
    for pattern in PATTERNS:
        offered = [
            [each for each in levels if pattern in each.meaning and _offers(who, each.meaning[pattern])]
            for levels in _levels(who, every)
        ]
        rows += [row for row in product(*offered) if _wise(who, _factors(row))]
    return rows


def _offers(who: Candidate, factors: Mapping[str, Any]) -> bool:
    return all(name == "samples" or cannot(who.transport, name, level) is None for name, level in factors.items())


def _factors(row: Row) -> dict[str, Any]:
    factors: dict[str, Any] = {}
    for level in row:
        factors |= level.meaning[row[0].name]
    return factors


def _wise(who: Candidate, factors: Mapping[str, Any]) -> bool:
    pattern, several = factors["pattern"], factors.get("subscribers", 1) + factors.get("publishers", 1) > 2
    if who.transport.alone:
        return pattern == ROUND_TRIPS and factors.get("subscribers") == 0
    size, paced, lossy = factors["size"], "rate" in factors, factors["reliability"] == "best-effort"
    depth, goes_on = factors.get("depth"), factors.get("samples", 0) is None
    bounded = not who.transport.keep_all and who.transport.max_depth is not None
    return not (
        # Roles that poll never sleep, so each role would need its own processor.
        (factors["receive"] == "poll" and several)
        # The ping does not wait for a pong that does not echo, so messages to this pong may be overwritten or lost.
        or ("echo" in factors and (depth != _deepest(who) or (lossy and not paced) or (depth is not None and goes_on)))
        # The messages of all three pongs must fit into the transport's largest history.
        or (
            bounded
            and depth == who.transport.max_depth
            and pattern == ROUND_TRIPS
            and several
            and "echo" not in factors
        )
        # Under best effort, large messages may be lost if the transport also has a reliable mode, or if many datagrams
        # go to several receivers. For example, zenoh drops a message if one of its fragments has waited for 1 ms.
        or (pattern != STREAM and lossy and size > KIB and (several or "reliable" in who.transport.reliability))
        # Under best effort, one of several simultaneous calls may be lost. We saw this with zenoh over UDP.
        or (pattern == CALLS and lossy and several)
        # Some middlewares allocate the whole history in advance.
        or size * (depth or 1) > 256 * MIB
        # Discovery sends about as many bytes as these few small messages, so the actual transport could not be
        # determined.
        or (size < KIB and ((pattern == STREAM and paced) or (goes_on and factors["processes"] == 1)))
        or why_left_out(who, **factors) is not None
    )


def _variant(who: Candidate, row: Row) -> Variant:
    factors = _factors(row)
    pattern, size = factors["pattern"], factors["size"]
    if pattern == STREAM:
        factors["depth"] = _deepest(who, -(-factors.get("publishers", 1) // factors.get("topics", 1)))
    most = {ROUND_TRIPS: 200, STREAM: LONGEST, CALLS: 100}[pattern]
    samples = factors.pop("samples", most if size <= 64 * KIB else 60 if size <= 100 * KIB else 10)
    return Variant(who.cell(**factors), lasting(samples))


def lasting(samples: int | None) -> Limits:
    """Return the limits of a trial of this number of samples; None: of ``DURATION_S`` seconds."""
    return Limits(
        samples=samples,
        duration_s=DURATION_S if samples is None else None,
        warmup_s=0.02,
        reply_timeout_s=REPLY_TIMEOUT_S,
        match_timeout_s=60.0,
        limit_s=60.0,
    )


@functools.cache
def variants_of(name: str, extent: Extent) -> Mapping[str, Variant]:
    """Return the variants of the candidate with this name. The keys are made of the names of their levels."""
    if name in _chosen:
        return _chosen[name]
    who, rows = _candidate(name), _rows(name)
    transports = who.worker.description.transports
    before = [Candidate(who.worker, each) for each in transports[: transports.index(who.transport)]]
    once = extent == "brief" or (extent == "pairs" and declared(who.worker.description.name).levels_once)
    chosen = new_levels(rows, before) if once else new_pairs(rows, before)
    if who.transport.name == "mislabelled":
        # One variant of each pattern is enough to detect the null adapter's false transport.
        chosen = list({row[0].name: row for row in reversed(chosen)}.values())
    elif extent == "every":
        chosen += each_alone(rows_of(who, every=True))
    return {"-".join(filter(None, (level.name for level in row))): _variant(who, row) for row in chosen}


_chosen: dict[str, Mapping[str, Variant]] = {}


@functools.cache
def chosen_variants(extent: Extent) -> str:
    """Return all candidates' variants as JSON. ``use_variants`` reads it in another process, which saves seconds."""
    return msgspec.json.encode({each.name: variants_of(each.name, extent) for each in candidates()}).decode()


def use_variants(chosen: str) -> None:
    """Make ``variants_of`` return these variants, which ``chosen_variants`` of another process returned."""
    _chosen.update(msgspec.json.decode(chosen, type=dict[str, dict[str, Variant]]))


def new_pairs(rows: list[Row], before: list[Candidate]) -> list[Row]:
    """Return a few rows that contain each level of each pattern, and each pair that no earlier transport supports.

    ``before`` are the adapter's earlier transports. So every pair of levels that the adapter supports is measured over
    at least one of its transports.
    """
    pairs = _pairs(rows)
    new = np.setdiff1d(pairs, _pairs_before(before))
    return _cover(rows, pairs, np.union1d(new, pairs[:, : len(rows[0])]))


def new_levels(rows: list[Row], before: list[Candidate]) -> list[Row]:
    """Return a few rows that contain each pattern, and each level that no transport in ``before`` supports."""
    pairs = _pairs(rows)[:, : len(rows[0])]
    new = np.setdiff1d(pairs, _pairs_before(before))
    return _cover(rows, pairs, np.union1d(new, pairs[:, 0]))


def levels_of(rows: list[Row]) -> set[tuple[str, int, str]]:
    """Return the levels in the rows. Each level is its pattern, its index in the row and its name."""
    return {(row[0].name, place, level.name) for row in rows for place, level in enumerate(row)}


_numbers: dict[tuple[int, str], int] = {}


def _pairs(rows: list[Row]) -> npt.NDArray[np.int64]:
    """Return an array with a line per row: a number for each pair of levels, first for pairs with the pattern."""
    levels = [[_numbers.setdefault((at, level.name), len(_numbers)) for at, level in enumerate(row)] for row in rows]
    numbers = np.array(levels)
    left, right = np.triu_indices(numbers.shape[1])
    pairs: npt.NDArray[np.int64] = (numbers[:, left] << 16) + numbers[:, right]
    return pairs


def _pairs_before(before: list[Candidate]) -> npt.NDArray[np.int64]:
    return np.unique(np.concatenate([np.empty(0, np.int64), *(_pairs_offered(each.name) for each in before)]))


@functools.cache
def _pairs_offered(name: str) -> npt.NDArray[np.int64]:
    return np.unique(_pairs(_rows(name)))


@functools.cache
def _rows(name: str) -> list[Row]:
    return rows_of(_candidate(name), every=False)


def _candidate(name: str) -> Candidate:
    return next(each for each in candidates() if each.name == name)


def _cover(rows: list[Row], pairs: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64]) -> list[Row]:
    """Return rows that contain all ``wanted`` pairs. Repeatedly chooses the row with the most missing pairs."""
    numbers, places = np.unique(pairs, return_inverse=True)
    places, missing = places.reshape(pairs.shape), np.isin(numbers, wanted)
    chosen = []
    while missing.any():
        best = missing[places].sum(axis=1).argmax()
        missing[places[best]] = False
        chosen.append(rows[best])
    return chosen


def each_alone(rows: list[Row]) -> list[Row]:
    """Return the usual row of each pattern, and the rows that differ from it in one level."""
    usual = {row[0].name: row for row in reversed(rows)}
    return [row for row in rows if sum(mine != its for mine, its in zip(row, usual[row[0].name], strict=True)) <= 1]
