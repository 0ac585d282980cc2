"""Builds the workers that the first start left for later: those that take long to compile."""

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from middlemark.model.version import adapter_of
from middlemark.problems import MeasureError
from middlemark.workers.find import left_out

BUILDER = "MIDDLEMARK_BUILDER"
"""The variable that has the path of the set-up's script; ./middlemark sets it."""
LATER = "it takes long to compile"
"""How the note of such an adapter begins (cmake/MiddlemarkAdapter.cmake); another one says why it cannot be built."""


def left_for_later() -> list[str]:
    """Return the adapters of this checkout that can be built and are not; none where ./middlemark was not used."""
    return [name for name, why in _left_out_here().items() if why.startswith(LATER)]


def build_asked(asked: Iterable[str]) -> None:
    """Build what of these names, or of all, was left for later. MeasureError where it does not compile."""
    _build(asked, left_for_later())


def build_again(asked: Iterable[str]) -> None:
    """Do so, and look again for a cargo that those in Rust lacked, as somebody may have installed it.

    Raises as :func:`build_asked`.
    """
    here = _left_out_here()
    _build(
        asked,
        [name for name, why in here.items() if why.startswith(LATER) or (_adapters() / name / "Cargo.toml").exists()],
    )


def _adapters() -> Path:
    return Path(os.environ[BUILDER]).parents[2] / "adapters"


def _left_out_here() -> dict[str, str]:
    if not os.environ.get(BUILDER):
        return {}
    return {name: why for name, why in left_out().items() if (_adapters() / name).is_dir()}


def _build(asked: Iterable[str], known: Iterable[str]) -> None:
    names = {adapter_of(each) for each in asked}
    wanted = sorted(each for each in known if names & {each, "all"})
    if not wanted:
        return
    command = [os.environ[BUILDER], "again", *(f"worker-{name}" for name in wanted)]
    if subprocess.run(command, check=False).returncode:
        raise MeasureError("the set-up failed, as it says above", "leave that adapter out, or repair it first")
