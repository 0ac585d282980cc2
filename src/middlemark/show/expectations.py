"""Expectations with their verdicts on the terminal. The claims of a study also as Markdown."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

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
from middlemark.suite.study import AWAKE, Study

MARKS = {
    ClaimVerdict.DOES_NOT_HOLD: ("✗", "bold red"),
    ClaimVerdict.UNDECIDED: ("~", "yellow"),
    ClaimVerdict.UNTESTABLE: ("–", "dim"),
    ClaimVerdict.HOLDS: ("✓", "green"),
}
_SHORTEST_CLAIM = 20
"""The expectation in a line has at least this number of characters. The result gets the rest of the line."""


def lines(document: Document, width: int, most: int | None = None) -> Iterator[Text]:
    """Yield a heading and a line for each expectation. ``most``: the most lines; None: all expectations in full."""
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


Word = Literal["reproduced", "contradicted", "not reproduced here", "undecided", "untestable"]
_WORDS: Mapping[ClaimVerdict, Word] = {
    ClaimVerdict.HOLDS: "reproduced",
    ClaimVerdict.DOES_NOT_HOLD: "not reproduced here",
    ClaimVerdict.UNDECIDED: "undecided",
    ClaimVerdict.UNTESTABLE: "untestable",
}


@dataclass(frozen=True)
class JudgedClaim:
    """A claim of a study, or a part of a claim, with its verdicts."""

    expected: Expected
    word: Word
    awake: Expected | None = None
    """The verdict on the cells with processors kept awake; None: not measured, or the claim is untestable."""
    awake_word: Word | None = None

    @property
    def found(self) -> str:
        """The figures that led to the verdict."""
        return _found(self.expected)

    @property
    def found_awake(self) -> str:
        """The figures with processors kept awake; empty: no such figures."""
        return _found(self.awake) if self.awake else ""


def judged_claims(study: Study, run: Run, expected: Sequence[Expected]) -> list[JudgedClaim]:
    """Return the claims in the order of ``expected``. Each also has its verdict with processors kept awake."""
    words = {**_WORDS}
    if study.is_measured_on(run.file.machine):
        words[ClaimVerdict.DOES_NOT_HOLD] = "contradicted"
    awake = {each.id.removesuffix(AWAKE): each for each in expected if each.id.endswith(AWAKE)}
    claims = []
    for each in expected:
        if not each.id.endswith(AWAKE):
            other = awake.get(each.id)
            claims.append(JudgedClaim(each, words[each.verdict], other, words[other.verdict] if other else None))
    return claims


def claims_counted(claims: Sequence[JudgedClaim]) -> str:
    """Return the number of claims with each verdict: ``3 reproduced, 1 undecided``.

    The numbers with processors kept awake follow.
    """
    awake = [each.awake_word for each in claims if each.awake_word]
    text = _numbers([each.word for each in claims])
    return f"{text}; with awake processors: {_numbers(awake)}" if awake else text


def _numbers(words: Sequence[Word]) -> str:
    found = Counter(words)
    return ", ".join(f"{found[word]} {word}" for word in get_args(Word) if found[word])


def render_text(study: Study, run: Run, expected: Sequence[Expected], view: View) -> str:
    """Return the claims with their verdicts as text, in the order of the study."""
    return printed(_lines(study, run, expected, view.width), view)


def render_markdown(study: Study, run: Run, expected: Sequence[Expected]) -> str:
    """Return a page to publish: conditions, a table of the claims, and the document's contradictions."""
    rows = []
    figures: dict[str, str] = {}
    itself: dict[str, str] = {}
    claims = judged_claims(study, run, expected)
    awake = any(each.awake for each in claims)
    for claim in claims:
        each, stated = claim.expected, study.claim_of(claim.expected.id)
        figure = stated.figure if stated else ""
        shown = figure if figures.setdefault(figure, each.id) == each.id else f"as {figures[figure]}"
        last = (f"{claim.awake_word}: {claim.found_awake}" if claim.awake_word else "",) if awake else ()
        rows.append((each.id, each.say, shown, claim.word, claim.found, *last))
        if stated and stated.contradicts:
            itself.setdefault(stated.contradicts, each.id)
    titles = ("", "claim", "its figure", "verdict", "here", *(["with awake processors"] if awake else []))
    lines = [
        f"# {escaped(study.title)}",
        "",
        f"{claims_counted(claims)}.",
        "",
        f"- The document: {escaped(f'{study.document}, on {study.measured_on}; {study.conditions}.')}",
        f"- Here: {escaped(f'{study.here}.')}",
        f"- {escaped(machine_line(run))}",
        "",
        *table(table_of(titles, rows)),
    ]
    if itself:
        lines += ["", "## Where the document contradicts itself", ""]
        lines += [f"- {claim}: {escaped(text)}" for text, claim in itself.items()]
    return "\n".join(lines) + "\n"


def _found(expected: Expected) -> str:
    return expected.why.removeprefix(f"{_WORDS[expected.verdict]}, ")


def _lines(study: Study, run: Run, expected: Sequence[Expected], width: int) -> Iterator[Text]:
    claims = judged_claims(study, run, expected)
    yield from paragraph(f"{study.title}: {claims_counted(claims)}", width, "bold")
    where = f"{study.document}, on {study.measured_on}; {study.conditions}"
    yield from terminal(facts(("it", where), ("here", study.here)), width)
    shown: set[str] = set()
    lines: list[Line] = []
    for each in claims:
        (mark, style), stated = MARKS[each.expected.verdict], study.claim_of(each.expected.id)
        itself = stated.contradicts if stated and stated.contradicts not in shown else ""
        shown.add(itself)
        figure = stated.figure if stated else "none"
        claim = facts((f"{mark} {each.expected.id}", each.expected.say), ("  its figure", figure))
        found = facts((f"  {each.word}", each.found), style=style)
        lines += [Line("", ()), *claim.lines, *found.lines]
        if each.awake:
            style = MARKS[each.awake.verdict][1]
            lines += facts((f"  {each.awake_word}", f"with awake processors: {each.found_awake}"), style=style).lines
        lines += facts(("  itself", itself)).lines
    yield from terminal(Table(columns=(), lines=tuple(lines)), width)
    yield Text()
    yield from paragraph(str(run.folder), width, first="kept in  ")
    if study.figures:
        yield from map(Text, command_lines("the document's figures: ", f"middlemark import {study.figures}", width))
