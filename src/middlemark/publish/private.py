"""Find texts that must not be published: paths, addresses, and the names of machines and users."""

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from middlemark.show.json.published import Published

_PATH = re.compile(r"(?:^|[\s\"'=:,(])(/[\w.@~+-]+){2,}|~/[\w.]|\b[A-Za-z]:\\")
_ADDRESS = re.compile(
    r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])|(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}"
    r"|[0-9A-Fa-f]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*"
)
_MAC = re.compile(r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}")
_VERSIONS = ("version", "kernel", "middlemark", "sha256", "digest")
"""Fields in which a text like 1.2.3.4 is a version and no address."""


def private_parts(result: Published, names: Sequence[str]) -> list[str]:
    """Return the place and the kind of each text that must not be published.

    ``names``: names of machines and of the user.
    """
    words = [re.compile(rf"(?<![\w-]){re.escape(each)}(?![\w-])") for each in names if len(each) > 2]
    found = []
    for place, text in _texts(msgspec.to_builtins(result)):
        field = place.rpartition(".")[2]
        if field in _VERSIONS:
            continue
        if _PATH.search(text):
            found.append(f"{place} contains a path")
        elif any(map(_is_address, _ADDRESS.findall(text))):
            found.append(f"{place} contains an address")
        elif any(each.search(text) for each in words):
            found.append(f"{place} contains the name of the host or the user")
    return found


def _is_address(text: str) -> bool:
    if _MAC.fullmatch(text):
        return True
    try:
        ipaddress.ip_address(text.rstrip(".:"))
    except ValueError:
        return False
    return text not in ("::", ":")


def _texts(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text with its place: ``cells[3].levels.label``. Keys that users choose are texts too."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield f"{place} (a key)", str(key)
            yield from _texts(each, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list | tuple):
        for at, each in enumerate(value):
            yield from _texts(each, f"{place}[{at}]")
