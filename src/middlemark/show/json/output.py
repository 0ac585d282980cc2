"""Declare and write outputs for programs. Outputs are structs, from which scripts/schema also makes the JSON Schema."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeVar, get_type_hints

import msgspec

from middlemark.document.numbers import exact
from middlemark.model.times import Summary

Number = int | float
"""A figure as ``exact`` writes it: an integer if it is whole."""


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """The output of a command with ``--format json``. A figure that was not measured is null."""


Filled = TypeVar("Filled", bound=msgspec.Struct)


def filled(output: type[Filled], *sources: object, **own: Any) -> Filled:
    """Return an output. A field's value comes from ``own``, else from the first source that has the field.

    Fields declared as Number are written by ``exact``.
    """
    for name in output.__struct_fields__:
        if name not in own and (having := [each for each in sources if hasattr(each, name)]):
            own[name] = getattr(having[0], name)
    return output(**own | {name: write(own[name]) for name, write in _writers(output).items() if name in own})


@cache
def _writers(output: type[msgspec.Struct]) -> Mapping[str, Callable[[Any], Any]]:
    """Return field → function that writes its figures, for the fields with figures."""
    several = (tuple[Number, ...], tuple[Number | None, ...], tuple[Number, Number] | None)
    kinds: dict[Any, Callable[[Any], Any]] = {
        Number: exact,
        Number | None: exact,
        Summary | None: _summary,
        **dict.fromkeys(several, _several),
    }
    return {name: kinds[hint] for name, hint in get_type_hints(output).items() if hint in kinds}


def _summary(times: Summary | None) -> Summary | None:
    return times and Summary(**{name: exact(each) for name, each in msgspec.structs.asdict(times).items()})


def _several(figures: Iterable[float | None] | None) -> tuple[Number | None, ...] | None:
    return None if figures is None else tuple(map(exact, figures))


def printed(output: msgspec.Struct, indent: int = 2) -> str:
    """Return the output as indented JSON, keys in the order of their declaration, ending in a newline."""
    return msgspec.json.format(msgspec.json.encode(builtins(output)), indent=indent).decode() + "\n"


def builtins(value: object) -> Any:
    """Return structs as dictionaries for JSON, with text that is not Unicode escaped."""
    return readable(msgspec.to_builtins(value))


def readable(value: object) -> object:
    """Return the value with text that is not Unicode escaped, such as a path or a crashed program's output."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {readable(key): readable(each) for key, each in value.items()}
        case list() | tuple():
            return [readable(each) for each in value]
        case _:
            return value


def exactly(value: Any) -> Any:
    """Return a struct with all its figures, also those of the structs in it, as ``exact`` writes them."""
    if isinstance(value, float):
        return exact(value)
    if not isinstance(value, msgspec.Struct):
        return value
    return msgspec.structs.replace(value, **{name: exactly(getattr(value, name)) for name in value.__struct_fields__})


Fields = Iterable[tuple[str, Any] | tuple[str, Any, Any]]

PARTS: dict[str, tuple[type, ...]] = {}
"""Name of a composed struct → the structs whose docstrings describe its fields."""


def fields_of(struct: type[msgspec.Struct], types: Mapping[str, Any] | None = None) -> Fields:
    """Return the fields of a struct, as :func:`composed` takes them. ``types`` replaces the types of some fields."""
    hints = get_type_hints(struct, include_extras=True) | dict(types or {})
    for field in msgspec.structs.fields(struct):
        default = () if field.default is msgspec.NODEFAULT else (field.default,)
        yield (field.name, hints[field.name], *default)


def composed(name: str, says: str, described_by: Iterable[type], *parts: Fields) -> type[Output]:
    """Return a struct with the fields of all parts, in order, and the docstring ``says``."""
    PARTS[name] = tuple(described_by)
    fields = [field for part in parts for field in part]
    struct = msgspec.defstruct(
        name, fields, bases=(Output,), namespace={"__doc__": says}, module=__name__, frozen=True, kw_only=True
    )
    assert issubclass(struct, Output)
    return struct
