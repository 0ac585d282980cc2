"""The machine's noise during a cell's trials, and the trials that count as disturbed."""

import msgspec
import pytest
from descriptions import description, transport
from noise_cases import moved, probe, switches, witnessed
from stats_cases import DESCRIPTIONS, outcome, plan, samples
from stats_cases import cell as a_cell
from stream_cases import cost

from middlemark.model.noise import Witnessed
from middlemark.model.outcome import RunWarning, Second, ThreadCost, TrialOutcome
from middlemark.model.protocol import Durations, Other
from middlemark.show.notes import machine_summary
from middlemark.stats.cells import cell_results
from middlemark.stats.noise import DISTURBED, percent
from middlemark.stats.result import Attribution, CellResult, Noise

MS = 1_000_000


def result_of(*seen: Witnessed | None, receive: str = "poll") -> CellResult:
    """Return a cell with one trial for each evidence."""
    planned = plan(a_cell(receive=receive), trials=len(seen))
    outcomes = [
        outcome(trial, noise=each, series=(Second(at_s=1.0, seconds=1.0, who="ping"),))
        for trial, each in zip(planned.trials, seen, strict=True)
    ]
    [result] = cell_results(planned, outcomes, lambda _: samples([10_000] * 1000), {})
    return result


def noise_of(*seen: Witnessed | None) -> Noise:
    noise = result_of(*seen).noise
    assert noise is not None
    return noise


def warning_of(*seen: Witnessed | None) -> RunWarning | None:
    return next((each for each in result_of(*seen).warnings if each.code == DISTURBED), None)


def hogged(share: float, name: str | None = "hog", pid: int | None = 77, **given: object) -> Witnessed:
    """Return evidence of another process on one of two processors, with this share of the time of both together."""
    ns = round(share * 2e9)
    return witnessed(switches=switches((0, ns, 1), others=(Other(name=name, pid=pid, ns=ns),), **given))


def test_a_quiet_machine_marks_nothing() -> None:
    assert warning_of(witnessed(), witnessed(), witnessed()) is None
    assert noise_of(witnessed()).others_share == 0.0


def test_without_a_witness_there_is_no_noise() -> None:
    assert result_of(None).noise is None
    assert warning_of(None) is None


def test_a_process_that_used_the_processors_is_named_with_the_trial() -> None:
    warning = warning_of(witnessed(), hogged(0.3), witnessed())
    assert warning is not None
    assert warning.text == "in trial 2: other processes had 30 % of its processors' time (hog (pid 77) 30 %)"
    assert "taskset" in warning.advice


def test_one_percent_of_the_time_is_the_limit() -> None:
    assert warning_of(hogged(0.009)) is None
    assert warning_of(hogged(0.011)) is not None


def test_an_ended_process_is_reported_without_a_name() -> None:
    warning = warning_of(hogged(0.3, None, None))
    assert warning is not None
    assert "an ended process 30 %" in warning.text


def test_a_process_is_not_named_if_the_kernel_does_not_identify_it() -> None:
    warning = warning_of(hogged(0.3, None, None, scope="workers"))
    assert warning is not None
    assert warning.text == "in trial 1: other processes had 30 % of its processors' time"


def test_time_used_by_the_launcher_is_reported_without_a_mark() -> None:
    ns = round(0.3 * 2e9)
    own = hogged(0.3, own_ns=ns)
    assert warning_of(own) is None
    assert noise_of(own).own_share == 0.3


def test_stolen_time_marks_its_trial_with_advice_to_measure_elsewhere() -> None:
    warning = warning_of(witnessed(moved=moved(steal_ms=100)))
    assert warning is not None
    assert warning.text.endswith("the hypervisor stole 5 % of its processors' time")
    assert "host" in warning.advice
    assert warning_of(witnessed(moved=moved(steal_ms=10))) is None


def test_any_throttling_marks_its_trial() -> None:
    warning = warning_of(witnessed(), witnessed(moved=moved(throttled=3)))
    assert warning is not None
    assert "in trial 2: its control group was throttled in 3 periods, 3.0 ms" in warning.text
    assert "cpu.max" in warning.advice


def test_a_trial_with_unusual_gaps_around_it_is_marked() -> None:
    restless = witnessed(before=(probe((MS, 2)), probe()))
    warning = warning_of(witnessed(), restless, witnessed())
    assert warning is not None
    assert "in trial 2: before and after it the processors were interrupted for 2.5 % of the time" in warning.text
    # If a machine has gaps all the time, a gap does not mark a trial as disturbed.
    assert warning_of(restless, restless, restless) is None


def test_time_of_other_processes_in_the_probe_is_no_gap() -> None:
    taken = msgspec.structs.replace(probe(), taken=Durations(total_ns=10 * MS, longest_ns=10 * MS))
    assert warning_of(witnessed(), witnessed(before=(taken, taken)), witnessed()) is None


def test_unusually_many_interrupts_mark_a_trial_unless_all_trials_have_them() -> None:
    busy = witnessed(moved=moved(softirq_ms=400))
    warning = warning_of(witnessed(), busy, witnessed())
    assert warning is not None
    assert "interrupts took 20 % more" in warning.text
    assert warning_of(busy, busy, busy) is None


def test_without_switches_the_roles_own_waiting_is_used() -> None:
    def waiting(ms: int) -> Witnessed:
        # In the probe, 50 wake-ups on an idle processor wait 4 µs each.
        woken = (probe(wakes=50, waited_ns=200_000),)
        return witnessed(
            switches=None, before=woken, delay_ns=ms * MS, voluntary=10_000, absent={"switches": "they sleep"}
        )

    assert warning_of(waiting(120)) is None  # 10,000 wake-ups explain 40 ms of the waiting
    warning = warning_of(waiting(220))
    assert warning is not None
    assert "its roles waited 9 % of the time" in warning.text
    noise = noise_of(waiting(220))
    assert noise.others_share is None
    assert noise.absent["switches"] == "they sleep"


def test_the_waiting_of_a_wake_up_is_not_guessed() -> None:
    seen = witnessed(switches=None, delay_ns=900 * MS, voluntary=10_000, absent={"switches": "they sleep"})
    assert noise_of(seen).delay_share is None
    assert noise_of(seen).absent["delay_share"].startswith("the probes before and after the run's trials never slept")
    assert warning_of(seen) is None


def test_one_tick_of_stolen_time_may_be_a_rounding_error() -> None:
    assert warning_of(witnessed(moved=moved(steal_ms=10)), witnessed()) is None
    warning = warning_of(witnessed(moved=moved(steal_ms=100)), witnessed())
    assert warning is not None
    assert "the hypervisor stole 5 %" in warning.text
    short = witnessed(moved=msgspec.structs.replace(moved(steal_ms=10), seconds=0.2))
    assert noise_of(short).steal_share == pytest.approx(0.025)
    assert warning_of(short) is None
    assert warning_of(witnessed(moved=msgspec.structs.replace(moved(steal_ms=20), seconds=0.2))) is not None


def test_time_used_by_a_workers_own_threads_is_not_attributed_to_others() -> None:
    def share(name: str, ran_ms: int) -> float | None:
        seen = witnessed(switches=None, before=(probe(wakes=50, waited_ns=200_000),), delay_ns=400 * MS, voluntary=0)
        planned = plan(a_cell(receive="block"), trials=1)
        costs = (cost("ping", threads=(ThreadCost(name=name, threads=1, cpu_ns=ran_ms * MS),)),)
        outcomes = [outcome(trial, noise=seen, costs=costs) for trial in planned.trials]
        [result] = cell_results(planned, outcomes, lambda _: samples([10_000] * 1000), {})
        assert result.noise is not None
        return result.noise.delay_share

    of_role = share("ping", 300)
    assert of_role is not None
    assert of_role > 0.1
    assert share("ZMQbg/IO/0", 300) == pytest.approx(of_role / 4)
    assert share("ZMQbg/IO/0", 500) == 0.0


def test_more_roles_than_processors_wait_for_each_other_and_not_for_the_machine() -> None:
    def noise(subscribers: int) -> Noise:
        seen = witnessed(switches=None, before=(probe(wakes=50, waited_ns=200_000),), delay_ns=900 * MS, voluntary=0)
        planned = plan(a_cell(receive="block"), trials=1)
        costs = tuple(
            cost(f"subscriber {each}", threads=(ThreadCost(name=f"subscriber {each}", threads=1, cpu_ns=300 * MS),))
            for each in range(subscribers)
        )
        outcomes = [outcome(trial, noise=seen, costs=costs) for trial in planned.trials]
        [result] = cell_results(planned, outcomes, lambda _: samples([10_000] * 1000), {})
        assert result.noise is not None
        return result.noise

    assert (noise(2).delay_share or 0) > 0.1
    assert noise(3).delay_share is None
    assert noise(3).absent["delay_share"].startswith("there are more roles than processors")
    assert noise(3).trials[0].marked == ()


def test_the_roles_waiting_is_not_attributed_if_there_is_a_companion() -> None:
    seen = witnessed(switches=None, before=(probe(wakes=50, waited_ns=200_000),), delay_ns=400 * MS, voluntary=0)
    planned = plan(a_cell(receive="block"), trials=1)
    outcomes = [outcome(trial, noise=seen) for trial in planned.trials]
    with_daemon = description("dds", msgspec.structs.replace(transport("udp"), companions=True))
    for described, is_attributed in ((DESCRIPTIONS["dds"], True), (with_daemon, False)):
        [result] = cell_results(planned, outcomes, lambda _: samples([10_000] * 1000), {"dds": described})
        assert result.noise is not None
        assert (result.noise.delay_share is not None) == is_attributed
        assert ("daemon" in result.noise.absent.get("delay_share", "")) != is_attributed


def test_marked_trials_are_counted_and_the_worst_is_described() -> None:
    warning = warning_of(hogged(0.1, "small"), witnessed(), hogged(0.4, "large"))
    assert warning is not None
    assert warning.text.startswith("in 2 of 3 trials (1, 3); most in trial 3: other processes had 40 %")
    assert "large" in warning.text


def test_a_marked_trial_is_not_dropped() -> None:
    assert result_of(witnessed(), hogged(0.5)).trials == 2


def test_the_disturbed_times_are_those_of_the_cells_representative_trial() -> None:
    noise = noise_of(hogged(0.25), witnessed(), witnessed())
    assert (noise.disturbed_trial, noise.disturbed) == (2, ())
    single = noise_of(hogged(0.25))
    assert (single.disturbed_trial, single.disturbed) == (1, ((0.0, 0.5),))


def test_at_most_the_hundred_longest_disturbances_are_listed_in_order_of_time() -> None:
    spells = [(at * MS, (at + 1) * 1000, 0) for at in range(150)]
    noise = noise_of(witnessed(switches=switches(*spells)))
    assert len(noise.disturbed) == 100
    assert noise.disturbed == tuple(sorted(noise.disturbed))
    assert noise.disturbed[0] == (0.05, 0.050051)


def test_an_outcome_is_stored_with_its_noise() -> None:
    stored = outcome(plan(a_cell(), trials=1).trials[0], noise=hogged(0.3))
    assert msgspec.json.decode(msgspec.json.encode(stored), type=TrialOutcome) == stored


def test_the_line_below_the_table_covers_the_whole_run() -> None:
    text = machine_summary([noise_of(hogged(0.3), witnessed(before=(probe((4000, 1)),)))])
    assert text == (
        "15 % of the roles' processors' time taken by others, longest time away 600 ms, longest gap around a trial 4 µs"
    )
    assert machine_summary([]) == ""


def test_a_small_share_is_not_printed_as_zero() -> None:
    assert [percent(share) for share in (0.0, 0.000012, 0.0034, 0.5, 1.0)] == [
        "0 %",
        "0.0012 %",
        "0.34 %",
        "50 %",
        "100 %",
    ]


def test_the_line_states_none_if_no_sample_is_attributed() -> None:
    attributed = Attribution(samples=1016, machine=0, middleware=0, unknown=1016, why="they sleep")
    noise = noise_of(witnessed())
    trial = msgspec.structs.replace(noise.trials[0], above_p99_9=attributed)
    assert machine_summary([msgspec.structs.replace(noise, trials=(trial,))]).endswith(
        "; of 1,016 samples above p99.9, the machine delayed none, the middleware none for certain, 1,016 unknown"
    )
