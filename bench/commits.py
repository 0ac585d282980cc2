"""Compare another commit of Middlemark with this one: the same adapters, measured alternately, this one ÷ the other.

Usage: python bench/commits.py CHECKOUT [ROUNDS] [ADAPTER…]

CHECKOUT is a checkout of the other commit, with its workers and the witness in ``build/workers``. In each round both
commits run the same suite, one after the other, in alternating order. Prints the change of the p50 of round trips and
of the rate of streams with its 95 % interval, and whether it is at most ``MARGIN``.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from middlemark.document.compare import interval_of
from middlemark.document.numbers import measured, part
from middlemark.stats.verdict import judge

HERE = Path(__file__).resolve().parents[1]
MARGIN = 0.02
ADAPTERS = {"zenoh": "tcp", "cyclonedds": "udp", "fastdds": "udp"}
"""Adapter → transport: those that pairs, ``via`` and the shared code of zenoh have changed."""
SUITE = """
[[sweep]]
adapter = {adapters}
transport = {transports}
size = [64, "64k"]
awake = true
warmup = "0.1s"
duration = "0.4s"

[[sweep]]
adapter = {adapters}
transport = {transports}
pattern = "stream"
size = 1024
warmup = "0.1s"
duration = "0.4s"

[defaults]
trials = 1
baseline = false
skip_unsupported = true
"""

Load = tuple[str, str, str, int]
"""Adapter, transport, pattern and size of a message in bytes."""


def figures_of(checkout: Path, suite: Path, folder: Path) -> dict[Load, float]:
    """Run the suite once. Return the p50 in ns of round trips, and the messages per second of streams."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(checkout / "src"),
        "MIDDLEMARK_WORKERS": str(checkout / "build/workers"),
    }
    argv = [sys.executable, "-m", "middlemark", "run", str(suite), "--format", "json", "--quiet", "--out", str(folder)]
    ended = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode not in (0, 1):
        raise SystemExit(f"bench: {checkout}: {ended.stderr}")
    found = {}
    for cell in json.loads(ended.stdout)["cells"]:
        times = cell["round_trip_ns"]
        figure = cell["rate_hz"] if cell["pattern"] == "stream" else times and times["p50"]
        if cell["failed"] is not None:
            raise SystemExit(f"bench: {checkout}: {cell['adapter']}: {cell['failed']['text']}")
        if figure:
            found[cell["adapter"], cell["transport"], cell["pattern"], cell["size"]] = float(figure)
    return found


def main(other: Path, rounds: int, adapters: list[str]) -> None:
    """Measure both commits, and print the change of each load."""
    pairs: dict[Load, dict[int, tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="middlemark-bench-") as name:
        folder = Path(name)
        suite = folder / "commits.toml"
        transports = sorted({ADAPTERS.get(each, "all") for each in adapters})
        suite.write_text(SUITE.format(adapters=json.dumps(adapters), transports=json.dumps(transports)))
        for number in range(rounds):
            found: dict[Path, dict[Load, float]] = {}
            for checkout in (other, HERE) if number % 2 else (HERE, other):
                found[checkout] = figures_of(checkout, suite, folder)
            for load in found[other].keys() & found[HERE].keys():
                pairs.setdefault(load, {})[number] = (found[other][load], found[HERE][load])
    loads = sorted(pairs)
    judged = judge(
        [pairs[each] for each in loads],
        higher_is_better=[each[2] == "stream" for each in loads],
        questions=loads,
        margin=MARGIN,
    )
    for load, change in zip(loads, judged, strict=True):
        middle = sorted(pairs[load].values())[len(pairs[load]) // 2]
        unit = "messages/s" if load[2] == "stream" else "ns"
        print(
            f"{' '.join(map(str, load)):<34} {measured(middle[0], unit):>10} → {measured(middle[1], unit):>10} "
            f"{part(change.shift):>7} ({interval_of(change)}), {change.pairs} rounds: {change.verdict.value}"
        )


if __name__ == "__main__":
    main(
        Path(sys.argv[1]).resolve(),
        int(sys.argv[2]) if len(sys.argv) > 2 else 20,
        sys.argv[3:] or list(ADAPTERS),
    )
