"""Adds a new declaration to a copy of the package, and runs a script that reports where it appears."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCUMENTS = (
    *(
        "docs/reference/suites.md",
        "docs/reference/commands.md",
        "docs/reference/frameworks.md",
        "docs/reference/checks.md",
        "docs/reference/imports.md",
        "docs/reference/protocol.md",
    ),
    *(
        "scripts/factors",
        "scripts/protocol",
        "scripts/declarations.py",
        "scripts/generated.py",
        "scripts/rust_kit.py",
        "scripts/python_kit.py",
    ),
)
SEE = """
import json, subprocess, sys
seen = set()
def see(where, what):
    if what:
        seen.add(where)
"""
REPORT_SEEN = """
subprocess.run([sys.executable, "scripts/factors"], check=True)
see("manual", MANUAL[1] in open(MANUAL[0]).read())
print(json.dumps(sorted(seen)))
"""


def seen_in_copy(
    folder: Path, declarations: Mapping[str, tuple[str, ...]], script: str, manual: tuple[str, str]
) -> Any:
    """Return the report of ``script`` about the new declaration.

    ``declarations``: for each file of the package, lines and the text to insert after each. ``manual``: a document that
    ``scripts/factors`` writes, and the row that it must contain.
    """
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "bin", "web"))
    for name in DOCUMENTS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for name, insertions in declarations.items():
        file = folder / "src/middlemark" / name
        for line, declared in zip(insertions[::2], insertions[1::2], strict=True):
            before, after = file.read_text().split(line)
            file.write_text(before + declared + line + after)
    environment = os.environ | {
        "PYTHONPATH": f"{folder / 'src'}:{Path(__file__).parent}:{ROOT / 'tests'}",
        "COLUMNS": "200",
    }
    argv = [sys.executable, "-c", f"{SEE}\nMANUAL = {manual!r}\n{script}\n{REPORT_SEEN}"]
    ran = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)
