"""The planted faults of ./check mutants match the code: each applies to its present state."""

import re

import pytest

from mutants import ROOT, CannotBeTriedError, Mutant, mutants

ALL = mutants()


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
def test_each_mutant_applies_to_the_current_code(mutant: Mutant) -> None:
    whole = (ROOT / mutant.file).read_text()
    assert mutant.planted_in(whole) != whole


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
def test_each_mutant_names_existing_test_steps(mutant: Mutant) -> None:
    lists = re.findall(r"^ *core_tests\(\w+ ([\w ]+)\)", (ROOT / "core/tests/CMakeLists.txt").read_text(), re.MULTILINE)
    subjects = " ".join(lists).split()
    assert mutant.steps
    assert set(mutant.tests) <= {*subjects, "rust"}
    assert mutant.worker is None or (ROOT / "adapters" / mutant.worker / "CMakeLists.txt").is_file()


def test_there_are_sixty_mutants_with_distinct_names() -> None:
    assert len(ALL) >= 60
    assert len({mutant.name for mutant in ALL}) == len(ALL)


def test_a_mutants_text_that_moved_or_occurs_twice_is_refused() -> None:
    mutant = Mutant("name", "fault", "file", old="here", new="there")
    assert mutant.planted_in("it is here") == "it is there"
    for text in ("it is gone", "here and here"):
        with pytest.raises(CannotBeTriedError, match="does not apply"):
            mutant.planted_in(text)
