"""The options of ``run``: collected as typed, and not checked by click."""

from typing import Any

import click
import pytest
from click.testing import CliRunner

from middlemark.commands.options import run_options
from middlemark.model.levels import FLAG
from middlemark.suite import load, raw_options
from middlemark.suite.overrides import flag_name, typed
from middlemark.suite.sweep import KEYS


def gathered(*argv: str) -> dict[str, Any]:
    kept: dict[str, Any] = {}

    @click.command()
    @run_options
    def run(**given: Any) -> None:
        """Replaces the verb ``run``."""
        kept.update(given)

    result = CliRunner().invoke(run, argv)
    assert result.exit_code == 0, result.output
    return kept


def test_without_options_no_option_is_set() -> None:
    assert gathered() == {
        "suites": (), "options": raw_options(), "dry_run": False, "out": None, "interface": "lo", "resume": None,
        "until_precise": None, "until_decided": False, "until_it_breaks": False, "fail_if": (), "budget": None,
        "focus": (),
        "output_format": "text", "rows": False, "verbose": False, "breakdown": False, "quiet": False,
    }  # fmt: skip


def test_every_option_is_passed_as_typed() -> None:
    words = {
        "adapter": "a,b", "pattern": "p", "size": "16,x", "transport": "t", "receive": "r", "reliability": "q",
        "depth": "all", "payload": "f", "processes": "3", "publishers": "m", "subscribers": "n",
        "topics": "o", "rate": "1x", "arrivals": "u", "burst": "b",
        "recovery": "y", "max-loss": "l", "max-p99": "z", "echo": "e", "samples": "s",
        "duration": "5", "warmup": "w", "trials": "0", "pin": "0,1", "priority": "fifo", "domain": "d", "seed": "x",
    }  # fmt: skip
    argv = [f"--{name}={word}" for name, word in words.items()]
    flags = ["--no-loan", "--mlock", "--skip-unsupported", "--only", "a=b", "--only", "c", "--dry-run", "--quiet"]
    flags += ["--native", "k=a=b c", "--native", "x.y", "--no-baseline"]
    given = gathered("one", "two.toml", *argv, *flags, "--out", "o", "--format", "json")
    fields = {name.replace("-", "_"): word for name, word in words.items()}
    assert given["options"] == raw_options(
        **fields, loan=False, mlock=True, skip_unsupported=True, baseline=False, only=("a=b", "c"),
        native=("k=a=b c", "x.y"),
    )  # fmt: skip
    assert given["suites"] == ("one", "two.toml")
    assert (given["dry_run"], given["quiet"], given["out"], given["output_format"]) == (True, True, "o", "json")


def test_the_suite_decides_about_baselines_unless_the_command_line_does() -> None:
    assert gathered()["options"].keys == {}
    assert gathered("--baseline")["options"].keys == {"baseline": True}


@pytest.mark.parametrize("name", [*(key.name for key in KEYS.values() if key.option), "seed", "native", "only"])
def test_there_is_an_option_for_every_key(name: str) -> None:
    @click.command()
    @run_options
    def run(**_: Any) -> None:
        """Replaces the verb ``run``."""

    assert name in {parameter.name for parameter in run.params}


@pytest.mark.parametrize("name", [name for name, key in KEYS.items() if key.option and key.listed])
def test_an_option_that_is_given_twice_adds_its_levels(name: str) -> None:
    flag, key = flag_name(name), KEYS[name]
    twice = (flag, f"--no-{flag[2:]}") if key.kind is FLAG else (f"{flag}=a", f"{flag}=b")
    assert typed(key, gathered(*twice)["options"].keys[name]) == ([True, False] if key.kind is FLAG else ["a", "b"])


@pytest.mark.parametrize(
    ("words", "levels"),
    [
        ("--size 64 --size 1k,64k", (64, 1024, 65536)),
        ("--size 64 --size 64", (64,)),
        ("--pin 0,1 --pin off", ((0, 1), "off")),
        ("--link 1gbit,delay=1ms --link none", ("1gbit,delay=1ms", None)),
        ("--loan --no-loan", (True, False)),
    ],
)
def test_the_levels_of_repeated_options_are_measured(words: str, levels: tuple[object, ...]) -> None:
    (suite,) = load((), gathered(*words.split())["options"])
    assert suite.sweeps[0].levels(words.split(maxsplit=1)[0].lstrip("-")).values == levels
