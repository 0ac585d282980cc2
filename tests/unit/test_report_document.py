"""The document of a report: its contents, what it leaves out, and its largest size."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_runs import cell, data_of, run_of, spread
from stats_cases import samples as samples_of

from middlemark.document import make
from middlemark.document.distributions import PERCENTILES, distribution
from middlemark.document.numbers import four_digits
from middlemark.model.outcome import Failure, RunWarning, SamplesFile, TrialOutcome
from middlemark.model.samples import ARRIVAL, HISTOGRAM
from middlemark.show.html import data
from middlemark.stats import pairings
from middlemark.stats.result import Attribution, Baseline, Noise, Part
from middlemark.stats.samples import Kept, Samples, SamplesError
from middlemark.verdicts.rows import MeasuredRun

LYRA, VEGA, RAW_TRANSPORT = cell("lyra"), cell("vega"), cell("udp")


def with_samples(run: MeasuredRun, raw: Samples) -> MeasuredRun:
    """Return the run with these samples for each trial."""
    trials = [
        [
            msgspec.structs.replace(each, outcome=msgspec.structs.replace(each.outcome, samples_file="samples/0.npy"))
            for each in cell_trials
        ]
        for cell_trials in run.trials
    ]
    return msgspec.structs.replace(run, trials=trials, samples=lambda _: raw)


def trips(count: int) -> Samples:
    raw = samples_of(20_000 + np.arange(count) % 1000 * 10)
    raw["begin_ns"] = np.arange(count) * 25_000
    return raw


def test_figures_that_were_not_measured_are_absent() -> None:
    plain = data_of(
        run_of({RAW_TRANSPORT: spread(16_000), LYRA: spread(21_000), VEGA: [Failure("hung", "no end")] * 2})
    )
    assert plain["schema"] == 2
    assert plain["title"] == "first-look, robot-7, 2026-11-21"
    assert plain["cells"][0]["latency"]["p99"] == 32_000
    assert "p99.9" not in plain["cells"][0]["latency"]
    assert plain["cells"][2]["failed"] == {"code": "hung", "text": "no end", "advice": ""}
    assert "latency" not in plain["cells"][2]


def test_a_cell_has_its_raw_transport_and_the_series_over_its_sizes() -> None:
    figures = {cell(name, size=size): spread(2e4) for size in (64, 1024) for name in ("udp", "lyra")}
    cells = data_of(run_of(figures)).cells
    assert [each.raw_transport_cell for each in cells] == [0, 0, 2, 2]
    assert [each.is_raw_transport for each in cells] == [True, False, True, False]
    assert cells[1].series == cells[3].series == "lyra udp"
    assert [each.label for each in cells] == ["udp · 64 B", "lyra udp · 64 B", "udp · 1 KiB", "lyra udp · 1 KiB"]


def test_labels_are_unique_even_if_only_the_run_differs() -> None:
    one, other = run_of({LYRA: spread(2e4)}, name="monday"), run_of({LYRA: spread(2e4)}, name="tuesday")
    labels = [each.label for each in data_of(one, other).cells]
    assert labels == ["lyra udp · 64 B · monday", "lyra udp · 64 B · tuesday"]
    again = [each.label for each in data_of(one, one).cells]
    assert len(set(again)) == 2


def test_only_varying_factors_are_listed_with_their_levels_in_order() -> None:
    figures = {cell(size=size, rate=rate): spread(2e4, 2) for size in (1024, 64) for rate in (1000.0, "max", 100.0)}
    factors = {each.name: each for each in data_of(run_of(figures)).factors}
    assert list(factors) == ["adapter", "transport", "size", "rate"]
    assert (factors["size"].levels, factors["size"].shown) == ([64, 1024], ["64 B", "1 KiB"])
    assert factors["rate"].shown == ["100 Hz", "1 kHz", "max"]


def test_absent_levels_are_written_as_the_command_line_accepts_them() -> None:
    (row,) = data_of(run_of({cell(depth=None, native=(("a", "1"),)): spread(2e4, 1)})).cells
    assert (row.f["depth"], row.f["pin"], row.f["burst"], row.f["native"]) == ("all", "off", "off", "a=1")


def test_comparisons_cover_each_varying_factor_and_no_raw_transport() -> None:
    figures = {
        cell(name, way): spread(figure) for name, figure in (("lyra", 2e4), ("vega", 3e4)) for way in ("udp", "shm")
    } | {RAW_TRANSPORT: spread(1e4)}
    document = data_of(run_of(figures))
    p50 = [each for each in document.comparisons if each.metric == "p50"]
    assert {(each.factor, tuple(each.names)) for each in p50} == {
        ("adapter", ("lyra udp", "vega udp")),
        ("adapter", ("lyra shm", "vega shm")),
        ("adapter", ("lyra udp", "vega shm")),
        ("adapter", ("lyra shm", "vega udp")),
        ("transport", ("transport=udp", "transport=shm")),
    }
    assert all(not document.cells[at].is_raw_transport for each in p50 for at in (each.a, each.b))
    first = p50[0]
    assert (document.cells[first.a].f["adapter"], document.cells[first.b].f["adapter"]) == ("lyra", "vega")
    assert (first.verdict, first.shift, first.medians, first.unit) == ("slower", 0.5, [20_000, 30_000], "ns")


def test_pairs_with_too_few_trials_do_not_weaken_the_others_verdicts() -> None:
    few = {cell(name, size=size): spread(2e4, 2) for size in range(1000, 1040) for name in ("lyra", "vega")}
    document = data_of(run_of(few | {LYRA: spread(2e4), VEGA: spread(3e4)}))
    judged = [each for each in document.comparisons if each.metric == "p50" and each.pairs == 10]
    assert [(each.verdict, each.p, each.p_family) for each in judged] == [("slower", 0.001953, 0.001953)]


def test_floods_are_compared_by_throughput_and_scheduled_streams_by_latency() -> None:
    stream = {"pattern": "stream", "depth": None}
    figures = {
        cell(name, rate=rate, **stream): spread(1e5) for name in ("lyra", "vega") for rate in ("max", "curve", 1000.0)
    }
    document = data_of(run_of(figures))
    by_adapter = [each for each in document.comparisons if each.factor == "adapter"]
    rates = {
        metric: {document.cells[each.a].f["rate"] for each in by_adapter if each.metric == metric}
        for metric in ("p50", "p99", "throughput")
    }
    assert rates == {"p50": {1000.0}, "p99": {1000.0}, "throughput": {"max", "curve"}}


def test_a_level_that_only_one_pattern_has_is_in_no_name() -> None:
    figures = {cell(pattern="stream", depth=None): spread(1e5), cell(depth=1): spread(2e4), cell(depth=9): spread(2e4)}
    assert [each.label for each in data_of(run_of(figures)).cells] == [
        "lyra udp · 64 B · stream, 1 → 1, as fast as possible, a process each",
        "lyra udp · 64 B · ping-pong, one at a time, 2 processes, 1 subscriber",
        "lyra udp · 64 B · ping-pong, one at a time, 2 processes, 1 subscriber, depth 9",
    ]


def test_a_row_with_another_actual_transport_is_not_compared() -> None:
    warning = (RunWarning("transport-contradicted", "another actual transport"),)
    assert data_of(run_of({LYRA: spread(2e4), VEGA: spread(3e4)}, warnings=warning)).comparisons == []


def test_comparisons_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = {cell(name, size=size): spread(2e4) for size in (64, 1024) for name in ("lyra", "vega", "deneb")}
    monkeypatch.setattr(make, "MOST_COMPARISONS", 4)
    document = data_of(run_of(figures))
    assert len(document.comparisons) == 4
    assert document.comparisons_left_out["adapter"] >= 2
    monkeypatch.setattr(pairings, "MOST", 5)
    assert data_of(run_of(figures)).comparisons_left_out == {"adapter": 6}


def test_each_warning_is_listed_once_with_its_cells() -> None:
    warnings = (RunWarning("loss", "2 replies never arrived", "--reliability reliable"),)
    document = data_of(run_of({LYRA: spread(2e4), VEGA: spread(3e4)}, warnings=warnings))
    (summary,) = document.warnings_summary
    assert (summary.code, summary.count, summary.cells, summary.advice) == ("loss", 2, [0, 1], "--reliability reliable")


def test_the_run_lists_the_commands_that_repeat_it() -> None:
    document = data_of(run_of({LYRA: spread(2e4), VEGA: spread(3e4)}))
    assert document.commands == [
        "middlemark run first-look --seed 7",
        "middlemark report runs/first-run",
        "middlemark compare runs/first-run --by adapter",
    ]
    (run,) = document.runs
    assert (run.seconds, run.trials, run.planned_trials, run.order[:4]) == (120, 20, 20, [0, 1, 0, 1])
    assert run.suites[0].text == "# as written\n"
    assert run.machine_line == "robot-7, A processor, 2 processors, 16 GiB, Debian, Linux 6.1, bare metal"


def test_an_unfinished_run_lists_the_resume_command() -> None:
    run = run_of({LYRA: spread(2e4)})
    unfinished = msgspec.structs.replace(run, outcomes=run.outcomes[:3])
    assert "middlemark run --resume runs/first-run" in data_of(unfinished).commands


def test_a_document_can_be_made_without_cells_and_without_a_run() -> None:
    assert data_of(run_of({})).cells == []
    assert data_of().title == "no runs"


def test_invalid_unicode_is_made_visible() -> None:
    run = msgspec.structs.replace(run_of({LYRA: spread(2e4, 1)}), folder=Path("runs/\udcff"))
    assert "\\udcff" in data_of(run).runs[0].folder


def test_the_curve_of_the_median_trial_has_no_percentile_of_too_few_samples() -> None:
    run = with_samples(run_of({LYRA: spread(2e4)}), trips(1000))
    curve = data_of(run).cells[0].curve
    assert curve is not None
    points = dict(curve)
    assert (points[0], points[50], points[99], points[100]) == (20_000, 24_990, 29_890, 29_990)
    assert max(percentile for percentile in points if percentile < 100) == 99
    assert len(PERCENTILES) + 2 <= 40


def test_the_heat_map_counts_every_sample_at_its_time_and_value() -> None:
    raw = trips(2400)
    raw["round_trip_ns"][:] = 20_000
    raw["round_trip_ns"][1000] = 5_000_000
    heat = data_of(with_samples(run_of({LYRA: spread(2e4)}), raw)).cells[0].heat
    assert heat is not None
    assert (len(heat.t), len(heat.edges_ns), len(heat.n), {len(line) for line in heat.n}) == (24, 17, 24, {16})
    assert sum(map(sum, heat.n)) == 2400
    assert [line[-1] for line in heat.n].index(1) == 10
    assert (heat.edges_ns[0], heat.edges_ns[-1]) == (20_000, 5_000_000)


@pytest.mark.parametrize("count", [0, 1, 99])
def test_too_few_samples_make_no_heat_map(count: int) -> None:
    assert data_of(with_samples(run_of({LYRA: spread(2e4)}), trips(count))).cells[0].heat is None


def test_heat_maps_that_fit_are_kept_and_doubtful_rows_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    run = with_samples(run_of({RAW_TRANSPORT: spread(1e4), LYRA: spread(2e4), VEGA: [2e4, 9e4, 2e4]}), trips(1000))
    everything = data_of(run)
    assert [each.heat is not None for each in everything.cells] == [True, True, True]
    one = len(msgspec.json.encode(everything.cells[2].heat))
    monkeypatch.setattr(data, "DATA_BYTES", len(msgspec.json.encode(everything)) - one)
    assert [each.heat is not None for each in data_of(run).cells] == [False, True, True]
    monkeypatch.setattr(data, "DATA_BYTES", 1000)
    assert [each.heat is not None for each in data_of(run).cells] == [False, False, False]


NOISE = Noise(
    others_share=None, own_share=None, delay_share=None, steal_share=0.123456, irq_share=None, softirq_share=None,
    pressure_share=None, throttled_ns=None, still_share=None, longest_gap_ns=None, longest_spell_ns=7,
    above_p99_9=Attribution(samples=9, machine=4, middleware=0, unknown=5, why=None), trials=(),
    disturbed=((0.001, 0.002), (0.01, 0.0145678)), disturbed_trial=2, absent={"others_share": "no such counter"},
)  # fmt: skip


def with_result(run: MeasuredRun, **given: Any) -> MeasuredRun:
    return msgspec.structs.replace(run, results=[msgspec.structs.replace(each, **given) for each in run.results])


@pytest.mark.parametrize(("trial", "marks"), [(2, [[0.001, 0.002], [0.01, 0.01457]]), (1, []), (None, [])])
def test_a_disturbance_is_marked_in_its_trial(trial: int | None, marks: list[list[float]]) -> None:
    run = with_samples(run_of({LYRA: spread(2e4, 3)}), trips(1000))
    noise = msgspec.structs.replace(NOISE, disturbed_trial=trial)
    (row,) = data_of(with_result(run, noise=noise)).cells
    assert row.heat is not None
    assert row.heat.disturbed == marks
    assert row.noise["steal_share"] == 0.1235
    assert row.noise["above_p99_9"] == {"samples": 9, "machine": 4, "middleware": 0, "unknown": 5}
    assert not {"trials", "disturbed", "absent", "others_share"} & row.noise.keys()


def test_a_cell_has_its_baseline() -> None:
    baseline = Baseline(label="shm", p50_ns=620.5555, rate_hz=None, times=31.04567)
    (row,) = data_of(with_result(run_of({LYRA: spread(2e4, 3)}), baseline=baseline)).cells
    assert row.baseline == {"label": "shm", "p50_ns": 620.6, "times": 31.04}


def test_the_breakdown_is_listed_in_the_order_of_time() -> None:
    parts = (Part(part="write", ns=1234.56, share=0.99), Part(part="take", ns=10.0, share=0.01))
    (row,) = data_of(with_result(run_of({LYRA: spread(2e4, 3)}), breakdown=parts)).cells
    assert row.breakdown == [{"part": "write", "ns": 1234}, {"part": "take", "ns": 10}]
    assert data_of(run_of({LYRA: spread(2e4, 3)})).cells[0].breakdown is None


def test_unknown_factors_of_a_log_are_marked_and_an_unknown_size_gets_no_answer() -> None:
    document = data_of(run_of({cell(unknown=("size", "receive")): spread(2e4)}))
    (row,) = document.cells
    assert (row.f["size"], row.f["receive"], row.label) == (None, "unknown", "lyra udp · size unknown")
    assert document.answers == []
    assert [each.name for each in document.factors] == ["adapter", "transport"]


def test_unreadable_samples_remove_only_their_curve() -> None:
    def unreadable(_: TrialOutcome) -> Samples:
        raise SamplesError(Path("x.npy"), "truncated", "measure again")

    run = msgspec.structs.replace(with_samples(run_of({LYRA: spread(2e4)}), trips(10)), samples=unreadable)
    (row,) = data_of(run).cells
    assert (row.curve, row.heat, row.latency is not None) == (None, None, True)


def test_a_stream_with_a_histogram_has_a_curve_of_both_parts_and_no_heat_map() -> None:
    raw = np.zeros(100, dtype=ARRIVAL)
    raw["one_way_ns"] = np.arange(100) + 1
    histogram = np.array([(1000, 1001, 900)], dtype=HISTOGRAM)
    file = SamplesFile(role="subscriber", index=0, path="s.npy", samples=100)
    run = run_of({cell(pattern="stream"): [1e5]})
    (trial,) = run.trials[0]
    kept = msgspec.structs.replace(trial, outcome=msgspec.structs.replace(trial.outcome, files=(file,)))
    found = distribution(run.results[0], [kept], lambda _: None, lambda _: Kept("subscriber", 0, raw, histogram))
    assert found.curve is not None
    points = dict(found.curve)
    assert (points[0], points[10], points[20], points[100]) == (1, 100, 1000, 1000)
    assert found.heat is None


def test_without_a_series_the_median_trial_represents_the_cell() -> None:
    seen: list[int] = []

    def samples(outcome: TrialOutcome) -> Samples:
        seen.append(outcome.number)
        return trips(100)

    run = with_samples(run_of({LYRA: [30_000.0, 10_000.0, 20_000.0]}), trips(100))
    data_of(msgspec.structs.replace(run, samples=samples))
    assert seen == [3, 1, 2, 3], "for its curve and map, then each trial for its own curve"


@given(st.floats(1e-6, 1e15, allow_nan=False))
def test_rounding_to_four_digits_changes_less_than_a_thousandth(figure: float) -> None:
    assert four_digits(figure) == pytest.approx(figure, rel=1.0001e-3)
    assert f"{four_digits(figure):.3g}" == f"{figure:.3g}"


@pytest.mark.parametrize(
    ("figure", "short"),
    [(23_998, 24_000), (23_994, 23_990), (0.123_46, 0.1235), (-1.9996, -2), (62.948, 62.94), (62.952, 62.95)],
)
def test_a_fifth_digit_rounds_the_fourth_unless_rounding_again_would_differ(figure: float, short: float) -> None:
    assert four_digits(figure) == short


def test_numbers_of_up_to_four_digits_are_not_rounded() -> None:
    for figure in (0.001, 0.1235, 62.95, 1000.0, 31.05, 8.5e14):
        assert four_digits(figure) == figure
