"""Several builds of one adapter: ``cyclonedds@11.0.1`` is the adapter cyclonedds, built with that version."""

from pathlib import Path

from middlemark.model.description import Description

VERSION = "version"
"""Name of an additional factor: the part of an adapter's name after the ``@``."""
USUAL = "usual"
"""Level of ``VERSION`` for the build without ``@`` in its name."""


def adapter_of(name: str) -> str:
    """Return the adapter of a build, which is the part before the ``@``."""
    return name.partition("@")[0]


def version_of(name: str) -> str:
    """Return the version in the name of a build: the part after the ``@``, or ``usual``."""
    return name.partition("@")[2] or USUAL


def is_version(build: Description, asked: str) -> bool:
    """Say whether ``asked`` names the build, as ``cyclonedds@0.10.2`` or ``cyclonedds@/opt/cyclone-11`` does."""
    name, _, which = asked.partition("@")
    if build.name == asked:
        return True
    if adapter_of(build.name) != name or not which:
        return False
    if "/" in which:
        return Path(build.library).is_relative_to(Path(which).absolute())
    return which in (version_of(build.name), *build.version.split())
