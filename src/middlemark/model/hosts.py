"""The notation for the hosts of a run: ``base=localhost,robot=user@robot.local:2222``."""

import re

import msgspec

from middlemark.model.levels import Wrong
from middlemark.model.spelling import quoted

_HOST = re.compile(r"([a-z][a-z0-9_]*)=(?:([\w.][^@:=,\s]*)@)?(\w[^@:=,\s]*)(?::([0-9]{1,5}))?")


_SITE = re.compile(r"[a-z][a-z0-9_]*")


def is_site(name: str) -> bool:
    """Say whether a host may have this name; ``here`` is reserved for this machine."""
    return name != "here" and _SITE.fullmatch(name) is not None


class HostAddress(msgspec.Struct, frozen=True):
    """One host as SSH reaches it. None for user or port: SSH's own configuration decides."""

    name: str
    """Name of the host's site."""
    host: str
    user: str | None = None
    port: int | None = None

    def __str__(self) -> str:
        """Return the arguments for ``ssh``."""
        return f"{f'{self.user}@' if self.user else ''}{self.host}{f' -p {self.port}' if self.port else ''}"


def parse_hosts(text: str) -> tuple[HostAddress, ...]:
    """Read the hosts of a run. Raises Wrong."""
    found: list[HostAddress] = []
    for part in text.split(","):
        match = _HOST.fullmatch(part.strip())
        if match is None or not 0 < int(match[4] or 1) < 1 << 16:
            raise Wrong(f"{quoted(part)} is not a host; write NAME=[USER@]HOST[:PORT], as in robot=user@robot.local")
        if match[1] == "here":
            raise Wrong("'here' is reserved for this machine; give the host another name")
        found.append(HostAddress(match[1], match[3], match[2], int(match[4]) if match[4] else None))
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise Wrong(f"two hosts are called {name}")
    if len(found) < 2:
        raise Wrong("one host is not enough; name two hosts, as in base=localhost,robot=user@robot.local")
    return tuple(found)
