"""Judged experiments in words: rows, comparisons, and two sentences for the verdict."""

import math
from collections.abc import Iterable

from middlemark.document.compare import interval_of, trials_wanted
from middlemark.document.numbers import brief, measured, part, ratio, us
from middlemark.model.spelling import listing
from middlemark.model.units import format_count, format_percent
from middlemark.stats.interval import FEWEST
from middlemark.stats.metrics import METRICS
from middlemark.stats.verdict import Verdict
from middlemark.verdicts.experiments import Experiment, JudgedExperiment, JudgedRow, Standing
from middlemark.verdicts.names import is_contradicted, plain
from middlemark.verdicts.rows import Row, grouped

CARRIERS = {
    "shared-memory": "over shared memory",
    "udp": "over UDP",
    "tcp": "over TCP",
    "unix-socket": "over Unix sockets",
    "message-queue": "over message queues",
    "process-memory": "within one process",
}
BESIDE = {
    Standing.SLOWER: "significantly slower",
    Standing.BEST: "significantly faster",
    Standing.EQUIVALENT: "equivalent",
    Standing.TOO_FEW_TRIALS: "too few trials for a verdict",
    Standing.NO_COMMON_ROUNDS: "too few common rounds for a verdict",
}
"""The words for the standing of a row beside one other row; others are undecided."""
DECIDED_BESIDE = (Standing.SLOWER, Standing.BEST, Standing.EQUIVALENT)


# Sentences about one row.


def bare_figure(experiment: Experiment, figure: float | None) -> str:
    """Write a figure of the experiment without its unit: ``21.0``, ``412k``."""
    shown = experiment.shown(figure)
    if experiment.by_rate:
        return brief(shown)
    return us(shown) if experiment.in_ns else measured(shown, METRICS[experiment.metric].unit)


def figure_text(experiment: Experiment, figure: float | None) -> str:
    """Write a figure of the experiment: ``21.0 µs``, ``412k messages/s``."""
    unit = " messages/s" if experiment.by_rate else " µs" if experiment.in_ns else ""
    return f"{bare_figure(experiment, figure)}{unit}"


def measure(experiment: JudgedExperiment, row: JudgedRow) -> str:
    """Return the row's figure and the words for its metric: ``21.0 µs a round trip``."""
    if experiment.by == "p99":
        return f"p99 of {figure_text(experiment, row.figure)}"
    if experiment.by_rate:
        return figure_text(experiment, row.figure)
    if not experiment.in_ns:
        return f"{figure_text(experiment, row.figure)}, {METRICS[experiment.metric].means}"
    what = {"stream": "one way", "crowd": "one way", "request-reply": "a call"}.get(
        experiment.cell.pattern, "a round trip"
    )
    return f"{figure_text(experiment, row.figure)} {what}"


def how_it_works(row: Row) -> str:
    """Return a baseline's name and how it works: ``shm (copying)``, ``shm, loan (handing over)``."""
    return f"{row.name} ({'handing over' if row.hands_over else 'copying'})"


def reason(experiment: JudgedExperiment, row: JudgedRow) -> str:
    """Return the standing in a few words, with its reason: ``eliminated after 2 rounds``."""
    first = experiment.judged_by
    match row.standing:
        case Standing.SLOWER:
            return f"significantly {worse(experiment.metric)}"
        case Standing.EQUIVALENT:
            return f"within {format_percent(experiment.within)}" if row is not first else ""
        case Standing.ELIMINATED:
            return eliminated_after(row)
        case Standing.TOO_FEW_TRIALS:
            return format_count(row.row.result.trials, "trial")
        case Standing.NO_COMMON_ROUNDS:
            return f"{common_rounds(row)} in common with {first.row.name}" if first else ""
        case Standing.UNDECIDED:
            return "undecided"
        case Standing.FAILED:
            failed = row.row.result.failed
            other = "another actual transport" if is_contradicted(row.row.result) else "too few samples"
            return failed.code.replace("-", " ") if failed else other
        case _:
            return ""


def standing_in_full(experiment: JudgedExperiment, row: JudgedRow) -> str:
    """Return the row's standing with its figure, its ratio, and its shift from the reference.

    ``significantly slower, 28.0 µs, 1.75 × udp (copying), +33.3 % (+32.0 % … +34.7 %, 10 rounds)``
    """
    baseline, word, why_so = experiment.baseline_of(row.row), row.standing.replace("_", " "), reason(experiment, row)
    standing = why_so if word in why_so else f"{word} ({why_so})" if why_so else word
    figure = figure_text(experiment, row.figure) if row.figure is not None else ""
    times = f"{ratio(row.ratio)} × {how_it_works(baseline)}" if row.ratio is not None and baseline else ""
    return ", ".join(filter(None, (standing, figure, times, row.doubt, _shift(row))))


def _shift(row: JudgedRow) -> str:
    """Return the row's shift from the reference with its interval; empty: the comparison has no interval.

    For an undecided row also return how many trials would decide.
    """
    judged = row.comparison.judged if row.comparison else None
    if row.comparison is None or judged is None or judged.low is None or judged.high is None:
        return ""
    shift = f"{part(judged.shift)} ({interval_of(judged)}, {format_count(judged.pairs, 'round')})"
    if row.standing is not Standing.UNDECIDED or judged.verdict is not Verdict.UNDECIDED:
        return shift
    # The interval is for this comparison alone, but the verdict is corrected for all comparisons of the family.
    apart = row.comparison.family > 1 and (judged.low > 0 or judged.high < 0)
    not_enough = f", which is not enough for one of {row.comparison.family} comparisons" if apart else ""
    return f"{shift}{not_enough}: {trials_wanted(judged.trials_needed)} trials would decide"


def own_interval(experiment: JudgedExperiment, row: JudgedRow) -> str:
    """Return the number of the row's trials, and the interval of its median if it has one."""
    trials, interval = format_count(row.row.result.trials, "trial"), row.row.result.interval
    if interval is None or experiment.by != "p50":
        return trials
    low, high = (figure_text(experiment, 1e9 / each if experiment.by_rate else each) for each in interval)
    return f"95 % interval {low} to {high}, {trials}"


def eliminated_after(row: JudgedRow) -> str:
    """Return the number of rounds after which a row was eliminated.

    Also return the reason, unless the row was slower.
    """
    found = row.row.in_race
    if found is None:
        return "eliminated"
    why = "" if found.eliminated in (None, "slower") else f": {found.eliminated}"
    return f"eliminated after {format_count(found.rounds, 'round')}{why}"


def common_rounds(row: JudgedRow) -> str:
    """Return how many rounds a row has in common with the reference of its experiment."""
    pairs = row.comparison.judged.pairs if row.comparison else 0
    return format_count(pairs, "round") if pairs else "no rounds"


# Sentences about an experiment: the first candidate, and the verdict.


def lead(experiment: JudgedExperiment) -> str:
    """Return the sentence with the best candidate, its figure, and its ratio to the baseline."""
    first = experiment.winner
    if first is None:
        return "No candidate meets the requirements."
    own = measure(experiment, first)
    baseline = None if first.row.is_raw_transport or first.ratio is None else experiment.baseline_of(first.row)
    times = f", {ratio(first.ratio)} × the baseline {how_it_works(baseline)}" if baseline else ""
    verb = "has a " if experiment.by == "p99" else "receives " if experiment.by_rate else "takes "
    order = verb if len(experiment.ranked) == 1 else "has the most, " if experiment.by_rate else "is lowest, "
    return plain(f"{first.row.name} {order}{own}{times}.")


def why(experiment: JudgedExperiment) -> str:
    """Return the verdict on the first candidate: how it compares with the other candidates."""
    beaten = _beaten(experiment)
    if experiment.verdict == "only":
        return "No other candidate was measured."
    if experiment.verdict == "none holds":
        return "Every candidate was eliminated."
    doubted = grouped(experiment.doubted, lambda each: each.doubt)
    doubts = "".join(f"; {doubt} in {some(each.row.name for each in of)}" for doubt, of in doubted.items())
    if too_few := sum(each.standing is Standing.TOO_FEW_TRIALS for each in experiment.ranked):
        doubts += f"; {too_few} {'has' if too_few == 1 else 'have'} too few trials for a verdict"
    if experiment.verdict == "best":
        if not beaten:  # the best row of another middleware has too few trials, or failed
            worse = (each for each in experiment.rows if each.standing in (Standing.SLOWER, Standing.ELIMINATED))
            beaten = f"slower or eliminated: {some(each.row.name for each in worse)}"
        return f"{beaten[0].upper()}{beaten[1:]}{doubts}."
    if experiment.verdict == "tie":
        names = some(each.row.name for each in experiment.of(Standing.EQUIVALENT))
        within = f"A tie with {names}, within {format_percent(experiment.within)}"
        return f"{within}{f'; {beaten}' if beaten else ''}{doubts}."
    if not experiment.is_judgeable or (experiment.winner and experiment.winner.standing is Standing.TOO_FEW_TRIALS):
        return f"{no_verdict(experiment)}."
    number = len(experiment.beaten)
    are = "is" if number == 1 else "are"
    slower = f"{number} of {len(experiment.ranked) - 1} {are} slower; undecided" if number else ""
    names = some(each.row.name for each in experiment.undecided)
    wanted = experiment.trials_needed
    trials = f": {trials_wanted(wanted)} trials would decide" if wanted else ""
    against = f" against {names}" if experiment.undecided else ""
    return f"{slower or 'Undecided'}{against}{trials}{doubts}."


def next_in_words(experiment: JudgedExperiment) -> str:
    """Return how much more the next candidate takes: ``lyra udp, the next, takes 60 % longer``, with a full stop."""
    if experiment.verdict != "best":
        return ""
    found = next((each for each in experiment.beaten if each.comparison is not None), None)
    if found is None or found.comparison is None or not math.isfinite(found.comparison.judged.shift):
        return ""
    far = shift_in_words(found.comparison.judged.shift, experiment.metric)
    return f"{found.row.name}, the next, {'receives' if experiment.by_rate else 'takes'} {far}."


def no_verdict(experiment: JudgedExperiment) -> str:
    """Return why an experiment can have no verdict: too few trials, or too few common rounds."""
    few = next((each for each in experiment.ranked if each.row.result.trials < FEWEST), None)
    if few is not None:
        return (
            f"{few.row.name} has {format_count(few.row.result.trials, 'trial')}; {FEWEST} are the fewest for a verdict"
        )
    first, apart = experiment.judged_by, experiment.of(Standing.NO_COMMON_ROUNDS)
    if first is None or not apart:
        return "no candidate met the requirements in most of its trials"
    shared = some([f"{each.row.name} shares {common_rounds(each)} of trials" for each in apart])
    return f"{shared} with {first.row.name}; {FEWEST} are the fewest for a verdict"


def _beaten(experiment: JudgedExperiment) -> str:
    """Return how many candidates are significantly slower, and how many were eliminated."""
    parts: list[str] = []
    for standing, is_one, are in (
        (Standing.SLOWER, "is slower", "are slower"),
        (Standing.ELIMINATED, "was eliminated", "were eliminated"),
    ):
        if number := len(experiment.of(standing)):
            who = str(number) if parts else "the other" if number == 1 else f"the other {number}"
            parts.append(f"{who} {is_one if number == 1 else are}")
    return ", ".join(parts)


def some(names: Iterable[str], most: int = 3) -> str:
    """Return the first names, each once, and the number of further names."""
    different = list(dict.fromkeys(names))
    return listing([*different[:most], *([f"{len(different) - most} more"] if len(different) > most else [])])


def worse(metric: str) -> str:
    """Return the word for a candidate that is worse: ``slower`` for times and rates, ``more`` for costs."""
    return "slower" if METRICS[metric].latency else METRICS[metric].worse


def shift_in_words(shift: float, metric: str) -> str:
    """Return a shift in words: ``12 % longer``, ``2.3 times as much``, ``32 % fewer messages``."""
    if metric == "throughput":
        return f"{percent(-shift)} fewer messages" if shift < 0 else f"{percent(shift)} more messages"
    times, more = ("much", "more") if metric in ("cpu", "memory") else ("long", "longer")
    return f"{ratio(1 + shift)} times as {times}" if shift >= 1 else f"{percent(shift)} {more}"


def percent(share: float) -> str:
    """Write a share that may exceed 100 %: ``12 %``, ``1,240 %``."""
    many = 100 * share
    return f"{many:.2g} %" if many < 99.5 and math.isfinite(many) else f"{many:,.0f} %"
