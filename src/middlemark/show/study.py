"""What came of a study's claims: the document's figure, ours, the verdict, and where it contradicts itself."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from rich.text import Text

from middlemark.document.document import Expected
from middlemark.document.runs import machine_line
from middlemark.document.table import Line, Table, facts, table_of
from middlemark.model.run import Run
from middlemark.show import View
from middlemark.show.expectations import MARKS
from middlemark.show.markdown import escaped, table
from middlemark.show.terminal import command_lines, paragraph, printed, terminal
from middlemark.stats.expectations import ClaimVerdict
from middlemark.suite.study import Study

Word = Literal["reproduced", "contradicted", "cannot tell", "untestable"]
WORDS: Mapping[ClaimVerdict, Word] = {
    ClaimVerdict.HOLDS: "reproduced",
    ClaimVerdict.DOES_NOT_HOLD: "contradicted",
    ClaimVerdict.CANNOT_TELL: "cannot tell",
    ClaimVerdict.UNTESTABLE: "untestable",
}
"""What a claim of somebody else's comes to."""


def counted(expected: Sequence[Expected]) -> str:
    """Say how many claims came to what: ``3 reproduced, 1 contradicted``."""
    found = Counter(WORDS[each.verdict] for each in expected)
    return ", ".join(f"{found[word]} {word}" for word in WORDS.values() if found[word])


def render_text(study: Study, run: Run, expected: Sequence[Expected], view: View) -> str:
    """Return what people read: claim by claim, in the order of the study."""
    return printed(_lines(study, run, expected, view.width), view)


def render_markdown(study: Study, run: Run, expected: Sequence[Expected]) -> str:
    """Return a page to publish: what was measured, a table of the claims, and where the document contradicts itself."""
    rows = []
    figures: dict[str, str] = {}
    itself: dict[str, str] = {}
    for each in expected:
        said = study.claim_of(each.id)
        figure = said.figure if said else ""
        shown = figure if figures.setdefault(figure, each.id) == each.id else f"as {figures[figure]}"
        rows.append((each.id, each.say, shown, WORDS[each.verdict], _found(each)))
        if said and said.contradicts:
            itself.setdefault(said.contradicts, each.id)
    lines = [
        f"# {escaped(study.title)}",
        "",
        f"{counted(expected).capitalize()}.",
        "",
        f"- The document: {escaped(f'{study.document}, on {study.measured_on}; {study.conditions}.')}",
        f"- Here: {escaped(f'{study.here}.')}",
        f"- {escaped(machine_line(run))}",
        "",
        *table(table_of(("", "claim", "its figure", "verdict", "here"), rows)),
    ]
    if itself:
        lines += ["", "## Where the document contradicts itself", ""]
        lines += [f"- {claim}: {escaped(text)}" for text, claim in itself.items()]
    return "\n".join(lines) + "\n"


def _found(expected: Expected) -> str:
    return expected.why.removeprefix(f"{WORDS[expected.verdict]}, ")


def _lines(study: Study, run: Run, expected: Sequence[Expected], width: int) -> Iterator[Text]:
    yield from paragraph(f"{study.title}: {counted(expected)}", width, "bold")
    where = f"{study.document}, on {study.measured_on}; {study.conditions}"
    yield from terminal(facts(("it", where), ("here", study.here)), width)
    told: set[str] = set()
    lines: list[Line] = []
    for each in expected:
        (mark, style), said = MARKS[each.verdict], study.claim_of(each.id)
        itself = said.contradicts if said and said.contradicts not in told else ""
        told.add(itself)
        claim = facts((f"{mark} {each.id}", each.say), ("  its figure", said.figure if said else "none"))
        found = facts((f"  {WORDS[each.verdict]}", _found(each)), style=style)
        lines += [Line("", ()), *claim.lines, *found.lines, *facts(("  itself", itself)).lines]
    yield from terminal(Table(columns=(), lines=tuple(lines)), width)
    yield Text()
    yield from paragraph(str(run.folder), width, first="kept in  ")
    if study.figures:
        yield from map(Text, command_lines("its own figures as a run: ", f"middlemark import {study.figures}", width))
