"""Reads machine-readable outputs and checks them against their published schema."""

import functools
import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMAS = Path(__file__).resolve().parents[1] / "docs/reference/schema"


def read_output(name: str, text: str) -> Any:
    """Return the document that a command printed, checked against docs/reference/schema/NAME.schema.json."""
    document = json.loads(text)
    wrong = [f"{each.json_path}: {each.message[:300]}" for each in validator(name).iter_errors(document)]
    assert not wrong, f"{name}: {wrong}"
    return document


@functools.cache
def validator(name: str) -> Draft202012Validator:
    """Return the validator for the schema of that name."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)
