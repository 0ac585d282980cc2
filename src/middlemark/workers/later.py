"""Build workers of this checkout that are requested but not built yet."""

import os
import subprocess
from collections.abc import Iterable

from middlemark.model.version import adapter_of
from middlemark.problems import MeasureError
from middlemark.workers.find import BUILDER, LATER, NOT_YET, checkout_adapters, executables, left_out


def left_for_later() -> list[str]:
    """Return this checkout's adapters that can be built but are not built. Empty: ./middlemark was not used."""
    own_adapters = checkout_adapters()
    return [name for name, why in left_out().items() if why.startswith((LATER, NOT_YET)) and name in own_adapters]


def build_asked(asked: Iterable[str]) -> None:
    """Build the requested adapters (or "all") that are not built but can be built.

    A version such as ``fastdds@3.2.3`` is built with its adapter. Raises MeasureError if a build fails.
    """
    named, here = set(asked), executables()
    names = {adapter_of(each) for each in named}
    wanted = {each for each in left_for_later() if names & {each, "all"}}
    if wanted:
        wanted |= {adapter_of(each) for each in named - here.keys() if "@" in each} & set(checkout_adapters())
        _set_up(*(f"worker-{name}" for name in sorted(wanted)))


def build_again(asked: Iterable[str]) -> None:
    """Look again for installed middlewares, and build these adapters of the checkout (empty: all).

    Raises MeasureError if a build fails.
    """
    _set_up("again", *([f"worker-{name}" for name in asked] or ["all"]))


def _set_up(*words: str) -> None:
    if subprocess.run([os.environ[BUILDER], *words], check=False).returncode:
        raise MeasureError("the set-up failed; its messages are above", "fix the cause, or leave this adapter out")
