"""A user's own configuration: read once, hashed, copied into the run's folder, and refused by adapters without one."""

import hashlib
from pathlib import Path

import msgspec
import pytest
from descriptions import NULL, description, transport

from middlemark.model.cell import Cell
from middlemark.model.description import NativeSetting
from middlemark.model.plan import Plan
from middlemark.model.user_file import UserFile, user_file, user_files
from middlemark.plan import make_plan
from middlemark.problems import RequestError
from middlemark.store.run import keep
from middlemark.suite.request import load
from middlemark.suite.sweep import RawOptions
from middlemark.trial.worker_request import settings_of
from middlemark.verdicts.names import WORDS

TAKES = msgspec.structs.replace(
    description("dds", transport("udp"), transport("default", carrier="any")),
    native={"config": NativeSetting(type="file", help="your own")},
)
HERE = (NULL, TAKES, description("lcm", transport("udp")))
KEYS = {"adapter": "dds", "transport": "default"}


def plan_of(*config: str, suites: tuple[str, ...] = (), **keys: str) -> Plan:
    asked = RawOptions(keys={} if suites else {**KEYS, **keys}, config=config)
    return make_plan(load(suites, asked), HERE, cpus=(0, 1), seed=1, absent={})


def refused(*config: str, **keys: str) -> str:
    with pytest.raises(RequestError) as problems:
        plan_of(*config, **keys)
    return "\n".join(map(str, problems.value.problems))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my.xml"
    path.write_bytes(b"<CycloneDDS/>")
    return path


def kept_of(path: Path) -> UserFile:
    return UserFile(str(path), hashlib.sha256(path.read_bytes()).hexdigest())


def cell_of(file: Path) -> Cell:
    return Cell(adapter="dds", transport="default", size=64, native=(("config", kept_of(file).written),))


def test_a_cell_has_the_path_and_the_hash_of_its_file(file: Path) -> None:
    [cell] = [each for each in plan_of(f"dds={file}").cells if each.adapter == "dds"]
    assert cell.native == (("config", kept_of(file).written),)
    assert user_file(cell.native[0][1]) == kept_of(file)


@pytest.mark.parametrize("table", ['config.dds = "my.xml"\n[[sweep]]\n', '[[sweep]]\nconfig.dds = "my.xml"\n'])
def test_a_path_in_a_suite_is_relative_to_the_suite(file: Path, table: str) -> None:
    suite = file.with_name("mine.toml")
    suite.write_text(f'{table}adapter = "dds"\ntransport = "default"\n')
    assert [each.native for each in plan_of(suites=(str(suite),)).cells] == [(("config", kept_of(file).written),)]


def test_all_problems_are_reported_at_once_before_anything_starts(file: Path) -> None:
    text = refused(f"{file.parent}/no.xml", "dds=", f"dds={file.parent}/no.xml", f"dds={file.parent}")
    assert text.count("write --config ADAPTER=FILE") == 2
    assert "no.xml: No such file or directory" in text
    assert "Is a directory" in text


def test_an_adapter_without_configuration_files_is_refused_with_the_adapters_that_have_them(file: Path) -> None:
    assert "lcm cannot use a configuration file; adapters that can: dds" in refused(
        f"lcm={file}", adapter="dds,lcm", transport="all"
    )
    assert "null cannot use a configuration file" in refused(f"null={file}", adapter="null", transport="all")


def test_config_as_a_native_setting_is_refused(file: Path) -> None:
    asked = RawOptions(keys=KEYS, native=(f"dds.config={file}",))
    with pytest.raises(RequestError, match="given with --config"):
        make_plan(load((), asked), HERE, cpus=(0, 1), seed=1, absent={})


def test_a_worker_receives_the_runs_copy_or_the_original_before_there_is_one(file: Path, tmp_path: Path) -> None:
    where = {"domain": 1, "scope": "s", "scratch": "/", "interface": "lo"}
    assert settings_of(cell_of(file), **where).native == {"config": str(file)}
    run = tmp_path / "run"
    run.mkdir()
    cell = cell_of(file)
    keep(user_files([cell.native]), run)
    file.write_bytes(b"changed since")
    path = settings_of(cell, folder=str(run), **where).native["config"]
    assert Path(path).read_bytes() == b"<CycloneDDS/>"
    assert Path(path).is_relative_to(run)


def test_the_copy_has_the_bytes_and_the_suffix_of_the_original(file: Path, tmp_path: Path) -> None:
    kept = kept_of(file)
    keep([kept], tmp_path)
    file.unlink()
    assert (tmp_path / kept.kept).read_bytes() == b"<CycloneDDS/>"
    assert kept.kept.endswith(".xml")


def test_a_file_that_changed_between_reading_and_copying_is_refused(file: Path, tmp_path: Path) -> None:
    kept = kept_of(file)
    file.write_bytes(b"other")
    with pytest.raises(ValueError, match="has changed"):
        keep([kept], tmp_path)


def test_a_row_shows_the_files_name_and_the_beginning_of_its_hash(file: Path) -> None:
    assert WORDS["native"](cell_of(file)) == f"config=my.xml (sha256 {kept_of(file).sha256[:8]})"
