"""The proofs of a protected cell: real protection is proven, and a worker that falsely claims it is detected."""

import asyncio
import os
import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest
from descriptions import description, transport
from launching import Launching

from middlemark.model.cell import Cell
from middlemark.model.description import Worker
from middlemark.model.outcome import ProtectionProof, TrialOutcome, Underway
from middlemark.model.plan import Limits, Plan, Trial
from middlemark.sites.descendants import adopting
from middlemark.trial.proof import Proofs
from middlemark.trial.run import run_plan

NO_PERMISSIONS = "this transport has identities but no permissions"


def may_capture() -> bool:
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()
    except PermissionError:
        return False
    return True


captures = pytest.mark.skipif(not may_capture(), reason="a capture of the network needs CAP_NET_RAW")


@pytest.fixture
def launching(tmp_path: Path) -> Launching:
    launching = Launching(tmp_path)
    launching.worker = with_transport(launching.worker)
    return launching


def with_transport(worker: Worker, **changed: Any) -> Worker:
    levels = {"security": ("none", "authenticated", "encrypted"), "permissions": True, **changed}
    return msgspec.structs.replace(worker, description=description("fake", transport("memory", **levels)))


class _Silent:
    def trial_begins(self, cell: Cell, trial: Trial) -> None: ...
    def tick(self, event: Underway) -> None: ...
    def trial_ended(self, cell: Cell, outcome: TrialOutcome) -> None: ...
    def more(self, plan: Plan) -> None: ...


def proven(launching: Launching, native: dict[str, str] | None = None, **factors: Any) -> TrialOutcome:
    cell = launching.cell({"sends": "protected", **(native or {})}, **{"security": "encrypted", **factors})
    trial = Trial(order=7, cell=0, number=1, limits=Limits(duration_s=1.0, warmup_s=0.0, match_timeout_s=60.0), seed=3)

    async def measured() -> TrialOutcome:
        outcome = await launching.measure(cell)
        return await Proofs().proven(cell, trial, launching.worker, launching.shared, outcome)

    with adopting():
        outcome = asyncio.run(measured())
    assert outcome.failed is None
    return outcome


def proof_of(launching: Launching, native: dict[str, str] | None = None, **factors: Any) -> ProtectionProof:
    proof = proven(launching, native, **factors).proof
    assert proof is not None
    return proof


@captures
def test_a_proof_is_complete_and_leaves_nothing_behind(launching: Launching) -> None:
    assert proof_of(launching) == ProtectionProof(
        payload_not_seen=True, stranger_refused=True, unauthorised_refused=True
    )
    assert all(each.startswith("00007-") for each in launching.kept())
    assert not [each for each in os.listdir("/tmp") if launching.shared.token in each], (
        "the proof's own trials left files"
    )


@captures
@pytest.mark.parametrize("size", [24, 32, 1000])
def test_a_transport_that_sends_plain_payload_is_found(launching: Launching, size: int) -> None:
    proof = proof_of(launching, {"sends": "plain"}, size=size)
    assert (proof.payload_not_seen, proof.failed) == (False, ("payload-not-seen",))


@pytest.mark.parametrize(
    ("identity", "failed"), [("stranger", "stranger-refused"), ("intruder", "unauthorised-refused")]
)
def test_a_transport_that_admits_a_stranger_is_found(launching: Launching, identity: str, failed: str) -> None:
    assert proof_of(launching, {"admits": identity}, size=16).failed == (failed,)


def test_a_payload_that_is_too_short_or_not_filled_proves_nothing(launching: Launching) -> None:
    short, untouched = (proof_of(launching, **factors) for factors in ({"size": 16}, {"payload": "untouched"}))
    assert (short.payload_not_seen, untouched.payload_not_seen) == (None, None)
    assert short.absent["payload-not-seen"].startswith("a message of 16 bytes is only a header")
    assert untouched.absent["payload-not-seen"] == "a payload that is not filled has no pattern to recognise"


def test_a_level_that_does_not_encrypt_needs_no_payload_proof(launching: Launching) -> None:
    proof = proof_of(launching, security="authenticated")
    assert proof.absent == {"payload-not-seen": "authenticated does not hide the payload"}
    assert (proof.payload_not_seen, proof.stranger_refused) == (None, True)


@captures
def test_a_capture_that_does_not_even_see_plain_payload_proves_nothing(launching: Launching) -> None:
    fake = Path(launching.worker.path)
    fake.write_text(fake.read_text().replace('self.settings.get("security", "none") == "none" or', "False or"))
    proof = proof_of(launching)
    assert proof.absent == {"payload-not-seen": "the capture does not show the payload even with security none"}


def test_without_permissions_the_unauthorised_proof_is_absent(launching: Launching) -> None:
    launching.worker = with_transport(launching.worker, permissions=False)
    proof = proof_of(launching, {"admits": "intruder"})
    assert (proof.unauthorised_refused, proof.absent["unauthorised-refused"]) == (None, NO_PERMISSIONS)


def test_a_stranger_that_dies_proves_nothing(launching: Launching) -> None:
    fake = Path(launching.worker.path)
    fake.write_text(fake.read_text().replace('code="unmatched"', 'code="internal"'))
    proof = proof_of(launching)
    assert proof.stranger_refused is None
    assert proof.absent["stranger-refused"].startswith("the stranger failed for another reason: subscriber 0: ")


def test_within_one_process_the_stranger_proof_is_absent(launching: Launching) -> None:
    proof = proof_of(launching, processes=1)
    assert (
        proof.absent["stranger-refused"]
        == "there is only one process, with one identity, so there is no peer to refuse"
    )


@captures
def test_a_cell_is_proven_once_and_a_failed_trial_is_not(launching: Launching) -> None:
    cells = (
        launching.cell({"sends": "protected"}, security="encrypted"),
        launching.cell({"sends": "protected"}),
        launching.cell({"sends": "protected", "at": "publisher 0", "does": "fail"}, security="encrypted"),
    )
    limits = Limits(duration_s=1.0, warmup_s=0.0, match_timeout_s=60.0)
    order = [(0, 1), (1, 1), (2, 1), (0, 2)]
    trials = tuple(
        Trial(order=at, cell=cell, number=number, limits=limits, seed=3) for at, (cell, number) in enumerate(order)
    )
    plan = Plan(cells=cells, trials=trials, names=("", "", ""), notes=(), seed=3)
    kept: list[TrialOutcome] = []
    proofs = Proofs()
    assert run_plan(plan, {"fake": launching.worker}, launching.shared, kept.append, _Silent(), proofs)
    assert [each.proof is not None for each in kept] == [True, False, False, False]
    kept.clear()
    again = msgspec.structs.replace(plan, trials=trials[-1:])
    assert run_plan(again, {"fake": launching.worker}, launching.shared, kept.append, _Silent(), Proofs())
    assert [each.proof is not None for each in kept] == [True]
