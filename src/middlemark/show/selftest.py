"""The output of ``selftest``: two tables and conclusions."""

from collections.abc import Iterator

from rich.text import Text

from middlemark.document.document import Document
from middlemark.document.numbers import ABSENT, part, share, us, whole
from middlemark.document.table import Column, Table, facts, table_of
from middlemark.model.asked import SelfTestCell
from middlemark.model.cell import Cell, subject
from middlemark.model.times import QUANTILES
from middlemark.model.units import format_count, format_percent, format_size
from middlemark.show import View
from middlemark.show.markdown import escaped, table
from middlemark.show.table import heading
from middlemark.show.terminal import paragraph, printed, terminal
from middlemark.stats.quantiles import samples_needed
from middlemark.stats.selftest import ALLOWED, Power, Same, SelfTest, VerdictCounts
from middlemark.stats.verdict import MARGIN

FEWEST = 6
"""The fewest trials for a verdict."""
_LEAST_NAME = 12
_OPEN = (Column("equivalent", 1), Column("undecided", 2))
_SAME = ("", "metric", Column("median µs", 4), Column("scatter", 2), "false", Column("alone", 3), *_OPEN)
_PLANTED = ("", Column("planted", 3), Column("delay", 4), Column("measured", 5), "found", *_OPEN, "faster")
_LEGEND = facts(
    ("  scatter", "half the span of the middle 68 % of all trials"),
    ("  false", "pairs of labels of one setting that were called different, all judged together as in `compare`"),
    (
        "  alone",
        "like false, but each pair is judged alone, as `compare` judges two settings; the next two columns too",
    ),
    ("  found", "called slower"),
    ("  delay, measured", "the planted delay, and by how much p50 was longer, in percent of A's p50 in this run"),
)


def render_table(test: SelfTest, document: Document, width: int) -> str:
    """Return the tables, the failures and the conclusions."""
    return printed(_lines(test, document, width), View(width=width))


def render_markdown(test: SelfTest, document: Document) -> str:
    """Return the two tables and the conclusions as Markdown."""
    lines: list[str] = []
    for each in _tables(test):
        lines += [f"**{escaped(each.title)}**", "", *table(each), ""]
    lines += [f"- {escaped(sentence)}" for sentence in (*_failures(document), *conclusions(test))]
    return "\n".join(lines) + "\n"


def _tables(test: SelfTest) -> tuple[Table, Table]:
    return (
        table_of(_SAME, map(_same_row, test.same), "A against itself"),
        table_of(_PLANTED, map(_power_row, test.power), "A against A with a delay"),
    )


def _lines(test: SelfTest, document: Document, width: int) -> Iterator[Text]:
    yield from heading(document, (), width)
    for each in _tables(test):
        yield Text()
        yield from terminal(each, width, wraps=True, name=_LEAST_NAME)
    yield Text()
    for sentence in (*_failures(document), *conclusions(test)):
        yield from paragraph(sentence, width)
    yield Text()
    yield from terminal(_LEGEND, width)


def _failures(document: Document) -> Iterator[str]:
    failures = [each for row in document.rows for each in row.result.failures]
    if failures:
        trials = format_count(len(failures), "trial")
        advice = f" ({failures[0].advice})" if failures[0].advice else ""
        yield f"{trials} failed and are in no comparison. The first: {failures[0].text}{advice}."


def _name(cell: Cell) -> str:
    return f"{subject(cell)}, {format_size(cell.size)}, {cell.receive}"


def _same_row(each: Same) -> tuple[str, ...]:
    tally, of = each.tally, each.tally.comparisons
    scatter = "" if each.scatter is None else f"±{100 * each.scatter:.1f} %"
    if each.scatter is not None and each.scatter >= 1:
        scatter = f"× {1 + each.scatter:.1f}"
    counts = (f"{each.together} of {of:,}", whole(tally.different), whole(tally.equivalent), whole(tally.undecided))
    return (_name(each.setting.cell), each.metric, us(each.typical), scatter or ABSENT, *_if_any(tally, *counts))


def _power_row(each: Power) -> tuple[str, ...]:
    tally = each.tally
    return (
        _name(each.setting.cell),
        format_percent(each.planted.part),
        f"{us(each.planted.delay_ns)} µs, {part(each.part)}",
        part(each.measured),
        *_if_any(tally, _found(each), whole(tally.equivalent), whole(tally.undecided), whole(tally.faster)),
    )


def _if_any(tally: VerdictCounts, *counts: str) -> Iterator[str]:
    return (each if tally.comparisons else ABSENT for each in counts)


def conclusions(test: SelfTest) -> Iterator[str]:
    """Yield the conclusions, one or two sentences each."""
    trials = test.rounds >= FEWEST
    short = [each for each in test.same if each.typical is None or (trials and not each.tally.comparisons)]
    for metric in dict.fromkeys(each.metric for each in short):
        names = " and ".join(_name(each.setting.cell) for each in short if each.metric == metric)
        needed = samples_needed(QUANTILES[metric])
        text = f"{metric} is not compared for {names}: a trial needs {needed:,} samples for it"
        yield f"{text}; give a longer --duration."
    if test.rounds < FEWEST:
        yield f"No result: a verdict needs {FEWEST} trials of both sides, and no pair has more than {test.rounds}."
        return
    yield _false_verdicts(test)
    yield from _wrong(test)
    for setting in test.settings:
        if any(each.setting == setting and each.tally.comparisons for each in test.power):
            yield _hope(test, setting)


def _false_verdicts(test: SelfTest) -> str:
    if test.rate is None or test.at_most is None:
        return "Nothing could be compared with itself."
    were = "was" if test.false_together == 1 else "were"
    text = (
        f"With {test.rounds} trials each, {test.false_together} of {test.compared} comparisons of a setting with "
        f"itself {were} called different, judged as `compare` judges a table of them: "
        f"{format_percent(test.false_together / test.compared)} are false; up to {format_percent(ALLOWED)} may be. "
        f"If each is judged alone, as when only two settings are compared, {test.false} of {test.compared} are false "
        f"({format_percent(test.rate)}). "
    )
    if test.rate <= ALLOWED:
        return text + (
            f"Comparisons that share labels are correlated. They are worth about {test.worth} independent "
            f"comparisons, so the true rate is at most {format_percent(float(f'{test.at_most:.2g}'))} (95 %)."
        )
    chance = f"If 5 % were called different by noise alone, {share(test.chance)} of such runs would have as many"
    if test.holds:
        return text + f"{chance}: this may be chance. Run selftest again, with more --trials."
    return text + f"{chance}: this is more than chance. Do not trust verdicts on this machine, and report it to us."


def _wrong(test: SelfTest) -> Iterator[str]:
    """Yield a sentence for each kind of wrong verdict: A with a delay was called faster, or equivalent to A."""
    for number, what in (
        (test.called_faster, "A with a delay was called faster than A"),
        (test.missed, f"a delay beyond the margin of {format_percent(MARGIN)} was called equivalent"),
    ):
        if number:
            yield f"{'Once' if number == 1 else f'{number} times'} {what}, which is also false."


def _hope(test: SelfTest, setting: SelfTestCell) -> str:
    mine = sorted((each for each in test.power if each.setting == setting), key=lambda each: each.planted.part)
    smallest = test.smallest_found(setting)
    if smallest is None:
        text = (
            f"{_name(setting.cell)}: do not expect to find a difference at p50: "
            f"even {_size(mine[-1])} was found in only {_found(mine[-1])}."
        )
    else:
        at = next(each for each in mine if each.planted == smallest)
        size, found = _size(at), _found(at)
        text = f"{_name(setting.cell)}: expect to find differences of {size} and more at p50 (found in {found})."
    missed = [each for each in mine if not each.is_found]
    return " ".join([text, *(_further(each) for each in missed)])


def _size(each: Power) -> str:
    """Return the delay in percent of A's p50 in this run. In the pilot, A's p50 may have been different."""
    part = each.planted.part if each.part is None else each.part
    return format_percent(float(f"{part:.2g}"))


def _found(each: Power) -> str:
    return f"{each.tally.slower} of {each.tally.comparisons}"


def _further(each: Power) -> str:
    found = f"{_size(each)} was found in {_found(each)}"
    if each.tally.undecided == 0:
        return f"{found}."
    if each.tally.trials_needed is None:
        return f"{found}; more than 10,000 trials would be needed."
    return f"{found}; to find it, measure about {each.tally.trials_needed:,} trials."
