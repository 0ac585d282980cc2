"""Hand-made evidence of a witness."""

from middlemark.model.noise import Moved, Processor, Switches, Witnessed
from middlemark.model.protocol import Durations, Other, Still

ORIGIN_NS = 5_000_000_000_000
SECOND_NS = 1_000_000_000


def probe(
    *gaps: tuple[int, int],
    spun_s: float = 0.02,
    wakes: int = 0,
    late: tuple[tuple[int, int], ...] = (),
    waited_ns: int = 0,
) -> Still:
    """Return the evidence of one processor. Each pair is the length of durations in ns, and their number."""
    return Still(
        cpu=0,
        spun_ns=round(spun_s * 1e9),
        gaps=durations(gaps),
        taken=Durations(),
        wakes=wakes,
        late=durations(late),
        waited_ns=waited_ns,
    )


def durations(counts: tuple[tuple[int, int], ...]) -> Durations:
    return Durations(
        total_ns=sum(lower * count for lower, count in counts),
        longest_ns=max((lower for lower, _ in counts), default=0),
        counts=counts,
    )


def switches(*spells: tuple[int, int, int], others: tuple[Other, ...] = (), **given: object) -> Switches:
    """``spells``: begin and length in ns, processor."""
    by_cpu: dict[int, int] = {}
    for _, length, cpu in spells:
        by_cpu[cpu] = by_cpu.get(cpu, 0) + length
    figures: dict[str, object] = {
        "scope": "processors",
        "complete": True,
        "others_ns": tuple(by_cpu.items()),
        "others": others,
        "spells": spells,
    }
    return Switches(**(figures | given))  # type: ignore[arg-type]


def moved(steal_ms: int = 0, softirq_ms: int = 0, throttled: int = 0) -> Moved:
    return Moved(
        seconds=1.0,
        processors=(
            Processor(cpu=0, steal_ns=steal_ms * 1_000_000, irq_ns=0, softirq_ns=softirq_ms * 1_000_000),
            Processor(cpu=1, steal_ns=0, irq_ns=0, softirq_ns=0),
        ),
        pressure_some_ns=0,
        pressure_full_ns=0,
        throttled=throttled,
        throttled_ns=throttled * 1_000_000,
    )


def witnessed(**given: object) -> Witnessed:
    """Return evidence of a second on two processors, watched and probed. Only ``given`` contains disturbances."""
    figures: dict[str, object] = {
        "cpus": (0, 1),
        "pinned": True,
        "from_ns": ORIGIN_NS,
        "to_ns": ORIGIN_NS + SECOND_NS,
        "begins_ns": (ORIGIN_NS,),
        "moved": moved(),
        "switches": switches(),
        "before": (probe(), probe()),
        "after": (probe(), probe()),
    }
    return Witnessed(**(figures | given))  # type: ignore[arg-type]
