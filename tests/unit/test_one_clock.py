"""Stamps of receivers on another host are converted to the senders' clock, or left out with the reason."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from stream_cases import START_NS, arrival, arrived, sending, sent

from middlemark.model.outcome import ClockOffset, SamplesFile, TrialOutcome
from middlemark.model.samples import NOT_MEASURED, SATURATED
from middlemark.stats.one_way import certain_times, one_way
from middlemark.stats.samples import Kept, load_kept
from middlemark.trial.one_clock import CALIBRATION_PPM, UNCOMPARED, on_one_clock

OFFSET = ClockOffset(
    begin_ns=11_999_000_000_000,
    offset_ns=-7e12,
    drift_ppm=50.0,
    uncertainty_ns=20_000.0,
    exchanges=40,
    round_trip_ns=60_000,
)
TOOK_NS, LATE_NS = 300_000, 40_000
COUNT = 1_000


def theirs(instants: np.ndarray) -> np.ndarray:
    """Convert instants to the receivers' clock, which is 7,000 s ahead of the senders' and runs 50 ppm slower."""
    return np.rint((instants - OFFSET.offset_ns - OFFSET.begin_ns) / (1 + 50e-6)).astype(np.int64) + OFFSET.begin_ns


class Stored:
    """A stored trial with a message per ms, which is sent 40 µs late and arrives 300 µs later."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.publisher = sending([LATE_NS] * COUNT)
        self.subscriber = arrival(np.zeros(COUNT))
        due = START_NS - LATE_NS + np.arange(COUNT) * 1_000_000
        self.subscriber.raw["received_ns"] = theirs(due + LATE_NS + TOOK_NS)
        self.subscriber.raw["one_way_ns"] = 123  # the meaningless difference of two clocks
        self.in_histogram = 0

    def outcome(self) -> TrialOutcome:
        return TrialOutcome(
            cell=0,
            number=1,
            order=1,
            started="",
            seconds=2.0,
            stamps_absent="two counters",
            publishers=(sent(),),
            subscribers=(arrived(first_received_ns=int(self.subscriber.raw["received_ns"][0])),),
            files=tuple(map(self._kept, (self.publisher, self.subscriber))),
        )

    def _kept(self, kept: Kept) -> SamplesFile:
        np.save(self.folder / f"{kept.role}.npy", kept.raw)
        count = self.in_histogram if kept.role == "subscriber" else 0
        return SamplesFile(
            role=kept.role,
            index=0,
            path=f"{kept.role}.npy",
            samples=len(kept.raw),
            histogram_path="histogram.npy" if count else None,
            in_histogram=count,
        )

    def converted(self) -> TrialOutcome:
        return on_one_clock(self.outcome(), OFFSET, str(self.folder), {("subscriber", 0)}, seconds=4.0)

    def absent(self) -> str:
        """Return the reason why times are absent. Check that the samples file was not changed."""
        outcome = self.converted()
        assert outcome.clocks is None
        assert (np.load(self.folder / "subscriber.npy")["one_way_ns"] == 123).all()
        return outcome.stamps_absent or ""


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    return Stored(tmp_path)


def test_a_stream_has_its_one_way_latencies_and_their_uncertainty(stored: Stored) -> None:
    outcome = stored.converted()
    assert outcome.stamps_absent is None
    assert outcome.clocks is not None
    assert outcome.clocks.subscribers == (0,)
    assert outcome.clocks.uncertainty_ns == 20_000 + 2 * CALIBRATION_PPM * 1e-6 * 4e9
    found = one_way([load_kept(stored.folder, each) for each in outcome.files])
    assert found.all is not None
    assert found.from_sent is not None
    assert found.all.max == pytest.approx(TOOK_NS + LATE_NS, abs=2)
    assert found.all.min == pytest.approx(TOOK_NS + LATE_NS, abs=2)
    assert found.from_sent.p50 == pytest.approx(TOOK_NS, abs=2)
    assert outcome.subscribers[0].first_received_ns == pytest.approx(START_NS + TOOK_NS, abs=2)
    assert outcome.subscribers[0].last_warm_up_ns == 0, "no warm-up message arrived, before or after the conversion"


def test_an_arrival_before_its_send_within_the_uncertainty_took_no_time(stored: Stored) -> None:
    stored.subscriber.raw["received_ns"][5] -= TOOK_NS + LATE_NS + 1_000
    stored.converted()
    assert np.load(stored.folder / "subscriber.npy")["one_way_ns"].min() == 0


def test_without_a_clock_comparison_latencies_are_absent_with_the_reason(stored: Stored) -> None:
    converted = on_one_clock(stored.outcome(), None, str(stored.folder), {("subscriber", 0)}, seconds=4.0)
    assert (converted.clocks, converted.stamps_absent) == (None, UNCOMPARED)


def test_round_trips_are_not_converted(stored: Stored) -> None:
    outcome = msgspec.structs.replace(stored.outcome(), subscribers=())
    assert on_one_clock(outcome, OFFSET, str(stored.folder), {("pong", 0)}, seconds=4.0) == outcome


def test_sends_of_the_second_host_are_also_converted_to_the_clock_of_the_first(stored: Stored) -> None:
    due = START_NS + np.arange(COUNT) * 1_000_000
    stored.subscriber.raw["received_ns"] = due + TOOK_NS
    first = int(theirs(np.array([START_NS]))[0])
    outcome = msgspec.structs.replace(stored.outcome(), publishers=(sent(first_sent_ns=first, last_sent_ns=first),))
    converted = on_one_clock(outcome, OFFSET, str(stored.folder), {("publisher", 0)}, seconds=4.0)
    assert converted.publishers[0].first_sent_ns == pytest.approx(START_NS, abs=2)
    one_way_ns = np.load(stored.folder / "subscriber.npy")["one_way_ns"].astype(int)
    # Without a conversion the times follow the receivers' clock, which runs 50 ppm slower.
    assert one_way_ns[0] == pytest.approx(TOOK_NS + LATE_NS, abs=2)
    assert one_way_ns[-1] == pytest.approx(TOOK_NS + LATE_NS - 50e-6 * 999e6, abs=2)


def test_messages_within_one_host_keep_their_own_times(stored: Stored) -> None:
    converted = on_one_clock(
        stored.outcome(), OFFSET, str(stored.folder), {("publisher", 0), ("subscriber", 0)}, seconds=4.0
    )
    assert converted.clocks is not None
    assert converted.clocks.subscribers == ()
    assert (np.load(stored.folder / "subscriber.npy")["one_way_ns"] == 123).all()


def test_incomplete_records_are_absent_with_the_reason(stored: Stored) -> None:
    stored.in_histogram = 3
    assert stored.absent() == "subscriber 0 outgrew its memory, and its histogram cannot be converted to one clock"
    stored.in_histogram = 0
    stored.publisher.raw["late_ns"][7] = SATURATED
    assert "fell behind its schedule by more than the 4.29 s" in stored.absent()
    stored.publisher.raw["late_ns"][7] = 0
    stored.publisher.raw["write_ns"][0] = NOT_MEASURED
    assert "could not send its first message" in stored.absent()
    stored.publisher = sending([LATE_NS] * (COUNT - 1))
    assert stored.absent() == "publisher 0 recorded only the first 999 of its sends"
    stored.publisher = sending([LATE_NS] * COUNT)
    stored.subscriber.raw["stamp"][9] |= np.uint64(3 << 48)
    assert stored.absent() == "publisher 3 has no record of its messages"


@pytest.mark.parametrize("content", [b"", b"no samples", None])
def test_unreadable_samples_are_the_reason_instead_of_a_traceback(stored: Stored, content: bytes | None) -> None:
    outcome = stored.outcome()
    if content is None:
        np.save(stored.folder / "publisher.npy", np.arange(COUNT))
    else:
        (stored.folder / "publisher.npy").write_bytes(content)
    converted = on_one_clock(outcome, OFFSET, str(stored.folder), {("subscriber", 0)}, seconds=4.0)
    assert (converted.clocks, converted.stamps_absent) == (None, "publisher.npy is damaged, or from another build")


def test_figures_below_ten_times_the_uncertainty_are_left_out(stored: Stored) -> None:
    stored.subscriber.raw["received_ns"][-100:] += 700_000
    found = one_way([load_kept(stored.folder, each) for each in stored.converted().files])
    clocks = msgspec.structs.replace(OFFSET, uncertainty_ns=60_000.0, subscribers=(0,))
    certain = certain_times(found, clocks)
    assert certain.by_subscriber[0].p50 is None
    assert certain_times(found, msgspec.structs.replace(clocks, subscribers=())).by_subscriber == found.by_subscriber
    assert certain.all is not None
    assert certain.all.p50 is None
    assert certain.all.min is None
    assert certain.all.p99 is not None
    assert certain.all.stdev is not None, "a spread needs no common clock"
    assert certain.all_absent == (
        "the clocks of the hosts agree to within ± 60.0 µs: figures below 10 times this uncertainty are left out"
    )
    assert certain.absent_of == {0: certain.all_absent}
    exact = msgspec.structs.replace(clocks, uncertainty_ns=1_000.0)
    assert certain_times(found, exact).all == found.all
    assert certain_times(found, exact).all_absent is None
    assert certain_times(found, exact).absent_of == {}
