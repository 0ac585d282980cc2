"""The studies that come with Middlemark: a document's claims as a suite, and what the document says of them."""

import re
from pathlib import Path

import msgspec

from middlemark.model.spelling import did_you_mean, listing
from middlemark.problems import Problem, RequestError
from middlemark.suite.read import read_document
from middlemark.suite.request import folder_of, shown_path

_PART = re.compile(r"(?<=[0-9])[a-z]$")
"""Of an expectation's id: ``O1b`` is a part of the claim O1."""


class Claimed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the document says of one claim."""

    figure: str
    """Its own, as printed, or that there is none."""
    contradicts: str = ""
    """Where the document contradicts itself there."""


class Study(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``studies/NAME/study.toml``."""

    title: str
    document: str
    measured_on: str
    conditions: str
    here: str
    """What is done alike here, and what is not."""
    claims: dict[str, Claimed]
    """By their ids, without the letters of parts."""
    name: str = ""
    folder: Path = Path()

    @property
    def suite(self) -> Path:
        """Return the file of its suite, which has an expectation or several for each claim."""
        return self.folder / "suite.toml"

    @property
    def figures(self) -> Path | None:
        """Return the file of the document's own figures, which ``import`` reads; None: it has none."""
        path = self.folder / "figures.toml"
        return path if path.is_file() else None

    def claim_of(self, expectation: str) -> Claimed | None:
        """Return what the document says of the claim that an expectation, by its id, is or is a part of."""
        return self.claims.get(_PART.sub("", expectation))


def study_names() -> tuple[str, ...]:
    """Return the names of the studies, sorted."""
    folder = folder_of("studies")
    return tuple(sorted(path.parent.name for path in folder.glob("*/study.toml"))) if folder else ()


def read_study(name: str) -> Study:
    """Return the study of that name. Raises RequestError."""
    folder = folder_of("studies")
    names = study_names()
    if folder is None or name not in names:
        near = f"{did_you_mean(name, names)}; there are {listing(names)}" if names else "none is installed"
        raise RequestError([Problem(f"study '{name}'", f"there is none of that name; {near}")])
    path = folder / name / "study.toml"
    document, problems, _ = read_document(path, shown_path(path))
    if document is None:
        raise RequestError(problems)
    try:
        study = msgspec.convert(document, Study)
    except msgspec.ValidationError as error:
        raise RequestError([Problem(shown_path(path), str(error))]) from None
    return msgspec.structs.replace(study, name=name, folder=path.parent)
