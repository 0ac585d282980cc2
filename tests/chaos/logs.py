"""Damages logs of other tools, topologies and the metadata of bags.

``import`` must read the intact part or refuse the log, its result must be readable, and figures that contradict each
other must be marked. ``workload`` must make a suite or refuse the file.
"""

import json
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attempts import run
from mutations import figures_of, lines_of, of_bytes, of_json

LOGS = Path(__file__).resolve().parents[1] / "fixtures" / "imports"


WORKLOADS = ("irobot-actions", "irobot-number", "irobot-subscribers", "rosbag2")
"""The beginnings of the names of files that ``workload`` reads."""
ORDER = ("min", "p50", "p90", "p99", "p99_9", "p99_99", "max")


class Kind:
    """Damages one of the logs that the tests of ``import`` read."""

    name = "logs"

    def __init__(self) -> None:
        """Make a folder for the damaged logs."""
        self._place = tempfile.TemporaryDirectory(prefix="middlemark-chaos-")
        self.folder = Path(self._place.name)
        self.logs = [path for path in sorted(LOGS.rglob("*")) if path.is_file() and path.suffix != ".md"]

    def close(self) -> None:
        """Remove the folder."""
        self._place.cleanup()

    def attempt(self, draw: random.Random) -> tuple[str, list[str]]:
        """Damage a log and import it; return what was done and what was lost."""
        log = draw.choice(self.logs)
        content, did = log.read_bytes(), []
        for _ in range(draw.choice((1, 1, 2, 5))):
            what, content = _damage(draw, log, content)
            did.append(what)
        damaged = self.folder / log.name
        damaged.write_bytes(content)
        what = f"{log.parent.name}/{log.name}: {'; '.join(did)}"
        if log.name.startswith(WORKLOADS):
            losses = [*run("workload", str(damaged), "-o", str(self.folder / "suite.toml")).losses({0, 2, 3})]
            damaged.unlink()
            return what, losses
        runs = self.folder / "runs"
        shutil.rmtree(runs, ignore_errors=True)
        form = draw.choice(("text", "json", "json", "csv"))
        imported = run("import", str(damaged), "--out", str(runs), "--format", form)
        losses = [*imported.losses({0, 1, 2, 3})]
        if form == "json" and imported.code == 0:
            losses += _unmarked(imported.out)
        if kept := [*runs.glob("*/run.json")]:
            losses += run("report", str(kept[0].parent), "--markdown", "-").losses({0})
            listed = run("list", "runs", str(runs))
            losses += listed.losses({0})
            if listed.err:
                losses.append(f"the imported run cannot be read: {listed.err}")
        damaged.unlink()
        return what, losses


def _unmarked(out: str) -> list[str]:
    """Return each row whose figures contradict each other and that lacks the warning about it."""
    return [
        f"{cell['name']}, {cell['adapter']}: {wrong}"
        for cell in json.loads(out)["cells"]
        if not {each["code"] for each in cell["warnings"]} & {"contradiction", "clocks-differ", "interleaved"}
        for wrong in _contradictions(cell)
    ]


def _contradictions(cell: dict[str, Any]) -> Iterator[str]:
    for name in ("round_trip_ns", "one_way_from_sent_ns"):
        times = cell[name] or {}
        figures = [times[key] for key in ORDER if times.get(key) is not None]
        low, mean, high = (times.get(key) for key in ("min", "mean", "max"))
        if figures != sorted(figures):
            yield f"{name} does not ascend: {times}"
        # A mean of rounded figures may be outside by the rounding.
        elif mean is not None and not 0.97 * (low or mean) <= mean <= 1.03 * (high or mean):
            yield f"the mean of {name} is not between minimum and maximum: {times}"
        if figures and cell["received"] == 0:
            yield f"{name} of no message: {times}"
    sent, received = cell["sent"], cell["received"]
    if sent is not None and received is not None and received > 1.02 * sent * (cell["subscribers"] or 1) + 10:
        yield f"{received} of {sent} messages arrived"
    if any((cell[name] or 0) < 0 for name in ("rate_hz", "rate_total_hz", "sent_hz", "loss")):
        yield "a rate or the loss is below zero"


def _damage(draw: random.Random, log: Path, content: bytes) -> tuple[str, bytes]:
    if log.suffix == ".json" and draw.random() < 0.6:
        try:
            return of_json(draw, json.loads(content))
        except (ValueError, RecursionError, IndexError):
            return of_bytes(draw, content)
    return (
        draw.choice((lines_of, of_bytes, figures_of, figures_of))(draw, content)
        if content.strip()
        else of_bytes(draw, content)
    )
