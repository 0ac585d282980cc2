"""Tests that security levels are in force: the proofs are true, and a peer without a valid key finds no other peer."""

import os
from pathlib import Path

import msgspec
import pytest
from candidate import Candidate, is_brief, levels_of_security, selected
from conversation import Conversation, configure, one_process
from runner import Runner
from variants import ROUND_TRIPS, STREAM

from middlemark.model.plan import Limits
from middlemark.model.protocol import AnyRoleRequest, Identity, Security, Settings
from middlemark.security.authority import make_set
from middlemark.sites.tapping import NOT_PERMITTED

PROTECTED = [
    (who, level) for who in selected() for level in levels_of_security(who.transport) if 2 in who.transport.processes
]
STRONGEST = {who.worker.description.name: (who, level) for who, level in PROTECTED}
"""The last transport of each adapter, with its last level."""
PROVEN = [(*each, ROUND_TRIPS) for each in PROTECTED]
if not is_brief():  # one stream per adapter: a proof takes seconds, and adapters protect all patterns alike
    PROVEN += [(*each, STREAM) for each in STRONGEST.values()]
DIRECT = [(who, level) for who, level in PROTECTED if not who.transport.companions]
WHO = [pytest.param(who, level, id=f"{who.name}-{level}") for who, level in DIRECT]
PERMITTED = [pytest.param(who, level, id=f"{who.name}-{level}") for who, level in DIRECT if who.transport.permissions]
UNSEEN = ("unix-socket", "message-queue")
"""Transports whose messages a network capture does not contain."""


def matched(who: Candidate, level: Security, ends: tuple[Identity, Identity], scratch: Path) -> list[bool]:
    """Start a ping and a pong with these identities. Return for each whether it found the other."""
    make_set(str(scratch / "certs"))
    cell = msgspec.to_builtins(who.cell())
    command = one_process(cell, scratch)
    roles: tuple[AnyRoleRequest, ...] = tuple(msgspec.convert(each, AnyRoleRequest) for each in command["roles"])
    settings = msgspec.convert(command["settings"], Settings)
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
            talk.expect("hello")
            task = configure(msgspec.structs.replace(settings, identity=identity), role)
            talk.send(command="configure", **{**task, "match_timeout_s": 3.0})
        answers = [talk.next() for talk in (ping, pong)]
        for answer in answers:
            assert answer is not None
            assert answer["event"] == "ready" or answer["code"] in ("unmatched", "refused"), answer
        return [answer is not None and answer["event"] == "ready" for answer in answers]


@pytest.mark.parametrize(("who", "level"), WHO)
def test_two_peers_with_the_trials_keys_find_each_other(who: Candidate, level: Security, tmp_path: Path) -> None:
    assert matched(who, level, ("sender", "receiver"), tmp_path) == [True, True]


@pytest.mark.parametrize("ends", [("sender", "stranger"), ("stranger", "receiver")])
@pytest.mark.parametrize(("who", "level"), WHO)
def test_a_stranger_and_its_peer_do_not_find_each_other(
    who: Candidate, level: Security, ends: tuple[Identity, Identity], tmp_path: Path
) -> None:
    assert matched(who, level, ends, tmp_path) == [False, False]


@pytest.mark.parametrize(
    ("who", "level", "pattern"),
    [pytest.param(who, level, pattern, id=f"{pattern}-{who.name}-{level}") for who, level, pattern in PROVEN],
)
def test_the_proofs_are_true(who: Candidate, level: Security, pattern: str, runner: Runner) -> None:
    """Check that each proof is true, or null if it cannot be made for this transport and level."""
    cell = who.cell(security=level, pattern=pattern)
    proof = runner.proof(who, cell, Limits(samples=200, warmup_s=0.05))
    assert (proof.failed, proof.stranger_refused) == ((), True), proof
    assert proof.unauthorised_refused is (True if who.transport.permissions else None), proof
    if level != "encrypted" or who.transport.carrier in UNSEEN:
        assert proof.payload_not_seen is None, proof
    elif proof.absent.get("payload-not-seen") != NOT_PERMITTED:
        assert proof.payload_not_seen is True, proof


@pytest.mark.parametrize("ends", [("sender", "intruder"), ("intruder", "receiver")])
@pytest.mark.parametrize(("who", "level"), PERMITTED)
def test_an_intruder_without_permission_and_its_peer_do_not_find_each_other(
    who: Candidate, level: Security, ends: tuple[Identity, Identity], tmp_path: Path
) -> None:
    assert matched(who, level, ends, tmp_path) == [False, False]
