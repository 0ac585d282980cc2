"""The answer to `which`: on one screen for people, as one object for programs."""

from collections.abc import Sequence
from typing import Any

import msgspec

from middlemark.document.numbers import exact
from middlemark.document.screen import not_tried_text
from middlemark.document.which import answer, below, how_sure, p99_absent, race_sentences, table_of
from middlemark.model.cell import FACTORS, OF_WORKLOAD, Cell
from middlemark.model.factors import Factor
from middlemark.model.run import NotTried
from middlemark.show.json import readable, written
from middlemark.show.layout import terminal
from middlemark.show.lines import command_lines, hanging
from middlemark.verdicts.experiments import JudgedRow
from middlemark.verdicts.names import plain
from middlemark.verdicts.race import RaceVerdict, elimination, latency_in, rounds_of, worst_edge_of

SCHEMA = 1
_SETTINGS = tuple(each for each in FACTORS.values() if each.name in ("receive", "reliability", "depth", "loan"))


def render_json(verdict: RaceVerdict, next_command: str | None, left_out: Sequence[NotTried] = ()) -> str:
    """Return one object; times are in ns, what was not measured is null."""
    cell, wanted = verdict.experiment.rows[0].row.result.cell, verdict.race.wanted
    graph = cell.workload
    found = {
        "schema": SCHEMA,
        "question": {
            "size": cell.size if graph is None else None,
            "rate_hz": exact(float(cell.rate)) if graph is None else None,
            "workload": graph.name if graph else None,
            "scale": cell.scale if graph else None,
            "copies": cell.copies if graph else None,
            "processes": cell.processes,
            "subscribers": cell.subscribers if graph is None else None,
            "deadline_ns": None if wanted.deadline_s is None else exact(wanted.deadline_s * 1e9),
            "loss": wanted.max_loss,
            "cpu": wanted.max_cpu,
            "budget_s": exact(verdict.race.budget_s),
        },
        "verdict": verdict.verdict,
        "sure": verdict.experiment.sure,
        "answer": [_answer(each) for each in verdict.named],
        "candidates": [_candidate(each) for each in verdict.candidates],
        "not_tried": msgspec.to_builtins(left_out),
        "trials": verdict.trials,
        "seconds": exact(verdict.seconds),
        "equal_allocation_trials": verdict.equal_trials,
        "machine": list(dict.fromkeys(each.advice for each in verdict.warnings if each.advice)),
        "next": next_command,
    }
    return msgspec.json.format(msgspec.json.encode(readable(found)), indent=2).decode() + "\n"


def _candidate(each: JudgedRow) -> dict[str, Any]:
    cell, graph, latency = each.row.result.cell, each.row.result.workload, latency_in(each.row)
    return {
        "adapter": cell.adapter,
        "transport": cell.transport,
        "loan": cell.loan,
        "standing": each.standing,
        "p50_ns": exact(latency.p50 if latency else None),
        "times_machine": exact(each.ratio),
        "rounds": rounds_of(each),
        "left": elimination(each),
        "worst_share": exact(graph.worst_share) if graph else None,
        "first_failing": graph.first_failing if graph else None,
    }


def _answer(each: JudgedRow) -> dict[str, Any]:
    cell, interval, latency = each.row.result.cell, each.row.result.interval, latency_in(each.row)
    return {
        "adapter": cell.adapter,
        "transport": cell.transport,
        "settings": {**{of.name: written(cell, of) for of in _settings(cell)}, "native": dict(cell.native)},
        **{f"{name}_ns": exact(getattr(latency, name, None)) for name in ("p50", "p90", "p99")},
        "p99_absent": p99_absent(each.row),
        "times_machine": exact(each.ratio),
        "interval": None if interval is None or cell.workload else [exact(end) for end in interval],
        "worst_edge": _edge(each),
    }


def _settings(cell: Cell) -> list[Factor]:
    """Return what one configures; of a workload its topics say the rest."""
    return [each for each in _SETTINGS if cell.workload is None or each.name not in OF_WORKLOAD]


def _edge(each: JudgedRow) -> dict[str, Any] | None:
    edge, graph = worst_edge_of(each.row), each.row.result.workload
    if edge is None or graph is None:
        return None
    return {
        "name": edge.name,
        "from": edge.source,
        "to": edge.to,
        "deadline_ns": exact((edge.deadline_s or 0.0) * 1e9),
        "share": exact(graph.worst_share),
        "holds": graph.holds,
    }


def render_table(
    verdict: RaceVerdict, folder: str, width: int, next_command: str | None, left_out: Sequence[NotTried] = ()
) -> str:
    """Return the answer in its first lines, then the candidates that came near, what is doubtful, what to do next."""
    first = (answer(verdict), how_sure(verdict), not_tried_text(left_out))
    lines = [
        *(line for text in first if text for line in hanging("", text, width)),
        "",
        *(line.plain.rstrip() for line in terminal(table_of(verdict), width)),
        "",
        *(line for text in below(verdict, folder, next_command) for line in hanging("", text, width)),
        *(command_lines("next: ", next_command, width) if next_command else ()),
    ]
    return plain_lines(lines)


def render_races(verdicts: Sequence[RaceVerdict], width: int) -> str:
    """Return the answer of each race of a run in which there was anything to choose."""
    return plain_lines([line for text in race_sentences(verdicts) for line in hanging("", text, width)])


def plain_lines(lines: Sequence[str]) -> str:
    """Return the lines as one text; whatever a middleware calls itself stays on its line."""
    return "".join(f"{plain(each)}\n" for each in lines)
