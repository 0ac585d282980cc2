"""Plants a fault while participants of a crowd find each other, are idle or talk. Nothing may be left behind."""

import os
import random
import signal
from collections.abc import Callable, Mapping

import faults
from strikes import MEASURED, NOBODY, Hit, Planted, moment_of, of_bystander, of_disk, of_launcher, of_worker
from victim import ROOT, Running, Start

from middlemark.model.description import Transport

SUITE = """[[sweep]]
adapter = "{adapter}"
transport = "{transport}"
pattern = "crowd"
participants = {participants}
topics = {topics}
subscribe = "{subscribe}"
baseline = false
trials = 1
duration = "3s"
match_timeout = "3s"
"""


def of_many(draw: random.Random, _: Start) -> Planted:
    """Kill a part of the crowd at once, or all of it."""
    moment, part = moment_of(draw, begun=True), draw.choice((3, 2, 1))

    def strike(running: Running) -> Hit:
        pids = running.until(running.workers) if moment.comes(running) else None
        struck = [running.signal(each, signal.SIGKILL) for each in (pids or [])[::part]]
        if not any(struck):
            return Hit(frozenset({0}), most_failed=0, whole=True)
        return Hit(MEASURED, most_failed=1, whole=True)

    return f"SIGKILL to one participant of {part} {moment}", strike


def of_room(draw: random.Random, start: Start) -> Planted:
    """Start with too few descriptors, processes, files or memory for the crowd."""
    limits = [("-n", draw.randrange(8, 120)), ("-v", draw.randrange(100, 900) * 1000), ("-l", 0)]
    if os.getuid() == 0 and all(folder.stat().st_mode & 1 for folder in (ROOT, *ROOT.parents)):
        limits += [("-u", draw.randrange(4, 60))] * 3
    option, value = draw.choice(limits)
    if option == "-u":  # this limit does not apply to root
        start.prefix = ("setpriv", f"--reuid={NOBODY}", "--clear-groups")
        for path in (start.folder, *start.folder.iterdir()):
            os.chown(path, NOBODY, -1)
    start.shell = f"ulimit {option} {value};"
    return f"ulimit {option} {value}", lambda _: Hit(MEASURED)


FAULTS: dict[Callable[[random.Random, Start], Planted], int] = {
    of_worker: 3,
    of_many: 4,
    of_launcher: 4,
    of_room: 4,
    of_disk: 3,
    of_bystander: 1,
}
"""By fault: the weight with which it is drawn."""


class Kind(faults.Kind):
    """Crowds over every transport that offers them, with one fault each."""

    name = "crowds"
    faults: Mapping[Callable[[random.Random, Start], Planted], int] = FAULTS

    def is_offered(self, transport: Transport) -> bool:
        """Say whether the transport offers crowds."""
        return "crowd" in transport.patterns

    def suite_of(self, draw: random.Random, adapter: str, transport: str) -> tuple[str, str]:
        """Return a suite with one crowd, and its description."""
        shape = {
            "participants": draw.randrange(2, 9),
            "topics": draw.choice((1, 3)),
            "subscribe": draw.choice(("next", "all")),
        }
        text = SUITE.format(adapter=adapter, transport=transport, **shape)
        return text, "crowd of {participants} × {topics} to {subscribe}".format(**shape)
