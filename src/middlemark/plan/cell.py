"""A cell (one combination of levels) and a trial (one measurement of it in fresh processes)."""

import msgspec


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One combination of levels. Sizes are bytes, the core's 16-byte header included."""

    adapter: str
    transport: str
    pattern: str = "ping-pong"
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
    """1: both roles in one process; 2: each role in its own."""
    subscribers: int = 1
    echo: str = "all"
    """all or first: which of the pongs reply."""
    pin: tuple[int, ...] | None = None
    """Processors, ping's first, then one for each pong (reused from the start when they run out); None: not pinned."""
    priority: str = "other"
    """other, fifo:1..99 or rr:1..99."""
    mlock: bool = False
    native: tuple[tuple[str, str], ...] = ()
    """The middleware's own settings, sorted by key."""


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


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What will be measured, in order. ``names[i]`` is the suite (and sweep) that cell ``i`` came from."""

    cells: tuple[Cell, ...]
    trials: tuple[Trial, ...]
    names: tuple[str, ...]
    notes: tuple[Note, ...] = ()
    seed: int = 0
