"""Damages suites. A dry run must plan them, or refuse them with the reason and the place."""

import random
import re
import tempfile
from pathlib import Path

from attempts import describing_worker, run
from mutations import WORDS, lines_of, of_bytes

SUITES = Path(__file__).resolve().parents[2] / "suites"
_VALUE = re.compile(rb"(?m)(?<== ).+$")
_KEY = re.compile(rb"(?m)^[a-z_]+(?= =)")
_VALUES = (
    b"-1", b"0", b"1e999", b"nan", b"[]", b"{}", b'""', b"[[]]", b"true", b"99999999999999999999", b"[1, 'x', {}]",
    b"'@/dev/zero'", b"'@.'", b"1979-05-27", b"0x10", b"'1k'", b"['all', '1k']", b"'max'", b"'curve'", b"[" * 3_000,
    b"{a=" * 3_000, b"'''",
)  # fmt: skip


class Kind:
    """Damages one of Middlemark's own suites."""

    name = "suites"

    def __init__(self) -> None:
        """Make a folder for the damaged suite."""
        self._place = tempfile.TemporaryDirectory(prefix="middlemark-chaos-")
        self.folder = Path(self._place.name)
        self._worker = describing_worker(self.folder / "workers")

    def close(self) -> None:
        """Remove the folder."""
        self._worker()
        self._place.cleanup()

    def attempt(self, draw: random.Random) -> tuple[str, list[str]]:
        """Damage a suite and plan it; return what was done and what was lost."""
        suite = draw.choice(sorted(SUITES.glob("*.toml")))
        content, did = suite.read_bytes(), []
        for _ in range(draw.choice((1, 1, 2, 5))):
            what, content = _damage(draw, content)
            did.append(what)
        damaged = self.folder / "damaged.toml"
        damaged.write_bytes(content)
        ended = run("run", str(damaged), "--adapter", "null", "--dry-run")
        return f"{suite.name}: {'; '.join(did)}", [*ended.losses({0, 2})]


def _damage(draw: random.Random, content: bytes) -> tuple[str, bytes]:
    if not content:
        return of_bytes(draw, content)
    pattern, new = draw.choice(
        ((_VALUE, draw.choice(_VALUES)), (_VALUE, repr(draw.choice(WORDS)).encode()), (_KEY, b"nobody"), (None, b""))
    )
    found = [*pattern.finditer(content)] if pattern else []
    if not found:
        return draw.choice((lines_of, of_bytes))(draw, content)
    at = draw.choice(found)
    return f"{at[0][:30]!r} at {at.start()} is {new[:30]!r}", content[: at.start()] + new + content[at.end() :]
