"""Contests and their verdicts → sentences, the widest first."""

from collections import Counter
from collections.abc import Sequence

from middlemark.report.document.answers.contests import Contest, contests
from middlemark.report.document.answers.over_sizes import over_sizes
from middlemark.report.document.answers.sentences import alone, ranking, too_few
from middlemark.report.document.comparisons import Judged
from middlemark.report.document.measured import MeasuredRun
from middlemark.report.document.model import Answer
from middlemark.report.document.rows import Row
from middlemark.report.factors import EXPERIMENT, plain, varying
from middlemark.stats.result import CellResult


def answers(rows: Sequence[Row], runs: Sequence[MeasuredRun], judged: Judged) -> tuple[Answer, ...]:
    """Return what can be said: how far the runs came where that is not all the way, then contest by contest."""
    found = contests(rows)
    told = _told(found)
    several = len(runs) > 1

    def answer(contest: Contest) -> Answer:
        run = plain(runs[contest.contenders[0].run].name) if several else ""
        if len(contest.contenders) == 1:
            return alone(contest, told, run)
        return ranking(contest, judged, told, run) if contest.tellable else too_few(contest, told, run)

    return (
        *_incomplete(rows, runs),
        *_between_runs(runs, judged),
        *over_sizes(found, judged, told),
        *map(answer, found),
    )


def _told(found: Sequence[Contest]) -> frozenset[str]:
    """Return the factors that a place must name: those that vary among contests over one carrier."""
    by_carrier: dict[str | None, list[CellResult]] = {}
    for contest in found:
        by_carrier.setdefault(contest.carrier, []).extend(row.result for row in contest.contenders)
    return frozenset().union(*map(varying, by_carrier.values())) & frozenset(EXPERIMENT)


def _between_runs(runs: Sequence[MeasuredRun], judged: Judged) -> list[Answer]:
    """Count the verdicts on the cells that a later run has in common with the first."""
    found: list[Answer] = []
    family = judged.families.get(("run", "p50"), [])
    for at in range(1, len(runs)):
        words = Counter(each.word for each in family if each.pairing.b.run == f"r{at}")
        if not words:
            continue
        names = (runs[at].name, runs[0].name)
        counted = ", ".join(f"{words[word]:,} {word}" for word in ("faster", "slower", "equivalent") if words[word])
        unknown = f"{words['cannot tell']:,} cannot be told" if words["cannot tell"] else ""
        verdicts = "; ".join(each for each in (counted, unknown) if each)
        text = (
            f"{names[0]} beside {names[1]}, the cells that both have, by p50: {verdicts}. They were measured apart, so "
            "the machine may be the difference."
        )
        found.append(Answer(text=plain(text), sure="unsure", cells=(), size=None))
    return found


def _incomplete(rows: Sequence[Row], runs: Sequence[MeasuredRun]) -> list[Answer]:
    return [Answer(text=plain(text), sure="unsure", cells=(), size=None) for text in _states(rows, runs)]


def _states(rows: Sequence[Row], runs: Sequence[MeasuredRun]) -> list[str]:
    texts = []
    for at, run in enumerate(runs):
        name = f"{run.name}: " if len(runs) > 1 else ""
        own = [row for row in rows if row.run == at]
        done, planned = len(run.outcomes), len(run.file.plan.trials)
        if run.running:
            texts.append(f"{name}The run is still under way: {done:,} of {planned:,} trials are in.")
        elif run.file.error is not None:
            texts.append(f"{name}The run ended early after {done:,} of {planned:,} trials: {run.file.error}.")
        elif run.file.interrupted or done < planned:
            how = "was interrupted" if run.file.interrupted else "ended"
            texts.append(f"{name}The run {how} after {done:,} of {planned:,} trials.")
        failed = [row for row in own if row.result.failed is not None]
        if not own:
            texts.append(f"{name}The run has no cells: there is nothing to say.")
        elif len(failed) == len(own):
            first = failed[0].result.failed
            why = f"the first, {failed[0].label}: {first.text}" if first else ""
            texts.append(f"{name}Nothing was measured: none of {len(own):,} cells has a result; {why}.")
        elif failed:
            have = "has" if len(failed) == 1 else "have"
            texts.append(f"{name}{len(failed):,} of {len(own):,} cells {have} no result; it is told below why.")
    return texts
