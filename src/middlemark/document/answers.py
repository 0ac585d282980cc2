"""The answers of a report: how complete the runs are, a sentence for each experiment, and pairs over several sizes."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from middlemark.document import crowds, languages, ways
from middlemark.document.document import Conclusion, Document
from middlemark.document.numbers import ratio
from middlemark.document.statements import CARRIERS, lead, own_interval, standing_in_full, why
from middlemark.model.spelling import listing
from middlemark.model.units import format_count, format_size
from middlemark.verdicts.comparisons import Comparisons
from middlemark.verdicts.experiments import JudgedExperiment, JudgedRow, Standing
from middlemark.verdicts.names import EXPERIMENT, joined, plain, varying, words
from middlemark.verdicts.rows import Row, grouped, misnamed

MOST = 8
"""The answers have at most this number of sentences. The figures of the report show all verdicts."""
_WARNED = 4
"""An answer names the warnings of at most this number of rows."""


def answers(document: Document, comparisons: Comparisons) -> tuple[Conclusion, ...]:
    """Return the answers: incomplete runs, the verdicts by experiment, the costs of languages and routers, crowds."""
    of_messages = [each for each in document.experiments if each.by == "p50" and each.metric != "deadline"]
    found: list[JudgedExperiment] = []
    for group in grouped(of_messages, lambda each: (each.restricted and each.carrier, each.key)).values():
        found += _spread(group, MOST - len(found))
    factors = _varied_factors(found)
    runs = [plain(run.name) if len(document.runs) > 1 else "" for run in document.runs]
    begin = (*states(document), *_between_runs(document, comparisons))
    return (
        *(Conclusion(text=plain(text), sure="unsure", cells=()) for text in begin),
        *_over_sizes(found, factors),
        *(sentence(each, factors, runs[each.run]) for each in found),
        *languages.conclusions(document.languages),
        *ways.conclusions(document.ways),
        *crowds.conclusions(document.scalings),
    )


def _spread(group: Sequence[JudgedExperiment], room: int) -> Sequence[JudgedExperiment]:
    """Return at most ``room`` experiments at evenly spread sizes, including the smallest and the largest size."""
    if len(group) <= room:
        return group
    if room <= 1:
        return group[: max(room, 0)]
    return [group[round(at * (len(group) - 1) / (room - 1))] for at in range(room)]


def _varied_factors(found: Sequence[JudgedExperiment]) -> frozenset[str]:
    """Return the factors that vary among experiments with the same carrier.

    A sentence about an experiment names them.
    """
    by_carrier = grouped(found, lambda each: each.carrier).values()
    several = (varying([row.row.result for each in of for row in each.ranked]) for of in by_carrier)
    return frozenset().union(*several) & frozenset(EXPERIMENT)


def _between_runs(document: Document, comparisons: Comparisons) -> Iterator[str]:
    """Yield a sentence for each run after the first: how many cells are faster, slower, equivalent, undecided.

    The cells are those that the first run also has.
    """
    family = comparisons.families.get(("run", "p50"), [])
    for at in range(1, len(document.runs)):
        verdicts = Counter(each.word for each in family if each.pairing.b.run == f"r{at}")
        if not verdicts:
            continue
        decided_words = ("faster", "slower", "equivalent")
        counted = ", ".join(f"{verdicts[word]:,} {word}" for word in decided_words if verdicts[word])
        unknown = f"{verdicts['undecided']:,} undecided" if verdicts["undecided"] else ""
        yield (
            f"{document.runs[at].name} compared with {document.runs[0].name}, for the configurations in both, by p50: "
            f"{'; '.join(each for each in (counted, unknown) if each)}. The runs were measured at different "
            "times, so the machine may be the cause."
        )


def states(document: Document) -> Iterator[str]:
    """Yield how many trials of each incomplete run ended, and how many configurations have no result."""
    for at, run in enumerate(document.runs):
        name = f"{run.name}: " if len(document.runs) > 1 else ""
        own = [row for row in document.rows if row.run == at]
        done, planned = len(run.outcomes), run.planned_trials
        ended, configurations = f"{done:,} of {format_count(planned, 'trial')}", format_count(len(own), "configuration")
        if run.running:
            yield f"{name}The run is still under way: {ended} {'has' if done == 1 else 'have'} ended."
        elif run.file.error is not None:
            yield f"{name}The run ended early after {ended}: {run.file.error}."
        elif run.file.interrupted or done < planned:
            how = "was interrupted" if run.file.interrupted else "ended"
            yield f"{name}The run {how} after {ended}."
        failed = [row for row in own if row.result.failed is not None]
        if not own:
            yield f"{name}The run has no configurations: there is no result."
        elif len(failed) == len(own):
            first = failed[0].result.failed
            reasons = f"the first, {failed[0].label}: {first.text}" if first else ""
            yield f"{name}Nothing was measured: none of {configurations} has a result; {reasons}."
        elif failed:
            have = "has" if len(failed) == 1 else "have"
            yield f"{name}{len(failed):,} of {configurations} {have} no result; the reasons are below."


def place(experiment: JudgedExperiment, factors: Collection[str], run: str, *, size: bool = True) -> str:
    """Return the conditions of the experiment: ``At 1 KiB over UDP (stream, 1 → 1, rate 1 kHz)``."""
    at = f"At {format_size(experiment.size)}" if size else ""
    over = CARRIERS.get(experiment.carrier, f"over {experiment.carrier}") if experiment.carrier else ""
    context = joined("; ", words(experiment.cell, factors), run)
    text = joined(" ", at, over, f"({context})" if context else "")
    return text[:1].upper() + text[1:]


def sentence(experiment: JudgedExperiment, factors: Collection[str], run: str) -> Conclusion:
    """Return the answer of one experiment: the verdict, then each row with its interval and its standing."""
    first, is_only = experiment.winner or experiment.judged_by, experiment.verdict == "only"
    rows = sorted(experiment.ranked, key=lambda each: each.standing is Standing.ELIMINATED)
    texts = [f"{each.row.name}: {standing_in_full(experiment, each)}" for each in rows if not is_only]
    listed = own_interval(experiment, rows[0]) if is_only else "; ".join(texts)
    parts = (f"{place(experiment, factors, run)}: {lead(experiment)}", why(experiment) if first else "", f"{listed}.")
    return Conclusion(
        text=plain(" ".join((*filter(None, parts), *_notes_on_ranking(experiment, rows)))),
        sure="sure" if experiment.sure or (is_only and rows[0].row.result.interval) else "unsure",
        cells=tuple(each.row.index for each in rows),
        size=experiment.size,
    )


def _notes_on_ranking(experiment: JudgedExperiment, rows: Sequence[JudgedRow]) -> Iterator[str]:
    """Yield the rows that are not in the ranking, with the reason, and the warnings of the ranked rows."""
    staying = [each.row for each in rows if each.standing is not Standing.ELIMINATED]
    another_transport, unprotected = misnamed([each.row for each in experiment.failed])
    by_others = [
        (each.name, f"actual transport {each.result.actual_transport or 'varies'}") for each in another_transport
    ]
    without = [(each.name, f"not {each.result.cell.security}") for each in unprotected]
    for intro, names in (
        ("Left out, because the actual transport is not the transport in the name", by_others),
        ("Left out, because they are not protected as their names say", without),
        ("Without a result", [(e.row.name, w.code) for e in experiment.failed if (w := e.row.result.failed)]),
        ("Warnings", [(each.name, ", ".join(codes)) for each in staying[:_WARNED] if (codes := _codes(each))]),
    ):
        if names:
            yield f"{intro}: {', '.join(f'{name} ({why_so})' for name, why_so in names)}."


def _codes(row: Row) -> list[str]:
    """Return the codes of the row's warnings, without codes that concern only the p99."""
    codes = dict.fromkeys(each.code for each in row.result.warnings)
    return [each for each in codes if not each.startswith("p99")]


# Pairs of candidates at several sizes.


def _over_sizes(found: Sequence[JudgedExperiment], factors: Collection[str]) -> list[Conclusion]:
    """Return a sentence for each pair of candidates at several sizes, if at least one comparison is decided."""
    judged = [each for each in found if each.is_judgeable and len(each.ranked) == 2]
    twos = [each for each in judged if all(row.comparison or row is each.judged_by for row in each.ranked)]
    together = grouped(twos, lambda each: (each.restricted, each.key, *sorted(row.row.name for row in each.ranked)))
    sentences = [_sentence(each, factors) for each in together.values() if len(each) > 1]
    return [each for each in sentences if each is not None]


def _sentence(over: Sequence[JudgedExperiment], factors: Collection[str]) -> Conclusion | None:
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
    where = place(over[0], factors, "", size=False)
    text = f"{where}: {'; '.join(parts)}." if where else f"{'; '.join(parts)}."
    return Conclusion(
        text=plain(text),
        sure="unsure" if unknown else "sure",
        cells=tuple(row.row.index for each in over for row in each.ranked),
    )


def _sizes(sizes: Sequence[int]) -> str:
    return listing([format_size(each) for each in sizes])


def _range(at: Sequence[tuple[int, float]]) -> str:
    """Return ``the other takes 1.2 to 3.4 times as long``: the range of the shifts of the other candidate, in words."""
    shifts = [abs(shift) for _, shift in at]
    ends = (min(shifts), max(shifts))
    if at[0][1] > 0 and ends[1] >= 1:
        return f"the other takes {span(ratio(1 + each) for each in ends)} times as long"
    much = span(f"{100 * each:.2g}" for each in ends)
    return f"the other receives {much} % fewer" if at[0][1] < 0 else f"the other takes {much} % longer"


def span(shown: Iterable[str]) -> str:
    """Return ``A to B`` for the ends of a range, or ``A`` if both texts are equal."""
    return " to ".join(dict.fromkeys(shown))
