"""The output of `doctor`, and the requirements of a plan on the machine."""

import pytest
from descriptions import EVERYONE
from planning import plan_of

from middlemark.runs.needs import needs_of
from middlemark.show import View
from middlemark.show.doctor import render_text
from middlemark.show.json.machine import doctor_output
from middlemark.show.json.output import printed
from middlemark.system.check import Finding, Severity
from middlemark.system.tried import Tried
from outputs import read_output


def finding(severity: Severity, check: str = "mtu", remedy: str = "ip link") -> Finding:
    return Finding(check=check, severity=severity, seen="it is low", why="it costs", rows="udp", remedy=remedy)


@pytest.mark.parametrize(
    ("severities", "answer"),
    [
        ([], "Nothing here falsifies or limits results, by 50 checks for middlewares in general."),
        (["note"], "Nothing here falsifies or limits results, by 50 checks for middlewares in general."),
        (["limits"], "1 thing will limit results here, by 50 checks for middlewares in general."),
        (["falsifies", "falsifies"], "2 things will falsify results here, by 50 checks for middlewares in general."),
        (
            ["falsifies", "limits", "limits", "note"],
            "1 thing will falsify results here, 2 things will limit them, by 50 checks for middlewares in general.",
        ),
    ],
)
def test_the_first_line_is_the_answer(severities: list[Severity], answer: str) -> None:
    assert (
        render_text([finding(each) for each in severities], 50, None, View(width=120), None).splitlines()[0] == answer
    )


def test_a_command_has_its_own_line_and_is_never_wrapped() -> None:
    long = "sysctl -w " + " ".join(f"net.core.setting_{number}=1" for number in range(20))
    lines = render_text([finding("limits", remedy=long)], 50, None, View(width=60), None).splitlines()
    assert f"    {long}" in lines
    assert max(len(line) for line in lines if line.strip() != long) <= 100


def test_notes_are_one_line_each_unless_verbose() -> None:
    found = [finding("note", check="turbo")]
    short, long = (render_text(found, 50, None, View(warnings=each), "car") for each in (False, True))
    assert "turbo  it is low" in short
    assert "it costs" not in short
    assert "why: it costs" in long
    assert "for the suite car" in short


def test_control_characters_from_others_are_removed() -> None:
    evil = Finding(check="environment", severity="falsifies", seen="X=\033[2J\n", why="", rows="", remedy="unset X\033")
    assert "\033" not in render_text([evil], 50, None, View(), None)
    assert read_output("doctor", printed(doctor_output([evil], 50, None)))["probes"] == {}


def test_tried_measurements_are_shown_and_the_others_have_a_reason() -> None:
    tried = Tried(line_ns=540.0, gaps_hz=471.2, longest_gap_ns=56_000.0, absent=("not built: udp",))
    shown = render_text([], 50, tried, View(), None)
    facts = [each.strip().split("  ", 1) for each in shown.splitlines() if each.startswith("  ")]
    assert [(name, text.strip()) for name, text in facts] == [
        ("a line between processors, there and back", "0.54 µs"),
        ("a spinning thread stops", "471 times a second, the longest 56.0 µs"),
        ("not tried", "not built: udp"),
    ]
    assert "TCP" not in shown


def test_the_needs_of_a_plan_are_those_of_its_rows() -> None:
    text = (
        '[[sweep]]\nadapter = ["udp", "shm"]\nsize = ["64", "1m"]\nreceive = "poll"\npriority = "fifo:70"\ntrials = 1\n'
    )
    needs = needs_of(plan_of(text), EVERYONE, "eth1")
    assert {(row.name, row.size, row.carriers) for row in needs.rows} == {
        ("udp", 64, ("udp",)),
        ("udp", 1 << 20, ("udp",)),
        ("shm", 64, ("shared-memory",)),
        ("shm", 1 << 20, ("shared-memory",)),
    }
    assert {(row.polls, row.priority, row.cpus, row.roles) for row in needs.rows} == {(True, 70, (0, 1), 2)}
    assert needs.interfaces == ("eth1",)
    assert needs.adapters == ("udp", "shm")
    assert needs.shm_bytes >= 2 << 20
    assert needs.memory_bytes > 0
    assert not needs.sleeping
