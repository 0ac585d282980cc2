"""The answer of a report as a picture. A headless Chromium draws it from the report's page (``picture.mjs``)."""

import base64
import html
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from middlemark.problems import MeasureError, Problem, RequestError

KINDS = ("svg", "png")
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_OPTIONS = ("--headless", "--disable-gpu", "--no-first-run", "--virtual-time-budget=20000", "--dump-dom")
_SECONDS = 120
_PICTURE = re.compile(r'<pre id="picture">(.*?)</pre>', re.DOTALL)


def kind_of(path: Path) -> str:
    """Return ``svg`` or ``png`` by the ending of the path. Raises RequestError for any other ending."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise RequestError([Problem("--picture", f"'{path}' ends in neither .svg nor .png")])
    return kind


def browser() -> str:
    """Return the path of Chromium. Raises MeasureError if there is none."""
    named = os.environ.get("MIDDLEMARK_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        raise MeasureError(
            "a picture needs Chromium, which is not installed",
            "install the package chromium (Debian) or chromium-browser (Ubuntu), or name one in MIDDLEMARK_CHROMIUM; "
            "the report's button 'share as picture' needs no package",
        )
    return found


def picture_of(page: str, kind: str) -> bytes:
    """Return the picture of a report's page, as SVG or PNG. Raises MeasureError if it cannot be drawn."""
    chromium = browser()
    # Chromium's sandbox does not work for root, and Chromium opens only our own page.
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="middlemark-picture-") as folder:
        file = Path(folder, "report.html")
        file.write_text(page, encoding="utf-8")
        command = [chromium, *_OPTIONS, *sandbox, f"--user-data-dir={folder}/profile", f"{file.as_uri()}#picture"]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MeasureError(
                f"{chromium}: drew no picture ({error})", "name another Chromium in MIDDLEMARK_CHROMIUM"
            ) from None
    found = _PICTURE.search(ended.stdout)
    if found is None:
        last = (ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"])[-1]
        raise MeasureError(f"{chromium}: drew no picture: {last}", "name another Chromium in MIDDLEMARK_CHROMIUM")
    pictures = json.loads(html.unescape(found[1]))
    if kind not in pictures:
        raise MeasureError("this report compares nothing, so there is no picture of its answer")
    return base64.b64decode(pictures[kind]) if kind == "png" else str(pictures[kind]).encode()
