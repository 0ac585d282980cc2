"""Judged experiments as answers: one each with its intervals, how far the runs came, and two over several sizes."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from middlemark.document.compare import trials_wanted
from middlemark.document.document import Conclusion, Document
from middlemark.document.numbers import ratio
from middlemark.document.statements import (
    CARRIERS,
    common_rounds,
    figure_text,
    how_it_works,
    longer,
    measure,
    no_verdict,
    percent,
)
from middlemark.model.spelling import listing
from middlemark.model.units import format_count, format_percent, format_size
from middlemark.stats.interval import FEWEST
from middlemark.stats.verdict import CONFIDENCE, MARGIN, Judgement, Verdict
from middlemark.verdicts.comparisons import Comparisons
from middlemark.verdicts.experiments import JudgedExperiment, JudgedRow, Standing
from middlemark.verdicts.names import EXPERIMENT, joined, plain, varying, words
from middlemark.verdicts.rows import Row, grouped, misnamed

MOST = 8
"""More sentences are no answer; the figures below have the rest."""
_LISTED = 4
"""Rows named one by one where there is no verdict."""


def answers(document: Document, comparisons: Comparisons) -> tuple[Conclusion, ...]:
    """Return what can be said: how far the runs came where that is not all the way, then experiment by experiment."""
    of_messages = [each for each in document.experiments if each.by == "p50" and each.metric != "deadline"]
    found: list[JudgedExperiment] = []
    for group in grouped(of_messages, lambda each: (each.restricted and each.carrier, each.key)).values():
        found += _spread(group, MOST - len(found))
    told = _told(found)
    runs = [plain(run.name) if len(document.runs) > 1 else "" for run in document.runs]
    begin = (*states(document), *_between_runs(document, comparisons))
    return (
        *(Conclusion(text=plain(text), sure="unsure", cells=()) for text in begin),
        *_over_sizes(found, told),
        *(sentence(each, told, runs[each.run]) for each in found),
    )


def _spread(group: Sequence[JudgedExperiment], room: int) -> Sequence[JudgedExperiment]:
    """Return at most ``room`` of the sizes, the smallest and the largest among them, the others evenly between."""
    if len(group) <= room:
        return group
    if room <= 1:
        return group[: max(room, 0)]
    return [group[round(at * (len(group) - 1) / (room - 1))] for at in range(room)]


def _told(found: Sequence[JudgedExperiment]) -> frozenset[str]:
    """Return the factors that a place must name: those that vary among experiments over one carrier."""
    by_carrier = grouped(found, lambda each: each.carrier).values()
    several = (varying([row.row.result for each in of for row in each.ranked]) for of in by_carrier)
    return frozenset().union(*several) & frozenset(EXPERIMENT)


def _between_runs(document: Document, comparisons: Comparisons) -> Iterator[str]:
    """Count the verdicts on the cells that a later run has in common with the first."""
    family = comparisons.families.get(("run", "p50"), [])
    for at in range(1, len(document.runs)):
        verdicts = Counter(each.word for each in family if each.pairing.b.run == f"r{at}")
        if not verdicts:
            continue
        told = ("faster", "slower", "equivalent")
        counted = ", ".join(f"{verdicts[word]:,} {word}" for word in told if verdicts[word])
        unknown = f"{verdicts['cannot tell']:,} undecided" if verdicts["cannot tell"] else ""
        yield (
            f"{document.runs[at].name} beside {document.runs[0].name}, the configurations that both have, by p50: "
            f"{'; '.join(each for each in (counted, unknown) if each)}. They were measured apart, so the machine may "
            "be the difference."
        )


def states(document: Document) -> Iterator[str]:
    """Say how far each run came, and what has no result."""
    for at, run in enumerate(document.runs):
        name = f"{run.name}: " if len(document.runs) > 1 else ""
        own = [row for row in document.rows if row.run == at]
        done, planned = len(run.outcomes), run.planned_trials
        if run.running:
            yield f"{name}The run is still under way: {done:,} of {planned:,} trials are in."
        elif run.file.error is not None:
            yield f"{name}The run ended early after {done:,} of {planned:,} trials: {run.file.error}."
        elif run.file.interrupted or done < planned:
            how = "was interrupted" if run.file.interrupted else "ended"
            yield f"{name}The run {how} after {done:,} of {planned:,} trials."
        failed = [row for row in own if row.result.failed is not None]
        if not own:
            yield f"{name}The run has no configurations: there is nothing to say."
        elif len(failed) == len(own):
            first = failed[0].result.failed
            reasons = f"the first, {failed[0].label}: {first.text}" if first else ""
            yield f"{name}Nothing was measured: none of {len(own):,} configurations has a result; {reasons}."
        elif failed:
            have = "has" if len(failed) == 1 else "have"
            yield f"{name}{len(failed):,} of {len(own):,} configurations {have} no result; the reasons are below."


def place(experiment: JudgedExperiment, told: Collection[str], run: str, *, size: bool = True) -> str:
    """Return where it was: ``At 1 KiB over UDP (stream, 1 → 1, rate 1 kHz)``."""
    at = f"At {format_size(experiment.size)}" if size else ""
    over = CARRIERS.get(experiment.carrier, f"over {experiment.carrier}") if experiment.carrier else ""
    context = joined("; ", words(experiment.cell, told), run)
    text = joined(" ", at, over, f"({context})" if context else "")
    return text[:1].upper() + text[1:]


def sentence(experiment: JudgedExperiment, told: Collection[str], run: str) -> Conclusion:
    """Return the answer of one experiment with its intervals."""
    where, first = place(experiment, told, run), experiment.judged_by or experiment.winner
    if first is None:
        text = f"{where}, no candidate does what is asked."
    elif experiment.verdict == "only":
        text = f"{where}, {_alone(experiment, first)}"
    elif experiment.is_judgeable:
        text = f"{where}, {_ranking(experiment, first)}"
    else:
        text = f"{where}, {_figures(experiment)}"
    sure = experiment.sure or (experiment.verdict == "only" and first is not None and bool(first.row.result.interval))
    rows = sorted(experiment.ranked, key=lambda each: each.standing is Standing.ELIMINATED)
    staying = [each for each in rows if each.standing is not Standing.ELIMINATED]
    return Conclusion(
        text=plain(" ".join([text, *_beside_the_ranking(experiment, staying)])),
        sure="sure" if sure else "unsure",
        cells=tuple(each.row.index for each in rows),
        size=experiment.size,
    )


def _ranking(experiment: JudgedExperiment, first: JudgedRow) -> str:
    if experiment.verdict == "best":
        begin = f"{first.row.name} is the fastest with {measure(experiment, first)}"
    else:
        begin = f"{first.row.name} has the best median, {measure(experiment, first)}"
    without = (Standing.ELIMINATED, Standing.TOO_FEW_TRIALS)
    others = [each for each in experiment.ranked if each is not first and each.standing not in without]
    parts = [_beside(experiment, first, each) for each in others]
    if gone := experiment.of(Standing.ELIMINATED):
        names = [f"{each.row.name} ({figure_text(experiment, each.figure)})" for each in gone]
        parts.append(f"{listing(names)} {'was' if len(gone) == 1 else 'were'} eliminated from the race")
    return f"{begin}{_ratio(experiment, first)}; {'; '.join(parts)}."


def _figures(experiment: JudgedExperiment) -> str:
    """Return the figures where no difference can be called one."""
    first, *others = experiment.ranked[:_LISTED]
    rest = experiment.ranked[_LISTED:]
    took = "received" if experiment.by_rate else "took"
    figures = [f"{first.row.name} {took} {measure(experiment, first)}{_ratio(experiment, first)}"]
    figures += [f"{_named(experiment, each)}{_ratio(experiment, each, first)}" for each in others]
    if len(rest) == 1:
        figures.append(_named(experiment, rest[0]))
    elif rest:
        figures.append(f"{len(rest)} more up to {_named(experiment, rest[-1], 'with ')}")
    return f"{'; '.join(figures)}: {_why_figures(experiment)}."


def _named(experiment: JudgedExperiment, row: JudgedRow, between: str = "") -> str:
    return f"{row.row.name} {between}{figure_text(experiment, row.figure)}"


def _why_figures(experiment: JudgedExperiment) -> str:
    few = [each.row.result.trials for each in experiment.ranked if each.row.result.trials < FEWEST]
    if not few:
        return no_verdict(experiment)
    low, high = min(few), max(each.row.result.trials for each in experiment.ranked)
    each = f"{low} to {high} trials each" if low < high else f"{format_count(low, 'trial')} each"
    return f"{each}, too few to call a difference ({FEWEST} are the fewest)"


def _alone(experiment: JudgedExperiment, row: JudgedRow) -> str:
    took = "received" if experiment.by_rate else "took"
    trials, interval = row.row.result.trials, row.row.result.interval
    if interval is None or experiment.by == "p99":
        few = f", too few for an interval: {FEWEST} are the fewest" if trials < FEWEST else ""
        sure = f"{format_count(trials, 'trial')}{few}"
    else:
        low, high = (figure_text(experiment, 1e9 / each if experiment.by_rate else each) for each in interval)
        sure = f"{100 * CONFIDENCE:.0f} % interval {low} to {high}, {format_count(trials, 'trial')}"
    return f"{row.row.name} {took} {measure(experiment, row)} ({sure}){_ratio(experiment, row)}."


def _beside(experiment: JudgedExperiment, first: JudgedRow, row: JudgedRow) -> str:
    other, rate = row.row.name, experiment.by_rate
    own = f"{figure_text(experiment, row.figure)}{_ratio(experiment, row, first)}"
    judged = row.comparison.judged if row.comparison else None
    if judged is None or judged.low is None or judged.high is None:
        return f"{other} ({own}) shares {common_rounds(row)} of trials with it: too few for a verdict"
    pairs = f"{judged.pairs} trials each"
    interval = f"{100 * CONFIDENCE:.0f} % interval {_between(judged, rate=rate)}"
    if judged.verdict is Verdict.EQUIVALENT:
        return f"{other} ({own}) is equivalent, within ±{100 * MARGIN:g} % ({interval}, {pairs})"
    if row.standing is Standing.EQUIVALENT:
        return f"{other} ({own}) differs by less than {format_percent(experiment.within)} ({interval}, {pairs})"
    if row.standing is Standing.UNDECIDED:
        apart = judged.low > 0 or judged.high < 0
        family = row.comparison.family if row.comparison else 1
        # An interval is of one comparison, a verdict of all that are judged together.
        alone = f", but as one of {family} comparisons that is not enough" if apart and family > 1 else ""
        wanted = (
            f": {trials_wanted(judged.trials_needed)} would decide" if judged.verdict is Verdict.CANNOT_TELL else ""
        )
        return f"{other} ({own}) is undecided with {pairs} ({interval}{alone}){wanted}"
    verb = "receives" if rate else "takes"
    return f"{other} {verb} {longer(judged.shift, rate=rate)} ({interval}, {pairs}){_ratio(experiment, row, first)}"


def _between(judged: Judgement, *, rate: bool) -> str:
    low, high = judged.low or 0.0, judged.high or 0.0
    if not rate and judged.shift >= 1:  # as the shift itself is written, see longer()
        return f"{ratio(1 + low)} to {ratio(1 + high)} times"
    if rate:
        return f"{_signed(low)} to {_signed(high)}"
    return f"{100 * low:.2g} to {percent(high)}" if low >= 0 else f"{_signed(low)} to {_signed(high)}"


def _ratio(experiment: JudgedExperiment, row: JudgedRow, beside: JudgedRow | None = None) -> str:
    """Return the ratio to the row's baseline, which is named once where it is the same."""
    baseline = experiment.baseline_of(row.row)
    if row.ratio is None or row.row.floor or baseline is None:
        return ""
    same = beside is not None and beside.row.hands_over == row.row.hands_over
    slower = "slower than " if experiment.by_rate else ""
    return f", {ratio(row.ratio)} times {slower}the baseline{'' if same else f' {how_it_works(baseline)}'}"


def _beside_the_ranking(experiment: JudgedExperiment, rows: Sequence[JudgedRow]) -> Iterator[str]:
    """Yield what has no place in the ranking, and which warnings its rows have."""
    too_few = experiment.of(Standing.TOO_FEW_TRIALS) if experiment.is_judgeable else []
    if too_few:
        few = [
            f"{each.row.name} ({figure_text(experiment, each.figure)}, {format_count(each.row.result.trials, 'trial')})"
            for each in too_few[:_LISTED]
        ]
        more = f" and {len(too_few) - _LISTED} more" if len(too_few) > _LISTED else ""
        yield f"Too few trials for a verdict: {', '.join(few)}{more}."
    carried, unprotected = misnamed([each.row for each in experiment.failed])
    by_others = [(each.name, f"carried by {each.result.carried_by or 'more than one'}") for each in carried]
    without = [(each.name, f"not {each.result.cell.security}") for each in unprotected]
    for told, names in (
        ("Not carried by what their names say, so left out", by_others),
        ("Not protected as their names say, so left out", without),
        ("Without a result", [(e.row.name, w.code) for e in experiment.failed if (w := e.row.result.failed)]),
        ("Warnings", [(e.row.name, ", ".join(codes)) for e in rows[:_LISTED] if (codes := _codes(e.row))]),
    ):
        if names:
            yield f"{told}: {', '.join(f'{name} ({why})' for name, why in names)}."


def _codes(row: Row) -> list[str]:
    """Return the codes of the warnings about this figure: those about a p99 alone stand beside the p99."""
    codes = dict.fromkeys(each.code for each in row.result.warnings)
    return [each for each in codes if not each.startswith("p99")]


def _signed(share: float) -> str:
    return f"{100 * share:+.2g} %" if abs(share) < 0.995 else f"{100 * share:+,.0f} %"


# Two that meet at several sizes.


def _over_sizes(found: Sequence[JudgedExperiment], told: Collection[str]) -> list[Conclusion]:
    """Return a sentence for each two that meet at several sizes, where any is decided."""
    judged = [each for each in found if each.is_judgeable and len(each.ranked) == 2]
    twos = [each for each in judged if all(row.comparison or row is each.judged_by for row in each.ranked)]
    together = grouped(twos, lambda each: (each.restricted, each.key, *sorted(row.row.name for row in each.ranked)))
    sentences = [_sentence(each, told) for each in together.values() if len(each) > 1]
    return [each for each in sentences if each is not None]


def _sentence(over: Sequence[JudgedExperiment], told: Collection[str]) -> Conclusion | None:
    first, second = sorted(each.row.name for each in over[0].ranked)
    faster: dict[str, list[tuple[int, float]]] = {first: [], second: []}
    equivalent: list[int] = []
    unknown: list[int] = []
    for each in over:
        best, other = sorted(each.ranked, key=lambda row: row.row.index != each.reference)
        if other.standing is Standing.SLOWER and other.comparison is not None:
            faster[best.row.name].append((each.size, other.comparison.judged.shift))
        elif other.standing is Standing.EQUIVALENT:
            equivalent.append(each.size)
        else:
            unknown.append(each.size)
    if len(unknown) == len(over):
        return None
    parts = [
        f"{name} is faster than {other} at {_sizes([size for size, _ in at])} ({_range(at)})"
        for name, at in sorted(faster.items(), key=lambda item: -len(item[1]))
        for other in [second if name == first else first]
        if at
    ]
    subject = "they" if parts else f"{first} and {second}"
    if equivalent:
        parts.append(f"{subject} are equivalent at {_sizes(equivalent)}")
        subject = "they"
    if unknown:
        parts.append(f"{subject} are undecided at {_sizes(unknown)}")
    where = place(over[0], told, "", size=False)
    text = f"{where}: {'; '.join(parts)}." if where else f"{'; '.join(parts)}."
    return Conclusion(
        text=plain(text),
        sure="unsure" if unknown else "sure",
        cells=tuple(row.row.index for each in over for row in each.ranked),
    )


def _sizes(sizes: Sequence[int]) -> str:
    return listing([format_size(each) for each in sizes])


def _range(at: Sequence[tuple[int, float]]) -> str:
    """Return how much more the other needs, or how many fewer it receives."""
    shifts = [abs(shift) for _, shift in at]
    ends = (min(shifts), max(shifts))
    if at[0][1] > 0 and ends[1] >= 1:
        return f"the other takes {span(ratio(1 + each) for each in ends)} times as long"
    much = span(f"{100 * each:.2g}" for each in ends)
    return f"the other receives {much} % fewer" if at[0][1] < 0 else f"the other takes {much} % longer"


def span(shown: Iterable[str]) -> str:
    """Return the ends of a range, or the one that both are."""
    return " to ".join(dict.fromkeys(shown))
