"""What a suite is: frozen values, checked, with every level's place kept so that later problems can name it."""

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

    ``place`` is where they were given; ``named`` is false where nobody named them and the default stands in.
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
    """One ``--native``: ``word`` is ADAPTER.KEY or KEY, as typed; which of the two only the adapters here can say."""

    word: str
    value: str

    @property
    def place(self) -> str:
        """Return where it was given."""
        file = user_file(self.value)
        return (
            f"--config {self.word.removesuffix(f'.{KEY}')}={file.path}"
            if file
            else f"--native {self.word}={self.value}"
        )


class Sweep(msgspec.Struct, frozen=True, kw_only=True):
    """Factors to be crossed and how each cell is measured."""

    place: str
    """``suites/lan.toml: sweep 2``, or ``command line``."""
    name: str | None = None
    factors: tuple[Levels, ...]
    """One for each factor, in the order of ``FACTORS``."""
    limits: Limits
    trials: Annotated[
        int, Key(kind=whole("number of trials", 1, 10_000), metavar="N", help="Fresh starts of each configuration.")
    ] = 3
    domain: Annotated[
        int | None,
        Key(kind=whole("domain", 0, 232), metavar="N", help="One DDS domain for all trials.", default_text="one each"),
    ] = None
    skip_unsupported: Annotated[
        bool, Key(kind=FLAG, help="Leave out what cannot be measured, instead of refusing it.")
    ] = False
    baseline: Annotated[bool, Key(kind=FLAG, help="Measure the raw transports too, for the baseline.")] = True
    race: Annotated[
        bool, Key(kind=FLAG, help="Add rounds of those that may be the best, until it is clear who is: the whole run.")
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
    """Nobody named a number of trials, and something is expected: the plan makes as many as can tell."""
    workload: Workload | None = None
    """The graph that its cells carry."""
    native: tuple[Native, ...] = ()
    typed_native: tuple[TypedNative, ...] = ()
    """The command line's, laid over ``native``."""

    def levels(self, factor: str) -> Levels:
        """Return the levels of that factor. KeyError when it is none."""
        for each in self.factors:
            if each.factor == factor:
                return each
        raise KeyError(factor)


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """An experiment: sweeps in the order written. ``place`` is its file, or ``command line``."""

    name: str
    description: str = ""
    place: str
    seed: int | None = None
    together: tuple[tuple[str, ...], ...] = ()
    """Names of factors whose combinations are compared as well (``vary_together``)."""
    scorecard: tuple[tuple[str, float], ...] = ()
    """Metrics and their weights."""
    sweeps: tuple[Sweep, ...]
    expectations: tuple[Expectation, ...] = ()
    """What is expected of the configurations of the whole request; the last suite has those that were typed, too."""


class RawOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line asks of a run, as typed and unchecked: only what was given."""

    keys: Mapping[str, str | bool] = {}
    """By name, for any of ``KEYS``."""
    seed: str | None = None
    native: tuple[str, ...] = ()
    """``[ADAPTER.]KEY=VALUE``, each as typed."""
    only: tuple[str, ...] = ()
    """``KEY=VALUE``, each as typed."""
    config: tuple[str, ...] = ()
    """``ADAPTER=FILE``, each as typed."""
    expect: tuple[str, ...] = ()
    """What stands below ``[[expect]]``, with commas between, each as typed."""


def raw_options(
    *,
    seed: str | None = None,
    native: tuple[str, ...] = (),
    only: tuple[str, ...] = (),
    config: tuple[str, ...] = (),
    expect: tuple[str, ...] = (),
    **keys: str | bool | None,
) -> RawOptions:
    """Return the options; a key that is None was not given. TypeError for a name that is no key."""
    if strangers := keys.keys() - KEYS.keys():
        raise TypeError(f"no key of a sweep: {strangers}")
    return RawOptions(
        keys={name: typed for name, typed in keys.items() if typed is not None},
        seed=seed,
        native=native,
        only=only,
        config=config,
        expect=expect,
    )


ONCE: Mapping[str, Key] = {**LIMITS, **declared(Sweep, Key)}
"""By name: what is set once for a sweep."""

KEYS: Mapping[str, Key] = {**FACTORS, **ONCE}
