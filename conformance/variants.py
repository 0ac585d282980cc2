"""What every contender is put through, if it offers it: cells and how long each is measured."""

from collections.abc import Callable, Mapping

import msgspec
from contender import KIB, MIB, Contender

from middlemark.plan.cell import Cell, Limits

DURATION_S = 0.25
REPLY_TIMEOUT_S = 10.0
"""Whether a message arrives is asked here, not how soon: a crowded machine must not turn patience into loss."""


class Variant(msgspec.Struct, frozen=True):
    """``cell`` returns None where the contender does not offer it."""

    cell: Callable[[Contender], Cell | None]
    limits: Callable[[Cell], Limits]


def lasting(samples: int | None) -> Limits:
    """Return the limits of a trial of so many samples; None: it goes on for a while."""
    return Limits(
        samples=samples,
        duration_s=DURATION_S if samples is None else None,
        warmup_s=0.02,
        reply_timeout_s=REPLY_TIMEOUT_S,
        match_timeout_s=20.0,
        limit_s=60.0,
    )


# Round trips


def _round_trips(
    *, samples: int | None = 200, needs: Callable[[Contender], bool] = lambda _: True, **factors: object
) -> Variant:
    def limits(cell: Cell) -> Limits:
        few = 40 if cell.size <= MIB else 10
        return lasting(samples if samples is None or cell.size <= 64 * KIB else min(samples, few))

    return Variant(lambda who: who.cell(**factors) if needs(who) else None, limits)


def _size(size: int) -> Variant:
    return _round_trips(size=size, needs=lambda who: size <= _whole_bytes(who))


def _whole_bytes(who: Contender) -> int:
    """Return the largest message of which nothing is lost, one at a time.

    ROS 1's UDPROS and LCM (see their READMEs) send a message as many datagrams at once and lose all of it with any of
    them. With LCM everybody hears everybody: a socket that is read late holds the message and its echo.
    """
    return {"ros1-udpros": 100 * KIB, "lcm-udp": who.transport.max_bytes // 2}.get(who.name, who.transport.max_bytes)


def _receive(mode: str) -> Variant:
    return _round_trips(receive=mode, needs=lambda who: mode in who.transport.receive)


def _depth(depth: int | None) -> Variant:
    def honoured(who: Contender) -> bool:
        offered = who.transport
        return offered.keep_all if depth is None else offered.max_depth is None or depth <= offered.max_depth

    return _round_trips(depth=depth, size=64, needs=honoured)


def _from(cell: Callable[[Contender], Cell | None]) -> Variant:
    return Variant(cell, _round_trips().limits)


def _meets(who: Contender) -> bool:
    """Somebody receives what it sends."""
    return not who.transport.alone


def _several(echo: str) -> Variant:
    # A pong that does not echo holds nobody up: without a history to fall behind in, it may miss what is overwritten.
    def cell(who: Contender) -> Cell | None:
        depth = deepest(who) if echo == "first" else 1
        return who.cell(subscribers=3, echo=echo, depth=depth) if _meets(who) else None

    return _from(cell)


def _other_loan(who: Contender) -> Cell | None:
    return who.cell(loan=who.transport.loan[1], size=_no_more(who, 64 * KIB)) if len(who.transport.loan) > 1 else None


def _no_more(who: Contender, size: int) -> int:
    return min(size, who.transport.max_bytes)


def _other_reliability(who: Contender) -> Cell | None:
    return who.cell(reliability=who.transport.reliability[1], size=64) if len(who.transport.reliability) > 1 else None


def either_way(who: Contender) -> bool:
    """It works between processes and within one."""
    return set(who.transport.processes) == {1, 2}


def deepest(who: Contender, writers: int = 1) -> int | None:
    """Return keep-all, or the deepest history that it has for each of a topic's writers."""
    return None if who.transport.keep_all else (who.transport.max_depth or 1) // writers


ROUND_TRIPS: Mapping[str, Variant] = {
    "block": _receive("block"),
    "poll": _receive("poll"),
    "listen": _receive("listen"),
    "16B": _size(16),
    "17B": _size(17),
    "70001B": _size(70001),
    "64KiB": _size(64 * KIB),
    "1MiB": _size(MIB),
    "largest": _from(lambda who: who.cell(size=min(_whole_bytes(who), 8 * MIB + 3))),
    "loan": _from(_other_loan),
    "one-process": _round_trips(processes=1, needs=either_way),
    "other-reliability": _from(_other_reliability),
    "three-echo-all": _several("all"),
    "three-echo-first": _several("first"),
    "keep-all": _depth(None),
    "depth-10": _depth(10),
    "untouched": _round_trips(payload="untouched"),
    "for-a-while": _round_trips(samples=None, size=64),
    "50Hz": _round_trips(samples=15, size=64, rate=50.0),
}


# Streams


def _stream(
    *, samples: int = 300, needs: Callable[[Contender], bool] = lambda _: True, reliable: bool = True, **factors: object
) -> Variant:
    """A stream that loses nothing, where the transport can be asked for that; ``reliable`` false: that may lose."""
    publishers, topics = int(str(factors.get("publishers", 1))), int(str(factors.get("topics", 1)))
    writers = -(-publishers // topics)
    size = int(str(factors.get("size", KIB)))

    def cell(who: Contender) -> Cell | None:
        if not _meets(who) or not needs(who):
            return None
        wanted = "reliable" if reliable else "best-effort"
        offered = who.transport.reliability
        return who.cell(
            pattern="stream",
            reliability=wanted if wanted in offered else offered[0],
            depth=deepest(who, writers),
            **{**factors, "size": _no_more(who, size)},
        )

    return Variant(cell, lambda _: lasting(samples))


def _plain(who: Contender) -> bool:
    """The scripted adapter's lie about its transport is found in one variant as well as in all."""
    return who.transport.name != "mislabelled"


def _laps(who: Contender) -> bool:
    """A known trap of the middleware (its README): a reader that is overtaken reads what it should not, or hangs."""
    return who.name == "fastdds-data-sharing"


STREAMS: Mapping[str, Variant] = {
    "stream-block": _stream(),
    "stream-poll": _stream(size=16, receive="poll", needs=lambda who: _plain(who) and "poll" in who.transport.receive),
    "stream-listen": _stream(receive="listen", needs=lambda who: _plain(who) and "listen" in who.transport.receive),
    "stream-loan": _stream(size=64 * KIB, samples=60, loan=True, needs=lambda who: set(who.transport.loan) > {True}),
    "fan-out": _stream(subscribers=3, needs=_plain),
    "fan-in": _stream(publishers=2, size=100 * KIB, samples=60, needs=_plain),
    "two-topics": _stream(publishers=2, subscribers=2, topics=2, size=16, needs=_plain),
    "all-in-one-process": _stream(
        publishers=2, subscribers=3, topics=2, processes=1, needs=lambda who: _plain(who) and either_way(who)
    ),
    "best-effort": _stream(
        subscribers=2,
        reliable=False,
        needs=lambda who: _plain(who) and not _laps(who) and "best-effort" in who.transport.reliability,
    ),
    "500Hz": _stream(samples=150, rate=500.0, needs=_plain),
}


# Calls: requests and their replies


def _only_over_tcp(who: Contender) -> bool:
    """A service of ROS 1 is carried by TCP whatever carries the topics: over such a transport it is refused."""
    return who.worker.description.name == "ros1" and who.transport.carrier != "tcp"


def _calls(*, needs: Callable[[Contender], bool] = _plain, **factors: object) -> Variant:
    def cell(who: Contender) -> Cell | None:
        able = _meets(who) and needs(who) and not _only_over_tcp(who)
        return who.cell(**{"pattern": "request-reply", **factors}) if able else None

    return Variant(cell, lambda _: lasting(100))


CALLS: Mapping[str, Variant] = {
    "call-block": _calls(needs=lambda _: True),
    "call-poll": _calls(receive="poll", needs=lambda who: _plain(who) and "poll" in who.transport.receive),
    "call-listen": _calls(receive="listen", needs=lambda who: _plain(who) and "listen" in who.transport.receive),
    "three-clients": _calls(publishers=3),
    "three-clients-in-one-process": _calls(
        publishers=3, processes=1, needs=lambda who: _plain(who) and either_way(who)
    ),
}

VARIANTS: Mapping[str, Variant] = {**ROUND_TRIPS, **STREAMS, **CALLS}


def offered(variants: Mapping[str, Variant], who: Contender) -> dict[str, Cell]:
    """Return the cells of those variants that the contender offers."""
    return {name: cell for name, variant in variants.items() if (cell := variant.cell(who)) is not None}
