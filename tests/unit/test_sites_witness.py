"""If a witness fails, its evidence is missing, but no trial fails."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest
import worker_words
from launching import Launching

from middlemark.model.noise import Witnessed
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Limits
from middlemark.model.protocol import Account, ThreadUse
from middlemark.sites import witness
from middlemark.sites.witness import NO_PROGRAM, PROBE_NS, Waited, probe_ns
from middlemark.trial.costs import waited


@pytest.fixture
def launching(tmp_path: Path) -> Launching:
    return Launching(tmp_path)


def with_witness(launching: Launching, program: str) -> TrialOutcome:
    """Measure a trial with polling roles. ``program``: the witness in Python, which finds each command in ``line``."""
    path = launching.folder / "middlemark-witness"
    path.write_text(f"#!{sys.executable} -IS\nimport json, sys, time\nfor line in sys.stdin:\n    {program}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    launching.shared.here.witness = str(path)
    outcome = launching.trial(receive="poll", pattern="ping-pong", rate=50.0)
    assert outcome.failed is None
    return outcome


def seen(outcome: TrialOutcome) -> Witnessed:
    assert outcome.noise is not None
    return outcome.noise


def test_without_a_witness_the_kernels_counters_are_read(launching: Launching) -> None:
    noise = seen(launching.trial(receive="poll", pattern="ping-pong", rate=50.0))
    assert (noise.switches, noise.before, noise.after) == (None, None, None)
    assert noise.absent["switches"] == noise.absent["before"] == NO_PROGRAM
    assert noise.moved is not None
    assert noise.moved.processors
    assert noise.to_ns - noise.from_ns == 1_000_000_000


def test_a_witness_that_dies_is_reported_with_its_exit_status(launching: Launching) -> None:
    noise = seen(with_witness(launching, "sys.exit(7)"))
    assert "exited with status 7" in noise.absent["before"]
    assert "exited with status 7" in noise.absent["switches"]


def test_the_wait_for_a_silent_witness_is_short(launching: Launching, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witness, "ANSWER_S", 0.2)
    noise = seen(with_witness(launching, "time.sleep(600)"))
    assert "did not answer in time" in noise.absent["before"]


def test_a_witness_without_permission_for_switches_reports_the_reason(launching: Launching) -> None:
    answers = {
        "probe": {"event": "probed", "cpus": []},
        "watch": {"event": "watching", "scope": None, "absent": "perf_event_open: Permission denied"},
    }
    program = f"print(json.dumps({answers!r}.get(json.loads(line)['command']) or sys.exit()), flush=True)"
    noise = seen(with_witness(launching, program))
    assert noise.absent["switches"].startswith("perf_event_open: Permission denied")
    assert "perf_event_paranoid" in noise.absent["switches"]
    assert (noise.before, noise.after) == ((), ())


def test_a_witness_that_cannot_be_started_is_reported(launching: Launching) -> None:
    launching.shared.here.witness = "/nonexistent/middlemark-witness"
    noise = seen(launching.trial(receive="poll", pattern="ping-pong", rate=50.0))
    assert "/nonexistent/middlemark-witness" in noise.absent["before"]


def keeps_awake(launching: Launching, answer: str, **factors: object) -> TrialOutcome:
    """Measure with a witness that records its commands and answers a request to keep processors awake."""
    path = launching.folder / "middlemark-witness"
    path.write_text(
        f"#!{sys.executable} -IS\nimport json, sys\nfor line in sys.stdin:\n"
        f"    asked = json.loads(line)\n    print(line, end='', file=open({str(path) + '.asked'!r}, 'a'))\n"
        f"    if asked['command'] == 'awake': print(json.dumps({{'event': 'awake', {answer}}}), flush=True)\n"
        "    elif asked['command'] == 'probe': print(json.dumps({'event': 'probed', 'cpus': []}), flush=True)\n"
        "    else: sys.exit()\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    launching.shared.here.witness = str(path)
    return launching.trial(pattern="ping-pong", **factors)


def awake_commands(launching: Launching) -> list[dict[str, object]]:
    lines = (launching.folder / "middlemark-witness.asked").read_text().splitlines()
    return [asked for line in lines if (asked := json.loads(line))["command"] == "awake"]


def test_all_usable_processors_are_kept_awake_for_a_limited_time(launching: Launching) -> None:
    assert keeps_awake(launching, "'cpus': asked.get('cpus', [])", awake=True).failed is None
    begun, ended = awake_commands(launching)
    assert begun["cpus"] == sorted(os.sched_getaffinity(0))
    assert isinstance(begun["limit_ns"], int)
    assert begun["limit_ns"] > 60_000_000_000
    assert not ended.get("cpus")


def test_processors_are_kept_awake_only_on_request(launching: Launching) -> None:
    keeps_awake(launching, "'cpus': []")
    assert awake_commands(launching) == []


def test_no_processor_of_a_role_that_polls_is_kept_awake(launching: Launching) -> None:
    assert keeps_awake(launching, "'cpus': asked.get('cpus', [])", awake=True, receive="poll", rate=50.0).failed is None
    assert [each.get("cpus") for each in awake_commands(launching) if each.get("cpus")] == []


def test_a_trial_fails_if_its_processors_cannot_be_kept_awake(launching: Launching) -> None:
    failed = keeps_awake(launching, "'absent': 'SCHED_IDLE was refused: Operation not permitted'", awake=True).failed
    assert failed is not None
    assert failed.code == "refused"
    assert "the processors cannot be kept awake: SCHED_IDLE was refused" in failed.text
    launching.shared.here.witness = None
    failed = launching.trial(pattern="ping-pong", awake=True).failed
    assert failed is not None
    assert NO_PROGRAM in failed.text


def test_probes_take_only_a_part_of_the_trial() -> None:
    assert probe_ns(Limits(duration_s=60.0, warmup_s=1.0)) == PROBE_NS
    assert probe_ns(Limits(duration_s=0.4, warmup_s=0.1)) == 10_000_000
    assert probe_ns(Limits(samples=10, warmup_s=0.0)) == 4_000_000
    assert probe_ns(Limits(duration_s=0.001, warmup_s=0.0)) == 2_000_000


def event(name: str, at_ns: int, voluntary: int, **waiting: int | None) -> Account:
    threads = tuple(
        ThreadUse(tid=tid, name=thread.replace("_", " "), cpu_ns=0, waiting_ns=ns)
        for tid, (thread, ns) in enumerate(waiting.items())
    )
    return worker_words.event(name, at_ns, voluntary=voluntary, involuntary=2 * voluntary, threads=threads)


def test_waiting_is_summed_over_the_roles_threads_of_all_workers() -> None:
    ping = [event("measuring", 1, 10, ping=5, recv=100), event("done", 2, 15, ping=25, recv=900)]
    pong = [event("measuring", 1, 0, pong_0=1), event("done", 2, 4, pong_0=8)]
    assert waited([ping, pong], ["ping", "pong 0"]) == Waited(
        delay_ns=27, middleware_ns=800, voluntary=9, involuntary=18
    )


def test_waiting_is_absent_if_any_role_did_not_report_it() -> None:
    ping = [event("measuring", 1, 10, ping=5), event("done", 2, 15, ping=25)]
    silent = [event("measuring", 1, 0, pong_0=None), event("done", 2, 4, pong_0=None)]
    assert waited([ping, silent], ["ping", "pong 0"]).delay_ns is None
    assert waited([], ["ping"]) == Waited(delay_ns=None, voluntary=None, involuntary=None)
