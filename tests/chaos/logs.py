"""Damages logs of other tools.

``import`` must read the intact part or refuse the log, and its result must be readable.
"""

import json
import random
import shutil
import tempfile
from pathlib import Path

from attempts import run
from mutations import lines_of, of_bytes, of_json

LOGS = Path(__file__).resolve().parents[1] / "fixtures" / "imports"


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
        runs = self.folder / "runs"
        shutil.rmtree(runs, ignore_errors=True)
        form = draw.choice(("text", "json", "csv"))
        losses = [*run("import", str(damaged), "--out", str(runs), "--format", form).losses({0, 1, 2, 3})]
        if kept := [*runs.glob("*/run.json")]:
            losses += run("report", str(kept[0].parent), "--markdown", "-").losses({0})
            listed = run("list", "runs", str(runs))
            losses += listed.losses({0})
            if listed.err:
                losses.append(f"the imported run cannot be read: {listed.err}")
        damaged.unlink()
        return f"{log.parent.name}/{log.name}: {'; '.join(did)}", losses


def _damage(draw: random.Random, log: Path, content: bytes) -> tuple[str, bytes]:
    if log.suffix == ".json" and draw.random() < 0.6:
        try:
            return of_json(draw, json.loads(content))
        except (ValueError, RecursionError, IndexError):
            return of_bytes(draw, content)
    return draw.choice((lines_of, of_bytes))(draw, content) if content.strip() else of_bytes(draw, content)
