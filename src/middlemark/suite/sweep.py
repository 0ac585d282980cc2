"""The structs of a suite. Every level keeps its place, so that later problems can name it."""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from middlemark.model.cell import FACTORS
from middlemark.model.expectation import Expectation
from middlemark.model.factors import Key, declared
from middlemark.model.levels import FLAG, Level, seconds, whole
from middlemark.model.plan import LIMITS, Limits
from middlemark.model.user_file import KEY, user_file
from middlemark.model.workload import Workload


class Levels(msgspec.Struct, frozen=True):
    """The levels of one factor in one sweep, in the order written.

    ``place``: where they are given. ``named``: false if they are the default.
    """

    factor: str
    values: tuple[Level, ...]
    place: str
    named: bool = True


class Native(msgspec.Struct, frozen=True):
    """The middleware's own settings for one adapter of a sweep, sorted by key."""

    adapter: str
    settings: tuple[tuple[str, str], ...]
    place: str


class TypedNative(msgspec.Struct, frozen=True):
    """One ``--native``. ``word`` is ADAPTER.KEY or KEY, as typed; the available adapters decide which of both."""

    word: str
    value: str

    @property
    def place(self) -> str:
        """Return where it is given."""
        file = user_file(self.value)
        return (
            f"--config {self.word.removesuffix(f'.{KEY}')}={file.path}"
            if file
            else f"--native {self.word}={self.value}"
        )


class Sweep(msgspec.Struct, frozen=True, kw_only=True):
    """Factors to combine, and how to measure each cell."""

    place: str
    """``suites/lan.toml: sweep 2``, or ``command line``."""
    name: str | None = None
    factors: tuple[Levels, ...]
    """One per factor, in the order of ``FACTORS``."""
    limits: Limits
    trials: Annotated[
        int,
        Key(
            kind=whole("number of trials", 1, 10_000),
            group="How long",
            metavar="N",
            help="Fresh starts of each configuration.",
        ),
    ] = 3
    domain: Annotated[
        int | None,
        Key(
            kind=whole("domain", 0, 232),
            group="Machine",
            metavar="N",
            help="One DDS domain for all trials.",
            default_text="one each",
        ),
    ] = None
    skip_unsupported: Annotated[
        bool, Key(kind=FLAG, help="Leave out what cannot be measured, instead of refusing it.")
    ] = False
    baseline: Annotated[bool, Key(kind=FLAG, help="Measure the raw transports too, for the baseline.")] = True
    race: Annotated[
        bool,
        Key(
            kind=FLAG,
            group="How long",
            help="Add rounds of those that may be the best, until it is clear who is: the whole run.",
        ),
    ] = False
    budget_s: Annotated[
        float | None,
        Key(
            name="budget",
            kind=seconds(1e-6),
            help="The time for the rounds of a race: the whole run; --budget goes first.",
            option=False,
            default_text="`10m`",
        ),
    ] = None
    deciding_trials: bool = False
    """True: no number of trials is given, and expectations need as many as it takes to decide them."""
    workload: Workload | None = None
    """The workload that its cells carry."""
    native: tuple[Native, ...] = ()
    typed_native: tuple[TypedNative, ...] = ()
    """From the command line; they override ``native``."""

    def levels(self, factor: str) -> Levels:
        """Return the levels of this factor. Raises KeyError."""
        for each in self.factors:
            if each.factor == factor:
                return each
        raise KeyError(factor)


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """An experiment: sweeps in file order. ``place``: its file, or ``command line``."""

    name: str
    description: str = ""
    place: str
    seed: int | None = None
    together: tuple[tuple[str, ...], ...] = ()
    """Combinations of factors that are compared too (``vary_together``)."""
    scorecard: tuple[tuple[str, float], ...] = ()
    """Metrics and their weights."""
    sweeps: tuple[Sweep, ...]
    expectations: tuple[Expectation, ...] = ()
    """Expectations of the whole request. The last suite also has those of the command line."""


class RawOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the command line, as typed and unchecked; only those given."""

    keys: Mapping[str, str | bool] = {}
    """By name; any of ``KEYS``."""
    seed: str | None = None
    native: tuple[str, ...] = ()
    """``[ADAPTER.]KEY=VALUE``, each as typed."""
    only: tuple[str, ...] = ()
    """``KEY=VALUE``, each as typed."""
    config: tuple[str, ...] = ()
    """``ADAPTER=FILE``, each as typed."""
    expect: tuple[str, ...] = ()
    """The keys of an ``[[expect]]``, separated by commas, each as typed."""


def raw_options(
    *,
    seed: str | None = None,
    native: tuple[str, ...] = (),
    only: tuple[str, ...] = (),
    config: tuple[str, ...] = (),
    expect: tuple[str, ...] = (),
    **keys: str | bool | None,
) -> RawOptions:
    """Return the options without those that are None. Raises TypeError for an unknown key."""
    if unknown := keys.keys() - KEYS.keys():
        raise TypeError(f"no key of a sweep: {unknown}")
    return RawOptions(
        keys={name: typed for name, typed in keys.items() if typed is not None},
        seed=seed,
        native=native,
        only=only,
        config=config,
        expect=expect,
    )


ONCE: Mapping[str, Key] = {**LIMITS, **declared(Sweep, Key)}
"""Keys that are set once per sweep, by name."""

KEYS: Mapping[str, Key] = {**FACTORS, **ONCE}
