"""A run with security: what protects each row, whose certificates it has, and that no key gets anywhere."""

from pathlib import Path

import pytest
from product import Bench

from middlemark.security.make import make_set
from middlemark.workers.find import executables

pytestmark = pytest.mark.skipif("zeromq" not in executables(), reason="ZeroMQ is not built here")

RUN = (
    *("run", "--adapter", "zeromq", "--transport", "tcp", "--size", "64", "--samples", "50", "--warmup", "10ms"),
    *("--trials", "2", "--no-floors", "--quiet"),
)


def test_a_protected_row_says_what_protects_it_and_a_plain_one_that_nothing_does(bench: Bench) -> None:
    ended = bench.run(*RUN, "--security", "none,encrypted", "--format", "json")
    assert ended.code == 0, ended.err
    plain, protected = ended.document["cells"]
    assert (plain["security"], plain["protected_by"], plain["protection_proof"]) == ("none", None, None)
    assert plain["handshake_ns"] is None
    assert (protected["security"], protected["failed"], protected["lost"]) == ("encrypted", None, 0)
    assert protected["protected_by"].startswith("CURVE")
    assert protected["handshake_ns"] > 0
    assert set(protected["protection_proof"]) == {
        *("payload-not-seen", "stranger-refused", "unauthorised-refused", "absent")
    }
    judged = bench.run("compare", str(ended.folder), "--by", "security", "--baseline", "none")
    assert "security=encrypted" in judged.out, judged.out + judged.err


def test_no_key_reaches_what_a_run_prints_or_keeps(bench: Bench, tmp_path: Path) -> None:
    make_set(str(tmp_path / "mine"))
    ended = bench.run(*RUN, "--security", "encrypted", "--certs", str(tmp_path / "mine"))
    assert ended.code == 0, ended.err
    told = [ended.out, ended.err]
    run = str(ended.folder)
    told += [
        bench.run(*verb).out
        for verb in (("show", run, "--verbose"), ("report", run), ("report", run, "--markdown", "-"))
    ]
    told += [bench.run("export", run, "--to", kind, "--out", "-").out for kind in ("csv", "google-benchmark", "junit")]
    kept = [each for each in ended.folder.rglob("*") if each.is_file()]
    assert any(each.suffix == ".html" for each in kept)
    contents = [each.read_bytes() for each in kept] + [each.encode() for each in told]
    keys = [each.read_bytes().splitlines()[1] for each in (tmp_path / "mine").glob("*.key")]
    keys += [each.read_bytes().strip() for each in (tmp_path / "mine").glob("*.curve")]
    assert len(keys) == 10
    assert not [key for key in keys for content in contents if key in content]


def test_a_set_with_a_fault_is_refused_before_anything_starts(bench: Bench, tmp_path: Path) -> None:
    make_set(str(tmp_path / "mine"))
    (tmp_path / "mine/sender.curve").chmod(0o644)
    (tmp_path / "mine/receiver.curve.pub").unlink()
    ended = bench.run(*RUN, "--security", "encrypted", "--certs", str(tmp_path / "mine"))
    assert ended.code == 2
    first, second = ended.err.splitlines()
    assert first.startswith(f"middlemark: {tmp_path}/mine/sender.curve: others may read it (mode 0644); chmod 600 ")
    assert second.startswith(f"middlemark: {tmp_path}/mine/receiver.curve.pub: there is no such file; it is ")


def test_certificates_for_a_run_without_security_are_refused(bench: Bench, tmp_path: Path) -> None:
    ended = bench.run(*RUN, "--certs", str(tmp_path))
    assert ended.code == 2
    assert "--certs: nothing of this is protected; give --security encrypted" in ended.err
