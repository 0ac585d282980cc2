"""Verdicts on long trials, from simulated records: a planted leak, drift and stall are found, and nothing else."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from report_runs import cell, document_of, run_of
from test_store import FILE, outcome

from middlemark.document.document import OverTime
from middlemark.document.over_time import drift_text, lines, overview, stalls_text, trend_text
from middlemark.model.record import Peak, Record, RoleRecord
from middlemark.model.run import Run
from middlemark.verdicts.long_trials import LatencyDrift, LongTrial, Stalls, Trend, judged, judged_growth, long_trials

MIB = 1 << 20
MS = 1_000_000


def simulated(
    seed: int,
    *,
    minutes: int = 120,
    leak_bytes: float = 0.0,
    drift: float = 0.0,
    stall_every: int = 0,
    step: int = 0,
) -> list[Record]:
    """Return records of a ping and a pong, one a minute. ``leak_bytes`` and ``drift`` (a fraction) are per hour."""
    random = np.random.default_rng(seed)
    found = []
    pages = 2000 + random.integers(0, 3, minutes)
    speed = np.exp(random.normal(0, 0.01, minutes))
    for minute in range(minutes):
        hours = minute / 60
        p50 = 60_000 * speed[minute] * (1 + drift * hours)
        peaks = [Peak(60.0 * minute + 9, 3 * MS, 3 * MS)] if random.random() < 0.3 else []
        if stall_every and minute % stall_every == 0:
            peaks.append(Peak(60.0 * minute + 30, 5 * MS, 0))
        ping = RoleRecord(
            role="ping", index=0, sent=6000, received=6000, samples=6000, p50_ns=p50,
            p99_ns=2.0 * p50 * float(np.exp(random.normal(0, 0.01))), max_ns=5 * MS, peaks=tuple(peaks),
        )  # fmt: skip
        leaked = int(leak_bytes * hours) // 4096 * 4096 + (step if minute > 50 else 0)
        for who, roles, extra in (("ping", (ping,), 0), ("pong 0", (RoleRecord(role="pong", index=0),), leaked)):
            rss = int(pages[minute]) * 4096 + extra
            found.append(record(who, 60.0 * (minute + 1), rss_bytes=rss, private_bytes=rss // 2 + extra, roles=roles))
    return found


def record(who: str, at_s: float, roles: tuple[RoleRecord, ...] = (), **more: Any) -> Record:
    fields: dict[str, Any] = {
        "order": 0,
        "started": "then",
        "seconds": 60.0,
        "user_ns": 1,
        "system_ns": 1,
        "threads": 2,
    }
    fields |= {"voluntary_switches": 1, "involuntary_switches": 0, "descriptors": 12, "shm_bytes": 4096}
    return Record(who=who, at_s=at_s, roles=roles, **{**fields, "rss_bytes": 8 * MIB, **more})


def trend(found: LongTrial, role: str, resource: str) -> Trend:
    return next(each for each in found.trends if (each.role, each.resource) == (role, resource))


def verdicts(found: LongTrial) -> dict[tuple[str, str], str]:
    return {(each.role, each.resource): each.verdict for each in found.trends}


@pytest.mark.parametrize("seed", range(12))
def test_a_clean_trial_grows_in_nothing_drifts_in_nothing_and_has_no_unexplained_stall(seed: int) -> None:
    found = judged(simulated(seed))
    assert "grows" not in verdicts(found).values()
    assert [each.verdict for each in found.drift] == ["does not drift"] * 2
    assert found.stalls[0].unexplained == 0
    assert found.stalls[0].machine == found.stalls[0].count > 10


@pytest.mark.parametrize("seed", range(12))
def test_planted_faults_are_found_within_their_intervals_and_at_their_role_only(seed: int) -> None:
    found = judged(simulated(seed, leak_bytes=MIB, drift=0.02, stall_every=10))
    leak = trend(found, "pong 0", "rss")
    assert leak.verdict == "grows"
    assert leak.low <= MIB <= leak.high
    assert {who for (who, _), verdict in verdicts(found).items() if verdict == "grows"} == {"pong 0"}
    assert [each.verdict for each in found.drift] == ["drifts", "drifts"]
    assert all(each.low <= 0.02 <= each.high for each in found.drift)
    [stalls] = found.stalls
    assert (stalls.role, stalls.unexplained, stalls.longest_ns) == ("ping", 12, 5 * MS)
    assert stalls.high is not None
    assert stalls.low < 600 < stalls.high
    assert stalls.interval_s == 600


def test_a_gate_fails_if_the_whole_interval_is_above_its_amount() -> None:
    found = judged(simulated(1, leak_bytes=MIB))

    def roles(per_hour: float) -> tuple[list[str], list[str]]:
        growth = judged_growth(found, "rss", per_hour)
        return [each.role for each in growth.above], [each.role for each in growth.undecided]

    leak = trend(found, "pong 0", "rss")
    assert roles(0.5 * MIB) == (["pong 0"], [])
    assert roles((leak.low + leak.high) / 2) == ([], ["pong 0"])
    assert roles(2 * MIB) == ([], [])


def test_a_step_is_reported_beside_the_slope() -> None:
    found = trend(judged(simulated(1, step=8 * MIB)), "pong 0", "rss")
    assert found.verdict == "does not grow"
    assert len(found.steps) == 1
    assert found.steps[0].height == pytest.approx(8 * MIB, rel=0.01)
    assert "a step of +8 MiB after 50 min 30 s" in trend_text(found)


def test_a_resource_of_the_machine_is_judged_once() -> None:
    assert [each.role for each in judged(simulated(1)).trends if each.resource == "shm"] == ["machine"]


def test_too_few_records_have_no_slope_but_their_stalls_are_counted() -> None:
    found = judged(simulated(1, minutes=7, stall_every=3))
    assert (found.trends, found.drift) == ((), ())
    assert found.stalls[0].unexplained == 3


def test_a_trial_that_was_killed_and_measured_again_is_judged_by_its_last_attempt() -> None:
    again = outcome(0)
    records = [
        *(msgspec.structs.replace(each, started="killed") for each in simulated(1, leak_bytes=50 * MIB)),
        *(msgspec.structs.replace(each, started=again.started) for each in simulated(2)),
    ]
    run = Run(folder=Path("x"), file=FILE, outcomes=(again,), records=tuple(records))
    [found] = long_trials(run)
    assert found.ended
    assert (found.trial, found.cell) == (1, 0)
    assert "grows" not in verdicts(found).values()


def test_a_trial_without_an_outcome_has_not_ended() -> None:
    [found] = long_trials(Run(folder=Path("x"), file=FILE, outcomes=(), records=tuple(simulated(1))))
    assert not found.ended
    assert found.seconds == 7200


def test_several_long_trials_have_an_overview_and_one_has_none() -> None:
    document = document_of(run_of({cell("lyra"): [5e4], cell("orca"): [6e4]}))
    trials = (OverTime(0, judged(simulated(1, leak_bytes=MIB))), OverTime(1, judged(simulated(2, stall_every=10))))
    found = overview(msgspec.structs.replace(document, over_time=trials))
    assert found is not None
    first, second = ([each.text for each in line.cells] for line in found.lines)
    assert first[0].startswith("grows by 1.5 MiB/h ± "), "half of the simulated memory is private too"
    assert first[1] == "–", "a pong has no counter of its own in these records"
    assert second[0].startswith("does not grow by more than ")
    assert second[3] == "12"
    assert overview(msgspec.structs.replace(document, over_time=trials[:1])) is None


def test_growth_is_also_given_per_million_messages() -> None:
    leaking = [
        msgspec.structs.replace(each, private_bytes=(each.private_bytes or 0) + int(MIB * each.at_s / 3600))
        if each.who == "ping"
        else each
        for each in simulated(1)
    ]
    found = trend(judged(leaking), "ping", "private")
    assert found.per_million == pytest.approx(found.per_hour / 0.36, rel=0.01), "6,000 messages a minute"
    assert "per million messages)" in trend_text(found)


def growth(verdict: str, **more: Any) -> Trend:
    fields: dict[str, Any] = {"trial": 1, "role": "pong 0", "resource": "rss", "level": 9.0 * MIB}
    fields |= {"per_hour": 1.2 * MIB, "low": 0.9 * MIB, "high": 1.5 * MIB}
    return Trend(**{**fields, "verdict": verdict, **more})


def test_verdicts_are_sentences_with_their_bounds() -> None:
    assert trend_text(growth("grows")) == "grows by 1.2 MiB/h ± 0.3"
    still = growth("does not grow", per_hour=0.0, low=-9000.0, high=10.0 * 1024)
    assert trend_text(still) == "does not grow by more than 10 KiB/h"
    assert trend_text(growth("undecided")) == "undecided: 1.2 MiB/h ± 0.3"
    descriptors = growth("grows", resource="descriptors", per_hour=4.0, low=3.0, high=5.0)
    assert trend_text(descriptors) == "grows by 4 descriptors/h ± 1"
    drift = LatencyDrift(trial=1, role="ping", quantile="p50", per_hour=0.02, low=0.017, high=0.023, verdict="drifts")
    assert drift_text(drift) == "drifts by +2 %/h ± 0.3"
    drift = msgspec.structs.replace(drift, verdict="does not drift")
    assert drift_text(drift) == "does not drift by more than 2.3 %/h"
    counted: dict[str, Any] = {
        "trial": 1,
        "role": "ping",
        "count": 15,
        "machine": 3,
        "unexplained": 12,
        "longest_ns": 5 * MS,
    }
    stalls = Stalls(**counted, interval_s=600.0, low=343.0, high=1161.0)
    every = "every 10 min 00 s (5 min 43 s … 19 min 21 s)"
    assert stalls_text(stalls) == f"12, up to 5 ms, {every}; the machine explains 3 more"


def test_every_verdict_is_a_line() -> None:
    found = list(lines(judged(simulated(1))))
    assert {what for _, what, _ in found} == {"rss", "private", "shm", "descriptors", "threads", "p50", "p99", "stalls"}
