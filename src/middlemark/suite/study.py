"""Read the studies: each tests what a published document (a README, a thesis, a report) claims about a middleware.

A study has a suite with an expectation for each claim, and possibly a file with the document's own figures.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from middlemark.model.expectation import Expectation, Untestable, with_level
from middlemark.model.run import Machine
from middlemark.model.spelling import did_you_mean
from middlemark.problems import Problem, RequestError
from middlemark.suite.read import read_document
from middlemark.suite.request import folder_of, shown_path

_PART = re.compile(r"(?<=[0-9])[a-z]$")
"""The letter at the end of an expectation's id that names a part of a claim: ``O1b`` is a part of claim O1."""
AWAKE = " awake"
"""The end of the id of an expectation about cells with processors kept awake: ``O1b awake``."""


class Claimed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A claim as the document states it."""

    figure: str
    """The figure as the document prints it, or a note that the document prints none."""
    contradicts: str = ""
    """How the document contradicts this claim; empty: there is no contradiction."""


class Study(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of ``studies/NAME/study.toml``."""

    title: str
    document: str
    measured_on: str
    conditions: str
    here: str
    """How the measurement here resembles the document's measurement, and how it differs."""
    processors: tuple[str, ...] = ()
    """Words that identify the document's processor in the model name of /proc/cpuinfo; empty: the document
    names none."""
    claims: dict[str, Claimed]
    """Id of a claim, without the letter of a part → the claim."""
    name: str = ""
    folder: Path = Path()

    @property
    def suite(self) -> Path:
        """The file of the study's suite, which has at least one expectation per claim."""
        return self.folder / "suite.toml"

    @property
    def figures(self) -> Path | None:
        """The file with the document's figures, which ``import`` can read; None: the study has no such file."""
        path = self.folder / "figures.toml"
        return path if path.is_file() else None

    def claim_of(self, expectation: str) -> Claimed | None:
        """Return the document's claim that an expectation tests, completely or in part; None: no such claim.

        ``expectation``: the id of the expectation.
        """
        return self.claims.get(_PART.sub("", expectation.removesuffix(AWAKE)))

    def is_measured_on(self, machine: Machine) -> bool:
        """Say whether the machine is like the document's. If so, a claim that does not hold is contradicted."""
        return not machine.virtual and any(word in machine.cpu for word in self.processors)


def also_awake(expectations: Sequence[Expectation]) -> tuple[Expectation, ...]:
    """Return testable expectations twice: for cells whose processors may halt, and with processors kept awake.

    On a virtual machine, halting takes longer than most differences that a document claims.
    """
    testable = [each for each in expectations if not isinstance(each.claim, Untestable)]
    return (
        *(_judged_if(each, awake=False) if each in testable else each for each in expectations),
        *(_judged_if(each, awake=True) for each in testable),
    )


def _judged_if(expectation: Expectation, *, awake: bool) -> Expectation:
    claim = with_level(expectation.claim, "awake", awake)
    if not awake:
        return msgspec.structs.replace(expectation, claim=claim)
    say = f"{expectation.say}, with awake processors"
    return msgspec.structs.replace(expectation, id=expectation.id + AWAKE, say=say, claim=claim)


def study_names() -> tuple[str, ...]:
    """Return the names of the studies, sorted."""
    folder = folder_of("studies")
    return tuple(sorted(path.parent.name for path in folder.glob("*/study.toml"))) if folder else ()


def read_study(name: str) -> Study:
    """Read a study. Raises RequestError."""
    folder = folder_of("studies")
    names = study_names()
    if folder is None or name not in names:
        hint = did_you_mean(name, names) if names else "none is installed"
        raise RequestError([Problem(f"study '{name}'", f"no study has this name; {hint}")])
    path = folder / name / "study.toml"
    document, problems, _ = read_document(path, shown_path(path))
    if document is None:
        raise RequestError(problems)
    try:
        study = msgspec.convert(document, Study)
    except msgspec.ValidationError as error:
        raise RequestError([Problem(shown_path(path), str(error))]) from None
    return msgspec.structs.replace(study, name=name, folder=path.parent)
