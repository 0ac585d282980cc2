"""The protocol's schema: generated files are checked in unchanged, and a new field appears in all of them."""

import re
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Annotated

import msgspec
import pytest

from middlemark.model import description, protocol, samples

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    loader = SourceFileLoader("generator", str(ROOT / "scripts/protocol"))
    spec = spec_from_loader("generator", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_the_generated_files_match_the_generator(generator: ModuleType) -> None:
    for path, text in generator.written():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run scripts/protocol"


def test_every_message_and_record_is_in_the_document(generator: ModuleType) -> None:
    marked = " ".join(
        re.findall(r"<!-- scripts/protocol: ([\w ]+) -->", (ROOT / "docs/reference/protocol.md").read_text())
    )
    for module in (protocol, description, samples):
        declared = generator.Schema(module).declared
        structs = {
            name for name, each in declared.items() if isinstance(each, type) and issubclass(each, msgspec.Struct)
        }
        assert structs - set(marked.split()) <= {"Message", "CompanionsRequest", "Worker", "BrokenWorker"}


def test_a_new_field_in_the_schema_reaches_the_core_and_the_document(generator: ModuleType) -> None:
    class StopCommand(protocol.StopCommand, frozen=True, kw_only=True, tag_field="command", tag="stop"):
        """Ends the roles, with a new field."""

        within_s: Annotated[protocol.Seconds, msgspec.Meta(examples=[3.0])]

    schema = generator.Schema(protocol)
    schema.docs |= {"StopCommand.within_s": "They have so long."}
    struct = "\n".join(generator.cpp_struct(schema, StopCommand))
    assert "  double within_s = 3;" in struct
    assert 'Field{"within_s", &StopCommand::within_s, Presence::required, {.above = 0, .most = 1e+09}}' in struct
    assert "| `within_s` | number, > 0, ≤ 1e+09 | They have so long. |" in generator.table(schema, StopCommand)


@pytest.mark.parametrize(
    "message",
    [
        protocol.StopCommand(expected=7),
        protocol.Load(kind="rate", rate_hz=5.0),
        protocol.PongRequest(index=1, payload="filled", echoes=False, echoing=2),
        protocol.SeenEvent(scope="workers", spells=((1, 2, 3),)),
    ],
)
def test_a_written_message_reads_back_as_the_same(message: protocol.Message) -> None:
    assert msgspec.json.decode(msgspec.json.encode(message), type=type(message)) == message
