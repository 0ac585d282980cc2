"""The samples file: read as written, and every way it can be damaged told with its path."""

from pathlib import Path

import numpy as np
import pytest

from middlemark.stats.samples import SAMPLE, SamplesError, load


def _written(path: Path, count: int) -> np.ndarray:
    samples = np.zeros(count, dtype=SAMPLE)
    samples["sequence"] = np.arange(1, count + 1)
    samples["round_trip_ns"] = 20_000 + np.arange(count)
    np.save(path, samples)
    return samples


def test_a_record_is_56_bytes_as_the_recorder_writes_it() -> None:
    assert SAMPLE.itemsize == 56
    assert [SAMPLE.fields[name][1] for name in ("round_trip_ns", "write_ns", "replies")] == [16, 32, 52]  # type: ignore[index]


@pytest.mark.parametrize("count", [0, 1, 5_000])
def test_what_was_written_is_read(tmp_path: Path, count: int) -> None:
    path = tmp_path / "00001.npy"
    written = _written(path, count)
    read = load(path)
    assert read.dtype == SAMPLE
    assert np.array_equal(read, written)


def test_samples_are_mapped_and_cannot_be_changed(tmp_path: Path) -> None:
    path = tmp_path / "00001.npy"
    _written(path, 10)
    samples = load(path)
    assert isinstance(samples, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        samples["sequence"][0] = 9


@pytest.mark.parametrize("bytes_left", [0, 5, 9, 40, 100])
def test_a_file_without_a_whole_header_is_damaged(tmp_path: Path, bytes_left: int) -> None:
    path = tmp_path / "00001.npy"
    _written(path, 10)
    path.write_bytes(path.read_bytes()[:bytes_left])
    with pytest.raises(SamplesError, match=r"00001\.npy: damaged") as error:
        load(path)
    assert error.value.path == path
    assert error.value.advice


def test_a_truncated_file_says_how_much_there_is(tmp_path: Path) -> None:
    path = tmp_path / "00001.npy"
    _written(path, 1_000)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    told = f"truncated: {len(whole) - 1:,} bytes where 1,000 samples take {len(whole):,}"
    with pytest.raises(SamplesError, match=told):
        load(path)


def test_a_file_with_more_than_it_declares_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "00001.npy"
    _written(path, 10)
    path.write_bytes(path.read_bytes() + b"\0" * 56)
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
def test_other_arrays_are_not_taken_for_samples(tmp_path: Path, other: np.ndarray) -> None:
    path = tmp_path / "00001.npy"
    np.save(path, other, allow_pickle=True)
    with pytest.raises(SamplesError, match="not the samples of a trial"):
        load(path)


def test_text_is_no_samples_file(tmp_path: Path) -> None:
    path = tmp_path / "00001.npy"
    path.write_text("sequence,begin_ns\n1,0\n" * 20)
    with pytest.raises(SamplesError, match="damaged"):
        load(path)


def test_a_missing_file_and_a_folder_are_told_with_their_path(tmp_path: Path) -> None:
    with pytest.raises(SamplesError, match=r"gone\.npy: No such file or directory"):
        load(tmp_path / "gone.npy")
    with pytest.raises(SamplesError, match="Is a directory"):
        load(tmp_path)
