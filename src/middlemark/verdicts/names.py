"""Names of cells: the levels of their factors in words, and the levels that vary, which a label must contain."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from middlemark.model import load
from middlemark.model.cell import FACTORS, Cell, show_level, subject
from middlemark.model.link import HERE, is_apart
from middlemark.model.units import format_count, format_seconds, format_size
from middlemark.model.user_file import user_file
from middlemark.stats.comparisons import Pairing
from middlemark.stats.result import CellResult


def _pattern(cell: Cell) -> str:
    if {"publishers", "subscribers"} & set(cell.unknown):
        return cell.pattern
    if cell.workload is not None:
        return f"workload {cell.workload.name}"
    if cell.pattern == "stream":
        topics = f", {cell.topics} topics" if cell.topics > 1 else ""
        return f"stream, {cell.publishers} → {cell.subscribers}{topics}"
    if cell.pattern == "crowd":
        to = {"next": "the next one", "all": "all others"}[cell.subscribe]
        topics = format_count(cell.topics, "topic")
        shared = f", {cell.participants_per_process} in a process" if cell.participants_per_process > 1 else ""
        storm = f", network paused {format_seconds(cell.storm_s)}" if cell.storm_s is not None else ""
        return f"crowd of {format_count(cell.participants, 'participant')} × {topics} to {to}{shared}{storm}"
    clients = f", {cell.publishers} clients" if cell.pattern == "request-reply" and cell.publishers > 1 else ""
    return cell.pattern + clients


def _subscribers(cell: Cell) -> str:
    if cell.pattern != "ping-pong":
        return ""
    if only_copies(cell):
        return "nobody receives"
    return format_count(cell.subscribers, "subscriber")


def _processes(cell: Cell) -> str:
    if cell.processes == 1:
        return "1 process"
    return f"{cell.processes} processes" if cell.pattern == "ping-pong" else "a process each"


def _echo(cell: Cell) -> str:
    if cell.pattern != "ping-pong" or cell.subscribers <= 1:
        return ""
    return "all of them echo" if cell.echo == "all" else "one echoes"


def _sites(cell: Cell) -> str:
    if cell.across == HERE:
        return ""
    return f"across {cell.across}" if is_apart(cell.across) else f"on {cell.across}"


_IN_WORDS: dict[str, Callable[[Cell], str]] = {
    "pattern": _pattern,
    "rate": load.rate_in_words,
    "receive": lambda cell: cell.receive,
    "processes": _processes,
    "subscribers": _subscribers,
    "echo": _echo,
    "payload": lambda cell: cell.payload,
    "pin": lambda cell: "not pinned" if cell.pin is None else f"pinned {show_level('pin', cell.pin)}",
    "scale": lambda cell: f"scale {cell.scale:g}" if cell.workload else "",
    "copies": lambda cell: f"{cell.copies} copies" if cell.workload and cell.copies > 1 else "",
    "across": _sites,
    "link": lambda cell: "" if cell.link is None else f"link {cell.link}",
    "awake": lambda cell: FACTORS["awake"].show(cell.awake),
    "system": lambda cell: "" if cell.system is None else f"system {show_level('system', cell.system)}",
    "security": lambda cell: "no security" if cell.security == "none" else cell.security,
    "type": lambda cell: cell.type,
    "reliability": lambda cell: cell.reliability,
    "depth": lambda cell: "keep all" if cell.depth is None else f"depth {cell.depth}",
    "loan": lambda cell: FACTORS["loan"].show(cell.loan),
    "mlock": lambda cell: "mlock" if cell.mlock else "no mlock",
    "native": lambda cell: native_settings(cell) or "own defaults",
}
"""Factor → function that returns its level in words, in the order of a label. Other factors have their name and
level."""


def _plainly(field: str) -> Callable[[Cell], str]:
    [factor] = (each for each in FACTORS.values() if each.field == field)
    return lambda cell: f"{factor.name} {factor.kind.show(getattr(cell, field))}"


def native_settings(cell: Cell) -> str:
    """Return the cell's native settings as text; a user's file by its name. Empty: no settings."""
    return " ".join(f"{key}={_shown(value)}" for key, value in cell.native)


def _shown(value: str) -> str:
    file = user_file(value)
    return file.shown if file else value


def _if_known(factor: str, in_words: Callable[[Cell], str]) -> Callable[[Cell], str]:
    return lambda cell: "" if factor in cell.unknown else in_words(cell)


def _factors_of(*of: str) -> tuple[str, ...]:
    found = [each.field for each in FACTORS.values() if each.of in of and each.shown_by is None]
    return tuple(field for field in dict.fromkeys((*_IN_WORDS, *found)) if field in found)


EXPERIMENT = _factors_of("experiment")
"""Factors of the experiment: rows that differ in one of these are in different experiments and are never compared."""

ASKED = (*_factors_of("middleware"), "native")
"""Factors that are requests to the middleware. Rows that differ in these may be compared with each other."""

WORDS = {factor: _if_known(factor, _IN_WORDS.get(factor) or _plainly(factor)) for factor in (*EXPERIMENT, *ASKED)}
"""Factor → function that returns its level in words, in the order of a label. Empty text: the factor has no effect in
this cell.

``pattern`` includes the publishers, subscribers and topics of a stream; ``rate`` includes its arrivals, bursts and
limits."""

WITHOUT_SAYING = {"type": "octets", "security": "no security"}
"""Factor → the level that always counts as usual. Any other level is in every label, even if all rows have it."""

NOT_SHOWN = (
    *("", "may halt", "no mlock", "own defaults"),
    *WITHOUT_SAYING.values(),
    *(
        f"{each.name} {each.kind.show(each.idle)}"
        for each in FACTORS.values()
        if each.of == "middleware" and each.field not in _IN_WORDS
    ),
)
"""Levels in words that no label contains, because nobody requested them."""


def only_copies(cell: Cell) -> bool:
    """Say whether the cell has no receiver: it is a memory copy, and factors of a middleware have no meaning."""
    return cell.subscribers == 0


def with_receivers(results: Sequence[CellResult]) -> Sequence[CellResult]:
    """Return the results of the cells with a receiver. If there is none, return all results."""
    return [each for each in results if not only_copies(each.cell)] or results


def varying(results: Sequence[CellResult]) -> frozenset[str]:
    """Return the factors whose levels in words differ between the results."""
    cells = [each.cell for each in with_receivers(results)]
    return frozenset(factor for factor, words in WORDS.items() if len({words(each) for each in cells}) > 1)


def usual(results: Sequence[CellResult], varied: frozenset[str]) -> dict[str, str]:
    """Return factor → its usual level in words.

    ``varied``: the factors with several levels. For factors in ``ASKED`` the usual level is the most common level, and
    of equally common levels the first. Levels in ``WITHOUT_SAYING`` count as usual even if they are rare. Other factors
    of an experiment are left out, because headings show them.
    """
    without_saying = {
        factor: level for factor, level in WITHOUT_SAYING.items() if factor in ASKED or factor not in varied
    }
    return without_saying | {
        factor: Counter(in_words(each.cell) for each in with_receivers(results)).most_common(1)[0][0]
        for factor, in_words in WORDS.items()
        if factor in varied and factor in ASKED and factor not in WITHOUT_SAYING and results
    }


def unusual(cell: Cell, most: Mapping[str, str]) -> list[str]:
    """Return the cell's levels that are not the usual levels ``most``. A cell without a receiver has none."""
    return [] if only_copies(cell) else [level for each in most if (level := WORDS[each](cell)) != most[each]]


def words(cell: Cell, factors: Collection[str]) -> str:
    """Return the cell's levels of these factors, in the order of ``WORDS``: ``block, 2 processes``."""
    levels = [in_words(cell) for factor, in_words in WORDS.items() if factor in factors]
    return ", ".join(each for each in levels if each not in NOT_SHOWN)


def size(cell: Cell) -> str:
    """Return the message's size as text, such as ``1 KiB``, or the name of the workload, whose messages differ in size.

    ``size unknown``: the cell's size is unknown.
    """
    if cell.workload is not None:
        return cell.workload.name
    return "size unknown" if "size" in cell.unknown else format_size(cell.size)


def plain(text: str) -> str:
    """Return the text on one line with control characters escaped: it may be the output of a crashed program."""
    return "".join(
        character if character.isprintable() else " " if character in "\n\t" else ascii(character)[1:-1]
        for character in text
    )


def joined(between: str, *parts: str) -> str:
    """Join the parts that are not empty, on one line, with control characters escaped."""
    return plain(between.join(filter(None, parts)))


CONTRADICTED = "(!)"
"""The mark of a row whose actual transport or protection is not that in its name."""


def is_contradicted(result: CellResult) -> bool:
    """Say whether the evidence contradicts the requested transport or level of security."""
    return is_unprotected(result) or any(each.code == "transport-contradicted" for each in result.warnings)


def is_unprotected(result: CellResult) -> bool:
    """Say whether a proof of the requested level of security has failed."""
    return any(each.code == "protection-contradicted" for each in result.warnings)


def labels(results: Sequence[CellResult]) -> list[str]:
    """Return a label for each result with the levels that are not usual. The heading has the usual levels.

    If a cell is in two sweeps, the label contains the sweep's name. If a row has another number of trials than most
    rows, the label contains the number of trials.
    """
    usual_levels = usual(results, varying(results))
    cells = Counter(each.cell for each in results)
    trials = Counter(each.trials for each in results if each.failed is None)
    usual_trials = trials.most_common(1)[0][0] if trials else 0

    def label(result: CellResult) -> str:
        named = result.name if cells[result.cell] > 1 else ""
        parts = [subject(result.cell), result.cell.label or "", *unusual(result.cell, usual_levels), named]
        if result.failed is None and result.trials != usual_trials:
            parts.append(format_count(result.trials, "trial"))
        return joined(", ", *parts) + (f" {CONTRADICTED}" if is_contradicted(result) else "")

    return [label(each) for each in results]


_WARNINGS = {
    "above-memcpy": "faster than memcpy",
    "bimodal": "bimodal",
    "actual-transport-varies": "several actual transports",
    "faster-than-baseline": "faster than its baseline",
    "few-samples": "too few samples",
    "loss": "lost messages",
    "loss-behind-latency": "latency without the lost messages",
    "mostly-idle": "processors that halt",
    "p99-disagrees": "p99 differs between trials",
    "protection-contradicted": "not protected",
    "time-unaccounted": "time not accounted for",
    "transport-contradicted": "another actual transport",
}


def warning_name(code: str) -> str:
    """Return the words for a warning's code: ``faster than memcpy`` for ``above-memcpy``."""
    return _WARNINGS.get(code, code.replace("-", " "))


def size_of(cells: Sequence[Cell]) -> str:
    """Return the size of all these cells as text, or their workload; empty: they differ."""
    return size(cells[0]) if len({size(each) for each in cells}) == 1 else ""


def what(pairing: Pairing, factors: Collection[str], *, size: bool = True) -> str:
    """Return what both sides have in common: subject, size, and the levels of ``factors``."""
    return common((pairing.a.cell, pairing.b.cell), factors, size=size)


def common(cells: Sequence[Cell], factors: Collection[str], *, size: bool = True) -> str:
    """Return what these cells have in common: subject, size, and the levels of ``factors``."""
    first = cells[0]
    shared = {factor for factor in factors if len({getattr(each, factor) for each in cells}) == 1}
    adapter = first.middleware if len({each.middleware for each in cells}) == 1 else ""
    named = subject(first) if len({subject(each) for each in cells}) == 1 else adapter
    at = size_of(cells) if size else ""
    return joined(", ", named, at, words(first, shared))


def varied_factors(cells: Sequence[Cell]) -> list[str]:
    """Return the factors whose levels differ between these cells."""
    return [factor for factor in (*EXPERIMENT, *ASKED) if len({getattr(each, factor) for each in cells}) > 1]


def distinguishing_factors(pairings: Iterable[Pairing]) -> list[str]:
    """Return the factors that may distinguish pairs: all of the experiment, and those of a middleware that vary."""
    cells = [each.cell for pairing in pairings for each in (pairing.a, pairing.b)]
    return [*EXPERIMENT, *(each for each in varied_factors(cells) if each in ASKED)]
