"""What a document is made from: one run as it was kept, its results, and how its samples are read."""

from collections.abc import Sequence

import msgspec

from middlemark.launch.outcome import TrialOutcome
from middlemark.stats.result import CellResult
from middlemark.stats.trials import KeptOf, SamplesOf, TrialSummary
from middlemark.store import RunFile


class MeasuredRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run. ``trials`` and ``results`` are by the cells of its plan, in their order."""

    name: str
    folder: str
    file: RunFile
    outcomes: Sequence[TrialOutcome]
    trials: Sequence[Sequence[TrialSummary]]
    results: Sequence[CellResult]
    samples: SamplesOf
    kept: KeptOf
    running: bool = False
    damaged_lines: int = 0
