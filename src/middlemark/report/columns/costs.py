"""Columns of what a row cost."""

from middlemark.report.columns.column import Column, cost
from middlemark.report.numbers import megabytes, processors, whole


def cpu(keeps: int) -> Column:
    """Return the column of processors used."""
    return Column(
        title="cpu",
        means="processors used, all workers together: 1.0 is one processor all the time",
        tell=cost(lambda resources: processors(resources.cpu)),
        keeps=keeps,
    )


def per_message(title: str, means: str, keeps: int) -> Column:
    """Return the column of processor time a message, in ns."""
    return Column(title=title, means=means, tell=cost(lambda resources: whole(resources.ns_per_message)), keeps=keeps)


def rss(keeps: int) -> Column:
    """Return the column of resident memory."""
    return Column(
        title="rss MB",
        means="resident memory of all workers at the end, in 10⁶ bytes; pages they share count in each",
        tell=cost(lambda resources: megabytes(resources.rss_bytes)),
        keeps=keeps,
    )
