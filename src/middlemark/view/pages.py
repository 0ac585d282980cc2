"""The pages of ``view``, all but the reports themselves. Whatever comes from a run is text, never markup."""

from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from middlemark.view.shelf import Shelved

_TEMPLATES = Environment(
    loader=PackageLoader("middlemark.view"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def shelf(base: str, root: str, runs: Sequence[Shelved], words: str, of: int) -> str:
    """Return the list of ``runs``, those of all ``of`` that have these words; ``base`` is the address of this page."""
    return _TEMPLATES.get_template("shelf.html").render(base=base, root=root, runs=runs, words=words, of=of)


def refusal(base: str, text: str, advice: str = "") -> str:
    """Return a page that says why there is no other."""
    return _TEMPLATES.get_template("refusal.html").render(base=base, text=text, advice=advice)
