"""A report for Quarto or R Markdown: ``report.qmd`` and its data. The reader renders it.

The text is the Markdown report. The figures are R code (ggplot2) that reads ``data/``, so that a reader can change
them.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from middlemark.document.document import Document
from middlemark.show import TrialsOf, csv, markdown, parquet
from middlemark.show import View as _View
from middlemark.verdicts.names import plain

MODULES = parquet.MODULES
NAME = "report.qmd"
FIGURES = "figures.csv"
_CODE = re.compile(r"`(?=\{?[A-Za-z]+\}?[ ,}])")
"""Text that R Markdown would run as code, also in the title."""

_READ = """
figures <- do.call(rbind, lapply(folders, function(folder)
  read.csv(file.path(folder, "figures.csv"), colClasses = c(size = "numeric", value = "numeric"))))
figures$configuration <- paste(figures$adapter, figures$transport)
"""
_BY_SIZE = """
library(ggplot2)
shown <- subset(figures, metric %in% c("round_trip_p50", "one_way_p50", "rate_hz"))
ggplot(shown, aes(size, value, ymin = low, ymax = high, colour = configuration)) +
  geom_line() + geom_point() + geom_errorbar(width = 0, na.rm = TRUE) +
  scale_x_log10() + scale_y_log10() +
  facet_wrap(~ paste0(pattern, ": ", metric, " (", unit, ")"), scales = "free_y") +
  labs(x = "bytes of a message", y = NULL)
"""
_SAMPLES = """
if (requireNamespace("arrow", quietly = TRUE)) {
  trips <- do.call(rbind, lapply(folders, function(folder) {
    file <- file.path(folder, "round_trips.parquet")
    if (file.exists(file)) merge(arrow::read_parquet(file, col_select = c("cell", "trial", "round_trip_ns")),
                                 arrow::read_parquet(file.path(folder, "cells.parquet"), col_select = c("cell", "id")))
  }))
  if (!is.null(trips)) ggplot(trips, aes(round_trip_ns / 1000, colour = id, group = paste(id, trial))) +
    stat_ecdf() + scale_x_log10() + labs(x = "round trip in µs", y = "part of a trial's round trips")
}
"""


def write(
    document: Document, runs: Sequence[tuple[Document, TrialsOf]], folder: Path, arrow: Any, parquet_: Any
) -> None:
    """Write ``report.qmd``, and a folder for each run below ``data``. ``arrow`` and ``parquet_`` are MODULES.

    ``runs``: for each run its own document and its samples. Raises OSError.
    """
    places = [f"data/{number}-{plain(each.runs[0].name)}" for number, (each, _) in enumerate(runs, start=1)]
    for place, (each, trials_of) in zip(places, runs, strict=True):
        run_folder = folder / place
        run_folder.mkdir(parents=True)
        (run_folder / FIGURES).write_text(csv.render_long(each, _View()), encoding="utf-8")
        parquet.write(each, run_folder, trials_of, arrow, parquet_)
    (folder / NAME).write_text("\n".join(_lines(document, places)), encoding="utf-8")


def _lines(document: Document, places: Sequence[str]) -> Iterator[str]:
    # A JSON string is also valid YAML and R.
    yield f"---\ntitle: {json.dumps(_CODE.sub('` ', plain(document.title)))}\nformat: html\n---\n"
    yield from _chunk("data", f"folders <- c({', '.join(map(json.dumps, places))})\n{_READ.strip()}", echo=True)
    text = markdown.render(document, _View()).partition("\n")[2]  # the first line of the Markdown report is the title
    yield _CODE.sub("` ", text.strip()) + "\n"
    yield "## Figures by size\n"
    yield from _chunk("by-size", _BY_SIZE.strip())
    yield "## Every round trip\n"
    yield "Each line is one trial: samples of different trials are never pooled.\n"
    yield from _chunk("round-trips", _SAMPLES.strip())


def _chunk(label: str, code: str, *, echo: bool = False) -> Iterator[str]:
    yield f"```{{r}}\n#| label: {label}\n#| echo: {json.dumps(echo)}\n#| message: false\n{code}\n```\n"
