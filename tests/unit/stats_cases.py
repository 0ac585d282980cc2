"""Hand-made plans, outcomes and samples for the tests of the statistics."""

import numpy as np
from descriptions import description, transport

from middlemark.model.cell import Cell
from middlemark.model.outcome import TrialCounts, TrialOutcome
from middlemark.model.plan import Limits, Plan, Trial
from middlemark.model.samples import NOT_MEASURED, SAMPLE
from middlemark.stats.samples import Samples

DESCRIPTIONS = {
    each.name: each
    for each in (
        description("shm", transport("shm", carrier="shared-memory"), is_raw_transport=True),
        description("udp", transport("udp"), is_raw_transport=True),
        description("memcpy", transport("memcpy", carrier="process-memory", alone=True), is_raw_transport=True),
        description(
            "dds",
            transport("udp"),
            transport("shm", carrier="shared-memory"),
            transport("intraprocess", carrier="process-memory"),
            transport("tcp", carrier="tcp"),
        ),
    )
}


def cell(adapter: str = "dds", transport: str = "udp", **levels: object) -> Cell:
    return Cell(adapter=adapter, transport=transport, **({"size": 1024} | levels))  # type: ignore[arg-type]


def plan(*cells: Cell, trials: int = 3, limits: Limits | None = None) -> Plan:
    """Trials of the cells, interleaved."""
    planned = [
        Trial(order=number * len(cells) + index, cell=index, number=number + 1, limits=limits or Limits(samples=1000))
        for number in range(trials)
        for index in range(len(cells))
    ]
    return Plan(cells=cells, trials=tuple(planned), names=tuple(f"sweep {index}" for index in range(len(cells))))


def outcome(trial: Trial, **given: object) -> TrialOutcome:
    """Return a trial that measured everything, with ``given`` in place of its fields."""
    figures: dict[str, object] = {
        "cell": trial.cell,
        "number": trial.number,
        "order": trial.order,
        "started": "2026-03-01T12:00:00Z",
        "seconds": 1.5,
        "samples_file": f"samples/{trial.order:05}.npy",
        "samples": 1000,
        "measured_s": 0.0505,
        "counts": TrialCounts(sent=1000, received=1000),
        "discovery_ns": 100,
    }
    return TrialOutcome(**(figures | given))  # type: ignore[arg-type]


def samples(round_trips: list[int] | np.ndarray, **fields: int) -> Samples:
    """Return a ping's records with these round trips, in their order."""
    kept = np.zeros(len(round_trips), dtype=SAMPLE)
    kept["round_trip_ns"] = round_trips
    kept["first_reply_ns"] = kept["round_trip_ns"] // 2
    kept["write_ns"] = 10
    for field in ("take_ns", "loan_ns", "fill_ns", "check_ns"):
        kept[field] = fields.get(field, NOT_MEASURED)
    return kept
