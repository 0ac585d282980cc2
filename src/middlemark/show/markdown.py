"""The report as Markdown, as pull requests and wikis show it: answers, tables, verdicts, warnings, machine.

GitHub's and GitLab's dialect (GFM). Every name, note and warning is text: whatever could be markup there is escaped.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from middlemark.document.document import Compared, Document, Row
from middlemark.document.expectations import counted
from middlemark.document.figures import FIGURES
from middlemark.document.growth import tables
from middlemark.document.judged import interval_of, verdict_of
from middlemark.document.numbers import ABSENT, brief, four_digits, part, us
from middlemark.document.protection import proof_in_full, proof_in_short
from middlemark.document.rows import latency_of, orders_by
from middlemark.document.runs import clock_line, machine_line, notes_of, read_as
from middlemark.document.scorecards import header_of, method_of, rows_of_card
from middlemark.document.words import plain, size
from middlemark.model.run import Run
from middlemark.show import View
from middlemark.stats.floors import by_rate
from middlemark.stats.metrics import METRICS
from middlemark.stats.result import CellResult

_CHARACTERS = {
    # As entities: a backslash does not keep < from being a tag in every renderer, nor @ and # from being links.
    **{character: f"&#{ord(character)};" for character in "&<>|`@#\\[]*~"},
    "\n": " ",
}
_LINKS = {"://": "&#58;//", "www.": "www&#46;"}
"""What GFM would make a link of by itself."""

_EMPHASIS = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
"""Within a word an underscore is one; elsewhere it may begin or end emphasis."""

MOST_COMPARISONS = 60
MOST_WARNINGS = 40
MOST_GROWTHS = 60


def render(document: Document, _view: View) -> str:
    """Return the report, ending in a newline."""
    lines = [f"## {escaped(document.title)}", ""]
    lines += [escaped(machine_line(run)) for run in document.runs[:1]]
    figures = (_expectations, _answers, _scorecards, _latency, _throughput, _growth)
    for part_of in (*figures, _protection, _comparisons, _warnings, _failed, _experiment):
        if section := list(part_of(document)):
            lines += ["", *section]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Return the text so that it shows as it is, on one line, in a paragraph and in a table."""
    shown = "".join(_CHARACTERS.get(character, character) for character in plain(text))
    shown = _EMPHASIS.sub("&#95;", shown)
    for link, harmless in _LINKS.items():
        shown = shown.replace(link, harmless)
    return shown


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table, figures to the right. Everything is escaped already."""
    words = {"", "warnings", "B beside A", "metric", "verdict", "configuration", "why", "what happened", "next"}
    words |= {"expected", "claim", "claimed", "its figure", "here", "protected by", "proof"}
    return [
        f"| {' | '.join(header)} |",
        f"| {' | '.join('---' if each in words else '---:' for each in header)} |",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def _expectations(document: Document) -> Iterator[str]:
    if not document.expectations:
        return
    yield f"### Expected: {counted(document.expectations)}"
    yield ""
    yield from table(
        ("expected", "claimed", "verdict", "why"),
        [tuple(map(escaped, (each.say, each.claimed, each.verdict, each.why))) for each in document.expectations],
    )


def _answers(document: Document) -> Iterator[str]:
    if document.answers:
        yield "### The answer"
        yield ""
        yield from (f"- {escaped(each.text)}" for each in document.answers)


def _scorecards(document: Document) -> Iterator[str]:
    for each in document.scorecards:
        yield f"### Scorecard{escaped(f': {each.experiment}') if each.experiment else ''}"
        yield ""
        yield from table([*map(escaped, header_of(each))], [[*map(escaped, row)] for row in rows_of_card(each)])
        yield ""
        yield escaped(method_of(each))
        yield ""


def _latency(document: Document) -> Iterator[str]:
    for kind, title in (("round_trip", "Latency: round trip, µs"), ("one_way", "Latency: one way, µs")):
        of_kind = [
            row
            for row in document.rows
            if latency_of(row.result) and (row.result.cell.pattern == "stream") == (kind == "one_way")
        ]
        if not of_kind:
            continue
        yield f"### {title}"
        yield ""
        header = ("", "p50", "interval", "p99", "p99.9", "max", "× machine alone", "lost", "trials", "warnings")
        for at, members in _by_size(of_kind).items():
            yield from (f"**{at}**", "")
            yield from table(header, [_latency_row(row, kind) for row in members])
            yield ""


def _latency_row(row: Row, kind: str) -> tuple[str, ...]:
    result = row.result
    p50, *others = (_text(f"{kind}_{each}", result) for each in ("p50", "p99", "p99.9", "max"))
    held = result.interval if result.interval and not by_rate(result.cell) else ()
    trials, codes = result.trials, dict.fromkeys(each.code for each in result.warnings)
    return (
        _name(row),
        p50,
        " – ".join(us(each) for each in held) or ABSENT,
        *others,
        _floor(row),
        _text("loss", result),
        str(trials) if not result.failed_trials else f"{trials} of {trials + result.failed_trials}",
        escaped(", ".join(codes)),
    )


def _throughput(document: Document) -> Iterator[str]:
    rated = [row for row in document.rows if row.result.rate_hz is not None]
    if not rated:
        return
    yield "### Throughput and cost"
    yield ""
    header = ("", "messages/s", "interval", "MB/s", "lost", "ns of processor a message", "processors", "RSS, MB")
    for at, members in _by_size(rated).items():
        yield from (f"**{at}**", "")
        yield from table(header, [_throughput_row(row) for row in members])
        yield ""


def _throughput_row(row: Row) -> tuple[str, ...]:
    result = row.result
    held = result.interval if result.interval and by_rate(result.cell) else ()
    cpu = FIGURES["cpu"].of(result)
    return (
        _name(row),
        _text("rate_hz", result),
        " – ".join(brief(each) for each in held) or ABSENT,
        _text("bytes_per_s", result),
        _text("loss", result),
        _text("ns_per_message", result),
        ABSENT if cpu is None else f"{four_digits(cpu):.3g}",
        _text("rss_bytes", result),
    )


def _protection(document: Document) -> Iterator[str]:
    protected = [row for row in document.rows if proof_in_short(row.result)]
    if protected:
        yield "### What protects them, and what was seen of it"
        yield ""
        yield from table(("configuration", "protected by", "proof"), [_protected(row) for row in protected])


def _protected(row: Row) -> tuple[str, ...]:
    return escaped(row.label), escaped(row.result.protected_by or ABSENT), escaped(proof_in_full(row.result))


def _growth(document: Document) -> Iterator[str]:
    shown = [each for each in document.growths if each.metric in ("p50", "throughput")][:MOST_GROWTHS]
    for each in tables(shown):
        yield f"### Growth along {each.factor}"
        yield ""
        header = ("", "metric", *map(escaped, each.levels))
        yield from table(header, [tuple(map(escaped, row)) for row in each.rows])
        yield ""


def _text(name: str, result: CellResult) -> str:
    return FIGURES[name].text(result)


def _comparisons(document: Document) -> Iterator[str]:
    chosen = [
        each
        for each in document.comparisons
        if each.comparison.metric in ("p50", "throughput") and each.comparison.judged.low is not None
    ]
    if not chosen:
        return
    yield "### Comparisons"
    yield ""
    header = ("B beside A", "metric", "A", "B", "shift", "95 % interval", "pairs", "verdict")
    yield from table(header, [_comparison_row(each) for each in chosen[:MOST_COMPARISONS]])
    if len(chosen) > MOST_COMPARISONS:
        yield from ("", f"and {len(chosen) - MOST_COMPARISONS:,} more: `middlemark compare` tells them.")
    yield ""
    yield (
        "Paired by round, one figure a trial; different where the p-value over all that the run compares by that "
        f"metric is at most 5 % and the shift beyond {100 * document.margin:g} %; equivalent where the interval is "
        "within it."
    )


def _comparison_row(each: Compared) -> tuple[str, ...]:
    comparison, judged = each.comparison, each.comparison.judged
    names, marks = comparison.pairing.names, comparison.pairing.marks
    first = f"{each.what}: {names[0]} → {names[1]}" + (f" ({'; '.join(marks)})" if marks else "")
    return (
        escaped(first),
        comparison.metric,
        *(_figure(comparison.metric, median) for median in comparison.medians),
        part(judged.shift),
        interval_of(judged),
        str(judged.pairs),
        verdict_of(comparison),
    )


def _figure(metric: str, value: float) -> str:
    return f"{us(value)} µs" if METRICS[metric].unit == "ns" else f"{brief(value)}/s"


def _warnings(document: Document) -> Iterator[str]:
    if not document.warnings:
        return
    yield "### Warnings"
    yield ""
    for each in document.warnings[:MOST_WARNINGS]:
        labels = [document.rows[at].label for at in each.cells[:3]]
        more = f" and {each.count - len(labels):,} more" if each.count > len(labels) else ""
        advice = f" → {escaped(each.advice)}" if each.advice else ""
        yield f"- **{escaped(each.code)}** ({escaped('; '.join(labels))}{more}): {escaped(each.text)}{advice}"


def _failed(document: Document) -> Iterator[str]:
    failed = [(row.label, row.result.failed) for row in document.rows if row.result.failed is not None]
    if not failed:
        return
    yield "### Without a result"
    yield ""
    rows = [tuple(map(escaped, (label, why.code, why.text, why.advice))) for label, why in failed]
    yield from table(("configuration", "why", "what happened", "next"), rows)


def _experiment(document: Document) -> Iterator[str]:
    yield "### The experiment"
    yield ""
    for run in document.runs:
        yield from _run(run)
    if document.commands:
        yield from ("", "Again:", "")
        # Indented code: no text can end it, whatever it holds.
        yield from (f"    {plain(each)}" for each in document.commands)
    yield ""
    yield f"Written by Middlemark {escaped(document.middlemark)}, {escaped(document.generated[:19])} UTC."


def _run(run: Run) -> Iterator[str]:
    file = run.file
    failed = f", {run.failed_trials:,} of them failed" if run.failed_trials else ""
    state = "; still under way" if run.running else "; interrupted" if file.interrupted else ""
    state += f"; ended early: {file.error}" if file.error else ""
    state += f"; {run.damaged_lines:,} damaged lines were left out" if run.damaged_lines else ""
    facts: Mapping[str, str] = {
        "run": run.name,
        "suites": ", ".join(file.suites),
        "trials": f"{len(run.outcomes):,} of {run.planned_trials:,}{failed}, seed {file.seed}{state}",
        "machine": machine_line(run),
        "clock": clock_line(run),
        "versions": ", ".join(f"{each.name} {each.version}".strip() for each in file.adapters),
    }
    yield from (f"- {name}: {escaped(text)}" for name, text in facts.items() if text)
    yield from (f"- note: {escaped(each)}" for each in (*map(read_as, file.imported), *notes_of(run)))


def _by_size(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Floors first, then by what is held against them, as in the table for terminals."""
    found: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: 0 if "size" in row.result.cell.unknown else row.result.cell.size):
        found.setdefault(size(row.result.cell), []).append(row)

    def place(row: Row) -> tuple[bool, bool, float]:
        figure = orders_by(row.result)
        return (not row.floor, figure is None, figure or 0.0)

    return {size: sorted(members, key=place) for size, members in found.items()}


def _name(row: Row) -> str:
    return escaped(row.series) + (" (machine alone)" if row.floor else "")


def _floor(row: Row) -> str:
    if row.result.times_floor is None or row.floor:
        return ABSENT
    return f"{_text('times_floor', row.result)} {escaped(row.result.floor or '')}".strip()
