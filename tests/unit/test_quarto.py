"""``report --quarto``: a file that Quarto and R Markdown read, and a file with all of its data."""

import csv
import io
import re
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from test_compare import SAMPLES, cell, write

from middlemark.commands.export import command as export
from middlemark.commands.report import command

CHUNK = re.compile(r"^```\{r\}\n(.*?)^```$", re.M | re.S)


def asked(*arguments: object) -> Result:
    return CliRunner().invoke(command, [*map(str, arguments)], standalone_mode=False)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write(tmp_path / "runs", {cell(): 50_000, cell(transport="shm"): 25_000})


def test_the_file_is_well_formed_and_its_chunks_read_existing_files(run: Path, tmp_path: Path) -> None:
    done = asked(run, "--quarto", tmp_path / "out")
    assert (done.return_value, done.exception) == (0, None)
    text = (tmp_path / "out" / "report.qmd").read_text()
    header, begin = re.match(r"---\n(.*?)\n---\n", text, re.S), text.index("---\n", 4)
    assert header is not None
    assert [each.split(": ")[0] for each in header[1].splitlines()] == ["title", "format"]
    assert text.count("```") == 2 * len(CHUNK.findall(text)) == 6, "every fence belongs to a chunk of R"
    assert begin < text.index("```{r}")
    labels = re.findall(r"^#\| label: (\S+)$", text, re.M)
    assert labels == ["data", "by-size", "round-trips"]
    for code in CHUNK.findall(text):
        for opening, closing in ("()", "{}"):
            assert code.count(opening) == code.count(closing), code
    folders = re.findall(r'"(data/[^"]+)"', text)
    assert [sorted(each.name for each in (tmp_path / "out" / folder).iterdir()) for folder in folders] == [
        ["cells.parquet", "figures.csv", "round_trips.parquet"]
    ]
    assert not (run / "report.html").exists()


def test_the_exported_data_is_complete(run: Path, tmp_path: Path) -> None:
    asked(run, "--quarto", tmp_path / "out")
    [folder] = (tmp_path / "out" / "data").iterdir()
    exported = CliRunner().invoke(export, [str(run), "--to", "csv-long", "--out", "-"], standalone_mode=False).stdout
    assert (folder / "figures.csv").read_text() == exported
    assert {row["metric"] for row in csv.DictReader(io.StringIO(exported))} >= {"round_trip_p50", "received"}
    trips = pq.read_table(folder / "round_trips.parquet")
    assert len(trips) == 2 * 8 * SAMPLES
    assert set(trips["cell"].to_pylist()) == set(pq.read_table(folder / "cells.parquet")["cell"].to_pylist()) == {0, 1}


def test_each_run_has_its_own_folder(run: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other", {cell(): 60_000})
    asked(run, other, "--quarto", tmp_path / "out")
    assert len(list((tmp_path / "out" / "data").glob("*/figures.csv"))) == 2


def test_an_existing_folder_is_not_changed(run: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    done = asked(run, "--quarto", tmp_path / "out")
    assert done.return_value == 1
    assert "is there already" in done.stderr or "File exists" in done.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_text_of_a_run_never_becomes_code_of_the_report(run: Path, tmp_path: Path) -> None:
    path = run / "run.json"
    kept = msgspec.json.decode(path.read_bytes())
    kept["command"] = ["middlemark", "run", "`r system('id')`", "```{r}", "x"]
    kept["suites"] = ["`r 1+1`"]
    path.write_bytes(msgspec.json.encode(kept))
    asked(run, "--quarto", tmp_path / "out")
    text = CHUNK.sub("", (tmp_path / "out" / "report.qmd").read_text())
    assert not re.search(r"`\{?r[ }]", text)
