"""Stores two races of one suite for the tests of `middlemark view`: in the second, lyra takes a third longer.

``python tests/browser/races.py FOLDER`` writes FOLDER/monday and FOLDER/tuesday.
"""

import json
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / each) for each in ("unit", "golden")]

from race_runs import Truth, race  # noqa: E402  # the folders above contain it


def main() -> None:
    root = Path(sys.argv[1])
    for name, us, day in (("monday", 45.0, 23), ("tuesday", 60.0, 24)):
        folder = race(root, {"lyra": Truth(us), "vega": Truth(90.0)}, seed=3)
        file = json.loads((folder / "run.json").read_text())
        file |= {"suites": ["ping-twice"], "started": f"2026-11-{day}T12:00:00.000+00:00"}
        (folder / "run.json").write_text(json.dumps(file))
        folder.rename(root / name)


if __name__ == "__main__":
    main()
