"""Writes the files that a script generates, or names those that are out of date."""

import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def update(texts: Mapping[Path, str]) -> int:
    """Write the texts, or with --check only name the files that differ. Return the exit status of the script."""
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" not in sys.argv[1:]:
        for path in stale:
            path.write_text(texts[path], encoding="utf-8")
        return 0
    for path in stale:
        print(f"{path.relative_to(ROOT)} is out of date; run scripts/{Path(sys.argv[0]).name}", file=sys.stderr)
    return 1 if stale else 0


def between(page: str, begin: str, end: str, text: str) -> str:
    """Return the page with the text between two marks. Raises ValueError if a mark is missing."""
    at = page.index(begin) + len(begin)
    return page[:at] + text + page[page.index(end, at) :]
