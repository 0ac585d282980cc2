"""The answer: who is fastest, by how much, how sure, how far from the floor. Sentences made of verdicts."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from middlemark.document.contests import Contest, contests
from middlemark.document.document import Conclusion, Document, Row
from middlemark.document.judged import JudgedDocument
from middlemark.document.numbers import ratio
from middlemark.document.outcome import metric_of
from middlemark.document.sentences import alone, place, ranking, too_few
from middlemark.document.words import EXPERIMENT, plain, varying
from middlemark.model.run import Run
from middlemark.model.units import format_size
from middlemark.stats.result import CellResult
from middlemark.stats.verdict import Verdict


def answers(document: Document, judged: JudgedDocument) -> tuple[Conclusion, ...]:
    """Return what can be said: how far the runs came where that is not all the way, then contest by contest."""
    runs = document.runs
    found = contests(document.rows)
    told = _told(found)
    several = len(runs) > 1

    def answer(contest: Contest) -> Conclusion:
        run = plain(runs[contest.contenders[0].run].name) if several else ""
        if len(contest.contenders) == 1 and not contest.gone:
            return alone(contest, told, run)
        return ranking(contest, judged, told, run) if contest.tellable else too_few(contest, told, run)

    return (
        *(
            Conclusion(text=plain(text), sure="unsure", cells=())
            for text in (*states(document), *_between_runs(runs, judged))
        ),
        *_over_sizes(found, judged, told),
        *map(answer, found),
    )


def _told(found: Sequence[Contest]) -> frozenset[str]:
    """Return the factors that a place must name: those that vary among contests over one carrier."""
    by_carrier: dict[str | None, list[CellResult]] = {}
    for contest in found:
        by_carrier.setdefault(contest.carrier, []).extend(row.result for row in contest.contenders)
    return frozenset().union(*map(varying, by_carrier.values())) & frozenset(EXPERIMENT)


def _between_runs(runs: Sequence[Run], judged: JudgedDocument) -> Iterator[str]:
    """Count the verdicts on the cells that a later run has in common with the first."""
    family = judged.families.get(("run", "p50"), [])
    for at in range(1, len(runs)):
        words = Counter(each.word for each in family if each.pairing.b.run == f"r{at}")
        if not words:
            continue
        counted = ", ".join(f"{words[word]:,} {word}" for word in ("faster", "slower", "equivalent") if words[word])
        unknown = f"{words['cannot tell']:,} cannot be told" if words["cannot tell"] else ""
        verdicts = "; ".join(each for each in (counted, unknown) if each)
        yield (
            f"{runs[at].name} beside {runs[0].name}, the configurations that both have, by p50: {verdicts}. They were "
            "measured apart, so the machine may be the difference."
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
            why = f"the first, {failed[0].label}: {first.text}" if first else ""
            yield f"{name}Nothing was measured: none of {len(own):,} configurations has a result; {why}."
        elif failed:
            have = "has" if len(failed) == 1 else "have"
            yield f"{name}{len(failed):,} of {len(own):,} configurations {have} no result; it is told below why."


def _over_sizes(found: Sequence[Contest], judged: JudgedDocument, told: Collection[str]) -> list[Conclusion]:
    """Return a sentence for each two that meet at several sizes, where any can be told."""
    together: dict[tuple[object, ...], list[Contest]] = {}
    for contest in found:
        if contest.tellable and len(contest.contenders) == 2:
            names = tuple(sorted(each.name for each in contest.contenders))
            together.setdefault((contest.context, names), []).append(contest)
    sentences = [_sentence(each, judged, told) for each in together.values() if len(each) > 1]
    return [each for each in sentences if each is not None]


def _sentence(over: Sequence[Contest], judged: JudgedDocument, told: Collection[str]) -> Conclusion | None:
    first, second = sorted(over[0].contenders, key=lambda row: row.name)
    faster: dict[str, list[tuple[int, float]]] = {first.name: [], second.name: []}
    equivalent: list[int] = []
    unknown: list[int] = []
    for contest in over:
        best, other = contest.contenders
        known = judged.find(best.index, other.index, metric_of(best))
        verdict = known.judged.verdict if known else Verdict.CANNOT_TELL
        if known and verdict is Verdict.WORSE:
            faster[best.name].append((contest.size, known.judged.shift))
        elif verdict is Verdict.EQUIVALENT:
            equivalent.append(contest.size)
        else:
            unknown.append(contest.size)
    if len(unknown) == len(over):
        return None
    parts = [
        f"{name} is faster than {_other(name, first, second)} at {_sizes([size for size, _ in at])} ({_range(at)})"
        for name, at in sorted(faster.items(), key=lambda item: -len(item[1]))
        if at
    ]
    subject = "they" if parts else f"{first.name} and {second.name}"
    if equivalent:
        parts.append(f"{subject} are equivalent at {_sizes(equivalent)}")
        subject = "they"
    if unknown:
        parts.append(f"whether {subject} differ at {_sizes(unknown)} cannot be told")
    where = place(over[0], told, "", size=False)
    text = f"{where}: {'; '.join(parts)}." if where else f"{'; '.join(parts)}."
    return Conclusion(
        text=plain(text),
        sure="unsure" if unknown else "sure",
        cells=tuple(row.index for contest in over for row in contest.contenders),
    )


def _other(name: str, first: Row, second: Row) -> str:
    return second.name if name == first.name else first.name


def _sizes(sizes: Sequence[int]) -> str:
    shown = [format_size(each) for each in sizes]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _range(at: Sequence[tuple[int, float]]) -> str:
    """Return how much more the other needs, or how many fewer it receives."""
    shifts = sorted(abs(shift) for _, shift in at)
    ends = (shifts[0], shifts[-1])
    if at[0][1] > 0 and ends[1] >= 1:
        return f"the other takes {_span(ratio(1 + each) for each in ends)} times as long"
    much = _span(f"{100 * each:.2g}" for each in ends)
    return f"the other receives {much} % fewer" if at[0][1] < 0 else f"the other takes {much} % longer"


def _span(shown: Iterable[str]) -> str:
    return " to ".join(dict.fromkeys(shown))
