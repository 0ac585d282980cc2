"""`first-look` with every adapter, shortened, and every output format of a real run."""

from collections.abc import Iterator
from typing import Any

import pytest
from product import Bench, Ended, descriptions

from middlemark.model.description import ANY

pytestmark = pytest.mark.usefixtures("null_worker")

DESCRIPTIONS = descriptions()
CARRIERS = {ANY: {"shared-memory", "udp", "tcp", "unix-socket", "process-memory"}}
RAW_TRANSPORTS = ("shm", "uds", "udp", "tcp", "memcpy")
MIDDLEWARES = tuple(
    each
    for each, about in DESCRIPTIONS.items()
    if "@" not in each and not about.is_raw_transport and not about.bench_only
)


@pytest.fixture(scope="module")
def first_look(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ended]:
    place = Bench(tmp_path_factory.mktemp("first-look"))
    short = ["--samples", "200", "--warmup", "20ms", "--trials", "1", "--size", "16"]  # conformance has more sizes
    yield place.run("run", "first-look", *short, "--format", "json", "--quiet")
    place.close()


def cells_of(ended: Ended, adapter: str) -> list[dict[str, Any]]:
    return [cell for cell in ended.document["cells"] if cell["adapter"] == adapter]


def test_a_first_look_measures_everything(first_look: Ended) -> None:
    assert first_look.code == 0, first_look.err
    assert [cell["failed"] for cell in first_look.document["cells"] if cell["failed"]] == []


@pytest.mark.parametrize("adapter", [*MIDDLEWARES, *RAW_TRANSPORTS])
def test_every_adapter_carried_every_sample_over_each_of_its_transports(first_look: Ended, adapter: str) -> None:
    about = DESCRIPTIONS.get(adapter)
    if about is None:
        pytest.skip(f"{adapter} was not built here")
    cells = cells_of(first_look, adapter)
    for transport in about.transports:
        measured = [cell for cell in cells if cell["transport"] == transport.name]
        assert {cell["size"] for cell in measured} == {16}
        for cell in measured:
            assert cell["samples"] == cell["sent"] == cell["received"] > 0
            wrong = ("lost", "late", "duplicated", "reordered", "damaged", "publish_failed")
            assert [name for name in wrong if cell[name]] == []
            assert cell["actual_transport"] in CARRIERS.get(transport.carrier, {transport.carrier}), cell["warnings"]
            assert cell["version"] == about.version
            assert 0 < cell["round_trip_ns"]["min"] <= cell["round_trip_ns"]["max"]


@pytest.mark.parametrize("adapter", MIDDLEWARES)
def test_a_middleware_is_compared_with_the_raw_transport_of_its_kind(first_look: Ended, adapter: str) -> None:
    if adapter not in DESCRIPTIONS:
        pytest.skip(f"{adapter} was not built here")
    for cell in cells_of(first_look, adapter):
        if cell["round_trip_ns"]["p50"] is not None and cell["actual_transport"] != "message-queue":
            assert cell["times_raw_transport"] > 0
            assert cell["raw_transport"]
            assert cell["baseline"]["times"] > 0
            assert cell["baseline"]["label"].split(",")[0].split()[0] in DESCRIPTIONS


def test_all_does_not_include_the_null_adapter(first_look: Ended) -> None:
    assert cells_of(first_look, "null") == []


def small_run(bench: Bench, output_format: str) -> Ended:
    cells = ["--adapter", "null,shm", "--size", "16,1k", "--receive", "block,poll"]
    short = ["--samples", "60", "--warmup", "10ms", "--trials", "2"]
    return bench.run("run", *cells, *short, "--format", output_format, "--quiet")


CELLS = 12  # null's two transports and shm, two sizes, two ways to receive


def test_a_run_ends_with_the_screen_that_show_prints_again_and_verbose_adds_every_row(bench: Bench) -> None:
    ended = bench.run(
        "run", "--adapter", "null", "--transport", "memory", "--size", "16", "--samples", "60", "--verbose"
    )
    screen = bench.run("show", str(ended.folder)).out
    assert ended.out.startswith(screen)
    assert len(screen.splitlines()) <= 40
    assert "How to read it" in ended.out.removeprefix(screen)


def test_latencytests_table_of_a_real_run_has_the_original_format(bench: Bench) -> None:
    out = small_run(bench, "latencytest").out
    assert "Half round trips" in out
    rows = [line.split(",") for line in out.splitlines() if line[:8].strip().isdigit()]
    assert len(rows) == CELLS
    for row in rows:
        size, samples, *times = (each.strip() for each in row)
        assert (int(size) in (16, 1024), int(samples)) == (True, 120)
        assert len(times) == 8
        least, median, most = (float(times[index]) for index in (2, 3, 7))
        assert 0 < least <= median <= most


def test_roundtrips_lines_of_a_real_run_have_the_original_format(bench: Bench) -> None:
    out = small_run(bench, "roundtrip").out
    overall = [line.split() for line in out.splitlines() if line.startswith("# Overall")]
    assert len(overall) == 2 * CELLS, "trials are never pooled"
    assert all(line[2] == "60" for line in overall)
    assert out.count("# trial 2") == CELLS
