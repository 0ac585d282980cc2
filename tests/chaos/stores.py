"""Damages stored runs. A command that reads one must report the damage, end as documented, and show the other runs."""

import asyncio
import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from attempts import RUNS, Ended, Hung, describing_worker, run, run_apart, watched
from mutations import lines_of, of_bytes, of_json, of_kind, of_npy

from middlemark.store import read_run

APART = 40
"""One in 40 mutations is also read by commands in separate processes."""
TOKEN = "token"


class Damaged(NamedTuple):
    """A mutation, and the ``order`` of the trials that it leaves unchanged; None if it may change all trials."""

    what: str
    untouched: frozenset[int] | None = None


class Kind:
    """Damages stored runs, one mutation at a time."""

    name = "stores"

    def __init__(self) -> None:
        """Make a folder with a run to damage and an undamaged one."""
        self._place = tempfile.TemporaryDirectory(prefix="middlemark-chaos-")
        self.root = Path(self._place.name) / "runs"
        self.neighbour = self.root / "neighbour"
        shutil.copytree(RUNS / "search", self.neighbour)
        self._worker = describing_worker(Path(self._place.name) / "workers")
        self.tried = 0
        for each in RUNS.glob("*/run.json"):
            assert (read := read_run(each.parent)).planned_trials == len(read.outcomes), each

    def close(self) -> None:
        """Remove the folder."""
        self._worker()
        self._place.cleanup()

    def attempt(self, draw: random.Random) -> tuple[str, list[str]]:
        """Damage a copy of a run and read the copy in all ways; return what was done and what was lost."""
        self.tried += 1
        fixture = draw.choice(("patterns", "patterns", "search", "baselines"))
        victim = self.root / "victim"
        _remove(victim)
        shutil.copytree(RUNS / fixture, victim)
        damaged = [_damage(draw, victim) for _ in range(draw.choice((1, 1, 1, 2, 5)))]
        extra_files = [name for name in ("report.html", "run.json.new") if draw.random() < 0.03]
        damaged += [Damaged(f"{name} {of_kind(draw, victim / name, _remove)}", _ALL) for name in extra_files]
        losses = [*self._losses(draw, victim, damaged, run)]
        if self.tried % APART == 0:
            losses += self._apart(victim)
        return f"{fixture}: {'; '.join(each.what for each in damaged)}", losses

    def _losses(
        self, draw: random.Random, victim: Path, damaged: list[Damaged], run: Callable[..., Ended]
    ) -> Iterator[str]:
        yield from _kept(victim, damaged)
        listed = run("list", "runs", str(self.root))
        yield from listed.losses({0})
        if str(self.neighbour) not in listed.out:
            yield f"list runs: the undamaged run is not listed: {listed.out} {listed.err}"
        if "victim" not in listed.out + listed.err and (victim / "run.json").exists():
            yield f"list runs: the damaged run is not mentioned: {listed.out} {listed.err}"
        page = str(Path(self._place.name) / "page.html")
        yield from run("report", str(victim), "--markdown", "-").losses({0, 3})
        yield from run("show", str(victim), *(("--rows",) if self.tried % 2 else ())).losses({0, 3})
        if draw.random() < 0.3:  # an HTML page takes longer than everything else together
            yield from run("report", str(victim), str(self.neighbour), "--html", page).losses({0, 1, 3})
            yield from self._viewed()
        yield from run("compare", str(victim), str(self.neighbour), "--anyway").losses({0, 2, 3})
        by = draw.choice(("pattern", "adapter", "size", "transport"))
        metric = draw.choice(("p50", "p99,throughput", "cpu,memory"))
        yield from run("compare", str(victim), "--by", by, "--metric", metric, "--anyway").losses({0, 2, 3})
        to = draw.choice(("google-benchmark", "csv", "latencytest", "roundtrip", "ddsperf", "junit", "hdr", "parquet"))
        out = Path(self._place.name) / "exported"
        yield from run("export", str(victim), "--to", to, "--out", str(out)).losses({0, 3})
        _remove(out)
        if draw.random() < 0.1:
            yield from run("report", str(victim)).losses({0, 1, 3})
            yield from run("export", str(victim), "--to", "csv").losses({0, 3})
        yield from run("run", "--resume", str(victim), "--quiet").losses({2, 3})

    def _apart(self, victim: Path) -> Iterator[str]:
        yield from run_apart("list", "runs", str(self.root)).losses({0})
        yield from run_apart("report", str(victim), "--markdown", "-").losses({0, 3})
        yield from run_apart("run", "--resume", str(victim)).losses({2, 3})

    def _viewed(self) -> Iterator[str]:
        from middlemark.runs.report import html_of, line_of
        from middlemark.view.shelf import Shelf
        from middlemark.view.site import site

        app = site(Shelf(self.root), html_of, line_of, TOKEN)
        wanted = {
            "/": {200},
            "/run/neighbour": {200},
            "/run/victim": {200, 404, 409},
            "/compare?run=neighbour&run=victim": {200, 404, 409},
        }
        for address, allowed in wanted.items():
            try:
                with watched():
                    status, body = asyncio.run(_asked(app, f"/{TOKEN}{address}"))
            except (Exception, Hung) as error:
                yield f"view {address}: {type(error).__name__}: {error} {_where(error)}"
                continue
            if status not in allowed:
                yield f"view {address}: status {status}"
            if address == "/" and "neighbour" not in body:
                yield "view: the neighbour is not listed"


_ALL = frozenset(range(1_000))


def _damage(draw: random.Random, run: Path) -> Damaged:
    """Damage one file of a run."""
    trials = run / "trials.jsonl"
    files = [path for path in sorted(run.rglob("*")) if path.is_file() and not path.is_symlink()]
    files = [path for path in files if path.stat().st_size < 1 << 30]
    samples = [path for path in files if path.suffix == ".npy"]
    what = draw.randrange(12)
    if what < 4 and trials in files and trials.stat().st_size:
        return _of_line(draw, trials)
    if what < 6 and run / "run.json" in files:
        return Damaged(f"run.json: {_change(run / 'run.json', lambda content: _json(draw, content))}")
    if what < 8 and samples:
        path = draw.choice(samples)
        try:
            return Damaged(f"{path.name}: {_change(path, lambda content: of_npy(draw, content))}", _ALL)
        except Exception:  # it is not an npy file any more
            return Damaged(f"{path.name}: {_change(path, lambda content: of_bytes(draw, content))}", _ALL)
    if what == 8 and len(samples) > 1:
        one, other = draw.sample(samples, 2)
        one.write_bytes(other.read_bytes())
        return Damaged(f"{one.name} is {other.name}", _ALL)
    if what == 9:
        path = draw.choice([*files, run / "samples"])
        return Damaged(f"{path.name} {of_kind(draw, path, _remove)}", _ALL if path.suffix == ".npy" else None)
    if what == 10 and trials in files and trials.stat().st_size:
        return Damaged(f"trials.jsonl: {_change(trials, lambda content: lines_of(draw, content))}")
    path = draw.choice(files or [run / "run.json"])
    if not files:
        return Damaged("nothing is left")
    return Damaged(f"{path.name}: {_change(path, lambda content: of_bytes(draw, content))}")


def _of_line(draw: random.Random, trials: Path) -> Damaged:
    """Damage one line; the trials of the other lines must still be read."""
    lines = trials.read_bytes().split(b"\n")
    at = draw.randrange(max(1, len(lines) - 1))
    what, line = _json(draw, lines[at]) if draw.random() < 0.8 else of_bytes(draw, lines[at])
    others = []
    for each in lines[:at] + lines[at + 1 :]:
        try:
            others.append(json.loads(each)["order"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return Damaged(f"line {at + 1}: {what}", None)  # the line was already damaged
    lines[at] = line.replace(b"\n", b" ")
    trials.write_bytes(b"\n".join(lines))
    try:  # the line may now have another trial's number
        order = json.loads(line).get("order")
    except (ValueError, AttributeError, RecursionError):
        order = None
    untouched = frozenset(each for each in others if each != order)
    return Damaged(f"trials.jsonl line {at + 1}: {what}", untouched if order != at else frozenset(others))


def _json(draw: random.Random, content: bytes) -> tuple[str, bytes]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return of_bytes(draw, content)
    return of_json(draw, value) if value and isinstance(value, dict | list) else of_bytes(draw, content)


def _change(path: Path, how: Callable[[bytes], tuple[str, bytes]]) -> str:
    what, content = how(path.read_bytes())
    path.write_bytes(content)
    return what


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _kept(victim: Path, damaged: list[Damaged]) -> Iterator[str]:
    """Yield the trials that were not damaged but are missing in the output."""
    if any(each.untouched is None for each in damaged) or len(damaged) > 1:
        return
    untouched = damaged[0].untouched or frozenset()
    with watched():
        try:
            orders = {each.order for each in read_run(victim).outcomes}
        except Exception as error:
            yield f"reading: {type(error).__name__}: {error}"
            return
    planned = {trial["order"] for trial in json.loads((victim / "run.json").read_bytes())["plan"]["trials"]}
    if lost := (untouched & planned) - orders:
        yield f"reading: trials {sorted(lost)} are undamaged but not read"


async def _asked(app: Any, address: str) -> tuple[int, str]:
    """Request a page from an application as a browser would; exceptions of the application are raised here."""
    path, _, query = address.partition("?")
    status, body = 0, b""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status, body
        status = message.get("status", status)
        body += message.get("body", b"")

    headers = [(b"host", b"127.0.0.1")]
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": headers,
    }
    await app(
        {**scope, "http_version": "1.1", "scheme": "http", "server": ("127.0.0.1", 80), "root_path": ""}, receive, send
    )
    return status, body.decode(errors="replace")


def _where(error: BaseException) -> str:
    import traceback

    return " < ".join(
        f"{Path(each.filename).name}:{each.lineno}" for each in traceback.extract_tb(error.__traceback__)[-4:][::-1]
    )
