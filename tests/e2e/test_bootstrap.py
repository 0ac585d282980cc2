"""The set-up on first use (cmake, ninja, venv), with a tiny project on an invented distribution."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from product import until

from middlemark.commands import VERBS

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("cmake", "ninja", "c++")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(any(shutil.which(tool) is None for tool in TOOLS), reason=f"needs {', '.join(TOOLS)}"),
]

PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(tiny LANGUAGES CXX)
include(cmake/MiddlemarkOptions.cmake)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/workers)
add_custom_target(middlemark-workers-at-once)
foreach(each tiny still)
  add_subdirectory(adapters/${each})
  add_dependencies(middlemark-workers-at-once middlemark-worker-${each})
endforeach()
message(STATUS "absent: not built, it was not found")
add_custom_target(middlemark-worker-slow COMMAND touch ${CMAKE_BINARY_DIR}/workers/middlemark-worker-slow
  COMMAND chmod +x ${CMAKE_BINARY_DIR}/workers/middlemark-worker-slow)
"""
ADAPTER = "add_executable(middlemark-worker-%s main.cpp)\n"
WORKER = '#include <cstdio>\nint main() { std::puts("%s"); }\n'
COMMAND = """
import os, subprocess, sys
*first, own = os.environ["MIDDLEMARK_WORKERS"].split(":")
worker = own + "/middlemark-worker-tiny"
print("arguments", sys.argv[1:], *first)
there = os.path.exists(worker)
print("worker", subprocess.run([worker], capture_output=True, text=True, check=True).stdout.strip() if there else None)
"""
MAKES_PYTHON = '"$python" -m venv .venv'
LIST = "[base] builds\nneeded-a\nneeded-b\n\n[tiny] its middleware\nmiddle-c\n\n[check] tests\ntest-d\n"
FIRST = "arguments ['run']\nworker first\n"
DPKG_QUERY = """#!/bin/sh
echo asked >>"${0%/*}/dpkg.log"
for each in $INSTALLED; do
  case " $* " in *" $each "*) echo "installed $each ${VERSION:-1.0}" ;; esac
done
"""
WEB = '#!/bin/sh\nmkdir -p "$1/web" && echo fetched >>"$1/web/report.js"\n'
APT_GET = '#!/bin/sh\necho "$DEBIAN_FRONTEND $*" >>"$APT_LOG"\necho "E: what apt-get said"\nexit "$APT_STATUS"\n'


class Checkout:
    """A copy of the set-up with a tiny project, on an invented distribution with invented package tools."""

    def __init__(self, root: Path, identifier: str = "madeup", python: Path | None = None) -> None:
        self.root = root
        self.python = python
        """A Python environment that the set-up copies, because making one takes seconds."""
        self.state = root / "build" / "setup"
        self.apt_log = root / "apt.log"
        self.point_at_its_own_system()
        if (root / "adapters").exists():
            return  # an existing checkout that was moved
        shutil.copy(ROOT / "middlemark", root / "middlemark")
        self.write("os-release", f'ID={identifier}\nVERSION_ID=1\nPRETTY_NAME="Made Up 1"\n')
        self.write("dpkg-status", "")
        self.write("packaging/distributions/madeup-1.txt", LIST)
        self.write("packaging/requirements.lock", "")
        self.write("CMakeLists.txt", PROJECT)
        for name in ("tiny", "still"):
            self.write(f"adapters/{name}/main.cpp", WORKER % "first")
            self.write(f"adapters/{name}/CMakeLists.txt", ADAPTER % name)
        for folder in ("core", "probe"):
            (root / folder).mkdir()
        shutil.copytree(ROOT / "cmake", root / "cmake")
        self.write("src/middlemark/__init__.py", "")
        self.write("src/middlemark/__main__.py", COMMAND)
        self.write("web/build", WEB).chmod(0o755)
        self.write("packaging/requirements-node.lock", "")
        for name, text in (("dpkg-query", DPKG_QUERY), ("apt-get", APT_GET)):
            self.write(f"bin/{name}", text).chmod(0o755)

    def point_at_its_own_system(self) -> None:
        setup = self.root / "packaging" / "setup"
        shutil.copytree(ROOT / "packaging" / "setup", setup, dirs_exist_ok=True)
        for script in setup.glob("*.sh"):
            text = script.read_text().replace("/etc/os-release", f"{self.root}/os-release")
            text = text.replace("/var/lib/dpkg/status", f"{self.root}/dpkg-status")
            if self.python and script.name == "python.sh":
                assert MAKES_PYTHON in text
                text = text.replace(MAKES_PYTHON, f"cp -a {self.python} .venv")
            script.write_text(text)

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def environment(self, **more: str) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("MIDDLEMARK", "PYTHON"))}
        made_up = {
            "PATH": f"{self.root}/bin:{clean['PATH']}",
            "INSTALLED": "needed-a needed-b middle-c",
            "APT_LOG": str(self.apt_log),
            "APT_STATUS": "100",
        }
        return {**clean, **made_up, **more}

    def popen(self, *arguments: str, prefix: tuple[str, ...] = (), **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*prefix, str(self.root / "middlemark"), *(arguments or ("run",))],
            env=self.environment(**environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def start(self, *arguments: str, prefix: tuple[str, ...] = (), **environment: str) -> tuple[int, str, str]:
        """Run the command, by default `run`; return its status, stdout and stderr."""
        with self.popen(*arguments, prefix=prefix, **environment) as process:
            out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    def take_python(self) -> None:
        """Copy the Python environment, as the first stage of the set-up does."""
        assert self.python
        shutil.copytree(self.python, self.root / ".venv", symlinks=True)
        self.write("build/setup/python", f"root={self.root}\n")

    def set_up(self, *words: str, **environment: str) -> str:
        """Run the stages of the set-up, as `check` and `build` do; return their output."""
        command = [self.root / "packaging/setup/setup.sh", *words]
        return subprocess.run(
            command, env=self.environment(**environment), capture_output=True, text=True, check=True
        ).stderr

    def built(self) -> dict[str, int]:
        """Return the time at which each worker was linked."""
        prefix = "middlemark-worker-"
        workers = (self.root / "build" / "workers").glob(f"{prefix}*")
        return {each.name.removeprefix(prefix): each.stat().st_mtime_ns for each in workers}

    def stamps(self) -> set[str]:
        return {each.name for each in self.state.iterdir() if each.suffix == "" and each.name != "lock"}


@pytest.fixture
def checkout(tmp_path: Path, ready: Checkout) -> Checkout:
    return Checkout(tmp_path / "checkout", python=ready.python)


@pytest.fixture
def with_python(checkout: Checkout) -> Checkout:
    """A checkout with only its Python environment."""
    checkout.take_python()
    return checkout


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout that is completely set up. A test that changes the checkout must undo the change.

    Its set-up makes a Python environment, which later starts and other checkouts copy.
    """
    checkout = Checkout(tmp_path_factory.mktemp("ready") / "checkout")
    status, out, err = checkout.start("run", "one")
    assert status == 0, err
    assert out == "arguments ['run', 'one']\nworker first\n"  # no output of the set-up
    assert "built: still tiny" in err
    assert "absent: not built, it was not found" in err
    assert checkout.stamps() == {"packages", "pypi", "python", "web", "workers"}
    assert "making .venv" in err
    checkout.python = checkout.root.with_name("python")
    shutil.copytree(checkout.root / ".venv", checkout.python, symlinks=True)
    checkout.point_at_its_own_system()
    return checkout


def test_later_starts_do_nothing_and_print_nothing(ready: Checkout) -> None:
    assert ready.start("run", "b c") == (0, "arguments ['run', 'b c']\nworker first\n", "")


def test_the_command_works_from_any_folder_and_through_a_symlink(ready: Checkout, tmp_path: Path) -> None:
    link = tmp_path / "a link"
    link.symlink_to(ready.root / "middlemark")
    done = subprocess.run(
        [link, "run"], cwd=tmp_path, env=ready.environment(), capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == (FIRST, "")


def test_workers_named_by_the_user_come_before_the_checkouts_workers(ready: Checkout) -> None:
    result = ready.start(MIDDLEMARK_WORKERS="/elsewhere:/further")[:2]
    assert result == (0, "arguments ['run'] /elsewhere /further\nworker first\n")


def test_a_change_of_an_adapter_rebuilds_it(ready: Checkout) -> None:
    ready.write("adapters/tiny/main.cpp", WORKER % "second")
    status, out, err = ready.start()
    assert (status, out) == (0, "arguments ['run']\nworker second\n"), err
    ready.write("adapters/tiny/main.cpp", WORKER % "first")
    assert ready.start()[1] == FIRST


def test_a_slow_worker_is_built_on_request_and_kept_up_to_date_afterwards(with_python: Checkout) -> None:
    with_python.write("adapters/slow/CMakeLists.txt", "middlemark_adapter(slow LATER)\n")
    assert "slow" not in with_python.start()[2]
    output = with_python.set_up("worker-slow")
    assert "compiling the workers: 1 step," in output
    assert "worker-slow" in with_python.stamps()
    assert with_python.start()[2] == ""
    with_python.write("adapters/tiny/main.cpp", WORKER % "second")
    status, out, err = with_python.start()
    assert (status, out) == (0, "arguments ['run']\nworker second\n"), err
    assert err.count("compiling the workers") == 1
    assert "middlemark-worker-slow" in (with_python.state / "workers.log").read_text()


def test_packages_of_an_adapter_built_on_request_are_installed_on_request(
    with_python: Checkout,
) -> None:
    with_python.write("adapters/slow/CMakeLists.txt", "middlemark_adapter(slow LATER)\n")
    with_python.write("adapters/slow/packages.txt", "[madeup-1] its middleware\nmiddle-s\n")
    assert "middle-s" not in with_python.start()[2]
    note = with_python.write("build/workers/middlemark-left-out-slow", "middle-s was not found\n")
    with_python.write("adapters/tiny/main.cpp", WORKER % "second")
    with_python.start()
    assert note.read_text().startswith(
        "it is built on request, and its packages are not installed; `./middlemark build"
    )
    output = with_python.set_up("worker-slow", APT_STATUS="0")
    assert "slow: its middleware" in output
    assert "middle-s" in with_python.apt_log.read_text()
    assert with_python.set_up("worker-slow", INSTALLED="needed-a needed-b middle-c middle-s") == ""


def test_a_worker_without_its_compiler_is_reported_and_not_tried_again(with_python: Checkout) -> None:
    with_python.write("adapters/slow/CMakeLists.txt", "middlemark_adapter(slow LATER)\n")
    with_python.write("CMakeLists.txt", PROJECT.replace("middlemark-worker-slow COMMAND", "other COMMAND"))
    with_python.start()
    with_python.write("build/workers/middlemark-left-out-slow", "there is no cargo\n")
    assert "slow: not built, there is no cargo" in with_python.set_up("worker-slow")
    assert with_python.set_up("worker-slow") == ""


def test_an_unrelated_package_triggers_one_check_and_no_build(ready: Checkout) -> None:
    ready.start()
    asked = ready.root / "bin" / "dpkg.log"
    begun = (ready.state / "workers").stat().st_mtime_ns
    ready.write("dpkg-status", "installed: something else\n")
    looks = [len(asked.read_text().splitlines())]
    for _ in range(2):
        assert ready.start(INSTALLED="needed-a needed-b middle-c something-else") == (0, FIRST, "")
        assert (ready.state / "workers").stat().st_mtime_ns == begun
        looks.append(len(asked.read_text().splitlines()))
    assert looks[0] < looks[1] == looks[2]
    ready.write("dpkg-status", "")
    ready.start()


def test_a_new_version_of_a_listed_package_recompiles_its_adapters(ready: Checkout) -> None:
    named = ready.write("adapters/tiny/packages.txt", "[madeup-1] its middleware\nmiddle-c\n")
    ready.start()
    before = ready.built()
    ready.write("dpkg-status", "middle-c 2.0\n")
    status, out, err = ready.start(VERSION="2.0")
    assert (status, out) == (0, FIRST)
    assert "configuring the build (middle-c 1.0 -> 2.0)" in err
    assert re.search(r"compiling the workers: 2 steps, about \d+ s by what they took before", err)
    assert {name for name, time in ready.built().items() if time != before[name]} == {"tiny"}
    ready.write("dpkg-status", "")
    assert "middle-c 2.0 -> 1.0" in ready.start()[2]
    assert ready.start()[2] == ""
    named.unlink()
    ready.start()


def test_another_compiler_at_the_same_path_recompiles_everything(ready: Checkout) -> None:
    real = shutil.which("c++")
    text = '#!/bin/sh\nif [ "$1" = --version ]; then echo "made-up %s"; else exec ' + f'{real} "$@"; fi\n'
    compiler = str(ready.write("bin/own-c++", text % 1))
    os.chmod(compiler, 0o755)
    assert f"CXX was '' and is '{compiler}'" in ready.start(CXX=compiler)[2]
    before = ready.built()
    ready.write("bin/own-c++", text % 2)
    status, out, err = ready.start(CXX=compiler)
    assert (status, out) == (0, FIRST), err
    assert f"compiler {compiler} made-up 1 -> {compiler} made-up 2" in err
    assert all(time != before[name] for name, time in ready.built().items())
    assert ready.start(CXX=compiler)[2] == ""
    assert "compiling" in ready.start()[2]


def test_adding_or_removing_ccache_does_not_recompile_anything(ready: Checkout) -> None:
    ready.start()
    before = ready.built()
    log = ready.root / "ccache.log"
    ccache = ready.write("bin/ccache", f'#!/bin/sh\necho "$@" >>{log}\nexec "$@"\n')
    ccache.chmod(0o755)
    assert ready.start()[2] == ""
    assert "compiling" not in ready.set_up("again", "workers")
    assert ready.built() == before
    ready.write("adapters/tiny/main.cpp", WORKER % "second")
    assert "compiling" in ready.start()[2]
    assert "adapters/tiny/main.cpp" in log.read_text()
    ccache.unlink()
    assert "compiling" not in ready.set_up("again", "workers")
    ready.write("adapters/tiny/main.cpp", WORKER % "first")
    assert ready.start()[1] == FIRST


def test_a_start_that_compiles_first_prints_what_changed_and_the_expected_time(ready: Checkout) -> None:
    ready.start()
    ready.write("adapters/tiny/main.cpp", WORKER % "second")
    ready.write("adapters/still/main.cpp", WORKER % "second")
    first = ready.start()[2].splitlines()[0]
    expected = (
        r"middlemark: compiling the workers \(adapters/\S+/main.cpp and 1 more file\): 4 steps, about \d+ s by .*"
    )
    assert re.fullmatch(expected, first), first
    for name in ("tiny", "still"):
        ready.write(f"adapters/{name}/main.cpp", WORKER % "first")
    assert ready.start()[1] == FIRST


@pytest.mark.parametrize("file", ["README.md", "conformance.toml"])
def test_a_file_that_no_worker_includes_makes_no_worker_out_of_date(ready: Checkout, file: str) -> None:
    ready.start()
    begun = (ready.state / "workers").stat().st_mtime_ns
    ready.write(f"adapters/tiny/{file}", "")
    assert ready.start() == (0, FIRST, "")
    assert (ready.state / "workers").stat().st_mtime_ns == begun


def test_commands_that_only_read_or_convert_install_and_compile_nothing(with_python: Checkout) -> None:
    measuring = {"which", "run", "reproduce", "selftest", "hosts", "build"}
    assert measuring < set(VERBS)
    reading = [(verb,) for verb in VERBS if verb not in measuring]
    asking = [("--version",), ("run", "--help"), ("run", "first-look", "--dry-run"), ("reproduce", "--list")]
    for words in [*reading, *asking, ("no-such-verb",)]:
        status, out, err = with_python.start(*words, INSTALLED="")
        assert (status, out) == (0, f"arguments {list(words)}\nworker None\n")
        assert err == "" or (words[0] in ("report", "view") and "compiling" not in err)
    assert with_python.stamps() == {"python", "web"}
    assert not with_python.apt_log.exists()
    assert with_python.start("diagnose", "runs/x", "--try=udp")[1].endswith("worker first\n")


def test_build_configures_once_and_builds_everything_in_one_go(with_python: Checkout) -> None:
    with_python.write("adapters/slow/CMakeLists.txt", "middlemark_adapter(slow LATER)\n")
    assert with_python.start("build")[2] == ""  # the verb `build` itself decides what to build
    output = with_python.set_up("again", "all")
    assert output.count("configuring") == output.count("compiling") == 1
    assert "built: slow still tiny" in output
    assert {"workers", "worker-slow"} < with_python.stamps()
    assert with_python.start()[:2] == (0, FIRST)


ROS_PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(middlemark LANGUAGES CXX)
list(PREPEND CMAKE_SYSTEM_PREFIX_PATH ${PROJECT_SOURCE_DIR}/distribution)
set(MIDDLEMARK_ADAPTERS all)
include(cmake/MiddlemarkOptions.cmake)
include(cmake/MiddlemarkAdapter.cmake)
add_library(core INTERFACE)
add_library(middlemark::core ALIAS core)
add_subdirectory(adapters)
"""
ROSCPP = """
foreach(each rosgraph_msgs std_msgs)
  find_package(${each} REQUIRED NO_MODULE)
  if(NOT ${each}_FOUND_CATKIN_PROJECT)
    message(FATAL_ERROR "${each} is not that of ROS 1")
  endif()
endforeach()
"""
RCLCPP = """
find_package(rosgraph_msgs REQUIRED)
add_library(rclcpp::rclcpp INTERFACE IMPORTED)
set_target_properties(rclcpp::rclcpp PROPERTIES INTERFACE_LINK_LIBRARIES rosgraph_msgs::rosgraph_msgs__cpp)
"""
ROSGRAPH_MSGS = "add_library(rosgraph_msgs::rosgraph_msgs__cpp INTERFACE IMPORTED)\n"


@pytest.fixture
def with_ros_1(with_python: Checkout) -> Checkout:
    """A checkout with the adapters of ROS 1 and ROS 2. The distribution packages ROS 1; jazzy/ contains a ROS 2."""
    checkout = with_python
    checkout.write("CMakeLists.txt", ROS_PROJECT)
    shutil.copy(ROOT / "adapters/CMakeLists.txt", checkout.root / "adapters")
    for name in ("tiny", "still"):
        checkout.write(f"adapters/{name}/CMakeLists.txt", f"middlemark_adapter({name})\n")
    for name in ("ros1", "rclcpp"):
        checkout.write(f"adapters/{name}/main.cpp", WORKER % name)
        shutil.copy(ROOT / "adapters" / name / "CMakeLists.txt", checkout.root / "adapters" / name)
    catkin = "set(%s_FOUND_CATKIN_PROJECT TRUE)\n"
    old = {"cpp_common": f"set(cpp_common_PREFIX {checkout.root}/distribution)\n", "roscpp": ROSCPP}
    old |= {name: catkin % name for name in ("rosgraph_msgs", "std_msgs")}
    new = {"rclcpp": RCLCPP, "rosgraph_msgs": ROSGRAPH_MSGS, "std_msgs": ""}
    for prefix, packages in (("distribution", old), ("jazzy", new)):
        for name, text in packages.items():
            checkout.write(f"{prefix}/share/{name}/cmake/{name}Config.cmake", text)
    checkout.write("distribution/lib/libnodeletlib.so", "")
    checkout.write("distribution/include/nodelet/loader.h", "")
    status, _, err = checkout.start()
    assert status == 0, err
    assert "rclcpp: not built, rclcpp was not found" in err
    return checkout


def sourced(checkout: Checkout) -> dict[str, str]:
    """Return the environment variables that ROS 2's setup script sets."""
    jazzy = checkout.root / "jazzy"
    path = checkout.environment()["PATH"]
    return {"AMENT_PREFIX_PATH": str(jazzy), "PATH": f"{jazzy}/bin:{path}"}


def note_of(checkout: Checkout, adapter: str) -> str:
    return (checkout.root / "build/workers" / f"middlemark-left-out-{adapter}").read_text()


def test_sourcing_and_leaving_a_ros_2_rebuilds_only_its_own_adapter(with_ros_1: Checkout) -> None:
    before = with_ros_1.built()
    assert set(before) == {"tiny", "still"}
    for _ in range(2):
        status, out, err = with_ros_1.start(**sourced(with_ros_1))
        assert (status, out) == (0, FIRST), err
        assert f"configuring the build (a ROS 2 was sourced: {with_ros_1.root}/jazzy)" in err
        assert with_ros_1.built().items() - before.items() == {("rclcpp", with_ros_1.built()["rclcpp"])}
        assert note_of(with_ros_1, "ros1").startswith("it is built on request")  # ROS 1 is still found
        assert with_ros_1.start(**sourced(with_ros_1))[2] == ""
        status, out, err = with_ros_1.start()
        assert (status, out) == (0, FIRST), err
        assert f"a ROS 2 is no longer sourced: {with_ros_1.root}/jazzy" in err
        assert "compiling" not in err
        assert with_ros_1.built() == before


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("rosgraph_msgs", "", "target was not found"),  # found only when CMake generates
        ("rclcpp", 'message(FATAL_ERROR "no such luck")\n', "no such luck"),
    ],
)
def test_an_adapter_that_cannot_be_configured_is_left_out_and_stops_no_other(
    with_ros_1: Checkout, file: str, text: str, reason: str
) -> None:
    config = f"jazzy/share/{file}/cmake/{file}Config.cmake"
    good = (with_ros_1.root / config).read_text()
    with_ros_1.write(config, text)
    before = with_ros_1.built()
    status, out, err = with_ros_1.start(**sourced(with_ros_1))
    assert (status, out) == (0, FIRST), err
    assert "rclcpp: not built, its CMake files do not work here: " in err
    assert reason in note_of(with_ros_1, "rclcpp")
    assert with_ros_1.built() == before
    assert with_ros_1.start(**sourced(with_ros_1))[2] == ""
    with_ros_1.write(config, good)
    with_ros_1.write("adapters/tiny/new.hpp", "")  # makes the stage stale, so the next start configures rclcpp again
    assert "built: rclcpp still tiny" in with_ros_1.start(**sourced(with_ros_1))[2]


def test_a_deleted_file_is_a_change(ready: Checkout) -> None:
    extra = ready.write("core/extra.hpp", "")
    assert ready.start()[2] == ""  # the new file is found, but no worker includes it
    begun = (ready.state / "workers").stat().st_mtime_ns
    extra.unlink()
    assert ready.start()[2] == ""
    assert (ready.state / "workers").stat().st_mtime_ns > begun


def test_a_compile_error_stops_the_start_and_is_printed(ready: Checkout) -> None:
    ready.write("adapters/tiny/main.cpp", "int main() { return no_such_name; }\n")
    for _ in range(2):  # repeated, because a failed stage leaves no stamp
        status, out, err = ready.start()
        assert (status, out) == (1, "")
        assert "no_such_name" in err
        assert "the workers were not built" in err
        assert str(ready.state / "workers.log") in err
    ready.write("adapters/tiny/main.cpp", WORKER % "first")
    assert ready.start()[:2] == (0, FIRST)


def test_a_new_lock_file_recreates_the_environment(ready: Checkout) -> None:
    leftover = ready.write(".venv/leftover", "")
    ready.write("packaging/requirements.lock", "# another\n")
    status, _, err = ready.start()
    assert status == 0
    assert "making .venv" in err
    assert "compiling" not in err
    assert not leftover.exists()


def test_a_package_without_its_hash_is_not_installed(ready: Checkout) -> None:
    ready.write("packaging/requirements.lock", "click==8.1.7\n")
    status, _, err = ready.start()
    assert status == 1
    assert "--require-hashes" in err
    ready.write("packaging/requirements.lock", "")
    assert ready.start()[0] == 0


def test_only_missing_packages_are_installed_in_one_call(ready: Checkout) -> None:
    ready.write("packaging/distributions/madeup-1.txt", LIST)
    as_root = ready.write("bin/sudo", '#!/bin/sh\ntest "$1" = --non-interactive && shift\nexec "$@"\n')
    as_root.chmod(0o755)
    status, _, err = ready.start(INSTALLED="needed-b", APT_STATUS="0")
    assert status == 0, err
    lines = [line.split() for line in err.splitlines()]
    assert ["needed-a", "base:", "builds"] in lines
    assert ["middle-c", "tiny:", "its", "middleware"] in lines
    assert "test-d" not in err
    calls = ready.apt_log.read_text().splitlines()
    assert [line.split()[3:] for line in calls] == [
        ["update"],
        ["install", "--yes", "--no-install-recommends", "needed-a", "middle-c"],
    ]
    assert all(line.startswith("noninteractive ") for line in calls)
    as_root.unlink()


def test_the_command_starts_without_the_charting_libraries(ready: Checkout) -> None:
    script = ready.root / "build" / "web" / "report.js"
    script.unlink()
    ready.write("web/build", "#!/bin/sh\necho npm said no\nexit 1\n")
    status, out, err = ready.start()
    assert (status, out) == (0, FIRST)
    assert "there will be no HTML reports" in err
    assert "setup.sh again web" in err
    assert ready.start()[2] == ""  # reported only once
    ready.write("web/build", WEB)
    assert "fetching" in ready.start()[2]
    assert script.exists()
    assert not (script.parent / "absent").exists()


def test_a_wheel_that_cannot_be_fetched_affects_only_its_adapter(ready: Checkout) -> None:
    wanted = f"nobodys==1.0 3.9 manylinux_2_24_{os.uname().machine} sha256:{64 * '0'}"
    asked = ready.write("adapters/tiny/packages.txt", f"[pypi] its middleware\n{wanted}\n")
    status, out, err = ready.start(PIP_NO_INDEX="1")
    assert (status, out) == (0, FIRST)
    assert "fetching nobodys 1.0 (PyPI)" in err
    assert "setup.sh again pypi" in err
    assert ready.start()[2] == ""  # reported only once
    ready.write("adapters/tiny/packages.txt", f"[pypi] its middleware\n{wanted.replace(os.uname().machine, 's390x')}\n")
    assert "nobodys" not in ready.start(PIP_NO_INDEX="1")[2]  # a wheel for another processor
    asked.unlink()
    ready.start()


def test_packages_that_cannot_be_installed_stop_the_start(ready: Checkout) -> None:
    ready.write("packaging/distributions/madeup-1.txt", LIST)
    ready.write("bin/sudo", '#!/bin/sh\ntest "$1" = --non-interactive && shift\nexec "$@"\n').chmod(0o755)
    status, _, err = ready.start(INSTALLED="needed-b middle-c")
    assert status == 1
    assert "E: what apt-get said" in err
    assert "apt-get install --no-install-recommends needed-a" in err
    assert "packages" not in ready.stamps()
    (ready.root / "bin" / "sudo").unlink()
    assert ready.start()[0] == 0


def test_a_checkout_that_is_not_writable_is_reported_with_the_next_step(ready: Checkout) -> None:
    lock = ready.state / "lock"
    lock.unlink()
    lock.mkdir()  # even root cannot open a folder for writing
    status, _, err = ready.start(MIDDLEMARK_SETUP="again")
    lock.rmdir()
    assert status == 1
    assert f"cannot write in {ready.state}" in err
    assert "MIDDLEMARK_SETUP=off" in err


def test_the_set_up_can_be_left_out(ready: Checkout) -> None:
    ready.write("adapters/tiny/main.cpp", WORKER % "second")
    assert ready.start(MIDDLEMARK_SETUP="off") == (0, FIRST, "")
    ready.write("adapters/tiny/main.cpp", WORKER % "first")
    assert ready.start()[0] == 0


def test_the_set_up_can_be_requested(ready: Checkout) -> None:
    assert "configuring" in ready.set_up("again", "workers")
    err = ready.start("list", MIDDLEMARK_SETUP="again")[2]
    assert "making .venv" in err
    assert "configuring" not in err


def test_help_installs_and_builds_nothing(checkout: Checkout) -> None:
    errors = checkout.start("run", "--help", INSTALLED="")[2]
    assert "making .venv" in errors
    assert "compiling" not in errors
    assert checkout.stamps() == {"python"}
    assert not checkout.apt_log.exists()


def test_a_moved_checkout_is_set_up_again(with_python: Checkout) -> None:
    assert with_python.start()[0] == 0
    before, after = with_python.root, with_python.root.with_name("moved")
    before.rename(after)
    moved = Checkout(after)
    assert moved.start()[:2] == (0, FIRST)
    assert f"{after}\n" in (after / "build" / "CMakeCache.txt").read_text()
    assert str(after) in (after / ".venv" / "bin" / "pip").read_text()


def test_two_first_starts_at_once_both_succeed(checkout: Checkout) -> None:
    with checkout.popen("run", "one") as one, checkout.popen("run", "two") as two:
        ends = [each.communicate(timeout=300) for each in (one, two)]
    assert [one.returncode, two.returncode] == [0, 0], ends
    assert [out for out, _ in ends] == [
        "arguments ['run', 'one']\nworker first\n",
        "arguments ['run', 'two']\nworker first\n",
    ]
    errors = "".join(err for _, err in ends)
    assert errors.count("waiting for it") == 1
    assert errors.count("making .venv") == errors.count("built: still tiny") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_set_up_continues_at_the_next_start(with_python: Checkout, number: signal.Signals) -> None:
    slow = "add_custom_command(TARGET middlemark-worker-tiny PRE_LINK COMMAND sleep 60)\n"
    with_python.write("adapters/tiny/CMakeLists.txt", ADAPTER % "tiny" + slow)
    with with_python.popen() as process:
        log = with_python.state / "workers.log"
        until(lambda: log.exists() and "Building CXX object" in log.read_text())
        os.killpg(process.pid, number)
        process.communicate(timeout=300)
    assert process.returncode != 0
    assert with_python.stamps() == {"packages", "pypi", "python", "web"}
    with_python.write("adapters/tiny/CMakeLists.txt", ADAPTER % "tiny")
    status, out, err = with_python.start()
    assert (status, out) == (0, FIRST), err
    assert "making .venv" not in err


@pytest.fixture
def rootless(ready: Checkout) -> Iterator[tuple[Checkout, tuple[str, ...]]]:
    """A checkout that belongs to a user without sudo, and the prefix that runs a command as this user."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        checkout = Checkout(Path(folder) / "checkout", python=Path(folder) / "checkout/python")
        shutil.copytree(ready.root / ".venv", checkout.root / "python", symlinks=True)
        without(checkout, "sudo")
        prefix: tuple[str, ...] = ()
        if os.geteuid() == 0:
            prefix = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
            if shutil.which("setpriv") is None or subprocess.run([*prefix, "true"], check=False).returncode:
                pytest.skip("cannot become somebody else here")
            for each in (checkout.root, *checkout.root.rglob("*")):
                os.chown(
                    each, 65534, 65534, follow_symlinks=False
                )  # but not the targets of links, which belong to the system
        yield checkout, prefix


def without(checkout: Checkout, *missing: str) -> None:
    """Give this checkout a PATH with every command except these."""
    for folder in ("/usr/bin", "/bin", "/usr/sbin", "/sbin"):
        for tool in Path(folder).glob("*"):
            link = checkout.root / "bin" / tool.name
            if tool.name not in missing and not os.path.lexists(link):
                link.symlink_to(tool)


def test_without_root_and_sudo_the_apt_command_is_printed(rootless: tuple[Checkout, tuple[str, ...]]) -> None:
    checkout, prefix = rootless
    only = str(checkout.root / "bin")
    status, out, err = checkout.start(prefix=prefix, INSTALLED="needed-b middle-c", PATH=only)
    assert (status, out) == (1, "")
    assert "not root, and there is no sudo" in err
    assert "as root: apt-get install --no-install-recommends needed-a\n" in err
    assert not checkout.apt_log.exists()


def test_without_root_the_setup_continues_if_only_a_middleware_is_missing(
    rootless: tuple[Checkout, tuple[str, ...]],
) -> None:
    checkout, prefix = rootless
    only = str(checkout.root / "bin")
    status, out, err = checkout.start(prefix=prefix, INSTALLED="needed-a needed-b", PATH=only)
    assert (status, out) == (0, FIRST), err
    assert "continuing without them" in err
    assert "apt-get install --no-install-recommends middle-c" in err


def test_on_an_unknown_distribution_all_missing_tools_are_listed(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "checkout", identifier="never-heard-of")
    without(checkout, "ninja", "cmake")
    status, out, err = checkout.start(PATH=str(checkout.root / "bin"))
    assert (status, out) == (1, "")
    assert "Made Up 1 is an unknown distribution (known: madeup-1)" in err
    lines = [line.strip() for line in err.splitlines()]
    assert "ninja" in lines
    assert "cmake >= 3.22" in lines
    assert not any(line.startswith(("flock", "python3", "c++")) for line in lines)


def test_an_unknown_distribution_with_all_tools_continues(tmp_path: Path, ready: Checkout) -> None:
    checkout = Checkout(tmp_path / "checkout", identifier="never-heard-of", python=ready.python)
    checkout.take_python()
    status, out, err = checkout.start()
    assert (status, out) == (0, FIRST), err
    assert "everything needed is installed" in err
    assert checkout.start()[2] == ""


def test_this_distribution_lists_only_packages_that_exist() -> None:
    names = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    here = f"{names['ID']}-{names.get('VERSION_ID', '').strip(chr(34))}"
    listing = f'root={ROOT}; source "$root/packaging/setup/lists.sh"; package_list {here}'
    listed = subprocess.run(["bash", "-c", listing], capture_output=True, text=True, check=True).stdout
    if not listed or shutil.which("apt-cache") is None:
        pytest.skip("no list for this distribution")
    packages = [line for line in listed.splitlines() if line and line[0] not in "#["]
    assert len(packages) > 20
    records = subprocess.run(["apt-cache", "show", *packages], capture_output=True, text=True, check=False).stdout
    assert set(packages) <= {line.removeprefix("Package: ") for line in records.splitlines()}


def test_the_lock_files_name_no_address_and_hash_everything() -> None:
    for lock in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / "packaging" / lock).read_text()
        assert "://" not in text
        pinned = [block for block in text.split("\n\n")[0].replace("\\\n", " ").splitlines() if "==" in block]
        assert pinned
        assert all("--hash=sha256:" in block for block in pinned)


def test_the_adapters_packages_from_pypi_are_pinned_and_hashed() -> None:
    listing = f'root={ROOT}; source "$root/packaging/setup/lists.sh"; pypi_list'
    listed = subprocess.run(["bash", "-c", listing], capture_output=True, text=True, check=True).stdout.splitlines()
    assert listed
    for line in listed:
        assert re.fullmatch(r"[a-z0-9-]+==[0-9.]+ 3\.[0-9]+ manylinux_\S+ sha256:[0-9a-f]{64}", line)
