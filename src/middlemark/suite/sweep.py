"""The structs of a suite. Every level has its place in the request, so that later problems can name it."""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from middlemark.model.cell import FACTORS
from middlemark.model.expectation import Expectation
from middlemark.model.factors import Key, declared
from middlemark.model.levels import FLAG, Level, seconds, whole
from middlemark.model.pairs import named_in
from middlemark.model.plan import LIMITS, Limits
from middlemark.model.user_file import KEY, user_file
from middlemark.model.workload import Workload


class Levels(msgspec.Struct, frozen=True):
    """The levels of one factor in one sweep, in the order in which they are written.

    ``place``: where the levels are written. ``named``: False if the levels are the default.
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
    """One ``--native``. ``word``: ADAPTER.KEY or KEY, as typed.

    The names of the adapters decide whether the word contains an adapter.
    """

    word: str
    value: str

    @property
    def place(self) -> str:
        """The option that gave the setting."""
        file = user_file(self.value)
        return (
            f"--config {self.word.removesuffix(f'.{KEY}')}={file.path}"
            if file
            else f"--native {self.word}={self.value}"
        )


class Sweep(msgspec.Struct, frozen=True, kw_only=True):
    """The factors to combine, and how to measure each cell."""

    place: str
    """Where the sweep is written: ``suites/lan.toml: sweep 2``, or ``command line``."""
    name: str | None = None
    factors: tuple[Levels, ...]
    """The levels of each factor, in the order of ``FACTORS``."""
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
            default_text="one per trial",
        ),
    ] = None
    skip_unsupported: Annotated[
        bool, Key(kind=FLAG, help="Leave out configurations that cannot be measured, instead of refusing them.")
    ] = False
    baseline: Annotated[bool, Key(kind=FLAG, help="Also measure the raw transports, for the baseline.")] = True
    race: Annotated[
        bool,
        Key(
            kind=FLAG,
            group="How long",
            help="Add rounds for the candidates that may be the best, until the best is clear.",
        ),
    ] = False
    budget_s: Annotated[
        float | None,
        Key(
            name="budget",
            kind=seconds(1e-6),
            help="The time for the rounds of races; without a race, for all trials. Trials that do not fit are left "
            "out. --budget overrides this time.",
            option=False,
            default_text="`10m` for a race, else no limit",
        ),
    ] = None
    deciding_trials: bool = False
    """True if the user gives no number of trials. The plan then chooses enough trials to decide the expectations."""
    workload: Workload | None = None
    """The workload of the sweep's cells; None: no workload."""
    native: tuple[Native, ...] = ()
    typed_native: tuple[TypedNative, ...] = ()
    """The settings from the command line. These settings override ``native``."""

    def levels(self, factor: str) -> Levels:
        """Return the levels of this factor. Raises KeyError."""
        for each in self.factors:
            if each.factor == factor:
                return each
        raise KeyError(factor)

    @property
    def adapters(self) -> tuple[Level, ...]:
        """The requested adapters: the adapters that the sweep names, or those of its pairs, or ``all``."""
        adapters = self.levels("adapter")
        paired = () if adapters.named else named_in(self.levels("pair").values)
        return paired or adapters.values


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """The sweeps of an experiment, in the order of the file. ``place``: the file, or ``command line``."""

    name: str
    description: str = ""
    place: str
    seed: int | None = None
    together: tuple[tuple[str, ...], ...] = ()
    """Groups of factors that are varied together: cells that differ in all of them are also compared
    (``vary_together``)."""
    scorecard: tuple[tuple[str, float], ...] = ()
    """The metrics of the scorecard and their weights."""
    sweeps: tuple[Sweep, ...]
    expectations: tuple[Expectation, ...] = ()
    """The expectations of the suite. The last suite of a request also has the expectations of the command line."""


class RawOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the command line, as typed and unchecked. The struct contains only options that were typed."""

    keys: Mapping[str, str | bool] = {}
    """Name of a key (any of ``KEYS``) → its value."""
    seed: str | None = None
    native: tuple[str, ...] = ()
    """Each ``--native`` as typed: ``[ADAPTER.]KEY=VALUE``."""
    only: tuple[str, ...] = ()
    """Each ``--only`` as typed: ``KEY=VALUE``."""
    config: tuple[str, ...] = ()
    """Each ``--config`` as typed: ``ADAPTER=FILE``."""
    expect: tuple[str, ...] = ()
    """Each ``--expect`` as typed: the keys of an ``[[expect]]``, separated by commas."""


def raw_options(
    *,
    seed: str | None = None,
    native: tuple[str, ...] = (),
    only: tuple[str, ...] = (),
    config: tuple[str, ...] = (),
    expect: tuple[str, ...] = (),
    **keys: str | bool | None,
) -> RawOptions:
    """Return the options that are not None. Raises TypeError for an unknown key."""
    if unknown := keys.keys() - KEYS.keys():
        raise TypeError(f"not a key of a sweep: {unknown}")
    return RawOptions(
        keys={name: typed for name, typed in keys.items() if typed is not None},
        seed=seed,
        native=native,
        only=only,
        config=config,
        expect=expect,
    )


ONCE: Mapping[str, Key] = {**LIMITS, **declared(Sweep, Key)}
"""Name → key, for keys that have one value in a sweep."""

KEYS: Mapping[str, Key] = {**FACTORS, **ONCE}
