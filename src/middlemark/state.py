"""The folder of a user for files that outlast a run."""

import os


def folder() -> str:
    """Return the folder: in XDG_STATE_HOME if set, else ``/var/lib/middlemark`` for root, or ``~/.local/state``."""
    if home := os.environ.get("XDG_STATE_HOME"):
        return os.path.join(home, "middlemark")
    return "/var/lib/middlemark" if os.geteuid() == 0 else os.path.expanduser("~/.local/state/middlemark")


def changed() -> str:
    """Return the path of the file that lists the settings changed on this machine (``system.journal``)."""
    return os.path.join(folder(), "changed.json")
