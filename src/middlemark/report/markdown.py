"""The report as Markdown, as pull requests and wikis show it: answers, tables, verdicts, doubts, machine.

GitHub's and GitLab's dialect (GFM). Every name, note and doubt is text: whatever could be markup there is escaped.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from middlemark.report.document.model import Cell, Comparison, Document, Run
from middlemark.report.factors import plain
from middlemark.report.numbers import ABSENT, brief, megabytes, ratio, share, us, whole
from middlemark.stats.comparisons import METRICS
from middlemark.units import format_size

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
MOST_DOUBTS = 40


def render(document: Document) -> str:
    """Return the report, ending in a newline."""
    lines = [f"## {escaped(document.title)}", ""]
    lines += [f"{escaped(run.machine_line)}" for run in document.runs[:1] if run.machine_line]
    for part in (_answers, _latency, _throughput, _comparisons, _doubts, _failed, _experiment):
        if section := list(part(document)):
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
    words = ("", "doubts", "B beside A", "metric", "verdict", "cell", "why", "what happened", "next")
    return [
        f"| {' | '.join(header)} |",
        f"| {' | '.join('---' if each in words else '---:' for each in header)} |",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def _answers(document: Document) -> Iterator[str]:
    if document.answers:
        yield "### The answer"
        yield ""
        yield from (f"- {escaped(each.text)}" for each in document.answers)


def _latency(document: Document) -> Iterator[str]:
    cells = [each for each in document.cells if each.latency is not None]
    for kind, title in (("round_trip", "Latency: round trip, µs"), ("one_way", "Latency: one way, µs")):
        of_kind = [each for each in cells if each.kind == kind]
        if not of_kind:
            continue
        yield f"### {title}"
        yield ""
        header = ("", "p50", "interval", "p99", "p99.9", "max", "× floor", "lost", "trials", "doubts")
        for size, members in _by_size(of_kind).items():
            yield from (f"**{size}**", "")
            yield from table(header, [_latency_row(each) for each in members])
            yield ""


def _latency_row(cell: Cell) -> tuple[str, ...]:
    latency = cell.latency
    p50, p99, p99_9, most = (
        (latency.p50, latency.p99, latency.p99_9, latency.max) if latency else (None, None, None, None)
    )
    interval = ABSENT if cell.interval is None or cell.by_rate else " – ".join(us(each) for each in cell.interval)
    return (
        _name(cell),
        us(p50),
        interval,
        us(p99),
        us(p99_9),
        us(most),
        _floor(cell),
        ABSENT if cell.loss is None else share(cell.loss),
        _trials(cell),
        _codes(cell),
    )


def _throughput(document: Document) -> Iterator[str]:
    cells = [each for each in document.cells if each.rate_hz is not None]
    if not cells:
        return
    yield "### Throughput and cost"
    yield ""
    header = ("", "messages/s", "interval", "MB/s", "lost", "ns of processor a message", "processors", "RSS, MB")
    for size, members in _by_size(cells).items():
        yield from (f"**{size}**", "")
        yield from table(header, [_throughput_row(each) for each in members])
        yield ""


def _throughput_row(cell: Cell) -> tuple[str, ...]:
    interval = " – ".join(map(brief, cell.interval)) if cell.interval and cell.by_rate else ABSENT
    return (
        _name(cell),
        brief(cell.rate_hz),
        interval,
        megabytes(cell.bytes_per_s),
        ABSENT if cell.loss is None else share(cell.loss),
        whole(cell.cpu_ns_per_message),
        ABSENT if cell.cpu is None else f"{cell.cpu:.3g}",
        megabytes(cell.rss_bytes),
    )


def _comparisons(document: Document) -> Iterator[str]:
    chosen = [each for each in document.comparisons if each.metric in ("p50", "throughput") and each.low is not None]
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
        f"Paired by round, one figure a trial; different where Holm's p over the comparisons of one factor and metric "
        f"is at most 5 % and the shift beyond {100 * document.margin:g} %; equivalent where the interval is within it."
    )


def _comparison_row(each: Comparison) -> tuple[str, ...]:
    first = f"{each.what}: {each.names[0]} → {each.names[1]}" + (f" ({'; '.join(each.marks)})" if each.marks else "")
    verdict = each.verdict
    if verdict == "cannot tell":
        wanted = "more than 10,000" if each.trials_needed is None else f"about {each.trials_needed:,}"
        verdict += f" ({wanted} trials would)"
    interval = ABSENT if each.low is None or each.high is None else f"{_part(each.low)} … {_part(each.high)}"
    a, b = (_figure(each.metric, median) for median in each.medians)
    return (escaped(first), each.metric, a, b, _part(each.shift), interval, str(each.pairs), verdict)


def _figure(metric: str, value: float) -> str:
    return f"{us(value)} µs" if METRICS[metric].unit == "ns" else f"{brief(value)}/s"


def _part(part: float) -> str:
    return f"{100 * part:+.1f} %"


def _doubts(document: Document) -> Iterator[str]:
    if not document.doubts_summary:
        return
    yield "### Doubts"
    yield ""
    for each in document.doubts_summary[:MOST_DOUBTS]:
        labels = [document.cells[at].label for at in each.cells[:3]]
        more = f" and {each.count - len(labels):,} more" if each.count > len(labels) else ""
        advice = f" → {escaped(each.advice)}" if each.advice else ""
        yield f"- **{escaped(each.code)}** ({escaped('; '.join(labels))}{more}): {escaped(each.text)}{advice}"


def _failed(document: Document) -> Iterator[str]:
    failed = [each for each in document.cells if each.failed is not None]
    if not failed:
        return
    yield "### Without a result"
    yield ""
    rows = [
        (escaped(each.label), escaped(each.failed.code), escaped(each.failed.text), escaped(each.failed.advice))
        for each in failed
        if each.failed is not None
    ]
    yield from table(("cell", "why", "what happened", "next"), rows)


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
    failed = f", {run.failed_trials:,} of them failed" if run.failed_trials else ""
    state = "; still under way" if run.running else "; interrupted" if run.interrupted else ""
    state += f"; ended early: {run.error}" if run.error else ""
    state += f"; {run.damaged_lines:,} damaged lines were left out" if run.damaged_lines else ""
    facts: Mapping[str, str] = {
        "run": run.name,
        "suites": ", ".join(each.name for each in run.suites),
        "trials": f"{run.trials:,} of {run.planned_trials:,}{failed}, seed {run.seed}{state}",
        "machine": run.machine_line,
        "clock": run.clock or "",
        "versions": ", ".join(f"{each.name} {each.version}".strip() for each in run.adapters),
    }
    yield from (f"- {name}: {escaped(text)}" for name, text in facts.items() if text)
    yield from (f"- note: {escaped(each)}" for each in run.notes)


def _by_size(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """Floors first, then by what is held against them, as in the table for terminals."""
    found: dict[str, list[Cell]] = {}
    for cell in sorted(cells, key=lambda each: each.f["size"] or 0):
        size = cell.f["size"]
        found.setdefault("size unknown" if size is None else format_size(size), []).append(cell)

    def place(cell: Cell) -> tuple[bool, float]:
        figure = (
            -(cell.rate_hz or 0.0) if cell.by_rate else (cell.latency.p50 if cell.latency else None) or float("inf")
        )
        return (not cell.floor, figure)

    return {size: sorted(members, key=place) for size, members in found.items()}


def _name(cell: Cell) -> str:
    return escaped(cell.series) + (" (floor)" if cell.floor else "")


def _floor(cell: Cell) -> str:
    if cell.times_floor is None or cell.floor:
        return ABSENT
    return f"{ratio(cell.times_floor)} {escaped(cell.floor_label or '')}".strip()


def _trials(cell: Cell) -> str:
    return str(cell.trials) if not cell.failed_trials else f"{cell.trials} of {cell.trials + cell.failed_trials}"


def _codes(cell: Cell) -> str:
    return escaped(", ".join(dict.fromkeys(each.code for each in cell.doubts)))
