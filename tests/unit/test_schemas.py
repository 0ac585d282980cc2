"""The schemas in docs/reference/schema/ match the printed structs, and refuse any other document."""

import subprocess
import sys
from pathlib import Path

import pytest

from middlemark.show.json import OUTPUTS
from middlemark.show.json.output import printed
from middlemark.suite.frameworks import frameworks
from outputs import SCHEMAS, read_output, validator

ROOT = Path(__file__).parents[2]


def test_the_schemas_match_the_structs() -> None:
    argv = [sys.executable, ROOT / "scripts/schema", "--check"]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(ROOT / "src")})
    assert ran.returncode == 0, ran.stderr
    assert {path.name for path in SCHEMAS.glob("*.json")} == {f"{name}.schema.json" for name in OUTPUTS}


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_document_without_its_keys_is_refused(name: str) -> None:
    missing = {each.message.split("'")[1] for each in validator(name).iter_errors({})}
    assert missing == set(validator(name).schema["required"])
    assert missing


def test_a_figure_that_is_text_is_refused() -> None:
    figures = {"anyOf": [{"$ref": "#/$defs/Summary"}, {"type": "null"}], "$defs": validator("run").schema["$defs"]}
    checked = validator("run").evolve(schema=figures)
    quantiles = dict.fromkeys(figures["$defs"]["Summary"]["required"], 1.5)  # type: ignore[index]
    assert checked.is_valid(quantiles)
    assert checked.is_valid(None)
    assert not checked.is_valid(quantiles | {"p50": "1.5"})
    assert not checked.is_valid({})


def test_the_list_of_frameworks_matches_its_schema() -> None:
    assert read_output("list-frameworks", printed(frameworks()))["framework"]
