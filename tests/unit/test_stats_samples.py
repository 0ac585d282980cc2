"""The samples file is read as written, and each kind of damage is reported with the path."""

from pathlib import Path

import numpy as np
import pytest

from middlemark.model.outcome import SamplesFile
from middlemark.model.samples import ANSWER, ARRIVAL, HISTOGRAM, SAMPLE, SENDING
from middlemark.stats.samples import SamplesError, load, load_histogram, load_kept


def _written(path: Path, count: int) -> np.ndarray:
    samples = np.zeros(count, dtype=SAMPLE)
    samples["sequence"] = np.arange(1, count + 1)
    samples["round_trip_ns"] = 20_000 + np.arange(count)
    np.save(path, samples)
    return samples


@pytest.mark.parametrize(
    ("dtype", "size", "last"),
    [
        (SAMPLE, 64, "arrived_ns"),
        (ANSWER, 32, "arrived_ns"),
        (SENDING, 16, "write_ns"),
        (ARRIVAL, 24, "one_way_ns"),
        (HISTOGRAM, 24, "count"),
    ],
)
def test_a_record_has_the_size_that_the_recorder_writes(dtype: np.dtype, size: int, last: str) -> None:
    assert dtype.itemsize == size
    assert dtype.names is not None
    assert dtype.names[-1] == last


def test_the_fields_of_a_round_trip_have_the_offsets_of_the_recorder() -> None:
    places = [SAMPLE.fields[name][1] for name in ("round_trip_ns", "write_ns", "replies", "late_ns")]  # type: ignore[index]
    assert places == [16, 32, 52, 56]


@pytest.mark.parametrize("count", [0, 1, 5_000])
def test_written_samples_are_read_back(tmp_path: Path, count: int) -> None:
    path = tmp_path / "00001.npy"
    written = _written(path, count)
    read = load(path)
    assert read.dtype == SAMPLE
    assert np.array_equal(read, written)


def test_samples_are_memory_mapped_and_read_only(tmp_path: Path) -> None:
    path = tmp_path / "00001.npy"
    _written(path, 10)
    samples = load(path)
    assert not samples.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        samples["sequence"][0] = 9


@pytest.mark.parametrize("bytes_left", [0, 5, 9, 40, 100])
def test_a_file_with_a_truncated_header_is_damaged(tmp_path: Path, bytes_left: int) -> None:
    path = tmp_path / "00001.npy"
    _written(path, 10)
    path.write_bytes(path.read_bytes()[:bytes_left])
    with pytest.raises(SamplesError, match=r"00001\.npy: damaged") as error:
        load(path)
    assert error.value.path == path
    assert error.value.advice


def test_a_truncated_file_is_refused_with_its_length(tmp_path: Path) -> None:
    path = tmp_path / "00001.npy"
    _written(path, 1_000)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    expected = f"truncated: {len(whole) - 1:,} bytes where 1,000 samples take {len(whole):,}"
    with pytest.raises(SamplesError, match=expected):
        load(path)


def test_a_file_with_more_than_it_declares_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "00001.npy"
    _written(path, 10)
    path.write_bytes(path.read_bytes() + b"\0" * 64)
    with pytest.raises(SamplesError, match="too long"):
        load(path)


@pytest.mark.parametrize(
    "other",
    [
        np.zeros(10),
        np.zeros((2, 5), dtype=SAMPLE),
        np.zeros(10, dtype=[("sequence", "<u8")]),
        np.zeros(10, dtype=SAMPLE.newbyteorder(">")),
        np.array([{"pickled": True}], dtype=object),
    ],
)
def test_other_arrays_are_not_read_as_samples(tmp_path: Path, other: np.ndarray) -> None:
    path = tmp_path / "00001.npy"
    np.save(path, other, allow_pickle=True)
    with pytest.raises(SamplesError, match="not the samples of a trial"):
        load(path)


def test_a_text_file_is_damaged_samples(tmp_path: Path) -> None:
    path = tmp_path / "00001.npy"
    path.write_text("sequence,begin_ns\n1,0\n" * 20)
    with pytest.raises(SamplesError, match="damaged"):
        load(path)


def test_a_missing_file_and_a_folder_are_refused_with_their_path(tmp_path: Path) -> None:
    with pytest.raises(SamplesError, match=r"gone\.npy: No such file or directory"):
        load(tmp_path / "gone.npy")
    with pytest.raises(SamplesError, match="Is a directory"):
        load(tmp_path)


def _file(role: str, count: int, **given: object) -> SamplesFile:
    return SamplesFile(role=role, index=0, path="kept.npy", samples=count, **given)  # type: ignore[arg-type]


def _histogram(path: Path, *buckets: tuple[int, int, int]) -> None:
    np.save(path, np.array(list(buckets), dtype=HISTOGRAM))


@pytest.mark.parametrize(
    ("role", "dtype"),
    [("client", SAMPLE), ("publisher", SENDING), ("subscriber", ARRIVAL), ("pong", ANSWER), ("server", ANSWER)],
)
def test_each_role_is_read_only_with_its_own_record(tmp_path: Path, role: str, dtype: np.dtype) -> None:
    np.save(tmp_path / "kept.npy", np.zeros(7, dtype=dtype))
    kept = load_kept(tmp_path, _file(role, 7))
    assert (kept.role, len(kept.raw), kept.raw.dtype, kept.histogram) == (role, 7, dtype, None)
    other = "publisher" if role == "subscriber" else "subscriber"
    with pytest.raises(SamplesError, match="not the samples of a trial"):
        load_kept(tmp_path, _file(other, 7))


def test_a_file_with_another_number_of_samples_than_counted_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "kept.npy", np.zeros(7, dtype=ARRIVAL))
    with pytest.raises(SamplesError, match="8 samples were counted and 7 are in the file"):
        load_kept(tmp_path, _file("subscriber", 8))


def test_samples_beyond_the_memory_are_read_from_the_histogram(tmp_path: Path) -> None:
    np.save(tmp_path / "kept.npy", np.zeros(7, dtype=ARRIVAL))
    _histogram(tmp_path / "kept.histogram.npy", (5, 6, 2), (256, 258, 1))
    kept = load_kept(tmp_path, _file("subscriber", 7, in_histogram=3, histogram_path="kept.histogram.npy"))
    assert kept.histogram is not None
    assert kept.histogram["count"].tolist() == [2, 1]
    with pytest.raises(SamplesError, match="4 samples were counted and 3 are in the file"):
        load_kept(tmp_path, _file("subscriber", 7, in_histogram=4, histogram_path="kept.histogram.npy"))
    with pytest.raises(SamplesError, match="the histogram of 3 more samples is missing"):
        load_kept(tmp_path, _file("subscriber", 7, in_histogram=3))


@pytest.mark.parametrize(
    "buckets", [((6, 6, 1),), ((5, 8, 1), (7, 9, 1)), ((9, 10, 1), (5, 6, 1)), ((5, 6, 0),)], ids=str
)
def test_empty_or_overlapping_buckets_are_damage(tmp_path: Path, buckets: tuple[tuple[int, int, int], ...]) -> None:
    _histogram(tmp_path / "h.npy", *buckets)
    with pytest.raises(SamplesError, match="its buckets"):
        load_histogram(tmp_path / "h.npy")
