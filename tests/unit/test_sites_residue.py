"""Residue is removed, but never a file that a living process uses or that existed before."""

import json
import mmap
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from middlemark.sites import residue
from middlemark.sites.domains import FIRST, LAST, Domains
from middlemark.system.checks.participants import used_domains

SCOPE = "mm_abc_1"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files that no other test uses."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def user() -> Iterator[Callable[[Path, str], subprocess.Popen[bytes]]]:
    """Start a process that has a file mapped, or open, until the test ends."""
    started: list[subprocess.Popen[bytes]] = []

    def use(path: Path, how: str) -> subprocess.Popen[bytes]:
        script = (
            "import mmap, sys; path, how = sys.argv[1:]; file = open(path, 'r+b')\n"
            "if how == 'mapped': memory = mmap.mmap(file.fileno(), 0); file.close()\n"
            "print(flush=True); sys.stdin.read()"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(path), how], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == b"\n"
        return process

    yield use
    for process in started:
        if process.returncode is None:
            process.communicate(timeout=30)


def made(folder: Path, *names: str) -> list[Path]:
    paths = [folder / name for name in names]
    for path in paths:
        path.write_bytes(b"x" * 64)
    return paths


def test_files_left_by_a_trial_are_removed(tmp_path: Path) -> None:
    pattern = f"{tmp_path}/seg.{{scope}}_*"
    before = residue.left_before([pattern], SCOPE)
    mine, other = made(tmp_path, f"seg.{SCOPE}_a", "seg.mm_other_1_a")
    assert residue.clear([pattern], SCOPE, before) == (str(mine),)
    assert not mine.exists()
    assert other.exists()


def test_files_from_before_the_trial_are_kept(tmp_path: Path) -> None:
    [old] = made(tmp_path, "seg_old")
    before = residue.left_before([f"{tmp_path}/seg_*"], SCOPE)
    [new] = made(tmp_path, "seg_new")
    assert residue.clear([f"{tmp_path}/seg_*"], SCOPE, before) == (str(new),)
    assert old.exists()


def test_a_file_shared_by_two_runs_is_removed_by_the_last_one(
    tmp_path: Path, user: Callable[[Path, str], subprocess.Popen[bytes]]
) -> None:
    patterns = [f"{tmp_path}/port_*"]
    first = residue.left_before(patterns, "mm_first_1")
    [shared] = made(tmp_path, "port_7413")
    worker = user(shared, "mapped")
    second = residue.left_before(patterns, "mm_second_1")
    assert residue.clear(patterns, "mm_first_1", first) == ()
    worker.communicate(timeout=30)
    assert residue.clear(patterns, "mm_second_1", second) == (str(shared),)


@pytest.mark.parametrize("how", ["mapped", "open"])
def test_files_in_use_by_a_process_are_never_removed(
    tmp_path: Path, user: Callable[[Path, str], subprocess.Popen[bytes]], how: str
) -> None:
    used, unused = made(tmp_path, "seg_used", "seg_unused")
    user(used, how)
    assert residue.clear([f"{tmp_path}/seg_*"], SCOPE, frozenset()) == (str(unused),)
    assert used.exists()


def test_folders_are_removed_recursively_without_following_links(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    [precious] = made(elsewhere, "precious")
    folder = tmp_path / "seg_folder"
    folder.mkdir()
    made(folder, "inside")
    (tmp_path / "seg_link").symlink_to(elsewhere)
    residue.clear([f"{tmp_path}/seg_*"], SCOPE, frozenset())
    assert not folder.exists()
    assert not (tmp_path / "seg_link").exists()
    assert precious.exists()


def test_a_bound_socket_is_kept(tmp_path: Path) -> None:
    living, dead = tmp_path / "seg_living", tmp_path / "seg_dead"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
        bound.bind(str(living))
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as closed:
            closed.bind(str(dead))
        assert residue.clear([f"{tmp_path}/seg_*"], SCOPE, frozenset()) == (str(dead),)
    assert living.exists()


MAKE_A_SEGMENT = (
    "import ctypes; c = ctypes.CDLL(None); print(id := c.shmget(0, 4096, 0o1600)); c.shmat.restype = ctypes.c_void_p; "
    "c.shmat(id, None, 0); input()"
)


def test_segments_of_system_v_are_removed_after_their_creator_ended_and_all_detached() -> None:
    patterns = (residue.SYSTEM_V,)
    before = residue.snapshot(patterns, SCOPE)
    maker = subprocess.Popen([sys.executable, "-c", MAKE_A_SEGMENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert maker.stdout is not None
    segment = f"sysv:{int(maker.stdout.readline())}"
    assert segment not in residue.clear(patterns, SCOPE, before)
    maker.kill()
    maker.communicate()
    assert segment in residue.clear(patterns, SCOPE, before)
    assert segment not in residue.snapshot(patterns, SCOPE)


def test_a_mapping_of_this_process_also_counts_as_use(tmp_path: Path) -> None:
    [path] = made(tmp_path, "seg_mine")
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0):
        assert residue.in_use([str(path)]) == {str(path)}


# ---- residue of a killed launcher


def claim(tmp_path: Path) -> Path:
    """Have a process make a scratch folder and die; return the folder."""
    script = (
        "import sys, os, tempfile; from middlemark.sites import residue\n"
        "tempfile.tempdir, *patterns = sys.argv[1:]\n"
        f"before = residue.snapshot(patterns, {SCOPE!r})\n"
        f"print(residue.make_scratch(patterns, {SCOPE!r}, before), flush=True)\n"
        "os.kill(os.getpid(), 9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tempfile.gettempdir(), f"{tmp_path}/seg_*"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(residue.__file__).parents[2])},
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    return Path(done.stdout.strip())


def test_files_left_by_a_killed_launcher_are_removed_by_the_next(tmp_path: Path) -> None:
    [before] = made(tmp_path, "seg_before")
    scratch = claim(tmp_path)
    [left] = made(tmp_path, "seg_left")
    assert scratch.is_dir()
    assert set(residue.clear_abandoned()) == {str(left), str(scratch)}
    assert not scratch.exists()
    assert before.exists()
    assert residue.clear_abandoned() == ()


def test_the_scratch_folder_of_a_running_launcher_is_kept(tmp_path: Path) -> None:
    scratch = residue.make_scratch([f"{tmp_path}/seg_*"], SCOPE, frozenset())
    [mine] = made(tmp_path, "seg_mine")
    assert residue.clear_abandoned() == ()
    assert Path(scratch).is_dir()
    assert mine.exists()


def test_files_of_a_dead_launcher_that_a_process_uses_are_kept(
    tmp_path: Path, user: Callable[[Path, str], subprocess.Popen[bytes]]
) -> None:
    claim(tmp_path)
    [used] = made(tmp_path, "seg_used")
    user(used, "mapped")
    assert str(used) not in residue.clear_abandoned()
    assert used.exists()


@pytest.mark.parametrize(
    "changed",
    [{"world": "another boot, another namespace"}, {"pid": os.getpid(), "started": None}, {"pid": "?"}],
    ids=["of another namespace", "of a living process", "damaged"],
)
def test_a_claim_that_cannot_be_judged_is_not_removed(tmp_path: Path, changed: dict[str, object]) -> None:
    scratch = claim(tmp_path)
    path = scratch / ".launcher.json"
    if changed.get("started", "") is None:
        mine = Path(residue.make_scratch([], SCOPE, frozenset())) / ".launcher.json"
        changed = {**changed, "started": json.loads(mine.read_text())["started"]}
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))
    [left] = made(tmp_path, "seg_left")
    assert residue.clear_abandoned() == ()
    assert scratch.exists()
    assert left.exists()


def test_folders_that_belong_to_no_trial_are_not_removed(temporary: Path) -> None:
    (temporary / "middlemark-notes").mkdir()
    (temporary / "middlemark-link").symlink_to(temporary / "middlemark-notes")
    (temporary / "middlemark-file").touch()
    assert residue.clear_abandoned() == ()
    assert len(list(temporary.iterdir())) == 3


# ---- domains


def test_domains_are_used_in_turn_and_wrap_around(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("middlemark.sites.domains.used_domains", frozenset)
    domains = Domains(seed=12345)
    handed = [domains.next() for _ in range(LAST - FIRST + 1)]
    assert sorted(handed) == list(range(FIRST, LAST + 1))
    assert domains.next() == handed[0]


def test_a_domain_in_use_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("middlemark.sites.domains.used_domains", lambda: frozenset(range(FIRST, LAST)))
    domains = Domains(seed=3)
    assert [domains.next(), domains.next()] == [LAST, LAST]


def test_if_all_domains_are_in_use_the_next_in_turn_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("middlemark.sites.domains.used_domains", lambda: frozenset(range(FIRST, LAST + 1)))
    domains = Domains(seed=3)
    first, second = domains.next(), domains.next()
    assert {first, second} <= set(range(FIRST, LAST + 1))


def test_a_bound_port_marks_its_domain_as_used() -> None:
    free = next(domain for domain in range(LAST, FIRST, -1) if domain not in used_domains())
    with socket.socket(type=socket.SOCK_DGRAM) as bound:
        bound.bind(("127.0.0.1", 7400 + 250 * free + 10))
        assert free in used_domains()
    assert free not in used_domains()


def test_an_unnamed_semaphore_counts_as_residue_of_adapters_with_named_ones() -> None:
    half = Path(f"/dev/shm/sem.{os.urandom(3).hex()}")
    patterns = residue.patterns_of(["/dev/shm/sem.none_such_*"])
    assert residue.patterns_of(["/dev/shm/none_such_*"]) == ("/dev/shm/none_such_*",)
    before = residue.left_before(patterns, SCOPE)
    half.write_bytes(bytes(32))
    try:
        assert str(half) in residue.clear(patterns, SCOPE, before)
    finally:
        half.unlink(missing_ok=True)


def test_an_old_empty_folder_without_a_claim_is_removed(temporary: Path) -> None:
    old, new, used = (temporary / f"middlemark-{name}" for name in ("old", "new", "used"))
    for each in (old, new, used):
        each.mkdir()
    (used / "something").touch()
    for each in (old, used):
        os.utime(each, (0, 0))
    assert residue.clear_abandoned() == (str(old),)
    assert (new.is_dir(), used.is_dir(), old.exists()) == (True, True, False)
