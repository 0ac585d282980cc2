"""Prove once for each cell, in short extra trials, that its protection is in force: docs/decisions/0047."""

import contextlib
import glob
import os
from collections.abc import Iterable, Mapping

import msgspec

from middlemark.model.cell import SEARCHES, Cell
from middlemark.model.description import Transport, Worker
from middlemark.model.outcome import ProtectionProof, TrialOutcome, Underway
from middlemark.model.plan import Limits, Trial
from middlemark.model.protocol import Identity
from middlemark.security.layout import files
from middlemark.security.payload import LEAST_BYTES
from middlemark.sites.channel import WorkerFailedError
from middlemark.sites.processes import INTERRUPTED_GRACE_S
from middlemark.sites.session import Captured
from middlemark.trial.measurement import Measurement
from middlemark.trial.observe import Observed, Shared, new_outcome, observe_trial, samples_stem, scope_of, setup_of

CAPTURED_S = 0.2
"""The duration of a capture in s. At a low rate, it lasts until three messages were sent."""
MOST_CAPTURED_S = 3.0
LEAST_MEETING_S = 1.0
MEETINGS = 4
"""A refused worker may try to connect for this multiple of the peers' discovery time."""
_MEDIA = {"udp": "network", "tcp": "network", "shared-memory": "shared-memory"}
_REFUSED = ("unmatched", "refused")
"""The codes of failures of a worker that could not connect. Other failures do not prove a refusal."""

PARTS = ("payload_not_seen", "stranger_refused", "unauthorised_refused")
ONE_THREAD = "the cell runs in one thread, so no message leaves it, and there is no peer to refuse"

MeetingResults = tuple[list[WorkerFailedError | None], list[WorkerFailedError | None]]
Answer = bool | str
"""True or False, or the reason why the answer is unknown."""


class Proofs:
    """The proofs of a run's cells."""

    def __init__(self, outcomes: Iterable[TrialOutcome] = ()) -> None:
        """Create it with the proofs in ``outcomes``, the outcomes of earlier trials."""
        self._proven = {each.cell for each in outcomes if each.proof}
        self._refused: dict[tuple[Cell, Identity], Answer] = {}

    async def proven(
        self, cell: Cell, trial: Trial, worker: Worker, shared: Shared, outcome: TrialOutcome
    ) -> TrialOutcome:
        """Return the outcome of a trial of the cell with the proof of the cell's protection.

        If an earlier trial has the proof, return the outcome unchanged.
        """
        if cell.security == "none" or outcome.failed is not None or trial.cell in self._proven:
            return outcome
        if not cell.subscribers:
            return msgspec.structs.replace(outcome, proof=_proof(dict.fromkeys(PARTS, ONE_THREAD)))
        if cell.rate in SEARCHES:
            cell = msgspec.structs.replace(cell, rate="max", burst=None)
        trying = _Trying(cell, trial, worker, shared, outcome.discovery_ns or 0)
        answers = {
            "payload_not_seen": await trying.payload_not_seen(),
            "stranger_refused": await self._refusal(trying, "stranger"),
            "unauthorised_refused": await self._refusal(trying, "intruder")
            if trying.transport.permissions
            else "this transport has identities but no permissions",
        }
        self._proven.add(trial.cell)
        return msgspec.structs.replace(outcome, proof=_proof(answers))

    async def _refusal(self, trying: "_Trying", identity: Identity) -> Answer:
        """Return whether the peers refuse the identity. Cells that differ only in their messages share one answer."""
        same = msgspec.structs.replace(trying.cell, size=0, rate=None, burst=None, payload="filled")
        if (same, identity) not in self._refused:
            self._refused[same, identity] = await trying.refused(identity)
        return self._refused[same, identity]


def _proof(answers: Mapping[str, Answer]) -> ProtectionProof:
    known = {name: answer for name, answer in answers.items() if isinstance(answer, bool)}
    absent = {name.replace("_", "-"): answer for name, answer in answers.items() if isinstance(answer, str)}
    return ProtectionProof(**known, absent=absent)


class _Trying:
    """The extra trials that prove one cell's protection. Their results are discarded."""

    def __init__(self, cell: Cell, trial: Trial, worker: Worker, shared: Shared, discovery_ns: int) -> None:
        transport = worker.description.transport(cell.transport)
        assert transport is not None, "the plan checked it"
        self.cell = cell
        self.transport: Transport = transport
        self._trial = msgspec.structs.replace(trial, limits=_short(cell, trial.limits))
        self._worker = worker
        self._shared = shared
        self._discovery_s = discovery_ns / 1e9

    async def payload_not_seen(self) -> Answer:
        """Return True if the capture does not show the payload, and the capture of an unprotected trial shows it."""
        if why := _unrecognisable(self.cell, self.transport):
            return why
        protected = await self._captured(self.cell, "_protected")
        if protected.captured is not None and protected.captured.holds_payload:
            return False
        if why := _uncaptured(protected, self.cell.size):
            return why
        plain = await self._captured(msgspec.structs.replace(self.cell, security="none"), "_plain")
        if plain.captured is None:
            failed = plain.outcome.failed.text if plain.outcome.failed else "no capture"
            return f"the same trial with security none failed: {failed}"
        return plain.captured.holds_payload or "the capture does not show the payload even with security none"

    async def _captured(self, cell: Cell, part: str) -> Observed:
        try:
            return await observe_trial(
                cell, self._trial, self._worker, self._shared, _ignore_tick, part=part, captures=True
            )
        finally:
            stem = glob.escape(os.path.join(self._shared.folder, samples_stem(self._trial, part)))
            for path in glob.glob(f"{stem}-*.npy"):
                with contextlib.suppress(OSError):
                    os.unlink(path)

    async def refused(self, identity: Identity) -> Answer:
        """Return whether the peers refuse receiving workers that try to connect with this identity."""
        if self.cell.processes == 1:
            return "there is only one process, with one identity, so there is no peer to refuse"
        limits = self._trial.limits
        patience_s = min(limits.match_timeout_s, max(LEAST_MEETING_S, MEETINGS * self._discovery_s))
        limits = msgspec.structs.replace(limits, match_timeout_s=patience_s)
        trial = msgspec.structs.replace(self._trial, limits=limits)
        try:
            senders, others = await self._try_to_meet(trial, identity)
        except (WorkerFailedError, OSError) as error:
            return f"the trial with the {identity} failed: {error}"
        if not others:
            return "every process sends, so no process can use another identity"
        if (
            None in senders and None in others
        ):  # with None on one side only, the worker believes that it is connected, but the peers do not
            return False
        other = next((each for each in (*senders, *others) if each and each.code not in _REFUSED), None)
        return f"the {identity} failed for another reason: {other.text}" if other else True

    async def _try_to_meet(self, trial: Trial, identity: Identity) -> MeetingResults:
        part = f"_{identity}"
        session = await self._shared.here.begin(self.cell, self._worker, scope_of(trial, self._shared, part))
        try:
            self._refuse_absent(identity, session.grounds[1].certs)
            setup = setup_of(self.cell, trial, self._worker, self._shared, session, part=part, receiver=identity)
            return await Measurement(setup, session, _ignore_tick, new_outcome(trial)).try_to_meet()
        finally:
            await session.close(INTERRUPTED_GRACE_S)

    def _refuse_absent(self, identity: Identity, certs: str) -> None:
        """Raise WorkerFailedError if the user's own certificates have no such identity.

        Certificates that Middlemark makes have every identity.
        """
        if not os.path.isdir(certs):
            return
        for file in files(self._worker.description.credentials, (identity,)):
            if file.name.startswith(identity) and not os.path.exists(os.path.join(certs, file.name)):
                raise WorkerFailedError("refused", f"there is no {file.name} in {certs}")


def _ignore_tick(_: Underway) -> None:
    """Do nothing: nobody watches the progress of these trials."""


def _short(cell: Cell, limits: Limits) -> Limits:
    rate = cell.rate if isinstance(cell.rate, float | int) else None
    seconds = min(MOST_CAPTURED_S, max(CAPTURED_S, 3 / rate)) if rate else CAPTURED_S
    return msgspec.structs.replace(limits, samples=None, duration_s=seconds, warmup_s=0.0)


def _unrecognisable(cell: Cell, transport: Transport) -> str:
    """Return why a capture cannot show the payload; empty: a capture can show it."""
    if cell.security != "encrypted":
        return f"{cell.security} does not hide the payload"
    if cell.payload != "filled":
        return "a payload that is not filled has no pattern to recognise"
    if cell.size < LEAST_BYTES and cell.workload is None:
        return f"a message of {cell.size} bytes is only a header and has no payload to recognise"
    return "" if "none" in transport.security else "the transport has no security level none to compare with"


def _uncaptured(protected: Observed, size: int) -> str:
    """Return why the capture of the protected trial proves nothing; empty: the capture has the trial's messages."""
    captured = protected.captured
    if captured is None:
        failed = protected.outcome.failed
        return f"the captured trial failed: {failed.text if failed else 'no capture'}"
    carrier = protected.outcome.actual_transport
    if carrier is not None and carrier not in _MEDIA:
        return f"traffic over {carrier} cannot be captured"
    media = [_MEDIA[carrier]] if carrier else list(_MEDIA.values())
    return "" if any(captured.bytes.get(each, 0) >= size for each in media) else _nothing(captured, media)


def _nothing(captured: Captured, media: Iterable[str]) -> str:
    absent = [captured.absent[each] for each in media if each in captured.absent]
    return "; ".join(dict.fromkeys(absent)) or "the capture contains less than one message"
