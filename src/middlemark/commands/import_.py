"""``middlemark import``: makes a run from the logs of other tools."""

import contextlib
import hashlib
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from middlemark import __version__, exits
from middlemark.commands.options import formats, out_option
from middlemark.commands.page import argument, option, page
from middlemark.problems import MeasureError, Problem, RequestError
from middlemark.runs.read import RUNS
from middlemark.workloads.kinds import kind_of

if TYPE_CHECKING:
    from middlemark.imports import Log, Records
    from middlemark.model.imported import Source
    from middlemark.model.outcome import TrialOutcome
    from middlemark.model.plan import Plan
    from middlemark.model.run import Run
    from middlemark.store import RunWriter

BLOCK_BYTES = 1 << 20


@page(
    "import",
    ("import ddsperf.log", "the format is detected from the content"),
    ("import before.log after.log --rows", "makes one run from two logs"),
    notes=(
        "Logs of ddsperf, RoundtripPing, ThroughputSubscriber, LatencyTest, ThroughputTest, performance_test, "
        "rtiperftest, z_ping, z_sub_thr, ros2-performance, ros2_benchmark, sockperf, iperf3 and Google Benchmark, and "
        "folders that the probe has filled, become a run that can be listed, reported and compared. Each row has its "
        "warnings.",
    ),
)
@argument(
    "files",
    nargs=-1,
    required=True,
    metavar="FILE|FOLDER…",
    type=click.Path(path_type=Path),
    says="Logs, and folders of the probe.",
)
@option("--rows", is_flag=True, group="What is shown", help="Print every row instead of the summary.")
@out_option("imported")
@formats("text", "json", "csv", "markdown", "html")
def command(files: tuple[Path, ...], rows: bool, out: str | None, output_format: str) -> int:
    """Read the files, store the run and print it; return the exit code."""
    from middlemark.imports import assemble, how_many_unread, samples_of
    from middlemark.store.run import utc_now
    from middlemark.verdicts.names import plain

    logs = _logs(files)
    started = utc_now()
    plan, outcomes = assemble(logs, started)
    writer = _kept(Path(out or RUNS), plan, [source for source, _ in logs], outcomes, samples_of(logs), started)
    for source, log in logs:
        if log.unread:
            click.echo(f"middlemark: {plain(f'{source.file}: {how_many_unread(log)}')}", err=True)
    return _print(writer.run(outcomes), output_format, rows=rows)


def _no_log(kind: str, path: Path) -> str:
    """Return the error text about a file that contains a workload of this kind."""
    return f"is a {kind}, not a log; to write a suite of its workload: middlemark workload {path}"


def _logs(files: Sequence[Path]) -> "list[tuple[Source, Log]]":
    """Read every file. Raises RequestError with the problems of all files."""
    problems: list[Problem] = []
    logs = []
    for path, parts in _together(files):
        if path.is_dir() and (kind := kind_of(path)):
            problems.append(Problem(str(path), _no_log(kind, path)))
            continue
        try:
            logs.append((path, *(_log(path) if parts is None else _stamps(path, parts))))
        except RequestError as error:
            problems += error.problems
        except OSError as error:
            absent = "there is no such file" if isinstance(error, FileNotFoundError) else ""
            problems.append(Problem(str(path), absent or error.strerror or str(error)))
    if problems:
        raise RequestError(problems)
    names = Counter(source.file for _, source, _ in logs)
    return [
        (source if names[source.file] == 1 else msgspec.structs.replace(source, file=_name(path, folder=True)), log)
        for path, source, log in logs
    ]


def _together(files: Sequence[Path]) -> "Iterator[tuple[Path, list[Path] | None]]":
    """Yield each log with None, and each recording of the probe with its folder or files.

    A recording is one folder, or all files of the probe that the user named.
    """
    from middlemark.imports import is_stamps

    probe_files = [path for path in files if is_stamps(_begin(path))]
    for path in files:
        if path.is_dir():
            yield path, [path]
        elif path not in probe_files:
            yield path, None
        elif path == probe_files[0]:
            yield path, probe_files


def _begin(path: Path) -> bytes:
    """Return the first bytes of a file. Empty: the path is no regular file, or the file cannot be read."""
    if path.is_file():
        with contextlib.suppress(OSError), path.open("rb") as file:
            return file.read(32)
    return b""


def _stamps(path: Path, parts: Sequence[Path]) -> "tuple[Source, Log]":
    """Read the stamps of all processes of one recording. Raises OSError and RequestError."""
    from middlemark.imports import FORMAT_OF_PROBE, NotRead, is_stamps, read_probes
    from middlemark.model.imported import Source
    from middlemark.verdicts.names import plain

    if path.is_dir():
        parts = sorted(each for each in path.iterdir() if each.is_file())
    # The first bytes of a file of another kind suffice for the error message.
    read = [(_name(each), each.read_bytes() if is_stamps(_begin(each)) else _begin(each)) for each in parts]
    try:
        log = read_probes(read)
    except NotRead as error:
        raise RequestError([Problem(plain(str(path)), plain(str(error)))]) from None
    if not log.measured:
        reason = "; ".join(log.notes) or "the files have no stamps"
        raise RequestError(
            [
                Problem(
                    plain(str(path)),
                    plain(f"contains neither a topic with both ends nor a span: {reason}"),
                )
            ]
        )
    digest = hashlib.sha256()
    for _, data in read:
        digest.update(data)
    tool, form = FORMAT_OF_PROBE
    return Source(
        file=_name(path),
        bytes=sum(len(data) for _, data in read),
        sha256=digest.hexdigest(),
        tool=tool,
        format=form,
        lines=log.lines,
        unread=log.unread,
        unit=log.unit,
    ), log


def _name(path: Path, *, folder: bool = False) -> str:
    """Return the name of a log.

    ``folder``: put the folder's name before it, because several logs have the same name.
    """
    name = f"{path.absolute().parent.name}/{path.name}" if folder else path.name
    return name.encode(errors="backslashreplace").decode()


def _log(path: Path) -> "tuple[Source, Log]":
    from middlemark.imports import HEAD_BYTES, NotRead, find, how_many_unread, is_ours, refusal
    from middlemark.model.imported import Source
    from middlemark.verdicts.names import plain

    def refused(text: str) -> RequestError:
        return RequestError([Problem(plain(str(path)), plain(text))])

    digest = hashlib.sha256()
    size = 0
    with path.open("rb") as file:  # opened once: a pipe cannot be read twice
        head = file.read(HEAD_BYTES)

        def blocks() -> Iterator[bytes]:
            nonlocal size
            block = head
            while block:
                digest.update(block)
                size += len(block)
                yield block
                block = file.read(BLOCK_BYTES)

        if is_ours(head):
            raise refused("Middlemark printed this file from a stored run: `middlemark list runs` lists the runs")
        found = find(head)
        if found is None:
            kind = kind_of(path)
            raise refused(_no_log(kind, path) if kind else refusal(head))
        try:
            log = found.read(blocks())
        except NotRead as error:
            raise refused(f"has {found.name}, but {error}") from None
    if not log.measured:
        unread = f"; {how_many_unread(log)}" if log.unread else ""
        raise refused(f"has {found.name}, but no complete figure{unread}")
    source = Source(
        file=_name(path),
        bytes=size,
        sha256=digest.hexdigest(),
        tool=found.tool,
        format=found.name,
        lines=log.lines,
        unread=log.unread,
        unit=log.unit,
    )
    return source, log


def _kept(
    out: Path,
    plan: "Plan",
    sources: "Sequence[Source]",
    outcomes: "Sequence[TrialOutcome]",
    samples: "Mapping[str, Records]",
    started: str,
) -> "RunWriter":
    import numpy as np

    from middlemark.imports import SUITE
    from middlemark.model.run import Machine, RunFile
    from middlemark.store import StoreError, open_run

    file = RunFile(
        middlemark=__version__,
        suites=(SUITE,),
        command=tuple(word.encode(errors="backslashreplace").decode() for word in sys.argv),
        started=started,
        seed=0,
        machine=Machine(
            host="unknown",
            cpu="unknown",
            processors=0,
            memory_bytes=0,
            kernel="",
            system="",
            virtual=None,
            clocksource=None,
            governor=None,
        ),
        adapters=(),
        plan=plan,
        imported=tuple(sources),
    )
    try:
        writer = open_run(out, file)
        for path, records in samples.items():
            np.save(writer.folder / path, records.raw)
        for outcome in outcomes:
            writer.append(outcome)
        writer.close()
    except (StoreError, OSError) as refused:
        raise MeasureError(str(refused), "choose another folder with --out DIR") from None
    return writer


def _print(run: "Run", output_format: str, *, rows: bool) -> int:
    from middlemark.runs.printing import PrintOptions, text_of
    from middlemark.runs.read import measured
    from middlemark.show import output

    read = measured(run)
    parts = ("table",) if rows else ()
    unwritten = output.write(text_of(read, PrintOptions(output_format=output_format, parts=parts)))
    if unwritten is not None:
        output.tell(f"{unwritten}; the run is kept in {run.folder}")
        return exits.CELL_FAILED
    return exits.of_cells([each.failed is not None for each in read.results])
