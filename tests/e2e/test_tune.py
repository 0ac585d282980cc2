"""`tune` changes settings of the machine, and restores them even if the command fails or is killed."""

import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from product import ROOT, Bench, Ended

from middlemark.sites.channel import WorkerFailedError
from middlemark.sites.namespace import Holder

pytestmark = pytest.mark.usefixtures("null_worker")

TIME, MEMORY = "net.ipv4.ipfrag_time", "net.ipv4.ipfrag_high_thresh"
FIN = "net.ipv4.tcp_fin_timeout"
RUN = ("run", "--adapter", "null", "--size", "64", "--samples", "20", "--trials", "1", "--no-baseline", "--quiet")


class Place:
    """Middlemark in its own network namespace, with its own journal."""

    def __init__(self, bench: Bench, prefix: tuple[str, ...]) -> None:
        self.bench = bench
        self.prefix = prefix
        self.environment = {"XDG_STATE_HOME": str(bench.folder / "state")}
        self.journal = bench.folder / "state/middlemark/changed.json"

    def run(self, *words: str, point: int | None = None) -> Ended:
        module = ["-m", "middlemark"] if point is None else [str(ROOT / "tests/e2e/killed.py"), str(point)]
        command = [*self.prefix, sys.executable, *module]
        return self.bench.start(*words, command=command, environment=self.environment).ended()

    def value(self, name: str) -> str:
        argv = [*self.prefix, "sysctl", "-n", name]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def place(bench: Bench) -> Iterator[Place]:
    try:
        holder = asyncio.run(Holder.isolated())
    except WorkerFailedError as error:
        pytest.skip(error.text)
    yield Place(bench, holder.namespace.prefix)
    holder.end()


@pytest.mark.brief
def test_an_applied_setting_stays_until_restore(place: Place) -> None:
    before = place.value(TIME)
    assert before == "30"
    planned = place.run("tune", "plan", "ipfrag_time")
    assert planned.code == 0
    assert planned.out.startswith(f"sysctl -w {TIME}=")
    assert place.value(TIME) == before, "a plan changes nothing"
    applied = place.run("tune", "apply", "ipfrag_time")
    assert applied.code == 0, applied.err
    now = place.value(TIME)
    assert now != before
    assert f"{TIME} = {now}" in applied.out
    assert f"{TIME} = {now} (before: {before})" in place.run("tune").out
    listed = place.run("list", "suites")
    assert listed.err == "", "a requested setting needs no warning"
    restored = place.run("tune", "restore")
    assert (restored.code, restored.out) == (0, f"{TIME} = {before}\n")
    assert place.value(TIME) == before
    assert place.run("tune", "restore").out == "nothing is changed\n"


def test_an_unknown_check_is_refused_with_the_closest_name(place: Place) -> None:
    ended = place.run("tune", "apply", "ipfrag_tim")
    assert ended.code == 2
    assert "there is no check ipfrag_tim; did you mean 'ipfrag_time'?" in ended.err


def test_a_setting_is_made_for_each_trial_and_restored_afterwards(place: Place) -> None:
    suite = place.bench.folder / "suite.toml"
    suite.write_text(
        "[[sweep]]\nadapter = 'null'\ntransport = 'memory'\nsize = 64\nsamples = 20\ntrials = 2\nbaseline = false\n"
        f"system = {{ '{FIN}' = [60, 31] }}\n"
    )
    ended = place.run("run", str(suite), "--quiet", "--format", "json")
    assert ended.code == 0, ended.err
    assert [each["system"] for each in ended.document["cells"]] == [f"{FIN}=60", f"{FIN}=31"]
    assert place.value(FIN) == "60"
    assert not place.journal.exists()
    compared = place.run("compare", "--by", "system", str(ended.folder), "--format", "json")
    assert compared.code == 0, compared.err


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("net.ipv4.no_such_thing=1", "this kernel or this network namespace does not have the setting"),
        ("kernel.core_pattern=x", "is not a setting that may be changed"),
        (f"{FIN}=abc", "the kernel refuses abc"),
    ],
)
def test_a_setting_that_cannot_be_made_is_refused_with_the_reason(place: Place, setting: str, why: str) -> None:
    ended = place.run(*RUN, "--system", setting)
    assert ended.code in (2, 3)
    assert why in ended.err + ended.out.replace("\n           ", " ")
    assert place.value(FIN) == "60"
    assert not place.journal.exists()


def test_after_a_killed_run_the_next_start_reports_the_missing_restore(place: Place) -> None:
    command = [*place.prefix, sys.executable, "-m", "middlemark"]
    words = (
        "run",
        "--adapter",
        "null",
        "--size",
        "64",
        "--rate",
        "1k",
        "--duration",
        "30s",
        "--no-baseline",
        "--quiet",
    )
    run = place.bench.start(*words, "--system", f"{FIN}=31", command=command, environment=place.environment)
    from product import until

    until(run.measuring)
    assert place.value(FIN) == "31"
    run.process.kill()
    run.process.communicate()
    warning = place.run("list", "suites").err
    assert f"{FIN} is 31 (before: 60)" in warning
    assert "middlemark tune restore" in warning
    assert place.run("tune", "restore").code == 0
    assert place.value(FIN) == "60"
    run.kill()


def as_nobody(lines: str = "") -> tuple[str, ...]:
    """Return the command for an ordinary user.

    Everything is imported first, because only root may be able to read the checkout.
    """
    imported = ("commands.tune", "runs.remedies", "system.changes", "system.registry", "interrupts", "cli")
    program = "".join(f"import middlemark.{each}\n" for each in imported)
    program += f"import os; os.setgroups([]); os.setgid(65534); os.setuid(65534); {lines}middlemark.cli.main()"
    return (sys.executable, "-c", program)


def test_without_root_and_without_sudo_the_commands_are_printed(place: Place) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root becomes somebody else")
    command = [*place.prefix, *as_nobody("os.environ['PATH'] = '/nowhere'; ")]
    ended = place.bench.start("tune", "apply", "ipfrag_time", command=command, environment=place.environment).ended()
    assert ended.code == 1, ended.err
    assert f"  sysctl -w {TIME}=" in ended.out
    assert place.value(TIME) == "30"


def test_with_sudo_each_command_is_announced_and_undone(place: Place) -> None:
    if os.geteuid() != 0 or shutil.which("sudo") is None:
        pytest.skip("it takes root to become a user who has sudo")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # a folder that an ordinary user can read
        state, rules = Path(folder, "state"), Path(folder, "sudoers")
        rules.write_text("nobody ALL=(root) NOPASSWD: ALL\n")
        rules.chmod(0o440)
        state.mkdir()
        os.chown(state, 65534, 65534)
        Path(folder).chmod(0o755)
        script = 'mount --bind "$1" /etc/sudoers && shift && exec "$@"'  # hides the machine's own rules
        command = [*place.prefix, "unshare", "--mount", "sh", "-c", script, "sh", str(rules), *as_nobody()]

        def tune(*words: str) -> Ended:
            environment = {"XDG_STATE_HOME": str(state)}
            return place.bench.start("tune", *words, command=command, environment=environment).ended()

        applied = tune("apply", "ipfrag_time")
        assert applied.code == 0, applied.err
        now = place.value(TIME)
        assert now != "30"
        assert f"echo {now} | sudo tee /proc/sys/{TIME.replace('.', '/')}" in applied.err
        assert tune("restore").code == 0
        assert place.value(TIME) == "30"
        assert not (state / "middlemark/changed.json").exists()


def test_a_file_under_etc_is_written_only_on_request_and_removed_by_restore(place: Place) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root writes under /etc")
    etc = place.bench.folder / "sysctl.d"
    etc.mkdir()
    script = 'mount --bind "$1" /etc/sysctl.d && shift && exec "$@"'  # hides the machine's own folder
    place.prefix = (*place.prefix, "unshare", "--mount", "sh", "-c", script, "sh", str(etc))
    applied = place.run("tune", "apply", "--persist", "ipfrag_time")
    assert applied.code == 0, applied.err
    [file] = etc.iterdir()
    lines = file.read_text().splitlines()
    assert lines[0].startswith("# Written by `middlemark tune apply --persist`")
    assert lines[1].startswith(f"{TIME} = ")
    [entry] = json.loads(place.journal.read_text())
    place.journal.write_text(json.dumps([entry | {"boot": "the one before"}]))  # sysctl.d applies it at every boot
    assert place.run("tune", "restore").code == 0
    assert list(etc.iterdir()) == []
    assert place.value(TIME) == "30"


@pytest.mark.slow
@pytest.mark.parametrize("interruptions", [10, pytest.param(200, marks=pytest.mark.full)])
def test_no_setting_stays_changed_however_tune_or_a_run_is_killed(place: Place, interruptions: int) -> None:
    before = {name: place.value(name) for name in (TIME, MEMORY, FIN)}
    draw = random.Random(interruptions)
    apply = ("tune", "apply", "ipfrag_time", "ipfrag_high_thresh")
    trial = (*RUN, "--system", f"{FIN}=31&{TIME}=7")
    left = ended = 0
    for number in range(interruptions):
        words = trial if number % 4 == 0 else apply
        if number % 5 == 4:  # kill it while it restores
            place.run(*apply)
            words = ("tune", "restore")
        code = place.run(*words, point=draw.randrange(3, 24)).code
        ended += code == -signal.SIGKILL
        left += any(place.value(name) != was for name, was in before.items())
        restored = place.run("tune", "restore")
        assert restored.code == 0, restored.err
        assert {name: place.value(name) for name in before} == before
        assert not place.journal.exists()
    assert ended >= interruptions // 2, "most commands ended before their kill"
    assert left, "no kill left a changed setting, so this test could not fail"
    for run in place.bench.runs:
        run.kill()
