"""Read one table ``[[expect]]``. The result is an expectation, or all problems of the table."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from middlemark.model.cell import FACTORS
from middlemark.model.expectation import (
    Band,
    Bound,
    Claim,
    Crossover,
    Expectation,
    GrowthBound,
    NoInfluence,
    Order,
    Picked,
    Ratio,
    Shape,
    TimesAt,
    Untestable,
)
from middlemark.model.growth import RESOURCES, Resource
from middlemark.model.levels import Level, Wrong
from middlemark.model.parts import sides_of
from middlemark.model.selection import SHARED_MEMORY, read_levels, read_selection, read_typed_selection
from middlemark.model.spelling import did_you_mean, listing, quoted
from middlemark.model.units import UnitError, parse_percent
from middlemark.problems import Problem
from middlemark.suite.amount import read_amount, read_change, read_growth, read_ratio

if TYPE_CHECKING:
    from middlemark.stats.metrics import Metric

MARGIN = 0.05
TOLERANCE = 0.25
MOST_LOSS = 0.01
_BESIDE: Mapping[str, tuple[str, ...]] = {
    "bound": ("of",),
    "direction": ("a", "b", "margin"),
    "change": ("a", "b", "tolerance"),
    "ratio": ("a", "b", "tolerance"),
    "within": ("a", "b", "of", "along", "max_loss"),
    "order": ("margin",),
    "crossover": ("margin",),
    "shape": ("of", "tolerance"),
    "trend": ("of",),
    "untestable": (),
}
"""Kind of expectation → the keys that it may have, in addition to ``say``, ``id`` and ``metric``."""
_KIND_OF = {"at_most": "bound", "at_least": "bound"} | {each: each for each in _BESIDE if each != "bound"}
KEYS = (*dict.fromkeys(("id", "say", "metric", *_KIND_OF, *(key for keys in _BESIDE.values() for key in keys))),)
_SIDE = ("topic", "to", "sweep")
"""The keys of a selection that are not factors."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class ClaimReader:
    """Reads one table ``[[expect]]``, and adds the table's problems to ``problems``."""

    def __init__(self, table: Mapping[str, Any], where: Callable[[str], str]) -> None:
        """Create the reader. ``where``: returns the place of a key; for "" the place of the table."""
        self.problems: list[Problem] = []
        self._table = table
        self._where = where

    def expectation(self) -> Expectation | None:
        """Return the expectation; None: the table has problems."""
        table = self._table
        for key in table:
            if key not in KEYS:
                self._wrong(key, f"no such key; {did_you_mean(key, KEYS)}")
        asked = {_KIND_OF[key]: key for key in table if key in _KIND_OF}
        if len(asked) > 1:
            self._wrong(
                "", f"{listing(asked.values())} are {len(asked)} kinds of expectation; write one [[expect]] per kind"
            )
        elif not asked:
            self._wrong("", f"has no expectation; write one of {listing(_KIND_OF)}")
        name, say = self._text("id"), self._text("say")
        if name and not _ID.fullmatch(name):
            self._wrong("id", f"{quoted(name)} is not a valid id; use letters, digits, '.', '_' and '-'")
        metric_name = table.get("metric", "p50")
        metric = self._metric(metric_name)
        if len(asked) != 1:
            for key in ("of", "a", "b"):
                if key in table:
                    self._picked(key, table[key])
            return None
        [kind] = asked
        beside = (*_BESIDE[kind], "id", "say", *(() if kind == "trend" else ("metric",)))
        for key in table:
            if key in KEYS and key not in beside and _KIND_OF.get(key) != kind:
                self._wrong(key, f"has no effect with {asked[kind]}; leave it out")
        claim, claimed = self._claim(kind, metric)
        if claim is not None and any(side.topic for side in sides_of(claim)):
            self._of_edges("trend" if isinstance(claim, GrowthBound) else metric_name)
        if self.problems or claim is None:
            return None
        without_metric = isinstance(claim, Untestable | GrowthBound)
        claimed_text = claimed if without_metric else f"{metric_name} {claimed}"
        return Expectation(
            id=name,
            say=say or _default_say(claim, claimed_text),
            claim=claim,
            claimed=claimed_text,
            metric="" if without_metric else metric_name,
            place=self._where(""),
        )

    def _wrong(self, key: str, text: str) -> None:
        self.problems.append(Problem(self._where(key), text))

    def _text(self, key: str) -> str:
        value = self._table.get(key, "")
        if not isinstance(value, str):
            self._wrong(key, f"{quoted(value)} is not text; write it in quotes")
            return ""
        return " ".join(value.split())

    def _metric(self, name: object) -> "Metric | None":
        from middlemark.stats.metrics import METRICS

        if not isinstance(name, str) or name not in METRICS:
            shown = did_you_mean(name, METRICS) if isinstance(name, str) else "write its name in quotes"
            self._wrong("metric", f"there is no {quoted(name)}; {shown}")
            return None
        return METRICS[name]

    def _of_edges(self, name: str) -> None:
        from middlemark.stats.metrics import OF_EDGES

        if name not in OF_EDGES:
            self._wrong("metric", f"{name} describes a whole trial; for a topic use {listing(sorted(OF_EDGES))}")

    def _claim(self, kind: str, metric: "Metric | None") -> tuple[Claim | None, str]:
        """Return the claim (None: it has problems), and the words of the claim's sentence as the user typed them."""
        if kind == "untestable":
            return Untestable(self._text("untestable")), self._text("untestable")
        if kind == "trend":
            return self._trend()
        if metric is None:
            return None, ""
        read = {
            "bound": self._bound,
            "direction": self._direction,
            "change": self._change,
            "ratio": self._ratio,
            "within": self._no_influence,
            "order": self._order,
            "crossover": self._crossover,
            "shape": self._shape,
        }[kind]
        return read(metric)

    def _bound(self, metric: "Metric") -> tuple[Claim | None, str]:
        of = self._side("of")
        at_least, at_most = (self._amount(key, metric.unit) for key in ("at_least", "at_most"))
        texts = [f"{key.replace('_', ' ')} {self._table[key]}" for key in ("at_least", "at_most") if key in self._table]
        if at_least is not None and at_most is not None and at_least > at_most:
            self._wrong("at_least", "is above at_most, so no figure can satisfy both")
        return None if of is None else Bound(of, Band(at_least, at_most)), " and ".join(texts)

    def _direction(self, metric: "Metric") -> tuple[Claim | None, str]:
        a, b = self._side("a"), self._side("b")
        margin = self._percent("margin", MARGIN)
        words = {"better": True, "worse": False, metric.better: True, metric.worse: False}
        side, _, word = self._text("direction").partition(" ")
        if side not in ("a", "b") or word not in words:
            valid = [f"'b {each}'" for each in words]
            self._wrong(
                "direction", f"{quoted(self._table['direction'])} is not understood; write one of {listing(valid)}"
            )
            return None, ""
        if a is None or b is None:
            return None, ""
        band = better(metric, margin, words[word] == (side == "b"))
        return Ratio(a, b, band, "direction"), f"{side} {word}"

    def _change(self, _: "Metric") -> tuple[Claim | None, str]:
        a, b = self._side("a"), self._side("b")
        band = self._band("change", self._table["change"], read_change)
        if a is None or b is None or band is None:
            return None, ""
        return Ratio(a, b, band, "change"), str(self._table["change"])

    def _ratio(self, _: "Metric") -> tuple[Claim | None, str]:
        a, b = self._side("a"), self._side("b")
        band = self._band("ratio", self._table["ratio"], read_ratio)
        if a is None or b is None or band is None:
            return None, ""
        return Ratio(a, b, band, "ratio"), f"× {self._table['ratio']}"

    def _no_influence(self, _: "Metric") -> tuple[Claim | None, str]:
        within = self._percent("within", MARGIN)
        along = self._factor("along", self._table["along"]) if "along" in self._table else ""
        keys = ("of",) if along else ("a", "b")
        for key in {"a", "b", "of"} - {*keys} & self._table.keys():
            self._wrong(key, "write either of and along, or a and b, not both")
        sides = [self._side(key) for key in keys]
        max_loss = self._percent("max_loss", MOST_LOSS)
        if None in sides or along is None:
            return None, ""
        chosen = tuple(each for each in sides if each is not None)
        return (
            NoInfluence(chosen, along, Band(1 / (1 + within), 1 + within), max_loss),
            f"within {self._table['within']}" + (f" along {along}" if along else ""),
        )

    def _order(self, metric: "Metric") -> tuple[Claim | None, str]:
        value = self._table["order"]
        if not isinstance(value, list) or len(value) < 2:
            self._wrong("order", "needs a list of at least two selections, the best first")
            return None, ""
        sides = [self._picked("order", each) for each in value]
        margin = self._percent("margin", MARGIN)
        if None in sides:
            return None, ""
        chosen = tuple(each for each in sides if each is not None)
        return Order(chosen, better(metric, margin, False)), " < ".join(each.text for each in chosen)

    def _crossover(self, metric: "Metric") -> tuple[Claim | None, str]:
        table = self._inner("crossover", ("factor", "a", "b", "at"))
        margin = self._percent("margin", MARGIN)
        if table is None:
            return None, ""
        factor = self._factor("crossover", table["factor"])
        at = self._level("crossover", factor, table["at"])
        a, b = self._picked("crossover", table["a"]), self._picked("crossover", table["b"])
        if factor is not None and at is not None and (isinstance(at, bool) or not isinstance(at, int | float)):
            self._wrong("crossover", f"{factor} {table['at']} is not a number, so no level is below it")
        if a is None or b is None or factor is None or self.problems:
            return None, ""
        wins = better(metric, margin, True)
        before = Band(wins.high, None) if wins.high is not None else Band(None, wins.low)
        return Crossover(factor, a, b, at, wins, before), f"b {metric.better} from {factor} {table['at']} on"

    def _shape(self, _: "Metric") -> tuple[Claim | None, str]:
        of = self._side("of") if "of" in self._table else Picked("")
        table = self._inner("shape", ("along", "from", "growth"))
        if table is None or of is None:
            return None, ""
        along = self._factor("shape", table["along"])
        start = self._level("shape", along, table["from"])
        growth = []
        if not isinstance(table["growth"], dict) or not table["growth"]:
            self._wrong("shape", 'growth is a table of ratios to the figure at from: { 1k = 1.3, 64k = "4 … 5" }')
            return None, ""
        for word, value in table["growth"].items():
            level = self._level("shape", along, word, typed=True)
            band = self._band("shape", value, read_ratio)
            if band is not None:
                growth.append(TimesAt(level, band))
        if self.problems or along is None:
            return None, ""
        texts = ", ".join(f"× {value} at {word}" for word, value in table["growth"].items())
        return Shape(of, along, start, tuple(growth)), f"grows from {along} {table['from']}: {texts}"

    def _trend(self) -> tuple[Claim | None, str]:
        of = self._side("of") if "of" in self._table else Picked("")
        table = self._inner("trend", ("resource", "at_most"))
        if table is None or of is None:
            return None, ""
        resource: Resource | None = next((each for each in RESOURCES if each == table["resource"]), None)
        if resource is None:
            name = table["resource"]
            near = did_you_mean(name, RESOURCES) if isinstance(name, str) else "write its name in quotes"
            self._wrong("trend", f"resource: there is no {quoted(name)}; {near}")
            return None, ""
        try:
            per_hour = read_growth(table["at_most"], resource)
        except Wrong as error:
            self._wrong("trend", f"at_most: {error}")
            return None, ""
        return GrowthBound(of, resource, per_hour), f"{resource} grows by at most {table['at_most']}"

    def _inner(self, key: str, keys: Sequence[str]) -> Mapping[str, Any] | None:
        table = self._table[key]
        if not isinstance(table, dict):
            self._wrong(key, f"{quoted(table)} is not a table; write {{ {', '.join(f'{each} = …' for each in keys)} }}")
            return None
        for each in table:
            if each not in keys:
                self._wrong(key, f"{each}: no such key; {did_you_mean(each, keys)}")
        missing = [each for each in keys if each not in table]
        if missing:
            self._wrong(key, f"{listing(missing)} {'is' if len(missing) == 1 else 'are'} missing")
        return None if missing else table

    def _side(self, key: str) -> Picked | None:
        if key not in self._table:
            self._wrong("", f'{key} is missing; select configurations, as in {key} = {{ transport = "shm" }}')
            return None
        return self._picked(key, self._table[key])

    def _picked(self, key: str, value: object) -> Picked | None:
        """Read a selection: a table, its typed form (``transport=shm,pin=off``), or the name of a sweep."""
        if isinstance(value, str) and "=" not in value:
            return Picked(value, sweep=value)
        if isinstance(value, str):
            parts = {name: rest for name in _SIDE for rest in re.findall(rf"(?:^|,)\s*{name}=([^,]+)", value)}
            rest = re.sub(rf"(^|,)\s*(?:{'|'.join(_SIDE)})=[^,]+", "", value).strip(" ,")
            levels, wrong = read_typed_selection(rest)
            text = value
        elif isinstance(value, dict):
            parts = {name: value[name] for name in _SIDE if name in value}
            levels, wrong = read_selection({name: each for name, each in value.items() if name not in _SIDE})
            text = ", ".join(f"{name}={_shown(each)}" for name, each in value.items())
        else:
            self._wrong(key, f'{quoted(value)} selects nothing; write {{ transport = "shm", size = "1k" }}')
            return None
        wrong += [
            f"{name}: {quoted(each)} is not a name; write it in quotes"
            for name, each in parts.items()
            if not isinstance(each, str)
        ]
        wrong += [f"{field}: an empty list selects nothing" for field, each in levels.levels.items() if not each]
        if SHARED_MEMORY in levels.levels:
            wrong.append("shared_memory is known only after measuring; select by transport instead")
        if "to" in parts and "topic" not in parts:
            wrong.append("to: the topic is missing; also write topic")
        for each in wrong:
            self._wrong(key, each)
        return None if wrong else Picked(text, levels, **parts)

    def _factor(self, key: str, value: object) -> str | None:
        if isinstance(value, str) and value in FACTORS:
            return value
        self._wrong(key, f"{quoted(value)} is not a factor; {did_you_mean(str(value), FACTORS)}")
        return None

    def _level(self, key: str, factor: str | None, value: object, *, typed: bool = False) -> Level:
        if factor is None:
            return None
        if typed and isinstance(value, str):
            value = FACTORS[factor].kind.typed(value)
        try:
            [level] = read_levels(factor, value)
            return level
        except ValueError as error:
            self._wrong(key, f"{factor}: {error}")
            return None

    def _percent(self, key: str, default: float) -> float:
        if key not in self._table:
            return default
        try:
            return parse_percent(str(self._table[key]))
        except UnitError as error:
            self._wrong(key, str(error))
            return default

    def _band(self, key: str, value: object, read: Callable[[object, float], Band]) -> Band | None:
        try:
            return read(value, self._percent("tolerance", TOLERANCE))
        except Wrong as error:
            self._wrong(key, str(error))
            return None

    def _amount(self, key: str, unit: str) -> float | None:
        try:
            return read_amount(self._table[key], unit) if key in self._table else None
        except Wrong as error:
            self._wrong(key, str(error))
            return None


def better(metric: "Metric", margin: float, is_better: bool) -> Band:
    """Return the band of B's figure divided by A's in which B is better (or worse) by more than ``margin``."""
    more = Band(1 + margin, None)
    return more if metric.higher_is_better == is_better else Band(None, 1 / (1 + margin))


def _default_say(claim: Claim, claimed: str) -> str:
    match claim:
        case Bound(of=of):
            return f"{of.text}: {claimed}"
        case Ratio(a=a, b=b):
            return f"{a.text} → {b.text}: {claimed}"
        case NoInfluence(sides=sides):
            return f"{' and '.join(each.text for each in sides)}: {claimed}"
        case Shape(of=of) | GrowthBound(of=of) if of.text:
            return f"{of.text}: {claimed}"
    return claimed


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
