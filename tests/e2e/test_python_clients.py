"""Clients in Python that use the library of the adapter that measures the same middleware."""

import json
import subprocess

import pytest

from middlemark.workers.find import executables


def test_pyzmq_is_compiled_with_the_libzmq_that_zeromq_measures() -> None:
    here = executables()
    if not {"pyzmq", "zeromq"} <= here.keys():
        pytest.skip("pyzmq or zeromq was not built here")
    client, middleware = (
        json.loads(subprocess.run([here[name], "--describe"], capture_output=True, check=True, timeout=60).stdout)
        for name in ("pyzmq", "zeromq")
    )
    assert client["implementation"] == f"libzmq {middleware['version']}"
