"""The cargo cache: crates compiled once for all checkouts of a user, and code compiled for each checkout."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CRATE = """[package]
name = "{name}"
version = "0.1.0"
edition = "2021"

"""
DEPENDENT = """[lib]
crate-type = ["staticlib"]

[dependencies]
middlemark-adapter = "0.1"
released = "0.1"

[workspace]
"""


def cargo() -> str | None:
    """Return the path of a cargo that supports CARGO_BUILD_BUILD_DIR, or None."""
    found = shutil.which("cargo", path=f"{os.environ['PATH']}:{Path.home() / '.cargo' / 'bin'}")
    if found is None:
        return None
    version_text = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"(\d+)\.(\d+)", version_text)
    return found if version and (int(version[1]), int(version[2])) >= (1, 91) else None


pytestmark = pytest.mark.skipif(cargo() is None, reason="there is no cargo 1.91 or newer")


@dataclass(frozen=True)
class Bench:
    """Checkouts that all have an adapter of one name, and a crate that counts as released."""

    folder: Path

    @property
    def cache(self) -> Path:
        return self.folder / "cache" / "middlemark" / "cargo"

    @property
    def environment(self) -> dict[str, str]:
        home = {"CARGO_HOME": str(self.folder / "home"), "XDG_CACHE_HOME": str(self.folder / "cache")}
        return os.environ | home | {"PATH": f"{Path(cargo() or '').parent}:{os.environ['PATH']}"}

    def release(self) -> None:
        """Make the released crate, in a folder that cargo uses as crates.io."""
        crate = self.folder / "registry" / "released"
        write(crate / "Cargo.toml", CRATE.format(name="released"))
        write(crate / "src" / "lib.rs", "pub fn released() -> u32 {\n    7\n}\n")
        sums = {str(file.relative_to(crate)): sha256(file) for file in crate.rglob("*") if file.is_file()}
        write(crate / ".cargo-checksum.json", json.dumps({"files": sums, "package": "0" * 64}))
        replaced = '[source.crates-io]\nreplace-with = "here"\n[source.here]\ndirectory = '
        write(self.folder / "home" / "config.toml", f'{replaced}"{self.folder / "registry"}"\n')

    def checkout(self, name: str, says: str) -> Path:
        """Make a checkout whose adapter contains this text. All checkouts' files have the same modification time."""
        checkout = self.folder / name
        write(
            checkout / "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.22)\nproject(tiny LANGUAGES NONE)\n"
            f"include({ROOT}/cmake/MiddlemarkRust.cmake)\nmiddlemark_rust_library(tiny LACKS lacks CARGO 1.91)\n"
            'if(lacks)\n  message(FATAL_ERROR "${lacks}")\nendif()\n',
        )
        write(checkout / "Cargo.toml", CRATE.format(name="middlemark_tiny") + DEPENDENT)
        body = f'    released::released();\n    "{says}".as_ptr()\n'
        write(checkout / "src" / "lib.rs", f'#[no_mangle]\npub extern "C" fn says() -> *const u8 {{\n{body}}}\n')
        kit = f"patch.crates-io.middlemark-adapter.path='{ROOT / 'core/kit/rust'}'"
        lock = ["cargo", "generate-lockfile", "--quiet", "--offline", "--config", kit]
        subprocess.run(lock, cwd=checkout, env=self.environment, check=True)
        os.utime(checkout / "src" / "lib.rs", (1e9, 1e9))
        return checkout

    def start(self, checkout: Path) -> "subprocess.Popen[str]":
        configure = ["cmake", "-S", str(checkout), "-B", str(checkout / "build"), "-G", "Ninja"]
        subprocess.run(configure, env=self.environment, check=True, stdout=subprocess.DEVNULL)
        build = ["cmake", "--build", str(checkout / "build"), "--target", "middlemark_tiny_cargo"]
        return subprocess.Popen(
            build, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def build(self, checkout: Path) -> bytes:
        """Build the adapter of this checkout. Return the content of its library."""
        return built(self.start(checkout), checkout)

    def compiled(self) -> dict[str, int]:
        """Return the released crate's compiled libraries, each with the time of its compilation."""
        return {str(file): file.stat().st_mtime_ns for file in self.folder.rglob("libreleased-*.rlib")}


def built(process: "subprocess.Popen[str]", checkout: Path) -> bytes:
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0, out
    return (checkout / "build" / "cargo" / "release" / "libmiddlemark_tiny.a").read_bytes()


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.release()
    return bench


def test_a_second_checkout_compiles_its_adapter_and_no_released_crate(bench: Bench) -> None:
    one, two = bench.checkout("one", "I am one"), bench.checkout("two", "I am two")
    assert b"I am one" in bench.build(one)
    first = bench.compiled()
    assert len(first) == 1
    assert all(file.startswith(str(bench.cache)) for file in first)
    assert b"I am two" in bench.build(two)
    assert bench.compiled() == first
    write(one / "src" / "lib.rs", (one / "src" / "lib.rs").read_text().replace("I am one", "I am changed"))
    library = bench.build(one)
    assert b"I am changed" in library
    assert b"I am two" not in library
    assert b"I am two" in bench.build(two)


def test_a_checkout_that_replaces_another_is_compiled_despite_older_sources(bench: Bench) -> None:
    assert b"I am one" in bench.build(bench.checkout("place", "I am one"))
    shutil.rmtree(bench.folder / "place")
    assert b"I am two" in bench.build(bench.checkout("place", "I am two"))


def test_checkouts_that_build_at_once_both_get_their_own_adapters(bench: Bench) -> None:
    checkouts = {name: bench.checkout(name, f"I am {name}") for name in ("one", "two", "three")}
    processes = {name: bench.start(checkout) for name, checkout in checkouts.items()}
    for name, process in processes.items():
        assert f"I am {name}".encode() in built(process, checkouts[name])
    assert len(bench.compiled()) == 1


def test_without_a_writable_cache_the_checkout_compiles_in_its_build_folder(bench: Bench) -> None:
    (bench.folder / "cache").write_text("no folder")
    one = bench.checkout("one", "I am one")
    assert b"I am one" in bench.build(one)
    [compiled] = bench.compiled()
    assert compiled.startswith(str(one / "build"))


def test_the_command_that_clears_the_cache_removes_it_and_the_next_build_fills_it(bench: Bench) -> None:
    one = bench.checkout("one", "I am one")
    bench.build(one)
    clear = [sys.executable, "-m", "middlemark", "build", "--clear-cache"]
    output = subprocess.run(clear, env=bench.environment, capture_output=True, text=True, check=True).stdout
    assert output.startswith(f"removed {bench.cache};")
    assert not bench.cache.exists()
    (one / "src" / "lib.rs").touch()
    assert b"I am one" in bench.build(one)
    assert len(bench.compiled()) == 1
