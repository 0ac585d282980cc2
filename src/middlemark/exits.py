"""The exit codes; `middlemark --help` and docs/usage.md document them."""

from collections.abc import Sequence

OK = 0
"""Everything that was asked for was measured."""
CELL_FAILED = 1
"""At least one cell has no result, or something could not be stored or printed; the others stand."""
BAD_REQUEST = 2
"""The request is wrong; nothing was started."""
NOTHING_MEASURED = 3
"""No cell has a result, or a run's folder cannot be written."""
WORSE = 4
"""`--fail-if` of `compare` or `run`: what was not to be is so; `selftest`: more false verdicts than may be;
`doctor`: something falsifies or limits results."""
INTERRUPTED = 130
"""SIGINT or SIGTERM; what was measured by then is kept."""


def of_cells(failed: Sequence[bool]) -> int:
    """Return the status of a run by whether each of its cells failed."""
    if all(failed):
        return NOTHING_MEASURED
    return CELL_FAILED if any(failed) else OK
