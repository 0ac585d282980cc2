"""Damages what Middlemark reads, by seed, and demands that nothing is lost: ./check chaos [--mutations N] [--seed S].

Each other file here whose class is called ``Kind`` is one kind of damage: it makes a place of its own, and each
``attempt`` returns what was done and what was lost. A loss is told with the seed that repeats it alone.
"""

import argparse
import importlib
import random
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOM_BYTES = 8 << 30
"""What this process may use: whoever reads a file without end is stopped here and not by the machine."""


def kinds() -> dict[str, type]:
    """Return the kinds of damage by name."""
    modules = [
        importlib.import_module(path.stem) for path in sorted(HERE.glob("*.py")) if "class Kind" in path.read_text()
    ]
    return {module.Kind.name: module.Kind for module in modules if hasattr(module, "Kind")}


def tried(kind: type, seeds: Sequence[str], until: float, *, quiet: bool) -> tuple[int, int]:
    """Return how many mutations were tried by then, and how many of them lost something. A loss is printed."""
    place = kind()
    count = lost = 0
    try:
        for seed in seeds:
            if time.monotonic() > until:
                break
            what, losses = place.attempt(random.Random(seed))
            count += 1
            lost += bool(losses)
            if losses or not quiet:
                print(f"{seed}: {what}")
            for each in losses:
                print(f"  lost: {each}", flush=True)
    except KeyboardInterrupt:  # what was tried by then is told
        print("interrupted")
    finally:
        place.close()
    return count, lost


def main() -> int:
    """Try every kind in turn; 1: something was lost."""
    every = kinds()
    asked = argparse.ArgumentParser(prog="./check chaos", description="Damage what is read and see what is lost.")
    asked.add_argument("--mutations", type=int, metavar="N", help="so many of each kind (else what the time allows)")
    asked.add_argument("--seconds", type=float, default=40.0, help="without --mutations, for all kinds together (40)")
    asked.add_argument("--seed", default=None, help="another draw (else 0); KIND-SEED-NUMBER repeats one mutation")
    asked.add_argument("--kind", choices=[*every], action="append", help="only this; may be repeated")
    asked.add_argument("--verbose", action="store_true", help="tell what was tried, also where nothing was lost")
    words = asked.parse_args()
    seed = words.seed or "0"
    chosen = words.kind or [*every]
    single = next((name for name in every if seed.startswith(f"{name}-")), None)
    resource.setrlimit(resource.RLIMIT_AS, (ROOM_BYTES, ROOM_BYTES))
    losing = 0
    for name in [single] if single else chosen:
        seeds = [seed] if single else [f"{name}-{seed}-{number}" for number in range(words.mutations or 100_000)]
        began = time.monotonic()
        until = float("inf") if words.mutations or single else began + words.seconds / len(chosen)
        count, lost = tried(every[name], seeds, until, quiet=not (words.verbose or single))
        print(
            f"{name}: {count:,} mutations of seed {seed} in {time.monotonic() - began:.0f} s, {lost:,} lost something"
        )
        losing += lost
    return 1 if losing else 0


if __name__ == "__main__":
    sys.exit(main())
