"""The original settings are on disk before the first change, so they can be restored even after a kill."""

import asyncio
import json
import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from middlemark.model.setting import Setting
from middlemark.sites.channel import WorkerFailedError
from middlemark.sites.namespace import Holder
from middlemark.system import changes as changes_module
from middlemark.system.changes import changing, in_force, put_back, unrestored_warning
from middlemark.system.journal import Journal, JournalError, boot, is_inhabited, namespace, this_process
from middlemark.system.settings import CannotError, read, why_not

VICTIM = Path(__file__).with_name("changing.py")
SOURCE = {"PYTHONPATH": str(VICTIM.parents[2] / "src")}
POINTS = 10
FIN, PROBES = "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_probes"


class Place:
    """A network namespace with its own journal."""

    def __init__(self, prefix: tuple[str, ...], state: Path) -> None:
        self.prefix = prefix
        self.state = state
        self.journal = state / "middlemark" / "changed.json"

    def start(self, point: int, verb: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.prefix, sys.executable, str(VICTIM), str(point), verb],
            env=os.environ | SOURCE | {"XDG_STATE_HOME": str(self.state)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, point: int, verb: str) -> tuple[int, str, str]:
        process = self.start(point, verb)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def values(self) -> tuple[str, str]:
        return read(FIN, self.prefix), read(PROBES, self.prefix)

    def set(self, name: str, value: str) -> None:
        subprocess.run([*self.prefix, "sysctl", "-qw", f"{name}={value}"], check=True)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    try:
        holder = asyncio.run(Holder.isolated())
    except WorkerFailedError as error:
        pytest.skip(error.text)
    yield Place(holder.namespace.prefix, tmp_path)
    holder.end()


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return Journal()


def calls_of_a_whole_run(place: Place) -> int:
    """The number of system calls of a run that is not killed."""

    def is_killed(point: int) -> bool:
        code, _, _ = place.run(point, "make")
        place.run(0, "restore")  # otherwise the next run would restore first and make more calls
        return code == -signal.SIGKILL

    low, high = 1, 64
    while is_killed(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_killed(middle) else (low, middle)
    return low


@pytest.mark.slow
def test_a_kill_at_any_point_leaves_only_changes_that_can_be_restored(place: Place) -> None:
    before = place.values()
    assert before == ("60", "9")
    calls = calls_of_a_whole_run(place)
    assert calls > 20
    draw = random.Random(19)
    points = draw.sample(range(1, calls + 1), min(POINTS, calls))
    points += [draw.randrange(1, calls + 1) for _ in range(POINTS - len(points))]
    left_changed = 0
    for point in points:
        code, _, err = place.run(point, "make")
        assert code == -signal.SIGKILL, err
        left_changed += place.values() != before
        if point % 3 == 0:  # kill it while it restores
            place.run(draw.randrange(2, 9), "restore")
        code, out, err = place.run(0, "restore")
        assert (code, out) == (0, ""), err
        assert place.values() == before, f"killed at call {point} of {calls}"
        assert not place.journal.exists()
    assert left_changed, "no kill left a changed setting, so this test could not fail"


def test_the_next_change_first_restores_the_settings_of_a_killed_process(place: Place) -> None:
    process = place.start(0, "wait")
    assert process.stdout is not None
    assert process.stdout.readline() == "made\n"
    process.kill()
    process.communicate()
    assert place.values() == ("31", "7")
    assert [each["before"] for each in json.loads(place.journal.read_text())] == ["60", "9"]
    code, _, err = place.run(0, "make")
    assert code == 0, err
    assert place.values() == ("60", "9")


def test_a_second_process_is_refused_with_the_pid_of_the_first(place: Place) -> None:
    first = place.start(0, "wait")
    assert first.stdout is not None
    assert first.stdout.readline() == "made\n"
    code, _, err = place.run(0, "make")
    assert code == 1
    assert f"process {first.pid} has changed settings of this machine" in err
    first.communicate("")
    assert place.values() == ("60", "9")


def test_a_setting_changed_by_another_program_is_kept_and_reported(place: Place) -> None:
    process = place.start(0, "wait")
    assert process.stdout is not None
    assert process.stdout.readline() == "made\n"
    place.set(FIN, "45")
    process.kill()
    process.communicate()
    _, out, _ = place.run(0, "restore")
    assert out.strip() == f"{FIN}: another program has changed it to 45: not restored (it was 60 before)"
    assert place.values() == ("45", "9")
    assert not place.journal.exists()


def test_changes_in_a_namespace_end_with_the_namespace(tmp_path: Path) -> None:
    try:
        holder = asyncio.run(Holder.isolated())
    except WorkerFailedError as error:
        pytest.skip(error.text)
    place = Place(holder.namespace.prefix, tmp_path)
    process = place.start(0, "wait")
    assert process.stdout is not None
    assert process.stdout.readline() == "made\n"
    holder.end()
    process.kill()
    process.communicate()
    here = Place((), tmp_path)
    before = here.values()
    assert here.run(0, "restore")[:2] == (0, "")
    assert here.values() == before
    assert not here.journal.exists()


def test_a_number_that_the_kernel_gave_to_a_new_namespace_is_not_the_old_one(place: Place) -> None:
    here = namespace("net", place.prefix)
    number, cookie = here.split()
    assert is_inhabited(here)
    assert not is_inhabited(f"{number} {int(cookie) - 1}")
    assert is_inhabited(number), "a journal of an earlier version has no cookie"


class Fake:
    """A fake machine whose settings are a dictionary."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
        self.values = {name.replace("__", "."): value for name, value in values.items()}
        self.refuses: set[str] = set()
        for name in ("read", "write", "why_not", "place_of"):
            monkeypatch.setattr(changes_module.settings, name, getattr(self, name))

    def read(self, target: str, _prefix: object = ()) -> str:
        return self.values[target]

    def write(self, setting: Setting, _prefix: object = (), _tell: object = None) -> None:
        if setting.target in self.refuses:
            raise CannotError(setting.target, "the kernel refuses it")
        self.values[setting.target] = setting.value

    def why_not(self, _setting: Setting, _prefix: object = ()) -> None:
        return None

    def place_of(self, _target: str, _prefix: object) -> tuple[str, ...]:
        return ()


def test_no_setting_is_changed_if_the_journal_cannot_be_written(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = Fake(monkeypatch, vm__swappiness="60")
    with changing(journal) as changes:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, hard))  # as on a disk without room for the journal
            with pytest.raises(JournalError) as refused:
                changes.make([Setting("vm.swappiness", "1")])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    assert str(journal.path) in str(refused.value)
    assert "nothing was changed" in refused.value.advice
    assert fake.values == {"vm.swappiness": "60"}
    assert not journal.path.exists()
    assert not journal.path.with_suffix(".new").exists()


def test_either_all_settings_are_made_or_none(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Fake(monkeypatch, vm__swappiness="60", vm__overcommit_memory="0")
    fake.refuses = {"vm.overcommit_memory"}
    with (
        changing(journal) as changes,
        pytest.raises(CannotError, match=r"vm\.overcommit_memory: the kernel refuses it"),
    ):
        changes.make([Setting("vm.swappiness", "1"), Setting("vm.overcommit_memory", "2")])
    assert fake.values == {"vm.swappiness": "60", "vm.overcommit_memory": "0"}


def test_a_kept_setting_stays_until_it_is_restored(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Fake(monkeypatch, vm__swappiness="60")
    with changing(journal, kept=True) as changes:
        changes.make([Setting("vm.swappiness", "1")])
    assert fake.values == {"vm.swappiness": "1"}
    assert unrestored_warning() is None, "a requested setting needs no warning"
    with changing(journal) as changes:  # a run that starts after `tune`
        changes.make([Setting("vm.swappiness", "10")])
        assert fake.values == {"vm.swappiness": "10"}
    assert fake.values == {"vm.swappiness": "1"}
    assert put_back(journal, in_force(journal), None, {}) == []
    assert fake.values == {"vm.swappiness": "60"}


def left_by_another(journal: Journal, monkeypatch: pytest.MonkeyPatch, *, boot_id: str = "") -> Fake:
    """Make a change and its journal, as a killed process leaves them."""
    fake = Fake(monkeypatch, vm__swappiness="60")
    with changing(journal) as changes:
        changes.make([Setting("vm.swappiness", "1")])
        [entry] = json.loads(journal.path.read_text())
        text = json.dumps([entry | {"boot": boot_id or boot(), "owner": {"pid": this_process().pid, "started": "1"}}])
    fake.values["vm.swappiness"] = "1"
    journal.path.write_text(text)
    return fake


def test_every_verb_first_warns_about_the_settings_of_a_killed_process(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert unrestored_warning() is None
    left_by_another(journal, monkeypatch)
    warning = unrestored_warning()
    assert warning is not None
    assert "vm.swappiness is 1 (before: 60)" in warning
    assert "middlemark tune restore" in warning
    ended = subprocess.run(
        [sys.executable, "-m", "middlemark", "list", "suites"],
        env=os.environ | SOURCE,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stderr.strip() == f"middlemark: {warning}"


def test_a_change_does_not_outlast_the_boot(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = left_by_another(journal, monkeypatch, boot_id="0b0e")
    assert unrestored_warning() is None
    assert put_back(journal, journal.entries(), None, {}) == []
    assert fake.values == {"vm.swappiness": "1"}, "another program may have set the value after this boot"
    assert not journal.path.exists()


def test_a_damaged_journal_is_named_and_nothing_is_changed(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Fake(monkeypatch, vm__swappiness="60")
    journal.path.parent.mkdir()
    journal.path.write_text('[{"target": "vm.swap')
    assert str(journal.path) in str(unrestored_warning())
    with pytest.raises(JournalError, match=r"changed\.json"), changing(journal) as changes:
        changes.make([Setting("vm.swappiness", "1")])
    assert fake.values == {"vm.swappiness": "60"}


@pytest.mark.parametrize("target", ["net.ipv4.no_such_thing", "/sys/devices/system/cpu/cpu0/nothing", "cgroup.nothing"])
def test_a_setting_that_this_kernel_lacks_is_named(target: str) -> None:
    refused = why_not(Setting(target, "/" if target.startswith("cgroup") else "1"))
    assert refused is not None
    assert str(refused).startswith(f"{target}: th")


def test_a_setting_that_is_read_only_in_a_namespace_is_refused(place: Place) -> None:
    program = (
        "from middlemark.system.settings import why_not; from middlemark.model.setting import Setting\n"
        "print(why_not(Setting('net.core.rmem_max', '1')), why_not(Setting('net.ipv4.tcp_fin_timeout', '31')))"
    )
    argv = [*place.prefix, sys.executable, "-c", program]
    ran = subprocess.run(argv, env=os.environ | SOURCE, capture_output=True, text=True, check=True)
    if "net.core.rmem_max: " not in ran.stdout:
        pytest.skip("this kernel has it in no namespace, or in each")
    assert " in a container or a network namespace" in ran.stdout or "does not have the setting" in ran.stdout
    assert ran.stdout.strip().endswith(" None")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
def test_without_root_the_refusal_names_root_and_sudo() -> None:
    program = (
        "import os; os.setgid(65534); os.setuid(65534)\n"
        "from middlemark.system.settings import why_not; from middlemark.model.setting import Setting\n"
        "error = why_not(Setting('vm.swappiness', '1')); print(error, error.advice)"
    )
    program = (
        "from middlemark.system import changes\n" + program
    )  # imported as root, because the user nobody may be unable to read the checkout
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=SOURCE | {"PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "vm.swappiness: only root may set it run as root, or let this user use sudo"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_a_read_only_proc_sys_of_a_container_is_reported(tmp_path: Path) -> None:
    program = (
        "from middlemark.system.changes import changing; from middlemark.model.setting import Setting\n"
        "from middlemark.system.settings import CannotError\n"
        "with changing() as changes:\n"
        "    try: changes.make([Setting('vm.swappiness', '1')])\n"
        "    except CannotError as error: print(error)"
    )
    script = 'mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && exec "$@"'
    ran = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", sys.executable, "-c", program],
        env=os.environ | SOURCE | {"XDG_STATE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "vm.swappiness: is read-only, as in a container or a network namespace"
