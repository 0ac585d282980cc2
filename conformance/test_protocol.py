"""Tests of the control protocol (docs/reference/protocol.md) and its refusals: each test controls a worker directly."""

import signal
import subprocess
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest
from candidate import Candidate
from conversation import Conversation, one_process

from middlemark.model.cell import CAPABILITIES, FACTORS, Cell
from middlemark.model.description import Worker
from middlemark.model.protocol import ParticipantRequest
from middlemark.model.version import adapter_of
from middlemark.stats.samples import load


def cell_in_one_process(candidate: Candidate) -> dict[str, Any]:
    """Return the candidate's default cell, in one process."""
    if 1 not in candidate.transport.processes:
        pytest.skip("the transport works between processes only, which other tests do")
    if candidate.transport.companions:
        pytest.skip("the transport needs a daemon, which only the launcher starts")
    return builtins_of(candidate.cell(processes=1))


def default_cell(worker: Worker) -> dict[str, Any]:
    return builtins_of(Candidate(worker, worker.description.transports[0]).cell())


def builtins_of(cell: Cell) -> dict[str, Any]:
    return dict(msgspec.to_builtins(cell))


LEVELS = {
    field: (True, False) if hint is bool else get_args(hint)
    for field, hint in get_type_hints(Cell).items()
    if hint is bool or get_origin(hint) is Literal
}
"""All levels of the factors with a fixed list of levels, by field of ``Cell``."""
AT_A_RATE = {"samples": None, "duration_s": 20.0, "load": {"kind": "rate", "rate_hz": 1000.0}}
"""Load of a ping that a test stops. At rate max, the ping would first touch 1 GiB for its samples."""


def test_a_whole_conversation_follows_the_documentation(candidate: Candidate, tmp_path: Path) -> None:
    command = one_process(cell_in_one_process(candidate), tmp_path)
    with Conversation(candidate.worker.path) as talk:
        hello = talk.expect("hello")
        assert (hello["protocol"], hello["adapter"]) == (1, adapter_of(candidate.worker.description.name))
        assert hello["pid"] == talk.process.pid
        talk.send(command="configure", **command)
        ready = talk.expect("ready")
        assert ready["discovery_ns"] > 0
        talk.send(command="start")
        assert talk.expect("done")["role"] == "ping"
        results = {event["role"]: event for event in (talk.expect("result") for _ in command["roles"])}
        assert results["ping"]["samples"] == results["ping"]["sent"] == results["ping"]["received"] == 50
        assert results["ping"]["ended"] == "samples"
        if not candidate.transport.alone:
            assert results["pong"]["received"] == results["pong"]["echoed"] == 50
        assert len(load(tmp_path / "samples.npy")) == 50
        talk.send(command="quit")
        assert talk.next() is None
        assert talk.status() == 0


def test_a_stopped_ping_keeps_its_samples(candidate: Candidate, tmp_path: Path) -> None:
    command = one_process(cell_in_one_process(candidate), tmp_path)
    # The stop ends the pong as well, so the last reply may never arrive. The ping must give up on it before it counts
    # as hung.
    command["roles"][0] |= {**AT_A_RATE, "reply_timeout_s": 1.0}
    with Conversation(candidate.worker.path) as talk:
        talk.expect("hello")
        talk.send(command="configure", **command)
        talk.expect("ready")
        talk.send(command="start")
        while talk.expect("tick")["phase"] != "measuring":
            pass
        talk.send(command="stop")
        result = talk.expect("result")
        assert result["ended"] == "stopped"
        assert 0 < result["samples"] == len(load(tmp_path / "samples.npy"))
        talk.send(command="quit")
        assert talk.status() == 0


def test_a_worker_can_quit_before_the_start(candidate: Candidate, tmp_path: Path) -> None:
    with Conversation(candidate.worker.path) as talk:
        talk.expect("hello")
        talk.send(command="configure", **one_process(cell_in_one_process(candidate), tmp_path))
        talk.expect("ready")
        talk.send(command="quit")
        assert talk.status() == 0
        assert not (tmp_path / "samples.npy").exists()


def test_a_worker_ends_when_its_launcher_dies(worker: Worker) -> None:
    with Conversation(worker.path) as talk:
        talk.expect("hello")
        talk.close_stdin()
        assert talk.status() == 3


def test_a_worker_ends_when_its_launcher_dies_in_mid_trial(candidate: Candidate, tmp_path: Path) -> None:
    command = one_process(cell_in_one_process(candidate), tmp_path)
    command["roles"][0] |= AT_A_RATE
    with Conversation(candidate.worker.path) as talk:
        talk.expect("hello")
        talk.send(command="configure", **command)
        talk.expect("ready")
        talk.send(command="start")
        talk.expect("tick")
        talk.close_stdin()
        assert talk.status() == 3


REFUSED: dict[str, dict[str, Any]] = {
    "an unknown transport": {"transport": "carrier-pigeon"},
    "an unknown native setting": {"native": {"no-such-setting": "1"}},
}


def refusal(worker: Worker, settings: dict[str, Any], scratch: Path, *roles: ParticipantRequest) -> dict[str, Any]:
    """Configure the worker with these settings; return the error that it must send before it exits with status 1.

    ``roles``: the roles of the trial (default: a ping and a pong).
    """
    with Conversation(worker.path) as talk:
        talk.expect("hello")
        asked = one_process(default_cell(worker), scratch, **settings)
        talk.send(command="configure", **asked | ({"roles": msgspec.to_builtins(roles)} if roles else {}))
        event = talk.expect("error", "ready")
        assert event["event"] == "error", f"the worker accepted {settings}"
        assert talk.next() is None
        assert talk.status() == 1
    return event


@pytest.mark.parametrize("what", REFUSED)
def test_unknown_settings_are_refused_and_named(worker: Worker, what: str, tmp_path: Path) -> None:
    error = refusal(worker, REFUSED[what], tmp_path)
    assert error["code"] == "refused", error
    assert adapter_of(worker.description.name) in error["text"], error


def test_levels_that_the_transport_does_not_list_are_refused(candidate: Candidate, tmp_path: Path) -> None:
    offered = candidate.transport
    lacking: list[dict[str, Any]] = [
        *(
            {FACTORS[name].request or FACTORS[name].field: level}
            for name, honour in CAPABILITIES.items()
            for level in LEVELS.get(FACTORS[name].field, ())
            if level not in getattr(offered, honour.capability)
        ),
        *([] if offered.keep_all else [{"depth": None}]),
        *([] if offered.max_depth is None else [{"depth": offered.max_depth + 1}]),
        *([] if 1 in offered.processes else [{"one_process": True}]),
        {"message_bytes": offered.max_bytes + 1},
        {"subscribers": 1 if offered.alone else 0},
    ]
    participant = ParticipantRequest(
        index=0, payload="filled", probe_s=0.01, idle_s=0.0, rate_hz=1.0, messages=1, samples_path=""
    )
    for settings in lacking:
        of_crowd = settings == {"pattern": "crowd"}
        asked = {"transport": offered.name, **settings, **({"subscribers": 1, "participants": 1} if of_crowd else {})}
        error = refusal(candidate.worker, asked, tmp_path, *([participant] if of_crowd else []))
        assert error["code"] == "refused", (settings, error)


def test_the_error_for_a_wrong_configuration_names_all_wrong_fields(worker: Worker) -> None:
    with Conversation(worker.path) as talk:
        talk.expect("hello")
        talk.send(command="configure", settings={"transport": 5}, placement={}, roles=[])
        error = talk.expect("error")
        assert error["code"] == "configure"
        for field in ("settings.transport", "settings.scope", "placement.policy", "roles"):
            assert field in error["text"]
        assert talk.status() == 1


def test_a_signal_ends_a_worker_at_any_time(worker: Worker) -> None:
    with Conversation(worker.path) as talk:
        talk.expect("hello")
        talk.process.send_signal(signal.SIGTERM)
        assert talk.status() == -signal.SIGTERM


def test_a_worker_started_by_hand_names_the_command_to_use(worker: Worker) -> None:
    ended = subprocess.run([worker.path, "--no-such"], capture_output=True, text=True, check=False, timeout=30)
    assert ended.returncode == 2
    assert "middlemark run" in ended.stderr
