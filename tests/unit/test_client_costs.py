"""The cost of a client's language: a verdict only if the same version of the same library is in both rows."""

import json

import pytest
from descriptions import description, transport
from report_runs import ADAPTERS, answers_of, cell, data_of, document_of, run_of

from middlemark.model.description import Description
from middlemark.show import render
from middlemark.verdicts.experiments import Standing

LYRA = description(
    "lyra",
    transport("udp"),
    transport("shm", carrier="shared-memory"),
    library="/usr/lib/liblyra.so.5.2",
    version="4.3",
)


def client(implementation: str) -> Description:
    return description(
        "pylyra",
        transport("udp"),
        transport("shm", carrier="shared-memory"),
        version="27.1",
        language="Python",
        client_of="lyra",
        implementation=implementation,
    )


def measured(implementation: str, trials: int = 8, times: float = 2.0):  # type: ignore[no-untyped-def]
    """Return a run of lyra and its client, whose round trips take ``times`` as long."""
    scatter = [1 + 0.01 * at for at in range(trials)]
    return run_of(
        {
            cell("lyra"): [10_000 * each for each in scatter],
            cell("pylyra"): [10_000 * times * each for each in reversed(scatter)],
            cell("vega"): [5_000 * each for each in scatter],
        },
        adapters=(*(each for each in ADAPTERS if each.name != "lyra"), LYRA, client(implementation)),
    )


@pytest.mark.parametrize(
    ("times", "standing"), [(2.0, Standing.SLOWER), (0.5, Standing.BEST), (1.0, Standing.EQUIVALENT)]
)
def test_a_client_of_the_same_library_is_judged_beside_its_middleware_and_not_beside_the_best(
    times: float, standing: Standing
) -> None:
    [cost] = document_of(measured("liblyra 4.3", times=times)).languages
    assert (cost.client.name, cost.middleware.name) == ("pylyra udp", "lyra udp")
    assert cost.libraries == ("liblyra 4.3", "liblyra 4.3")
    assert cost.times == pytest.approx(times, rel=0.02)
    assert cost.standing is standing


def test_a_client_with_too_few_trials_has_no_verdict() -> None:
    [cost] = document_of(measured("liblyra 4.3", trials=3)).languages
    assert cost.standing is Standing.TOO_FEW_TRIALS


@pytest.mark.parametrize("implementation", ["liblyra 4.4", "pure.lyra 4.3", ""])
def test_with_another_version_or_library_there_is_no_verdict_on_the_language(implementation: str) -> None:
    [cost] = document_of(measured(implementation)).languages
    assert not cost.same_library
    assert cost.standing is None


@pytest.mark.parametrize(
    ("implementation", "expected"),
    [
        (
            "liblyra 4.3",
            "pylyra udp and lyra udp, both with liblyra 4.3: "
            "Python takes 2.00 × as long at 64 B (significantly slower).",
        ),
        (
            "pure.lyra 2",
            "pylyra udp and lyra udp: language and library differ (pure.lyra 2, liblyra 4.3), so there is no verdict "
            "on Python; pylyra udp takes 2.00 × as long at 64 B.",
        ),
    ],
)
def test_text_markdown_and_the_report_have_the_same_sentence_for_a_client(implementation: str, expected: str) -> None:
    run = measured(implementation)
    assert answers_of(run)[-1] == expected
    document = document_of(run)
    assert expected in " ".join(render("markdown", document).split())
    assert data_of(run).answers[-1].text == expected
    shown = " ".join(render("summary", document).split())
    assert f"Language {expected}" in shown


def test_json_has_the_libraries_of_both_rows_and_no_standing_if_they_differ() -> None:
    document = json.loads(render("json", document_of(measured("liblyra 4.4"))))
    [found] = document["languages"]
    assert document["cells"][found["cell"]]["adapter"] == "pylyra"
    assert document["cells"][found["beside"]]["adapter"] == "lyra"
    assert found["libraries"] == ["liblyra 4.4", "liblyra 4.3"]
    assert (found["same_library"], found["standing"], found["language"]) == (False, None, "Python")


def test_a_client_over_another_transport_than_its_middleware_is_not_compared() -> None:
    figures = [10_000.0] * 8
    run = run_of({cell("lyra", "shm"): figures, cell("pylyra"): figures}, adapters=(LYRA, client("liblyra 4.3")))
    assert document_of(run).languages == ()


def test_the_version_of_its_own_library_is_found_among_several_of_the_middleware() -> None:
    newer = description("lyra@4.4", transport("udp"), library="/opt/liblyra.so.6", version="4.4")
    figures = {"lyra": 9_000.0, "lyra@4.4": 10_000.0, "pylyra": 20_000.0}
    run = run_of(
        {cell(name): [each] * 8 for name, each in figures.items()}, adapters=(LYRA, newer, client("liblyra 4.4"))
    )
    [cost] = document_of(run).languages
    assert cost.middleware.result.cell.adapter == "lyra@4.4"
    assert cost.same_library


def test_a_description_without_an_implementation_names_its_library_or_else_the_adapter() -> None:
    assert LYRA.moved_by == "liblyra 4.3"
    assert description("zenoh", transport("tcp"), version="1.10.2").moved_by == "zenoh 1.10.2"
