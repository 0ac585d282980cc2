"""The wording of lists in messages."""

import pytest

from middlemark.model.spelling import listing


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ([], ""),
        (["udp"], "udp"),
        (["udp", "tcp"], "udp and tcp"),
        (["udp", "shm", "tcp"], "udp, shm and tcp"),
        (["iceoryx shm, loan", "udp", "tcp"], "iceoryx shm, loan; udp; and tcp"),
        ([str(number) for number in range(14)], "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 3 more"),
    ],
)
def test_a_list_of_names_can_be_read_unambiguously(names: list[str], sentence: str) -> None:
    assert listing(names) == sentence
