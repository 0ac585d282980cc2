"""Several builds of one adapter beside each other: ``cyclonedds@11.0.1`` is cyclonedds against that installation."""

from pathlib import Path

from middlemark.model.description import Description

VERSION = "version"
"""A factor of its own: what stands behind the ``@`` of an adapter's name."""
USUAL = "usual"
"""The level of the build without one."""


def adapter_of(name: str) -> str:
    """Return the adapter of a build: what stands before its ``@``."""
    return name.partition("@")[0]


def version_of(name: str) -> str:
    """Return the level of ``VERSION``."""
    return name.partition("@")[2] or USUAL


def is_version(build: Description, asked: str) -> bool:
    """Say whether that build is what ``cyclonedds``, ``cyclonedds@0.10.2`` or ``cyclonedds@/opt/cyclone-11`` names."""
    name, _, which = asked.partition("@")
    if build.name == asked:
        return True
    if adapter_of(build.name) != name or not which:
        return False
    if "/" in which:
        return Path(build.library).is_relative_to(Path(which).absolute())
    return which in (version_of(build.name), *build.version.split())
