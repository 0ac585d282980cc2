"""``middlemark view``: shows the stored runs over HTTP, on 127.0.0.1 only, with a token, and writes nothing."""

import http.client
import json
import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from product import Bench, Run

MEASURED = ("run", "--adapter", "null", "--transport", "memory", "--size", "64", "--samples", "50", "--warmup", "5ms")


class Site:
    """A running `middlemark view`."""

    def __init__(self, run: Run) -> None:
        self.run = run
        assert run.process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)(/\S+/)", run.process.stdout.readline())
        assert found, "view did not print its address"
        self.port, self.base = int(found[1]), found[2]

    def get(self, path: str = "", *, host: str | None = None) -> tuple[int, dict[str, str], str]:
        """Request a path with GET. A path that begins with / is requested without the token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.putrequest("GET", path if path.startswith("/") else self.base + path, skip_host=True)
        connection.putheader("Host", host or f"127.0.0.1:{self.port}")
        connection.endheaders()
        answer = connection.getresponse()
        found = answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read().decode()
        connection.close()
        return found


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with two runs: a normal one, and one whose names contain markup."""
    place = Bench(tmp_path_factory.mktemp("kept"))
    ended = place.run(*MEASURED, "--quiet")
    assert ended.code == 0, ended.err
    root = ended.folder.parent
    other = root / "<script>alert(1)<!--"
    shutil.copytree(ended.folder, other)
    document = json.loads((other / "run.json").read_text())
    document |= {"suites": ["<img src=x onerror=alert(1)>"], "interrupted": True}
    (other / "run.json").write_text(json.dumps(document))
    yield root
    place.close()


@pytest.fixture(scope="module")
def site(kept: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    place = Bench(tmp_path_factory.mktemp("site"))
    run = place.start("view", str(kept))
    yield Site(run)
    run.signal(signal.SIGINT)
    ended = run.ended()
    assert (ended.code, ended.err) == (0, "")


def test_runs_are_listed_and_found_by_words(site: Site) -> None:
    status, _, page = site.get()
    assert status == 200
    assert "2 of 2 runs" in page
    assert re.search(r"\b1 configuration<|[2-9] configurations<", page)
    status, _, page = site.get("?q=interrupted")
    assert "1 of 2 runs" in page
    assert "alert" in page
    status, _, page = site.get("?q=no+such+thing")
    assert status == 200
    assert "No run with these words" in page


def test_names_from_runs_are_escaped(site: Site) -> None:
    _, _, page = site.get()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "<img" not in page


def test_one_run_and_two_runs_have_a_report(site: Site, kept: Path) -> None:
    names = sorted(path.name for path in kept.iterdir())
    for name in names:
        status, headers, page = site.get(f"run/{quote(name, safe='')}")
        assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert page.lower().startswith("<!doctype html>")
    status, _, page = site.get(f"compare?run={quote(names[0])}&run={quote(names[1])}")
    assert status == 200
    status, _, page = site.get(f"compare?run={quote(names[0])}&run={quote(names[0])}")
    assert status == 400
    assert "Tick two runs" in page


def test_without_the_token_every_request_is_refused(site: Site) -> None:
    for path in ("/", "/runs/", f"{site.base[:-2]}/", "/favicon.ico"):
        status, _, page = site.get(path)
        assert status == 404
        assert "2 of 2" not in page


def test_no_name_leads_out_of_the_folder(site: Site, kept: Path) -> None:
    secret = kept.parent / "secret"
    secret.mkdir()
    (secret / "run.json").write_text((next(kept.iterdir()) / "run.json").read_text())
    for name in ("..%2Fsecret", "../secret", "%2e%2e/secret", quote(str(secret), safe=""), ".", "..", "%00"):
        status, _, page = site.get(f"run/{name}")
        assert status == 404, name
        assert "secret" not in page or "no run" in page


def test_another_site_cannot_use_the_server(site: Site) -> None:
    status, headers, _ = site.get()
    assert headers["referrer-policy"] == "no-referrer"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-frame-options"] == "DENY"
    status, _, page = site.get(host="evil.example")  # a host name that resolves to 127.0.0.1
    assert status == 400
    assert "2 of 2" not in page


def test_view_listens_only_on_the_loopback_and_writes_nothing(site: Site, kept: Path) -> None:
    def everything() -> list[tuple[str, int]]:
        return sorted((str(path), path.stat().st_mtime_ns) for path in kept.parent.rglob("*"))

    before = everything()
    assert site.get()[0] == 200
    assert site.get(f"run/{quote(next(kept.iterdir()).name, safe='')}")[0] == 200
    assert everything() == before
    assert listening(site.run.process.pid) == [f"127.0.0.1:{site.port}"]


def listening(pid: int) -> list[str]:
    """Return the addresses on which this process listens."""
    inodes = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        target = os.readlink(f"/proc/{pid}/fd/{name}")
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    found = []
    for family in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{family}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                address, port = fields[1].split(":")
                assert family == "tcp"
                number = int(address, 16).to_bytes(4, "little")
                found.append(f"{'.'.join(map(str, number))}:{int(port, 16)}")
    return found


def test_a_damaged_run_is_listed_with_its_problem(bench: Bench, tmp_path: Path) -> None:
    root = tmp_path / "kept"
    (root / "broken").mkdir(parents=True)
    (root / "broken" / "run.json").write_text('{"schema": 1, ')
    run = bench.start("view", str(root))
    site = Site(run)
    status, _, page = site.get()
    run.signal(signal.SIGINT)
    assert run.ended().code == 0
    assert status == 200
    assert "not the description of a run" in page


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (("nowhere",), 3, "nowhere: is not a folder"),
        ((".", "--port", "70000"), 2, "'70000' is no port"),
        ((".", "--port", "x"), 2, "'x' is no port"),
    ],
)
def test_a_folder_or_port_that_view_cannot_use_is_refused(
    bench: Bench, words: tuple[str, ...], code: int, problem: str
) -> None:
    ended = bench.run_leaving("view", *words)
    assert ended.code == code
    assert problem in ended.err


def test_a_port_in_use_is_named(bench: Bench, tmp_path: Path) -> None:
    first = bench.start("view", str(tmp_path))
    port = Site(first).port
    second = bench.run_leaving("view", str(tmp_path), "--port", str(port))
    first.signal(signal.SIGINT)
    assert first.ended().code == 0
    assert second.code == 3
    assert f"127.0.0.1:{port}: Address already in use" in second.err
