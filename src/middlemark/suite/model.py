"""What a suite is: frozen values, checked, with every level's place kept so that later problems can name it."""

import msgspec

Level = str | int | float | bool | tuple[int, ...] | None
"""One level of a factor. ``depth``: None is keep-all. ``pin``: ``auto``, ``off`` or processors. ``rate``: Hz or a word.
``burst``: None is no bursts. ``recovery`` and ``max_p99``: seconds, None where nobody named them."""


class Levels(msgspec.Struct, frozen=True):
    """The levels of one factor in one sweep, in the order written.

    ``place`` is where they were given; ``named`` is false where nobody named them and the default stands in.
    """

    factor: str
    values: tuple[Level, ...]
    place: str
    named: bool = True


class Native(msgspec.Struct, frozen=True):
    """The middleware's own settings for one adapter of a sweep, sorted by key."""

    adapter: str
    settings: tuple[tuple[str, str], ...]
    place: str


class TypedNative(msgspec.Struct, frozen=True):
    """One ``--native``: ``word`` is ADAPTER.KEY or KEY, as typed; which of the two only the adapters here can say."""

    word: str
    value: str

    @property
    def place(self) -> str:
        """Return where it was given."""
        return f"--native {self.word}={self.value}"


class Sweep(msgspec.Struct, frozen=True, kw_only=True):
    """Factors to be crossed and how long each cell is measured. Either ``samples`` or ``duration_s`` is set."""

    place: str
    """``suites/lan.toml: sweep 2``, or ``command line``."""
    name: str | None = None
    factors: tuple[Levels, ...]
    """One for each factor, in the order of ``FACTORS``."""
    samples: int | None = None
    duration_s: float | None = None
    warmup_s: float = 0.2
    trials: int = 3
    reply_timeout_s: float = 1.0
    match_timeout_s: float = 10.0
    limit_s: float = 120.0
    domain: int | None = None
    skip_unsupported: bool = False
    """What cannot be honoured is left out with a note instead of being refused."""
    floors: bool = True
    """Each cell of a middleware has the floors beside it."""
    native: tuple[Native, ...] = ()
    typed_native: tuple[TypedNative, ...] = ()
    """The command line's, laid over ``native``."""

    def levels(self, factor: str) -> Levels:
        """Return the levels of that factor. KeyError when it is none."""
        for each in self.factors:
            if each.factor == factor:
                return each
        raise KeyError(factor)


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """An experiment: sweeps in the order written. ``place`` is its file, or ``command line``."""

    name: str
    description: str = ""
    place: str
    seed: int | None = None
    sweeps: tuple[Sweep, ...]


class RawOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line asks of a run, as typed and unchecked. None: not given."""

    adapter: str | None = None
    pattern: str | None = None
    size: str | None = None
    transport: str | None = None
    receive: str | None = None
    reliability: str | None = None
    depth: str | None = None
    loan: bool | None = None
    payload: str | None = None
    processes: str | None = None
    publishers: str | None = None
    subscribers: str | None = None
    topics: str | None = None
    rate: str | None = None
    arrivals: str | None = None
    burst: str | None = None
    recovery: str | None = None
    max_loss: str | None = None
    max_p99: str | None = None
    echo: str | None = None
    pin: str | None = None
    priority: str | None = None
    mlock: bool | None = None
    samples: str | None = None
    duration: str | None = None
    warmup: str | None = None
    trials: str | None = None
    domain: str | None = None
    seed: str | None = None
    skip_unsupported: bool | None = None
    floors: bool | None = None
    native: tuple[str, ...] = ()
    """``[ADAPTER.]KEY=VALUE``, each as typed."""
    only: tuple[str, ...] = ()
    """``KEY=VALUE``, each as typed."""
