"""Tests of the kit for adapters in Python, without a worker."""

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from middlemark.model.description import Description

KIT = Path(__file__).parents[2] / "core" / "kit" / "python"


@pytest.fixture
def kit(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(KIT))
    from middlemark_kit import worker  # type: ignore[import-not-found]

    yield worker
    for name in [each for each in sys.modules if each.startswith("middlemark_kit")]:
        del sys.modules[name]


def adapter(kit: ModuleType, **transport: Any) -> Any:
    contract, protocol = sys.modules["middlemark_kit.contract"], sys.modules["middlemark_kit.protocol"]

    class Example(contract.Adapter):  # type: ignore[misc, name-defined]
        @staticmethod
        def description() -> Any:
            return protocol.Description(
                name="example",
                title="Example",
                version="1",
                licence="MIT",
                transports=(protocol.Transport(name="udp", carrier="udp", **transport),),
            )

    return kit.Kit(Example)


def test_a_description_of_the_kit_is_a_description_of_the_schema(kit: ModuleType) -> None:
    about = msgspec.json.decode(adapter(kit).describe(), type=Description)
    assert (about.name, about.language) == ("example", "Python")
    assert about.transports[0] == msgspec.structs.replace(about.transports[0], receive=("poll", "block", "listen"))
    assert about.native["gc"].choices == ("on", "off", "freeze")


@pytest.mark.usefixtures("kit")
def test_a_field_that_the_schema_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="Transport has no field carier"):
        sys.modules["middlemark_kit.protocol"].Transport(name="udp", carier="udp")


def test_an_exception_in_a_thread_of_the_middleware_is_kept(
    kit: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    its = adapter(kit)

    def fail() -> None:
        raise ValueError("no such topic")

    before, threading.excepthook = threading.excepthook, its.note_thread_failure
    try:
        thread = threading.Thread(target=fail, name="network")
        thread.start()
        thread.join()
    finally:
        threading.excepthook = before
    assert its.thread_failure() == "ValueError in network: no such topic"
    assert "no such topic" in capsys.readouterr().err


def test_notes_are_left_for_the_other_workers(kit: ModuleType, tmp_path: Path) -> None:
    contract = sys.modules["middlemark_kit.contract"]
    values = {"scratch": str(tmp_path), "endpoints": [], "native": {}, "ipv4": "127.0.0.1"}
    notes = contract.Rendezvous(kit.settings_of(json.dumps(values)))
    assert notes.find("port") is None
    notes.leave("port", "1234")
    assert notes.find("port") == "1234"
    assert [each.name for each in tmp_path.iterdir()] == ["port"]


def mailbox(depth: int | None, message_bytes: int = 1 << 20) -> Any:
    from middlemark_kit.mailbox import Mailbox  # type: ignore[import-not-found]

    topic = sys.modules["middlemark_kit.contract"].Topic(depth=depth, message_bytes=message_bytes, service=False)
    return Mailbox(topic, writers=2)


@pytest.mark.usefixtures("kit")
def test_a_full_mailbox_with_a_depth_drops_its_oldest_message() -> None:
    kept, seen = mailbox(depth=2), []
    for number in range(6):
        kept.deliver(number)
    kept.take(seen.append)
    assert seen == [2, 3, 4, 5], "two messages of each of two publishers"


@pytest.mark.usefixtures("kit")
def test_a_full_mailbox_that_keeps_all_makes_the_library_wait() -> None:
    kept, seen = mailbox(depth=None), []
    library = threading.Thread(target=lambda: [kept.deliver(number) for number in range(100)])
    library.start()
    while len(seen) < 100:
        assert kept.wait(5.0)
        kept.take(seen.append)
    library.join()
    assert seen == list(range(100))


@pytest.mark.usefixtures("kit")
def test_a_closed_mailbox_lets_the_library_continue() -> None:
    kept = mailbox(depth=None)
    library = threading.Thread(target=lambda: [kept.deliver(number) for number in range(100)])
    library.start()
    kept.close()
    library.join()


@pytest.mark.usefixtures("kit")
def test_a_listener_gets_what_was_kept_first_and_nothing_after_its_end() -> None:
    kept, seen = mailbox(depth=10), []
    kept.deliver(1)
    kept.listen(seen.append)
    kept.deliver(2)
    kept.silence()
    kept.deliver(3)
    kept.take(seen.append)
    assert seen == [1, 2]
