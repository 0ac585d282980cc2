"""Reads the schema's modules for ``scripts/protocol``: structs, fields and enumerations, with their docstrings."""

import ast
import itertools
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import msgspec
from generated import ROOT
from msgspec import inspect


class Field:
    """One field of a struct."""

    def __init__(self, field: inspect.Field, doc: str) -> None:
        """``field``: the field as msgspec inspects it. ``doc``: its docstring."""
        self.name = field.name
        self.key = field.encode_name
        """The field's name in JSON."""
        self.doc = doc
        self.type = field.type
        self.required = field.required
        self.default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()

    @property
    def initial(self) -> Any:
        """Return the initial value in structs of other languages; NODEFAULT if there is none."""
        examples = meta(self.type, "extra_json_schema").get("examples", ()) if self.required else ()
        return examples[0] if examples else self.default

    @property
    def constant(self) -> str | None:
        """Return the only value that the field can have; None if there are several."""
        values = self.type.values if isinstance(self.type, inspect.LiteralType) else ()
        return str(values[0]) if len(values) == 1 else None


class Schema:
    """One module of the schema: its declarations, in order, and their docstrings."""

    def __init__(self, module: ModuleType, base: "Schema | None" = None) -> None:
        """Read the module, and its source for the docstrings of fields. ``base``: the schema module that it imports."""
        source = Path(str(module.__file__))
        self.file = source.relative_to(ROOT)
        self.base = base
        self.docs: dict[str, str] = {}
        self.declared: dict[str, Any] = {}
        body = ast.parse(source.read_text(encoding="utf-8")).body
        self.docs |= _docs_of(body)
        for node in body:
            if isinstance(node, ast.ClassDef):
                self.declared[node.name] = getattr(module, node.name)
                self.docs[node.name] = ast.get_docstring(node) or ""
                self.docs |= {f"{node.name}.{field}": text for field, text in _docs_of(node.body).items()}
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.declared[node.targets[0].id] = getattr(module, node.targets[0].id)

    def own_fields(self, struct: type[msgspec.Struct]) -> list[Field]:
        """Return the struct's fields without the fields of its base."""
        inherited = getattr(struct.__base__, "__struct_fields__", ())
        info = inspect.type_info(struct)
        assert isinstance(info, inspect.StructType)
        own = (field for field in info.fields if field.name not in inherited)
        return [Field(field, self.docs.get(f"{struct.__name__}.{field.name}", "")) for field in own]

    def name_of(self, origin: object, members: Any) -> str:
        """Return the schema's name for the enumeration or union of these members."""
        wanted = frozenset(members)
        for name, each in self.declared.items():
            if (typing.get_origin(each) or type(each)) is origin and frozenset(typing.get_args(each)) == wanted:
                return name
        if self.base is not None:
            return self.base.name_of(origin, members)
        raise LookupError(f"{self.file}: give a name to the choice of {sorted(map(str, wanted))}")

    def words(self, values: Any) -> tuple[str, ...]:
        """Return these words in the order of their declaration."""
        name = self.name_of(Literal, values)
        declared = self.declared[name] if name in self.declared or self.base is None else self.base.declared[name]
        return typing.get_args(declared)

    @property
    def literals(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the names of the module's enumerations and their words."""
        for name, each in self.declared.items():
            if typing.get_origin(each) is Literal:
                yield name, typing.get_args(each)


def _docs_of(body: list[ast.stmt]) -> dict[str, str]:
    """Return the docstring after each name that is assigned or annotated in ``body``."""
    found = {}
    for node, after in itertools.pairwise(body):
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [None])
        target = targets[0]
        if isinstance(target, ast.Name) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            found[target.id] = re.sub(r"\s*\n\s*", " ", str(after.value.value))
    return found


def meta(of: inspect.Type, which: str) -> dict[str, Any]:
    """Return a member of the type's ``Meta``."""
    return (getattr(of, which) or {}) if isinstance(of, inspect.Metadata) else {}


def bare(of: inspect.Type) -> inspect.Type:
    """Return the type without its ``Meta``."""
    return bare(of.type) if isinstance(of, inspect.Metadata) else of


def or_null(of: inspect.UnionType) -> inspect.Type | None:
    """Return X if the union is X or null; None for other unions."""
    others = [each for each in of.types if not isinstance(each, inspect.NoneType)]
    return others[0] if len(others) == 1 else None


def leaf(of: inspect.Type) -> inspect.Type:
    """Return the element type of a list or an optional."""
    match of := bare(of):
        case inspect.VarTupleType(item_type=item):
            return leaf(item)
        case inspect.UnionType() if (inner := or_null(of)) is not None:
            return leaf(inner)
    return of


def plain(text: str) -> str:
    """Return a docstring as one line, with single backticks."""
    return re.sub(r"\s+", " ", text.replace("``", "`")).strip()
