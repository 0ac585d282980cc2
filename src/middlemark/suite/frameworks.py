"""The table of frameworks that Middlemark measures or only documents. Each fact has a source."""

import tomllib
from pathlib import Path

import msgspec

FACTS = ("licence", "languages", "transports", "patterns", "serialisation", "discovery", "security", "last_release")


class Fact(msgspec.Struct, frozen=True, array_like=True):
    """A fact and the source that states it."""

    text: str
    source: str


class Framework(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One framework. A fact is None if no source was found."""

    title: str
    adapter: str | None = None
    """The adapter that measures the framework; None: the framework is only documented."""
    licence: Fact | None = None
    languages: Fact | None = None
    transports: Fact | None = None
    patterns: Fact | None = None
    serialisation: Fact | None = None
    discovery: Fact | None = None
    security: Fact | None = None
    last_release: Fact | None = None
    """The newest release at the time the table was written."""

    @property
    def facts(self) -> dict[str, Fact | None]:
        """Return name of a fact → the fact, for all facts of the framework."""
        return {name: getattr(self, name) for name in FACTS}


class Frameworks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of ``frameworks.toml``."""

    sources: dict[str, str]
    """Key of a source, as facts name it → the source."""
    framework: dict[str, Framework]


def frameworks() -> Frameworks:
    """Read the table of frameworks."""
    text = Path(__file__).with_name("frameworks.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Frameworks)
