"""Problems of a request, as values: all at once, each with its place and the next step."""

import importlib
from typing import Any

import msgspec


class Problem(msgspec.Struct, frozen=True):
    """One problem. ``place``: the place in the request (``suites/lan.toml: sweep 2: size``).

    ``text``: what is wrong, and what would be right.
    """

    place: str
    text: str

    def __str__(self) -> str:
        """Return one line: place, then text."""
        return f"{self.place}: {self.text}" if self.place else self.text


class RequestError(Exception):
    """The request is wrong (exit code 2). Contains all problems found, not only the first."""

    def __init__(self, problems: list[Problem]) -> None:
        """Create the error; ``problems`` is not empty."""
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


class MeasureError(Exception):
    """Nothing, or nothing more, can be measured (exit code 3). ``advice`` is the next step."""

    def __init__(self, text: str, advice: str = "") -> None:
        """Create the error; ``text`` names the thing and the place."""
        super().__init__(text)
        self.advice = advice


def extra_module(name: str, extra: str, what: str) -> Any:
    """Return a module of an optional package. If it is missing, raises MeasureError with the command that installs it.

    ``what``: the feature that needs the module.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise MeasureError(
            f"{what} needs the Python package {package}, which is not installed",
            f"pip install 'middlemark[{extra}]', or .venv/bin/pip install {package} in a checkout",
        ) from None
