"""The history as lines: the points of a series as an SVG that is as high as a line of text."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from middlemark.document.history import MOST_NAMED, line, sentence_of
from middlemark.history import History, Series

WIDTH, HEIGHT, EDGE = 160, 24, 3
MOST_POINTS = 60
"""The most points of a series that are drawn. If there are more, the newest are drawn."""


def history_lines(history: History | None) -> list[Mapping[str, Any]]:
    """Return a sentence and the drawn points for each series with a recent change.

    If no series has changed, return one sentence without points.
    """
    if not (said := line(history)) or history is None:
        return []
    newest = sorted(history.changed, key=lambda each: each.changes[-1].at, reverse=True)[:MOST_NAMED]
    begin = said.partition(":")[0]
    if not newest:
        return [{"text": said, "line": None}]
    return [{"text": f"{begin}: {sentence_of(each, each.changes[-1])}.", "line": line_of(each)} for each in newest]


def line_of(series: Series) -> Mapping[str, Any]:
    """Return the coordinates of the newest points and of the changes, and the text for screen readers."""
    points = series.points[-MOST_POINTS:]
    values = [each.value for each in points]
    least, most = min(values), max(values)
    across = (WIDTH - 2 * EDGE) / max(1, len(points) - 1)
    places = [
        (
            round(EDGE + at * across, 1),
            round(HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (value - least) / (most - least or 1), 1),
        )
        for at, value in enumerate(values)
    ]
    starts = {each.after for each in series.changes}
    return {
        "points": places,
        "changes": [place for place, each in zip(places, points, strict=True) if each.run in starts],
        "label": f"{series.name}: {len(points)} runs from {points[0].started[:10]} to {points[-1].started[:10]}",
    }


def svg_line(drawn: Mapping[str, Any] | None) -> Markup:
    """Return the points as a line with a dot at each change."""
    if not drawn:
        return Markup("")
    path = " ".join(f"{x},{y}" for x, y in drawn["points"])
    dots = "".join(f'<circle cx="{x}" cy="{y}" r="3" fill="currentColor"/>' for x, y in drawn["changes"])
    return Markup(  # format() escapes the label; the rest are numbers
        '<svg role="img" aria-label="{}" viewBox="0 0 {} {}" width="{}" height="{}">'
        '<polyline fill="none" stroke="currentColor" stroke-width="1.5" points="{}"/>{}</svg>'
    ).format(drawn["label"], WIDTH, HEIGHT, WIDTH, HEIGHT, path, Markup(dots))
