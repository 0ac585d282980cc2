"""A cell (one combination of levels) and a trial (one measurement of it in fresh processes)."""

import msgspec

STEP_S = 1.0
"""A step that only looks for a rate measures no longer than this."""
SEARCH_STEPS = 12
"""Rates that the search for a sustainable one tries, as a rule; the last one found is then measured in full."""
CURVE_STEPS = 11
"""Rates that a curve is made of, saturation included."""


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One combination of levels. Sizes are bytes, the core's 16-byte header included."""

    adapter: str
    transport: str
    pattern: str = "ping-pong"
    """ping-pong, stream or request-reply."""
    size: int
    receive: str = "block"
    """poll, block or listen."""
    reliability: str = "reliable"
    """reliable or best-effort."""
    depth: int | None = 1
    """Keep-last history depth in messages; None is keep-all."""
    loan: bool = False
    payload: str = "filled"
    """filled or untouched."""
    processes: int = 2
    """1: all roles in one process; 2: each role in its own."""
    publishers: int = 1
    """Of a stream; under request-reply the clients; 1 under ping-pong."""
    subscribers: int = 1
    """Of a stream; under ping-pong the pongs (0: the ping alone); 1 (the server) under request-reply."""
    topics: int = 1
    """Publisher p and subscriber s of a stream are on topics p mod ``topics`` and s mod ``topics``."""
    rate: float | str = "max"
    """Messages a second of each publisher (ping, client), or ``max``; ``sustainable`` and ``curve`` are searches."""
    arrivals: str = "periodic"
    """periodic or poisson: how the intended instants of a rate lie."""
    burst: int | None = None
    """Messages sent as fast as possible, then ``recovery_s`` of silence, and again; None: no bursts."""
    recovery_s: float | None = None
    max_loss: float = 0.0
    """Share of messages, 0..1, that a rate found by search may lose."""
    max_p99_s: float | None = None
    """What p99 of the one-way latency may come to at a rate found by search; None: anything."""
    echo: str = "all"
    """all or first: which of the pongs reply."""
    pin: tuple[int, ...] | None = None
    """Processors: ping's first, then one for each pong; publishers' (clients') first, then subscribers' (the server's).
    Reused from the start when they run out; None: not pinned."""
    priority: str = "other"
    """other, fifo:1..99 or rr:1..99."""
    mlock: bool = False
    native: tuple[tuple[str, str], ...] = ()
    """The middleware's own settings, sorted by key."""
    label: str | None = None
    """Tells cells apart that are otherwise one, as the selftest's are; None: what it is says enough."""
    unknown: tuple[str, ...] = ()
    """Factors of which nobody knows the level, as another tool's log does not tell them: the fields named here say
    nothing. Empty for what is measured here."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How long a trial goes on. Either ``samples`` or ``duration_s`` is set."""

    samples: int | None = None
    duration_s: float | None = None
    warmup_s: float = 0.2
    reply_timeout_s: float = 1.0
    match_timeout_s: float = 10.0
    limit_s: float = 120.0
    """The measuring ends here whatever happens; what was measured by then is kept."""


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One measurement of a cell. ``order`` is its place in the run, from 0; ``number`` its round, from 1."""

    order: int
    cell: int
    """Index into the plan's cells."""
    number: int
    limits: Limits
    domain: int | None = None
    """The DDS domain asked for; None: one of its own."""
    seed: int = 0


class Note(msgspec.Struct, frozen=True):
    """Something the plan changed or left out, and why: a size below 16, a level that an adapter does not have."""

    place: str
    text: str


class Precision(msgspec.Struct, frozen=True, kw_only=True):
    """How well the cells are to be known: rounds are added until they are, or the time is spent."""

    part: float
    """The interval of a cell's median lies within this part of it, on either side."""
    budget_s: float
    """No round begins that would end later than this, counted from the first trial."""
    focus: tuple[int, ...]
    """Indices of the cells that are to be known so well; the others go along."""


class Reached(msgspec.Struct, frozen=True, kw_only=True):
    """How the adding of rounds ended."""

    rounds: int
    seconds: float
    """Of all its trials, from the first process to the last."""
    met: bool
    """Every cell that was meant is known well enough; false: the time was spent."""
    wide: tuple[int, ...] = ()
    """Indices of the cells that are not known well enough."""
    unmeasured: tuple[int, ...] = ()
    """Of those whose trials all failed: no further round would tell more."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What will be measured, in order. ``names[i]`` is the suite (and sweep) that cell ``i`` came from."""

    cells: tuple[Cell, ...]
    trials: tuple[Trial, ...]
    names: tuple[str, ...]
    notes: tuple[Note, ...] = ()
    seed: int = 0
    precision: Precision | None = None
    """None: the trials are all there will be."""
    floors: tuple[int, ...] = ()
    """Cells that nobody asked for and that stand beside the others: what the machine does with no middleware."""
