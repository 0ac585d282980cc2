"""The line at the end of a run about the changes since the last run of its suites on this machine."""

import json
from pathlib import Path

import pytest
from report_runs import cell, document_of, robot, run_of
from test_compare import cell as measured_cell
from test_compare import write

from middlemark.document.changes import RunChanges, changes_between
from middlemark.runs.conduct import RunOptions
from middlemark.runs.printing import print_run
from middlemark.runs.read import read_measured
from middlemark.runs.report import changes_since_last
from middlemark.show import View, render

EIGHT = range(1, 9)


def times(ns: float) -> list[float]:
    return [ns + each for each in EIGHT]


def test_significant_changes_are_named_with_direction_and_percent_the_largest_first() -> None:
    before = run_of({cell("lyra"): times(1000), cell("vega"): times(1000), cell("deneb"): times(1000)}, name="before")
    after = run_of({cell("lyra"): times(1100), cell("vega"): times(700), cell("deneb"): times(1000)})
    found = changes_between(before, after)
    assert (found.run, found.compared, found.judged) == ("before", 3, 3)
    assert [(each.row, each.metric, each.word) for each in found.changes] == [
        ("vega udp, 64 B", "p50", "faster"),
        ("lyra udp, 64 B", "p50", "slower"),
    ]
    assert [each.shift for each in found.changes] == pytest.approx([-0.3, 0.1], abs=0.01)
    assert found.sentence.startswith(
        "2 of 3 configurations changed: vega udp, 64 B faster (-29.9 %); and lyra udp, 64 B"
    )


def test_a_factor_that_varies_is_named_too() -> None:
    both = [cell("lyra", subscribers=1), cell("lyra", subscribers=4)]
    before, after = (run_of({each: times(ns) for each in both}) for ns in (1000, 2000))
    assert [each.row for each in changes_between(before, after).changes] == [
        "lyra udp, 64 B, 1 subscriber",
        "lyra udp, 64 B, 4 subscribers",
    ]


def test_workloads_are_compared_by_their_share_of_the_deadline() -> None:
    before, after = (run_of({robot("lyra"): times(1)}), run_of({robot("lyra"): [each / 2 for each in times(1)]}))
    [change] = changes_between(before, after).changes
    assert (change.metric, change.word) == ("deadline", "earlier")


def test_equal_runs_have_not_changed_and_other_configurations_cannot_be_compared() -> None:
    run = run_of({cell("lyra"): times(1000), cell("vega"): times(1000)})
    assert changes_between(run, run).sentence == "nothing changed significantly in 2 configurations"
    other = run_of({cell("lyra", size=4096): times(1000)})
    assert changes_between(run, other).sentence == "the runs have no configuration in common that could be compared"


def test_with_too_few_trials_nothing_is_judged() -> None:
    before, after = (run_of({cell("lyra"): times(ns)[:5]}) for ns in (1000, 3000))
    found = changes_between(before, after)
    assert (found.compared, found.judged, found.changes) == (1, 0, ())
    assert found.sentence == "no change can be judged in 1 configuration: a verdict needs 6 trials in both runs"


def stored(root: Path, ns: float, **machine: str) -> Path:
    return write(root, {measured_cell(): ns}, **machine)


def test_the_last_run_of_the_suites_on_this_machine_is_compared(tmp_path: Path) -> None:
    stored(tmp_path, 90_000)
    earlier = stored(tmp_path, 50_000)
    stored(tmp_path, 10_000, host="another")
    found = changes_since_last(read_measured(stored(tmp_path, 50_000)))
    assert found is not None
    assert found.run == earlier.name
    assert found.changes == ()


def test_a_first_run_and_a_run_of_no_suite_have_no_last_run(tmp_path: Path) -> None:
    assert changes_since_last(read_measured(stored(tmp_path, 50_000))) is None
    assert run_of({cell(): times(1)}, suites=("command-line",)).repeats is None
    assert run_of({cell(): times(1)}).repeats == ("first-look", "robot-7", "A processor", "2")


def test_an_earlier_run_that_cannot_be_judged_does_not_end_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("broken")

    earlier, run = stored(tmp_path, 50_000), read_measured(stored(tmp_path, 60_000))
    monkeypatch.setattr("middlemark.document.changes.changes_between", fail)
    assert changes_since_last(run) is None
    assert f"{earlier}: the changes since this run are not known (ValueError: broken)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "begin"),
    [
        (RunOptions("lo", "text", quiet=True), "Since the last run (2026-11-21 12:00 UTC): 1 of 1 configuration"),
        (RunOptions("lo", "text", quiet=True, rows=True), "Since the last run (2026-11-21 12:00 UTC): 1 of 1"),
        (RunOptions("lo", "markdown", quiet=True), "Since the last run (2026-11-21 12:00 UTC): 1 of 1 configuration"),
    ],
)
def test_a_run_ends_with_the_line_in_every_format_for_people(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, options: RunOptions, begin: str
) -> None:
    pages: list[RunChanges | None] = []
    monkeypatch.setattr(
        "middlemark.show.html.render_html", lambda document: pages.append(document.since_last_run) or "page"
    )
    stored(tmp_path, 50_000)
    run = read_measured(stored(tmp_path, 100_000))
    assert print_run(run, options) is None
    assert any(line.startswith(begin) for line in capsys.readouterr().out.splitlines())
    [since] = pages
    assert since is not None
    assert len(since.changes) == 1


def test_the_json_of_a_run_has_the_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    earlier = stored(tmp_path, 50_000)
    print_run(read_measured(stored(tmp_path, 100_000)), RunOptions("lo", "json", quiet=True))
    found = json.loads(capsys.readouterr().out)["since_last_run"]
    assert (found["run"], found["compared"], found["judged"]) == (earlier.name, 1, 1)
    [change] = found["changes"]
    assert change["word"] == "slower"
    assert change["shift"] == pytest.approx(1.0, abs=0.05)


def test_a_document_without_a_last_run_has_no_line() -> None:
    document = document_of(run_of({cell("lyra"): times(1000)}))
    assert "Since the last run" not in render("text", document, View()) + render("markdown", document, View())
    assert json.loads(render("json", document, View()))["since_last_run"] is None


@pytest.mark.parametrize("name", ["csv", "latencytest", "roundtrip", "ddsperf"])
def test_a_format_that_cannot_show_the_changes_is_printed_before_they_are_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    steps: list[str] = []
    monkeypatch.setattr("middlemark.show.output.write", lambda _: steps.append("printed"))
    monkeypatch.setattr("middlemark.runs.report.changes_since_last", lambda _: steps.append("changes"))
    monkeypatch.setattr("middlemark.show.html.render_html", lambda _: "page")
    print_run(read_measured(stored(tmp_path, 50_000)), RunOptions("lo", name, quiet=True))
    assert steps == ["printed", "changes"]
