"""The complete output of `import`: known and unknown figures, and the warnings."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from syrupy.assertion import SnapshotAssertion
from test_reports import TextFile

from middlemark.commands.import_ import command

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "imports"
LOGS = ("ddsperf/ping.log", "ddsperf/flood-sub.log", "roundtripping/ping.log", "performance_test/log.csv")


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(TextFile)


def test_summary(golden: SnapshotAssertion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    logs = [str(FIXTURES / name) for name in LOGS]
    printed = CliRunner().invoke(command, [*logs, "--out", "runs"], standalone_mode=False)
    assert golden == re.sub(r"(More +).*", r"\1middlemark show runs/imported", printed.stdout, flags=re.DOTALL)
