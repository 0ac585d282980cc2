"""The cost of a router: the routed row beside the direct row, on every screen, and the router's processor time."""

import json

import msgspec
import pytest
from report_runs import cell, data_of, document_of, measured_again, run_of

from middlemark.model.outcome import CompanionCost, WorkerCost
from middlemark.show import render
from middlemark.stats.costs import trial_companions_ns_per_message
from middlemark.verdicts.experiments import Standing
from middlemark.verdicts.rows import MeasuredRun

DIRECT = 10_000.0
SCATTER = [1 + 0.01 * at for at in range(8)]


def used(who: str, share: float, seconds: float) -> dict[str, object]:
    """Return the fields of a process that used this share of a processor."""
    return {
        "who": who, "pid": 1, "seconds": seconds, "rss_bytes": 1, "peak_rss_bytes": 1, "threads": (),
        "user_ns": round(share * seconds * 1e9), "system_ns": 0, "voluntary_switches": 0, "involuntary_switches": 0,
        "minor_faults": 0, "major_faults": 0,
    }  # fmt: skip


def routed(times: float = 2.0, trials: int = 8, via: str = "router", **levels: object) -> MeasuredRun:
    """Return a run of lyra, direct and with a companion that uses 4 % of a processor."""
    direct, other = cell("lyra", **levels), cell("lyra", via=via, **levels)
    run = run_of(
        {
            direct: [DIRECT * each for each in SCATTER[:trials]],
            other: [DIRECT * times * each for each in reversed(SCATTER[:trials])],
            cell("vega", **levels): [DIRECT / 2 * each for each in SCATTER[:trials]],
        }
    )
    companion = CompanionCost(**used("lyra router", 0.04, 1.5), ready_ns=1)  # type: ignore[arg-type]
    workers = (WorkerCost(**used("ping", 0.5, 1.0)), WorkerCost(**used("pong 0", 0.5, 0.9)))  # type: ignore[arg-type]
    return measured_again(
        run,
        lambda of, outcome: (
            msgspec.structs.replace(outcome, costs=workers, companions=(companion,)) if of == other else outcome
        ),
    )


@pytest.mark.parametrize(
    ("times", "standing"), [(2.0, Standing.SLOWER), (0.5, Standing.BEST), (1.0, Standing.EQUIVALENT)]
)
def test_a_routed_row_is_judged_beside_the_direct_one_and_not_beside_the_best(times: float, standing: Standing) -> None:
    [cost] = document_of(routed(times)).ways
    assert (cost.row.result.cell.via, cost.direct.result.cell.via) == ("router", "direct")
    assert cost.times == pytest.approx(times, rel=0.02)
    assert cost.low is not None
    assert cost.high is not None
    assert cost.low < cost.times < cost.high
    assert cost.standing is standing


def test_the_ratio_of_a_stream_is_that_of_the_time_per_message() -> None:
    levels = {"pattern": "stream", "depth": None}
    [cost] = document_of(routed(0.5, **levels)).ways
    assert cost.times == pytest.approx(2.0, rel=0.02), "half the rate is twice the time"
    assert (cost.low or 9.0) < cost.times < (cost.high or 0.0)
    assert cost.standing is Standing.SLOWER


def test_with_too_few_trials_there_is_a_ratio_without_an_interval() -> None:
    [cost] = document_of(routed(trials=3)).ways
    assert (cost.low, cost.high, cost.standing) == (None, None, Standing.TOO_FEW_TRIALS)
    assert cost.times == pytest.approx(2.0, rel=0.02)


def test_the_companions_share_is_applied_to_the_time_in_which_the_workers_measured() -> None:
    [cost] = document_of(routed()).ways
    assert cost.companion_ns == pytest.approx(0.04 * 1.0 * 1e9 / 1000)


def test_without_a_companion_or_a_message_there_is_no_processor_time_per_message() -> None:
    run = routed()
    outcomes = {trials[0].outcome.cell: trials[0].outcome for trials in run.trials}
    assert trial_companions_ns_per_message(outcomes[0]) is None
    nothing = msgspec.structs.replace(outcomes[1], counts=None)
    assert trial_companions_ns_per_message(nothing) is None


@pytest.mark.parametrize(("via", "companion"), [("router", "router"), ("discovery-server", "discovery server")])
def test_every_screen_has_the_ratio_with_its_interval_and_the_companions_time(via: str, companion: str) -> None:
    run = routed(via=via)
    document = document_of(run)
    expected = document.answers[-1].text
    assert expected == (
        f"lyra udp, via {via} ÷ direct, time of a round trip: 2.00 × at 64 B (1.91 to 2.10, significantly slower). "
        f"The {companion}'s processor time for each round trip: 40.0 µs at 64 B."
    )
    assert expected in " ".join(render("markdown", document).split())
    assert data_of(run).answers[-1].text == expected
    assert f"Via {expected}" in " ".join(render("summary", document).split())


def test_json_has_both_cells_the_ratio_with_its_interval_and_the_companions_time() -> None:
    document = json.loads(render("json", document_of(routed())))
    [found] = document["via"]
    assert [document["cells"][found[each]]["via"] for each in ("cell", "beside")] == ["router", "direct"]
    assert (found["via"], found["standing"], found["companion_ns"]) == ("router", "slower", 40_000)
    assert found["low"] < found["times"] < found["high"]
    assert document["cells"][found["cell"]]["metrics"]["cpu.companion"]["median"] == 40_000


def test_a_row_that_was_not_measured_directly_has_no_cost() -> None:
    run = run_of({cell("lyra", via="router"): [DIRECT] * 8, cell("lyra", size=128): [DIRECT] * 8})
    assert document_of(run).ways == ()
