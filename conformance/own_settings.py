"""Checks of the settings that a worker reports in its middleware's own form."""

import json
import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

from middlemark.model.protocol import OwnSettings

_SECRET = re.compile(r"-----BEGIN|\.key\b|\.pem\b")
_OF_THE_TRIAL = re.compile(r"\bmm_\w+|\b\d+\.\d+\.\d+\.\d+:\d+|/proc/|/home/")
"""Texts that are only valid in this trial: names of topics (they begin with ``mm_``), addresses with a port, paths."""


def problems(settings: OwnSettings | None, scratch: Path) -> list[str]:
    """Return the parts that a user could not copy: names, paths and keys of the trial, and text that is not valid."""
    if settings is None:
        return []
    text = settings.text
    found = [f"contains {each}" for each in (*_SECRET.findall(text), *_OF_THE_TRIAL.findall(text))]
    found += [f"contains {each}" for each in {str(scratch), str(scratch.parent)} if each in text]
    if not text.strip() or not text.endswith("\n"):
        found.append("is empty or does not end in a newline")
    try:
        match settings.language:
            case "xml":
                ElementTree.fromstring(text)
            case "toml":
                tomllib.loads(text)
            case "json5":
                json.loads(_as_json(text))
    except ValueError as error:  # ElementTree.ParseError is a SyntaxError
        found.append(f"is no {settings.language}: {error}")
    except SyntaxError as error:
        found.append(f"is no {settings.language}: {error}")
    return found


def _as_json(json5: str) -> str:
    """Convert JSON5 to JSON. Adapters use only its comments, unquoted keys and final commas."""
    lines = [line for line in json5.splitlines() if not line.startswith("//")]
    quoted = re.sub(r"([{,]\s*)([A-Za-z_]\w*)\s*:", r'\1"\2":', "\n".join(lines))
    return re.sub(r",(\s*[}\]])", r"\1", quoted)
