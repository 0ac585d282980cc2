"""Generates the Python kit's structs from the schema: an adapter's description and the request of a trial."""

import textwrap
from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from declarations import Field, Schema, bare, leaf, meta, or_null, plain
from msgspec import inspect

from middlemark.model import description, protocol

RENAMED = {"CompanionSpec": "Companion", "Settings": "Request"}
"""Names in the kit, as in the Rust kit. The kit's own ``Settings`` derives from ``Request`` and adds the topics."""
EMPTY: dict[type[inspect.Type], str] = {
    inspect.BoolType: "False",
    inspect.IntType: "0",
    inspect.FloatType: "0.0",
    inspect.StrType: '""',
    inspect.VarTupleType: "()",
    inspect.DictType: "{}",
}
"""The initial value of a field without a default."""


def python_kit(schema: Schema, structs: tuple[type[msgspec.Struct], ...]) -> str:
    """Return core/kit/python/middlemark_kit/protocol.py."""
    assert schema.base is not None
    requests = (protocol.OwnSettings, protocol.TopicRequest, protocol.Settings)
    all_structs = [(schema.base, each) for each in requests] + [(schema, each) for each in structs]
    used = {name for module, struct in all_structs for name in _words_used(module, struct)}
    lines = [
        '"""The messages that an adapter sees. Written by scripts/protocol from src/middlemark/model."""',
        "",
        "from typing import Literal",
        "",
        "from middlemark_kit.structs import Struct",
        "",
        f'DEFAULT_CONFIGURATION = "{description.DEFAULT_CONFIGURATION}"',
        *_docstring(schema.docs["DEFAULT_CONFIGURATION"]),
    ]
    for module in (schema.base, schema):
        for name, words in module.literals:
            if name in used:
                listed = ", ".join(f'"{each}"' for each in words)
                lines += [f"{name} = Literal[{listed}]", *_docstring(module.docs.get(name, ""))]
    for module, struct in all_structs:
        lines += ["", "", f"class {_renamed(struct)}(Struct):", *_docstring(module.docs[struct.__name__], "    "), ""]
        for field in module.own_fields(struct):
            declared = f"    {field.key}: {_type(module, field.type)} = {_initial(module, field)}"
            lines += [declared, *_docstring(field.doc, "    ")]
    return "\n".join([*lines, ""])


def _renamed(struct: type) -> str:
    return RENAMED.get(struct.__name__, struct.__name__)


def _docstring(text: str, indent: str = "") -> list[str]:
    if not text:
        return []
    return textwrap.wrap(f'"""{plain(text)}"""', 118, initial_indent=indent, subsequent_indent=indent)


def _type(schema: Schema, of: inspect.Type) -> str:
    if "vector<bool>" in meta(of, "extra").get("cpp", ""):
        return "tuple[bool, ...]"
    match of := bare(of):
        case inspect.BoolType():
            return "bool"
        case inspect.IntType():
            return "int"
        case inspect.FloatType():
            return "float"
        case inspect.StrType():
            return "str"
        case inspect.LiteralType(values=values):
            return schema.name_of(Literal, values)
        case inspect.StructType(cls=struct):
            return _renamed(struct)
        case inspect.VarTupleType(item_type=item):
            return f"tuple[{_type(schema, item)}, ...]"
        case inspect.DictType(key_type=key, value_type=value):
            return f"dict[{_type(schema, key)}, {_type(schema, value)}]"
        case inspect.UnionType() if (inner := or_null(of)) is not None:
            return f"{_type(schema, inner)} | None"
    raise TypeError(f"no Python type for {of}")


def _initial(schema: Schema, field: Field) -> str:
    value: Any = field.initial
    if "vector" in meta(field.type, "extra").get("cpp", ""):
        return "()"
    if isinstance(value, str):
        return f'"{value}"'
    if value is not msgspec.NODEFAULT:
        return repr(value).replace("'", '"')
    of = bare(field.type)
    if isinstance(of, inspect.LiteralType):
        return f'"{schema.words(of.values)[0]}"'
    return "None" if isinstance(of, inspect.UnionType) else EMPTY[type(of)]


def _words_used(schema: Schema, struct: type[msgspec.Struct]) -> Iterator[str]:
    for field in schema.own_fields(struct):
        if isinstance(words := leaf(field.type), inspect.LiteralType):
            yield schema.name_of(Literal, words.values)
