"""The control protocol and its refusals, spoken by hand: docs/protocol.md holds for every worker."""

import signal
import subprocess
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest
from contender import Contender
from conversation import Conversation, one_process

from middlemark.model.cell import CAPABILITIES, FACTORS, Cell
from middlemark.model.description import Worker
from middlemark.stats.samples import load


def whole(contender: Contender) -> dict[str, Any]:
    """The contender's plainest cell, in one process."""
    if 1 not in contender.transport.processes:
        pytest.skip("it works between processes only; the trials speak the protocol there")
    if contender.transport.companions:
        pytest.skip("it needs a daemon; the trials start it")
    return builtins_of(contender.cell(processes=1))


def some(worker: Worker) -> dict[str, Any]:
    return builtins_of(Contender(worker, worker.description.transports[0]).cell())


def builtins_of(cell: Cell) -> dict[str, Any]:
    return dict(msgspec.to_builtins(cell))


LEVELS = {
    field: (True, False) if hint is bool else get_args(hint)
    for field, hint in get_type_hints(Cell).items()
    if hint is bool or get_origin(hint) is Literal
}
"""All levels of the factors that have a few."""
AT_A_RATE = {"samples": None, "duration_s": 20.0, "load": {"kind": "rate", "rate_hz": 1000.0}}
"""Of a ping that is interrupted. At rate max it would touch 1 GiB for its samples before it is ready."""


def test_a_whole_conversation_goes_as_documented(contender: Contender, tmp_path: Path) -> None:
    command = one_process(whole(contender), tmp_path)
    with Conversation(contender.worker.path) as talk:
        hello = talk.hear("hello")
        assert (hello["protocol"], hello["adapter"]) == (1, contender.worker.description.name)
        assert hello["pid"] == talk.process.pid
        talk.say(command="configure", **command)
        ready = talk.hear("ready")
        assert ready["discovery_ns"] > 0
        talk.say(command="start")
        assert talk.hear("done")["role"] == "ping"
        results = {event["role"]: event for event in (talk.hear("result") for _ in command["roles"])}
        assert results["ping"]["samples"] == results["ping"]["sent"] == results["ping"]["received"] == 50
        assert results["ping"]["ended"] == "samples"
        if not contender.transport.alone:
            assert results["pong"]["received"] == results["pong"]["echoed"] == 50
        assert len(load(tmp_path / "samples.npy")) == 50
        talk.say(command="quit")
        assert talk.next() is None
        assert talk.status() == 0


def test_a_ping_that_is_stopped_keeps_what_it_has(contender: Contender, tmp_path: Path) -> None:
    command = one_process(whole(contender), tmp_path)
    # Its pong is stopped with it: the reply it waits for may never come, and it must give up before it counts as hung.
    command["roles"][0] |= {**AT_A_RATE, "reply_timeout_s": 1.0}
    with Conversation(contender.worker.path) as talk:
        talk.hear("hello")
        talk.say(command="configure", **command)
        talk.hear("ready")
        talk.say(command="start")
        while talk.hear("tick")["phase"] != "measuring":
            pass
        talk.say(command="stop")
        result = talk.hear("result")
        assert result["ended"] == "stopped"
        assert 0 < result["samples"] == len(load(tmp_path / "samples.npy"))
        talk.say(command="quit")
        assert talk.status() == 0


def test_it_can_quit_before_it_starts(contender: Contender, tmp_path: Path) -> None:
    with Conversation(contender.worker.path) as talk:
        talk.hear("hello")
        talk.say(command="configure", **one_process(whole(contender), tmp_path))
        talk.hear("ready")
        talk.say(command="quit")
        assert talk.status() == 0
        assert not (tmp_path / "samples.npy").exists()


def test_it_ends_when_its_launcher_goes_away(worker: Worker) -> None:
    with Conversation(worker.path) as talk:
        talk.hear("hello")
        talk.hang_up()
        assert talk.status() == 3


def test_it_ends_when_its_launcher_goes_away_in_mid_trial(contender: Contender, tmp_path: Path) -> None:
    command = one_process(whole(contender), tmp_path)
    command["roles"][0] |= AT_A_RATE
    with Conversation(contender.worker.path) as talk:
        talk.hear("hello")
        talk.say(command="configure", **command)
        talk.hear("ready")
        talk.say(command="start")
        talk.hear("tick")
        talk.hang_up()
        assert talk.status() == 3


REFUSED: dict[str, dict[str, Any]] = {
    "an unknown transport": {"transport": "carrier-pigeon"},
    "an unknown native setting": {"native": {"no-such-setting": "1"}},
}


def refusal(worker: Worker, settings: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Configure it so; return the error that it must say before it exits with status 1."""
    with Conversation(worker.path) as talk:
        talk.hear("hello")
        talk.say(command="configure", **one_process(some(worker), scratch, **settings))
        event = talk.hear("error", "ready")
        assert event["event"] == "error", f"it took {settings}"
        assert talk.next() is None
        assert talk.status() == 1
    return event


@pytest.mark.parametrize("what", REFUSED)
def test_what_it_cannot_honour_is_refused_and_named(worker: Worker, what: str, tmp_path: Path) -> None:
    error = refusal(worker, REFUSED[what], tmp_path)
    assert error["code"] == "refused", error
    assert worker.description.name in error["text"], error


def test_what_its_transport_does_not_list_is_refused(contender: Contender, tmp_path: Path) -> None:
    offered = contender.transport
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
    for settings in lacking:
        error = refusal(contender.worker, {"transport": offered.name, **settings}, tmp_path)
        assert error["code"] == "refused", (settings, error)


def test_a_command_that_is_no_configuration_is_an_error_that_names_all_that_is_wrong(worker: Worker) -> None:
    with Conversation(worker.path) as talk:
        talk.hear("hello")
        talk.say(command="configure", settings={"transport": 5}, placement={}, roles=[])
        error = talk.hear("error")
        assert error["code"] == "configure"
        for field in ("settings.transport", "settings.scope", "placement.policy", "roles"):
            assert field in error["text"]
        assert talk.status() == 1


def test_it_can_be_ended_by_a_signal_at_any_time(worker: Worker) -> None:
    with Conversation(worker.path) as talk:
        talk.hear("hello")
        talk.process.send_signal(signal.SIGTERM)
        assert talk.status() == -signal.SIGTERM


def test_people_who_start_it_are_told_what_it_is(worker: Worker) -> None:
    told = subprocess.run([worker.path, "--no-such"], capture_output=True, text=True, check=False, timeout=30)
    assert told.returncode == 2
    assert "middlemark run" in told.stderr
