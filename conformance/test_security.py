"""Whoever has no key of the trial, or no permission, meets nobody: neither end takes it for a peer, whichever it is."""

import os
from pathlib import Path

import msgspec
import pytest
from contender import Contender, contenders
from conversation import Conversation, configure, one_process

from middlemark.model.protocol import AnyRoleRequest, Identity, Security, Settings
from middlemark.security.make import make_set

WHO = [
    pytest.param(who, level, id=f"{who.name}-{level}")
    for who in contenders()
    for level in who.transport.security
    if level != "none" and 2 in who.transport.processes and not who.transport.companions
]


def met(who: Contender, level: Security, ends: tuple[Identity, Identity], scratch: Path) -> list[bool]:
    """Say of the ping and of the pong, which have these identities, whether it found its peer."""
    make_set(str(scratch / "certs"))
    cell = msgspec.to_builtins(who.cell())
    told = one_process(cell, scratch)
    roles: tuple[AnyRoleRequest, ...] = tuple(msgspec.convert(each, AnyRoleRequest) for each in told["roles"])
    settings = msgspec.convert(told["settings"], Settings)
    settings = msgspec.structs.replace(
        settings,
        one_process=False,
        workers=2,
        scope=f"mm_direct_{os.urandom(3).hex()}",
        security=level,
        certs=str(scratch / "certs"),
    )
    with Conversation(who.worker.path) as ping, Conversation(who.worker.path) as pong:
        for talk, identity, role in zip((ping, pong), ends, roles, strict=True):
            talk.hear("hello")
            task = configure(msgspec.structs.replace(settings, identity=identity), role)
            talk.say(command="configure", **{**task, "match_timeout_s": 3.0})
        answers = [talk.next() for talk in (ping, pong)]
        for answer in answers:
            assert answer is not None
            assert answer["event"] == "ready" or answer["code"] in ("unmatched", "refused"), answer
        return [answer is not None and answer["event"] == "ready" for answer in answers]


@pytest.mark.parametrize(("who", "level"), WHO)
def test_two_with_keys_of_the_trial_meet(who: Contender, level: Security, tmp_path: Path) -> None:
    assert met(who, level, ("sender", "receiver"), tmp_path) == [True, True]


@pytest.mark.parametrize("ends", [("sender", "stranger"), ("stranger", "receiver")])
@pytest.mark.parametrize(("who", "level"), WHO)
def test_a_stranger_and_whoever_waits_for_it_meet_nobody(
    who: Contender, level: Security, ends: tuple[Identity, Identity], tmp_path: Path
) -> None:
    assert met(who, level, ends, tmp_path) == [False, False]


@pytest.mark.parametrize("ends", [("sender", "intruder"), ("intruder", "receiver")])
@pytest.mark.parametrize(("who", "level"), [each for each in WHO if each.values[0].transport.permissions])
def test_an_intruder_without_permission_and_whoever_waits_for_it_meet_nobody(
    who: Contender, level: Security, ends: tuple[Identity, Identity], tmp_path: Path
) -> None:
    assert met(who, level, ends, tmp_path) == [False, False]
