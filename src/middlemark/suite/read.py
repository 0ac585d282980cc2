"""Read the text of a suite file. The result is a Suite, or all problems of the file at once."""

import itertools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

import msgspec

from middlemark.model.cell import FACTORS, OF_WORKLOAD
from middlemark.model.levels import Level, Wrong
from middlemark.model.link import link_of, link_text
from middlemark.model.plan import LIMITS, Limits
from middlemark.model.setting import settings_level
from middlemark.model.spelling import did_you_mean, quoted
from middlemark.model.workload import Workload
from middlemark.problems import Problem
from middlemark.suite.crowd import crowd_keys
from middlemark.suite.expect import read_expectations
from middlemark.suite.scorecard import read_scorecard
from middlemark.suite.sweep import KEYS, ONCE, Levels, Native, Suite, Sweep
from middlemark.suite.table import Given, Table, parse_toml, read_seed, read_table
from middlemark.suite.user_files import read_table_of_files
from middlemark.suite.workload import read_workload

TOP = (
    *("name", "description", "seed", "vary_together", "scorecard"),
    *("config", "link", "defaults", "sweep", "workload", "expect"),
)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
DEFAULT_DURATION_S = 1.0
_LARGEST_FILE = 4 << 20
DEFAULT_LIMIT_S = 120.0
WORKLOAD_DURATION_S = 10.0

Natives = dict[str, Native]


def read_document(path: Path, place: str) -> tuple[dict[str, object] | None, list[Problem], str]:
    """Return the parsed content of a suite file, its problems, and its text.

    The parsed content is None if the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        return None, [Problem(place, f"cannot be read: {error.strerror or error}")], ""
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return None, [Problem(f"{place}: line {line}", "not TOML: not UTF-8 text")], ""
    except ValueError as error:  # the path contains a NUL
        return None, [Problem(place, f"cannot be read: {error}")], ""
    if len(data) > _LARGEST_FILE:
        return None, [Problem(place, "larger than 4 MiB, which is too large for a suite")], ""
    return *parse_toml(text, place), text


def read_suite(
    document: Mapping[str, object],
    name: str,
    place: str,
    folder: Path,
    options: Table,
    text: str = "",
    expected: bool = False,
) -> tuple[Suite | None, list[Problem]]:
    """Check a parsed suite file. ``name``: the file's name without its ending. ``options`` override every sweep.

    ``text``: the file's content, for line numbers. ``expected``: the command line has expectations for the suite.
    """
    problems = [_unknown_top(key, place) for key in document if key not in TOP]
    named = document.get("name", None)
    if named is not None and not (isinstance(named, str) and NAME.fullmatch(named)):
        problems.append(
            Problem(
                f"{place}: name",
                f"{quoted(named)} is not a valid name for a suite; use letters, digits, '.', '_' and '-'",
            )
        )
    description = document.get("description", "")
    if not isinstance(description, str):
        problems.append(Problem(f"{place}: description", f"{quoted(description)} is not text; write it in quotes"))
    seed: int | None = None
    if "seed" in document:
        try:
            seed = read_seed(document["seed"])
        except Wrong as error:
            problems.append(Problem(f"{place}: seed", str(error)))

    together = _read_together(document.get("vary_together", []), f"{place}: vary_together", problems)
    scorecard, wrong = read_scorecard(document.get("scorecard"), f"{place}: scorecard")
    problems += wrong
    links = _read_links(document.get("link", {}), f"{place}: link", problems)
    defaults, natives = _read_defaults(
        _spelled(document.get("defaults", {}), links, f"{place}: defaults", problems),
        f"{place}: defaults",
        folder,
        problems,
    )
    files, wrong = read_table_of_files(document.get("config", {}), f"{place}: config", folder)
    problems += wrong
    natives = _overridden({each.adapter: each for each in files}, natives.values())
    expectations, wrong = read_expectations(document.get("expect", []), place, text)
    problems += wrong
    expected = expected or bool(expectations)
    workload = None
    if "workload" in document:
        workload, wrong = find_workload(document["workload"], suite_name(name), place, folder, text)
        problems += wrong
    tables = document.get("sweep", [{}] if "workload" in document else [])
    if isinstance(tables, dict):
        problems.append(Problem(f"{place}: sweep", "is a single table; write [[sweep]], also for only one"))
        tables = []
    elif not isinstance(tables, list):
        problems.append(
            Problem(f"{place}: sweep", f"{quoted(tables)} is not a sweep; write [[sweep]] and its keys below")
        )
        tables = []
    elif not tables:
        problems.append(Problem(place, "has no [[sweep]]; a suite needs at least one sweep"))
    sweeps = [
        _read_sweep(
            _spelled(table, links, f"{place}: sweep {number}", problems),
            f"{place}: sweep {number}",
            folder,
            (defaults, natives),
            options,
            problems,
            workload,
            expected,
        )
        for number, table in enumerate(tables, start=1)
    ]
    if problems:
        return None, problems
    return Suite(
        name=cast("str", named) if named is not None else suite_name(name),
        description=cast("str", description).strip(),
        place=place,
        seed=seed,
        together=together,
        scorecard=scorecard,
        sweeps=tuple(sweep for sweep in sweeps if sweep is not None),
        expectations=expectations,
    ), []


def _read_links(tables: object, place: str, problems: list[Problem]) -> dict[str, str]:
    """Return name → link for the tables ``[link.NAME]``. A link is written as a level of the factor ``link``."""
    if not isinstance(tables, dict):
        problems.append(Problem(place, f"{quoted(tables)} is not a table; write [link.NAME] and rate, delay, … below"))
        return {}
    found: dict[str, str] = {}
    for name, table in tables.items():
        try:
            if not isinstance(table, dict):
                raise Wrong(f"{quoted(table)} is not a table; write [link.{name}] and rate, delay, … below")
            found[name] = link_text(link_of(table))
        except Wrong as error:
            problems.append(Problem(f"{place}.{name}", str(error)))
            found[name] = "none"
    return found


def _spelled(table: object, links: Mapping[str, str], place: str, problems: list[Problem]) -> object:
    """Return the table of a sweep. Names of links are replaced by the links, and settings by levels."""
    if isinstance(table, dict) and "system" in table:
        table = {**table, "system": _settings(table["system"], f"{place}: system", problems)}
    if not isinstance(table, dict) or "link" not in table:
        return table
    named = table["link"]
    several = named if isinstance(named, list) else [named]
    spelled = [links.get(each, each) if isinstance(each, str) else each for each in several]
    return {**table, "link": spelled if isinstance(named, list) else spelled[0]}


def _settings(value: object, place: str, problems: list[Problem]) -> object:
    """Return all combinations of ``{ NAME = [VALUE, …], … }`` as levels.

    For a list: the combinations of each table in the list.
    """
    if isinstance(value, list):
        spelled = [_settings(each, place, problems) for each in value]
        return [one for each in spelled for one in (each if isinstance(each, list) else [each])]
    if not isinstance(value, dict):
        return value
    named = [each if isinstance(each, list) else [each] for each in value.values()]
    try:
        return [settings_level(dict(zip(value, some, strict=True))) for some in itertools.product(*named)]
    except Wrong as error:
        problems.append(Problem(place, str(error)))
        return "as-is"


def _read_together(value: object, place: str, problems: list[Problem]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of factors that are varied together.

    One group is written ``["pin", "priority"]``, several groups ``[["pin", …], …]``.
    """
    found = [value] if isinstance(value, list) and value and isinstance(value[0], str) else value
    if not isinstance(found, list) or not all(isinstance(each, list) and len(each) > 1 for each in found):
        text = f"{quoted(value)} is not a combination of factors; name two or more, as in ['pin', 'priority']"
        problems.append(Problem(place, text))
        return ()
    unknown = [name for each in found for name in each if not isinstance(name, str) or name not in FACTORS]
    problems += [
        Problem(place, f"{quoted(name)} is not a factor; {did_you_mean(str(name), FACTORS)}") for name in unknown
    ]
    return tuple(tuple(map(str, each)) for each in found)


def suite_name(stem: str) -> str:
    """Convert a file's name to a suite name, which is also valid for a folder."""
    cleaned = re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-.")
    return cleaned[:100] or "suite"


def find_workload(
    value: object, name: str, place: str, folder: Path, text: str
) -> tuple[Workload | None, list[Problem]]:
    """Return the workload of a suite, from the suite itself or from the file that it names."""
    if not isinstance(value, str):
        return read_workload(value, name, place, text, folder)
    document, problems, other = read_document(folder / value, value)
    if document is None:
        return None, problems
    named = (folder / value).parent
    return read_workload(document.get("workload"), suite_name(Path(value).stem), value, other, named)


def make_sweep(
    place: str,
    given: Table,
    natives: Natives,
    name: str | None,
    workload: Workload | None = None,
    expected: bool = False,
) -> tuple[Sweep, list[Problem]]:
    """Return the sweep with the given keys and defaults, and all problems.

    ``expected``: the trials decide expectations.
    """
    problems: list[Problem] = []
    if workload is not None:
        given, problems = _carrying(given, workload, place)
    else:
        problems += [
            Problem(given[each].place, "there is no workload to multiply; use rate, or publishers and topics")
            for each in ("scale", "copies")
            if each in given
        ]
    given, wrong = crowd_keys(given, place)
    problems += wrong
    factors = tuple(
        Levels(key.name, given[key.name].values, given[key.name].place)
        if key.name in given
        else Levels(key.name, key.default, place, named=False)
        for key in FACTORS.values()
    )
    once = {ONCE[name].field: each.values[0] for name, each in given.items() if name in ONCE}
    if "samples" not in once:
        once.setdefault("duration_s", DEFAULT_DURATION_S if workload is None else WORKLOAD_DURATION_S)
    if "limit_s" not in once:
        once["limit_s"] = max(DEFAULT_LIMIT_S, 2 * cast("float", once.get("duration_s", 0.0)))
    limits = msgspec.convert({key.field: once.pop(key.field) for key in LIMITS.values() if key.field in once}, Limits)
    if limits.duration_s is not None and limits.limit_s < limits.duration_s:
        text = f"{limits.limit_s:g}s is shorter than the trial's duration of {limits.duration_s:g}s"
        problems.append(Problem(given["limit"].place, text))
    sweep = Sweep(
        place=place,
        name=name,
        factors=factors,
        limits=limits,
        workload=workload,
        native=tuple(natives.values()),
        deciding_trials=expected and "trials" not in once,
    )
    return msgspec.structs.replace(sweep, **once), problems


def _carrying(given: Table, workload: Workload, place: str) -> tuple[Table, list[Problem]]:
    """Return ``given`` with the keys that the workload determines.

    A key that is both given and determined is a problem.
    """
    problems = [
        Problem(given[each].place, f"the workload's topics determine {each}; leave it out")
        for each in OF_WORKLOAD
        if each in given
    ]
    from_workload: dict[str, Level] = {
        "pattern": "stream",
        "size": max(each.size for each in workload.topics),
        "publishers": len(workload.topics),
        "subscribers": len(workload.edges),
        "topics": len(workload.topics),
        "rate": max(workload.rates_hz),
    }
    found = {name: Given((level,), f"{place}: workload") for name, level in from_workload.items()}
    return {"pin": Given(("off",), place), **given, **found}, problems


def overlay(*layers: Table) -> Table:
    """Merge tables. A key in a later table replaces the key in an earlier table.

    Samples and duration replace each other, because a sweep has only one of them.
    """
    merged: dict[str, Given] = {}
    for layer in layers:
        if "samples" in layer or "duration" in layer:
            merged.pop("samples", None)
            merged.pop("duration", None)
        merged.update(layer)
    return merged


def _read_defaults(table: object, place: str, folder: Path, problems: list[Problem]) -> tuple[Table, Natives]:
    if not isinstance(table, dict):
        problems.append(Problem(place, f"{quoted(table)} is not a table; write [defaults] and its keys below"))
        return {}, {}
    given, wrong = read_table(table, place, folder, extra=("native", "config"))
    problems += wrong
    return given, _natives_of(table, place, folder, problems)


def _read_sweep(
    table: object,
    place: str,
    folder: Path,
    defaults: tuple[Table, Natives],
    options: Table,
    problems: list[Problem],
    workload: Workload | None,
    expected: bool,
) -> Sweep | None:
    if not isinstance(table, dict):
        problems.append(Problem(place, f"{quoted(table)} is not a sweep; write [[sweep]] and its keys below"))
        return None
    name = table.get("name")
    if name is not None and not (isinstance(name, str) and name.strip() and len(name) <= 100 and name.isprintable()):
        problems.append(
            Problem(f"{place}: name", f"{quoted(name)} is not a name for a sweep; write a few words in quotes")
        )
        name = None
    given, wrong = read_table(table, place, folder, extra=("name", "native", "config"))
    problems += wrong
    natives = _overridden(defaults[1], _natives_of(table, place, folder, problems).values())
    sweep, wrong = make_sweep(place, overlay(defaults[0], given, options), natives, name, workload, expected)
    problems += wrong
    return sweep


def _natives_of(table: Table, place: str, folder: Path, problems: list[Problem]) -> Natives:
    """Return the native settings of one table, including the user's own configuration files."""
    files, wrong = read_table_of_files(table.get("config", {}), f"{place}: config", folder)
    problems += wrong
    return _overridden(_read_native(table.get("native", {}), f"{place}: native", problems), files)


def _overridden(natives: Natives, over: Iterable[Native]) -> Natives:
    merged = dict(natives)
    for native in over:
        below = merged.get(native.adapter)
        settings = {**dict(below.settings if below else ()), **dict(native.settings)}
        merged[native.adapter] = Native(native.adapter, tuple(sorted(settings.items())), native.place)
    return merged


def _read_native(table: object, place: str, problems: list[Problem]) -> Natives:
    natives: Natives = {}
    if not isinstance(table, dict):
        problems.append(
            Problem(place, f"{quoted(table)} is not a table; write [sweep.native.ADAPTER] and the settings below")
        )
        return natives
    for adapter, settings in table.items():
        if not isinstance(settings, dict):
            problems.append(
                Problem(
                    f"{place}: {adapter}",
                    f"{quoted(settings)} is not a table; put native settings in a table with the name of the adapter",
                )
            )
            continue
        for key, value in settings.items():
            if not isinstance(value, str):
                shown = value if isinstance(value, int | float) and not isinstance(value, bool) else "…"
                problems.append(
                    Problem(
                        f"{place}: {adapter}: {key}", f'{quoted(value)} is not text; write "{quoted(shown)}" in quotes'
                    )
                )
        texts = {key: value for key, value in settings.items() if isinstance(value, str)}
        natives[adapter] = Native(adapter, tuple(sorted(texts.items())), f"{place}: {adapter}")
    return natives


def _unknown_top(key: str, place: str) -> Problem:
    if key in KEYS or key == "native":
        return Problem(f"{place}: {key}", "not allowed at the top of the file; move it to [defaults] or a [[sweep]]")
    return Problem(f"{place}: {key}", f"no such key; {did_you_mean(key, TOP)}")
