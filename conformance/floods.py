"""Configure commands for a stream at full rate between two workers that are spoken to directly."""

import os
from pathlib import Path
from typing import Any

import msgspec

from middlemark.launch.request import settings_of
from middlemark.plan.cell import Cell

KEPT = 1_000
"""Records that either end keeps raw: a flood goes on in the histogram."""


def flood(cell: Cell, scratch: Path, *, duration_s: float = 60.0) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the publisher's command and the subscriber's."""
    settings = settings_of(cell) | {
        "domain": 78,
        "scope": f"mm_direct_{os.urandom(3).hex()}",
        "scratch": str(scratch),
        "interface": "lo",
        "write_timeout_s": 1.0,
    }
    common = {
        "settings": msgspec.to_builtins(settings),
        "placement": {"cpus": None, "policy": "other", "priority": 0, "mlock": False, "rt_limit_s": 60},
        "match_timeout_s": 20,
    }
    publisher = {
        "role": "publisher",
        "samples": None,
        "duration_s": duration_s,
        "warmup_s": 0.01,
        "limit_s": duration_s,
        "load": {"kind": "max"},
    }
    return (
        {**common, "roles": [publisher | _role("publisher", scratch)]},
        {**common, "roles": [_role("subscriber", scratch)]},
    )


def _role(name: str, scratch: Path) -> dict[str, Any]:
    return {
        "role": name,
        "index": 0,
        "topic": 0,
        "payload": "filled",
        "samples_path": str(scratch / f"{name}.npy"),
        "kept": KEPT,
        "cpu": None,
    }


def together(publisher: dict[str, Any], subscriber: dict[str, Any]) -> dict[str, Any]:
    """Return the command of one worker that holds both."""
    return {**publisher, "roles": [*publisher["roles"], *subscriber["roles"]]}
