"""The difference of two hosts' clocks: a planted difference is found within the reported uncertainty."""

import random
import time
from collections.abc import Iterator

import pytest

from middlemark.sites import clocks
from middlemark.sites.clocks import Answering, Asking, Exchange, fitted
from middlemark.system.checks.time_sync import synchronised

OFFSET_NS, DRIFT = 5_000_000, 50e-6


def other(now_ns: float) -> int:
    """Return the time of the answering host's clock when the asking host's clock shows ``now_ns``."""
    return round(now_ns + OFFSET_NS + DRIFT * now_ns)


def exchanges(seed: int, *, bursts: int = 5, begin_ns: int = 7_000_000_000_000) -> Iterator[Exchange]:
    """Yield exchanges as on a real link: at least 20 µs each way, and sometimes much more, in either direction."""
    drawn = random.Random(seed)

    def way() -> float:
        return 20_000 + drawn.expovariate(1 / 8_000) + (drawn.expovariate(1 / 500_000) if drawn.random() < 0.1 else 0)

    for burst in range(bursts):
        for each in range(clocks.IN_A_BURST):
            asked = begin_ns + burst * 1_000_000_000 + each * 200_000
            received = asked + way()
            answered = received + 3_000
            yield Exchange(asked, other(received), other(answered), round(answered + way()))


def truth_ns(at_ns: int) -> float:
    return OFFSET_NS + DRIFT * at_ns


def test_a_planted_offset_and_drift_are_found_within_the_uncertainty() -> None:
    for seed in range(100):
        exchanged = list(exchanges(seed))
        found = fitted(exchanged)
        assert found is not None
        assert found.uncertainty_ns <= 50_000
        for at_ns in (exchanged[0].asked_ns, exchanged[20].asked_ns, exchanged[-1].back_ns):
            line = found.offset_ns + found.drift_ppm * 1e-6 * (at_ns - found.begin_ns)
            assert abs(line - truth_ns(at_ns)) <= found.uncertainty_ns + 1


def test_a_clock_whose_rate_changes_increases_the_uncertainty() -> None:
    exchanged = list(exchanges(1))
    middle = exchanged[len(exchanged) // 2].asked_ns

    def bent(each: Exchange) -> Exchange:
        more = max(0, round(500e-6 * (each.asked_ns - middle)))
        return Exchange(each.asked_ns, each.received_ns + more, each.answered_ns + more, each.back_ns)

    found = fitted(list(map(bent, exchanged)))
    assert found is not None
    assert found.uncertainty_ns > 100_000
    for each in map(bent, exchanged):
        line = found.offset_ns + found.drift_ppm * 1e-6 * (each.asked_ns - found.begin_ns)
        truth = truth_ns(each.asked_ns) + max(0, 500e-6 * (each.asked_ns - middle))
        assert abs(line - truth) <= found.uncertainty_ns + 1


def test_fewer_than_two_exchanges_fit_no_offset() -> None:
    assert fitted([]) is None
    assert fitted(list(exchanges(1))[:1]) is None


def test_the_offset_is_found_over_real_datagrams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clocks, "EVERY_S", 0.05)
    answering = Answering("127.0.0.1", clock=lambda: other(time.monotonic_ns()))
    asking = Asking("127.0.0.1", answering.port)
    time.sleep(0.3)
    exchanged = asking.end()
    answering.close()
    found = fitted(exchanged)
    assert found is not None
    assert found.exchanges == len(exchanged) >= 2 * clocks.AT_THE_ENDS
    for each in exchanged:
        line = found.offset_ns + found.drift_ppm * 1e-6 * (each.asked_ns - found.begin_ns)
        assert abs(line - truth_ns(each.asked_ns)) <= found.uncertainty_ns + 1


def test_a_host_that_does_not_answer_costs_only_its_datagrams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clocks, "LOST_S", 0.01)
    answering = Answering("127.0.0.1")
    answering.close()
    asking = Asking("127.0.0.1", answering.port)
    assert asking.end() == ()


def test_datagrams_of_strangers_get_no_answer_and_do_not_end_the_server() -> None:
    answering = Answering("127.0.0.1")
    stranger = Asking("127.0.0.1", answering.port)
    stranger._socket.send(b"what time is it")
    assert stranger.end()
    answering.close()


def test_the_time_synchronisation_is_reported() -> None:
    assert "synchronised" in synchronised()
