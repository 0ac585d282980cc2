"""Files of the probe: sent and received stamps are joined, and damaged parts are reported with their place."""

import random
from typing import Any

import numpy as np
import pytest
from imports_cases import codes, printed
from test_import_command import imported, kept, problems

from middlemark.imports import Log, NotRead, find, probe_file, read_probes
from middlemark.imports.log import ImportedTrial
from middlemark.imports.probe_file import _BEYOND, _BEYOND_AT, _CHUNK, _CHUNKS_AT, _HEAD, _NAME, RECEIVED, SENT, SPAN
from middlemark.store import read_run

SECOND = 3_000_000_000
"""A second in ticks of a clock of 3 GHz."""


def stamps(
    names: list[tuple[int, str]],
    records: list[tuple[int, int, float, int, int]],
    *,
    boot: str = "boot-1",
    began_s: float = 0.0,
    ended_s: float | None = 100.0,
    full_s: float | None = None,
    disk: bool = False,
    beyond: dict[int, tuple[int, int]] | None = None,
) -> bytearray:
    """Return a process's file. Names (from 1): owner and text. Records: topic, kind, instant in s, value, extra."""
    chunks = max(1, -(-len(records) // 1023))
    data = bytearray(_CHUNKS_AT + chunks * _CHUNK.itemsize)
    head = np.frombuffer(data, _HEAD, 1)
    head["magic"], head["version"], head["clock"], head["names"] = b"MMPROBE", 1, 1, 256
    head["chunks"], head["bytes"], head["chunks_claimed"] = chunks, len(data), chunks
    head["filesystem"] = 0xEF53 if disk else 0x0102_1994
    for at, second in enumerate((began_s, began_s + 0.002)):
        head["opened"][0][at] = (SECOND * (1000 + second), 1_000_000_000 * (7000 + second))
    head["closed_ticks"] = 0 if ended_s is None else SECOND * (1000 + ended_s)
    head["full_ticks"] = 0 if full_s is None else SECOND * (1000 + full_s)
    head["boot"], head["host"] = boot.encode(), b"robot"
    table = np.frombuffer(data, _NAME, 256, 4096)
    for at, (owner, text) in enumerate(names):
        table[at] = (1, owner, text.encode())
    for topic, counts in (beyond or {}).items():
        beyond_counts = np.frombuffer(data, _BEYOND, 256, _BEYOND_AT)
        beyond_counts["sent"][topic - 1], beyond_counts["received"][topic - 1] = counts
    every = np.frombuffer(data, _CHUNK, chunks, _CHUNKS_AT)
    for at, (topic, kind, second, value, extra) in enumerate(records):
        every["records"][at // 1023][at % 1023] = (topic, kind, round(SECOND * (1000 + second)), value, extra)
        every["claimed"][at // 1023] += 1
    return data


def camera(sent: list[tuple[float, int]], **more: Any) -> bytearray:
    return stamps([(0, "camera"), (1, "image")], [(2, SENT, at, sequence, 640) for at, sequence in sent], **more)


def detector(received: list[tuple[float, int]], **more: Any) -> bytearray:
    records = [(2, RECEIVED, at, sequence, 0) for at, sequence in received]
    return stamps([(0, "detector"), (1, "image")], records, **more)


def read(*files: bytearray) -> Log:
    return read_probes([(f"{number}.mmprobe", bytes(data)) for number, data in enumerate(files)])


def row(*files: bytearray) -> ImportedTrial:
    (found,) = read(*files).measured
    return found


def one_way(found: ImportedTrial, subscriber: int = 0) -> list[int]:
    return next(
        each.raw["one_way_ns"].tolist()
        for each in found.records
        if each.role == "subscriber" and each.index == subscriber
    )


SENDS = [(1 + 0.1 * n, n) for n in range(1, 21)]
ARRIVALS = [(at + 0.001 * n, n) for at, n in SENDS]


def test_stamps_of_both_ends_are_joined_into_latencies():
    found = row(camera(SENDS), detector(ARRIVALS))
    assert (found.cell.adapter, found.cell.label, found.cell.size) == ("image (probe)", "camera → detector", 640)
    assert one_way(found) == pytest.approx([1_000_000 * n for n in range(1, 21)], abs=2)
    counts = found.counts
    assert (counts.sent, counts.received, counts.lost, counts.duplicated, counts.reordered) == (20, 20, 0, 0, 0)
    assert codes(found) == {"imported"}


def test_lost_duplicated_and_reordered_messages_are_counted():
    arrivals = [*ARRIVALS[:4], ARRIVALS[5], (2.0, 5), ARRIVALS[7], (ARRIVALS[7][0] + 0.01, 8), *ARRIVALS[8:]]
    counts = row(camera(SENDS), detector(arrivals)).counts
    assert (counts.received, counts.lost, counts.duplicated, counts.reordered) == (19, 1, 1, 1)


def test_messages_before_the_first_arrival_or_after_the_receivers_end_are_not_lost():
    found = row(camera(SENDS), detector(ARRIVALS[4:10], ended_s=2.15))
    assert found.counts.lost == 1, "message 11, which was sent at 2.1 s"
    assert "before-the-first" in codes(found)
    killed = row(camera(SENDS), detector(ARRIVALS[4:10], ended_s=None))
    assert killed.counts.lost == 0, "a killed receiver may have ended at its last stamp"


def test_a_receiver_without_arrivals_has_lost_all_messages():
    found = read(camera(SENDS), stamps([(0, "detector"), (1, "image")], [(2, RECEIVED, 1.0, 99, 0)])).measured[0]
    assert (found.counts.received, found.counts.lost) == (0, 20)
    assert "never-sent" in codes(found)


def test_ends_on_different_machines_have_losses_and_no_latency():
    found = row(camera(SENDS), detector(ARRIVALS[:3] + ARRIVALS[4:], boot="boot-2", began_s=-500))
    assert found.stamps_absent
    assert (found.counts.received, found.counts.lost) == (19, 1)


def test_each_pair_of_probes_is_a_row_and_processes_with_one_name_are_its_subscribers():
    rows = read(camera(SENDS), detector(ARRIVALS), detector(ARRIVALS[::2])).measured
    (found,) = rows
    assert (found.cell.subscribers, len(found.subscribers)) == (2, 2)
    assert [each.lost for each in found.subscribers] == [0, 10]
    other = stamps([(0, "logger"), (1, "image")], [(2, RECEIVED, at, n, 0) for at, n in ARRIVALS])
    labels = {each.cell.label for each in read(camera(SENDS), detector(ARRIVALS), other).measured}
    assert labels == {"camera → detector", "camera → logger"}


def test_senders_of_a_topic_are_separated_by_sequence_and_shared_numbers_left_out():
    left = [(at, n) for at, n in SENDS if n <= 10]
    right = [(at, n) for at, n in SENDS if n >= 10]
    found = row(camera(left), camera(right), detector(ARRIVALS))
    assert found.cell.publishers == 2
    assert (found.counts.received, found.counts.lost) == (19, 0)
    assert {"sent-twice", "never-sent"} <= codes(found)


def test_a_message_that_arrived_before_its_stamp_has_no_latency():
    found = row(camera(SENDS), detector([(SENDS[0][0] - 0.01, 1), *ARRIVALS[1:]]))
    assert len(one_way(found)) == 19
    assert "sent-after-arrival" in codes(found)


def test_messages_beyond_the_buffer_are_not_called_lost():
    full = detector(ARRIVALS[:10], full_s=2.02, beyond={2: (0, 10)})
    found = row(camera(SENDS), full)
    assert (found.counts.received, found.counts.lost) == (10, 0)
    assert "0 sent and 10 received" in next(each.text for each in found.warnings if each.code == "beyond-the-buffer")


def test_a_span_is_imported_as_a_round_trip_of_one_process_with_a_warning():
    found = row(stamps([(0, "planner"), (1, "plan")], [(2, SPAN, 1 + n, 3_000 * n, 0) for n in range(1, 31)]))
    assert (found.cell.adapter, found.cell.label, found.cell.subscribers) == ("plan (span)", "planner", 0)
    (kept_,) = found.records
    assert kept_.raw["round_trip_ns"].tolist() == [1_000 * n for n in range(1, 31)]
    assert "span-not-round-trip" in codes(found)


def test_spans_beyond_the_buffer_are_read_from_the_histogram():
    data = stamps([(0, "planner"), (1, "plan")], [(2, SPAN, 1.0, 3_000, 0)])
    buckets = np.frombuffer(data, _BEYOND, 256, _BEYOND_AT)["durations"]
    buckets[1, 40], buckets[1, 8 << 5] = 30, 1  # the bucket of 40 ticks, and that of 32 << 7 ticks
    found = row(data)
    assert found.samples == 32
    assert found.records == ()
    assert found.times.round_trip_ns.p50 == pytest.approx(13, abs=1)
    assert found.times.round_trip_ns.max == pytest.approx((33 << 7) / 3, abs=2)


def test_one_sided_topics_and_unclean_ends_are_noted():
    log = read(camera(SENDS, ended_s=None), stamps([(0, "planner"), (1, "plan")], [(2, SPAN, 1.0, 3, 0)]))
    assert (
        "topic image: 20 messages were sent, but none was received by a process with a probe, "
        "so latency and losses are unknown" in log.notes
    )
    assert "0.mmprobe: the process did not end normally, or is still running" in log.notes


def test_stamps_in_a_file_on_a_disk_get_a_warning():
    assert "stamps-on-disk" in codes(row(camera(SENDS, disk=True), detector(ARRIVALS)))


def test_half_a_record_is_ignored():
    data = detector(ARRIVALS)
    every = np.frombuffer(data, _CHUNK, 1, _CHUNKS_AT)
    every["records"]["kind"][0, 5] = every["records"]["topic"][0, 5] = 0
    log = read(camera(SENDS), data)
    assert log.measured[0].counts.received == 19
    assert "1.mmprobe: 1 stamps were incomplete when the process ended" in log.notes


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda data: data[:3000], "byte 3,000: the file is cut off"),
        (lambda data: data[:-1], "expected 5,840,896"),
        (lambda data: bytes(data) + b"x", "expected 5,840,896"),
        (lambda _: b"hello\n" * 1000, "it is not a file of the probe"),
        (lambda _: b"", "it is empty"),
        (lambda data: data[:8] + b"\2" + data[9:], "version 2"),
        (lambda data: data[:48] + bytes(32) + data[80:], "its clock does not advance"),
        (lambda data: data[: _CHUNKS_AT + 36] + b"\x63" + data[_CHUNKS_AT + 37 :], "record 1: damaged: kind 99"),
    ],
)
def test_a_damaged_file_is_refused_with_its_name_and_place(change, place):
    with pytest.raises(NotRead, match=r"^1\.mmprobe: ") as refused:
        read(camera(SENDS), change(detector(ARRIVALS)))
    assert place in str(refused.value)


def test_a_folder_of_stamps_becomes_a_run_with_every_message(tmp_path):
    folder = tmp_path / "stamps"
    folder.mkdir()
    (folder / "a").write_bytes(camera(SENDS))
    (folder / "b").write_bytes(detector(ARRIVALS))
    out = tmp_path / "runs"
    run = read_run(kept(imported(out, folder), out))
    (source,) = run.file.imported
    assert (source.file, source.tool, source.lines, source.unread) == ("stamps", "probe", 40, 0)
    (outcome,) = run.outcomes
    assert all((run.folder / each.path).is_file() for each in outcome.files)
    one_by_one = imported(tmp_path / "again", folder / "a", folder / "b")
    assert one_by_one.exception is None
    (folder / "c").write_text("hello\n")
    assert "c: it is not a file of the probe" in problems(imported(tmp_path / "third", folder))[0]
    (tmp_path / "empty").mkdir()
    assert "the files have no stamps" in problems(imported(tmp_path / "fourth", tmp_path / "empty"))[0]


def test_two_recordings_become_trials_of_the_same_rows(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_bytes(camera(SENDS))
        (tmp_path / name / "b").write_bytes(detector(ARRIVALS))
    out = tmp_path / "runs"
    run = read_run(kept(imported(out, tmp_path / "first", tmp_path / "second"), out))
    assert len(run.file.plan.cells) == 1
    assert [each.number for each in run.outcomes] == [1, 2]


def test_a_file_of_the_probe_is_not_recognised_as_another_tools_log():
    assert find(bytes(camera(SENDS))[: 1 << 20]) is None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_a_mutated_file_is_read_or_refused(seed):
    rng = random.Random(seed)
    span = stamps([(0, "detector"), (1, "image")], [(2, SPAN, 1 + n, 10**n, 5) for n in range(12)])
    files = [camera(SENDS), detector(ARRIVALS), span]
    interesting = [(0, 400), (4096, 4096 + 300), (_BEYOND_AT, _BEYOND_AT + 40_000), (_CHUNKS_AT, _CHUNKS_AT + 700)]
    for _ in range(rng.randrange(1, 6)):
        data = rng.choice(files)
        low, high = rng.choice(interesting)
        at = rng.randrange(low, high)
        length = rng.choice([1, 4, 8])
        data[at : at + length] = rng.choice([rng.randbytes(length), b"\xff" * length, bytes(length)])
    if rng.random() < 0.1:
        del files[0][rng.randrange(len(files[0])) :]
    try:
        log = read(*files)
    except NotRead as refused:
        assert "mmprobe: " in str(refused)
        return
    if log.measured and all(not each.records for each in log.measured):
        assert printed(log, "table")
    for each in log.measured:
        assert each.counts.lost >= 0
        assert all((file.raw[name] >= 0).all() for file in each.records for name in file.raw.dtype.names)


def test_the_layout_matches_the_librarys():
    """Compare the layout with the sizes of the C++ structs. tests/e2e reads files that the library has written."""
    assert (_HEAD.itemsize, _NAME.itemsize, _CHUNK.itemsize, _CHUNKS_AT) == (4096, 128, 32 * 1024, 5_808_128)
    assert probe_file.RECORD.itemsize == 32
