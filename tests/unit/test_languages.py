"""The output about adapters' languages, and the option that selects one language."""

import msgspec
import pytest
from click.testing import CliRunner
from descriptions import CYCLONE, RAW_TRANSPORTS, description, transport

from middlemark.commands import list as listing
from middlemark.model.description import Description, Worker
from middlemark.problems import RequestError
from middlemark.runs.conduct import Built

PYZMQ = description("pyzmq", transport("tcp"), language="Python")


def built(*adapters: Description) -> Built:
    return Built({each.name: Worker(f"/x/{each.name}", each) for each in adapters}, {})


def test_a_language_restricts_the_middlewares_and_keeps_the_raw_transports() -> None:
    here = built(*RAW_TRANSPORTS, CYCLONE, PYZMQ)
    assert set(here.in_language("Python").workers) == {*(each.name for each in RAW_TRANSPORTS), "pyzmq"}
    assert here.in_language(None) == here


def test_a_language_without_a_middleware_is_refused_with_the_next_step() -> None:
    with pytest.raises(RequestError) as refused:
        built(*RAW_TRANSPORTS, CYCLONE).in_language("Rust")
    (problem,) = refused.value.problems
    assert problem.place == "--language"
    assert problem.text.startswith("no requested adapter that is built is in Rust; ")


def test_a_description_without_a_language_is_of_an_adapter_in_cpp() -> None:
    fields = msgspec.to_builtins(CYCLONE)
    del fields["language"]
    assert msgspec.convert(fields, Description).language == "C++"


def test_the_list_of_adapters_names_every_language_but_cpp(monkeypatch: pytest.MonkeyPatch) -> None:
    python = description("udp-python", transport("udp"), is_raw_transport=True, language="Python", title="UDP")
    workers = [Worker("/x", each) for each in (CYCLONE, PYZMQ, python)]
    monkeypatch.setattr(listing, "find_workers", lambda: (workers, ()))
    monkeypatch.setattr(listing, "left_out", dict)
    lines = CliRunner().invoke(listing.adapters).output.splitlines()
    assert "(" not in lines[0]
    assert lines[1].endswith("pyzmq (Python): tcp")
    assert lines[2].endswith("UDP (raw transport, Python): udp")
