"""The declaration of a factor, made once, in the field of ``Cell`` with the factor's level.

The following are derived from the declarations: the keys of suites, the options of the command line, ``--only`` and the
selections of ``compare``, the reasons why a plan refuses a level, the labels of rows, the columns of JSON, CSV and
exports, and the manual's table.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, get_type_hints

import msgspec

from middlemark.model.description import Transport
from middlemark.model.levels import Kind, Level
from middlemark.model.spelling import listing


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """One key of a sweep with one value for all its cells. A ``Factor`` has levels instead."""

    kind: Kind
    help: str
    metavar: str = ""
    """The placeholder of the option's value. Empty: there is no option, unless the key is a flag."""
    option: bool = True
    group: str = ""
    """The group of the option on help pages. Empty: ``Load`` for a factor of the load, else ``What is measured``."""
    default: tuple[Level, ...] = ()
    default_text: str = ""
    """Text of the manual in place of the default level."""
    listed: bool = False
    """True if a suite may give a list: each level of the list makes its own cells."""
    name: str = ""
    """Name in suites and, with dashes, on the command line. Empty: the field's name without its unit."""
    field: str = ""
    """Name of the struct's field that declares the key. It is also the key in JSON and the column, unless ``column`` is
    set."""
    idle: Level = None
    """The default of the field. A cell has this level if the factor has no effect."""

    @property
    def default_words(self) -> str:
        """The default in the manual, with backquotes around levels."""
        return self.default_text or ", ".join(f"`{self.kind.show(level)}`" for level in self.default or (self.idle,))


class Applies(msgspec.Struct, frozen=True, kw_only=True):
    """The condition on the other factors of the load under which a factor has an effect."""

    when: Callable[[Mapping[str, Level]], bool]
    otherwise: str
    """Message about a level that has no effect. ``{}`` stands for the level, such as ``arrivals poisson``."""
    moot: Callable[[Mapping[str, Level]], bool] = lambda _: False
    """Returns whether all levels have the same effect, so that no message is needed."""


class Honour(msgspec.Struct, frozen=True, kw_only=True):
    """The capability of a transport that limits a factor. Plans and the core refuse levels by this rule."""

    capability: str
    """Field of ``Transport``: a list of levels, or the highest level."""
    cannot: Callable[[Transport, Level], str | None]
    """Returns why the transport cannot honour the level, as text after the transport's name; None: the
    transport can."""
    own: Callable[[Transport], Level]
    """Returns the level to use on a transport that does not support the default."""


class Factor(Key, frozen=True, kw_only=True):
    """One factor of a cell."""

    listed: bool = True
    of: Literal["subject", "experiment", "middleware"] = "experiment"
    """The thing that the level describes. ``subject``: the middleware. ``experiment``: the experiment; cells that
    differ in such a factor are never compared. ``middleware``: a request to the middleware."""
    load: bool = False
    """True for a factor of the load. These factors depend on each other, but not on the adapter."""
    applies: Applies | None = None
    honour: Honour | None = None
    """The capability that a transport needs for the factor. None: the bench honours the factor on every transport."""
    given: tuple[Level, ...] = ()
    """Levels that some cells have although no user can request them: 0 subscribers."""
    in_cells: Callable[[Level], Level] = lambda level: level
    """Converts a requested level to the level in cells. A level that only the plan can convert stays unchanged."""
    stands_for: Callable[[Level, Level], bool] = lambda _wanted, _level: False
    """Returns whether a requested level and a cell's level mean the same although they are written differently."""
    title: str = ""
    """Name in reports. Empty: the factor's name."""
    unit: str | None = None
    """Unit of the levels in reports that offer the levels for selection."""
    column: str = ""
    """Column in CSV. Empty: the field's name."""
    request: str = ""
    """The factor's key in the worker's ``Settings``. Empty: the field's name, if there is such a key."""
    in_request: Callable[[Level], Any] = lambda level: level
    """Converts a level in cells to the value in the worker's ``Settings``."""
    later: bool = False
    """True if the factor's column comes after the columns of the times."""
    none: str | None = None
    """Text for None in JSON and CSV. None: an empty value, as for a missing figure."""
    shown: Callable[[Level], str] | None = None
    """Returns a level's text in reports without the factor's name: ``no loan``. None: as in other reports."""
    shown_by: str | None = None
    """The factor whose label already includes the words of this factor. None: this factor has its own label."""

    def show(self, level: Level) -> str:
        """Return the text of the level in reports."""
        return (self.shown or self.kind.show)(level)


Declared = TypeVar("Declared", bound=Key)


def declared(struct: type[msgspec.Struct], kind: type[Declared]) -> dict[str, Declared]:
    """Return name → key for the keys that the fields of a struct declare, in field order."""
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
    """Return the capability for a factor whose possible levels are a list in the transport's ``field``."""

    def cannot(transport: Transport, level: Level) -> str | None:
        supported: tuple[Level, ...] = getattr(transport, field)
        if level in supported:
            return None
        return says(level, supported) if says else f"{listing(map(str, supported))} only"

    def own(transport: Transport) -> Level:
        first: Level = getattr(transport, field)[0]
        return first

    return Honour(capability=field, cannot=cannot, own=own)


def unprotected(transport: Transport, level: Level) -> str | None:
    """Return why the transport cannot honour a level of security, with the adapter's reason; None: it can."""
    supported = transport.security
    if level in supported:
        return None
    has = "no security" if supported == ("none",) else f"security {listing(supported)} only"
    return f"{has}: {transport.security_why}" if transport.security_why else has


def no_such_way(transport: Transport, level: Level) -> str | None:
    """Return why messages cannot pass through the processes of a level of ``via``, with the adapter's reason.

    None: they can.
    """
    if level in transport.via:
        return None
    why = transport.via_why or "it has no router and no discovery server that the bench can start"
    return f"{listing(transport.via)} only: {why}"


def too_deep(transport: Transport, level: Level) -> str | None:
    """Return why the transport cannot honour a depth of history; None: it can honour the depth."""
    deepest = f" of at most {transport.max_depth}" if transport.max_depth is not None else ""
    if level is None and not transport.keep_all:
        return f"no keep-all history; give a depth{deepest}"
    if isinstance(level, int) and transport.max_depth is not None and level > transport.max_depth:
        return f"at most {transport.max_depth} messages of history"
    return None
