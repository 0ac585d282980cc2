"""Middlemark as an installed package, tested without the files of this checkout."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PIP = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-compile")


class Installed(NamedTuple):
    """A virtual environment with the package: its command and the package's folder."""

    command: Path
    package: Path

    @classmethod
    def in_venv(cls, venv: Path) -> "Installed":
        """Find the command and the package's folder in this environment."""
        asked = [venv / "bin" / "python", "-c", "import middlemark; print(middlemark.__path__[0])"]
        return cls(venv / "bin" / "middlemark", Path(run(asked, cwd=venv).stdout.strip()))

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the command in a folder that is not a checkout."""
        return run([self.command, *arguments], cwd=self.command.parents[2], env=environment)


def run(
    command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    closed = subprocess.DEVNULL
    # The test must not find files of this checkout, because it tests the installed package.
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MIDDLEMARK", "PYTHON"))}
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**clean, **(env or {})},
        stdin=closed,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-6000:]}\n{done.stderr[-6000:]}"
    return done
