"""The folder of what must outlast a run, by user."""

import os


def folder() -> str:
    """Return it: of XDG where that is set, ``/var/lib/middlemark`` for root."""
    if home := os.environ.get("XDG_STATE_HOME"):
        return os.path.join(home, "middlemark")
    return "/var/lib/middlemark" if os.geteuid() == 0 else os.path.expanduser("~/.local/state/middlemark")


def changed() -> str:
    """Return the file that has what was changed on this machine (``system.journal``)."""
    return os.path.join(folder(), "changed.json")
