"""The pages of docs/decisions: each number has one page, or README.md says why it has none."""

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs/decisions"
PAGES = {int(file.name[:4]): file for file in sorted(FOLDER.glob("[0-9]*.md"))}
README = (FOLDER / "README.md").read_text(encoding="utf-8")


def test_each_number_has_one_page_that_begins_with_it_or_is_accounted_for() -> None:
    assert len(PAGES) == len([*FOLDER.glob("[0-9]*.md")])
    for number, file in PAGES.items():
        assert file.read_text(encoding="utf-8").startswith(f"# {number}. "), file.name
    without = re.findall(r"^\| ([\d, ]+) \| ", README, re.MULTILINE)
    accounted = {int(number) for line in without for number in line.split(", ")}
    assert accounted == set(range(1, max(PAGES))) - set(PAGES)


def test_the_readme_lists_each_page_with_its_title() -> None:
    listed = dict(re.findall(r"^\| \[\d+\]\(([^)]+)\) \| (.+) \|$", README, re.MULTILINE))
    titles = {file.name: file.read_text(encoding="utf-8").partition("\n")[0] for file in PAGES.values()}
    assert listed == {name: title.partition(". ")[2] for name, title in titles.items()}


def test_a_decision_that_another_replaces_is_in_the_readme() -> None:
    for number, file in PAGES.items():
        for line in re.findall(r"^(?:\*Replaces|This replaces) .*", file.read_text(encoding="utf-8"), re.MULTILINE):
            replaced = {int(found) for found in re.findall(r"\b(\d\d?)\b(?!-)", line)} - {number}
            assert replaced, f"{file.name} names no number"
            for each in replaced:
                row = next(
                    (row for row in README.splitlines() if re.match(rf"\|.*\b{each}\b.*\|.*{number}\]", row)), ""
                )
                assert row, f"{file.name} replaces {each}, and README.md does not say so"
