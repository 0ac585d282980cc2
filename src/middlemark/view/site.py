"""Addresses → pages. Everything lies behind the token, which is part of the address; nothing here writes."""

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from middlemark.problems import MeasureError
from middlemark.view.shelf import Shelf, Shelved

_TEMPLATES = Environment(
    loader=PackageLoader("middlemark.view"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

Report = Callable[[Sequence[Path]], str]
"""Folders of runs → the HTML page of their report. May raise MeasureError."""

HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data: blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
}
"""The pages need no other origin, and no other origin needs them; the token must not travel in a Referer."""


def site(shelf: Shelf, report: Report, token: str) -> Starlette:
    """Return the application: ``/TOKEN/``, ``/TOKEN/run/NAME`` and ``/TOKEN/compare?a=NAME&b=NAME``."""
    base = f"/{token}/"

    def answer(text: str, status: int = 200) -> HTMLResponse:
        return HTMLResponse(text, status, HEADERS)

    def admitted(request: Request) -> bool:
        return secrets.compare_digest(request.path_params.get("token", "").encode(), token.encode())

    def nowhere() -> HTMLResponse:
        return answer(_refusal("", "There is nothing at this address: open the one that middlemark view printed."), 404)

    async def runs(request: Request) -> HTMLResponse:
        if not admitted(request):
            return nowhere()
        words = request.query_params.get("q", "")

        def page() -> str:
            everything = len(shelf.runs())
            return _shelf(base, str(shelf.root), shelf.search(words), words, everything)

        return answer(await run_in_threadpool(page))

    async def reported(names: Sequence[str]) -> HTMLResponse:
        known = await run_in_threadpool(shelf.runs)
        missing = [each for each in names if each not in known]
        if missing:
            return answer(_refusal(base, f"There is no run {' and no run '.join(missing)} in {shelf.root}."), 404)
        try:
            return answer(await run_in_threadpool(report, [known[each].folder for each in names]))
        except MeasureError as error:
            return answer(_refusal(base, str(error), error.advice), 409)

    async def run(request: Request) -> HTMLResponse:
        if not admitted(request):
            return nowhere()
        return await reported([request.path_params["name"]])

    async def compare(request: Request) -> HTMLResponse:
        if not admitted(request):
            return nowhere()
        names = [request.query_params.get(side, "") for side in ("a", "b")]
        if not all(names) or names[0] == names[1]:
            return answer(_refusal(base, "Choose two different runs, one as A and one as B."), 400)
        return await reported(names)

    async def lost(_request: Request, _: Exception) -> HTMLResponse:
        return nowhere()

    app = Starlette(
        routes=[
            Route("/{token}/", runs),
            Route("/{token}/run/{name}", run),
            Route("/{token}/compare", compare),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])],
        exception_handlers={404: lost, 405: lost},
    )
    app.router.redirect_slashes = False  # it would tell a right token without its slash from a wrong one
    return app


def _shelf(base: str, root: str, runs: Sequence[Shelved], words: str, of: int) -> str:
    """Return the list of ``runs``, those of all ``of`` that have these words; ``base`` is the address of this page."""
    return _TEMPLATES.get_template("shelf.html").render(base=base, root=root, runs=runs, words=words, of=of)


def _refusal(base: str, text: str, advice: str = "") -> str:
    """Return a page that says why there is no other."""
    return _TEMPLATES.get_template("refusal.html").render(base=base, text=text, advice=advice)
