"""The whole output of `import`: what is known, what is not, and the warnings."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from syrupy.assertion import SnapshotAssertion
from test_reports import TextFile

from middlemark import __version__
from middlemark.commands.import_ import command

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "imports"
LOGS = ("ddsperf/ping.log", "ddsperf/flood-sub.log", "roundtripping/ping.log", "performance_test/log.csv")


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(TextFile)


def test_table(golden: SnapshotAssertion, tmp_path: Path) -> None:
    logs = [str(FIXTURES / name) for name in LOGS]
    printed = CliRunner().invoke(command, [*logs, "--out", str(tmp_path)], standalone_mode=False)
    text = re.sub(r"(kept in +).*?(?=\n[^ ])", r"\1runs/imported", printed.stdout, flags=re.DOTALL)
    text = text.replace(__version__, "0.1.0")
    assert golden == re.sub(r"20\d\d-\d\d-\d\d[T ][\d:.]+", "2026-03-01 12:00:00", text)
