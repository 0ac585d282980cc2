"""``--format ddsperf``: Middlemark's own import reads its lines back, at every rate."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from imports_cases import codes, one, read
from test_compare import cell, write
from test_import_command import imported

from middlemark.document import document_of
from middlemark.imports import Log, is_ours
from middlemark.model.samples import SAMPLE
from middlemark.runs.read import read_measured
from middlemark.show import View, ddsperf
from middlemark.stats.samples import Samples

Printed = Callable[..., str]


def trips(instants_s: Sequence[float], round_trips_us: Sequence[float]) -> Samples:
    raw = np.zeros(len(instants_s), dtype=SAMPLE)
    raw["begin_ns"] = (np.array(instants_s) * 1e9).round()
    raw["round_trip_ns"] = (np.array(round_trips_us) * 1e3).round()
    return raw


@pytest.fixture
def printed(tmp_path: Path) -> Printed:
    """Print a run in which each row has one trial with the given round trips."""

    def printed_lines(*trials: Samples, **levels: object) -> str:
        asked = {cell(**{"size": 64, **levels, "transport": each}): 1.0 for each in ("udp", "shm")[: len(trials)]}
        run = read_measured(write(tmp_path, asked, trials=1))
        return ddsperf.render(document_of([run]), View(samples_of=lambda row: [trials[row]]))

    return printed_lines


def log_of(text: str) -> Log:
    assert not is_ours(text.encode())
    log = read(text.encode())
    assert log.unread == 0
    return log


def test_one_ping_a_second_is_summed_over_the_trial_and_read_back(printed: Printed) -> None:
    text = printed(trips(range(60), range(100, 160)), rate=1.0)
    [line] = [each for each in text.splitlines() if " mean " in each]
    assert "50% 64.500us" in line, "half of the 30th of 60 round trips"
    assert line.endswith("cnt 60")
    trial = one(log_of(text))
    times = trial.times.round_trip_ns
    assert times is not None
    assert (times.min, times.p50, times.max, trial.samples) == (100_000, 129_000, 159_000, 60)
    assert (times.p90, times.p99) == (None, None), "p90 and p99 need 100 and 1,000 samples"
    assert "median-of-seconds" not in codes(trial)


def test_a_line_spans_enough_seconds_for_its_p99_and_the_last_line_does_too(printed: Printed) -> None:
    text = printed(trips(np.arange(2_600) / 400, [20.0] * 2_600), rate=400.0)
    lines = [each for each in text.splitlines() if " mean " in each]
    assert [each.split()[1] for each in lines] == ["3.000", "7.000"]
    assert [each.split()[-1] for each in lines] == ["1200", "1400"]
    assert "no result" not in text


def test_quantiles_of_too_few_samples_are_named(printed: Printed) -> None:
    assert "# 50%, 90%, 99% of these 5: printed because ddsperf does, but unreliable" in printed(
        trips(range(5), [9.0] * 5)
    )


def test_no_line_is_printed_without_a_round_trip(printed: Printed) -> None:
    assert " mean " not in printed(trips([], []))


def test_rows_of_one_size_are_read_back_as_separate_rows(printed: Printed) -> None:
    log = log_of(printed(trips([0.1] * 40, [50.0] * 40), trips([0.1] * 40, [20.0] * 40)))
    assert [each.cell.adapter for each in log.measured] == ["lyra udp 3 (ddsperf)", "lyra shm 3 (ddsperf)"]
    assert [each.times.round_trip_ns.p50 for each in log.measured] == [50_000, 20_000]
    assert all(each.cell.label for each in log.measured)


def test_roles_of_two_processes_are_not_read_back_as_one_process(printed: Printed) -> None:
    assert one(log_of(printed(trips([0.1], [1.0])))).cell.processes == 2
    assert "processes" in one(log_of(printed(trips([0.1], [1.0])))).cell.unknown
    assert one(log_of(printed(trips([0.1], [1.0]), processes=1))).cell.processes == 1


def test_lines_printed_by_middlemark_get_no_warning_about_ddsperfs_limits(printed: Printed) -> None:
    many = trips(np.linspace(0, 0.9, 25_000), [10.0] * 25_000)
    assert "first-samples-only" not in codes(one(log_of(printed(many))))


def test_printed_lines_can_be_imported(printed: Printed, tmp_path: Path) -> None:
    log = tmp_path / "lines.txt"
    log.write_text(printed(trips(range(30), [40.0] * 30), rate=1.0))
    result = imported(tmp_path / "again", log)
    assert result.exception is None
    assert "lyra udp 3 (ddsperf)" in result.output
