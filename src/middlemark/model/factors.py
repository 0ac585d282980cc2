"""How a factor is declared: once, in the field of ``Cell`` that holds its level.

From the declarations come the keys of suites and the options of the command line, ``--only`` and the selections of
``compare``, what a plan refuses, the labels of rows, the columns of JSON, CSV and exports, and the table of the manual.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, get_type_hints

import msgspec

from middlemark.model.description import Transport
from middlemark.model.levels import Kind, Level
from middlemark.model.spelling import listing


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """One key of a sweep, set once for all its cells; a factor has levels instead."""

    kind: Kind
    help: str
    metavar: str = ""
    """Empty: no option of the command line, except for a flag, which needs none."""
    option: bool = True
    default: tuple[Level, ...] = ()
    default_text: str = ""
    """What the manual says instead of the default's own words."""
    listed: bool = False
    """A list of levels is accepted, and each makes cells of its own."""
    name: str = ""
    """In suites and, with dashes, on the command line. Empty: the field's name without its unit."""
    field: str = ""
    """Of the struct that declares it; also its key in JSON and, as a rule, its column."""
    idle: Level = None
    """The field's own default: the level where the factor means nothing."""


class Applies(msgspec.Struct, frozen=True, kw_only=True):
    """Beside which levels of the other factors of the load a factor means something."""

    when: Callable[[Mapping[str, Level]], bool]
    otherwise: str
    """What is said of a level that means nothing; ``{}`` is the level: ``arrivals poisson``."""
    moot: Callable[[Mapping[str, Level]], bool] = lambda _: False
    """Where every level is the same, and nothing need be said."""


class Honour(msgspec.Struct, frozen=True, kw_only=True):
    """The capability of a transport that bounds a factor. Plans refuse by it, and the core by what follows from it."""

    capability: str
    """The field of ``Transport``: a list of levels, or the highest one."""
    cannot: Callable[[Transport, Level], str | None]
    """What stands against the level, to be read after the transport's name; None: it is honoured."""
    own: Callable[[Transport], Level]
    """What the transport has in place of a default that it lacks."""


class Factor(Key, frozen=True, kw_only=True):
    """One factor of a cell."""

    listed: bool = True
    of: Literal["subject", "experiment", "middleware"] = "experiment"
    """What its level belongs to: which middleware is measured; what experiment it is, so that cells which differ in it
    are never held against each other; or what is asked of the middleware."""
    load: bool = False
    """It is part of the load, whose factors depend on each other and on no adapter."""
    applies: Applies | None = None
    honour: Honour | None = None
    """None: the bench honours it, whatever the transport."""
    given: tuple[Level, ...] = ()
    """Levels that nobody can ask for and some transports have: nobody receives."""
    in_cells: Callable[[Level], Level] = lambda level: level
    """A level as it is asked for → as cells have it; what only a plan can settle stays as it is."""
    stands_for: Callable[[Level, Level], bool] = lambda _wanted, _level: False
    """Whether a level that was asked for stands for a level of cells which is written otherwise."""
    title: str = ""
    """How reports call it. Empty: its name."""
    unit: str | None = None
    """Of its numbers, where reports offer them."""
    column: str = ""
    """In CSV, where another column has the field's name."""
    request: str = ""
    """Its key in the worker's ``Settings``. Empty: the field's name, where they have such a key."""
    in_request: Callable[[Level], Any] = lambda level: level
    """A level as cells have it → as the worker is told."""
    later: bool = False
    """Its column stands after those of the times."""
    none: str | None = None
    """What stands for None in JSON and CSV. None: nothing does, as of a figure that is absent."""
    shown: Callable[[Level], str] | None = None
    """A level where reports offer it without the factor's name: ``no loan``. None: as the kind shows it."""
    told_by: str | None = None
    """The factor whose words in labels tell this one as well."""

    def show(self, level: Level) -> str:
        """Return the level as reports offer it."""
        return (self.shown or self.kind.show)(level)


Declared = TypeVar("Declared", bound=Key)


def declared(struct: type[msgspec.Struct], kind: type[Declared]) -> dict[str, Declared]:
    """Return by name what the fields of a struct declare, in their order."""
    hints = get_type_hints(struct, include_extras=True)
    found: dict[str, Declared] = {}
    for field in msgspec.structs.fields(struct):
        for each in getattr(hints[field.name], "__metadata__", ()):
            if isinstance(each, kind):
                idle = None if field.default is msgspec.NODEFAULT else field.default
                name = each.name or field.name.removesuffix("_s")
                found[name] = msgspec.structs.replace(each, name=name, field=field.name, idle=idle)
    return found


def one_of(field: str, says: Callable[[Level, tuple[Level, ...]], str] | None = None) -> Honour:
    """Return how a factor is honoured whose levels a transport lists in its description's ``field``."""

    def cannot(transport: Transport, level: Level) -> str | None:
        known: tuple[Level, ...] = getattr(transport, field)
        if level in known:
            return None
        return says(level, known) if says else f"{listing(map(str, known))} only"

    def own(transport: Transport) -> Level:
        first: Level = getattr(transport, field)[0]
        return first

    return Honour(capability=field, cannot=cannot, own=own)


def unprotected(transport: Transport, level: Level) -> str | None:
    """Return what stands against a level of security, with the reason where the adapter has one."""
    known = transport.security
    if level in known:
        return None
    has = "no security" if known == ("none",) else f"security {listing(known)} only"
    return f"{has}: {transport.security_why}" if transport.security_why else has


def too_deep(transport: Transport, level: Level) -> str | None:
    """Return what stands against a depth of history."""
    deepest = f" of at most {transport.max_depth}" if transport.max_depth is not None else ""
    if level is None and not transport.keep_all:
        return f"no keep-all history; give a depth{deepest}"
    if isinstance(level, int) and transport.max_depth is not None and level > transport.max_depth:
        return f"at most {transport.max_depth} messages of history"
    return None
