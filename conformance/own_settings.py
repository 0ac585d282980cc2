"""Checks of the settings that a worker reports in its middleware's own form."""

import json
import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

from middlemark.model.protocol import OwnSettings

_SECRET = re.compile(r"-----BEGIN|\.key\b|\.pem\b")
_OF_THE_TRIAL = re.compile(r"\bmm_\w+|\b\d+\.\d+\.\d+\.\d+:\d+|/proc/|/home/")
"""The names of topics begin with the scope of the trial, which begins with ``mm_``; addresses have a port."""


def problems(settings: OwnSettings | None, scratch: Path) -> list[str]:
    """Return what a user could not copy: names, paths and keys of the trial, and text that the parser refuses."""
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
    """Return JSON5 as JSON: without comments, unquoted keys and final commas. Adapters use nothing else of JSON5."""
    lines = [line for line in json5.splitlines() if not line.startswith("//")]
    quoted = re.sub(r"([{,]\s*)([A-Za-z_]\w*)\s*:", r'\1"\2":', "\n".join(lines))
    return re.sub(r",(\s*[}\]])", r"\1", quoted)
