"""A real run ends with its report, and stored runs make reports: complete, failed, interrupted, in progress."""

import html
import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from product import Bench, until

from middlemark.problems import MeasureError
from middlemark.show.html.page import script

pytestmark = pytest.mark.usefixtures("null_worker")

RUN = ["run", "--adapter", "udp,uds", "--size", "16,1k", "--samples", "1000", "--warmup", "20ms", "--trials", "2"]


def built() -> bool:
    """True if the report's script was built, as by ./check."""
    try:
        return bool(script())
    except MeasureError:
        return False


needs_script = pytest.mark.skipif(not built(), reason="D3 and Observable Plot are not built here")


def document_in(page: Path) -> Any:
    """Return the data embedded in a page."""
    (block,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.DOTALL)
    return json.loads(block)


@pytest.mark.brief
@needs_script
def test_a_run_ends_with_a_report_and_prints_its_path(bench: Bench) -> None:
    ended = bench.run(*RUN)
    assert ended.code == 0, ended.err
    page = ended.folder / "report.html"
    assert ended.err.splitlines()[-1] == f"report: {page}"
    assert page.name not in ended.out, "stdout contains only the result"
    document = document_in(page)
    assert [(each["f"]["adapter"], each["f"]["size"]) for each in document["cells"]] == [
        (name, size) for name in ("udp", "uds") for size in (16, 1024)
    ]
    for cell in document["cells"]:
        assert cell["trials"] == 2
        assert cell["curve"][0][0] == 0
        assert cell["latency"]["min"] <= cell["latency"]["p50"] <= cell["latency"]["max"]
        assert 0 < sum(map(sum, cell["heat"]["n"])) < cell["samples"], "the heat map shows one of the two trials"
    text = html.unescape(page.read_text())
    for answer in document["answers"]:
        assert answer["text"] in text


def test_a_failed_report_does_not_affect_the_run(bench: Bench) -> None:
    ended = bench.run(*RUN, "--quiet", "--format", "json", environment={"MIDDLEMARK_WEB": "/nowhere"})
    assert ended.code == 0
    assert len(ended.document["cells"]) == 4


def test_runs_under_way_and_interrupted_runs_can_be_reported(bench: Bench) -> None:
    run = bench.start(*RUN[:-1], "40")
    until(lambda: run.trials() >= 3)
    under_way = bench.start("report", str(run.folder), "--markdown", "-").ended()
    assert under_way.code == 0, under_way.err
    assert "The run is still under way: " in under_way.out
    run.signal(signal.SIGINT)
    ended = run.ended()
    assert ended.code == 130
    interrupted = bench.run("report", str(ended.folder), "--markdown", "-")
    assert re.search(r"The run was interrupted after \d+ of 160 trials\.", interrupted.out)
    assert "middlemark run --resume " in interrupted.out
