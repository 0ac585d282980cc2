"""Checks a user's own certificates before the trials of a run start."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from middlemark.model.cell import Cell
from middlemark.model.description import Worker
from middlemark.model.plan import Plan
from middlemark.problems import Problem, RequestError
from middlemark.security.layout import ENDS


def own_certificates(certs: str | None, plan: Plan, workers: Mapping[str, Worker], interface: str) -> str:
    """Return the absolute path of the user's certificates; empty: each trial makes its own certificates.

    Raises RequestError.
    """
    if certs is None:
        return ""
    protected = [cell for cell in plan.cells if cell.security != "none"]
    if not protected:
        text = "no configuration has security; add --security encrypted, or another level"
        raise RequestError([Problem("--certs", text)])
    if problems := _problems(Path(certs), protected, workers, interface):
        raise RequestError(problems)
    return os.path.abspath(certs)


def _problems(folder: Path, protected: Sequence[Cell], workers: Mapping[str, Worker], interface: str) -> list[Problem]:
    from middlemark.security.check import problems_of
    from middlemark.sites.interface import ipv4_of
    from middlemark.sites.namespace import NETWORK

    descriptions = {name: workers[name].description for cell in protected for name in cell.sides}
    credentials = dict.fromkeys(each for about in descriptions.values() for each in about.credentials)
    used = [(descriptions[cell.adapter].transport(cell.transport), cell.via) for cell in protected]
    companions = any(each is not None and each.has_companions(via) for each, via in used)
    linked = any(cell.link is not None for cell in protected)
    host = f"{NETWORK}1" if linked else ipv4_of(interface)
    hosts = [host, *(["localhost"] if host == "127.0.0.1" else [])] if host else []
    levels = {cell.security for cell in protected}
    return problems_of(folder, credentials, (*ENDS, "broker") if companions else ENDS, hosts, levels)
