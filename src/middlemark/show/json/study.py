"""What came of a study's claims, for programs."""

from collections.abc import Sequence

from middlemark.document.document import Expected
from middlemark.model.run import Run
from middlemark.show.json.output import Output, printed
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
    output = StudyOutput(
        study=study.name,
        title=study.title,
        document=study.document,
        measured_on=study.measured_on,
        conditions=study.conditions,
        here=study.here,
        run=str(run.folder),
        expectations=tuple(_claim(study, each) for each in expected),
    )
    return printed(output)


def _claim(study: Study, of: Expected) -> ClaimOutput:
    said = study.claim_of(of.id)
    same = {name: getattr(of, name) for name in ExpectationOutput.__struct_fields__}
    return ClaimOutput(
        **same | {"verdict": WORDS[of.verdict]},
        figure=said.figure if said else None,
        contradicts=(said.contradicts or None) if said else None,
    )
