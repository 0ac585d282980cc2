"""Builds workers of this checkout that are not built and are asked for."""

import os
import subprocess
from collections.abc import Iterable

from middlemark.model.version import adapter_of
from middlemark.problems import MeasureError
from middlemark.workers.find import BUILDER, NOT_YET, checkout_adapters, left_out

LATER = "it takes long to compile"
"""How the note of an adapter begins that is built when it is asked for (cmake/MiddlemarkAdapter.cmake)."""


def left_for_later() -> list[str]:
    """Return the adapters of this checkout that can be built and are not; none where ./middlemark was not used."""
    mine = checkout_adapters()
    return [name for name, why in left_out().items() if why.startswith((LATER, NOT_YET)) and name in mine]


def build_asked(asked: Iterable[str]) -> None:
    """Build those of these names, or of all, that can be built and are not. MeasureError where one does not compile."""
    names = {adapter_of(each) for each in asked}
    if wanted := sorted(each for each in left_for_later() if names & {each, "all"}):
        _set_up(*(f"worker-{name}" for name in wanted))


def build_again(asked: Iterable[str]) -> None:
    """Build these adapters of the checkout, or all where none is named, after another look at what is installed.

    Raises as :func:`build_asked`.
    """
    _set_up("again", *([f"worker-{name}" for name in asked] or ["all"]))


def _set_up(*words: str) -> None:
    if subprocess.run([os.environ[BUILDER], *words], check=False).returncode:
        raise MeasureError("the set-up failed, as it says above", "leave that adapter out, or repair it first")
