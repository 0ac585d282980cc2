"""Hand-made results: every kind of row that a report can have, with unusual names and hostile texts."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest

from middlemark import show
from middlemark.document import document_of, with_experiments
from middlemark.model.cell import Cell
from middlemark.model.description import Description
from middlemark.model.outcome import Failure, RunWarning, TrialCounts, TrialOutcome
from middlemark.model.plan import Limits, Note, Plan, Trial
from middlemark.model.protocol import Clock
from middlemark.model.run import Machine, RunFile
from middlemark.model.samples import NOT_MEASURED, SAMPLE
from middlemark.model.times import Summary
from middlemark.show import View
from middlemark.stats.result import CellResult
from middlemark.stats.samples import Samples
from middlemark.verdicts.rows import MeasuredRun
from outputs import read_output

PINNED = (0, 1)


def times(p50: float, *, few: bool = False) -> Summary:
    """Return a plausible distribution around a median in ns. ``few``: no quantiles above p90, as for few samples."""
    return Summary(
        min=p50 * 0.8,
        mean=p50 * 1.1,
        stdev=p50 * 0.25,
        p50=p50,
        p90=p50 * 1.25,
        p99=None if few else p50 * 2,
        p99_9=None if few else p50 * 6.5,
        max=p50 * 40,
    )


def made(cell: Cell, p50: float | None, **given: object) -> CellResult:
    figures: dict[str, object] = {
        "name": "first-look",
        "version": {"fastdds": "2.9.1", "cyclonedds": "0.10.2"}.get(cell.adapter, "0.1.0"),
        "trials": 3,
        "failed_trials": 0,
        "samples": 30_000,
        "counts": TrialCounts(sent=30_000, received=30_000),
        "actual_transport": "shared-memory" if cell.transport == "shm" else cell.transport,
        "round_trip_ns": times(p50) if p50 is not None else None,
        "first_reply_ns": None,
        "write_ns": times(p50 / 5) if p50 is not None else None,
        "take_ns": times(p50 / 10) if p50 is not None else None,
        "loan_ns": None,
        "fill_ns": times(20.0) if p50 is not None else None,
        "check_ns": times(25.0) if p50 is not None else None,
        "discovery_ns": 103_000_000.0,
        "times_raw_transport": None,
        "raw_transport": None,
        "warnings": (),
        "failed": None,
    }
    return CellResult(cell=cell, **(figures | given))  # type: ignore[arg-type]


def described(name: str, title: str, version: str, licence: str, *, is_raw_transport: bool = False) -> Description:
    return Description(
        protocol=1, name=name, title=title, version=version, library="", licence=licence,
        is_raw_transport=is_raw_transport, bench_only=False, request_reply=False, own_threads=False,
        residue=(), native={}, transports=(),
    )  # fmt: skip


@pytest.fixture
def facts() -> MeasuredRun:
    """A complete run on a small machine, without results; ``render`` adds them."""
    clock = Clock(source="tsc", ticks_per_second=2.45e9, cost_ns=9.1, resolution_ns=0.41)
    trials = range(36)
    return MeasuredRun(
        folder=Path("runs/2026-03-01T12-00-00-first-look"),
        file=RunFile(
            middlemark="0.1.0",
            suites=("first-look",),
            command=(),
            started="2026-03-01T12:00:00Z",
            ended="2026-03-01T12:02:41.400Z",
            seed=42,
            machine=Machine(
                host="bench-7", cpu="AMD EPYC 7B13", processors=2, memory_bytes=1 << 33, kernel="6.1.0-18-amd64",
                system="Debian GNU/Linux 12 (bookworm)", virtual=True, clocksource="tsc", governor=None,
            ),
            adapters=(
                described("shm", "Shared memory", "0.1.0", "Apache-2.0", is_raw_transport=True),
                described("udp", "UDP", "0.1.0", "Apache-2.0", is_raw_transport=True),
                described("cyclonedds", "Eclipse Cyclone DDS", "0.10.2", "EPL-2.0"),
                described("fastdds", "eProsima Fast DDS", "2.9.1", "Apache-2.0"),
                described("<script>", "Odd", "[red]1", "MIT"),
            ),
            plan=Plan(
                cells=(),
                trials=tuple(Trial(order=at, cell=0, number=at, limits=Limits(samples=10)) for at in trials),
                names=(),
                notes=(Note("first-look", "size: 8 is below the smallest message and became 16"),),
            ),
        ),
        outcomes=tuple(
            TrialOutcome(cell=0, number=at, order=at, started="", seconds=1.0, clock=clock) for at in trials
        ),
        trials=(),
        results=(),
        samples=lambda _: None,
        kept=lambda _: pytest.fail("nothing was kept"),
    )  # fmt: skip


def render(name: str, facts: MeasuredRun, results: Sequence[CellResult], view: View | None = None) -> str:
    """Return the document of these results in this format. Check machine-readable formats against their schema."""
    run = msgspec.structs.replace(facts, results=results, trials=[()] * len(results))
    text = show.render(name, with_experiments(document_of([run])), view or View())
    if name == "json":
        read_output("run", text)
    return text


def _cell(adapter: str, transport: str, size: int = 1024, **levels: object) -> Cell:
    return Cell(adapter=adapter, transport=transport, size=size, pin=PINNED, **levels)  # type: ignore[arg-type]


@pytest.fixture
def results() -> tuple[CellResult, ...]:
    """Two sizes: losses, a wrong actual transport, a failure, missing quantiles, disagreeing trials."""
    loss = RunWarning(
        "loss",
        "75 of 30,075 replies never arrived (0.25 %); the latency is that of the others (in 2 of 3 trials)",
        "--reliability reliable asks the middleware to send again what was lost",
    )
    contradicted = RunWarning(
        "transport-contradicted",
        "asked for shm (which is shared-memory); the actual transport is udp (in 3 of 3 trials)",
        "do not quote this row as shm: the middleware chose another way",
    )
    few = RunWarning(
        "few-samples", "a median needs 20 samples and no trial has more than 12", "measure longer: --duration 2s"
    )
    return (
        made(_cell("cyclonedds", "udp"), 31_400.0, times_raw_transport=31_400 / 18_200, raw_transport="udp"),
        made(
            _cell("cyclonedds", "shm"),
            38_900.0,
            actual_transport="udp",
            times_raw_transport=38_900 / 12_300,
            raw_transport="shm",
            warnings=(contradicted,),
        ),
        made(
            _cell("fastdds", "shm", loan=True),
            29_800.0,
            times_raw_transport=29_800 / 11_900,
            raw_transport="shm (loan)",
            loan_ns=times(410.0),
        ),
        made(
            _cell("fastdds", "udp", reliability="best-effort"),
            44_000.0,
            samples=29_925,
            counts=TrialCounts(sent=30_000, received=29_925, lost=75),
            times_raw_transport=44_000 / 18_200,
            raw_transport="udp",
            warnings=(loss,),
        ),
        made(
            _cell("fastdds", "data-sharing"),
            None,
            trials=0,
            failed_trials=3,
            samples=0,
            counts=TrialCounts(),
            actual_transport=None,
            discovery_ns=None,
            failed=Failure(
                "crashed",
                "the pong was killed by SIGSEGV; its last words: [bold]no memory[/bold] \x1b[31mleft\x1b[0m",
                "run it alone: --only adapter=fastdds",
            ),
        ),
        made(
            _cell("<script>", "udp"),
            None,
            round_trip_ns=Summary(min=15_000.0, mean=18_000.0, stdev=1_000.0, max=21_000.0),
            samples=36,
            counts=TrialCounts(sent=36, received=36),
            warnings=(few,),
        ),
        made(_cell("shm", "shm"), 12_300.0, times_raw_transport=1.0, raw_transport="shm"),
        made(_cell("shm", "shm", loan=True), 11_900.0, times_raw_transport=1.0, raw_transport="shm (loan)"),
        made(_cell("udp", "udp"), 18_200.0, times_raw_transport=1.0, raw_transport="udp"),
        made(
            _cell("cyclonedds", "udp", 1 << 20),
            2_140_000.0,
            trials=2,
            failed_trials=1,
            samples=4_210,
            counts=TrialCounts(sent=4_212, received=4_210, lost=2),
            round_trip_ns=times(2_140_000.0, few=True),
            times_raw_transport=2_140_000 / 391_000,
            raw_transport="udp",
            warnings=(
                RunWarning(
                    "loss",
                    "2 of 4,212 replies never arrived (0.047 %); the latency is that of the others (in 1 of 2 trials)",
                    "give the history more room (--depth all)",
                ),
                RunWarning("trials-failed", "1 of 3 trials failed; the first: the ping was stopped by SIGKILL"),
                RunWarning(
                    "trials-disagree", "the medians of its 2 trials go from 1840 to 2920 µs", "quiet the machine"
                ),
            ),
        ),
        made(_cell("udp", "udp", 1 << 20), 391_000.0, times_raw_transport=1.0, raw_transport="udp"),
    )


@pytest.fixture
def fan_out() -> tuple[CellResult, ...]:
    """Polling and blocking, one and three subscribers, keep-all, a priority, native settings."""
    return (
        made(_cell("shm", "shm", receive="poll"), 1_400.0, times_raw_transport=1.0, raw_transport="shm"),
        made(_cell("fastdds", "shm", receive="poll"), 6_120.0, times_raw_transport=6.12 / 1.4, raw_transport="shm"),
        made(_cell("fastdds", "shm"), 31_000.0, times_raw_transport=None, raw_transport=None),
        made(
            _cell("fastdds", "shm", subscribers=3, native=(("segment_bytes", "8388608"),)),
            52_000.0,
            first_reply_ns=times(41_000.0),
        ),
        made(_cell("fastdds", "shm", subscribers=3, echo="first", depth=None), 36_500.0),
        made(_cell("fastdds", "shm", receive="listen", priority="fifo:80"), 27_700.0, take_ns=None),
    )


def _trial(seconds: float, period_ns: int, *, take: bool) -> Samples:
    count = int(seconds * 1e9 / period_ns)
    samples = np.zeros(count, dtype=SAMPLE)
    samples["sequence"] = np.arange(1, count + 1)
    samples["begin_ns"] = np.arange(count) * period_ns
    # Round trips of 20,000 to 29,900 ns in steps of 100, repeated.
    samples["round_trip_ns"] = 20_000 + np.arange(count) % 100 * 100
    samples["first_reply_ns"] = samples["round_trip_ns"]
    samples["write_ns"] = 4_000 + np.arange(count) % 10
    samples["take_ns"] = 1_600 if take else NOT_MEASURED
    for field in ("loan_ns", "fill_ns", "check_ns"):
        samples[field] = NOT_MEASURED
    samples["replies"] = 1
    return samples


@pytest.fixture
def samples_of() -> Callable[[int], list[Samples]]:
    """Two trials for each cell: one of 2.5 s at 1 kHz without messages from second 1 to 2, and one of 0.1 s."""
    long = _trial(2.5, 1_000_000, take=True)
    second = long["begin_ns"] // 1_000_000_000 == 1
    return lambda _: [long[~second], _trial(0.1, 500_000, take=False)]
