"""Compare the clocks of two hosts with small datagrams that go there and back during a trial.

Each exchange bounds the offset of the other clock on both sides. The offset is at most ``received - asked`` and at
least ``answered - back`` (Cristian, Probabilistic clock synchronization, 1989). A straight line within all bounds
describes how the offset changed during the trial (Moon, Skelly and Towsley, Estimation and removal of clock skew from
network delay measurements, 1999). The uncertainty is the distance between the two extreme lines.
"""

import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.model.outcome import ClockOffset

EVERY_S = 1.0
"""The time between two bursts of questions during the measurement, in seconds."""
IN_A_BURST = 8
AT_THE_ENDS, APART_S = 4, 0.02
"""The number of bursts before and after the measurement, and the time between two bursts, in seconds."""
LOST_S = 0.2
"""A datagram without an answer after LOST_S seconds counts as lost. A burst ends after ``MOST_LOST`` lost datagrams."""
MOST_LOST = 3
_ASKED, _ANSWERED = struct.Struct("!Q"), struct.Struct("!QQQ")

Nanoseconds = Callable[[], int]
Floats = npt.NDArray[np.float64]


class Exchange(msgspec.Struct, frozen=True):
    """A datagram and its answer.

    ``asked`` and ``back``: by the asking host's clock; the other fields: by the answering host's clock.
    """

    asked_ns: int
    received_ns: int
    answered_ns: int
    back_ns: int

    @property
    def least_ns(self) -> int:
        """The lower bound of the answering clock's offset."""
        return self.answered_ns - self.back_ns

    @property
    def most_ns(self) -> int:
        """The upper bound of the answering clock's offset."""
        return self.received_ns - self.asked_ns


class Answering:
    """A thread that answers datagrams at a UDP port until it is closed."""

    def __init__(self, address: str, clock: Nanoseconds = time.monotonic_ns) -> None:
        """Bind a port. Raises OSError if this machine does not have the address."""
        self._socket = socket.socket(type=socket.SOCK_DGRAM)
        try:
            self._socket.bind((address, 0))
        except OSError:
            self._socket.close()
            raise
        self._socket.settimeout(LOST_S)
        self._clock = clock
        self._stopped = False
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._answer, name="clock answers", daemon=True)
        self._thread.start()

    def _answer(self) -> None:
        while not self._stopped:
            try:
                asked, who = self._socket.recvfrom(_ANSWERED.size)
                received = self._clock()
                if len(asked) == _ASKED.size:
                    self._socket.sendto(_ANSWERED.pack(*_ASKED.unpack(asked), received, self._clock()), who)
            except OSError:  # a timeout, or the asking host is gone
                continue

    def close(self) -> None:
        """Stop answering."""
        self._stopped = True
        self._thread.join()
        self._socket.close()


class Asking:
    """A thread that sends one burst of questions a second until :meth:`end`."""

    def __init__(self, address: str, port: int, clock: Nanoseconds = time.monotonic_ns) -> None:
        """Connect to the port. Raises OSError if there is no route to the address."""
        self._socket = socket.socket(type=socket.SOCK_DGRAM)
        try:
            self._socket.connect((address, port))
        except OSError:
            self._socket.close()
            raise
        self._socket.settimeout(LOST_S)
        self._clock = clock
        self._stopped = threading.Event()
        self._kept: list[Exchange] = []
        self._thread = threading.Thread(target=self._ask, name="clock asks", daemon=True)
        self._thread.start()

    def end(self) -> tuple[Exchange, ...]:
        """Send the last bursts. For each burst, return the exchanges with the closest bounds."""
        self._stopped.set()
        self._thread.join()
        self._socket.close()
        return tuple(self._kept)

    def _ask(self) -> None:
        self._bursts()
        while not self._stopped.wait(EVERY_S):
            self._burst()
        self._bursts()

    def _bursts(self) -> None:
        for _ in range(AT_THE_ENDS):
            self._burst()
            time.sleep(APART_S)

    def _burst(self) -> None:
        exchanges: list[Exchange] = []
        lost = 0
        while len(exchanges) < IN_A_BURST and lost < MOST_LOST:
            try:
                asked = self._clock()
                self._socket.send(_ASKED.pack(asked))
                while True:
                    reply = self._socket.recv(_ANSWERED.size + 1)
                    back = self._clock()
                    if len(reply) == _ANSWERED.size and (answer := _ANSWERED.unpack(reply))[0] == asked:
                        break  # otherwise the datagram is a late answer to an earlier question
                exchanges.append(Exchange(asked, answer[1], answer[2], back))
            except OSError:
                lost += 1
        if exchanges:
            closest = {max(exchanges, key=lambda each: each.least_ns), min(exchanges, key=lambda each: each.most_ns)}
            self._kept += sorted(closest, key=lambda each: each.asked_ns)


def fitted(exchanges: Sequence[Exchange]) -> ClockOffset | None:
    """Return the offset and drift of the answering clock relative to the asking clock; None: too few exchanges.

    If the rate of a clock was changed, no straight line is within all bounds. Then all bounds are widened by the least
    amount that allows a line, and the uncertainty grows by that amount.
    """
    if len(exchanges) < 2:
        return None
    begin = min(each.asked_ns for each in exchanges)
    end = max(each.back_ns for each in exchanges)
    about = exchanges[0].most_ns  # the offset is large and its changes are small, so subtract it first
    at = np.array([[each.asked_ns - begin, each.back_ns - begin] for each in exchanges]) / 1e9
    bounds = np.array([[each.most_ns - about, about - each.least_ns] for each in exchanges], dtype=float)
    ones = np.ones(len(exchanges))
    below = np.column_stack([ones, at[:, 0], -ones])
    above = np.column_stack([-ones, -at[:, 1], -ones])
    rows, limits = np.vstack([below, above]), bounds.T.ravel()
    widened = _least((0, 0, 1), rows, limits, None)
    if widened is None:
        return None
    found = []
    for seconds in (0.0, (end - begin) / 1e9):
        low = _least((1, seconds, 0), rows, limits, widened)
        high = _least((-1, -seconds, 0), rows, limits, widened)
        if low is None or high is None:
            return None
        found.append((low, -high))
    first, last = (sum(each) / 2 for each in found)
    uncertainty_ns = max(high - low for low, high in found) / 2
    if widened >= 1.0:  # the bounds contradict each other, so the line may be anywhere between them
        uncertainty_ns = widened + max(each.most_ns - each.least_ns for each in exchanges)
    return ClockOffset(
        begin_ns=begin,
        offset_ns=about + first,
        drift_ppm=(last - first) / ((end - begin) / 1e9) / 1e3,
        uncertainty_ns=uncertainty_ns,
        exchanges=len(exchanges),
        round_trip_ns=min(each.most_ns - each.least_ns for each in exchanges),
    )


def _least(goal: Sequence[float], rows: Floats, limits: Floats, widened: float | None) -> float | None:
    """Return the least ``goal`` · (offset, drift, widening) within the limits; None: no line is within them."""
    from scipy.optimize import linprog  # type: ignore[import-untyped]

    slack = (0, None) if widened is None else (widened, widened + 0.5)
    solved = linprog(goal, A_ub=rows, b_ub=limits, bounds=[(None, None), (None, None), slack])
    return float(solved.fun) if solved.success else None
