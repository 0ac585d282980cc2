"""A stored run, read for export, and files that are whole or not there."""

import datetime
import importlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from middlemark import exits
from middlemark.commands.comparing import Asked, missed, pairings_of
from middlemark.commands.facts import run_facts
from middlemark.commands.files import write_whole
from middlemark.commands.measured import summarised
from middlemark.commands.stored import stored_run, tell_damaged
from middlemark.launch.outcome import TrialOutcome
from middlemark.plan.cell import Plan
from middlemark.problems import MeasureError
from middlemark.report.run_facts import RunFacts
from middlemark.stats.cells import samples_by_cell
from middlemark.stats.result import CellResult
from middlemark.stats.samples import Kept, Samples, SamplesError
from middlemark.stats.trials import TrialSummary

EXTRAS = {"hdr": ("hdrh.histogram", "hdrh.log"), "parquet": ("pyarrow", "pyarrow.parquet")}
"""What a format of a folder is written with: the extra has the format's name."""


class Material(msgspec.Struct, frozen=True):
    """A run as the formats want it."""

    folder: Path
    plan: Plan
    facts: RunFacts
    results: Sequence[CellResult]
    trials: Sequence[Sequence[TrialSummary]]
    samples_of: Callable[[int], Iterable[Samples]]
    kept_of: Callable[[TrialOutcome], Sequence[Kept]]


def material(folder: Path) -> Material:
    """Read a run. Raises MeasureError with the path."""
    run = stored_run(folder)
    tell_damaged(folder, run.damaged_lines)
    plan = run.file.plan
    measured = summarised(run.file, run.outcomes, folder)
    seconds = sum(each.seconds for each in run.outcomes)

    def kept_of(outcome: TrialOutcome) -> Sequence[Kept]:
        if outcome.files:
            return [measured.kept(each) for each in outcome.files]
        raw = measured.samples(outcome)
        return [] if raw is None else [Kept("ping", 0, raw)]

    return Material(
        folder=folder,
        plan=plan,
        facts=run_facts(run.file, run.outcomes, folder, seconds),
        results=measured.results,
        trials=measured.trials,
        samples_of=samples_by_cell(plan, run.outcomes, measured.samples),
        kept_of=kept_of,
    )


def compared(
    run: str, by: str | None, baseline: str | None, metric: str, margin: str, fail_if: Sequence[str]
) -> Callable[[Material], str]:
    """Check a request for verdicts; return what makes JUnit's document of them."""
    runs = [run] if by else [str(baseline), run]
    asked = Asked(runs, by, baseline if by else None, metric, margin, fail_if, "table")

    def render(of_run: Material) -> str:
        from middlemark.exports import junit
        from middlemark.stats.comparisons import compare

        pairings = pairings_of(asked, anyway=False)
        metrics = tuple(dict.fromkeys((*asked.metrics, *(name for name, _ in asked.gates))))
        judged = compare(pairings, metrics, asked.part)
        if not judged:
            raise MeasureError(
                "nothing can be compared: no two cells have a measured trial of the same round and metric",
                "--by FACTOR wants more than one level of it; a baseline run wants the same cells",
            )
        known = {(id(each.pairing), metric) for metric, _, each in missed(asked, pairings)}
        at = {place for place, each in enumerate(judged) if (id(each.pairing), each.metric) in known}
        return junit.of_comparisons(of_run.facts, of_run.results, judged, at if asked.gates else None, asked.part)

    return render


def whole_file(text: str, path: Path) -> int:
    """Write the text in place of what was there, all of it or nothing. Raises MeasureError with the path."""
    try:
        write_whole(path, text)
    except OSError as error:
        raise _unwritten(path, error) from None
    click.echo(path)
    return exits.OK


def whole_folder(of_run: Material, to: str, path: Path) -> int:
    """Make a folder of files, all of them or none. One that is there already is not touched."""
    modules = [_module(name, to) for name in EXTRAS[to]]
    if path.exists():
        raise MeasureError(f"{path}: is there already", "remove it, or name another folder with --out DIR")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))
    except OSError as error:
        raise _unwritten(path, error) from None
    try:
        (_hdr if to == "hdr" else _parquet)(of_run, draft, *modules)
        draft.chmod(0o755)
        draft.rename(path)
    except OSError as error:
        raise _unwritten(path, error) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    click.echo(path)
    return exits.OK


def _module(name: str, extra: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise MeasureError(
            f"{extra} is written with the Python package of {package}, which is not installed",
            f"pip install 'middlemark[{extra}]'",
        ) from None


def _hdr(of_run: Material, folder: Path, histograms: Any, logs: Any) -> None:
    from middlemark.exports import hdr
    from middlemark.exports.naming import cell_names, file_names

    cells = of_run.plan.cells
    for index, (name, file) in enumerate(zip(cell_names(cells), file_names(cells), strict=True)):
        field = "one_way_ns" if cells[index].pattern == "stream" else "round_trip_ns"

        def trials(index: int = index, field: str = field) -> Iterator[hdr.Interval]:
            for trial, kept in _measured(of_run, index):
                latencies = [each.raw[field] for each in kept if field in (each.raw.dtype.names or ())]
                if latencies:
                    began = datetime.datetime.fromisoformat(trial.started or of_run.facts.started).timestamp()
                    buckets = [
                        each.histogram for each in kept if each.role == "subscriber" and each.histogram is not None
                    ]
                    yield hdr.Interval(began, trial.measured_s or trial.seconds, latencies, buckets)

        about = f"{name}, {field}, {', '.join(of_run.facts.suites)}"
        text = hdr.log(about, trials(), histograms.HdrHistogram, logs.HistogramLogWriter)
        (folder / f"{file}.hlog").write_text(text, encoding="utf-8")


def _parquet(of_run: Material, folder: Path, arrow: Any, parquet: Any) -> None:
    from middlemark.exports.parquet import OfTrial, write

    def trials() -> Iterator[OfTrial]:
        for index in range(len(of_run.plan.cells)):
            for trial, kept in _measured(of_run, index):
                yield OfTrial(index, trial.number, kept)

    write(folder, of_run.results, trials(), arrow, parquet)


def _measured(of_run: Material, index: int) -> Iterator[tuple[TrialOutcome, Sequence[Kept]]]:
    """Yield the measured trials of a cell and what was kept of them; what cannot be read is told and left out."""
    for each in of_run.trials[index]:
        if each.outcome.failed is None:
            try:
                yield each.outcome, of_run.kept_of(each.outcome)
            except SamplesError as error:
                click.echo(f"middlemark: left out: {error}", err=True)


def _unwritten(path: Path, error: OSError) -> MeasureError:
    return MeasureError(f"{path}: {error.strerror or error}", "name another place with --out")
