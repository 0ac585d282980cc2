"""Find the control groups of this process and their limits."""

from middlemark.system.root import Root

MOUNT = "sys/fs/cgroup"
UNLIMITED = 1 << 60
"""In version 1, a limit of about this number or more means unlimited (``max`` in version 2)."""


def groups(root: Root, controller: str) -> tuple[str, ...]:
    """Return the folders of this process's control group and of its parents, beginning with its own group.

    Version 1 is used if it has the controller, else version 2. In a container, the own group may be the mount point.
    """
    for line in sorted((root.text("proc/self/cgroup") or "").splitlines(), reverse=True):
        number, controllers, path = line.split(":", 2)
        if number == "0":
            bases = [MOUNT, f"{MOUNT}/unified"]
        elif controller in controllers.split(","):
            bases = [f"{MOUNT}/{controllers}", f"{MOUNT}/{controller}"]
        else:
            continue
        base = next((each for each in bases if root.names(f"{each}/cgroup.procs")), None)
        if base is None:
            continue
        parts = [part for part in path.split("/") if part and part != ".."]
        above = ["/".join([base, *parts[:depth]]) for depth in range(len(parts), -1, -1)]
        if number != "0" or any(root.names(f"{each}/{controller}.*") for each in above):
            return tuple(each for each in above if root.names(f"{each}/cgroup.procs"))
    return ()


def least(root: Root, controller: str, *names: str) -> tuple[int, str] | None:
    """Return the lowest limit in files with these names in the groups, and its file; None: no limit."""
    found = [
        (value, f"{group}/{name}")
        for group in groups(root, controller)
        for name in names
        if (value := root.number(f"{group}/{name}")) is not None and value < UNLIMITED
    ]
    return min(found, default=None)
