"""A cell: one combination of levels.

Each field of a cell declares a factor, and the table of factors follows from the fields.
"""

import statistics
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import Annotated, get_args

import msgspec

from middlemark.model.description import ANY, DEFAULT_CONFIGURATION, Description, Transport
from middlemark.model.factors import Applies, Factor, Honour, declared, no_such_way, one_of, too_deep, unprotected
from middlemark.model.levels import (
    DEPTH,
    FLAG,
    PRIORITY,
    PROCESSORS,
    RATE,
    SHARE,
    SIZE,
    TIMES,
    Level,
    Wrong,
    names,
    seconds,
    whole,
    words,
)
from middlemark.model.link import ACROSS, HERE, LINK, is_apart
from middlemark.model.pairs import PAIR, SAME, sides_of
from middlemark.model.protocol import (
    Arrivals,
    MessageType,
    Pattern,
    Payload,
    Reception,
    Reliability,
    Security,
    Subscribe,
    Via,
)
from middlemark.model.setting import SYSTEM
from middlemark.model.spelling import listing
from middlemark.model.units import format_count, format_size
from middlemark.model.workload import Workload, honoured

STEP_S = 1.0
"""Longest duration of a step that only searches for a rate."""
SMALLEST_MESSAGE = 16
"""Size of the core's header: sequence number and intended time."""
MOST_ROLES = 64
"""The highest number of publishers, subscribers or topics of one trial."""
MOST_PARTICIPANTS = 500
"""The highest number of participants of a crowd."""
MOST_CROWD_TOPICS = 2000
"""The highest number of topics of all participants of a crowd together."""
ONE_WAY = ("stream", "crowd")
"""Patterns whose latency is one-way; the others measure round trips."""
SEARCHES = ("sustainable", "curve")
"""Rates that are found by search."""
_IN_A_CROWD = Applies(
    when=lambda load: load["pattern"] == "crowd",
    otherwise="{}: only a crowd has participants; take pattern crowd",
)

_BOUND = Applies(
    when=lambda load: load["rate"] in SEARCHES,
    otherwise="{} limits a rate that is found by search; take rate sustainable or curve",
)


def _too_large(transport: Transport, level: Level) -> str | None:
    if not isinstance(level, int) or level <= transport.max_bytes:
        return None
    advice = f"; {transport.max_bytes_advice}" if transport.max_bytes_advice else ""
    return f"at most {format_size(transport.max_bytes)} in a message{advice}"


def _stays(transport: Transport, level: Level) -> str | None:
    if not is_apart(level) or transport.carrier in ("udp", "tcp", ANY):
        return None
    return f"{transport.carrier.replace('-', ' ')} does not cross from one site to another"


def _no_such_pattern(transport: Transport, level: Level) -> str | None:
    """Return why the transport cannot honour a pattern; None: it can."""
    if level in transport.patterns:
        return None
    if transport.patterns_why:
        return f"no {level}: {transport.patterns_why}"
    return f"its adapter does not offer the pattern {level}"


def _too_many_in_a_process(transport: Transport, level: Level) -> str | None:
    most = transport.participants_per_process
    if not isinstance(level, int) or level <= most:
        return None
    return f"at most {format_count(most, 'participant')} in a process"


OTHER_PATTERNS = {
    **dict.fromkeys(("pubsub", "publishsubscribe", "publish", "throughput", "oneway", "flood"), "stream"),
    **dict.fromkeys(("rpc", "service", "clientserver", "reqrep", "requestresponse", "call"), "request-reply"),
    **dict.fromkeys(("latency", "roundtrip", "rtt", "echo"), "ping-pong"),
    **dict.fromkeys(("discovery", "scaling", "fleet"), "crowd"),
}
"""Name of a pattern in other tools, without dashes → the pattern."""


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One combination of levels. Sizes are bytes, the core's 16-byte header included."""

    adapter: Annotated[
        str,
        Factor(
            kind=names("adapter"),
            default=("all",),
            metavar="NAME|all,…",
            help="Adapters to measure; all: every adapter that is built.",
            of="subject",
            title="middleware",
        ),
    ]
    transport: Annotated[
        str,
        Factor(
            kind=names("transport", DEFAULT_CONFIGURATION),
            default=("all",),
            metavar="NAME|all,…",
            help="Transports; all: every transport except `default`, the default configuration; all,default: every "
            "transport.",
            of="subject",
        ),
    ]
    pair: Annotated[
        str,
        Factor(
            kind=PAIR,
            default=(SAME,),
            metavar="same|SENDERS:RECEIVERS|all,…",
            help="Different adapters for senders and receivers: same, cyclonedds:fastdds, or all that share a wire.",
            of="subject",
            request="paired",
            in_request=lambda level: level != SAME,
        ),
    ] = SAME
    """``same``, or the senders' and the receivers' adapter as ``A:B``; ``adapter`` is then A."""
    pattern: Annotated[
        Pattern,
        Factor(
            kind=words("pattern", *get_args(Pattern), meant=OTHER_PATTERNS),
            default=("ping-pong",),
            metavar="ping-pong|stream|request-reply|crowd,…",
            help="Communication pattern of the roles.",
            load=True,
            honour=Honour(capability="patterns", cannot=_no_such_pattern, own=lambda transport: transport.patterns[0]),
        ),
    ] = "ping-pong"
    size: Annotated[
        int,
        Factor(
            kind=SIZE,
            group="Load",
            default=(1024,),
            metavar="SIZE,…",
            help="Bytes of a message, the header of 16 included: 16, 1k, 64k, 1m, @demands.csv.",
            default_text="`1k`",
            honour=Honour(capability="max_bytes", cannot=_too_large, own=lambda transport: transport.max_bytes),
            in_cells=lambda level: max(SMALLEST_MESSAGE, level) if isinstance(level, int) else level,
            unit="bytes",
            column="size_bytes",
            request="message_bytes",
            shown_by="size",
        ),
    ]
    type: Annotated[
        MessageType,
        Factor(
            kind=words("type of message", *get_args(MessageType)),
            default=("octets",),
            metavar="octets|image|point-cloud|imu|tf,…",
            help="Plain bytes, or a ROS message that is serialised; size is then the size of its main array.",
            of="middleware",
            honour=one_of("types", lambda level, supported: f"it supports {listing(supported)}, not {level}"),
        ),
    ] = "octets"
    receive: Annotated[
        Reception,
        Factor(
            kind=words("way to receive", "block", "poll", "listen"),
            default=("block",),
            metavar="block|poll|listen,…",
            help="How a role receives.",
            honour=one_of("receive"),
            request="reception",
            title="reception",
        ),
    ] = "block"
    reliability: Annotated[
        Reliability,
        Factor(
            kind=words("reliability", *get_args(Reliability)),
            default=("reliable",),
            default_text="`reliable`; a raw transport has its own",
            metavar="reliable|best-effort,…",
            help="Delivery that the middleware must provide.",
            of="middleware",
            honour=one_of("reliability"),
        ),
    ] = "reliable"
    depth: Annotated[
        int | None,
        Factor(
            kind=DEPTH,
            default=(1,),
            default_text="`1`; **`all` for a stream**",
            metavar="N|all,…",
            help="History: keep the last N messages, or all.",
            of="middleware",
            honour=Honour(capability="max_depth", cannot=too_deep, own=lambda _: 1),
            title="history depth",
            unit="messages",
            none="all",
        ),
    ] = 1
    """Depth of the keep-last history in messages; None is keep-all."""
    loan: Annotated[
        bool,
        Factor(
            kind=FLAG,
            default=(False,),
            help="Write into the middleware's own memory.",
            of="middleware",
            honour=one_of("loan", lambda level, _: "no memory to lend" if level else "lent memory only"),
            column="loaned",
            shown=lambda level: "loan" if level else "no loan",
        ),
    ] = False
    security: Annotated[
        Security,
        Factor(
            kind=words("level of security", *get_args(Security)),
            default=("none",),
            metavar="none|authenticated|signed|encrypted,…",
            help="Protection of the messages. Each trial makes its own certificates and keys, unless --certs names a "
            "set.",
            honour=Honour(capability="security", cannot=unprotected, own=lambda transport: transport.security[0]),
        ),
    ] = "none"
    via: Annotated[
        Via,
        Factor(
            kind=words("way", *get_args(Via)),
            default=("direct",),
            default_text="`direct`; a middleware with a broker `router`",
            metavar="direct|router|discovery-server,…",
            help="Processes between the peers: none, a router, or a server that only helps them find each other.",
            of="middleware",
            honour=Honour(capability="via", cannot=no_such_way, own=lambda transport: transport.via[0]),
            shown=lambda level: str(level) if level == "direct" else f"via {level}",
        ),
    ] = "direct"
    processes: Annotated[
        int,
        Factor(
            kind=whole("number of processes", 1, 2),
            default=(2,),
            metavar="1|2,…",
            help="All roles in one process (1), or each role in its own (2).",
            honour=one_of(
                "processes",
                lambda _, supported: "within one process only" if supported == (1,) else "between processes only",
            ),
            request="one_process",
            in_request=lambda level: level == 1,
        ),
    ] = 2
    publishers: Annotated[
        int,
        Factor(
            kind=whole("number of publishers", 1, MOST_ROLES),
            default=(1,),
            metavar="N,…",
            help="Publishers of a stream, clients of request-reply: 1 to 64.",
            load=True,
            later=True,
            shown_by="pattern",
        ),
    ] = 1
    subscribers: Annotated[
        int,
        Factor(
            kind=whole("number of subscribers", 1, MOST_ROLES),
            default=(1,),
            metavar="N,…",
            help="Subscribers of a stream, pongs of ping-pong: 1 to 64.",
            given=(0,),
            load=True,
        ),
    ] = 1
    """0 under ping-pong: the ping receives its own messages."""
    topics: Annotated[
        int,
        Factor(
            kind=whole("number of topics", 1, MOST_ROLES),
            default=(1,),
            metavar="N,…",
            help="Topics of a stream, at most one per publisher and one per subscriber. Publishers and subscribers "
            "get their topics in turn. In a crowd: topics on which each participant publishes.",
            load=True,
            later=True,
            shown_by="pattern",
        ),
    ] = 1
    participants: Annotated[
        int,
        Factor(
            kind=whole("number of participants", 1, MOST_PARTICIPANTS),
            default=(10,),
            default_text="`10`",
            metavar="N,…",
            help="Participants of a crowd, each with its own session of the middleware: 1 to 500.",
            load=True,
            applies=_IN_A_CROWD,
            later=True,
            shown_by="pattern",
        ),
    ] = 1
    subscribe: Annotated[
        Subscribe,
        Factor(
            kind=words("choice of topics", *get_args(Subscribe)),
            default=("next",),
            metavar="next|all,…",
            help="In a crowd: each participant subscribes to the topics of the next participant, or of all others.",
            load=True,
            applies=_IN_A_CROWD,
            later=True,
            shown_by="pattern",
        ),
    ] = "next"
    participants_per_process: Annotated[
        int,
        Factor(
            kind=whole("number of participants", 1, MOST_PARTICIPANTS),
            default=(1,),
            metavar="N,…",
            help="Participants of a crowd that share a process.",
            load=True,
            applies=_IN_A_CROWD,
            honour=Honour(
                capability="participants_per_process",
                cannot=_too_many_in_a_process,
                own=lambda transport: transport.participants_per_process,
            ),
            later=True,
            shown_by="pattern",
        ),
    ] = 1
    storm_s: Annotated[
        float | None,
        Factor(
            kind=seconds(1.0, none="off"),
            default=(None,),
            metavar="TIME|off,…",
            help="In a crowd: after the talk, a pause of the network of this length, after which all participants find "
            "each other again.",
            load=True,
            applies=_IN_A_CROWD,
            unit="s",
            later=True,
            shown_by="pattern",
        ),
    ] = None
    """None: the network does not pause."""
    rate: Annotated[
        float | str,
        Factor(
            kind=RATE,
            default=("max",),
            metavar="max|HZ|sustainable|curve,…",
            help="Messages per second of each sender: 100, 2.5k, 1M; for streams also found by search.",
            load=True,
            later=True,
        ),
    ] = "max"
    arrivals: Annotated[
        Arrivals,
        Factor(
            kind=words("kind of arrivals", *get_args(Arrivals)),
            default=("periodic",),
            metavar="periodic|poisson,…",
            help="The gaps between the instants of a rate.",
            load=True,
            applies=Applies(
                when=lambda load: load["rate"] != "max",
                otherwise="{} at rate max, which has no schedule; give a rate in Hz",
            ),
            later=True,
            shown_by="rate",
        ),
    ] = "periodic"
    burst: Annotated[
        int | None,
        Factor(
            kind=whole("number of messages in a burst (or 'off')", 1, 1_000_000_000, none="off"),
            default=(None,),
            metavar="N|off,…",
            help="Messages sent as fast as possible before each rest.",
            load=True,
            unit="messages",
            later=True,
            shown_by="rate",
        ),
    ] = None
    recovery_s: Annotated[
        float | None,
        Factor(
            kind=seconds(0.0),
            default=(0.0,),
            default_text="`0s`",
            metavar="TIME,…",
            help="The rest after a burst, as 90ms.",
            load=True,
            applies=Applies(
                when=lambda load: load["burst"] is not None, otherwise="{} without bursts; give a burst, as in 100"
            ),
            title="rest after a burst",
            unit="s",
            later=True,
            shown_by="rate",
        ),
    ] = None
    max_loss: Annotated[
        float,
        Factor(
            kind=SHARE,
            default=(0.0,),
            listed=False,
            metavar="SHARE",
            default_text="0",
            help="One value: the loss allowed at a rate found by search, as 1% or 0.01.",
            load=True,
            applies=_BOUND,
            title="loss allowed",
            later=True,
            shown_by="rate",
        ),
    ] = 0.0
    max_p99_s: Annotated[
        float | None,
        Factor(
            kind=seconds(1e-9, none="any"),
            default=(None,),
            listed=False,
            metavar="TIME",
            help="One value: the highest p99 of the one-way latency at a rate found by search.",
            load=True,
            applies=_BOUND,
            title="p99 allowed",
            unit="s",
            later=True,
            shown_by="rate",
        ),
    ] = None
    echo: Annotated[
        str,
        Factor(
            kind=words("echo", "all", "first"),
            default=("all",),
            metavar="all|first,…",
            help="Which pongs reply.",
            load=True,
            applies=Applies(
                when=lambda load: load["pattern"] == "ping-pong",
                otherwise="{}: only the pongs of ping-pong echo; leave echo out",
                moot=lambda load: load["subscribers"] == 1,  # with one pong, ``first`` and ``all`` are equal
            ),
        ),
    ] = "all"
    payload: Annotated[
        Payload,
        Factor(
            kind=words("payload", *get_args(Payload)),
            default=("filled",),
            metavar="filled|untouched,…",
            help="Write and check every byte, or the header only.",
        ),
    ] = "filled"
    pin: Annotated[
        tuple[int, ...] | None,
        Factor(
            kind=PROCESSORS,
            group="Machine",
            default=("auto",),
            metavar="0,1|auto|off",
            help="Processors of the senders, then of the receivers; repeated for further roles.",
            in_cells=lambda level: None if level == "off" else level,
            stands_for=lambda wanted, level: wanted == "auto" and level is not None,
            title="processors",
            none="off",
        ),
    ] = None
    """Processors: first of the ping and then of each pong, or first of the publishers (clients) and then of the
    subscribers (the server). If there are more roles than processors, the list begins again. None: not pinned."""
    priority: Annotated[
        str,
        Factor(
            kind=PRIORITY,
            group="Machine",
            default=("other",),
            metavar="other|fifo:80|rr:80,…",
            help="Scheduling policy and priority (1 to 99) of the roles.",
        ),
    ] = "other"
    mlock: Annotated[
        bool,
        Factor(
            kind=FLAG,
            group="Machine",
            default=(False,),
            help="Keep the workers' memory in RAM.",
            of="middleware",
            title="memory locked",
            shown=lambda level: "locked" if level else "not locked",
        ),
    ] = False
    awake: Annotated[
        bool,
        Factor(
            kind=FLAG,
            group="Machine",
            default=(False,),
            help="Keep the processors from halting between messages.",
            title="processors kept awake",
            shown=lambda level: "awake" if level else "may halt",
        ),
    ] = False
    """True: a thread of the lowest priority spins on each processor that the run may use, unless a role polls there."""
    system: Annotated[
        str | None,
        Factor(
            kind=SYSTEM,
            group="Machine",
            default=(None,),
            default_text="`as-is`",
            metavar="NAME=VALUE[&NAME=VALUE]…|as-is",
            help="Settings of the machine that each trial changes and then restores; separate several levels by ;.",
            title="settings of the machine",
            none="as-is",
        ),
    ] = None
    """Text in the form of ``model.setting``. None: the machine's settings stay unchanged."""
    scale: Annotated[
        float,
        Factor(
            kind=TIMES,
            group="Load",
            default=(1.0,),
            metavar="N,…",
            help="Multiplies all rates of a workload.",
            default_text="`1`",
        ),
    ] = 1.0
    copies: Annotated[
        int,
        Factor(
            kind=whole("number of copies", 1, 1000),
            group="Load",
            default=(1,),
            metavar="N,…",
            help="Number of robots with the workload on one network.",
        ),
    ] = 1
    across: Annotated[
        str,
        Factor(
            kind=ACROSS,
            group="Machine",
            default=(HERE,),
            metavar="here|base-robot,…",
            help="Sites of the roles: one site for all, or the senders' site and the receivers' site.",
            default_text="`here`; `base-robot` with a link; the first two of `--hosts`",
            honour=Honour(capability="carrier", cannot=_stays, own=lambda _: HERE),
            title="sites",
        ),
    ] = HERE
    """``here`` is this machine; any other name is a host. Two names with a dash are the senders' site and the
    receivers' site."""
    link: Annotated[
        str | None,
        Factor(
            kind=LINK,
            group="Machine",
            default=(None,),
            metavar="RATE[,delay=TIME][,loss=PERCENT]…",
            help="An emulated link between the sites, as 1gbit,delay=2ms,loss=0.5%; separate several links by ;.",
            default_text="none",
            none="none",
        ),
    ] = None
    """Text in the form of ``model.link``. None: no link is emulated."""
    workload: Workload | None = None
    """The workload of the cell; None: a plain pattern. A cell with a workload is a stream with different topics. Its
    other levels summarise the topics: the largest size, the mean rate, the deepest history."""
    native: tuple[tuple[str, str], ...] = ()
    """The middleware's own settings, sorted by key. With two different adapters, each key begins with its adapter and a
    dot."""
    label: str | None = None
    """Distinguishes cells that are otherwise equal, such as the cells of the selftest; None: no label."""
    unknown: tuple[str, ...] = ()
    """Factors whose level is unknown, because another tool's log does not have it; ignore the fields of these factors.
    Empty for cells that Middlemark measured."""

    @property
    def sides(self) -> tuple[str, str]:
        """The senders' and the receivers' adapter."""
        return (self.adapter, self.adapter) if self.pair == SAME else sides_of(self.pair)

    @property
    def middleware(self) -> str:
        """The adapter, or a pair of different adapters as ``A:B``."""
        return self.adapter if self.pair == SAME else self.pair


def native_of_side(cell: Cell, adapter: str) -> dict[str, str]:
    """Return the native settings for one adapter of the cell."""
    if cell.pair == SAME:
        return dict(cell.native)
    return {key.removeprefix(f"{adapter}."): value for key, value in cell.native if key.startswith(f"{adapter}.")}


def graph_of(cell: Cell, transport: Transport) -> Workload | None:
    """Return the scaled and copied workload of the cell, with the levels that the transport can honour.

    None: no workload.
    """
    if cell.workload is None:
        return None
    graph = cell.workload.under(cell.scale, cell.copies)
    return msgspec.structs.replace(graph, topics=tuple(honoured(each, transport) for each in graph.topics))


def carrying(cell: Cell, workload: Workload, transport: Transport) -> Cell:
    """Return the cell with this workload, and with the levels that follow from the workload."""
    cell = msgspec.structs.replace(cell, workload=workload)
    graph = graph_of(cell, transport)
    assert graph is not None
    depths = [each.depth for each in graph.topics]
    reliable = any(each.reliability == "reliable" for each in graph.topics)
    return msgspec.structs.replace(
        cell,
        pattern="stream",
        size=max(each.size for each in graph.topics),
        publishers=len(graph.topics),
        subscribers=len(graph.edges),
        topics=len(graph.topics),
        rate=statistics.fmean(graph.rates_hz),
        depth=None if None in depths else max(each or 0 for each in depths),
        reliability="reliable" if reliable else "best-effort",
        type="octets",
    )


FACTORS: Mapping[str, Factor] = declared(Cell, Factor)
"""Every factor by name. Two cells are different if a factor, a native setting or the label differs."""

OF_WORKLOAD = (
    *("pattern", "size", "type", "publishers", "subscribers", "topics"),
    *("rate", "arrivals", "depth", "reliability"),
)
"""Factors whose levels follow from the workload, if the cell has one."""

FIELDS = tuple(each for each in Cell.__struct_fields__ if each != "unknown")
"""All fields in which cells can differ: the fields of the factors, the native settings, the workload and the label."""

EXPERIMENT = (*(each.field for each in FACTORS.values() if each.of == "experiment"), "workload")
"""Fields in which a cell and its raw transport must agree. Only middlewares get reliability, depth and mlock."""

OF_MIDDLEWARE = tuple(each.field for each in FACTORS.values() if each.of == "middleware")
"""Fields of the factors that are requests to the middleware."""

CAPABILITIES: Mapping[str, Honour] = {name: each.honour for name, each in FACTORS.items() if each.honour is not None}
"""Factor → capability that a transport must have for it. The bench itself honours all other factors."""

experiment: Callable[[Cell], tuple[object, ...]] = attrgetter(*EXPERIMENT)
"""Return the levels of the fields in ``EXPERIMENT``, in that order."""


def subject(cell: Cell) -> str:
    """Return adapter and transport; one word if both have the same name."""
    is_one_word = cell.transport == cell.adapter or "transport" in cell.unknown
    return cell.middleware if is_one_word else f"{cell.middleware} {cell.transport}"


def level_of(cell: Cell, factor: str) -> Level:
    """Return the cell's level of a factor."""
    level: Level = getattr(cell, FACTORS[factor].field)
    return level


def with_levels(cell: Cell, levels: Mapping[str, Level]) -> Cell:
    """Return the cell with these levels, given by factor name."""
    return msgspec.structs.replace(cell, **{FACTORS[factor].field: level for factor, level in levels.items()})


def show_level(factor: str, level: Level) -> str:
    """Print a level as a person would write it after its factor's name: ``size 64 KiB``, ``depth all``, ``pin 0,1``."""
    return FACTORS[factor].kind.show(level)


def cannot(transport: Transport, factor: str, level: Level) -> str | None:
    """Return why the transport cannot honour the level, as text after the transport's name. None: the transport can."""
    honour = CAPABILITIES.get(factor)
    return None if honour is None else honour.cannot(transport, level)


def wrong_levels(cell: Cell) -> Iterator[tuple[str, str]]:
    """Yield each field with a level that no request may have, and the problem as text."""
    for factor in FACTORS.values():
        level = getattr(cell, factor.field)
        if level is None or level in factor.given or factor.of == "subject" or factor.field in cell.unknown:
            continue  # None and any name of an adapter or transport are allowed
        if cell.workload is not None and factor.name in OF_WORKLOAD:
            continue
        try:
            factor.kind.read(factor.kind.written(level))
        except Wrong as error:
            yield factor.field, str(error)


def carrier_due(cell: Cell, description: Description) -> str | None:
    """Return the carrier that the cell must have; None: the adapter has no such transport."""
    transport = description.transport(cell.transport)
    if transport is None:
        return None
    served = cell.pattern == "request-reply" and description.request_reply
    lossy = cell.reliability == "best-effort" and not served
    return (lossy and transport.best_effort_carrier) or transport.carrier
