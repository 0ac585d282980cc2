"""In a container that lacks something for a run, the message has the flags that are needed, and no others."""

import msgspec
import pytest
from report_runs import cell

from middlemark.sites import container
from middlemark.sites.container import LITTLE_SHM_BYTES, Container, lacking, this_container

GOOD = Container(shm_bytes=1 << 30, sys_nice=True, most_priority=99, memlock_bytes=None)
ALL = [cell(), cell(priority="fifo:80"), cell(mlock=True)]


def test_a_container_that_lacks_nothing_gets_no_message() -> None:
    assert lacking(GOOD, ALL) == []


@pytest.mark.parametrize(
    ("changed", "flags"),
    [
        ({"shm_bytes": LITTLE_SHM_BYTES}, ["--shm-size 1g"]),
        ({"sys_nice": False}, []),  # the limit is enough without the capability
        ({"most_priority": 0}, []),  # the capability is enough without the limit
        ({"sys_nice": False, "most_priority": 50}, ["--cap-add SYS_NICE --ulimit rtprio=99"]),
        ({"memlock_bytes": 8 << 20}, ["--ulimit memlock=-1"]),
    ],
)
def test_each_missing_limit_is_named_with_its_flag(changed: dict[str, object], flags: list[str]) -> None:
    found = lacking(msgspec.structs.replace(GOOD, **changed), ALL)
    assert [each.rpartition(": ")[2] for each in found] == flags


def test_a_limit_that_no_configuration_needs_is_not_reported() -> None:
    poor = Container(shm_bytes=1 << 30, sys_nice=False, most_priority=0, memlock_bytes=0)
    assert lacking(poor, [cell()]) == []


def test_a_marked_process_is_read_as_a_container(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("container", "podman")
    found = this_container()
    assert found is not None
    assert found.shm_bytes > 0
    monkeypatch.setattr(container, "_effective_capabilities", lambda: 0)
    assert this_container() == msgspec.structs.replace(found, sys_nice=False)
