"""Our counts and samples in the format of ddsperf: for each second rate, size, rss, context switches and threads."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from middlemark.document.document import Document
from middlemark.model.outcome import Second
from middlemark.model.times import QUANTILES
from middlemark.show import View
from middlemark.show.naming import log_head, log_title
from middlemark.stats.quantiles import SAMPLES_BEYOND, Numbers, rank_of, samples_needed
from middlemark.stats.result import CellResult
from middlemark.stats.samples import Samples
from middlemark.verdicts.names import plain

_NS = 1_000_000_000
_WINDOW = 10
"""In ddsperf's output, figures in parentheses cover the last ten seconds."""
_SHOWN = 0.005
"""A thread belongs to ``others`` if it used less than this share of a processor in both user and system mode."""

_PRINTED = {"50%": QUANTILES["p50"], "90%": QUANTILES["p90"], "99%": QUANTILES["p99"]}
_ENOUGH = samples_needed(_PRINTED["99%"])
"""A line has at least this number of round trips, unless the whole trial has fewer."""

_ABOUT = (
    "# The format is that of ddsperf 0.10, which also prints halves of round trips. All differences:",
    "# [N] is the number of a worker here, not a process id; times count from when the first worker began to measure.",
    "# size: the whole payload, header included. rate: intact messages; total, delta: different messages.",
    "# In parentheses: the rate of the last ten seconds, or of all seconds if there are fewer.",
    "# lost: the count is known when a trial has ended; it is in the last line of each subscriber and 0 before.",
    "# rss: at that second, not the peak; in MB of 1048576 bytes, as in ddsperf. vcsw, ivcsw: per second.",
    "# name:user%+sys%: a thread's total time, split like its process's time; 100% is one processor.",
    f"# A line covers enough seconds for {_ENOUGH:,} round trips, or the whole trial.",
    "# Quantiles are over all round trips of a line; ddsperf's are over the first 20,000 of a second.",
    "# The histogram of write times that ddsperf prints is missing; write_ns is in --format json.",
)


def render(document: Document, view: View) -> str:
    """Return a section for each cell: the seconds of the trial with the median figure, in ddsperf's format."""
    lines = [log_head(document.runs[0]), *_ABOUT]
    free = itertools.count(1)
    for row in document.rows:
        lines += ["", *_section(row.result, partial(view.samples_of, row.index), free)]
    return "\n".join(lines) + "\n"


def _section(
    result: CellResult, trials: Callable[[], Iterable[Samples]], free: "itertools.count[int]"
) -> Iterator[str]:
    """Yield the lines of a cell. ``free`` counts workers, so that each number occurs once in the whole output."""
    yield log_title(result)
    if result.failed is not None:
        yield f"# failed: {plain(result.failed.text)}"
        return
    numbers = {who: next(free) for who in dict.fromkeys(each.who for each in result.series)}
    if numbers:
        who = "; ".join(f"[{number}] {plain(who)}" for who, number in numbers.items())
        yield f"# trial {result.series_trial} of {result.trials}: {who}"
    else:
        yield "# no series was kept"
    if result.cell.pattern == "ping-pong":
        yield from _round_trips(result, trials(), numbers, free)
    yield from _of_workers(result, numbers)
    yield from (f"# {each.code}: {plain(each.text)}" for each in result.warnings)


def _of_workers(result: CellResult, numbers: dict[str, int]) -> Iterator[str]:
    history: dict[str, list[Second]] = {who: [] for who in numbers}
    last = {each.who: each for each in sorted(result.series, key=lambda each: each.at_s)}
    for second in sorted(result.series, key=lambda each: each.at_s):
        past = history[second.who]
        past.append(second)
        prefix = f"[{numbers[second.who]}] {second.at_s:.3f} "
        if result.cell.pattern == "stream" and second.received is not None:
            ended = last[second.who] is second
            yield f"{prefix} {_rate(result, past, _lost_at(result, second.who) if ended else 0)}"
        yield f"{prefix} {_cost(second)}"


def _rate(result: CellResult, past: Sequence[Second], lost: int) -> str:
    second = past[-1]
    size = result.cell.size
    window = past[-_WINDOW:]
    total = sum(each.received or 0 for each in past)
    rates = []
    for part in ((second,), window):
        intact = sum((each.received or 0) - (each.damaged or 0) for each in part)
        seconds = sum(each.seconds for each in part)
        hz = intact / seconds if seconds > 0 else 0.0
        rates.append(f"{hz / 1e3:.2f} kS/s {hz * size * 8 / 1e6:.2f} Mb/s")
    return (
        f"size {size} total {total} lost {lost} delta {second.received or 0} lost {lost} rate {rates[0]} ({rates[1]})"
    )


def _lost_at(result: CellResult, who: str) -> int:
    """Return the number of messages that a worker's subscribers lost. ``who``: the roles of the worker, as text."""
    return sum(each.lost for each in result.series_subscribers if f"subscriber {each.index}" in who.split(" and "))


def _cost(second: Second) -> str:
    if second.rss_bytes > 1 << 20:
        rss = f"rss:{second.rss_bytes / (1 << 20):.1f}MB "
    else:
        rss = f"rss:{second.rss_bytes / 1024:.0f}kB " if second.rss_bytes else ""
    seconds = max(second.seconds, 1e-9)
    switches = [round(each / seconds) for each in (second.voluntary_switches, second.involuntary_switches)]
    return f"{rss}vcsw:{switches[0]} ivcsw:{switches[1]}{''.join(_threads(second, seconds))}"


def _threads(second: Second, seconds: float) -> Iterator[str]:
    used = second.user_ns + second.system_ns
    user = second.user_ns / used if used else 1.0
    larger = max(user, 1 - user)
    shares = [(each.name, each.cpu_ns / (seconds * _NS)) for each in second.threads]
    shown = [(name, share) for name, share in shares if share * larger >= _SHOWN]
    rest = sum(share for _, share in shares if share * larger < _SHOWN)
    for name, share in [*shown, *([("others", rest)] if rest * larger >= _SHOWN else [])]:
        word = plain(name).replace(" ", "_") or "?"
        yield f" {word}:{100 * share * user:.0f}%+{100 * share * (1 - user):.0f}%"


def _round_trips(
    result: CellResult, trials: Iterable[Samples], numbers: dict[str, int], free: "itertools.count[int]"
) -> Iterator[str]:
    for number, samples in enumerate(trials, start=1):
        if result.trials > 1:
            yield f"# round trips of trial {number}"
        workers = numbers if number == result.series_trial and not result.failed_trials else {}
        ping = next((at for who, at in workers.items() if who.startswith("ping")), None) or next(free)
        within = result.cell.processes == 1
        pong = ping if within else next((at for who, at in workers.items() if "pong 0" in who), None) or next(free)
        for second, values in _windows(samples):
            yield f"[{ping}] {second}.000  pong:{pong} size {result.cell.size} {_times(values)} cnt {len(values)}"
            yield from _too_few(len(values))


def _windows(samples: Samples) -> Iterator[tuple[int, Numbers]]:
    """Yield the end in seconds and the sorted round trips of each line.

    A line has enough round trips for the 99 % quantile.

    If the last seconds have too few round trips, these round trips are added to the line before.
    """
    seconds = np.asarray(samples["begin_ns"]) // _NS
    ends = [*(np.flatnonzero(np.diff(seconds)) + 1).tolist(), len(seconds)] if len(seconds) else []
    cuts = [0]
    for end in ends:
        if end - cuts[-1] >= _ENOUGH and (len(seconds) - end >= _ENOUGH or end == len(seconds)):
            cuts.append(end)
    if cuts[-1] < len(seconds):
        cuts.append(len(seconds))
    for begin, end in itertools.pairwise(cuts):
        yield int(seconds[end - 1]) + 1, np.sort(samples["round_trip_ns"][begin:end])


def _times(ordered: Numbers) -> str:
    quantiles = [(name, ordered[rank_of(each, len(ordered)) - 1]) for name, each in _PRINTED.items()]
    figures = [("mean", ordered.mean()), ("min", ordered[0]), *quantiles, ("max", ordered[-1])]
    return " ".join(f"{name} {float(figure) / 2000:.3f}us" for name, figure in figures)


def _too_few(count: int) -> Iterator[str]:
    doubtful = [name for name, each in _PRINTED.items() if count < samples_needed(each)]
    if doubtful:
        yield (
            f"# {', '.join(doubtful)} of these {count:,}: printed because ddsperf does, but unreliable: fewer than "
            f"{SAMPLES_BEYOND} samples lie beyond"
        )
