"""What came of a study's claims, for programs."""

from collections.abc import Sequence

from middlemark.document.document import Expected
from middlemark.model.run import Run
from middlemark.show.json.output import Output, filled, printed
from middlemark.show.json.run import ExpectationOutput
from middlemark.show.study import WORDS, Word
from middlemark.suite.study import Study


class ClaimOutput(ExpectationOutput, frozen=True, kw_only=True):
    """A claim of the document, and what came of it."""

    verdict: Word  # type: ignore[assignment]  # a claim of somebody else's has words of its own
    figure: str | None
    """Of the document."""
    contradicts: str | None
    """Where the document contradicts itself."""


class StudyOutput(Output, frozen=True, kw_only=True):
    """A published document, measured again."""

    study: str
    title: str
    document: str
    measured_on: str
    conditions: str
    here: str
    """What is done alike here, and what is not."""
    run: str
    expectations: tuple[ClaimOutput, ...]


def render_json(study: Study, run: Run, expected: Sequence[Expected]) -> str:
    """Return what programs read."""
    claims = tuple(_claim(study, each) for each in expected)
    return printed(filled(StudyOutput, study, study=study.name, run=str(run.folder), expectations=claims))


def _claim(study: Study, of: Expected) -> ClaimOutput:
    said = study.claim_of(of.id)
    itself = (said.contradicts or None) if said else None
    return filled(ClaimOutput, of, verdict=WORDS[of.verdict], figure=said and said.figure, contradicts=itself)
