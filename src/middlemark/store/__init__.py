"""A run's folder: append-only, readable after every trial, in open formats."""

from middlemark.store.reading import StoreError, list_runs, read_run
from middlemark.store.run import RunWriter, open_run, reopen_run

__all__ = [
    "RunWriter",
    "StoreError",
    "list_runs",
    "open_run",
    "read_run",
    "reopen_run",
]
