"""The history of a folder of runs. The figures of each run are stored in ``.history``, so its samples are read once."""

import contextlib
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from middlemark.files import read_regular
from middlemark.history.figures import RunFigures, belongs_to_a_series, run_figures, without_figures
from middlemark.history.series import MOST_RUNS, History, history_of
from middlemark.model.cell import FACTORS
from middlemark.problems import MeasureError
from middlemark.runs.read import RUNS, measured
from middlemark.stats.verdict import MARGIN
from middlemark.store import StoreError, list_runs, read_run
from middlemark.store.run import utc_now
from middlemark.verdicts.rows import MeasuredRun

KEPT = ".history"
"""The folder of the stored figures. It may be removed at any time."""
FORMAT = hashlib.sha256(" ".join(("1", *FACTORS)).encode()).hexdigest()[:12]
"""The format of the stored figures. It changes with their version and with the factors. Stored figures in another
format are computed again."""
MOST_BYTES = 1 << 24


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    """The figures of a run, and the state of the run's files when the figures were computed."""

    format: str
    state: tuple[int, ...]
    figures: RunFigures


def history(
    *named: Path,
    last: int = MOST_RUNS,
    margin: float = MARGIN,
    warn: Callable[[str], None] = lambda _: None,
    begun: Callable[[int, int], None] = lambda *_: None,
) -> History:
    """Return the series of all ended runs. Each path is a run, or a folder of runs.

    Raises MeasureError if a path does not exist.

    ``warn``: called with a message for each run that is left out, and if figures cannot be stored. ``begun``: called
    with the number of each run whose samples are read, and with the number of such runs.
    """
    folders = [*dict.fromkeys(folder for each in named for folder in _folders(each))]
    found = {folder: _read(folder) for folder in folders}
    missing = [folder for folder in folders if found[folder] is None]
    problems: dict[str, None] = {}
    for number, folder in enumerate(missing, 1):
        begun(number, len(missing))
        try:
            found[folder], unkept = _made(folder)
        except (StoreError, OSError) as error:  # damaged, or moved in the meantime
            unkept = f"left out: {error}"
        if unkept:
            problems[unkept] = None
    for each in problems:
        warn(each)
    several = len({folder.parent for folder in folders}) > 1
    runs = [
        msgspec.structs.replace(each, run=str(folder)) if several else each
        for folder, each in found.items()
        if each is not None
    ]
    whole = ", ".join(map(str, named)) if several or len(named) == 1 or not folders else str(folders[0].parent)
    return history_of(whole, runs, now=utc_now(), last=last, margin=margin, paths=several)


def _folders(named: Path) -> list[Path]:
    """Return the folder of a run, given by its path or by its name in ``runs``, or the folders of the runs in a folder.

    Raises MeasureError.
    """
    for place in (named, Path(RUNS) / named):
        if (place / "run.json").exists():
            return [place]
    if not named.is_dir():
        raise MeasureError(f"{named}: there is no such folder", "name the folder that contains the runs")
    return list_runs(named)


def kept_history(run: MeasuredRun) -> History | None:
    """Store the figures of a run that has just ended, and return the history of its suites.

    Runs without stored figures are left out. None: the run belongs to no series.
    """
    if not belongs_to_a_series(run):
        return None
    with contextlib.suppress(OSError):
        _write(run.folder, _Kept(FORMAT, _state(run.folder), run_figures(run)))
    repeats = [each for each in kept(run.folder.parent) if each.repeats == run.repeats]
    try:
        return history_of(str(run.folder.parent), repeats, now=utc_now())
    except MeasureError:  # the library for change points is missing; the verb `history` reports this
        return None


def history_of_kept(root: Path) -> History | None:
    """Return the history of all runs in a folder with stored figures.

    None: the library for change points is missing.
    """
    try:
        return history_of(str(root), kept(root), now=utc_now())
    except MeasureError:
        return None


def kept(root: Path) -> list[RunFigures]:
    """Return the stored figures of the runs in a folder, without reading samples."""
    return [found for each in list_runs(root) if (found := _read(each)) is not None]


def _made(folder: Path) -> tuple[RunFigures, str]:
    """Return the figures of a run from its samples, and why they could not be stored (empty: they are stored).

    Raises StoreError, and OSError if the run was moved in the meantime.
    """
    state = _state(folder)
    run = read_run(folder)
    found = run_figures(measured(run)) if belongs_to_a_series(run) else without_figures(run)
    try:
        if not run.running:
            _write(folder, _Kept(FORMAT, state, found))
    except OSError as error:
        return found, f"{folder.parent / KEPT}: figures are not kept: {error.strerror or error}"
    return found, ""


def _read(folder: Path) -> RunFigures | None:
    """Return the stored figures of a run; None: no figures are stored, or the run's files have changed since."""
    try:
        kept = msgspec.msgpack.decode(read_regular(_path(folder), MOST_BYTES), type=_Kept)
        return kept.figures if kept.format == FORMAT and kept.state == _state(folder) else None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _write(folder: Path, kept: _Kept) -> None:
    path = _path(folder)
    path.parent.mkdir(exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        draft.write_bytes(msgspec.msgpack.encode(kept))
        draft.replace(path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _path(folder: Path) -> Path:
    return folder.parent / KEPT / f"{folder.name}.msgpack"


def _state(folder: Path) -> tuple[int, ...]:
    """Return sizes and times of the run's files. Raises OSError if the run was moved in the meantime."""
    found: list[int] = []
    for name in ("run.json", "trials.jsonl"):
        with contextlib.suppress(FileNotFoundError):
            state = (folder / name).stat()
            found += (state.st_size, state.st_mtime_ns)
    return tuple(found)
