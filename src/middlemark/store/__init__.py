"""A run's folder: append-only, complete after every trial, readable by anything."""

from middlemark.store.run import (
    Machine,
    RunFile,
    RunWriter,
    StoredRun,
    StoreError,
    list_runs,
    open_run,
    read_run,
    reopen_run,
)

__all__ = [
    "Machine",
    "RunFile",
    "RunWriter",
    "StoreError",
    "StoredRun",
    "list_runs",
    "open_run",
    "read_run",
    "reopen_run",
]
