"""The exit codes; `middlemark --help` and docs/reference/commands.md document them."""

from collections.abc import Sequence

OK = 0
"""Everything that was asked for was measured."""
CELL_FAILED = 1
"""At least one cell has no result, or something could not be stored or printed. The other cells are complete."""
BAD_REQUEST = 2
"""The request is wrong; nothing was started."""
NOTHING_MEASURED = 3
"""No cell has a result, or a run's folder cannot be written."""
WORSE = 4
"""The condition of `--fail-if` holds (`compare`, `run`), there are too many false verdicts (`selftest`), or a finding
makes results wrong or limits them (`doctor`)."""
INTERRUPTED = 130
"""SIGINT or SIGTERM ended the command. All that was measured before is kept."""


def of_cells(failed: Sequence[bool]) -> int:
    """Return the exit status of a run. ``failed`` has one entry per cell."""
    if all(failed):
        return NOTHING_MEASURED
    return CELL_FAILED if any(failed) else OK
