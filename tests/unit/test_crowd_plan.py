"""Crowds in a plan: defaults, refusals, labels, and what a trial asks of each process."""

import resource
from pathlib import Path

import pytest
from descriptions import CYCLONE, NULL, UDP, description, transport
from planning import plan_of, problems_of, texts_of

from middlemark.model.cell import Cell
from middlemark.model.crowd import bereaved, in_processes, leavers, probe_s, sources
from middlemark.model.description import Transport
from middlemark.model.plan import Limits
from middlemark.model.protocol import ParticipantRequest
from middlemark.plan import estimate_seconds
from middlemark.plan.memory import memory_needed
from middlemark.sites import crowd_room
from middlemark.sites.channel import WorkerFailedError
from middlemark.sites.crowd_room import refuse_too_large_a_crowd, threads_needed
from middlemark.suite.read import read_suite
from middlemark.suite.table import parse_toml
from middlemark.trial.crowd_course import longest_s, newcomer_of
from middlemark.trial.tasks import Tasks, tasks_of
from middlemark.verdicts.names import WORDS

CROWD = "[[sweep]]\nadapter='udp'\npattern='crowd'\n"
SEVERAL = description("several", transport("udp", participants_per_process=500))


def cell_of(more: str = "", adapter: str = "udp") -> Cell:
    (cell,) = plan_of(f"[[sweep]]\nadapter='{adapter}'\npattern='crowd'\n{more}", (UDP, CYCLONE, NULL, SEVERAL)).cells
    return cell


def refusals_of(text: str) -> str:
    document, _ = parse_toml(text, "lan.toml")
    assert document is not None
    suite, problems = read_suite(document, "lan", "lan.toml", Path(), {})
    return "\n".join(map(str, problems)) if suite is None else "\n".join(problems_of(text))


def test_a_crowd_has_defaults_of_its_own() -> None:
    cell = cell_of()
    assert (cell.participants, cell.topics, cell.subscribe, cell.participants_per_process) == (10, 1, "next", 1)
    assert (cell.rate, cell.depth, cell.pin) == (1.0, 1, None)
    [trial, *_] = plan_of(CROWD).trials
    assert (trial.limits.duration_s, trial.limits.match_timeout_s) == (10.0, 60.0)


def test_other_patterns_have_one_participant() -> None:
    (cell,) = plan_of("[[sweep]]\nadapter='udp'\npattern='stream'").cells
    assert (cell.participants, cell.participants_per_process) == (1, 1)
    assert problems_of("[[sweep]]\nadapter='udp'\npattern='stream'\nparticipants=4") == [
        "sweep 1: participants: participants 4: only a crowd has participants; take pattern crowd"
    ]


def test_levels_of_a_crowd_are_crossed() -> None:
    cells = plan_of(CROWD + "participants=[1,4]\nsubscribe=['next','all']\ntopics=[1,2]").cells
    assert len({(each.participants, each.subscribe, each.topics) for each in cells}) == 8


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("processes=1", "participants_per_process sets how many participants share a process"),
        ("receive='poll'", "a participant that polls is never idle"),
        ("link='1gbit'", "a crowd is measured on one machine without an emulated link"),
        ("samples=100", "a crowd is measured for a time; write a duration instead"),
        ("duration='1s'", "measure for at least 3s"),
        ("publishers=2", "give participants"),
        ("rate='max'", "give a rate, such as 1 Hz"),
        ("arrivals='poisson'", "its topics are periodic"),
        ("participants=300\ntopics=10", "at most 2000 in a crowd; give at most 6 topics"),
        ("participants=501", "write a whole number from 1 to 500"),
        ("subscribe='some'", "is not a choice of topics"),
    ],
)
def test_what_a_crowd_does_not_have_is_refused(key: str, text: str) -> None:
    assert text in refusals_of(CROWD + key)


def test_a_crowd_does_not_share_a_sweep_with_another_pattern() -> None:
    text = "[[sweep]]\nadapter='udp'\npattern=['crowd','stream']\nrate=1\nduration='5s'"
    assert "write a sweep for each" in refusals_of(text)


def test_an_adapter_without_crowds_is_refused_with_its_reason() -> None:
    plain = description("plain", transport("udp", patterns=Transport(name="a", carrier="udp").patterns))
    told = description("told", transport("udp", patterns=("stream",), patterns_why="it has one session a machine"))
    assert "its adapter does not offer the pattern crowd" in problems_of(CROWD.replace("udp", "plain"), (plain,))[0]
    assert "no crowd: it has one session a machine" in problems_of(CROWD.replace("udp", "told"), (told,))[0]


def test_a_library_with_one_session_in_a_process_refuses_several() -> None:
    assert "at most 1 participant in a process" in problems_of(CROWD + "participants_per_process=4")[0]
    plan = plan_of(
        "[[sweep]]\nadapter=['udp','several']\npattern='crowd'\nparticipants_per_process=[1,4]\nskip_unsupported=true",
        (UDP, SEVERAL),
    )
    assert [(each.adapter, each.participants_per_process) for each in plan.cells] == [
        ("udp", 1),
        ("several", 1),
        ("several", 4),
    ]
    assert "udp: participants_per_process 4 left out (at most 1 participant in a process)" in "\n".join(texts_of(plan))


def test_the_topology_is_in_the_label() -> None:
    words = WORDS["pattern"]
    assert words(cell_of("participants=4\ntopics=2")) == "crowd of 4 participants × 2 topics to the next one"
    assert words(cell_of("participants=1\nsubscribe='all'")) == "crowd of 1 participant × 1 topic to all others"
    shared = cell_of("participants=4\nparticipants_per_process=2", "several")
    assert words(shared) == "crowd of 4 participants × 1 topic to the next one, 2 in a process"


def tasks(cell: Cell) -> Tasks:
    return tasks_of(
        cell,
        Limits(duration_s=5.0),
        transport("udp"),
        seed=1,
        samples_stem="/run/samples/00000",
        domain=3,
        scope="mm",
        scratch="/scratch",
        interface="lo",
    )


def test_each_process_gets_its_participants() -> None:
    found = tasks(cell_of("participants=5\nparticipants_per_process=2\ntopics=3\nrate=2", "several"))
    assert [each.who for each in found.workers] == ["participants 0 to 1", "participants 2 to 3", "participant 4"]
    assert (found.settings.participants, found.settings.topics_each, found.settings.workers) == (5, 3, 6)
    assert (found.settings.one_process, found.settings.topics) == (False, ())
    request = found.workers[2].roles[0]
    assert isinstance(request, ParticipantRequest)
    assert (request.index, request.messages, request.rate_hz, request.idle_s) == (4, 10, 2.0, 5.0)
    assert request.samples_path == "/run/samples/00000-participant-4.npy"


def test_a_participant_that_hears_nobody_keeps_no_samples() -> None:
    request = tasks(cell_of("participants=1")).workers[0].roles[0]
    assert isinstance(request, ParticipantRequest)
    assert request.samples_path == ""


def test_each_participant_hears_the_next_or_all_others() -> None:
    assert [sources(3, "next", each) for each in range(3)] == [(1,), (2,), (0,)]
    assert [sources(3, "all", each) for each in range(3)] == [(1, 2), (0, 2), (0, 1)]
    assert sources(1, "next", 0) == sources(1, "all", 0) == ()
    assert [len(each) for each in in_processes(7, 3)] == [3, 3, 1]


def test_the_last_processes_leave_with_a_tenth_of_the_participants() -> None:
    assert leavers(10, 1) == (9,)
    assert leavers(11, 1) == (9, 10)
    assert leavers(30, 4) == (24, 25, 26, 27, 28, 29)
    assert leavers(4, 3) == (3,)
    assert leavers(4, 4) == leavers(1, 1) == ()


def test_a_killed_participant_is_missed_by_those_it_subscribed_to() -> None:
    assert bereaved(4, "next", (3,)) == {0: 1}
    assert bereaved(4, "next", (2, 3)) == {0: 1}
    assert bereaved(4, "all", (2, 3)) == {0: 2, 1: 2}


def test_the_newcomer_has_the_next_index_and_keeps_nothing() -> None:
    cell = cell_of("participants=5\nparticipants_per_process=2", "several")
    task = newcomer_of(tasks(cell), cell)
    assert task.who == "the newcomer"
    [role] = task.roles
    assert isinstance(role, ParticipantRequest)
    assert (role.index, role.samples_path, role.storms) == (5, "", False)


def test_a_storm_is_in_the_label_and_in_the_requests() -> None:
    cell = cell_of("participants=4\nstorm='15s'")
    assert WORDS["pattern"](cell) == "crowd of 4 participants × 1 topic to the next one, network paused 15 s"
    [role, *_] = tasks(cell).roles.senders
    assert isinstance(role, ParticipantRequest)
    assert role.storms
    assert longest_s(cell, Limits(duration_s=5.0)) > longest_s(cell_of("participants=4"), Limits(duration_s=5.0)) + 15


def test_probes_of_a_large_crowd_are_rarer() -> None:
    assert probe_s(10, 10) == pytest.approx(0.01)
    assert probe_s(200, 10) == pytest.approx(0.2)


def test_the_estimate_includes_the_idle_phase_and_every_process() -> None:
    short, long = (estimate_seconds(plan_of(f"{CROWD}duration='{each}'\ntrials=1")) for each in ("5s", "10s"))
    assert long - short == pytest.approx(10.0)
    alone, many = (estimate_seconds(plan_of(f"{CROWD}participants={each}\ntrials=1")) for each in (2, 102))
    assert many - alone == pytest.approx(6.0)


def test_the_memory_grows_with_the_subscribers() -> None:
    limits = Limits(duration_s=10.0)
    following, everybody = (cell_of(f"participants=100\nsubscribe='{each}'") for each in ("next", "all"))
    assert memory_needed(everybody, limits) > 50 * memory_needed(following, limits)


def test_a_crowd_with_too_many_threads_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = cell_of("participants=100\nsubscribe='all'")
    assert threads_needed(cell) == 100 + 100 * (1 + 99)
    assert threads_needed(cell_of("participants=100\nsubscribe='all'\nreceive='listen'", "several")) == 200
    monkeypatch.setattr(crowd_room, "_limits_of_threads", lambda: iter([("ulimit -u", 5_000)]))
    with pytest.raises(WorkerFailedError, match="needs 10,100 threads") as refused:
        refuse_too_large_a_crowd(cell)
    assert "--receive listen" in refused.value.advice
    refuse_too_large_a_crowd(cell_of("participants=10"))


def test_a_crowd_with_too_many_processes_for_the_open_files_is_refused() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        refuse_too_large_a_crowd(cell_of("participants=10"))
        with pytest.raises(OSError, match="Too many open files"):
            refuse_too_large_a_crowd(cell_of("participants=100"))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
