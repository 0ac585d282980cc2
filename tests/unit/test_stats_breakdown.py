"""The breakdown: parts in the order of time that add up to the total, from hand-made records."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_cases import cell, outcome, plan
from stream_cases import arrival, arrived, files, kept_of, sending, sent

from middlemark.model.outcome import SamplesFile, Started, TrialOutcome
from middlemark.model.samples import ANSWER, NOT_MEASURED, SAMPLE, SATURATED
from middlemark.stats.breakdown import IN_BETWEEN, NEEDED, Breakdown, of_stream, of_trips, over_trials, why_no_breakdown
from middlemark.stats.cells import cell_results
from middlemark.stats.result import Part
from middlemark.stats.samples import Kept, Samples, SamplesError
from middlemark.stats.trials import SamplesOf

TICKS = 7_000_000_000_000
PER_NS = 2
"""A clock of 2 GHz."""

START = Started(index=0, ticks=TICKS, ticks_per_second=PER_NS * 1e9)


def trips(count: int, **fields: int | np.ndarray) -> Samples:
    """Return round trips of 10 µs, 20 µs apart, with sequence numbers from 1."""
    kept = np.zeros(count, dtype=SAMPLE)
    kept["sequence"] = np.arange(1, count + 1)
    kept["begin_ns"] = np.arange(count) * 20_000
    kept["round_trip_ns"] = 10_000
    kept["write_ns"] = 1_000
    kept["take_ns"] = 500
    kept["arrived_ns"] = NOT_MEASURED
    for name, values in fields.items():
        kept[name] = values
    return kept


def answers(requests: Samples, *, at: int = 4_000, source: int = 0, **fields: int | np.ndarray) -> Samples:
    """Return a pong's stamps of every message. It received each ``at`` ns after the message's publish began."""
    kept = np.zeros(len(requests), dtype=ANSWER)
    kept["stamp"] = requests["sequence"] + np.uint64(source << 48)
    kept["received_ticks"] = TICKS + (requests["begin_ns"] + at) * np.uint64(PER_NS)
    kept["take_ns"] = 300
    kept["copy_ns"] = 200
    kept["write_ns"] = 800
    kept["arrived_ns"] = NOT_MEASURED
    for name, values in fields.items():
        kept[name] = values
    return kept


def ns_by_part(found: Breakdown) -> dict[str, float]:
    return {each.part: each.ns for each in found.parts}


def test_the_parts_of_a_round_trip_are_consecutive_and_add_up() -> None:
    kept = trips(100)
    found = of_trips({0: kept}, answers(kept), [START])
    assert ns_by_part(found) == pytest.approx(
        {
            "write": 1_000,
            "transport and wake-up": 2_700,
            "take": 300,
            "copy": 200,
            "reply write": 800,
            "reply transport and wake-up": 4_500,
            "reply take": 500,
        }
    )
    assert list(ns_by_part(found)) == [each.part for each in found.parts]
    assert found.whole_ns == pytest.approx(10_000)
    assert [each.share for each in found.parts] == pytest.approx([0.1, 0.27, 0.03, 0.02, 0.08, 0.45, 0.05])


def test_the_kernels_stamp_separates_transport_from_wake_up() -> None:
    kept = trips(100, arrived_ns=3_000)
    found = ns_by_part(of_trips({0: kept}, answers(kept, arrived_ns=2_500), [START]))
    # In ns: the write ends at 1,000, the kernel has the message at 1,500, and the pong has it at 4,000.
    assert found == pytest.approx(
        {
            "write": 1_000,
            "transport": 500,
            "wake-up": 2_200,
            "take": 300,
            "copy": 200,
            "reply write": 800,
            "reply transport": 2_000,
            "reply wake-up": 2_500,
            "reply take": 500,
        }
    )


def test_a_write_ends_when_the_kernel_has_the_message() -> None:
    kept = trips(100)
    found = ns_by_part(of_trips({0: kept}, answers(kept, arrived_ns=3_400), [START]))
    assert found["write"] == pytest.approx(600)
    assert found["transport"] == 0
    assert found["wake-up"] == pytest.approx(3_100)


def test_a_kernels_stamp_outside_of_the_interval_is_ignored() -> None:
    kept = trips(100)
    found = ns_by_part(of_trips({0: kept}, answers(kept, arrived_ns=4_100), [START]))
    assert found["transport and wake-up"] == pytest.approx(2_700)
    assert "transport" not in found


@pytest.mark.parametrize(("strayed", "is_shown"), [(5, True), (6, False)])
def test_a_few_stray_stamps_do_not_hide_the_others(strayed: int, is_shown: bool) -> None:
    kept = trips(100)
    stamped = answers(kept, arrived_ns=2_500)
    stamped["arrived_ns"][:strayed] = 4_100
    assert ("transport" in ns_by_part(of_trips({0: kept}, stamped, [START]))) is is_shown


def test_a_read_that_overlaps_the_write_is_a_separate_part() -> None:
    kept = trips(100, write_ns=3_800)
    found = ns_by_part(of_trips({0: kept}, answers(kept, take_ns=3_000), [START]))
    assert found["write"] == pytest.approx(1_000)
    assert found["write and take together"] == pytest.approx(2_800)
    assert found["transport and wake-up"] == 0
    assert found["take"] == pytest.approx(200)


def test_a_few_reads_that_overlap_the_write_make_no_part() -> None:
    kept = trips(100)
    stamped = answers(kept)
    stamped["take_ns"][50] = 3_500  # the publish of this message began at 500
    found = ns_by_part(of_trips({0: kept}, stamped, [START]))
    assert "write and take together" not in found
    assert sum(found.values()) == pytest.approx(10_000)


def test_writing_after_the_message_was_taken_is_no_part() -> None:
    kept = trips(100, write_ns=9_000)
    found = ns_by_part(of_trips({0: kept}, answers(kept), [START]))
    assert found["write"] + found["write and take together"] == pytest.approx(4_000)
    assert found["take"] == 0


def test_without_a_take_the_rest_is_in_between() -> None:
    kept = trips(100, take_ns=NOT_MEASURED)
    found = ns_by_part(of_trips({0: kept}, answers(kept, take_ns=NOT_MEASURED), [START]))
    assert found == pytest.approx(
        {"write": 1_000, IN_BETWEEN: 3_000, "copy": 200, "reply write": 800, "reply in between": 5_000}
    )


def test_messages_that_waited_for_another_to_be_served_are_included() -> None:
    kept = trips(100)
    stamped = answers(kept)
    stamped["take_ns"][:20] = NOT_MEASURED
    found = ns_by_part(of_trips({0: kept}, stamped, [START]))
    assert found[IN_BETWEEN] == pytest.approx(3_000)
    assert "take" not in found
    assert found["reply take"] == pytest.approx(500)
    stamped = answers(kept)
    stamped["take_ns"][:5] = NOT_MEASURED
    assert ns_by_part(of_trips({0: kept}, stamped, [START]))["take"] == pytest.approx(300)


def test_the_parts_are_those_of_messages_near_the_median() -> None:
    count = 1_000
    whole = np.full(count, 10_000)
    whole[::10] = 1_000_000  # a tenth of the messages is slow on the way back
    kept = trips(count, round_trip_ns=whole)
    found = of_trips({0: kept}, answers(kept), [START])
    assert found.whole_ns == pytest.approx(10_000)
    slow = trips(count, round_trip_ns=np.where(np.arange(count) % 10, 1_000_000, 10_000))
    assert of_trips({0: slow}, answers(slow), [START]).whole_ns == pytest.approx(1_000_000)


def test_only_messages_stamped_at_both_ends_count() -> None:
    kept = trips(100)
    stamped = answers(kept)[:: 100 // NEEDED]
    assert of_trips({0: kept}, stamped, [START]).absent is None
    too_few = of_trips({0: kept}, stamped[1:], [START])
    assert too_few.parts == ()
    assert too_few.absent == f"{NEEDED - 1} messages were stamped at both ends, and a breakdown needs {NEEDED}"
    lost = kept[kept["sequence"] != 1]  # its reply never came
    assert of_trips({0: lost}, stamped, [START]).parts == ()


def test_a_trial_without_stamps_has_too_few() -> None:
    assert of_trips({0: trips(50)}, np.zeros(0, dtype=ANSWER), [START]).absent is not None
    assert of_trips({0: trips(0)}, answers(trips(50)), [START]).absent is not None


def test_the_first_answer_to_a_duplicated_message_counts() -> None:
    kept = trips(NEEDED)
    twice = np.concatenate([answers(kept), answers(kept, at=9_000)])
    assert ns_by_part(of_trips({0: kept}, twice, [START])) == ns_by_part(of_trips({0: kept}, answers(kept), [START]))


def test_clients_are_separated_by_source_and_each_has_its_own_start() -> None:
    kept = trips(40)
    later = Started(index=1, ticks=TICKS + 2_000, ticks_per_second=PER_NS * 1e9)
    stamped = np.concatenate([answers(kept), answers(kept, source=1, at=5_000)])
    found = of_trips({0: kept, 1: kept}, stamped, [START, later])
    assert ns_by_part(found)["transport and wake-up"] == pytest.approx(2_700), (
        "the second client's clock begins 1 µs later, and so do its stamps"
    )


def test_saturated_values_are_left_out() -> None:
    kept = trips(60)
    stamped = answers(kept)
    stamped["copy_ns"][:30] = SATURATED
    assert ns_by_part(of_trips({0: kept}, stamped, [START]))["copy"] == pytest.approx(200)


times = st.integers(0, 30_000)


@given(
    st.lists(st.tuples(times, times, times, times, times, times, times, times), min_size=NEEDED, max_size=60),
    st.booleans(),
    st.booleans(),
)
def test_parts_are_never_negative_and_sum_to_the_whole_for_any_stamps(
    rows: list[tuple[int, ...]], taken: bool, kernel: bool
) -> None:
    columns = np.array(rows).T
    kept = trips(
        len(rows),
        round_trip_ns=columns[0],
        write_ns=columns[1],
        take_ns=columns[2] if taken else NOT_MEASURED,
        arrived_ns=columns[2] if kernel else NOT_MEASURED,
    )
    stamped = answers(kept, take_ns=columns[3], copy_ns=columns[4], write_ns=columns[5])
    stamped["received_ticks"] = TICKS + (kept["begin_ns"] + columns[6].astype(np.uint64)) * np.uint64(PER_NS)
    if kernel:
        stamped["arrived_ns"] = columns[7]
    found = of_trips({0: kept}, stamped, [START])
    if not found.parts:
        return  # too few messages have a kernel's stamp
    assert all(each.ns >= 0 for each in found.parts)
    assert sum(each.share for each in found.parts) in (pytest.approx(1), 0)
    assert columns[0].min() - 1e-6 <= found.whole_ns <= columns[0].max() + 1e-6
    if not kernel:
        ordered = np.sort(columns[0])
        band = ordered[int(0.4 * len(rows)) : -int(-0.6 * len(rows) // 1)]
        assert found.whole_ns == pytest.approx(band.mean())


def test_a_message_of_a_stream_has_waiting_writing_and_the_rest() -> None:
    publisher = sending([300] * 100, write_ns=900)
    found = of_stream([arrival([5_000] * 100)], {0: publisher})
    assert ns_by_part(found) == pytest.approx({"wait for its turn": 300, "write": 900, IN_BETWEEN: 3_800})
    at_once = of_stream([arrival([5_000] * 100)], {0: sending([0] * 100, write_ns=900)})
    assert list(ns_by_part(at_once)) == ["write", IN_BETWEEN]


def test_arrivals_of_a_whole_long_stream_are_sampled() -> None:
    count = 500_000
    one_way = np.where(np.arange(count) < count // 2, 4_000, 6_000)
    found = of_stream([arrival(one_way)], {0: sending([0] * count, write_ns=1_000)})
    assert 4_000 < found.whole_ns < 6_000


def part(name: str, ns: float) -> Part:
    return Part(part=name, ns=ns, share=0.5)


def test_a_cell_has_the_parts_of_its_median_trial() -> None:
    trials = [Breakdown((part("write", ns), part("take", 2 * ns))) for ns in (100, 900, 300)]
    assert ns_by_part(over_trials(trials)) == {"write": 300, "take": 600}
    two = ns_by_part(over_trials(trials[:2]))
    assert two == {"write": 500, "take": 1_000}
    assert over_trials([*trials, Breakdown((), "too few")]).absent is None


def test_a_part_of_only_one_of_two_middle_trials_keeps_its_place() -> None:
    one = Breakdown((part("write", 10), part("take", 20)))
    other = Breakdown((part("write", 10), part("write and take together", 4), part("take", 20)))
    found = over_trials([one, other])
    assert ns_by_part(found) == {"write": 10, "write and take together": 2, "take": 20}
    assert list(ns_by_part(found)) == ["write", "write and take together", "take"]


def test_without_any_breakdown_the_first_reason_is_reported() -> None:
    assert over_trials([Breakdown((), "too few"), Breakdown((), "no stamps")]).absent == "too few"
    assert over_trials([]).absent == "no trial was measured"


def test_a_round_trip_of_several_replies_has_no_breakdown() -> None:
    assert why_no_breakdown(cell(subscribers=3)) is not None
    assert why_no_breakdown(cell(subscribers=3, echo="first")) is None
    assert why_no_breakdown(cell()) is None
    assert why_no_breakdown(cell(pattern="stream", subscribers=3)) is None


def stamped_trial(kept: Samples, **given: object) -> tuple[TrialOutcome, SamplesOf]:
    planned = plan(cell(), trials=1)
    stamps = (SamplesFile(role="pong", index=0, path="", samples=len(kept)),)
    facts: dict[str, object] = {"samples": len(kept), "stamps": stamps, "starts": (START,)}
    return outcome(planned.trials[0], **(facts | given)), lambda _: kept


def test_a_cell_has_a_breakdown_or_the_reason_why_not() -> None:
    planned = plan(cell(), trials=1)
    kept = trips(100)
    record = kept_of(Kept("pong", 0, answers(kept)))

    def found(**given: object) -> tuple[tuple[Part, ...] | None, str | None]:
        trial, samples = stamped_trial(kept, **given)
        [result] = cell_results(planned, [trial], samples, {}, record)
        assert result.failed is None
        return result.breakdown, result.breakdown_absent

    parts, absent = found()
    assert parts is not None
    assert sum(each.ns for each in parts) == pytest.approx(10_000)
    assert absent is None
    assert found(stamps=()) == (None, "the answering role kept no stamps")
    assert found(stamps_absent="two clocks") == (None, "two clocks")


def test_unreadable_stamps_remove_only_the_breakdown() -> None:
    def broken(_: SamplesFile) -> Kept:
        raise SamplesError(Path("00000-pong-0.npy"), "truncated", "measure that trial again")

    kept = trips(100)
    trial, samples = stamped_trial(kept)
    [result] = cell_results(plan(cell(), trials=1), [trial], samples, {}, broken)
    assert result.failed is None
    assert result.round_trip_ns is not None
    assert result.breakdown is None
    assert result.breakdown_absent == "00000-pong-0.npy: truncated"


def test_a_stream_without_parts_has_the_reason() -> None:
    planned = plan(cell(pattern="stream"), trials=1)
    ends = (sending([0] * 100), arrival([5_000] * 100))

    def found(publisher: Kept) -> tuple[tuple[Part, ...] | None, str | None]:
        both = (publisher, ends[1])
        trial = outcome(planned.trials[0], files=files(*both), publishers=(sent(),), subscribers=(arrived(),))
        [result] = cell_results(planned, [trial], lambda _: None, {}, kept_of(*both))
        return result.breakdown, result.breakdown_absent

    parts, absent = found(ends[0])
    assert parts is not None
    assert absent is None
    assert found(sending([0] * 50)) == (None, "publisher 0 kept only the first 50 of its sends")
