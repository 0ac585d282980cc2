"""Baselines in a real run, in its dry run and in a comparison, and a run without baselines."""

import pytest
from product import Bench, descriptions

pytestmark = pytest.mark.usefixtures("null_worker")

BUILT = descriptions()
MEETING = ("shm", "uds", "udp", "tcp")
SHORT = ("--samples", "200", "--warmup", "10ms", "--trials", "2", "--quiet", "--format", "json")


@pytest.fixture
def cells() -> tuple[str, ...]:
    """The arguments for one cell of a middleware that needs no daemon, over a Unix socket."""
    if missing := {"zeromq", "memcpy", *MEETING} - BUILT.keys():
        pytest.skip(f"{', '.join(sorted(missing))} was not built here")
    return ("--adapter", "zeromq", "--transport", "ipc", "--size", "64k", "--receive", "block", "--processes", "2")


@pytest.mark.brief
def test_every_baseline_and_memcpy_of_its_size_are_measured_with_a_middleware(
    bench: Bench, cells: tuple[str, ...]
) -> None:
    ended = bench.run("run", *cells, *SHORT)
    assert ended.code == 0, ended.err
    rows = {cell["adapter"]: cell for cell in ended.document["cells"]}
    assert set(rows) == {"zeromq", "memcpy", *MEETING}
    for row in rows.values():
        assert (row["trials"], row["size"], row["failed"], row["samples"]) == (2, 65536, None, 400)
        assert row["actual_transport"] == BUILT[row["adapter"]].transports[0].carrier
    ours, copied = rows["zeromq"], rows["memcpy"]
    p50s = {name: rows[name]["round_trip_ns"]["p50"] for name in MEETING}
    fastest = min(p50s, key=lambda name: p50s[name])
    assert ours["raw_transport"] == "uds"
    assert ours["times_raw_transport"] == pytest.approx(ours["round_trip_ns"]["p50"] / p50s["uds"], rel=1e-3)
    assert ours["baseline"]["label"] == fastest
    assert ours["baseline"]["p50_ns"] == p50s[fastest]
    assert ours["baseline"]["times"] == pytest.approx(ours["round_trip_ns"]["p50"] / p50s[fastest], rel=1e-3)
    assert (copied["subscribers"], copied["processes"], copied["baseline"]) == (0, 1, None)
    assert copied["round_trip_ns"]["p50"] < min(p50s.values()), "no transport is faster than copying the bytes"


def test_without_baselines_only_the_middleware_is_measured(bench: Bench, cells: tuple[str, ...]) -> None:
    ended = bench.run("run", *cells, *SHORT, "--no-baseline")
    assert ended.code == 0, ended.err
    (row,) = ended.document["cells"]
    assert (row["adapter"], row["times_raw_transport"], row["raw_transport"], row["baseline"]) == (
        "zeromq",
        None,
        None,
        None,
    )


def test_a_dry_run_shows_the_baselines(bench: Bench, cells: tuple[str, ...]) -> None:
    planned = bench.run("run", *cells, "--dry-run", "--verbose").out
    assert planned.count("command-line: baseline: ") == 5
    assert "5 of these configurations measure raw transports" in planned
    assert "raw transports" not in bench.run("run", *cells, "--dry-run", "--no-baseline").out


def test_a_comparison_names_the_baseline_of_each_side_and_does_not_compare_baselines(
    bench: Bench, cells: tuple[str, ...]
) -> None:
    both = [each if each != "ipc" else "ipc,tcp" for each in cells]
    assert bench.run("run", *both, *SHORT).code == 0
    compared = bench.run("compare", str(bench.out), "--by", "transport", "--format", "json")
    assert compared.code == 0, compared.err
    (row,) = compared.document["comparisons"]
    assert (row["a_raw_transport"]["label"], row["b_raw_transport"]["label"]) == ("uds", "tcp")
    assert row["a_raw_transport"]["times"] == pytest.approx(row["a_median"] / row["a_raw_transport"]["median"])
