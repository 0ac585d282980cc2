"""Every verb once, as a user starts it, on a run that takes a second. Other files test each verb in full."""

import http.client
import json
import re
import signal
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
from product import ROOT, Bench, Ended

from middlemark import __version__
from middlemark.system.registry import CHECKS

pytestmark = [pytest.mark.brief, pytest.mark.usefixtures("null_worker")]

MEASURED = ("--adapter", "null", "--transport", "memory", "--warmup", "5ms", "--no-baseline")
LOGS = ROOT / "tests" / "fixtures" / "imports"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ended]:
    """A run of two sizes with two trials each, shared by the tests that read it."""
    place = Bench(tmp_path_factory.mktemp("measured"))
    yield place.run("run", *MEASURED, "--size", "64,1k", "--samples", "100", "--trials", "2", "--quiet")
    place.close()


@pytest.fixture
def run(measured: Ended) -> str:
    """The folder of the shared run."""
    assert measured.code == 0, measured.err
    return str(measured.folder)


def printed(bench: Bench, *words: str) -> str:
    """Run a command that must succeed, and return its output."""
    ended = bench.run(*words)
    assert ended.code == 0, ended.err
    return ended.out


def test_help_lists_every_verb_and_version_prints_the_version(bench: Bench) -> None:
    files = {path.stem.rstrip("_") for path in (ROOT / "src/middlemark/commands").glob("[a-z]*.py")}
    verbs = files - {"options", "page"}
    help_text = printed(bench, "--help")
    assert {verb for verb in verbs if re.search(rf"^  {verb} ", help_text, re.MULTILINE)} == verbs
    assert __version__ in printed(bench, "--version")


def test_show_prints_the_kept_run_again(bench: Bench, measured: Ended, run: str) -> None:
    screen, _, more = printed(bench, "show", run).partition("\nMore ")
    assert measured.out.partition("\nMore ")[0] == screen
    assert run in more
    assert [each["samples"] for each in measured.kept] == [100] * 4


def test_history_has_a_point_for_each_run_of_a_suite(bench: Bench) -> None:
    path = bench.suite(
        '[[sweep]]\nadapter = "shm"\nsize = 64\nsamples = 100\nwarmup = "5ms"\ntrials = 1\n',
        "daily",
    )
    for _ in range(2):
        assert bench.run("run", path, "--no-baseline", "--quiet", "--out", "daily").code == 0
    found = json.loads(printed(bench, "history", "daily", "--format", "json"))["series"]
    assert {(each["adapter"], len(each["points"]), len(each["changes"])) for each in found} == {("shm", 2, 0)}


def test_publish_refuses_a_run_with_too_few_trials(bench: Bench, run: str) -> None:
    ended = bench.run("publish", run, "--to", "results")
    assert ended.code == 4
    assert f"{run}: is not published: no configuration has 6 trials" in ended.err


def test_site_needs_a_published_result(bench: Bench) -> None:
    (bench.folder / "results").mkdir()
    ended = bench.run("site", "results")
    assert ended.code == 3
    assert "there is no valid published result" in ended.err
    assert "middlemark publish RUN --to results" in ended.err


def test_compare_judges_two_sizes(bench: Bench, run: str) -> None:
    [pair] = json.loads(printed(bench, "compare", run, "--by", "size", "--anyway", "--format", "json"))["comparisons"]
    assert (pair["a"], pair["b"], pair["pairs"]) == ("size=64 B", "size=1 KiB", 2)
    assert pair["a_median"] > 0


def test_report_writes_markdown(bench: Bench, run: str) -> None:
    assert (
        sum(line.startswith("| null memory") for line in printed(bench, "report", run, "--markdown", "-").splitlines())
        >= 2
    )


def test_export_writes_junit_and_a_line_for_each_figure(bench: Bench, run: str) -> None:
    cases = ET.fromstring(printed(bench, "export", run, "--to", "junit", "--out", "-")).iter("testcase")
    assert len(list(cases)) == 2
    assert len(printed(bench, "export", run, "--to", "csv-long", "--out", "-").splitlines()) > 4


def test_import_reads_the_log_of_another_tool(bench: Bench, tmp_path: Path) -> None:
    found = json.loads(
        printed(bench, "import", str(LOGS / "ddsperf/ping.log"), "--out", str(tmp_path / "kept"), "--format", "json")
    )
    assert found["run"]["imported"] == ["ping.log (ddsperf's lines, all 13 lines)"]
    assert found["cells"][0]["round_trip_ns"]["p50"] > 0


def test_list_shows_adapters_suites_frameworks_and_runs(bench: Bench, run: str) -> None:
    assert re.search(r"^null +\S", printed(bench, "list", "adapters"), re.MULTILINE)
    assert "first-look (default)" in printed(bench, "list", "suites")
    assert "cyclonedds" in json.loads(printed(bench, "list", "frameworks", "--format", "json"))["framework"]
    assert "2 configurations, 4 of 4 trials, complete" in printed(bench, "list", "runs", str(Path(run).parent))


def test_view_serves_the_list_and_a_report(bench: Bench, run: str) -> None:
    started = bench.start("view", str(Path(run).parent))
    assert started.process.stdout is not None
    found = re.search(r"http://127\.0\.0\.1:(\d+)(/\S+/)", started.process.stdout.readline())
    assert found
    pages = []
    for path in ("", f"run/{Path(run).name}"):
        connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=120)
        connection.request("GET", found[2] + path)
        answer = connection.getresponse()
        pages.append((answer.status, answer.read().decode()))
        connection.close()
    started.signal(signal.SIGINT)
    assert started.ended().code == 0
    assert [status for status, _ in pages] == [200, 200]
    assert "1 of 1 runs" in pages[0][1]


def test_doctor_answers_in_its_first_line(bench: Bench) -> None:
    ended = bench.run("doctor", "--no-probes")
    assert ended.code in (0, 4), ended.err
    first_sentence = " ".join(ended.out.split()).partition(".")[0]
    assert first_sentence.endswith(f"by {len(CHECKS)} checks for middlewares in general")


def test_diagnose_names_only_limits_with_evidence_in_trials(bench: Bench, run: str) -> None:
    document = json.loads(printed(bench, "diagnose", run, "--format", "json"))
    assert document["run"] == run
    assert {each["check"] for each in document["limits"]} <= {"steal", "run_queue"}, "other programs may run here"


def test_which_measures_the_candidates_of_a_question(bench: Bench, tmp_path: Path) -> None:
    asked = ("which", "--adapter", "null", "--transport", "memory", "--rate", "200", "--budget", "5s")
    found = json.loads(printed(bench, *asked, "--quiet", "--format", "json", "--out", str(tmp_path / "kept")))
    assert (found["question"]["size"], found["question"]["rate_hz"]) == (1024, 200)
    [candidate] = found["candidates"]
    assert (candidate["adapter"], candidate["transport"]) == ("null", "memory")
    assert candidate["p50_ns"] > 0
    assert candidate["rounds"] >= 1


def test_certs_writes_a_set_whose_keys_only_the_owner_can_read(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "certs"
    output = printed(bench, "certs", str(folder))
    keys = [path for path in folder.iterdir() if path.suffix in (".key", ".curve")]
    assert {path.name for path in keys} == {
        line.split()[0] for line in output.splitlines() if "readable only by you" in line
    }
    assert {path.stat().st_mode & 0o777 for path in keys} == {0o600}
    assert bench.run("certs", str(folder)).code == 2, "an existing set is never overwritten"


def test_workload_makes_a_suite_that_run_accepts(bench: Bench, tmp_path: Path) -> None:
    nodes = [
        {"node_name": "a", "publishers": [{"topic_name": "t", "msg_type": "stamped10kb", "period_ms": 10}]},
        {"node_name": "b", "subscribers": [{"topic_name": "t", "msg_type": "stamped10kb"}]},
    ]
    (tmp_path / "small.json").write_text(json.dumps({"nodes": nodes}), encoding="utf-8")
    suite = str(tmp_path / "small.toml")
    printed(bench, "workload", str(tmp_path / "small.json"), "-o", suite)
    assert "Nothing was measured." in printed(bench, "run", suite, *MEASURED[:4], "--dry-run")


def test_reproduce_lists_the_studies(bench: Bench) -> None:
    listed = printed(bench, "reproduce", "--list")
    assert {path.parent.name for path in ROOT.glob("studies/*/study.toml")} == {
        line.split()[0] for line in listed.splitlines() if not line.startswith(" ")
    }
