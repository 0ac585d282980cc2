"""Plants each fault of this folder in a copy of the checkout, and checks that the tests find it: ./check mutants.

The lists are the *.toml files here. A mutant has a description of a fault that somebody could make, the file, the
original text (which occurs once), its replacement, and the steps that may find it: ``tests``, labels of C++ tests, then
conformance of ``worker``, where ``only`` is a pytest -k expression (by default the worker's name). The copies and their
builds are in build/mutants, one copy for each mutant that is tried in parallel. Only a test that fails twice in a row
counts.
"""

import argparse
import concurrent.futures
import fnmatch
import os
import queue
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CPUS = len(os.sched_getaffinity(0))
STEP_S = 600
"""Seconds after which a step counts as failed."""
HANGS = "it hangs"
TOO_LONG = -1
RUNNING: set[int] = set()
"""Process groups to end after an interrupt."""
NO_TEST = "no test was named"


class CannotBeTriedError(Exception):
    """The mutant's original text is not in the file exactly once, or the mutant does not compile."""


@dataclass(frozen=True)
class Mutant:
    """A planted fault, and the steps that may find it."""

    name: str
    fault: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()
    worker: str | None = None
    only: str | None = None

    def planted_in(self, text: str) -> str:
        """Return the file's text with the fault."""
        times = text.count(self.old)
        if times != 1:
            raise CannotBeTriedError(f"does not apply: its text occurs {times} times in {self.file}")
        return text.replace(self.old, self.new)

    @property
    def steps(self) -> tuple["Ctest | Conformance", ...]:
        """The steps in the order in which they run until one fails, the fastest first."""
        ctest = (Ctest(self.tests),) if self.tests else ()
        return ctest if self.worker is None else (*ctest, Conformance(self.worker, self.only or self.worker))


def mutants() -> list[Mutant]:
    """Return all mutants, in the order of their files."""
    found = []
    for file in sorted(HERE.glob("*.toml")):
        for name, about in tomllib.loads(file.read_text()).items():
            found.append(Mutant(name, **{**about, "tests": tuple(about.get("tests", ()))}))
    return found


class Tree:
    """A copy of the checkout, with its own build."""

    def __init__(self, folder: Path, jobs: int, every_level: bool) -> None:
        self.folder, self.jobs, self.every_level = folder, jobs, every_level
        self.build_folder = folder / "build"
        self.reports = folder / "build" / "reports"
        self.environment = os.environ | {"PYTHONPATH": str(folder / "src")}

    def copy(self) -> None:
        """Copy the checkout in its present state, and configure the copy."""
        listed = subprocess.run(
            ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        wanted = {path for path in listed.split("\0") if (ROOT / path).is_file()}
        for path in wanted:
            here, there = ROOT / path, self.folder / path
            if not there.is_file() or there.read_bytes() != here.read_bytes():
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(here, there)
        for there in self.folder.rglob("*"):
            parts = there.relative_to(self.folder).parts
            if parts[0] != "build" and "__pycache__" not in parts and there.is_file() and "/".join(parts) not in wanted:
                there.unlink()
        self.reports.mkdir(parents=True, exist_ok=True)
        # A fault shows with any optimisation, and only the Release build checks warnings.
        options = [
            "-DCMAKE_BUILD_TYPE=Debug",
            "-DCMAKE_CXX_FLAGS_DEBUG=-O1",
            "-DMIDDLEMARK_TESTS=ON",
            "-DMIDDLEMARK_WERROR=OFF",
        ]
        if self.run("cmake", ["cmake", "-S", ".", "-B", "build", "-G", "Ninja", *options]) != 0:
            raise SystemExit(f"mutants: cmake failed: {self.reports}/cmake.log")

    def build(self, targets: Iterable[str], jobs: int | None = None) -> None:
        """Build the targets, if any. cargo builds its crates itself."""
        targets = [*targets]
        if not targets:
            return
        command = ["cmake", "--build", "build", "--parallel", str(jobs or self.jobs), "--target", *targets]
        if self.run("build", command) != 0:
            log = (self.reports / "build.log").read_text(errors="replace").splitlines()
            errors = [line for line in log if "error" in line] or log[-1:]
            raise CannotBeTriedError(f"does not compile: {errors[0]}")

    def run(self, name: str, command: Sequence[str | Path], **environment: str) -> int:
        """Run a command with a time limit, and return its status; its output is in a log of that name."""
        with (self.reports / f"{name}.log").open("w") as log:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.environment | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
            RUNNING.add(process.pid)
            try:
                return process.wait(STEP_S if name != "build" else None)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return TOO_LONG
            finally:
                RUNNING.discard(process.pid)

    def failed(self, status: int, report: Path) -> list[str]:
        """Return the names of the failed tests from a JUnit report."""
        if status == 0:
            return []
        if status == TOO_LONG:
            return [HANGS]
        names = []
        for case in ET.parse(report).iter("testcase") if report.exists() else ():
            if case.get("status") == "fail" or case.find("failure") is not None or case.find("error") is not None:
                module = case.get("classname", "").replace(".", "/")
                names.append(
                    f"{module}.py::{case.get('name')}" if module.startswith("conformance/") else case.get("name")
                )
        return [name for name in names if name] or [NO_TEST]


@dataclass(frozen=True)
class Ctest:
    """C++ tests of some labels."""

    labels: tuple[str, ...]

    @property
    def targets(self) -> set[str]:
        """The CMake targets for these tests. cargo builds its crates itself."""
        return {f"core_{label}_test" for label in self.labels if label != "rust"}

    def run(self, tree: Tree, again: Sequence[str] = ()) -> list[str]:
        """Run the tests, or only those in ``again``, and return the tests that failed."""
        report = tree.reports / "ctest.xml"
        report.unlink(missing_ok=True)
        which = ["--rerun-failed"] if again and again != [NO_TEST] else ["-L", f"^core\\.({'|'.join(self.labels)})$"]
        command = [
            "ctest",
            "--test-dir",
            "build",
            "--parallel",
            str(tree.jobs),
            "--stop-on-failure",
            "--no-tests=error",
        ]
        return tree.failed(
            tree.run("ctest", [*command, "--output-on-failure", "--output-junit", report, *which]), report
        )

    def __str__(self) -> str:
        return f"ctest {' '.join(self.labels)}"


@dataclass(frozen=True)
class Conformance:
    """Conformance of one worker."""

    worker: str
    only: str

    @property
    def targets(self) -> set[str]:
        """The CMake targets for this worker."""
        return {f"middlemark-worker-{self.worker}", "middlemark-witness"}

    def run(self, tree: Tree, again: Sequence[str] = ()) -> list[str]:
        """Run the tests, or only those in ``again``, and return the tests that failed."""
        report = tree.reports / "conformance.xml"
        report.unlink(missing_ok=True)
        named = [name for name in again if name != NO_TEST]
        command = [sys.executable, "-m", "pytest", "-x", "-q"]
        # scripts/alone of the original checkout: the script of a copy in /tmp would keep all of /tmp visible.
        isolate = ROOT / "scripts" / "alone"
        if tree.run("alone", [isolate, "true"]) == 0:
            python = f"{quoted(isolate)} {quoted(Path(sys.executable))}"
            command += ["--dist", "loadscope", "--tx", f"{3 * tree.jobs}*popen//python={python}"]
        command += ["--junitxml", str(report), *(["--every-level"] if tree.every_level else [])]
        command += named or ["conformance", "-k", self.only]
        worker = tree.build_folder / "workers" / f"middlemark-worker-{self.worker}"
        return tree.failed(tree.run("conformance", command, MIDDLEMARK_WORKERS=str(worker)), report)

    def __str__(self) -> str:
        return f"conformance {self.worker}" + (f" -k '{self.only}'" if self.only != self.worker else "")


def quoted(path: Path) -> str:
    """Return a path with the escapes that execnet needs."""
    return str(path).replace("\\", "\\\\").replace(" ", "\\ ")


def first_failure(step: Ctest | Conformance, tree: Tree) -> str | None:
    """Return the first test that fails twice in a row. If a test fails only once, try the step once more."""
    for _ in range(2):
        failed = step.run(tree)
        if not failed:
            return None
        if confirmed := failed if failed == [HANGS] else step.run(tree, failed):
            return confirmed[0]
    return None


def finding(mutant: Mutant, tree: Tree) -> str | None:
    """Return the name of the step and test that found the mutant; empty if it survives."""
    file = tree.folder / mutant.file
    if not file.is_file():
        raise CannotBeTriedError(f"does not apply: there is no {mutant.file}")
    whole = file.read_text()
    file.write_text(mutant.planted_in(whole))
    try:
        for step in mutant.steps:
            tree.build(step.targets)
            if found := first_failure(step, tree):
                return found
        return None
    finally:
        file.write_text(whole)


def clean(step: Ctest | Conformance, tree: Tree) -> bool:
    """Return true if a step passes in the copy without a mutant."""
    begun = time.monotonic()
    tree.build(step.targets)
    failed = first_failure(step, tree)
    say(
        "FAILS  " if failed else "passes ",
        begun,
        f"{step} without a mutant: {failed}" if failed else f"{step} without a mutant",
    )
    return failed is None


def tried(mutant: Mutant, tree: Tree) -> bool:
    """Return true if the tests find a mutant."""
    begun = time.monotonic()
    try:
        found = finding(mutant, tree)
    except CannotBeTriedError as error:
        say("CANNOT ", begun, f"{mutant.name}: {error}")
        return False
    say("found  " if found else "SURVIVES", begun, f"{mutant.name}: {found or mutant.fault}")
    return bool(found)


def say(verdict: str, begun: float, text: str) -> None:
    print(f"{verdict:8} {time.monotonic() - begun:4.0f} s  {text}", flush=True)


def main() -> int:
    """Try the mutants; return 0 if every one was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="mutants, by file name patterns; by default all")
    parser.add_argument("--full", action="store_true", help="conformance as in ./check full, with each level alone")
    parser.add_argument(
        "--side-by-side", type=int, default=min(2, CPUS), metavar="N", help="number of copies of the checkout"
    )
    asked = parser.parse_args()

    begun = time.monotonic()
    chosen = [each for each in mutants() if any(fnmatch.fnmatch(each.name, name) for name in asked.names or ["*"])]
    if not chosen:
        parser.error("there is no mutant of that name")
    jobs = max(1, CPUS // asked.side_by_side)
    trees = [Tree(ROOT / "build" / "mutants" / str(i), jobs, asked.full) for i in range(asked.side_by_side)]
    labels = dict.fromkeys(label for each in chosen for label in each.tests)
    steps = dict.fromkeys(step for each in chosen for step in each.steps if isinstance(step, Conformance))
    all_steps: list[Ctest | Conformance] = [*([Ctest(tuple(labels))] if labels else []), *steps]
    for tree in trees:
        tree.copy()
    for tree in trees:  # one after the other: the first build fills the compiler's cache for the others
        tree.build({target for step in all_steps for target in step.targets}, CPUS)
        say("ready", begun, str(tree.folder.relative_to(ROOT)))

    free: queue.SimpleQueue[Tree] = queue.SimpleQueue()
    for tree in trees:
        free.put(tree)

    def in_a_tree(test: "Ctest | Conformance | Mutant") -> bool:
        tree = free.get()
        try:
            return tried(test, tree) if isinstance(test, Mutant) else clean(test, tree)
        finally:
            free.put(tree)

    with concurrent.futures.ThreadPoolExecutor(len(trees)) as pool:
        if not all(list(pool.map(in_a_tree, all_steps))):
            print("the tests fail without a mutant: what they would find proves nothing")
            return 1
        found = list(pool.map(in_a_tree, chosen))
    print(f"{sum(found)} of {len(found)} mutants found in {time.monotonic() - begun:.0f} s")
    return 0 if all(found) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        for group in RUNNING:
            os.killpg(group, signal.SIGKILL)
        os._exit(130)
