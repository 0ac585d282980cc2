"""The result of a crowd over its trials."""

import math
from collections.abc import Sequence

from middlemark.model.outcome import TrialOutcome
from middlemark.stats.crowd import (
    CompleteTimes,
    CrowdResult,
    IdleResult,
    JoinCost,
    LeftResult,
    StormCost,
    TalkResult,
)
from middlemark.stats.result import CellResult

PHASES = ("join", "leave", "storm")
PARTS = {
    "join": {"cpu_s": "join_cpu", "packets": "join_packets", "bytes": "join_bytes"},
    "left": {"paths": "left_behind", "bytes": "left_bytes"},
    "storm": {"packets": "storm_packets", "bytes": "storm_bytes"},
}
"""Part of the result → its fields and their metrics."""
NOBODY = "a crowd of one participant has no publisher to hear"


def crowd_result(result: CellResult, outcomes: Sequence[TrialOutcome]) -> CrowdResult:
    """Return the crowd's figures from the metrics of ``result``. ``outcomes``: its measured trials, at least one."""
    cell = result.cell
    crowds = [each.crowd for each in outcomes if each.crowd is not None]
    absent: dict[str, str] = {}
    idle = _idle(result)
    if idle is None:
        absent["idle"] = next((each.idle_absent for each in crowds if each.idle_absent), "it was not measured")
    complete = CompleteTimes(p50=result.median("complete"), max=result.median("complete_max"))
    alone = cell.participants == 1
    if complete.p50 is None:
        absent["complete_ns.p50"] = NOBODY if alone else "no trial had half of its participants complete in time"
    if complete.max is None:
        absent["complete_ns.max"] = NOBODY if alone else "no trial had all participants complete in time"
    talk = TalkResult(result.one_way_ns) if result.one_way_ns is not None else None
    if talk is None:
        absent["talk"] = NOBODY if alone else result.one_way_absent or "nothing arrived"
    for phase in PHASES:
        if result.median(phase) is None:
            why = (each.absent[phase] for each in crowds if phase in each.absent)
            absent[f"{phase}_ns"] = next(why, "no trial measured it")
    join, left, storm = (_medians(result, each) for each in ("join", "left", "storm"))
    for name, found in (("join", join), ("left", left), ("storm", storm)):
        if found is None:
            absent[name] = absent.get(f"{'leave' if name == 'left' else name}_ns", "no trial measured it")
    return CrowdResult(
        participants=cell.participants,
        topics=cell.topics,
        subscribe=cell.subscribe,
        processes=math.ceil(cell.participants / cell.participants_per_process),
        discovery_by=crowds[0].discovery_by if crowds else "",
        resolution_ns=float(crowds[0].resolution_ns) if crowds else 0.0,
        complete_ns=complete,
        never_matched=result.median("never_matched"),
        idle=idle,
        join_ns=result.median("join"),
        join=JoinCost(**join) if join else None,
        talk=talk,
        leave_ns=result.median("leave"),
        left=LeftResult(**left) if left else None,
        storm_ns=result.median("storm"),
        storm=StormCost(**storm) if storm else None,
        absent=absent | ({"never_matched": NOBODY} if alone else {}),
    )


def _medians(result: CellResult, part: str) -> dict[str, float] | None:
    """Return the median of each figure of a part by its field; None: there are none."""
    medians = {field: result.median(metric) for field, metric in PARTS[part].items()}
    found = {field: each for field, each in medians.items() if each is not None}
    return found if len(found) == len(medians) else None


def _idle(result: CellResult) -> IdleResult | None:
    names = ("cpu", "switches", "packets", "bytes", "memory", "threads")
    cpu, switches, packets, moved, memory, threads = (result.median(f"idle_{each}") for each in names)
    if cpu is None or switches is None or packets is None or moved is None or memory is None or threads is None:
        return None
    return IdleResult(
        cpu_per_participant=cpu,
        context_switches_hz=switches,
        packets_hz=packets,
        bytes_hz=moved,
        rss_bytes_per_participant=memory,
        threads_per_participant=threads,
    )
