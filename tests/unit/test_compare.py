"""``middlemark compare``: the pairs that it compares, its refusals, and its output."""

import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result

from middlemark.commands.compare import command
from middlemark.model.cell import Cell
from middlemark.model.description import Description, Transport
from middlemark.model.outcome import TrialCounts, TrialOutcome
from middlemark.model.plan import Limits, Plan, Trial
from middlemark.model.run import Machine, RunFile
from middlemark.model.samples import SAMPLE
from middlemark.problems import MeasureError, RequestError
from middlemark.store import open_run
from outputs import read_output

SAMPLES = 40
MACHINE = Machine(
    host="bench", cpu="A processor", processors=2, memory_bytes=1 << 34, kernel="6.1", system="Debian", virtual=False,
    clocksource="tsc", governor=None,
)  # fmt: skip


def described(name: str = "lyra", carriers: dict[str, str] | None = None) -> Description:
    transports = tuple(
        Transport(
            name=name, carrier=carrier, segments=(), processes=(2,), receive=("block",), reliability=("reliable",),
            loan=(False,), max_bytes=1 << 20, max_bytes_advice="", max_depth=None, keep_all=True, companions=False,
        )
        for name, carrier in (carriers or {"udp": "udp", "shm": "shared-memory"}).items()
    )  # fmt: skip
    return Description(
        protocol=1, name=name, title=name, version="3", library="", licence="MIT", bench_only=False,
        is_raw_transport=carriers is not None,
        transports=transports, request_reply=False, own_threads=False, residue=(), native={},
    )  # fmt: skip


RAW_TRANSPORTS = (described("ring", {"ring": "shared-memory"}), described("socket", {"socket": "udp"}))


def cell(**factors: Any) -> Cell:
    return Cell(**{"adapter": "lyra", "transport": "udp", "size": 1024, **factors})


def write(
    root: Path,
    cells: dict[Cell, float],
    trials: int = 8,
    baselines: tuple[int, ...] = (),
    scatter: int | None = None,
    together: tuple[tuple[str, ...], ...] = (),
    **machine: Any,
) -> Path:
    """Store a run in which each cell has this typical round trip in ns.

    Trial n takes n ns longer. If ``scatter`` is given, it is the seed of trials that vary by 8 % instead.
    """
    asked = tuple(cells)
    plan = Plan(
        cells=asked,
        names=tuple("" for _ in asked),
        trials=tuple(
            Trial(order=number * len(asked) + index, cell=index, number=number + 1, limits=Limits(samples=SAMPLES))
            for number in range(trials)
            for index in range(len(asked))
        ),
        notes=(),
        seed=1,
        together=together,
        baselines=baselines,
    )
    file = RunFile(
        middlemark="0", suites=("try",), command=(), started="2026-11-21T12:00:00.000+00:00", seed=1,
        machine=msgspec.structs.replace(MACHINE, **machine), adapters=(described(), *RAW_TRANSPORTS), plan=plan,
    )  # fmt: skip
    writer = open_run(root, file)
    draw = random.Random(scatter)
    for trial in plan.trials:
        raw = np.zeros(SAMPLES, dtype=SAMPLE)
        factor = 1.0 if scatter is None else draw.lognormvariate(0, 0.08)
        raw["round_trip_ns"] = cells[asked[trial.cell]] * factor + 10 * trial.number
        path = f"samples/{trial.order:05d}.npy"
        np.save(writer.folder / path, raw)
        writer.append(
            TrialOutcome(
                cell=trial.cell,
                number=trial.number,
                order=trial.order,
                started="",
                seconds=1.0,
                samples=SAMPLES,
                samples_file=path,
                counts=TrialCounts(sent=SAMPLES, received=SAMPLES),
                measured_s=1.0,
            )
        )
    writer.close()
    return writer.folder


def asked(*arguments: object) -> Result:
    return CliRunner().invoke(command, [*map(str, arguments)], standalone_mode=False)


def rows(*arguments: object) -> list[dict[str, Any]]:
    done = asked(*arguments, "--format", "json")
    assert done.exception is None, done.exception
    document = read_output("compare", done.stdout)
    assert document["schema"] == 2
    comparisons: list[dict[str, Any]] = document["comparisons"]
    return comparisons


def refused(*arguments: object) -> str:
    error = asked(*arguments).exception
    assert isinstance(error, RequestError | MeasureError), error
    return str(error)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write(tmp_path, {cell(): 50_000, cell(transport="shm"): 25_000, cell(receive="poll"): 5_000})


def test_levels_of_a_factor_are_compared_if_all_other_factors_are_equal(run: Path) -> None:
    (row,) = rows(run, "--by", "transport")
    assert (row["a"], row["b"], row["verdict"]) == ("transport=udp", "transport=shm", "faster")
    assert row["shift"] == pytest.approx(-0.5, abs=0.01)
    assert row["low"] <= row["shift"] <= row["high"] < -0.4
    assert (row["pairs"], row["metric"], row["unit"], row["trials_needed"]) == (8, "p50", "ns", None)
    assert row["marks"] == []


def test_the_reference_level_is_side_a(run: Path) -> None:
    (row,) = rows(run, "--by", "transport", "--reference", "shm")
    assert (row["a"], row["b"], row["verdict"]) == ("transport=shm", "transport=udp", "slower")


def test_shared_memory_is_a_factor_of_the_actual_transport(run: Path) -> None:
    (row,) = rows(run, "--by", "shared_memory", "--reference", "off")
    assert (row["b"], row["verdict"]) == ("shared_memory=on", "faster")


def test_labels_are_compared_whatever_their_settings(tmp_path: Path) -> None:
    several = write(
        tmp_path,
        {
            cell(label="A1"): 50_000,
            cell(label="A2"): 50_100,
            cell(label="slow", native=(("delay", "1"),)): 75_000,
            cell(label="A1", size=64): 10_000,
            cell(): 1_000,
        },
    )
    assert [(row["a"], row["b"], row["verdict"]) for row in rows(several, "--by", "label", "--reference", "A1")] == [
        ("label=A1", "label=A2", "equivalent"),
        ("label=A1", "label=slow", "slower"),
    ]


def test_adapters_are_compared_over_each_of_their_transports(tmp_path: Path) -> None:
    several = write(
        tmp_path, {cell(): 50_000, cell(transport="shm"): 20_000, cell(adapter="vega", transport="x"): 10_000}
    )
    assert [(row["a"], row["b"]) for row in rows(several, "--by", "adapter")] == [
        ("lyra udp", "vega x"),
        ("lyra shm", "vega x"),
    ]


def test_pairs_with_other_factors_are_compared_separately(tmp_path: Path) -> None:
    several = write(
        tmp_path,
        {
            cell(receive=receive, reliability=reliability): 50_000
            for receive in ("block", "listen")
            for reliability in ("reliable", "best-effort")
        },
    )
    pairs = [row["what"] for row in rows(several, "--by", "receive")]
    assert [each.rpartition(", ")[2] for each in pairs] == ["reliable", "best-effort"]


def test_polling_is_compared_with_blocking_only_on_request(run: Path) -> None:
    assert "polling and blocking" in refused(run, "--by", "receive")
    (row,) = rows(run, "--by", "receive", "--anyway")
    assert row["marks"] == ["polling and blocking are different experiments"]


def test_cells_of_one_run_are_selected_by_their_levels(run: Path) -> None:
    (row,) = rows(f"{run}:transport=udp,receive=block", f"{run}:transport=shm")
    assert (row["a"], row["b"], row["marks"]) == ("transport=udp,receive=block", "transport=shm", [])


def test_common_cells_of_two_runs_are_paired_and_marked_as_not_interleaved(run: Path, tmp_path: Path) -> None:
    later = write(tmp_path / "later", {cell(size=64): 1_000, cell(): 51_000, cell(transport="shm"): 50_000})
    same, slower = rows(run, later)
    assert (same["verdict"], slower["verdict"]) == ("equivalent", "slower")
    assert all("not interleaved" in row["marks"][0] for row in (same, slower))


def test_a_name_that_is_too_long_for_a_column_is_written_whole_below_the_head(run: Path, tmp_path: Path) -> None:
    long = run.rename(tmp_path / "the-nightly-run-of-the-second-robot")
    later = write(tmp_path / "later", {cell(): 51_000, cell(transport="shm"): 50_000})
    head, a, b, *_ = asked(long, later).stdout.splitlines()
    assert head.split()[3:5] == ["A", "B"]
    assert (a.split(maxsplit=1)[0], b.split(maxsplit=1)[0]) == ("A:", "B:")
    assert long.name in a
    assert "…" not in a + b


@pytest.mark.usefixtures("run")
def test_a_folder_of_runs_means_its_newest_run(tmp_path: Path) -> None:
    (row,) = rows(tmp_path, "--by", "transport")
    assert row["verdict"] == "faster"


def test_runs_of_different_machines_are_not_compared(run: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other", {cell(): 50_000}, host="elsewhere")
    assert "different machines" in refused(f"{run}:transport=udp,receive=block", other)


def test_a_failed_gate_ends_with_4_and_reports_the_difference(run: Path) -> None:
    done = asked(run, "--by", "transport", "--reference", "shm", "--fail-if", "p50 slower than 20%")
    assert done.return_value == 4
    assert "p50 slower than 20 %: +99" in done.stderr
    assert asked(run, "--by", "transport", "--fail-if", "p50 slower than 20%").return_value == 0


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    problems = refused(tmp_path, "--by", "zeal", "--metric", "p7", "--fail-if", "p50 nicer than 5%", "--margin", "x")
    for wrong in ("no factor zeal", "no metric p7", "'p50 nicer than 5%' is not a condition", "--margin"):
        assert wrong in problems
    assert "run.json" in refused(tmp_path / "nowhere", tmp_path)


def test_too_few_trials_have_no_interval_and_no_verdict(tmp_path: Path) -> None:
    few = write(tmp_path, {cell(): 50_000, cell(transport="shm"): 25_000}, trials=3)
    (row,) = rows(few, "--by", "transport")
    assert (row["low"], row["verdict"], row["trials_needed"]) == (None, "undecided", 6)
    shown = asked(few, "--by", "transport").stdout
    assert "about 6 trials" in shown
    assert re.search(r"50\.0 µs +25\.0 µs +~ +– +3 ", shown)
    assert "with fewer than six pairs there is no interval" in shown


def test_a_damaged_line_discards_only_its_trial(run: Path) -> None:
    trials = run / "trials.jsonl"
    trials.write_bytes(trials.read_bytes()[:-20])
    done = asked(run, "--by", "transport", "--format", "json")
    assert "1 damaged line of" in done.stderr
    assert read_output("compare", done.stdout)["comparisons"][0]["pairs"] in (7, 8)


def test_markdown_is_a_table(run: Path) -> None:
    lines = asked(run, "--by", "transport", "--format", "markdown").stdout.splitlines()
    assert lines[1] == "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |"
    assert "transport=udp → transport=shm | p50 | 50.0" in lines[2]


WITH_RAW_TRANSPORTS = {
    cell(): 50_000,
    cell(transport="shm"): 24_000,
    cell(adapter="ring", transport="ring", depth=4): 12_000,
    cell(adapter="socket", transport="socket"): 20_000,
}


@pytest.fixture
def with_raw_transports(tmp_path: Path) -> Path:
    """A run with raw transports: the plan added the last two cells."""
    return write(tmp_path, WITH_RAW_TRANSPORTS, baselines=(2, 3))


def test_a_comparison_names_the_raw_transport_of_each_side(with_raw_transports: Path) -> None:
    (row,) = rows(with_raw_transports, "--by", "shared_memory")
    assert (row["a"], row["b"], row["verdict"]) == ("shared_memory=off", "shared_memory=on", "faster")
    raw_transports = {side: row[side] for side in ("a_raw_transport", "b_raw_transport")}
    assert {side: raw_transport["label"] for side, raw_transport in raw_transports.items()} == {
        "a_raw_transport": "socket",
        "b_raw_transport": "ring",
    }
    assert row["a_raw_transport"]["times"] == pytest.approx(2.5, abs=0.01)
    assert row["b_raw_transport"]["times"] == pytest.approx(2.0, abs=0.01)
    assert row["b_raw_transport"]["median"] * row["b_raw_transport"]["times"] == pytest.approx(row["b_median"])


def test_markdown_has_columns_for_raw_transports_if_there_are_any(with_raw_transports: Path, run: Path) -> None:
    output = asked(with_raw_transports, "--by", "transport", "--format", "markdown").stdout
    for words in (
        "A × raw transport",
        "B × raw transport",
        "2.50 × socket",
        "2.00 × ring",
        "named raw transport (same carrier, same run)",
    ):
        assert words in output
    assert "carrier" not in asked(run, "--by", "transport", "--format", "markdown").stdout


def test_without_raw_transports_a_comparison_has_none(run: Path) -> None:
    (row,) = rows(run, "--by", "transport")
    assert (row["a_raw_transport"], row["b_raw_transport"]) == (None, None)


def test_planned_raw_transports_are_compared_only_if_they_are_named(with_raw_transports: Path) -> None:
    assert "nothing can be compared" in refused(with_raw_transports, "--by", "adapter")
    against = rows(with_raw_transports, "--by", "adapter", "--reference", "socket")
    assert [(row["a"], row["b"]) for row in against] == [("socket", "lyra udp"), ("socket", "lyra shm")]
    (named,) = rows(f"{with_raw_transports}:adapter=socket", f"{with_raw_transports}:adapter=lyra,transport=udp")
    assert (named["a"], named["a_raw_transport"], named["b_raw_transport"]["label"]) == (
        "adapter=socket",
        None,
        "socket",
    )


def test_requested_raw_transports_are_compared_like_all_cells(tmp_path: Path) -> None:
    listed = write(tmp_path, WITH_RAW_TRANSPORTS)
    assert ("lyra udp", "socket") in [(row["a"], row["b"]) for row in rows(listed, "--by", "adapter")]


def name_in(line: str) -> str:
    """Return the first column of a line."""
    return line.strip().split("  ")[0]


SEVERAL = {
    cell(adapter=adapter, transport=transport, size=size): figure * factor
    for size, factor in ((64, 1.0), (1024, 1.2))
    for adapter, transport, figure in (
        ("ring", "ring", 25_000),
        ("lyra", "udp", 50_000),
        ("lyra", "shm", 40_000),
        ("socket", "socket", 25_100),
    )
}


@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_table_of_middlewares_has_each_name_once_per_size_within_the_width(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr("middlemark.show.output.width", lambda: width)
    lines = asked(write(tmp_path, SEVERAL), "--by", "adapter").stdout.splitlines()
    assert max(map(len, lines)) <= width
    block = lines[lines.index("64 B") + 1 : lines.index("1 KiB")]
    assert [*map(name_in, block)] == ["ring", "socket", "lyra shm", "lyra udp"]
    assert [line.split("µs")[1].split()[0] for line in block[1:]] == ["=", "+59.9", "+99.8"]


def test_the_table_of_middlewares_has_the_verdicts_of_the_json_output(tmp_path: Path) -> None:
    run = write(tmp_path, SEVERAL, scatter=3)
    words = {"faster": "faster", "slower": "slower", "equivalent": "=", "undecided": "~"}
    pairs = [each for each in rows(run, "--by", "adapter") if each["what"].startswith("64 B")]
    text = asked(run, "--by", "adapter").stdout
    block = text[text.index("\n64 B\n") : text.index("\n1 KiB\n")].splitlines()[2:]
    first = name_in(block[0])
    for line in block[1:]:
        name = name_in(line)
        [pair] = [each for each in pairs if {each["a"], each["b"]} == {first, name}]
        verdict = (
            pair["verdict"]
            if pair["a"] == first
            else {"faster": "slower", "slower": "faster"}.get(pair["verdict"], pair["verdict"])
        )
        assert words[verdict] in line.split(), line


def test_two_levels_are_columns_grouped_by_size(tmp_path: Path) -> None:
    figures = {
        cell(size=size, receive=receive): ns for size in (64, 1024) for receive, ns in (("block", 5e4), ("listen", 4e4))
    }
    lines = asked(write(tmp_path, figures), "--by", "receive").stdout.splitlines()
    assert lines[0].split()[:5] == ["p50,", "common", "rounds", "receive=block", "receive=listen"]
    assert [lines[1], lines[3]] == ["64 B", "1 KiB"]
    assert lines[2].split()[-1] == lines[4].split()[-1] == "faster"


def test_an_adapter_with_one_reliability_is_in_the_same_block(tmp_path: Path) -> None:
    figures = {
        cell(): 50_000,
        cell(adapter="ring", transport="ring"): 40_000,
        cell(adapter="socket", transport="socket", reliability="best-effort"): 30_000,
    }
    lines = asked(write(tmp_path, figures), "--by", "adapter").stdout.splitlines()
    assert [*map(name_in, lines[2:5])] == ["socket, best-effort", "ring", "lyra udp"]
    assert lines[1] == "1 KiB"


def test_an_adapter_with_one_level_is_compared_with_every_level_of_the_others(tmp_path: Path) -> None:
    figures = {
        cell(adapter="ring", transport="ring"): 40_000,
        cell(adapter="ring", transport="ring", loan=True): 30_000,
        cell(adapter="lyra"): 45_000,
        cell(adapter="lyra", loan=True): 44_000,
        cell(adapter="loaner", transport="pool", loan=True): 20_000,
    }
    found = Counter(frozenset((row["a"], row["b"])) for row in rows(write(tmp_path, figures), "--by", "adapter"))
    assert found == {
        frozenset(("lyra udp", "ring")): 2,
        frozenset(("loaner pool", "ring")): 2,
        frozenset(("loaner pool", "lyra udp")): 2,
    }, "pairs at each level of loan, and loaner with both levels of the others"


PLACED = {
    cell(pin=pin, priority=priority, size=size): figure
    for size in (64, 1024)
    for pin, priority, figure in (
        (None, "other", 50_000),
        ((0, 1), "other", 30_000),
        (None, "fifo:80", 45_000),
        ((0, 1), "fifo:80", 20_000),
    )
}


def test_selections_may_differ_in_several_factors(tmp_path: Path) -> None:
    run = write(tmp_path, PLACED)
    found = rows(f"{run}:pin=off,priority=other", f"{run}:pin=auto,priority=fifo:80")
    assert [(row["what"].split(", ")[1], row["verdict"]) for row in found] == [("64 B", "faster"), ("1 KiB", "faster")]
    assert all(row["shift"] == pytest.approx(-0.6, abs=0.01) and row["marks"] == [] for row in found)


def test_several_levels_of_a_selection_are_each_paired_and_named(tmp_path: Path) -> None:
    run = write(tmp_path, PLACED)
    found = rows(f"{run}:pin=off,priority=other,size=64", f"{run}:pin=auto,size=64")
    assert [row["b"] for row in found] == ["pin=auto,size=64 (priority=other)", "pin=auto,size=64 (priority=fifo:80)"]
    assert [round(row["shift"], 1) for row in found] == [-0.4, -0.6]


def test_the_levels_of_several_factors_are_compared_together(tmp_path: Path) -> None:
    run = write(tmp_path, PLACED)
    (row,) = rows(f"{run}:size=64", "--by", "pin,priority", "--reference", "pin=off,priority=other")
    assert (row["a"], row["b"]) == ("pin=off, priority=other", "pin=0,1, priority=fifo:80")
    assert "--reference" in refused(run, "--by", "pin,priority", "--reference", "pin=x")


def test_the_level_none_is_a_level(tmp_path: Path) -> None:
    run = write(tmp_path, {cell(pin=pin): figure for pin, figure in ((None, 50_000), ((0, 1), 30_000))})
    (row,) = rows(run, "--by", "pin", "--reference", "off")
    assert (row["a"], row["b"], row["verdict"]) == ("pin=off", "pin=0,1", "faster")
    assert "nothing can be compared" in refused(run, "--by", "burst")


def test_every_latency_of_a_trial_is_a_metric(run: Path) -> None:
    found = rows(run, "--by", "transport", "--metric", "mean,min,max,round_trips")
    assert {row["metric"] for row in found} == {"mean", "min", "max", "round_trips"}
    assert {row["verdict"] for row in found if row["unit"] == "ns"} == {"faster"}
    assert "nothing can be compared" in refused(run, "--by", "transport", "--metric", "memory.ping")
    problems = refused(run, "--by", "transport", "--metric", "p7")
    assert "memory[.ROLE]" in problems
    assert "seconds_spread" in problems
