"""The demands of a suite's trials, or of middlewares in general, on the machine."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from middlemark.model.spelling import listing
from middlemark.model.units import KIB, MIB, format_size

MOST_LISTED = 4


class ConfigurationNeeds(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration, with the factors that determine what it needs from the machine."""

    name: str
    """The name of the candidate; empty: any middleware."""
    carriers: tuple[str, ...]
    size: int
    rate_hz: float | None = None
    """The rate of messages; None: as fast as possible."""
    receive: str = "block"
    priority: int = 0
    """The real-time priority; 0: none."""
    roles: int = 2
    cpus: tuple[int, ...] = ()
    """The processors of the roles; empty: not pinned, or chosen by the run."""
    waiting: int = 1
    """The number of messages that may wait in a history."""
    mlock: bool = False
    awake: bool = False
    across: bool = False
    """True if the roles are on several hosts, or in network namespaces at both ends of a link."""
    between_clocks: bool = False

    @property
    def polls(self) -> bool:
        """True if the roles of the configuration spin."""
        return self.receive == "poll"

    def label(self) -> str:
        """Return the label of the row, such as ``cyclonedds over udp at 1 MiB``."""
        name = [self.name] if self.name else []
        extra = [*(["polling"] if self.polls else []), *([f"priority {self.priority}"] if self.priority else [])]
        return ", ".join([" ".join([*name, "over", "/".join(self.carriers), "at", format_size(self.size)]), *extra])


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """The needs with which a check compares the values that it reads."""

    rows: tuple[ConfigurationNeeds, ...]
    general: bool = False
    """True if these are the needs of middlewares in general, not the needs of a suite."""
    interfaces: tuple[str, ...] = ()
    """The interfaces to which the traffic is restricted; empty: all interfaces that are up."""
    memory_bytes: int = 0
    """The memory that the most demanding trial uses for records and waiting messages."""
    shm_bytes: int = 0
    """The estimated bytes that the most demanding trial puts into /dev/shm."""
    adapters: tuple[str, ...] = ()
    """The adapters that are measured; empty: any adapter."""
    domains: tuple[int, ...] = ()
    """The DDS domains that the suite requests by number."""

    def over(self, carrier: str, least: int = 0) -> tuple[ConfigurationNeeds, ...]:
        """Return the rows that use this carrier for messages of at least ``least`` bytes."""
        return self.where(lambda row: carrier in row.carriers and row.size >= least)

    def where(self, kind: Callable[[ConfigurationNeeds], object]) -> tuple[ConfigurationNeeds, ...]:
        """Return the rows for which ``kind`` returns a true value."""
        return tuple(filter(kind, self.rows))

    @property
    def polling(self) -> tuple[ConfigurationNeeds, ...]:
        """The rows whose roles spin."""
        return self.where(lambda row: row.polls)

    @property
    def sleeping(self) -> tuple[ConfigurationNeeds, ...]:
        """The rows whose roles sleep, on processors that may halt."""
        return self.where(lambda row: not row.polls and not row.awake)

    @property
    def real_time(self) -> tuple[ConfigurationNeeds, ...]:
        """The rows with real-time priority (FIFO or RR)."""
        return self.where(lambda row: row.priority)

    @property
    def apart(self) -> tuple[ConfigurationNeeds, ...]:
        """The rows whose roles are on several hosts, or at both ends of a link."""
        return self.where(lambda row: row.across)

    def cpus(self, allowed: Sequence[int]) -> tuple[int, ...]:
        """Return the processors of all roles.

        If no role is pinned, these are the first allowed processors, as in a run.
        """
        named = sorted({cpu for row in self.rows for cpu in row.cpus})
        return tuple(named) or tuple(allowed[: self.roles])

    @property
    def roles(self) -> int:
        """The largest number of roles of any row."""
        return max((row.roles for row in self.rows), default=2)


def largest(rows: Iterable[ConfigurationNeeds]) -> int:
    """Return the size of the largest message, in bytes."""
    return max((row.size for row in rows), default=0)


def list_rows(rows: Sequence[ConfigurationNeeds]) -> str:
    """Return the labels of the rows, at most ``MOST_LISTED`` labels."""
    names = list(dict.fromkeys(row.label() for row in rows))
    more = [f"{len(names) - MOST_LISTED} more"] if len(names) > MOST_LISTED else []
    return listing([*names[:MOST_LISTED], *more])


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
    shm_bytes=256 * MIB,  # iceoryx's default pools need 147 MiB, and its management about 60 MiB more
)
