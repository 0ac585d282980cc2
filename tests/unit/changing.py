"""Changes settings in its network namespace as a run does, or restores them. Can kill itself in between.

`changing.py POINT make|restore`: kill this process at the POINT-th system call that changes a file or a setting; 0:
never.
"""

import sys
from pathlib import Path

from middlemark.model.setting import Setting
from middlemark.system.changes import changing

WANTED = [Setting("net.ipv4.tcp_fin_timeout", "31"), Setting("net.ipv4.tcp_keepalive_probes", "7")]


def main() -> None:
    sys.path.append(str(Path(__file__).parents[1] / "e2e"))
    from killed import killed_at

    point, verb = int(sys.argv[1]), sys.argv[2]
    killed_at(point)
    with changing(report=print) as changes:
        if verb == "restore":
            return
        for _ in range(2):
            changes.make(WANTED)
            print("made", flush=True)
            if verb == "wait":
                sys.stdin.read()
            changes.restore()


if __name__ == "__main__":
    main()
