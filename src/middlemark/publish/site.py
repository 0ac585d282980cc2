"""A static site of published results: pages that need no server and no network."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from middlemark import __version__
from middlemark.document.numbers import measured, ratio
from middlemark.document.report_tables import growth_tables
from middlemark.model.units import format_size
from middlemark.publish.files import text_of
from middlemark.publish.result import document_again, run_again
from middlemark.show.html.page import data_block, styles
from middlemark.show.html.values import texts_of
from middlemark.show.json.published import Published, PublishedCell

_HERE = Path(__file__).parent / "templates"

Files = Mapping[str, Published]
"""Name of the file without its ending → result."""


class SiteAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One middleware's answer to one question: its best row in one experiment of one result."""

    subject: str
    """Adapter and transport."""
    adapter: str
    version: str
    question: str
    """The question as a text, equal for all answers to the same question."""
    machine: str
    suite: str
    size: str
    pattern: str
    figure: float
    shown: str
    best: float
    """The figure divided by the best figure of the question: 1 is the best."""
    baseline: str
    """The ratio to the baseline as text."""
    standing: str
    file: str


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """A middleware and its transport in the ranking."""

    subject: str
    shown: str
    """The geometric mean of the subject's ratios to the best, as text."""
    width: float
    """The length of the bar in percent."""
    answered: int
    of: int
    """The number of questions. The subject has a result for ``answered`` of them."""


def result_files(folder: Path) -> list[Path]:
    """Return the files of published results in a folder. Their names have the form ``2026-11-28-amr-1a2b3c4d.json``."""
    return sorted(folder.glob("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]-*-????????.json"))


def pages(files: Files, reports: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the path and the content of each file of the site. ``reports``: the HTML report of each result."""
    entries = [entry for name, result in files.items() for entry in entries_of(name, result)]
    machines = sorted({machine_of(each) for each in files.values()})
    adapters = sorted({each.adapter for each in entries})
    common: dict[str, Any] = {
        "styles": Markup(styles()),
        "middlemark": __version__,
        "machines": [(each, slug(each)) for each in machines],
        "adapters": [(each, slug(each)) for each in adapters],
    }

    def page(template: str, root: str, title: str, **values: Any) -> str:
        return _environment().get_template(template).render(common, root=root, title=title, **values)

    rivals = Counter((each.file, each.question) for each in entries)
    compared = [each for each in entries if each.pattern != "workload" and rivals[each.file, each.question] > 1]
    data = Markup(data_block({"entries": msgspec.to_builtins(compared)}))
    chips = [(field, title, _levels(compared, field)) for field, title in _CHIPS]
    title = "Middlewares compared"
    yield "index.html", page("index.html", "", title, rows=ranking(compared), data=data, chips=chips, files=files)
    yield "contribute.html", page("contribute.html", "", "Contribute a result")
    robots = sorted((each for each in entries if each.pattern == "workload"), key=lambda each: each.figure)
    yield "robots.html", page("robots.html", "", "Robots: deadlines", robots=_by(robots, "question"))
    yield "crowds.html", page("crowds.html", "", "Crowds: how it grows", growths=list(_growths(files)))
    for machine in machines:
        own = {name: each for name, each in files.items() if machine_of(each) == machine}
        questions = {name: _by((each for each in entries if each.file == name), "question") for name in own}
        text = page("machine.html", "../", machine, results=own, reports=reports, questions=questions)
        yield f"machine/{slug(machine)}.html", text
    for adapter in adapters:
        found = sorted(
            (each for each in entries if each.adapter == adapter), key=lambda each: (each.machine, each.size)
        )
        title = next(
            (about.title for each in files.values() for about in each.adapters if about.name == adapter), adapter
        )
        yield f"middleware/{slug(adapter)}.html", page("middleware.html", "../", title, entries=found)
    yield from ((f"results/{name}.json", text_of(result)) for name, result in files.items())
    yield from ((f"report/{name}.html", text) for name, text in reports.items())


CROWDS = ("participants", "subscribers", "publishers", "topics", "copies", "scale")
"""The factors that make a crowd larger."""


def _growths(files: Files) -> Iterator[dict[str, Any]]:
    """Yield a table for each result and each factor in ``CROWDS``: the figure at the lowest level, and its growth."""
    for result in files.values():
        for factor, table in growth_tables(document_again(result).growths):
            if factor in CROWDS:
                yield texts_of(table) | {"title": f"{result.title}, {factor}", "machine": machine_of(result)}


_CHIPS = (("machine", "machine"), ("suite", "suite"), ("pattern", "pattern"), ("size", "size"))


def entries_of(name: str, result: Published) -> Iterator[SiteAnswer]:
    """Yield the best row of each adapter and transport in each experiment."""
    for each in result.experiments:
        rows = {at: result.cells[at] for at in each.ranked}
        cells = {at: cell for at, cell in rows.items() if cell.figure}
        if not cells:
            continue
        least = min(cell.figure or 0.0 for cell in cells.values())
        by_subject: dict[str, PublishedCell] = {}
        for cell in sorted(cells.values(), key=lambda cell: cell.figure or 0.0):
            by_subject.setdefault(_subject(cell), cell)
        for subject, cell in by_subject.items():
            figure = cell.figure or 0.0
            pattern = "workload" if each.metric == "deadline" else str(cell.levels.get("pattern", "ping-pong"))
            shown = measured(figure, "deadlines" if each.metric == "deadline" else "ns")
            yield SiteAnswer(
                subject=subject,
                adapter=str(cell.levels["adapter"]),
                version=cell.version,
                question=f"{result.title}, {format_size(each.size)}: {each.what}",
                machine=machine_of(result),
                suite=result.title,
                size=format_size(each.size),
                pattern=pattern,
                figure=figure,
                shown=shown,
                best=figure / least,
                baseline=ratio(cell.ratio),
                standing=(cell.standing or "").replace("_", " "),
                file=name,
            )


def ranking(entries: Sequence[SiteAnswer]) -> list[Ranked]:
    """Return each subject with the geometric mean of its ratios to the best.

    Subjects with an answer to all questions come first. The script of the page computes the same for the selected
    chips.
    """

    def questions(members: Iterable[SiteAnswer]) -> int:
        return len({(each.machine, each.file, each.question) for each in members})

    means = {
        subject: (geometric_mean(each.best for each in own), questions(own))
        for subject, own in _by(entries, "subject").items()
    }
    widest = max((mean for mean, _ in means.values()), default=1.0)
    asked = questions(entries)
    return [
        Ranked(subject=subject, shown=ratio(mean), width=round(100 * mean / widest, 1), answered=answered, of=asked)
        for subject, (mean, answered) in sorted(means.items(), key=lambda each: (-each[1][1], each[1][0]))
    ]


def machine_of(result: Published) -> str:
    """Return the machine in words, as the site shows it: its processor, system and kernel."""
    machine = result.machine
    virtual = ", virtual" if machine.virtual else ""
    return f"{machine.cpu}, {machine.processors} processors{virtual}, {machine.system}, Linux {machine.kernel}"


def slug(text: str) -> str:
    """Return the text in the form of a file name: lower case, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "unknown"


def html_of(result: Published) -> str:
    """Return the HTML report of a published result. Raises MeasureError if its script is missing."""
    from middlemark.document import document_of, with_verdicts
    from middlemark.show.html.page import render_html

    run = run_again(result)
    return render_html(with_verdicts(document_of([run], generated=run.file.started, middlemark=__version__), [run]))


def _subject(cell: PublishedCell) -> str:
    adapter, transport = str(cell.levels["adapter"]), str(cell.levels["transport"])
    return adapter if adapter == transport else f"{adapter} {transport}"


def _by(entries: Iterable[SiteAnswer], field: str) -> dict[str, list[SiteAnswer]]:
    found: dict[str, list[SiteAnswer]] = {}
    for each in entries:
        found.setdefault(getattr(each, field), []).append(each)
    return found


def _levels(entries: Iterable[SiteAnswer], field: str) -> list[str]:
    return list(dict.fromkeys(getattr(each, field) for each in entries))


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters["slug"] = slug
    return made
