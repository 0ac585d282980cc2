import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_in_the_readme_matches_the_adapters_own_readmes() -> None:
    argv = [sys.executable, ROOT / "scripts/adapter-table", "--check"]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    table = (ROOT / "README.md").read_text(encoding="utf-8")
    adapters = {each.parent.name for each in ROOT.glob("adapters/*/CMakeLists.txt")} - {"null"}
    assert len(adapters) > 10
    assert all(f"[`{name}`](adapters/{name})" in table for name in adapters)
