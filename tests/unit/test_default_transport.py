"""The transport ``default``: the default configuration, planned only by name; the middleware chooses a transport."""

import pytest
from descriptions import EVERYONE, description, transport
from planning import pairs_of, plan_of, problems_of
from stats_cases import DESCRIPTIONS, cell, outcome, plan

from middlemark.stats.baselines import nearest_raw_transports, used_another_transport

OWN = transport("default", carrier="any", segments=("ring.*",))
PLAIN = description("plain", transport("udp"), OWN)
ONLY_OWN = description("bare", OWN)
HERE = (*EVERYONE, PLAIN, ONLY_OWN)
KNOWN = {**DESCRIPTIONS, "dds": description("dds", transport("udp"), OWN)}


def written(transports: str) -> str:
    return f'[[sweep]]\nadapter = ["plain", "bare"]\ntransport = {transports}\n'


@pytest.mark.parametrize(
    ("transports", "measured"),
    [
        ('"all"', ["plain udp", "bare default"]),
        ('["all", "default"]', ["plain udp", "plain default", "bare default"]),
        ('["default"]', ["plain default", "bare default"]),
    ],
)
def test_the_default_transport_is_used_if_named_or_if_it_is_the_only_one(transports: str, measured: list[str]) -> None:
    assert pairs_of(plan_of(written(transports), HERE)) == measured


def test_the_default_transport_is_not_used_without_being_named() -> None:
    assert pairs_of(plan_of('[[sweep]]\nadapter = "plain"\n', HERE)) == ["plain udp"]


def test_a_baseline_has_no_default_transport_and_the_others_are_still_planned() -> None:
    planned = pairs_of(plan_of('[[sweep]]\ntransport = ["all", "default"]\n', HERE))
    assert {"shm shm", "cyclonedds udp", "plain default"} <= set(planned)
    assert "shm default" not in planned


def test_all_excludes_every_other_name_but_default() -> None:
    with pytest.raises(AssertionError, match="'all' includes the other names"):
        problems_of(written('["all", "udp"]'), HERE)


def test_a_search_over_an_unknown_actual_transport_has_two_baselines() -> None:
    from planning import suite_of

    from middlemark.plan import make_plan

    text = '[[sweep]]\nadapter = "plain"\ntransport = "default"\npattern = "stream"\nrate = "sustainable"\n'
    plan = make_plan([suite_of(text, baseline=True)], HERE, cpus=(0, 1), seed=1, absent={})
    assert {each.adapter for each in plan.cells} == {"plain", "shm", "udp"}


@pytest.mark.parametrize(
    ("seen", "label"), [("udp", "udp"), ("shared-memory", "shm"), ("process-memory", "shm"), (None, "shm")]
)
def test_the_raw_transport_of_a_default_configuration_follows_its_actual_transport(
    seen: str | None, label: str
) -> None:
    cells = [cell(transport="default"), cell("udp"), cell("shm", "shm")]
    found = nearest_raw_transports(cells, [3.0, 2.0, 1.0], KNOWN, [seen, "udp", "shared-memory"])[0]
    assert found is not None
    assert found.label == label


def test_no_actual_transport_contradicts_the_default_configuration() -> None:
    over_tcp = outcome(plan(cell()).trials[0], actual_transport="tcp")
    assert not used_another_transport(cell(transport="default"), over_tcp, KNOWN)
    assert used_another_transport(cell(transport="udp"), over_tcp, KNOWN)
