"""The result of a crowd over its trials."""

import math
from collections.abc import Sequence

from middlemark.model.outcome import TrialOutcome
from middlemark.stats.result import CellResult, CompleteTimes, CrowdResult, IdleResult, TalkResult

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
        talk=talk,
        absent=absent | ({"never_matched": NOBODY} if alone else {}),
    )


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
