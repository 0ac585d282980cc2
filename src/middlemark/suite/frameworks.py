"""The frameworks themselves, those measured here and those documented only; each fact has a source."""

import tomllib
from pathlib import Path

import msgspec

FACTS = ("licence", "languages", "transports", "patterns", "serialisation", "discovery", "security", "last_release")


class Fact(msgspec.Struct, frozen=True, array_like=True):
    """What is known, and where that stands."""

    text: str
    source: str


class Framework(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One framework. None: nobody here could source it."""

    title: str
    adapter: str | None = None
    """What measures it; None: it is documented only."""
    licence: Fact | None = None
    languages: Fact | None = None
    transports: Fact | None = None
    patterns: Fact | None = None
    serialisation: Fact | None = None
    discovery: Fact | None = None
    security: Fact | None = None
    last_release: Fact | None = None
    """The newest that was seen when the table was written."""

    @property
    def facts(self) -> dict[str, Fact | None]:
        """Return all of them by name."""
        return {name: getattr(self, name) for name in FACTS}


class Frameworks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``frameworks.toml``."""

    sources: dict[str, str]
    """By the word that stands for it."""
    framework: dict[str, Framework]


def frameworks() -> Frameworks:
    """Return the table."""
    text = Path(__file__).with_name("frameworks.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Frameworks)
