"""Time of each stage of a large run's report, and the report's size.

Usage: python bench/report.py [CELLS] [TRIALS] [SAMPLES]

Makes a run of 1,000 cells with 10 trials each (by default), with small files of samples, in a temporary folder. Then
reads it, computes its results, makes its document and writes it as Markdown and as HTML, as ``middlemark report`` does.
"""

import itertools
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import numpy as np

from middlemark.document import document_of, with_verdicts
from middlemark.model.cell import Cell
from middlemark.model.description import Description, Transport
from middlemark.model.outcome import Second, TrialCounts, TrialOutcome, WorkerCost
from middlemark.model.plan import Limits, Plan, Trial
from middlemark.model.protocol import Clock, Reliability
from middlemark.model.run import Machine, RunFile
from middlemark.model.samples import NOT_MEASURED, SAMPLE
from middlemark.problems import MeasureError
from middlemark.runs.read import read_measured
from middlemark.show import View, markdown
from middlemark.show.html import render_html
from middlemark.show.html.data import data_of
from middlemark.store import open_run

ADAPTERS = ("udp", "cyclonedds", "fastdds", "zenoh", "zeromq")
TRANSPORTS = ("udp", "shm")
SIZES = [16 << shift for shift in range(25)]


def main() -> None:
    """Print a line for each stage."""
    cells, trials, samples = (int(argument) for argument in [*sys.argv[1:], "1000", "10", "200"][:3])
    with tempfile.TemporaryDirectory() as root:
        folder = _run(Path(root), cells, trials, samples)
        begin = time.perf_counter()
        run = _timed("read and summarise", lambda: read_measured(folder))
        document = _timed("gather", lambda: document_of([run], generated="2026-01-01T00:00:00Z", middlemark="0"))
        document = _timed("judge", lambda: with_verdicts(document, [run]))
        block = _timed("encode", lambda: msgspec.json.encode(data_of(document)))
        print(f"{len(document.rows)} cells, {len(document.comparisons)} comparisons, {len(block) / 1e6:.2f} MB of data")
        text = _timed("Markdown", lambda: markdown.render(document, View()))
        print(f"{len(text) / 1e6:.2f} MB of Markdown")
        try:
            page = _timed("HTML", lambda: render_html(document))
            print(f"{len(page.encode()) / 1e6:.2f} MB of HTML")
        except MeasureError as error:
            print(f"no HTML: {error}")
        print(f"{time.perf_counter() - begin:.2f} s in all")


def _timed(what: str, stage: Any) -> Any:
    begin, used = time.perf_counter(), time.process_time()
    found = stage()
    print(f"{time.perf_counter() - begin:6.2f} s, {time.process_time() - used:6.2f} s of processor  {what}")
    return found


def _cells(number: int) -> Iterator[Cell]:
    levels = itertools.product(SIZES, get_args(Reliability), (False, True), TRANSPORTS, ADAPTERS)
    for size, reliability, loan, transport, adapter in itertools.islice(itertools.cycle(levels), number):
        yield Cell(adapter=adapter, transport=transport, size=size, reliability=reliability, loan=loan, pin=(0, 1))


def _run(root: Path, number: int, trials: int, samples: int) -> Path:
    cells = tuple(dict.fromkeys(_cells(number)))
    plan = Plan(
        cells=cells,
        trials=tuple(
            Trial(order=turn * len(cells) + at, cell=at, number=turn + 1, limits=Limits(samples=samples))
            for turn in range(trials)
            for at in range(len(cells))
        ),
        names=("bench",) * len(cells),
    )
    machine = Machine(
        host="bench", cpu="A processor", processors=2, memory_bytes=1 << 34, kernel="6.1", system="Debian",
        virtual=True, clocksource="tsc", governor=None,
    )  # fmt: skip
    file = RunFile(
        middlemark="0", suites=("bench",), command=("middlemark", "run", "bench"), started="2026-01-01T00:00:00+00:00",
        seed=1, machine=machine, adapters=tuple(map(_described, ADAPTERS)), plan=plan,
    )  # fmt: skip
    writer = open_run(root, file)
    draw = np.random.default_rng(1)
    lines = []
    for trial in plan.trials:
        cell = cells[trial.cell]
        lines.append(msgspec.json.encode(_outcome(writer.folder, trial, cell, samples, draw)))
    (writer.folder / "trials.jsonl").write_bytes(
        b"\n".join(lines) + b"\n"
    )  # append() would wait for the disk each time
    writer.close()
    return writer.folder


def _outcome(folder: Path, trial: Trial, cell: Cell, samples: int, draw: np.random.Generator) -> TrialOutcome:
    usual = 10_000 * (1 + ADAPTERS.index(cell.adapter) / 5) * (1 + TRANSPORTS.index(cell.transport) / 3) + cell.size / 8
    raw = np.zeros(samples, dtype=SAMPLE)
    raw["round_trip_ns"] = usual * draw.lognormal(0, 0.3, samples) * draw.lognormal(0, 0.02)
    raw["begin_ns"] = np.cumsum(raw["round_trip_ns"])
    raw["write_ns"] = usual / 5
    for field in ("take_ns", "loan_ns", "fill_ns", "check_ns"):
        raw[field] = NOT_MEASURED
    path = f"samples/{trial.order:05d}.npy"
    np.save(folder / path, raw)
    cost = WorkerCost(
        who="ping", pid=1, seconds=0.5, rss_bytes=10_000_000, peak_rss_bytes=12_000_000, user_ns=10**8, system_ns=10**8,
        voluntary_switches=1000, involuntary_switches=3, minor_faults=0, major_faults=0, threads=(),
    )  # fmt: skip
    return TrialOutcome(
        cell=trial.cell, number=trial.number, order=trial.order, started="2026-01-01T00:00:00+00:00", seconds=0.5,
        samples=samples, samples_file=path, measured_s=0.5, counts=TrialCounts(sent=samples, received=samples),
        clock=Clock(source="tsc", ticks_per_second=2.5e9, cost_ns=9.0, resolution_ns=0.4),
        actual_transport={"udp": "udp", "shm": "shared-memory"}[cell.transport], costs=(cost,),
        series=(Second(at_s=0.5, seconds=0.5, who="ping", sent=samples, received=samples),),
    )  # fmt: skip


def _described(name: str) -> Description:
    return Description(
        protocol=1, name=name, title=name, version="1", library="", licence="MIT", is_raw_transport=name == "udp",
        bench_only=False, request_reply=False, own_threads=False, residue=(), native={},
        transports=tuple(
            Transport(
                name=transport, carrier={"udp": "udp", "shm": "shared-memory"}[transport], processes=(2,),
                receive=("block",), reliability=("reliable", "best-effort"), loan=(False, True), max_bytes=1 << 30,
            )
            for transport in TRANSPORTS
        ),
    )  # fmt: skip


if __name__ == "__main__":
    main()
