"""Names of adapters with several builds: the build that a name selects."""

from pathlib import Path

import msgspec
import pytest
from descriptions import description

from middlemark.commands import build
from middlemark.model.description import Worker
from middlemark.model.version import is_version, version_of
from middlemark.problems import MeasureError

USUAL = msgspec.structs.replace(description("lyra"), version="2.9.1 with vega 3", library="/usr/lib/liblyra.so.2")
NEWER = msgspec.structs.replace(description("lyra@next"), version="3.0.0", library="/opt/lyra-3/lib/liblyra.so.3")


@pytest.mark.parametrize(
    ("asked", "usual", "newer"),
    [
        ("lyra@2.9.1", True, False),
        ("lyra@3.0.0", False, True),
        ("lyra@next", False, True),
        ("lyra@/opt/lyra-3", False, True),
        ("lyra@/opt/lyra-3/", False, True),
        ("lyra@/opt/lyra", False, False),
        ("lyra@/usr", True, False),
        ("lyra@2.9", False, False),
        ("vega@3.0.0", False, False),
        ("lyra@", False, False),
    ],
)
def test_a_build_is_named_by_its_version_its_label_or_its_librarys_place(asked: str, usual: bool, newer: bool) -> None:
    assert (is_version(USUAL, asked), is_version(NEWER, asked)) == (usual, newer)


def test_the_usual_build_is_also_a_level() -> None:
    assert [version_of(each.name) for each in (USUAL, NEWER)] == ["usual", "next"]


def test_a_build_of_a_library_without_a_version_needs_a_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    silent = description("lcm", version="", library=str(tmp_path / "lib" / "liblcm.so"))

    async def described(_name: str, path: str) -> Worker:
        return Worker(path=path, description=silent)

    monkeypatch.setattr(build, "_logged", lambda *_: None)
    monkeypatch.setattr(build, "describe", described)
    with pytest.raises(MeasureError, match="does not say its version") as refused:
        build.command.callback(("lcm",), str(tmp_path), None, clear_cache=False)
    assert "--as VERSION" in str(refused.value.advice)
