"""Expectations with their verdicts on the terminal; the claims of a study, also as Markdown."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from rich.cells import cell_len
from rich.text import Text

from middlemark.document.document import Document, Expected
from middlemark.document.expectations import counted
from middlemark.document.runs import decided_of, machine_line
from middlemark.document.table import Line, Table, facts, table_of
from middlemark.model.run import Run
from middlemark.show import View
from middlemark.show.markdown import escaped, table
from middlemark.show.terminal import command_lines, cut, paragraph, printed, terminal
from middlemark.stats.expectations import ClaimVerdict
from middlemark.suite.study import Study

MARKS = {
    ClaimVerdict.DOES_NOT_HOLD: ("✗", "bold red"),
    ClaimVerdict.UNDECIDED: ("~", "yellow"),
    ClaimVerdict.UNTESTABLE: ("–", "dim"),
    ClaimVerdict.HOLDS: ("✓", "green"),
}
_SHORTEST_CLAIM = 20
"""The fewest characters of the expectation in a line; the result has priority."""


def lines(document: Document, width: int, most: int | None = None) -> Iterator[Text]:
    """Yield a heading and a line for each expectation, at most ``most``; None: all, each in full."""
    found = document.expectations
    if not found:
        return
    yield from paragraph(f"Expected: {counted(found)}{decided_of(document.runs[0])}", width, "bold", most=2)
    shown = found if most is None or len(found) <= most else found[: most - 1]
    for each in shown:
        mark, style = MARKS[each.verdict]
        say = cut(each.say, max(_SHORTEST_CLAIM, width - 4 - cell_len(each.short)))
        text = each.sentence if most is None else cut(f"{say}: {each.short}", width - 2)
        first, *others = paragraph(text, width, first=f"{mark} ")
        first.stylize(style, 0, 1)
        yield from (first, *others)
    if len(shown) < len(found):
        yield Text(f"  and {len(found) - len(shown)} more, with --rows", style="dim")


Word = Literal["reproduced", "contradicted", "undecided", "untestable"]
WORDS: Mapping[ClaimVerdict, Word] = {
    ClaimVerdict.HOLDS: "reproduced",
    ClaimVerdict.DOES_NOT_HOLD: "contradicted",
    ClaimVerdict.UNDECIDED: "undecided",
    ClaimVerdict.UNTESTABLE: "untestable",
}
"""The verdict on a study's claim."""


def claims_counted(expected: Sequence[Expected]) -> str:
    """Return the number of claims with each verdict: ``3 reproduced, 1 contradicted``."""
    found = Counter(WORDS[each.verdict] for each in expected)
    return ", ".join(f"{found[word]} {word}" for word in WORDS.values() if found[word])


def render_text(study: Study, run: Run, expected: Sequence[Expected], view: View) -> str:
    """Return the claims with their verdicts as text, in the order of the study."""
    return printed(_lines(study, run, expected, view.width), view)


def render_markdown(study: Study, run: Run, expected: Sequence[Expected]) -> str:
    """Return a page to publish: conditions, a table of the claims, and where the document contradicts itself."""
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
        f"{claims_counted(expected).capitalize()}.",
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
    yield from paragraph(f"{study.title}: {claims_counted(expected)}", width, "bold")
    where = f"{study.document}, on {study.measured_on}; {study.conditions}"
    yield from terminal(facts(("it", where), ("here", study.here)), width)
    shown: set[str] = set()
    lines: list[Line] = []
    for each in expected:
        (mark, style), said = MARKS[each.verdict], study.claim_of(each.id)
        itself = said.contradicts if said and said.contradicts not in shown else ""
        shown.add(itself)
        claim = facts((f"{mark} {each.id}", each.say), ("  its figure", said.figure if said else "none"))
        found = facts((f"  {WORDS[each.verdict]}", _found(each)), style=style)
        lines += [Line("", ()), *claim.lines, *found.lines, *facts(("  itself", itself)).lines]
    yield from terminal(Table(columns=(), lines=tuple(lines)), width)
    yield Text()
    yield from paragraph(str(run.folder), width, first="kept in  ")
    if study.figures:
        yield from map(Text, command_lines("its own figures as a run: ", f"middlemark import {study.figures}", width))
