"""Documents of invented runs for the browser tests, made as src/middlemark/document makes them from real runs.

``python tests/browser/documents.py FOLDER [NAME…]`` writes small.html (24 cells), large.html (1,000), two.html,
hostile.html, and a page for each kind of first screen (first.html, tie.html, robot.html, …), whose verdicts are
computed from trials as for real runs. With names it writes only these pages.
"""

import itertools
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from invented import Maker, compared

HOSTILE = "<script>document.title='pwned'</script><img src=x onerror=alert(1)>"
_ADAPTERS = ("cyclonedds", "fastdds", "zenoh", "zeromq", "iceoryx2", "lcm", "mqtt", "ros1", "rclcpp", "nng")


def small() -> dict[str, Any]:
    """Return two adapters and two baselines over four sizes, ping-pong and a stream with a curve."""
    made = Maker(4)
    middlewares = (("cyclonedds", "udp", 1.35), ("fastdds", "udp", 1.9), ("fastdds", "shm", 2.6))
    raw_transports = (("udp", "udp", 1.0), ("shm", "shm", 0.8))
    sizes = (64, 1024, 65536, 1048576)
    for (adapter, transport, times), size in itertools.product((*raw_transports, *middlewares), sizes):
        made.cell(adapter, transport, size, times, pattern="ping-pong", rate="max")
    for (adapter, transport, times), subscribers in itertools.product(middlewares[:2], (1, 4)):
        made.cell(adapter, transport, 1024, times, pattern="stream", rate="curve", subscribers=subscribers)
    return made.document("first-look, robot-7, 2026-11-21")


def large() -> dict[str, Any]:
    """Return a thousand cells: ten adapters, five sizes, two receptions, five rates, two numbers of subscribers."""
    made = Maker(5)
    factors = ((16, 256, 4096, 65536, 1048576), ("block", "poll"), (100, 1000, 5000, 10000, "max"), (1, 4))
    for index, adapter in enumerate(_ADAPTERS):
        for size, receive, rate, subscribers in itertools.product(*factors):
            made.cell(
                "udp" if index == 9 else adapter,
                "udp",
                size,
                1 + index * 0.2 if index < 9 else 1.0,
                receive=receive,
                rate=rate,
                subscribers=subscribers,
            )
    return made.document("everything, robot-7, 2026-11-21")


def two() -> dict[str, Any]:
    """Return two runs of the small document, the second a tenth slower."""
    document, second = small(), small()
    for cell in second["cells"]:
        cell |= {"i": cell["i"] + len(second["cells"]), "run": "r1", "label": f"{cell['label']} · tuesday"}
        cell |= {"series": f"{cell['series']} · tuesday", "latency": {k: v * 1.1 for k, v in cell["latency"].items()}}
    document["runs"].append(second["runs"][0] | {"id": "r1", "name": "tuesday"})
    document["factors"].append(
        {"name": "run", "label": "run", "levels": ["r0", "r1"], "shown": ["monday", "tuesday"], "unit": None}
    )
    document["cells"] += second["cells"]
    document["standings"] = [
        each
        | {
            "levels": each["levels"] | {"run": name},
            "places": [place | {"row": place["row"] + first} for place in each["places"]],
            "baseline": each["baseline"] + first,
        }
        for name, first in (("monday", 0), ("tuesday", len(second["cells"])))
        for each in document["standings"]
    ]
    document["comparisons"] = [
        compared(cell, second["cells"][at], "run", ("slower", "undecided")[at % 2], 0.1)
        for at, cell in enumerate(document["cells"][: len(second["cells"])])
        if not cell["is_raw_transport"]
    ]
    return document


def first() -> dict[str, Any]:
    """Return a run of three middlewares over their transports, at three sizes, in one process and in two."""
    from report_runs import cell, run_of

    def trials(middle: float, seed: str, scatter: float) -> list[float]:
        draw = random.Random(seed)
        return [middle * draw.lognormvariate(0, scatter) for _ in range(10)]

    middles = {
        ("udp", "udp"): (20_000, 0.02),
        ("shm", "shm"): (14_000, 0.02),
        ("lyra", "udp"): (31_000, 0.03),
        ("lyra", "shm"): (17_000, 0.03),
        ("vega", "udp"): (29_000, 0.06),
        ("deneb", "udp"): (28_000, 0.06),
    }
    figures = {
        cell(adapter, transport, size=size, processes=processes): trials(
            (middle * (0.65 if (adapter, size) == ("deneb", 65536) else 1) + size / 4) / (3 - processes),
            f"{adapter}{transport}{size}{processes}",
            scatter,
        )
        for (adapter, transport), (middle, scatter) in middles.items()
        for size in (16, 1024, 65536)
        for processes in (1, 2)
    }
    return _of_run(run_of(figures))


def single() -> dict[str, Any]:
    """Return a run of one middleware over one transport, in two trials, without any other row."""
    from report_runs import cell, run_of

    return _of_run(run_of({cell(): [21_000.0, 22_000.0]}))


def robot() -> dict[str, Any]:
    """Return a run of a workload at three scales: three middlewares and two baselines, some of which miss deadlines."""
    from descriptions import transport as described
    from report_runs import ROBOT, Failure, cell, run_of, spread

    from middlemark.model.cell import carrying

    shares = {
        ("shm", "shm"): 0.1,
        ("udp", "udp"): 0.3,
        ("lyra", "shm"): 0.2,
        ("lyra", "udp"): 0.4,
        ("vega", "udp"): 0.6,
    }
    figures: dict[Any, Any] = {
        carrying(cell(adapter, transport, scale=scale, processes=2), ROBOT, described(transport)): spread(
            share * scale, trials=6
        )
        for (adapter, transport), share in shares.items()
        for scale in (1.0, 2.0, 4.0)
    }
    broken = Failure("no-match", "the workers did not match within 10 s", "")
    figures[carrying(cell("deneb", "udp", scale=1.0, processes=2), ROBOT, described("udp"))] = [broken] * 6
    return _of_run(run_of(figures))


def crowds() -> dict[str, Any]:
    """Return a run of crowds of three middlewares at five sizes. One grows quadratically and breaks at 100."""
    from crowd_runs import Law
    from crowd_runs import crowds as measured

    return _of_run(
        measured({"lyra": Law(), "vega": Law(start=0.9, bytes=1.9, cpu=1.4, breaks_at=100), "deneb": Law(start=0.6)})
    )


def one_crowd() -> dict[str, Any]:
    """Return a run of crowds of one size, which has starts and no exponents."""
    from crowd_runs import Law
    from crowd_runs import crowds as measured

    return _of_run(measured({"lyra": Law(), "vega": Law(start=0.9)}, levels=(30,), rounds=1))


def hostile() -> dict[str, Any]:
    """Return the small document with markup for names, notes and everything else that is text."""
    document = small()

    def soil(value: Any) -> Any:
        match value:
            case dict():
                return {key: soil(each) for key, each in value.items()}
            case list():
                return [soil(each) for each in value]
            case "cyclonedds" | "cyclonedds udp":
                return HOSTILE
            case str() if " " in value:
                return f"{value} {HOSTILE}"
        return value

    return soil(document) | {"title": HOSTILE, "question": HOSTILE}


def _of_run(run: Any) -> dict[str, Any]:
    from report_runs import data_of

    return json.loads(json.dumps(data_of(run)))


def failed() -> dict[str, Any]:
    """Return a run in which every trial failed, and which was then interrupted."""
    from report_runs import Failure, cell, run_of

    broken = Failure("no-match", "the workers did not match within 10 s", "try --match-timeout 30s")
    crashed = Failure("crashed", "the worker crashed with signal 11", "")
    figures = {
        cell("lyra"): [broken] * 6,
        cell("vega"): [broken] * 6,
        cell("udp"): [broken] * 6,
        cell("deneb"): [crashed] * 6,
    }
    return _of_run(run_of(figures, interrupted=True, ended=None))


def empty() -> dict[str, Any]:
    """Return a run that was stopped before its first trial."""
    from report_runs import run_of

    return _of_run(run_of({}, interrupted=True, ended=None))


def tie() -> dict[str, Any]:
    """Return a run in which two middlewares are equivalent and one is slower."""
    from report_runs import cell, run_of, spread

    middles = {"udp": 15_000, "lyra": 20_000, "vega": 20_100, "deneb": 31_000}
    return _of_run(run_of({cell(name, processes=2): spread(middle) for name, middle in middles.items()}))


def handing() -> dict[str, Any]:
    """Return a run with two middlewares. One passes an index instead of a copy, so it has its own baseline."""
    from report_runs import cell, run_of, spread

    return _of_run(
        run_of(
            {
                cell("udp", processes=2, payload="untouched"): spread(30_000),
                cell("shm", "shm", processes=2, loan=True, payload="untouched"): spread(10_000),
                cell("lyra", "shm", processes=2, loan=True, payload="untouched"): spread(20_000),
                cell("vega", "udp", processes=2, payload="untouched"): spread(27_000),
            }
        )
    )


def security() -> dict[str, Any]:
    """Return a run of two middlewares, each without security, signed and encrypted."""
    from report_runs import cell, run_of, spread

    times = {"none": 1.0, "signed": 1.4, "encrypted": 2.1}
    figures = {
        cell(name, processes=2, security=level): spread(middle * factor)
        for name, middle in (("lyra", 20_000), ("vega", 27_000))
        for level, factor in times.items()
    }
    return _of_run(run_of(figures | {cell("udp", processes=2): spread(15_000)}))


def links() -> dict[str, Any]:
    """Return a run over three links; over the slowest link another middleware is the best."""
    from report_runs import cell, run_of, spread

    times = {"1gbit,1ms": 1.0, "100mbit,5ms": 4.0, "10mbit,20ms": 9.0}
    figures = {
        cell(name, processes=2, link=link, rate=100.0): spread(
            middle * factor * (0.5 if name == "vega" and factor == 9.0 else 1)
        )
        for name, middle in (("udp", 15_000), ("lyra", 20_000), ("vega", 27_000))
        for link, factor in times.items()
    }
    return _of_run(run_of(figures))


def race() -> dict[str, Any]:
    """Return a race for one question that ends with one candidate."""
    from race_runs import Truth
    from race_runs import race as raced

    from middlemark.document import document_of, with_verdicts
    from middlemark.runs.read import read_measured
    from middlemark.show.html.data import data_of

    with tempfile.TemporaryDirectory() as root:
        truths = {"lyra": Truth(45.0), "vega": Truth(72.0), "deneb": Truth(180.0), "rigel": Truth(900.0)}
        run = read_measured(raced(Path(root), truths))
        document = with_verdicts(document_of([run], generated="2026-11-21T13:00:00Z", middlemark="0.2"), [run])
        return json.loads(msgspec.json.encode(data_of(document)))


def imported() -> dict[str, Any]:
    """Return a log of ddsperf as a run."""
    return _of_logs("ddsperf/ping.log")


def pasted() -> dict[str, Any]:
    """Return two pasted logs as a run. In one the figures contradict the heading; the other has no size."""
    return _of_logs("pasted/roundtripping-2018-half.log", "pasted/roundtripping-lone-overall.log")


def _of_logs(*names: str) -> dict[str, Any]:
    from middlemark.document import document_of, with_verdicts
    from middlemark.runs.read import newest, read_measured
    from middlemark.show.html.data import data_of

    logs = [Path(__file__).parents[1] / "fixtures" / "imports" / name for name in names]
    with tempfile.TemporaryDirectory() as root:
        subprocess.run(
            [sys.executable, "-m", "middlemark", "import", *logs, "--out", root], check=True, capture_output=True
        )
        run = read_measured(newest(Path(root)))
        document = with_verdicts(document_of([run], generated="2026-11-21T13:00:00Z", middlemark="0.2"), [run])
        return json.loads(msgspec.json.encode(data_of(document)))


def main() -> None:
    from middlemark.show.html import page_of

    sys.path[:0] = [str(Path(__file__).parents[1] / each) for each in ("unit", "golden")]
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    made = (
        small,
        large,
        two,
        hostile,
        failed,
        empty,
        first,
        single,
        robot,
        crowds,
        one_crowd,
        tie,
        security,
        links,
        race,
        imported,
        pasted,
        handing,
    )
    named = sys.argv[2:] or [each.__name__ for each in made]
    for make in (each for each in made if each.__name__ in named):
        document = make()
        (folder / f"{make.__name__}.html").write_text(page_of(document), encoding="utf-8")
        (folder / f"{make.__name__}.json").write_text(json.dumps(document), encoding="utf-8")


if __name__ == "__main__":
    main()
