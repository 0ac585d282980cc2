"""Find the cells of a plan that cannot be measured, before anything starts: ask adapters, try links and settings."""

import asyncio
from collections.abc import Mapping

import msgspec

from middlemark.model.cell import SEARCHES, Cell
from middlemark.model.description import Transport, Worker
from middlemark.model.pairs import worker_of
from middlemark.model.plan import Plan, Trial
from middlemark.model.protocol import ErrorEvent
from middlemark.model.user_file import KEY
from middlemark.sites.channel import WorkerFailedError
from middlemark.sites.link import join
from middlemark.sites.residue import scratch_folder
from middlemark.sites.trial_settings import refused as refused_setting
from middlemark.trial.tasks import tasks_of
from middlemark.workers.ask import NoAnswerError, ask

ANSWER_S = 60.0

_ANSWER = msgspec.json.Decoder(ErrorEvent | None)


async def refusals(plan: Plan, workers: Mapping[str, Worker], interface: str) -> dict[int, ErrorEvent]:
    """Return index of a cell → refusal.

    If an adapter does not answer, none of its cells is refused: its trials will fail. A middleware keeps a
    configuration file that it has loaded, so each of a user's own files is tried in a process of its own.
    """
    first = {trial.cell: trial for trial in reversed(plan.trials)}
    asked: dict[tuple[str, str | None], list[tuple[int, bytes]]] = {}
    with scratch_folder() as scratch:  # a configuration file may make the middleware write files
        for number, cell in enumerate(plan.cells):
            transport = worker_of(cell.sides, workers).description.transport(cell.transport)
            assert transport is not None, "the plan checked it"
            for far, line in _commands(cell, first[number], transport, interface, scratch):
                asked.setdefault((cell.sides[far], dict(cell.native).get(KEY)), []).append((number, line))
        answers = await asyncio.gather(*(_asked(workers[adapter], lines) for (adapter, _), lines in asked.items()))
    found = {number: error for refused in answers for number, error in refused.items()}
    for link in dict.fromkeys(cell.link for cell in plan.cells if cell.link is not None):
        try:
            (await join(link)).end()
        except WorkerFailedError as error:
            refused = ErrorEvent(code="refused", text=f"link {link}: {error.text}", advice=error.advice)
            found |= {number: refused for number, cell in enumerate(plan.cells) if cell.link == link}
    for level in dict.fromkeys(cell.system for cell in plan.cells if cell.system is not None):
        if (reason := refused_setting(level)) is not None:
            refused = ErrorEvent(code="refused", text=reason.text, advice=reason.advice)
            found |= {number: refused for number, cell in enumerate(plan.cells) if cell.system == level}
    return dict(sorted(found.items()))


def _commands(cell: Cell, trial: Trial, transport: Transport, interface: str, scratch: str) -> list[tuple[bool, bytes]]:
    """Return (worker receives, configure command as a line) for the cell's workers.

    Workers with the same roles share a command.
    """
    if cell.rate in SEARCHES:  # steps of a search differ only in the rate, which the middleware does not get
        cell = msgspec.structs.replace(cell, rate="max")
    tasks = tasks_of(
        cell,
        trial.limits,
        transport,
        seed=trial.seed,
        samples_stem="/",
        domain=trial.domain or 0,
        scope="mm_checked",
        scratch=scratch,
        interface=interface,
    )
    unlike = {
        tuple((type(role), getattr(role, "echoes", None)) for role in each.roles): (
            each.far,
            msgspec.json.encode(tasks.command(each)),
        )
        for each in tasks.workers
    }
    return list(unlike.values())


async def _asked(worker: Worker, lines: list[tuple[int, bytes]]) -> dict[int, ErrorEvent]:
    try:
        answer = await ask([worker.path, "--check"], b"".join(line + b"\n" for _, line in lines), timeout_s=ANSWER_S)
    except NoAnswerError:
        return {}
    refused: dict[int, ErrorEvent] = {}
    for (number, _), line in zip(lines, answer.out.splitlines(), strict=False):
        try:
            error = _ANSWER.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            break
        if error is not None:
            refused.setdefault(number, error)
    return refused
