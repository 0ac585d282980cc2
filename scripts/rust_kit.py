"""Generates the Rust kit's structs from the schema: an adapter's description and the request of a trial."""

import json
import textwrap
from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from declarations import Field, Schema, bare, leaf, meta, or_null, plain
from msgspec import inspect

from middlemark.model import description, protocol

TYPES = {
    "int": "i32",
    "unsigned": "u32",
    "std::uint32_t": "u32",
    "std::int64_t": "i64",
    "std::size_t": "usize",
    "std::vector<bool>": "Vec<bool>",
}
"""The Rust type for each C++ type that the schema contains."""
RENAMED = {"type": "kind", "CompanionSpec": "Companion"}
"""Names in Rust: ``type`` is a keyword of Rust, and Python's ``Companion`` is a process."""


def rust_description(schema: Schema, structs: tuple[type[msgspec.Struct], ...]) -> str:
    """Return core/kit/rust/src/description.rs."""
    lines = [
        f"//! Written by scripts/protocol from {schema.file}: change that.",
        "//!",
        "//! The description of an adapter. C++ receives it as JSON, once, before anything runs. Its texts live as",
        "//! long as the process: `String::leak` turns a text that is made at run time into one.",
        "#![cfg_attr(rustfmt, rustfmt_skip)]",
        "",
        "use std::collections::BTreeMap;",
        "",
        "use crate::json::{described, words};",
        "",
        *_comment(schema.docs["DEFAULT_CONFIGURATION"]),
        f'pub const DEFAULT_CONFIGURATION: &str = "{description.DEFAULT_CONFIGURATION}";',
    ]
    assert schema.base is not None
    used = {name for struct in (*structs, protocol.Settings) for name in _words_used(schema, struct)}
    for module in (schema.base, schema):
        for name, words in module.literals:
            if name in used:
                lines += ["", *_enumeration(name, words, module.docs.get(name, ""))]
    for struct in structs:
        lines += ["", *_struct(schema, struct)]
    lines += ["", "#[cfg(test)]", "mod tests {", "    use super::*;", "    use crate::json::json_of;"]
    for name in ("Description", "CompanionSpec"):
        lines += ["", *_test(schema, sample(inspect.type_info(schema.declared[name])))]
    return "\n".join([*lines, "}", ""])


def sample(of: inspect.Type, default: Any = msgspec.NODEFAULT) -> Any:
    """Return a value of the type that differs from its default."""
    match of := bare(of):
        case inspect.BoolType():
            return default is not True
        case inspect.IntType():
            return of.le if of.le and of.le < 16 else 20
        case inspect.FloatType():
            return 2.5
        case inspect.StrType():
            return 'so "so"'
        case inspect.LiteralType(values=values):
            return max({*values} - {default})
        case inspect.VarTupleType(item_type=item):
            return (sample(item),)
        case inspect.DictType(value_type=value):
            return {"so": sample(value)}
        case inspect.UnionType() if (inner := or_null(of)) is not None:
            return sample(inner)
        case inspect.StructType(cls=struct, fields=fields):
            return struct(**{field.name: sample(field.type, field.default) for field in fields})
    raise TypeError(f"no sample of {of}")


def _test(schema: Schema, full: msgspec.Struct) -> list[str]:
    """Return a Rust test that the crate writes this value as msgspec does."""
    name = _renamed(type(full).__name__)
    return [
        "    #[test]",
        f"    fn every_field_of_a_{name.lower()}_is_written_as_the_schema_has_it() {{",
        f"        let full = {_value(schema, full, inspect.type_info(type(full)))};",
        f'        assert_eq!(json_of(&full), r#"{msgspec.json.encode(full).decode()}"#);',
        "    }",
    ]


def rust_request(schema: Schema) -> str:
    """Return core/kit/rust/src/request.rs."""
    lines = [
        f"//! Written by scripts/protocol from {schema.file}: change that.",
        "//! core/kit/rust_request.hpp has the same layout.",
        "#![cfg_attr(rustfmt, rustfmt_skip)]",
        "",
        "use crate::description::*;",
        "use crate::settings::{Maybe, Text};",
        "",
        *_comment(schema.docs["Settings"]),
        "#[repr(C)]",
        "pub struct Request {",
    ]
    for field, kind in _shown(schema):
        lines += [*_comment(field.doc, "    "), f"    pub {_renamed(field.name)}: {kind},"]
    return "\n".join([*lines, "}", ""])


def cpp_request(schema: Schema) -> str:
    """Return core/kit/rust_request.hpp."""
    members = [(field.name, field.name.removesuffix("_ns")) for field, _ in _shown(schema)]
    return "\n".join(
        [
            f"// Written by scripts/protocol from {schema.file}: change that.",
            "// The crate's request.rs has the same layout.",
            "#pragma once",
            "",
            "#include <middlemark/kit/rust_views.hpp>",
            "#include <middlemark/protocol.hpp>",
            "",
            "// clang-format off",
            "namespace middlemark::kit::rust {",
            "",
            "struct RequestView {",
            *(f"  decltype(shown(RequestedSettings::{member})) {name};" for name, member in members),
            "};",
            "",
            "[[nodiscard]] inline RequestView shown(const RequestedSettings& own) {",
            f"  return {{{', '.join(f'shown(own.{member})' for _, member in members)}}};",
            "}",
            "",
            "}  // namespace middlemark::kit::rust",
            "",
        ]
    )


def _shown(schema: Schema) -> Iterator[tuple[Field, str]]:
    """Yield the fields of a request that are single values, and their types in Rust. Lists are passed differently."""
    for field in schema.own_fields(protocol.Settings):
        if isinstance(bare(field.type), inspect.VarTupleType | inspect.DictType):
            continue
        if meta(field.type, "extra").get("cpp") == "std::chrono::nanoseconds":
            field.name = f"{field.name.removesuffix('_s')}_ns"
            yield field, "u64"
            continue
        kind = _type(schema, field.type)
        yield field, "Text<'static>" if kind == "&'static str" else kind.replace("Option<", "Maybe<")


def _words_used(schema: Schema, struct: type[msgspec.Struct]) -> Iterator[str]:
    for field in schema.own_fields(struct):
        if isinstance(words := leaf(field.type), inspect.LiteralType):
            yield schema.name_of(Literal, words.values)


def _enumeration(name: str, words: tuple[str, ...], doc: str) -> list[str]:
    listed = ", ".join(f'{_variant(each)} = "{each}"' for each in words)
    return ["words! {", *_comment(doc), f"pub enum {name} {{ {listed} }}", "}"]


def _struct(schema: Schema, struct: type[msgspec.Struct]) -> list[str]:
    lines = ["described! {", *_comment(schema.docs[struct.__name__]), f"pub struct {_renamed(struct.__name__)} {{"]
    for field in schema.own_fields(struct):
        declared = f"{_renamed(field.name)}: {_type(schema, field.type)}"
        initial = _initial(schema, field.initial, field.type)
        lines += [*_comment(field.doc, "    "), f'    "{field.key}" => pub {declared} = {initial},']
    return [*lines, "}", "}"]


def _type(schema: Schema, of: inspect.Type) -> str:
    if "cpp" in meta(of, "extra"):
        return TYPES[meta(of, "extra")["cpp"]]
    match of := bare(of):
        case inspect.BoolType():
            return "bool"
        case inspect.FloatType():
            return "f64"
        case inspect.StrType():
            return "&'static str"
        case inspect.LiteralType(values=values):
            return schema.name_of(Literal, values)
        case inspect.StructType(cls=struct):
            return _renamed(struct.__name__)
        case inspect.VarTupleType(item_type=item):
            return f"Vec<{_type(schema, item)}>"
        case inspect.DictType(key_type=key, value_type=value):
            return f"BTreeMap<{_type(schema, key)}, {_type(schema, value)}>"
        case inspect.UnionType() if (inner := or_null(of)) is not None:
            return f"Option<{_type(schema, inner)}>"
    raise TypeError(f"no Rust type for {of}")


def _initial(schema: Schema, value: Any, of: inspect.Type) -> str:
    if value is msgspec.NODEFAULT or value in ("", (), {}, None):
        return "Default::default()"
    return _value(schema, value, of)


def _value(schema: Schema, value: Any, of: inspect.Type) -> str:
    """Return a value of the type as Rust code."""
    optional = isinstance(bare(of), inspect.UnionType) and not isinstance(value, tuple)
    match of := leaf(of):
        case inspect.LiteralType(values=values) if isinstance(value, str):
            text = f"{schema.name_of(Literal, values)}::{_variant(value)}"
        case inspect.StructType(cls=struct, fields=fields) if isinstance(value, struct):
            members = (
                f"{_renamed(each.name)}: {_value(schema, getattr(value, each.name), each.type)}" for each in fields
            )
            text = f"{_renamed(struct.__name__)} {{ {', '.join(members)} }}"
        case inspect.DictType(value_type=kind):
            entries = (f"({json.dumps(key)}, {_value(schema, item, kind)})" for key, item in value.items())
            text = f"BTreeMap::from([{', '.join(entries)}])"
        case _ if isinstance(value, tuple):
            text = f"vec![{', '.join(_value(schema, item, of) for item in value)}]"
        case _:
            text = json.dumps(value)  # strings, numbers and booleans look the same in JSON and Rust
    return f"Some({text})" if optional else text


def _renamed(name: str) -> str:
    return RENAMED.get(name, name)


def _variant(word: str) -> str:
    return "".join(part.capitalize() for part in word.replace("C++", "cpp").split("-"))


def _comment(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(plain(text), 120, initial_indent=f"{indent}/// ", subsequent_indent=f"{indent}/// ")
