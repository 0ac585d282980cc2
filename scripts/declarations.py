"""The modules of the schema as ``scripts/protocol`` reads them: structs, fields and words, with their docstrings."""

import ast
import itertools
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import msgspec
from msgspec import inspect

ROOT = Path(__file__).resolve().parent.parent


class Field:
    """One field of a struct."""

    def __init__(self, told: inspect.Field, doc: str) -> None:
        """``doc`` is its docstring."""
        self.name = told.name
        self.key = told.encode_name
        """Its name in JSON."""
        self.doc = doc
        self.type = told.type
        self.required = told.required
        self.default = told.default if told.default_factory is msgspec.NODEFAULT else told.default_factory()

    @property
    def initial(self) -> Any:
        """What the structs of other languages begin with; NODEFAULT: with nothing."""
        examples = meta(self.type, "extra_json_schema").get("examples", ()) if self.required else ()
        return examples[0] if examples else self.default

    @property
    def constant(self) -> str | None:
        """The one value that it can have; None: it has several."""
        values = self.type.values if isinstance(self.type, inspect.LiteralType) else ()
        return str(values[0]) if len(values) == 1 else None


class Schema:
    """One module of the schema: what it declares, in order, and the docstrings."""

    def __init__(self, module: ModuleType, base: "Schema | None" = None) -> None:
        """Read the module's source, too: Python keeps no docstrings of fields. ``base``: of the module it imports."""
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
        """Return the fields that the struct has beyond those of its base."""
        inherited = getattr(struct.__base__, "__struct_fields__", ())
        told = inspect.type_info(struct)
        assert isinstance(told, inspect.StructType)
        own = (each for each in told.fields if each.name not in inherited)
        return [Field(each, self.docs.get(f"{struct.__name__}.{each.name}", "")) for each in own]

    def name_of(self, origin: object, members: Any) -> str:
        """Return what the schema calls the words or the union of these members."""
        wanted = frozenset(members)
        for name, each in self.declared.items():
            if (typing.get_origin(each) or type(each)) is origin and frozenset(typing.get_args(each)) == wanted:
                return name
        if self.base is not None:
            return self.base.name_of(origin, members)
        raise LookupError(f"{self.file}: give a name to the choice of {sorted(map(str, wanted))}")

    def words(self, values: Any) -> tuple[str, ...]:
        """Return those words in the order in which they are declared."""
        name = self.name_of(Literal, values)
        known = self.declared[name] if name in self.declared or self.base is None else self.base.declared[name]
        return typing.get_args(known)

    @property
    def literals(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The names of its enumerations and their words."""
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
    """Return what the type's ``Meta`` has under that name."""
    return (getattr(of, which) or {}) if isinstance(of, inspect.Metadata) else {}


def bare(of: inspect.Type) -> inspect.Type:
    """Return the type without its ``Meta``."""
    return bare(of.type) if isinstance(of, inspect.Metadata) else of


def or_null(of: inspect.UnionType) -> inspect.Type | None:
    """Return X of a union of X and null; None: it is another union."""
    others = [each for each in of.types if not isinstance(each, inspect.NoneType)]
    return others[0] if len(others) == 1 else None


def leaf(of: inspect.Type) -> inspect.Type:
    """Return what a list or an optional is made of."""
    match of := bare(of):
        case inspect.VarTupleType(item_type=item):
            return leaf(item)
        case inspect.UnionType() if (inner := or_null(of)) is not None:
            return leaf(inner)
    return of


def plain(text: str) -> str:
    """Return a docstring as one line with single backticks."""
    return re.sub(r"\s+", " ", text.replace("``", "`")).strip()
