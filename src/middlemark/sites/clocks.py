"""The clock of one host held against another's: small datagrams there and back while a trial measures.

An exchange bounds how much further the other clock is: no more than when it was received less when it was asked, no
less than when it was answered less when that was back (Cristian, Probabilistic clock synchronization, 1989). A straight
line within all bounds is how the two ran over the trial (Moon, Skelly and Towsley, Estimation and removal of clock skew
from network delay measurements, 1999); how far such lines lie apart is the uncertainty.
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
"""Between two bursts."""
IN_A_BURST = 8
AT_THE_ENDS, APART_S = 4, 0.02
"""Bursts before the trial measures and after it, and the time between two of them."""
LOST_S = 0.2
"""A datagram that is not back by then is lost; a burst goes on after ``MOST_LOST`` of them no more."""
MOST_LOST = 3
_ASKED, _ANSWERED = struct.Struct("!Q"), struct.Struct("!QQQ")

Nanoseconds = Callable[[], int]
Floats = npt.NDArray[np.float64]


class Exchange(msgspec.Struct, frozen=True):
    """One datagram there and back, CLOCK_MONOTONIC: ``asked`` and ``back`` by who asks, the others by who answers."""

    asked_ns: int
    received_ns: int
    answered_ns: int
    back_ns: int

    @property
    def least_ns(self) -> int:
        """The clock of who answers is at least so much further."""
        return self.answered_ns - self.back_ns

    @property
    def most_ns(self) -> int:
        """And at most so much."""
        return self.received_ns - self.asked_ns


class Answering:
    """Answers at a UDP port until it is closed."""

    def __init__(self, address: str, clock: Nanoseconds = time.monotonic_ns) -> None:
        """Raises OSError when this machine does not have that address."""
        self._socket = socket.socket(type=socket.SOCK_DGRAM)
        try:
            self._socket.bind((address, 0))
        except OSError:
            self._socket.close()
            raise
        self._socket.settimeout(LOST_S)
        self._clock = clock
        self._over = False
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._answer, name="clock answers", daemon=True)
        self._thread.start()

    def _answer(self) -> None:
        while not self._over:
            try:
                asked, who = self._socket.recvfrom(_ANSWERED.size)
                received = self._clock()
                if len(asked) == _ASKED.size:
                    self._socket.sendto(_ANSWERED.pack(*_ASKED.unpack(asked), received, self._clock()), who)
            except OSError:  # nobody asked, or who did is gone
                continue

    def close(self) -> None:
        """Answer no more."""
        self._over = True
        self._thread.join()
        self._socket.close()


class Asking:
    """Asks from now on, a burst a second, until :meth:`end`."""

    def __init__(self, address: str, port: int, clock: Nanoseconds = time.monotonic_ns) -> None:
        """Raises OSError when there is no way to that address."""
        self._socket = socket.socket(type=socket.SOCK_DGRAM)
        try:
            self._socket.connect((address, port))
        except OSError:
            self._socket.close()
            raise
        self._socket.settimeout(LOST_S)
        self._clock = clock
        self._over = threading.Event()
        self._kept: list[Exchange] = []
        self._thread = threading.Thread(target=self._ask, name="clock asks", daemon=True)
        self._thread.start()

    def end(self) -> tuple[Exchange, ...]:
        """Ask for the last time; return of each burst the exchanges that bound the difference most closely."""
        self._over.set()
        self._thread.join()
        self._socket.close()
        return tuple(self._kept)

    def _ask(self) -> None:
        self._bursts()
        while not self._over.wait(EVERY_S):
            self._burst()
        self._bursts()

    def _bursts(self) -> None:
        for _ in range(AT_THE_ENDS):
            self._burst()
            time.sleep(APART_S)

    def _burst(self) -> None:
        came: list[Exchange] = []
        lost = 0
        while len(came) < IN_A_BURST and lost < MOST_LOST:
            try:
                asked = self._clock()
                self._socket.send(_ASKED.pack(asked))
                while True:
                    told = self._socket.recv(_ANSWERED.size + 1)
                    back = self._clock()
                    if len(told) == _ANSWERED.size and (answer := _ANSWERED.unpack(told))[0] == asked:
                        break  # an older one came late
                came.append(Exchange(asked, answer[1], answer[2], back))
            except OSError:
                lost += 1
        if came:
            closest = {max(came, key=lambda each: each.least_ns), min(came, key=lambda each: each.most_ns)}
            self._kept += sorted(closest, key=lambda each: each.asked_ns)


def fitted(exchanges: Sequence[Exchange]) -> ClockOffset | None:
    """Return how the clock of who answered ran against the clock of who asked; None: too few exchanges to tell.

    Where no straight line is within all bounds (a clock whose rate was changed), they are widened by as little as lets
    one through, and the uncertainty by as much.
    """
    if len(exchanges) < 2:
        return None
    begin = min(each.asked_ns for each in exchanges)
    end = max(each.back_ns for each in exchanges)
    about = exchanges[0].most_ns  # what is fitted is small beside the time since two machines were started
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
    if widened >= 1.0:  # beyond the bounds, and the truth may be at the other end of them
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
    """Return the least of ``goal`` · (offset, drift, widening) within the limits; None: the solver has none."""
    from scipy.optimize import linprog  # type: ignore[import-untyped]

    slack = (0, None) if widened is None else (widened, widened + 0.5)
    solved = linprog(goal, A_ub=rows, b_ub=limits, bounds=[(None, None), (None, None), slack])
    return float(solved.fun) if solved.success else None
