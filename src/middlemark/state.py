"""The per-user folder for files that outlast a run."""

import os


def folder() -> str:
    """Return the folder: below XDG_STATE_HOME if it is set, ``/var/lib/middlemark`` for root."""
    if home := os.environ.get("XDG_STATE_HOME"):
        return os.path.join(home, "middlemark")
    return "/var/lib/middlemark" if os.geteuid() == 0 else os.path.expanduser("~/.local/state/middlemark")


def changed() -> str:
    """Return the path of the file that lists the settings changed on this machine (``system.journal``)."""
    return os.path.join(folder(), "changed.json")
