"""Write, read and check files of published results."""

import hashlib
import os
import re
from pathlib import Path

import msgspec

from middlemark.files import read_regular
from middlemark.model.run import Run
from middlemark.model.units import format_count
from middlemark.publish.private import private_parts
from middlemark.publish.result import STATED, races_need_samples, stated
from middlemark.show.json.output import readable
from middlemark.show.json.published import FORMAT, Published
from middlemark.stats.interval import FEWEST
from middlemark.stats.warnings.cells import SERIOUS
from middlemark.verdicts.rows import MeasuredRun

MOST_BYTES = 1 << 25
DOUBTFUL = 0.25
"""A run is refused if warnings make the figures of a larger share of its configurations doubtful."""


class InvalidResult(Exception):
    """Raised if a file is not a published result. The text is the reason."""


class _FormatOnly(msgspec.Struct):
    format: int


def refusals(run: MeasuredRun) -> list[str]:
    """Return the reasons why a run is too doubtful to publish; empty: it may be published."""
    why = []
    if run.file.imported:
        return ["another tool measured the run; Middlemark publishes only what it measured itself"]
    if run.state != "complete":
        why.append(f"the run is not complete: {run.state}")
    if run.damaged:
        why.append(f"{format_count(len(run.damaged), 'line')} of its files are damaged")
    measured = [each for each in run.results if each.failed is None]
    if not any(each.trials >= FEWEST for each in measured):
        most = max((each.trials for each in measured), default=0)
        why.append(
            f"no configuration has {FEWEST} trials, the fewest for an interval (the most is {most}); add --trials 10"
        )
    doubted = [each for each in measured if any(warning.code in SERIOUS for warning in each.warnings)]
    if len(doubted) > DOUBTFUL * len(measured):
        codes = sorted({warning.code for each in doubted for warning in each.warnings if warning.code in SERIOUS})
        why.append(
            f"{len(doubted)} of {format_count(len(measured), 'configuration')} are doubtful ({', '.join(codes)}); "
            "`middlemark show RUN --warnings` has the reasons"
        )
    if races_need_samples(run):
        why.append("its race counts messages within a deadline, which only the samples show; use `run` without --race")
    return why


def finished(result: Published) -> Published:
    """Return the result with its digest."""
    return msgspec.structs.replace(result, digest=digest_of(result))


def digest_of(result: Published) -> str:
    """Return the SHA-256 of the result with an empty digest."""
    blank = msgspec.structs.replace(result, digest="")
    return hashlib.sha256(msgspec.json.encode(blank, order="sorted")).hexdigest()


def name_of(result: Published) -> str:
    """Return the name of the file: day, title of the run, and the beginning of the digest."""
    suite = re.sub(r"[^\w.-]+", "-", result.title) or "run"
    return f"{result.started}-{suite}-{result.digest[:8]}.json"


def text_of(result: Published) -> str:
    """Return the content of the file, with one line for each configuration so that people can compare files."""
    top = readable(msgspec.to_builtins(result))
    assert isinstance(top, dict)
    lines = []
    for key, value in top.items():
        if key in ("cells", "experiments") and value:
            items = ",\n".join(f"  {msgspec.json.encode(each).decode()}" for each in value)
            lines.append(f' "{key}": [\n{items}\n ]')
        else:
            lines.append(f' "{key}": {msgspec.json.encode(value).decode()}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read_result(path: Path) -> Published:
    """Read a published result. Raises InvalidResult."""
    try:
        text = read_regular(path, MOST_BYTES)
        if (found := msgspec.json.decode(text, type=_FormatOnly).format) != FORMAT:
            raise InvalidResult(f"{path}: format {found}; this Middlemark reads format {FORMAT}")
        return msgspec.json.decode(text, type=Published)
    except OSError as error:
        raise InvalidResult(f"{path}: {error.strerror or error}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidResult(f"{path}: is not a published result: {error}") from None


def problems_of(result: Published) -> list[str]:
    """Return all problems of a published result: later changes, and statements that do not follow from its trials."""
    try:
        again = stated(result)
    except (ArithmeticError, LookupError, TypeError, ValueError, msgspec.MsgspecError, AssertionError) as error:
        return [f"its trials are inconsistent ({type(error).__name__}: {error})"]
    found = []
    for at, (said, computed) in enumerate(zip(result.cells, again.cells, strict=True)):
        for field in STATED:
            one, other = getattr(said, field), getattr(computed, field)
            if one != other:
                found.append(f"cells[{at}].{field} ({computed.name}): the file says {one}; its trials give {other}")
    if len(result.experiments) != len(again.experiments):
        found.append(f"experiments: the file has {len(result.experiments)}; its trials give {len(again.experiments)}")
    for at, (one_said, one_computed) in enumerate(zip(result.experiments, again.experiments, strict=False)):
        if one_said != one_computed:
            found.append(
                f"experiments[{at}]: the file says {one_said.verdict}, ranked {list(one_said.ranked)}; its trials give "
                f"{one_computed.verdict}, ranked {list(one_computed.ranked)}"
            )
    if digest_of(result) != result.digest:
        found.append("digest: the file was edited after it was written; publish the run again")
    return found + private_parts(result, ())


def names_here(run: Run) -> list[str]:
    """Return the names that must not be published: the names of the machines and of the user."""
    hosts = [run.file.machine.host, *(each.machine.host for each in run.file.machines)]
    return [name for name in (*hosts, os.environ.get("USER", ""), os.environ.get("LOGNAME", "")) if name != "root"]
