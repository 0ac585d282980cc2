"""Who wins where: each experiment at each size as one picture, one sentence, and the command that settles it."""

import math
from collections.abc import Iterator, Sequence

from middlemark.document.contests import Contest, every_contest
from middlemark.document.document import Document, Ranked, Row, Standing
from middlemark.document.judged import JudgedDocument, trials_wanted
from middlemark.document.numbers import ratio, rounded, us
from middlemark.document.outcome import Outcome, doubt_of, outcome_of
from middlemark.document.rows import latency_of, per_message_ns
from middlemark.document.sentences import CARRIERS, measure
from middlemark.document.settle import TRIALS, settling
from middlemark.document.words import WORDS, plain
from middlemark.model.units import format_percent
from middlemark.stats.interval import FEWEST
from middlemark.stats.verdict import Verdict

USUAL_SIZE = 1024
"""What is shown first: the measured size that is nearest to it."""
_NAMED = 3
_KEPT = ("pattern", "rate", "processes", "subscribers", "receive")
"""Which factor names an experiment where another would do it too."""


def standings(document: Document, judged: JudgedDocument) -> tuple[Standing, ...]:
    """Return one a figure, experiment and size: the experiments in the order of the answers, sizes ascending."""
    by_figure = [contest for by in ("p50", "p99") for contest in every_contest(document.rows, by)]
    # What one middleware alone was asked for is no choice, unless there is no other.
    by_figure = [each for each in by_figure if any(len(of.ranked) > 1 for of in each)] or by_figure
    levels = _levels(document, by_figure)
    return tuple(
        _standing(document, judged, contest, named)
        for group, named in zip(by_figure, levels, strict=True)
        for contest in group
    )


def usual(found: Sequence[Standing]) -> int:
    """Return which of them is shown first: of the first experiment the one whose size is the nearest to the usual."""
    if not found:
        return 0
    first = [at for at, each in enumerate(found) if (each.levels, each.by) == (found[0].levels, found[0].by)]
    return min(first, key=lambda at: abs(math.log(max(found[at].size, 1) / USUAL_SIZE)))


def _levels(document: Document, groups: Sequence[Sequence[Contest]]) -> list[dict[str, str]]:
    """Return by group what tells it from the others: the levels in which they differ, the carrier and the run."""
    everything = [group[0].levels for group in groups]
    told = [each for each in WORDS if len({levels.get(each) for levels in everything}) > 1]
    for factor in sorted(told, key=lambda each: _KEPT.index(each) if each in _KEPT else len(_KEPT), reverse=True):
        without = [each for each in told if each != factor]
        if _distinct(everything, without) == _distinct(everything, told):
            told = without
    several = len(document.runs) > 1
    carriers = len({group[0].context[0] for group in groups}) > 1
    return [
        {
            **{factor: levels.get(factor, "") for factor in told},
            **(
                {"carrier": CARRIERS.get(str(of), str(of)) if (of := group[0].context[0]) else "any"}
                if carriers
                else {}
            ),
            **({"run": plain(document.runs[group[0].contenders[0].run].name)} if several else {}),
        }
        for group, levels in zip(groups, everything, strict=True)
    ]


def _distinct(everything: Sequence[dict[str, str]], factors: Sequence[str]) -> int:
    return len({tuple(levels.get(each) for each in factors) for levels in everything})


def _standing(document: Document, judged: JudgedDocument, contest: Contest, levels: dict[str, str]) -> Standing:
    outcome = outcome_of(contest, judged)
    best = contest.ranked[0]
    floor = best.alone_row if contest.context[0] is None else best.floor_row
    beside = None if floor is None or best.floor else document.rows[floor]
    command, seconds = _settling(document, contest, outcome, levels, beside)
    return Standing(
        by=contest.by,
        size=contest.size,
        levels=levels,
        verdict=outcome.verdict,
        sure=outcome.sure,
        lead=plain(_lead(best, beside, contest)),
        why=plain(_why(contest, outcome)),
        winner=_short(best, contest),
        places=tuple(_places(contest, outcome)),
        floor=None if beside is None else beside.index,
        failed=tuple(each.index for each in (*contest.failed, *contest.contradicted)),
        command=command,
        seconds=rounded(seconds),
    )


def _lead(best: Row, floor: Row | None, contest: Contest) -> str:
    """Return who has the lowest figure, how much it is, and how far from the machine alone."""
    if contest.by == "p99":
        figures = [latency.p99 if row and (latency := latency_of(row.result)) else None for row in (best, floor)]
        own = f"p99 of {us(rounded(figures[0]))} µs"
    else:
        figures = [per_message_ns(row.result) if row else None for row in (best, floor)]
        own = measure(best)
    times = f", {ratio(figures[0] / figures[1])} × the machine alone" if figures[0] and figures[1] else ""
    alone = len(contest.ranked) + len(contest.gone) == 1
    order = "" if alone else "has the most, " if own.endswith("messages/s") else "is lowest, "
    return f"{best.name} {order or 'takes '}{own}{times}."


def _why(contest: Contest, outcome: Outcome) -> str:
    """Return the verdict: against whom it is sure, and what it is not sure of."""
    doubted: dict[str, list[str]] = {}
    for row in contest.contenders:
        if doubt := doubt_of(row):
            doubted.setdefault(doubt, []).append(row.name)
    doubts = "".join(f"; {doubt} in {_listed(names)}" for doubt, names in doubted.items())
    unjudged = sum(row in contest.short for row in contest.ranked)
    if unjudged:
        doubts += f"; {unjudged} {'has' if unjudged == 1 else 'have'} too few trials to tell"
    few = contest.ranked[0] in contest.short or not contest.tellable
    if outcome.verdict == "alone":
        return "Nothing else was measured there."
    if few:
        row = next(each for each in (contest.ranked[0], *contest.ranked) if each.result.trials < FEWEST)
        trials = f"{row.result.trials} trial{'' if row.result.trials == 1 else 's'}"
        return f"{row.name} has {trials}; {FEWEST} are the fewest for a verdict."
    slower, equal = [*outcome.of(Verdict.WORSE), *outcome.gone], outcome.level
    others = "the other" if len(slower) == 1 else f"the other {len(slower)}"
    if outcome.verdict == "best":
        verb = "is" if len(slower) == 1 else "are"
        return f"{others[:1].upper()}{others[1:]} {verb} slower{doubts}."
    if outcome.verdict == "tie":
        behind = f"; {others} {'is' if len(slower) == 1 else 'are'} slower" if slower else ""
        within = _listed([row.name for row in equal])
        return f"A tie with {within}, within {format_percent(outcome.within)}{behind}{doubts}."
    open_ = outcome.open
    against = f"Sure against {len(slower)} of {len(outcome.beside) + len(outcome.gone)}; not" if slower else "Not"
    wanted = _wanted(outcome)
    trials = f": {trials_wanted(wanted)} trials would tell" if wanted else ""
    return f"{against} told apart from {_listed([row.name for row in open_])}{trials}{doubts}."


def _listed(names: Sequence[str]) -> str:
    shown = [*names[:_NAMED], *([f"{len(names) - _NAMED} more"] if len(names) > _NAMED else [])]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _wanted(outcome: Outcome) -> int | None:
    """Return how many trials would tell all that can be told at all; None: nothing can."""
    open_ = [each.judged for _, each in outcome.beside if each and each.judged.verdict is Verdict.CANNOT_TELL]
    return max((each.trials_needed for each in open_ if each.trials_needed is not None), default=None)


def _short(row: Row, contest: Contest) -> str:
    """Return a name for where there is little room: the adapter where it is told from the others by that."""
    adapters = [each.result.cell.adapter for each in contest.ranked]
    return row.result.cell.adapter if len({*adapters}) == len(adapters) else row.name


def _places(contest: Contest, outcome: Outcome) -> Iterator[Ranked]:
    known = {row.index: each for row, each in outcome.beside}
    level = {row.index for row in outcome.level}
    for row in contest.ranked:
        judged = each.judged if (each := known.get(row.index)) else None
        if row.result.trials < FEWEST:
            yield Ranked(row.index, "few", f"{row.result.trials} trial{'' if row.result.trials == 1 else 's'}")
        elif row is contest.contenders[0]:
            undecided = outcome.verdict == "undecided"
            yield Ranked(row.index, "open" if undecided else "first", "not surely first" if undecided else "")
        elif judged is None or judged.low is None:
            yield Ranked(row.index, "open", "not compared")
        elif judged.verdict is Verdict.WORSE:
            yield Ranked(row.index, "slower", "surely slower")
        elif row.index in level:
            yield Ranked(row.index, "equal", f"within {format_percent(outcome.within)}")
        else:
            yield Ranked(row.index, "open", "not told apart")
    for row in outcome.gone:
        trials = f"{row.result.trials} trial{'' if row.result.trials == 1 else 's'}"
        yield Ranked(row.index, "slower", f"left the race after {trials}")


def _settling(
    document: Document, contest: Contest, outcome: Outcome, levels: dict[str, str], floor: Row | None
) -> tuple[str | None, float | None]:
    """Return the command that measures again what is open, often enough, and its seconds; None: no number would do."""
    few = not contest.tellable or contest.has_lower_unjudged
    needed = TRIALS if few else _wanted(outcome)
    if not outcome.is_open or needed is None:
        return None, None
    best = contest.ranked[0]
    open_ = contest.ranked if few else [best, *outcome.open, *(outcome.level if outcome.verdict == "tie" else [])]
    beside = [floor] if floor else []
    return settling(document, open_, beside, needed, {"size", *levels}) or (None, None)
