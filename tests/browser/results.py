"""Published results of invented runs, on two machines, for the browser tests and the tests of the site.

``python tests/browser/results.py FOLDER`` writes the files.
"""

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))

import msgspec
from report_runs import MACHINE, cell, robot, run_of

from middlemark.publish.files import finished, name_of, text_of
from middlemark.publish.result import published


def write(folder: Path) -> None:
    """Write three results for each machine: messages of two sizes, a robot, and a crowd."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(3)
    for processors, vega in ((2, 17_000), (4, 11_000)):
        machine = msgspec.structs.replace(MACHINE, processors=processors)
        typical = {"udp": 9_000, "lyra": 15_000, "vega": vega, "deneb": 30_000}
        cells = {
            cell(name, "udp", size=size): [ns * size**0.1 * draw.lognormvariate(0, 0.02) for _ in range(8)]
            for name, ns in typical.items()
            for size in (64, 4096)
            if (name, size) != ("deneb", 64)
        }
        robots = {robot("lyra"): [0.3, 0.31] * 4, robot("vega"): [1.2, 1.3] * 4}
        crowd = {cell("lyra", subscribers=number): [9000.0 * number + at for at in range(8)] for number in (1, 4)}
        runs = [run_of(cells, machine=machine), run_of(robots, suites=("amr",), machine=machine)]
        for run in (*runs, run_of(crowd, suites=("crowd",), machine=machine)):
            result = finished(published(run, (), None))
            (folder / name_of(result)).write_text(text_of(result), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
