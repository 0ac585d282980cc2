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
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from middlemark.problems import MeasureError
from middlemark.view.shelf import Shelf
from middlemark.view.verdicts import Line, Verdicts, pairs

_TEMPLATES = Environment(
    loader=PackageLoader("middlemark.view"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

Report = Callable[[Sequence[Path]], str]
"""A function from folders of runs to the HTML page of their report. It may raise MeasureError."""

HistoryLine = tuple[str, str]
"""A sentence, and the points of its series as SVG (empty: nothing changed)."""

HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data: blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
}
"""Headers that forbid requests from and to other origins, and keep the token out of Referer headers."""


MOST_CHANGES = 5
"""At most this number of suites has its changes shown."""


def site(
    shelf: Shelf, report: Report, line: Line, token: str, histories: Callable[[], Sequence[HistoryLine]] = tuple
) -> Starlette:
    """Return the application: ``/TOKEN/``, ``/TOKEN/verdicts``, ``/TOKEN/run/NAME``, ``/TOKEN/compare?run=A&run=B``.

    ``histories``: returns the newest changes in the folder's history.
    """
    base = f"/{token}/"
    verdicts = Verdicts(line)

    def lines() -> dict[str, str | None]:
        """Return id of a page's element → its line; None: the line is not computed yet."""
        runs = [*shelf.runs().values()]
        changes = {f"changed-{at}": verdicts.of(*pair) for at, pair in enumerate(pairs(runs)[:MOST_CHANGES])}
        judged = [each for each in runs if each.wrong is None and each.state != "running"]
        return changes | {f"verdict-{each.name}": verdicts.of(each) for each in judged}

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
            everything = [*shelf.runs().values()]
            return _TEMPLATES.get_template("shelf.html").render(
                base=base,
                root=str(shelf.root),
                runs=shelf.search(words),
                words=words,
                of=len(everything),
                changes=pairs(everything)[:MOST_CHANGES],
                lines=lines(),
                histories=() if words else histories(),
            )

        found = answer(await run_in_threadpool(page))
        found.headers["Content-Security-Policy"] += "; connect-src 'self'"  # to fetch the verdicts
        return found

    async def verdict_lines(request: Request) -> Response:
        if not has_token(request):
            return not_found()
        return JSONResponse(await run_in_threadpool(lines), headers=HEADERS)

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
        names = [*dict.fromkeys(request.query_params.getlist("run"))]
        if len(names) != 2:
            return answer(_refusal(base, "Tick two runs to compare them."), 400)
        shelved = await run_in_threadpool(shelf.runs)
        return await reported(sorted(names, key=lambda each: shelved[each].started if each in shelved else ""))

    async def handle_error(_request: Request, _: Exception) -> HTMLResponse:
        return not_found()

    app = Starlette(
        routes=[
            Route("/{token}/", runs),
            Route("/{token}/verdicts", verdict_lines),
            Route("/{token}/run/{name}", run),
            Route("/{token}/compare", compare),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])],
        exception_handlers={404: handle_error, 405: handle_error},
    )
    app.router.redirect_slashes = False  # a redirect would reveal that a token is right
    return app


def _refusal(base: str, text: str, advice: str = "") -> str:
    """Return a page with an error message."""
    return _TEMPLATES.get_template("refusal.html").render(base=base, text=text, advice=advice)
