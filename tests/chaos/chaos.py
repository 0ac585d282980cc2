"""Damages files that Middlemark reads, plants faults, and checks that nothing is lost: ./check chaos.

Each other file in this folder with a class ``Kind`` is one kind of damage. It makes its own folder, and each
``attempt`` returns what was done and what was lost. A loss is reported with its seed, which repeats the attempt.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence

from lanes import Draws, Tried, kinds, namespaces, run_lanes

FAULTS, MUTATIONS, SECONDS = 200, 2_000, 20.0
"""Default numbers of faults and mutations, and the seconds after which no new attempt starts."""
STRIKING = {"faults": 4, "crowds": 1}
"""Kinds that plant faults, with their shares of the faults. A crowd takes longer than other runs."""
READING, WAITING = 1, 3
"""Number of lanes (lanes.py) per processor: for kinds that read damaged files, and for kinds that mostly wait."""


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    asked = argparse.ArgumentParser(prog="./check chaos", description="Damage files and plant faults by seed.")
    asked.add_argument("--faults", type=int, metavar="N", help=f"faults, without a time limit (default {FAULTS})")
    asked.add_argument("--mutations", type=int, metavar="N", help=f"of all kinds together (default {MUTATIONS})")
    asked.add_argument("--seconds", type=float, help=f"time limit if no number is given ({SECONDS:g})")
    asked.add_argument("--seed", default="0", help="seed (default 0); KIND-SEED-NUMBER repeats one attempt")
    asked.add_argument("--kind", choices=[*kinds()], action="append", help="only this kind; may be repeated")
    asked.add_argument(
        "--lanes", type=int, metavar="N", help=f"lanes for kinds that wait (default {WAITING} per processor)"
    )
    asked.add_argument("--verbose", action="store_true", help="print every attempt, even if nothing was lost")
    return asked.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Try every kind of damage; return 1 if something was lost."""
    asked = arguments(words)
    every = kinds()
    single = next((name for name in every if asked.seed.startswith(f"{name}-")), None)
    chosen = [single] if single else asked.kind or [*every]
    for each in [name for name in chosen if name in STRIKING]:
        if not namespaces():
            print(f"{each}: left out, because without namespaces they would hit other processes")
            chosen.remove(each)
    numbers = dict.fromkeys(chosen, 1) if single else _shares(chosen, asked)
    seeds = {name: [f"{name}-{asked.seed}-{number}" for number in range(numbers[name])] for name in chosen}
    if single:
        seeds = {single: [asked.seed]}
    counted = asked.faults is not None or asked.mutations is not None or single
    seconds = asked.seconds or (float("inf") if counted else SECONDS)

    def print_result(tried: Tried) -> None:
        if tried.losses or asked.verbose or single:
            losses = "".join(f"  lost: {each}\n" for each in tried.losses)
            print(f"{tried.seed}: {tried.what}\n{losses}", end="", flush=True)

    began = time.monotonic()
    every_draw, threads = [], []
    for waits in (True, False):
        mine = {name: seeds[name] for name in chosen if getattr(every[name], "waits", False) == waits}
        if mine:
            each = (WAITING if waits else READING) * len(os.sched_getaffinity(0))
            lanes = min(asked.lanes or each if waits else each, max(map(len, mine.values())))
            every_draw.append(draws := Draws(mine, began + seconds))
            threads += run_lanes(lanes, draws, print_result, isolated=waits and namespaces())
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:  # attempts made so far are still reported
        print("interrupted: waiting for the attempts under way")
        for draws in every_draw:
            draws.end()
        for thread in threads:
            thread.join()
    losing = 0
    for draws in every_draw:
        for name, tried in draws.tried.items():
            lost = sum(bool(each.losses) for each in tried)
            print(f"{name}: {len(tried):,} of {len(seeds[name]):,} with seed {asked.seed}, {lost:,} lost something")
            losing += lost
    print(f"{time.monotonic() - began:.0f} s")
    return 1 if losing else 0


def _shares(chosen: Sequence[str], asked: argparse.Namespace) -> dict[str, int]:
    """Return the number of attempts for each kind. Slower kinds of mutations get fewer."""
    weights = {"stores": 4, "suites": 6, "logs": 9, "messages": 1}
    used = {name: weights[name] for name in chosen if name not in STRIKING}
    striking = {name: STRIKING[name] for name in chosen if name in STRIKING}
    # If the user gives only one of the two numbers, make no attempts of the other kind.
    only = asked.faults is not None or asked.mutations is not None
    faults, mutations = (asked.faults or 0, asked.mutations or 0) if only else (FAULTS, MUTATIONS)
    return {
        name: faults * striking[name] // sum(striking.values())
        if name in STRIKING
        else mutations * used[name] // sum(used.values())
        for name in chosen
    }


if __name__ == "__main__":
    sys.exit(main())
