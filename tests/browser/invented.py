"""Invented figures for the documents of the browser tests."""

import itertools
import math
import random
from typing import Any


class Maker:
    """Return cells that look like measurements: latency grows with size, trials vary, one in three has a warning."""

    def __init__(self, trials: int) -> None:
        self.random = random.Random(7)
        self.trials = trials
        self.cells: list[dict[str, Any]] = []

    def cell(
        self,
        adapter: str,
        transport: str,
        size: int,
        times: float,
        *,
        pattern: str = "ping-pong",
        receive: str = "block",
        rate: float | str = "max",
        subscribers: int = 1,
    ) -> None:
        index = len(self.cells)
        base = (16_000 + 0.37 * size) * times * (0.45 if receive == "poll" else 1) * (1 + 0.1 * subscribers)
        base *= 1 + self.random.random() * 0.05
        quantiles = {"min": 0.8, "mean": 1.1, "p50": 1, "p90": 1.3, "p99": 1.9, "p99.9": 4.2, "max": 31}
        hz = 1e9 / base if rate in {"max", "curve"} else float(rate)
        stream = pattern == "stream"
        f = {
            "adapter": adapter,
            "transport": transport,
            "pattern": pattern,
            "size": size,
            "receive": receive,
            "rate": rate,
            "subscribers": subscribers,
        }
        series = f"{adapter} {transport}" + (f" · {pattern} · {subscribers} subscribers" if stream else "")
        if receive == "poll" or rate not in {"max", "curve"}:
            series += f" · {receive} · {rate}/s · {subscribers}"
        self.cells.append(
            {
                "i": index,
                "run": "r0",
                "suite": "first-look",
                "label": f"{series} · {_shown('size', size)}",
                "name": f"{adapter} {transport}",
                "series": series,
                "is_raw_transport": adapter in {"udp", "shm"},
                "f": f,
                "version": "0.10.2",
                "actual_transport": transport,
                **(_PROTECTED if index == 1 else {}),
                "trials": self.trials,
                "failed_trials": 0,
                "failed": None,
                "samples": 12_000,
                "kind": "one_way" if stream else "round_trip",
                "latency": {name: round(base * part) for name, part in quantiles.items()},
                "interval": [round(base * 0.94), round(base * 1.07)],
                "trial_values": [round(base * (0.95 + 0.03 * trial)) for trial in range(self.trials)],
                "by_rate": False,
                "times_raw_transport": round(times, 2),
                "raw_transport": transport,
                "rate_hz": round(hz, 1),
                "bytes_per_s": round(hz * size),
                "offered_hz": None if rate in {"max", "curve"} else rate,
                "sent_hz": round(hz, 1),
                "loss": 0.002 if stream else 0,
                "cpu_ns_per_message": round(base * 0.9),
                "cpu": 1.4,
                "rss_bytes": 31_000_000 + size * subscribers,
                "bytes_per_subscriber": 14_000_000 + size * subscribers,
                "voluntary_hz": round(hz * 2),
                "involuntary_hz": 12,
                "steps": _steps(hz) if rate == "curve" else [],
                "breakdown": _breakdown(base),
                "warnings": [_WARNING] if index % 3 == 0 else [],
                "trial_curves": [
                    [[0, round(base * 0.7)], [50, round(base * (0.95 + 0.03 * trial))], [100, round(base * 9)]]
                    for trial in range(self.trials)
                ],
                "curve": [[p, round(base * (0.8 + 0.2 * -math.log10(max(1 - p / 100, 1e-5))))] for p in _PERCENTILES],
                "heat": _heat(base, self.random) if index < 12 else None,
            }
        )

    def document(self, title: str) -> dict[str, Any]:
        names = dict.fromkeys(name for cell in self.cells for name in cell["f"])
        factors = []
        for name in names:
            levels = list(dict.fromkeys(cell["f"][name] for cell in self.cells))
            if len(levels) > 1 or name in {"adapter", "transport"}:
                shown = [_shown(name, level) for level in levels]
                factors.append({"name": name, "label": name, "levels": levels, "shown": shown, "unit": None})
        return {
            "schema": 2,
            "title": title,
            "question": "Which middleware for 64 B to 1 MiB messages?",
            "generated": "2026-11-21T10:00:00Z",
            "middlemark": "0.1.0",
            "margin": 0.05,
            "runs": [_run(self.cells, self.trials, self.random)],
            "quantiles": ["p50", "p90", "p99", "p99.9", "p99.99"],
            "factors": factors,
            "cells": self.cells,
            "workloads": [],
            "laws": [],
            "comparisons": _comparisons(self.cells, self.random),
            "answers": _answers(self.cells),
            "standings": _standings(self.cells) if len(self.cells) < 100 else [],
            "usual": 1,
            "warnings_summary": [
                _WARNING
                | {
                    "words": "few samples",
                    "serious": False,
                    "count": len(self.cells[::3]),
                    "cells": [cell["i"] for cell in self.cells[::3]],
                }
            ],
            "commands": ["middlemark run first-look --seed 1"],
        }


_WARNING = {
    "code": "few-samples",
    "text": "p99.9 rests on 12 samples: another run may give twice or half of it",
    "advice": "--duration 2s gives ten times as many",
}
_PROTECTED = {
    "protected_by": "TLSv1.3: TLS_AES_256_GCM_SHA384",
    "proof": "PAYLOAD SEEN, stranger refused; permissions: there are none",
}
_PERCENTILES = (0, 1, 5, 10, 25, 50, 75, 90, 95, 98, 99, 99.5, 99.9, 99.95, 99.99)


def _shown(name: str, level: Any) -> str:
    if name != "size":
        return str(level)
    return f"{level} B" if level < 1024 else f"{level >> 10} KiB" if level < 1 << 20 else f"{level >> 20} MiB"


def _steps(hz: float) -> list[dict[str, Any]]:
    parts = (0.1, 0.3, 0.5, 0.7, 0.9, 1.1)
    return [
        {
            "offered_hz": hz * part,
            "sent_hz": hz * part,
            "received_hz": hz * min(part, 0.95),
            "lost": max(0, 1 - 0.95 / part),
            "p50_ns": round(8e3 / max(1.2 - part, 0.02)),
            "p99_ns": round(2e4 / max(1.2 - part, 0.02)),
            "knee": part == 0.7,
            "held": part < 0.95,
        }
        for part in parts
    ]


def _breakdown(base: float) -> list[dict[str, Any]]:
    parts = {"write": 0.2, "in between": 0.35, "take": 0.1, "write back": 0.15, "in between, back": 0.2}
    return [{"part": part, "ns": round(base * share)} for part, share in parts.items()]


def _heat(base: float, source: random.Random) -> dict[str, Any]:
    edges = [round(base * 0.7 * 1.3**step) for step in range(13)]
    counts = [[max(0, round(900 * math.exp(-row * 0.9)) - source.randrange(4)) for row in range(12)] for _ in range(20)]
    return {"t": [0.05 + 0.1 * bin_ for bin_ in range(20)], "edges_ns": edges, "n": counts, "disturbed": [[0.7, 0.9]]}


def _run(cells: list[dict[str, Any]], trials: int, source: random.Random) -> dict[str, Any]:
    order = [cell["i"] for cell in cells] * trials
    source.shuffle(order)
    names = sorted({cell["f"]["adapter"] for cell in cells})
    return {
        "id": "r0",
        "name": "2026-11-21-first-look",
        "folder": "runs/2026-11-21-first-look",
        "started": "2026-11-21T09:57:00Z",
        "ended": "2026-11-21T09:59:16Z",
        "interrupted": False,
        "error": None,
        "suites": [{"name": "first-look", "text": '[defaults]\nsize = [64, "1k"]\n'}],
        "command": ["middlemark", "run", "first-look"],
        "seed": 1,
        "machine": {
            "host": "robot-7",
            "cpu": "AMD EPYC",
            "processors": 2,
            "memory_bytes": 25_276_502_016,
            "kernel": "6.18.44",
            "system": "Debian GNU/Linux 12 (bookworm)",
            "virtual": True,
            "clocksource": "tsc",
            "governor": None,
        },
        "machine_line": "robot-7, AMD EPYC, 2 processors, 23.5 GiB, Debian GNU/Linux 12, virtual machine",
        "told": "AMD EPYC, 2 processors, virtual machine · 96 trials · 2 min 16 s",
        "machine_facts": [["clock", "tsc"]],
        "state": f"{len(order)} trials, in 2 min 16 s, from 2026-11-21 09:57:00 UTC, seed 1",
        "adapters": [
            {
                "name": name,
                "title": name,
                "version": "0.10.2",
                "licence": "EPL-2.0",
                "is_raw_transport": name in {"udp", "shm"},
            }
            for name in names
        ],
        "notes": ["size: 8 is less than the header: 16 is measured"],
        "trials": len(order),
        "failed_trials": 0,
        "seconds": 136.2,
        "order": order[:2000],
        "order_cut": len(order) > 2000,
    }


def _comparisons(cells: list[dict[str, Any]], source: random.Random) -> list[dict[str, Any]]:
    made = []
    verdicts = ("faster", "slower", "equivalent", "undecided")
    for a, b in itertools.pairwise([cell for cell in cells if not cell["is_raw_transport"]]):
        if len(made) == 300:
            break
        verdict = verdicts[len(made) % 4]
        shift = {"faster": -0.3, "slower": 0.4, "equivalent": 0.01, "undecided": 0.08}[verdict]
        one = compared(a, b, "adapter" if len(made) % 2 else "size", verdict, shift * (1 + source.random() * 0.2))
        bounded = len(made) % 5 > 0
        made.append(
            one
            | {"metric": "p50" if len(made) % 3 else "throughput"}
            | ({} if bounded else {"low": None, "high": None})
        )
    return made


def compared(a: dict[str, Any], b: dict[str, Any], factor: str, verdict: str, shift: float) -> dict[str, Any]:
    spread = 0.02 if verdict != "undecided" else 0.2
    return {
        "a": a["i"],
        "b": b["i"],
        "factor": factor,
        "what": a["label"],
        "names": [a["series"], b["series"]],
        "metric": "p50",
        "unit": "ns",
        "shift": shift,
        "low": shift - spread,
        "high": shift + spread,
        "p": 0.002,
        "p_family": 0.01,
        "pairs": 10,
        "verdict": verdict,
        "trials_needed": 20 if verdict == "undecided" else None,
        "marks": [],
    }


def _standings(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the standings for each experiment and size: the second adapter is significantly slower below 1 MiB."""
    groups: dict[tuple[str, int, int], list[dict[str, Any]]] = {}
    for cell in cells:
        groups.setdefault((cell["f"]["pattern"], cell["f"]["subscribers"], cell["f"]["size"]), []).append(cell)
    made = []
    for (pattern, subscribers, size), members in groups.items():
        best: dict[str, dict[str, Any]] = {}
        for cell in sorted(members, key=lambda each: each["latency"]["p50"]):
            if not cell["is_raw_transport"]:
                best.setdefault(cell["f"]["adapter"], cell)
        raw_transports = [each for each in members if each["is_raw_transport"]] or [
            cell for cell in cells if cell["is_raw_transport"]
        ]
        lowest = min(raw_transports, key=lambda each: each["latency"]["p50"])
        rows = [each["i"] for each in best.values()]
        sure = size < 1 << 20
        other = ("slower", "significantly slower") if sure else ("undecided", "undecided")
        made.append(
            {
                "by": "p50",
                "size": size,
                "levels": {"pattern": pattern, "subscribers": f"{subscribers} subscribers"},
                "verdict": "best" if sure else "undecided",
                "sure": sure,
                "mark": "significant" if sure else "undecided",
                "sentence": "The other is slower."
                if sure
                else "Undecided against fastdds udp: about 24 trials would decide.",
                "settings": "<!-- Eclipse Cyclone DDS 0.10.2: transport udp, block, reliable -->\n<CycloneDDS/>\n",
                "lead": "cyclonedds udp is lowest, 22.0 µs a round trip, 1.35 × the baseline shm (copying).",
                "why": "The other is slower."
                if sure
                else "Undecided against fastdds udp: about 24 trials would decide.",
                "winner": cells[rows[0]]["f"]["adapter"],
                "places": [
                    {
                        "row": row,
                        "standing": ("best" if sure else "undecided") if at == 0 else other[0],
                        "why": "" if at == 0 else other[1],
                        "figure": cells[row]["latency"]["p50"],
                        "text": f"{cells[row]['latency']['p50'] / 1e3:.1f} µs",
                        "ratio": cells[row]["latency"]["p50"] / lowest["latency"]["p50"],
                    }
                    for at, row in enumerate(rows)
                ],
                "baseline": lowest["i"],
                "failed": [],
                **(
                    {} if sure else {"command": "middlemark run first-look --only size=1MiB --trials 24", "seconds": 62}
                ),
            }
        )
    return made


def _answers(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    named = [cell for cell in cells if not cell["is_raw_transport"] and cell["kind"] == "round_trip"]
    answers = []
    for size in dict.fromkeys(cell["f"]["size"] for cell in named):
        here = [cell["i"] for cell in named if cell["f"]["size"] == size][:3]
        answers.append(
            {
                "text": f"At {_shown('size', size)} over UDP, cyclonedds answers 29 % faster than fastdds "
                "(95 % interval 26 to 31 %, 10 trials each), 1.35 times the baseline.",
                "sure": "unsure" if size > 65536 else "sure",
                "cells": here,
                "size": size,
            }
        )
    return answers
