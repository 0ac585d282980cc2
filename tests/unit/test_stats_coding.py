"""The time of serialising is subtracted from the parts of the breakdown that contain it."""

import pytest
from stats_cases import cell

from middlemark.model.outcome import Coding
from middlemark.stats.breakdown import Breakdown, over_trials
from middlemark.stats.coding import with_coding
from middlemark.stats.result import Part

ROUND_TRIP = {
    "write": 10_000,
    "transport and wake-up": 2_000,
    "take": 9_000,
    "copy": 500,
    "reply write": 11_000,
    "reply in between": 14_000,
}
CODING = Coding(serialize_ns=6_000, deserialize_ns=4_000, reply_serialize_ns=7_000, reply_deserialize_ns=5_000)
TYPED = cell(type="image")


def trial(coding: Coding | None, parts: dict[str, int] = ROUND_TRIP) -> Breakdown:
    return Breakdown(tuple(Part(part=name, ns=ns, share=0.1) for name, ns in parts.items()), coding=coding)


def ns_by_part(parts: tuple[Part, ...]) -> dict[str, float]:
    return {each.part: each.ns for each in parts}


def test_publishing_begins_with_serializing_and_taking_ends_with_deserializing() -> None:
    parts, absent = with_coding(trial(CODING), TYPED)
    assert absent is None
    assert list(ns_by_part(parts).items()) == [
        ("serialize", 6_000),
        ("write", 4_000),
        ("transport and wake-up", 2_000),
        ("take", 5_000),
        ("deserialize", 4_000),
        ("copy", 500),
        ("reply serialize", 7_000),
        ("reply write", 4_000),
        ("reply in between", 9_000),
        ("reply deserialize", 5_000),
    ]
    assert sum(each.share for each in parts) == pytest.approx(1)


def test_deserializing_that_overlaps_the_write_is_subtracted_from_both_parts() -> None:
    overlap = {"write": 900, "write and take together": 300, "transport and wake-up": 0, "take": 1_000}
    parts, absent = with_coding(trial(Coding(serialize_ns=100, deserialize_ns=1_200), overlap), TYPED)
    assert absent is None
    assert list(ns_by_part(parts).items()) == [
        ("serialize", 100),
        ("write", 800),
        ("write and take together", 100),
        ("transport and wake-up", 0),
        ("take", 0),
        ("deserialize", 1_200),
    ]


def test_a_stream_has_the_coding_of_one_way() -> None:
    one_way = {"wait for its turn": 100, "write": 900, "in between": 3_000}
    parts, absent = with_coding(trial(Coding(serialize_ns=300, deserialize_ns=200), one_way), TYPED)
    assert list(ns_by_part(parts)) == ["wait for its turn", "serialize", "write", "in between", "deserialize"]
    assert absent is None


def test_octets_have_no_coding_and_no_reason() -> None:
    assert with_coding(trial(None), cell()) == (trial(None).parts, None)


def test_untimed_coding_is_not_guessed() -> None:
    parts, absent = with_coding(trial(None), TYPED)
    assert parts == trial(None).parts
    assert absent == "serialize and deserialize: dds does both within its own calls, so no stamp separates them"
    assert with_coding(Breakdown((), "too few"), TYPED) == ((), None)


def test_an_end_without_a_timed_message_is_named() -> None:
    parts, absent = with_coding(trial(Coding(serialize_ns=6_000, reply_serialize_ns=7_000)), TYPED)
    assert "deserialize" not in ns_by_part(parts)
    assert "reply serialize" in ns_by_part(parts)
    assert absent == "deserialize: no message was timed; reply deserialize: no message was timed"


@pytest.mark.parametrize(("ns", "fits"), [(11_900, True), (12_100, False)])
def test_a_coding_median_longer_than_its_part_is_left_out_with_the_reason(ns: int, fits: bool) -> None:
    coding = Coding(serialize_ns=ns, deserialize_ns=1, reply_serialize_ns=1, reply_deserialize_ns=1)
    parts, absent = with_coding(trial(coding), TYPED)
    assert sum(ns_by_part(parts).values()) == sum(ROUND_TRIP.values())
    if fits:
        assert (ns_by_part(parts)["serialize"], ns_by_part(parts)["write"], absent) == (10_000, 0, None)
    else:
        assert ns_by_part(parts)["write"] == 10_000
        assert absent == (
            "serialize: left out, because its median over all messages is 12.1 µs, but in messages of median latency"
            " write, which contains it, takes only 10 µs"
        )


def test_a_configuration_has_the_coding_of_its_middle_trials() -> None:
    trials = [trial(Coding(serialize_ns=ns), {"write": 10 * ns}) for ns in (100, 500, 900, 100_000)]
    assert over_trials(trials).coding == Coding(serialize_ns=700)
    assert over_trials([trial(None)]).coding is None
