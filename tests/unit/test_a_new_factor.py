"""A factor declared in a copy of the package appears everywhere without further changes."""

import subprocess
import sys
from pathlib import Path

from declaring import ROOT, seen_in_copy

DECLARATION = """
    zeal_s: Annotated[
        float,
        Factor(kind=seconds(0.0), default=(0.5,), metavar="TIME,…", help="How keen it is.", title="keenness", unit="s",
               request="zeal"),
    ] = 0.5
"""
FIELD = "    native: dict[str, str] = {}\n"
"""The last field of the request that the worker gets. The new factor is inserted after it."""
LAST = "    native: tuple[tuple[str, str], ...] = ()\n"
SEEN = r"""
import csv, io
from pathlib import Path

from click.testing import CliRunner
from planning import plan_of
from report_runs import cell, run_of

from middlemark.commands.run import command
from middlemark.document import document_of
from middlemark.verdicts.names import WORDS, words
from middlemark.trial.worker_request import settings_of
from middlemark.model.cell import EXPERIMENT
from middlemark.plan import estimate_seconds
from middlemark.runs.sides import ComparisonRequest
from middlemark.show import View, csv as table, dry_run, naming
from middlemark.show.html.data import data_of
from middlemark.show.json.cell import cell_document
from middlemark.suite import load, raw_options
from middlemark.suite.read import read_suite

see("option", "--zeal TIME" in CliRunner().invoke(command, ["--help"]).output)
asked = load([], raw_options(zeal="10ms,2s"))[0].sweeps[0].levels("zeal")
see("typed", asked.values == (0.01, 2.0))

SUITE = "[[sweep]]\nadapter='cyclonedds'\ntransport='udp'\n"
plan = plan_of(SUITE + "zeal=['10ms','2s']")
see("TOML", [each.zeal_s for each in plan.cells] == [0.01, 2.0])
[problem] = read_suite({"sweep": [{"zeal": "7"}]}, "lan", "lan.toml", Path(), {})[1]
see("problem", str(problem).startswith("lan.toml: sweep 1: zeal: '7' has no unit"))
see("default", [each.zeal_s for each in plan_of(SUITE).cells] == [0.5])
see("--only", [each.zeal_s for each in plan_of(SUITE + "zeal=['10ms','2s']", only=["zeal=2s"]).cells] == [2.0])
see("dry run", "zeal 10 ms" in dry_run.render(plan, 100, verbose=True))

lively, calm = cell(zeal_s=0.01), cell(zeal_s=2.0)
run = run_of({lively: [1000.0] * 6, calm: [2000.0] * 6})
see("JSON", [cell_document(each)["zeal_s"] for each in run.results] == [0.01, 2.0])
rows = list(csv.DictReader(io.StringIO(table.render(document_of([run]), View()))))
see("CSV", [each["zeal_s"] for each in rows] == ["0.01", "2.0"])
see("long CSV", "zeal_s" in table.LONG_COLUMNS)
see("name", "zeal_s:0.01" in naming.cell_name(lively))
see("label", words(lively, WORDS).count("zeal 10 ms") == 1)
[factor] = [each for each in data_of(document_of([run]))["factors"] if each["name"] == "zeal_s"]
see("report", (factor["label"], factor["shown"], factor["unit"]) == ("keenness", ["10 ms", "2 s"], "s"))
see("experiment", "zeal_s" in EXPERIMENT)
see("worker", settings_of(lively, domain=1, scope="s", scratch="/", interface="lo").zeal == 0.01)

asked = ComparisonRequest(["runs/a:zeal=10ms", "runs/b:zeal=2s"], None, None, "p50", "5%", (), "table")
found = [dict(each.selection.levels) for each in asked.selections]
see("selection", found == [{"zeal_s": (0.01,)}, {"zeal_s": (2.0,)}])
asked = ComparisonRequest(["runs/a"], "zeal", "2s", "p50", "5%", (), "table")
see("--by", (asked.by, asked.reference.levels) == (["zeal_s"], {"zeal_s": (2.0,)}))
"""
EVERYWHERE = (
    *(
        "--by",
        "--only",
        "CSV",
        "JSON",
        "TOML",
        "default",
        "dry run",
        "experiment",
        "label",
        "long CSV",
        "manual",
        "name",
    ),
    *("option", "problem", "report", "selection", "typed", "worker"),
)


def test_the_manual_matches_the_declared_factors() -> None:
    argv = [sys.executable, ROOT / "scripts/factors", "--check"]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_a_declared_factor_is_available_everywhere(tmp_path: Path) -> None:
    declarations = {"model/cell.py": (LAST, DECLARATION), "model/protocol.py": (FIELD, "    zeal: float = 0.0\n")}
    manual = ("docs/reference/suites.md", "| `zeal` | `TIME` | How keen it is. | `0.5 s` |")
    assert seen_in_copy(tmp_path, declarations, SEEN, manual) == list(EVERYWHERE)


IMPORT = "from middlemark.model.protocol import Urgency\n"
HONOURED = {
    "model/protocol.py": (
        *('LoadKind = Literal["max", "rate", "burst"]\n', 'Urgency = Literal["normal", "high"]\n'),
        *(FIELD, '    urgency: Urgency = "normal"\n'),
    ),
    "model/description.py": (
        *('DEFAULT_CONFIGURATION = "default"\n', IMPORT),
        "    varying_sizes: bool = False\n",
        '    urgency: tuple[Urgency, ...] = ("normal",)\n    """How soon it can be asked to send."""\n',
    ),
    "model/cell.py": (
        *("STEP_S = 1.0\n", IMPORT),
        LAST,
        """
    urgency: Annotated[
        Urgency,
        Factor(kind=words("urgency", *get_args(Urgency)), default=("normal",), metavar="normal|high,…",
               help="How soon it is sent.", of="middleware", honour=one_of("urgency")),
    ] = "normal"
""",
    ),
}
ASKED = r"""
import os
from pathlib import Path

from descriptions import description, transport
from planning import plan_of, problems_of

from middlemark.commands.list import _limits
from middlemark.verdicts.names import ASKED

HASTY = description("hasty", transport("udp", urgency=("normal", "high")), transport("tcp"))
SUITE = "[[sweep]]\nadapter='hasty'\ntransport='{}'\nurgency='high'\n"
see("plan", [each.urgency for each in plan_of(SUITE.format("udp"), [HASTY]).cells] == ["high"])
see("refusal", "hasty tcp: normal only" in str(problems_of(SUITE.format("tcp"), [HASTY])))
see("list adapters", "normal/high" in _limits(HASTY.transports[0]))
see("security", "urgency" in ASKED)

os.makedirs("core/kit/rust/src")
os.makedirs("core/kit/python/middlemark_kit")
subprocess.run([sys.executable, "scripts/protocol"], check=True)
core = Path("core/description.hpp").read_text()
see("adapter in C++", "std::vector<Urgency> urgency{Urgency::normal};" in core)
see("core's refusal", 'Capability{"urgency", &Transport::urgency, &RequestedSettings::urgency}' in core)
crate = Path("core/kit/rust/src/description.rs").read_text()
see("adapter in Rust", "pub urgency: Vec<Urgency> = vec![Urgency::Normal]," in crate)
see("levels in Rust", 'pub enum Urgency { Normal = "normal", High = "high" }' in crate)
see("request in Rust", "pub urgency: Urgency," in Path("core/kit/rust/src/request.rs").read_text())
kit = Path("core/kit/python/middlemark_kit/protocol.py").read_text()
see("adapter in Python", "urgency: tuple[Urgency, ...] = (" in kit)
see("request in Python", "    urgency: Urgency = " in kit)
see("protocol", "How soon it can be asked to send." in Path("docs/reference/protocol.md").read_text())
"""


def test_a_factor_that_transports_must_support_is_declared_with_its_capability(tmp_path: Path) -> None:
    manual = ("docs/reference/suites.md", "| `urgency` | `normal`, `high` | How soon it is sent. | `normal` |")
    seen = seen_in_copy(tmp_path, HONOURED, ASKED, manual)
    assert seen == sorted(
        [
            *("plan", "refusal", "list adapters", "security", "manual", "protocol"),
            *("adapter in C++", "adapter in Python", "adapter in Rust", "core's refusal", "levels in Rust"),
            *("request in Python", "request in Rust"),
        ]
    )
