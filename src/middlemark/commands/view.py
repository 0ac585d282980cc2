"""``middlemark view``: shows the stored runs in the browser."""

import contextlib
import secrets
import signal
import socket
from pathlib import Path

import click

from middlemark import exits
from middlemark.commands.page import argument, option, page
from middlemark.problems import MeasureError, Problem, RequestError


@page(
    "view",
    ("view --open", "the runs in runs/, in the browser"),
    ("view /data/runs --port 8080", "the runs in another folder"),
    notes=(
        "The pages are a list with verdicts, the report of each run, and comparisons of two runs. They are served on "
        "127.0.0.1 only, under an address with a secret token, until Ctrl-C. No file is written.",
    ),
)
@argument("folder", metavar="[DIR]", default="runs", says="The folder of the runs (default: runs).")
@option("--port", metavar="N", default="0", default_text="a free one", group="Output", help="The port on 127.0.0.1.")
@option("--open", "open_", is_flag=True, group="Output", help="Open the page in the browser.")
def command(folder: str, port: str, open_: bool) -> int:
    """Serve the pages until Ctrl-C; return the exit code."""
    root = Path(folder)
    if not root.is_dir():
        raise MeasureError(
            f"{root}: is not a folder", "name the folder that contains the runs; `middlemark run` makes runs/"
        )
    listening = _listen(port)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # Ctrl-C is the ordinary end from here on
    with contextlib.suppress(KeyboardInterrupt), listening:
        _serve(root, listening, open_)
    return exits.OK


def _listen(port: str) -> socket.socket:
    if not port.isdecimal() or int(port) > 65535:
        raise RequestError([Problem("--port", f"'{port}' is no port; 0 takes a free port")])
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", int(port)))
        listening.listen()  # before the address is printed, so that a browser can connect at once
    except OSError as error:
        listening.close()
        raise MeasureError(f"127.0.0.1:{port}: {error.strerror}", "leave --port out to take a free port") from None
    return listening


def _histories(root: Path) -> list[tuple[str, str]]:
    """Return the newest changes of the stored runs: each as a sentence, and as an SVG line of the series."""
    from middlemark.runs.history import history_of_kept
    from middlemark.show.html.history import history_lines, svg_line

    return [(each["text"], svg_line(each["line"])) for each in history_lines(history_of_kept(root))]


def _serve(root: Path, listening: socket.socket, open_: bool) -> None:
    import uvicorn

    from middlemark.runs.report import html_of, line_of
    from middlemark.view.shelf import Shelf
    from middlemark.view.site import site

    token = secrets.token_urlsafe(16)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}/{token}/"
    app = site(Shelf(root), html_of, line_of, token, lambda: _histories(root))
    config = uvicorn.Config(
        app, log_level="error", access_log=False, server_header=False, lifespan="off", timeout_graceful_shutdown=2
    )
    click.echo(f"{root}: {address}")
    click.echo("Ctrl-C ends the command.")
    if open_:
        click.launch(address)
    uvicorn.Server(config).run(sockets=[listening])  # uvicorn raises KeyboardInterrupt again after it has shut down
