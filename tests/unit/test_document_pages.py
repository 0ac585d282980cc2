"""The documents as a whole: their size, the README, the stored outputs and figures, a page for each middleware."""

import csv
import re
import runpy
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RAW = {"shm", "uds", "uds-python", "udp", "udp-python", "tcp", "memcpy", "aes-gcm", "null", "common"}
"""Folders of adapters/ that contain no adapter of a middleware."""
MIDDLEWARES = {each.parent.name for each in ROOT.glob("adapters/*/CMakeLists.txt")} - RAW
CLIENTS = {each.parent.name for each in ROOT.glob("adapters/*/adapter.py")}
"""Adapters that measure a middleware's client library in Python."""
SIZES = (1024, 65536, 1048576)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_readme_is_short_and_counts_the_middlewares() -> None:
    assert read("README.md").count("\n") <= 150
    assert f"| {len(MIDDLEWARES - CLIENTS)} middlewares and raw transports in one run |" in read("README.md")


def test_the_documents_without_references_and_decisions_are_short() -> None:
    house = runpy.run_path(str(ROOT / "scripts/house"))
    words = house["words_of_documents"](ROOT)
    assert {"start", "choose", "how-to", "explain"} <= words.keys()
    assert sum(words.values()) <= house["MOST_WORDS"]


def test_the_documents_have_the_stored_outputs_and_show_their_commands() -> None:
    argv = [sys.executable, ROOT / "scripts/readme", "--check"]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    named = {
        name for path in ("README.md", "docs/start/first-answer.md") for name in re.findall(r"results/\S+", read(path))
    }
    assert {"results/which.txt", "results/which-tutorial.txt"} <= named


def test_each_middleware_has_a_page_to_choose_it_by() -> None:
    for name in MIDDLEWARES:
        page = read(f"adapters/{name}/choosing.md")
        titles = re.findall(r"^## (.+)$", page, re.MULTILINE)
        assert [*titles[1:2], *titles[-2:]] == ["When not", "Settings to copy", "Traps"], name
        assert titles[0] in {"When to choose it", "When to look at it"}, name


def test_the_table_by_size_is_that_of_the_stored_run() -> None:
    best: dict[tuple[str, int], tuple[float, str]] = {}
    for row in csv.DictReader(read("results/first-look-2026-11-28.csv").splitlines()):
        if row["receive"] != "block" or row["processes"] != "2" or not row["round_trip_p50_ns"]:
            continue
        p50_us = float(row["round_trip_p50_ns"]) / 1e3
        loan = ", loan" if row["loaned"] == "true" else ""
        shown = (
            f"{p50_us:,.{0 if p50_us >= 99.95 else 1}f} ({float(row['times_baseline']):.2f}) {row['transport']}{loan}"
        )
        key = (row["adapter"], int(row["size_bytes"]))
        best[key] = min(best.get(key, (p50_us, shown)), (p50_us, shown))
    rows = re.findall(
        r"^\| (?:raw `(.+?)`|\[.+?\]\(\.\./\.\./adapters/(.+?)/choosing\.md\)) \| (.+?) \| (.+?) \| (.+?) \|$",
        read("docs/choose/how-to-choose.md"),
        re.MULTILINE,
    )
    assert {raw or name for raw, name, *_ in rows} == {name for name, _ in best} - {"memcpy"}
    for raw, name, *cells in rows:
        assert cells == [best.get((raw or name, size), (0.0, "–"))[1] for size in SIZES], raw or name
