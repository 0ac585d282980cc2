"""Parquet files with every raw sample, its cell and its trial. Row groups allow a run larger than memory."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from middlemark.document.document import Document
from middlemark.model.samples import NOT_MEASURED
from middlemark.show import TrialsOf
from middlemark.show.json.cell import cell_document
from middlemark.show.naming import cell_name
from middlemark.stats.result import CellResult
from middlemark.stats.samples import Kept

ROW_GROUP = 1 << 20

_TABLES = {"ping": "round_trips", "client": "round_trips", "publisher": "sends", "subscriber": "arrivals"}
"""Role → the name of the file with its samples, without ``.parquet``."""

_ABSENT = ("take_ns", "loan_ns", "fill_ns", "check_ns", "write_ns", "arrived_ns")
"""Fields in which 0xFFFFFFFF means not measured. It becomes null."""


MODULES = ("pyarrow", "pyarrow.parquet")
"""The modules that write the files."""


def write(document: Document, folder: Path, trials_of: TrialsOf, arrow: Any, parquet: Any) -> None:
    """Write ``cells.parquet``, and ``round_trips``, ``sends`` and ``arrivals`` if there are such samples.

    ``arrow`` and ``parquet`` are MODULES. Raises OSError.
    """
    parquet.write_table(_cells([row.result for row in document.rows], arrow), folder / "cells.parquet")
    writers: dict[str, Any] = {}
    try:
        for row in document.rows:
            for outcome, roles in trials_of(row.index):
                for kept in roles:
                    name = _TABLES[kept.role]
                    for begin in range(0, len(kept.raw), ROW_GROUP):
                        table = _samples(row.index, outcome.number, kept, begin, arrow)
                        if name not in writers:
                            writers[name] = parquet.ParquetWriter(folder / f"{name}.parquet", table.schema)
                        writers[name].write_table(table)
    finally:
        for writer in writers.values():
            writer.close()


def _cells(results: Sequence[CellResult], arrow: Any) -> Any:
    """Return a row for each cell: its name, its factors, and its figures as in the JSON."""
    documents = [cell_document(each) for each in results]
    columns: dict[str, Any] = {
        "cell": arrow.array(range(len(results)), arrow.int32()),
        "id": arrow.array([cell_name(each.cell) for each in results], arrow.string()),
    }
    for key in documents[0] if documents else ():
        values = [each.get(key) for each in documents]
        # depth, pin and rate may be words in some cells and numbers in others. Then all levels are written as words.
        mixed = len({isinstance(each, str) for each in values if each is not None}) > 1
        if not any(isinstance(each, dict | list) for each in values):
            columns[key] = arrow.array([None if each is None else str(each) for each in values] if mixed else values)
    for key, time in (("round_trip", "round_trip_ns"), ("one_way", "one_way_ns")):
        for quantile in ("p50", "p90", "p99", "p99.9", "max"):
            values = [(each[time] or {}).get(quantile) for each in documents]
            columns[f"{key}_{quantile}_ns"] = arrow.array(values, arrow.float64())
    return arrow.table(columns)


def _samples(cell: int, trial: int, kept: Kept, begin: int, arrow: Any) -> Any:
    raw = kept.raw[begin : begin + ROW_GROUP]
    rows = len(raw)
    columns: dict[str, Any] = {
        "cell": arrow.array(np.full(rows, cell, dtype=np.int32)),
        "trial": arrow.array(np.full(rows, trial, dtype=np.int32)),
        "role_index": arrow.array(np.full(rows, kept.index, dtype=np.int32)),
    }
    if kept.role == "publisher":
        sequences = 1 + np.arange(begin, begin + rows, dtype=np.uint64) * np.uint64(kept.stamped_every)
        columns["sequence"] = arrow.array(sequences)
    for field in raw.dtype.names or ():
        values = np.ascontiguousarray(raw[field])
        absent = values == NOT_MEASURED if field in _ABSENT else None
        columns[field] = arrow.array(values, mask=absent)
    return arrow.table(columns)
