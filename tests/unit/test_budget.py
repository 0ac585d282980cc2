"""``--budget`` without a race: trials are left out until the run fits into the budget. A note reports the effect."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from descriptions import AES, CYCLONE, EVERYONE, FAST, MEMCPY, RAW_TRANSPORTS, description, transport
from planning import plan_of, suite_of

from middlemark.commands.run import command
from middlemark.model.description import Worker
from middlemark.model.plan import Plan
from middlemark.plan import estimate_seconds, make_plan
from middlemark.plan.rounds import within
from middlemark.problems import RequestError
from middlemark.suite import load, raw_options
from middlemark.suite.overrides import race_budget_s, suite_budget_s
from middlemark.suite.request import suite_files

PATIENCE_S = 30 * 60
"""The longest time that a suite may take by default with every adapter built."""
LONGEST_S = {"fastdds-latency": 5 * 60, "soak": 2 * 3600 + 60}
"""Suites with another limit. A soak looks for slopes that show only after hours, and says so."""
KNOWN = (
    "dbus", "grpc", "iceoryx", "iceoryx2", "lcm", "mqtt", "nng", "rcl", "rclcpp", "ros1", "yarp", "zenoh", "zeromq",
    *(f"{each}-python" for each in ("cyclonedds", "iceoryx2", "lcm", "udp", "uds", "zenoh")),
    "paho-mqtt", "pyzmq", "rclpy", "rospy",
)  # fmt: skip
KEYS = (
    "heartbeat_period_ms", "nack_response_delay_ms", "allocated_samples", "max_samples", "service_persistent",
    *(f"Internal/{each}" for each in ("SynchronousDeliveryPriorityThreshold", "Watermarks/WhcHigh", "WriteBatch")),
    "General/MaxMessageSize", "General/FragmentSize", "service", "executor", "data",
)  # fmt: skip


def everything() -> list[Worker]:
    """Return about as many adapters as exist, with the raw transports."""
    names = (*KNOWN, *(f"other-{each}" for each in range(2)))
    carriers = {"default": "any", "shm": "shared-memory", "tcp": "tcp"}
    both = [
        description(
            each.name,
            *each.transports,
            transport("default", carrier="any"),
            native=dict.fromkeys(KEYS, "a number"),
        )
        for each in (CYCLONE, FAST)
    ]
    others = [
        description(
            name,
            *(transport(each, carrier=carrier) for each, carrier in carriers.items()),
            native=dict.fromkeys(KEYS, "a number"),
        )
        for name in names
    ]
    found = [*RAW_TRANSPORTS, MEMCPY, AES, *both, *others]
    return [Worker(path=f"/w/{each.name}", description=each) for each in found]


def lan(trials: str = "trials = 10", more: str = "") -> Plan:
    return plan_of(f"[[sweep]]\nadapter = ['udp', 'tcp']\nduration = '0.5s'\n{trials}\n{more}")


@pytest.mark.parametrize("name", suite_files())
def test_no_suite_takes_longer_than_its_limit_by_default(name: str) -> None:
    suites = load([name], raw_options())
    here = [each.description for each in everything()]
    plan = make_plan(suites, here, cpus=(0, 1), seed=0, absent=dict.fromkeys(("ecal", "rustdds", "dust-dds"), "?"))
    limit_s = suite_budget_s(suites)
    planned_s = race_budget_s(suites) or estimate_seconds(plan if limit_s is None else within(plan, limit_s))
    assert planned_s <= LONGEST_S.get(name, PATIENCE_S)


def test_a_run_that_fits_keeps_all_its_trials() -> None:
    assert within(lan(), 3600) == lan()


def test_trials_are_left_out_until_the_run_fits() -> None:
    whole = lan()
    shorter = within(whole, 0.75 * estimate_seconds(whole))
    assert estimate_seconds(shorter) <= 0.75 * estimate_seconds(whole) < estimate_seconds(whole) * 8 / 10
    assert {trial.number for trial in shorter.trials} == {1, 2, 3, 4, 5, 6, 7}
    assert shorter.trials == whole.trials[: len(shorter.trials)], "the rounds that are left are the first ones"
    assert shorter.fitted is not None
    assert (shorter.fitted.planned_trials, shorter.fitted.trials, shorter.fitted.verdicts) == (10, 7, True)
    assert shorter.notes[0].text == (
        "7 trials per row instead of 10: intervals are about 1.2 times as wide; --trials 10 takes about 20 s"
    )


def test_with_fewer_than_six_trials_the_note_says_that_no_verdict_is_possible() -> None:
    shorter = within(lan(), 0.35 * estimate_seconds(lan()))
    assert shorter.fitted is not None
    assert (shorter.fitted.trials, shorter.fitted.verdicts) == (3, False)
    assert shorter.fitted.wider == pytest.approx((10 / 3) ** 0.5)
    assert "3 trials per row instead of 10: no verdict is possible (a verdict needs 6 trials), and intervals" in (
        shorter.notes[0].text
    )


def test_a_sweep_with_fewer_trials_keeps_them() -> None:
    plan = lan(more="[[sweep]]\nadapter = 'uds'\nduration = '0.5s'\ntrials = 2")
    shorter = within(plan, 0.5 * estimate_seconds(plan))
    of_uds = [trial for trial in shorter.trials if shorter.cells[trial.cell].adapter == "uds"]
    assert len(of_uds) == 2
    assert max(trial.number for trial in shorter.trials) < 10


def test_a_budget_below_one_round_is_refused_with_the_least_that_suffices() -> None:
    plan = plan_of("[[sweep]]\nadapter = ['udp', 'tcp']\nduration = '40s'\ntrials = 10")
    with pytest.raises(RequestError) as refused:
        within(plan, 30)
    [problem] = refused.value.problems
    assert str(problem).startswith("--budget: one round of 2 trials takes about 1 min 2")
    assert "give --budget 2m, or measure fewer configurations (--only)" in str(problem)
    assert {trial.number for trial in within(plan, 120).trials} == {1}


def test_the_budget_of_suites_without_races_is_the_sum_if_all_have_one() -> None:
    def budget(*texts: str) -> float | None:
        return suite_budget_s([suite_of(f"[[sweep]]\nadapter = 'udp'\n{each}") for each in texts])

    assert budget("budget = '5m'") == 300
    assert budget("budget = '5m'", "budget = '7m'") == 720
    assert budget("budget = '5m'", "") is None
    assert budget("budget = '5m'\n[[sweep]]\nadapter = 'tcp'") is None
    assert budget("") is budget() is None


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    workers = [Worker(path=f"/w/{each.name}", description=each) for each in EVERYONE]
    monkeypatch.setattr("middlemark.runs.conduct.find_workers", lambda _: (workers, []))
    monkeypatch.setattr("middlemark.commands.run.without_refused", lambda plan, *_: plan)
    return CliRunner()


def test_the_dry_run_fits_into_a_budget_that_is_typed_or_in_the_suite(planned: CliRunner, tmp_path: Path) -> None:
    suite = tmp_path / "slow.toml"
    suite.write_text("[[sweep]]\nadapter = 'udp'\nduration = '50s'\ntrials = 6\nbudget = '3m'\nbaseline = false\n")

    def trials(*words: str) -> str:
        ended = planned.invoke(command, [str(suite), "--dry-run", *words])
        assert ended.exception is None, ended.output
        return ended.stdout.split(",")[1].strip()

    assert trials() == "3 trials"
    assert trials("--budget", "2m") == "2 trials"
    assert trials("--budget", "1h") == "6 trials"
    assert trials("--trials", "6") == "6 trials", "a number that is typed has priority over the suite's budget"
    assert trials("--trials", "6", "--budget", "2m") == "2 trials"
