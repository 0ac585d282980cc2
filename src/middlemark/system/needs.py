"""What is asked of the machine: by the trials of a suite, or by what middlewares do in general."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from middlemark.model.spelling import listing
from middlemark.model.units import KIB, MIB, format_size

MOST_TOLD = 4


class ConfigurationNeeds(msgspec.Struct, frozen=True, kw_only=True):
    """One configuration, as far as the machine matters to it."""

    name: str
    """Who is measured; empty: any middleware."""
    carriers: tuple[str, ...]
    size: int
    rate_hz: float | None = None
    """None: as fast as possible."""
    receive: str = "block"
    priority: int = 0
    """Of the real-time policies; 0: none."""
    roles: int = 2
    cpus: tuple[int, ...] = ()
    """Of the roles; none: not pinned, or wherever a run puts them."""
    waiting: int = 1
    """Messages that a history may hold."""
    mlock: bool = False
    awake: bool = False
    across: bool = False
    """Its roles are on several hosts, or in namespaces behind a link."""
    between_clocks: bool = False

    @property
    def polls(self) -> bool:
        """Whether its roles spin."""
        return self.receive == "poll"

    def label(self) -> str:
        """Name it: ``cyclonedds over udp at 1 MiB``."""
        who = [self.name] if self.name else []
        extra = [*(["polling"] if self.polls else []), *([f"priority {self.priority}"] if self.priority else [])]
        return ", ".join([" ".join([*who, "over", "/".join(self.carriers), "at", format_size(self.size)]), *extra])


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """What a check is judged for."""

    rows: tuple[ConfigurationNeeds, ...]
    general: bool = False
    """No suite: what middlewares do in general."""
    interfaces: tuple[str, ...] = ()
    """That traffic keeps to; none: every one that is up."""
    memory_bytes: int = 0
    """Of the most demanding trial: records and waiting messages."""
    shm_bytes: int = 0
    """That the most demanding trial puts into /dev/shm, about."""
    adapters: tuple[str, ...] = ()
    """That are measured; none: any."""
    domains: tuple[int, ...] = ()
    """DDS domains that are asked for by number."""

    def over(self, carrier: str, least: int = 0) -> tuple[ConfigurationNeeds, ...]:
        """Return the rows that are carried so, of messages of at least so many bytes."""
        return self.of(lambda row: carrier in row.carriers and row.size >= least)

    def of(self, kind: Callable[[ConfigurationNeeds], object]) -> tuple[ConfigurationNeeds, ...]:
        """Return the rows of a kind."""
        return tuple(filter(kind, self.rows))

    @property
    def polling(self) -> tuple[ConfigurationNeeds, ...]:
        """Those whose roles spin."""
        return self.of(lambda row: row.polls)

    @property
    def sleeping(self) -> tuple[ConfigurationNeeds, ...]:
        """Those whose roles sleep, on processors that may halt."""
        return self.of(lambda row: not row.polls and not row.awake)

    @property
    def real_time(self) -> tuple[ConfigurationNeeds, ...]:
        """Those under FIFO or RR."""
        return self.of(lambda row: row.priority)

    @property
    def apart(self) -> tuple[ConfigurationNeeds, ...]:
        """Those between hosts."""
        return self.of(lambda row: row.across)

    def cpus(self, allowed: Sequence[int]) -> tuple[int, ...]:
        """Return the processors of all roles; where none is named those a run takes: the first two it may use."""
        named = sorted({cpu for row in self.rows for cpu in row.cpus})
        return tuple(named) or tuple(allowed[: self.roles])

    @property
    def roles(self) -> int:
        """Of the trial that has the most."""
        return max((row.roles for row in self.rows), default=2)


def largest(rows: Iterable[ConfigurationNeeds]) -> int:
    """Return the bytes of the largest message."""
    return max((row.size for row in rows), default=0)


def names_of(rows: Sequence[ConfigurationNeeds]) -> str:
    """Name the rows, a few of them."""
    names = list(dict.fromkeys(row.label() for row in rows))
    more = [f"{len(names) - MOST_TOLD} more"] if len(names) > MOST_TOLD else []
    return listing([*names[:MOST_TOLD], *more])


GENERAL = Needs(
    rows=(
        ConfigurationNeeds(name="", carriers=("udp",), size=MIB, rate_hz=100.0),
        ConfigurationNeeds(name="", carriers=("tcp",), size=MIB, rate_hz=100.0),
        ConfigurationNeeds(name="", carriers=("unix-socket",), size=64 * KIB),
        ConfigurationNeeds(name="", carriers=("shared-memory",), size=MIB, waiting=16),
        ConfigurationNeeds(name="", carriers=("shared-memory",), size=KIB, receive="poll"),
        ConfigurationNeeds(name="", carriers=("udp",), size=KIB, rate_hz=1000.0, priority=50),
    ),
    general=True,
    memory_bytes=512 * MIB,
    shm_bytes=256 * MIB,  # iceoryx's default pools take 147 MiB, and its management some 60 more
)
