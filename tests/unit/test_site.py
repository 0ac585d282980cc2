"""``middlemark site``: its pages, its ranking, and files that it leaves out."""

import json
import os
import re
from pathlib import Path

import msgspec
import pytest
import results as invented
from click.testing import CliRunner, Result

from middlemark.commands.site import command
from middlemark.problems import MeasureError, RequestError
from middlemark.publish.files import read_result
from middlemark.publish.site import SiteAnswer, entries_of, pages, ranking, result_files, slug
from middlemark.show.json.published import Published


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("results")
    invented.write(made)
    return made


def site(*words: str) -> Result:
    arguments = (*words, "--no-reports")
    return CliRunner().invoke(command, arguments, catch_exceptions=False, standalone_mode=False)


def entry(subject: str, question: str, best: float) -> SiteAnswer:
    return SiteAnswer(
        subject=subject, adapter=subject, version="1", question=question, machine="m", suite="s", size="64 B",
        pattern="ping-pong", figure=best, shown="", best=best, baseline="", standing="", file="f",
    )  # fmt: skip


def test_every_link_of_every_page_has_a_target(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "site"
    assert site(str(folder), "-o", str(out)).return_value == 0
    checked = 0
    for page in out.rglob("*.html"):
        for link in re.findall(r'href="([^"]+)"', page.read_text()):
            assert (page.parent / link).resolve().is_file(), (page, link)
            checked += 1
    assert checked > 50
    assert len(list((out / "machine").iterdir())) == 2
    assert len(list((out / "middleware").iterdir())) == 3


def test_nothing_is_fetched_from_elsewhere(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "site"
    site(str(folder), "-o", str(out))
    for page in out.rglob("*.html"):
        assert not re.search(r"(src|href)=\"(https?:)?//", page.read_text()), page


def test_the_ranking_is_the_geometric_mean_and_lacking_answers_come_last() -> None:
    found = ranking(
        [entry("a", "1", 1.0), entry("a", "2", 4.0), entry("b", "1", 3.0), entry("b", "2", 1.0), entry("c", "1", 1.1)]
    )
    assert [(each.subject, each.shown, each.answered, each.of) for each in found] == [
        ("b", "1.73", 2, 2),
        ("a", "2.00", 2, 2),
        ("c", "1.10", 1, 2),
    ]


def test_each_subject_answers_a_question_once_with_its_best_row(folder: Path) -> None:
    for path in result_files(folder):
        found = list(entries_of(path.stem, read_result(path)))
        assert len({(each.subject, each.question) for each in found}) == len(found)
        assert min(each.best for each in found) == 1.0


def test_an_edited_or_damaged_file_is_left_out_and_named(folder: Path, tmp_path: Path) -> None:
    for path in result_files(folder):
        (tmp_path / path.name).write_text(path.read_text())
    first, second, *others = result_files(tmp_path)
    content = json.loads(first.read_text())
    content["cells"][0]["figure"] = 1.0
    first.write_text(json.dumps(content))
    second.write_text("{")
    found = site(str(tmp_path), "-o", str(tmp_path / "site"))
    assert found.return_value == 1
    assert f"{first}: is left out: cells[0].figure" in found.stderr
    assert f"{second}: is not a published result" in found.stderr
    assert len(list((tmp_path / "site" / "results").iterdir())) == len(others)


def test_a_hostile_result_is_text_on_every_page(folder: Path) -> None:
    hostile = "</script><img src=x onerror=alert(1)>"
    result = read_result(result_files(folder)[0])
    changed = json.loads(json.dumps(result_files(folder)[0].read_text()))
    changed = changed.replace('"version":"1.0"', f'"version":"{hostile}"').replace("Debian", hostile)

    found = dict(pages({"file": msgspec.json.decode(changed, type=Published)}, {}))
    assert result.machine.system == "Debian"
    for name, text in found.items():
        if name.endswith(".html"):
            assert "<img" not in text, name


def test_an_existing_folder_an_empty_folder_and_a_full_disk_are_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RequestError) as refused:
        site(str(folder), "-o", str(tmp_path))
    assert "is there already" in str(refused.value.problems[0])
    with pytest.raises(MeasureError, match="there is no valid published result"):
        site(str(tmp_path), "-o", str(tmp_path / "site"))

    def full(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(RequestError):
        site(str(folder), "-o", str(tmp_path / "site"))
    assert list(tmp_path.iterdir()) == []


def test_a_crowd_has_its_growth_with_the_interval(folder: Path, tmp_path: Path) -> None:
    site(str(folder), "-o", str(tmp_path / "site"))
    text = (tmp_path / "site" / "crowds.html").read_text()
    assert "crowd, subscribers" in text
    assert re.search(r"× (3\.99|4\.00) \(", text)


def test_a_name_of_a_page_is_a_plain_file_name() -> None:
    assert slug("Intel(R) Xeon, 2 processors/../x") == "intel-r-xeon-2-processors-x"
    assert slug("…") == "unknown"


def test_two_results_of_one_machine_with_the_same_question_have_their_own_tables(folder: Path) -> None:
    result = read_result(result_files(folder)[0])
    questions = len(list(dict.fromkeys(each.question for each in entries_of("a", result))))
    made = dict(pages({"a": result, "b": result}, {}))
    (machine,) = [text for path, text in made.items() if path.startswith("machine/")]
    assert machine.count("<h3") == 2 * questions
