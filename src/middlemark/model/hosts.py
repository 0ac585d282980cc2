"""How the hosts of a run are written: ``base=localhost,robot=user@robot.local:2222``. Pure."""

import re

import msgspec

from middlemark.model.levels import Wrong
from middlemark.model.spelling import quoted

_HOST = re.compile(r"([a-z][a-z0-9_]*)=(?:([\w.][^@:=,\s]*)@)?(\w[^@:=,\s]*)(?::([0-9]{1,5}))?")


_SITE = re.compile(r"[a-z][a-z0-9_]*")


def is_site(name: str) -> bool:
    """Whether a host may be called so: ``here`` is this machine."""
    return name != "here" and _SITE.fullmatch(name) is not None


class HostAddress(msgspec.Struct, frozen=True):
    """One host, as SSH reaches it; where user and port are None, its configuration says them."""

    name: str
    """Of the site that it is."""
    host: str
    user: str | None = None
    port: int | None = None

    def __str__(self) -> str:
        """Read as the command that reaches it has it."""
        return f"{f'{self.user}@' if self.user else ''}{self.host}{f' -p {self.port}' if self.port else ''}"


def parse_hosts(text: str) -> tuple[HostAddress, ...]:
    """Read them. Raises Wrong."""
    found: list[HostAddress] = []
    for part in text.split(","):
        match = _HOST.fullmatch(part.strip())
        if match is None or not 0 < int(match[4] or 1) < 1 << 16:
            raise Wrong(f"{quoted(part)} is no host; write NAME=[USER@]HOST[:PORT], as in robot=user@robot.local")
        if match[1] == "here":
            raise Wrong("'here' is what all roles on this machine are called; give the host another name")
        found.append(HostAddress(match[1], match[3], match[2], int(match[4]) if match[4] else None))
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise Wrong(f"two hosts are called {name}")
    if len(found) < 2:
        raise Wrong("one host alone; name two, as in base=localhost,robot=user@robot.local")
    return tuple(found)
