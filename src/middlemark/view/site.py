"""The pages and their addresses. Every address contains the token; no request writes anything."""

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
"""A function from folders of runs to the HTML page of their report. It may raise MeasureError."""

HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data: blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
}
"""Forbids requests from and to other origins, and keeps the token out of Referer headers."""


def site(shelf: Shelf, report: Report, token: str) -> Starlette:
    """Return the application: ``/TOKEN/``, ``/TOKEN/run/NAME`` and ``/TOKEN/compare?a=NAME&b=NAME``."""
    base = f"/{token}/"

    def answer(text: str, status: int = 200) -> HTMLResponse:
        return HTMLResponse(text, status, HEADERS)

    def has_token(request: Request) -> bool:
        return secrets.compare_digest(request.path_params.get("token", "").encode(), token.encode())

    def not_found() -> HTMLResponse:
        return answer(
            _refusal("", "There is no page at this address. Open the address that middlemark view printed."), 404
        )

    async def runs(request: Request) -> HTMLResponse:
        if not has_token(request):
            return not_found()
        words = request.query_params.get("q", "")

        def page() -> str:
            everything = len(shelf.runs())
            return _shelf(base, str(shelf.root), shelf.search(words), words, everything)

        return answer(await run_in_threadpool(page))

    async def reported(names: Sequence[str]) -> HTMLResponse:
        shelved = await run_in_threadpool(shelf.runs)
        missing = [each for each in names if each not in shelved]
        if missing:
            return answer(_refusal(base, f"There is no run {' and no run '.join(missing)} in {shelf.root}."), 404)
        try:
            return answer(await run_in_threadpool(report, [shelved[each].folder for each in names]))
        except MeasureError as error:
            return answer(_refusal(base, str(error), error.advice), 409)

    async def run(request: Request) -> HTMLResponse:
        if not has_token(request):
            return not_found()
        return await reported([request.path_params["name"]])

    async def compare(request: Request) -> HTMLResponse:
        if not has_token(request):
            return not_found()
        names = [request.query_params.get(side, "") for side in ("a", "b")]
        if not all(names) or names[0] == names[1]:
            return answer(_refusal(base, "Choose two different runs, one as A and one as B."), 400)
        return await reported(names)

    async def handle_error(_request: Request, _: Exception) -> HTMLResponse:
        return not_found()

    app = Starlette(
        routes=[
            Route("/{token}/", runs),
            Route("/{token}/run/{name}", run),
            Route("/{token}/compare", compare),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])],
        exception_handlers={404: handle_error, 405: handle_error},
    )
    app.router.redirect_slashes = False  # redirecting would reveal that a token is right
    return app


def _shelf(base: str, root: str, runs: Sequence[Shelved], words: str, of: int) -> str:
    """Return the page that lists ``runs``: those of ``of`` runs that match ``words``. ``base``: the page's address."""
    return _TEMPLATES.get_template("shelf.html").render(base=base, root=root, runs=runs, words=words, of=of)


def _refusal(base: str, text: str, advice: str = "") -> str:
    """Return a page with an error message."""
    return _TEMPLATES.get_template("refusal.html").render(base=base, text=text, advice=advice)
