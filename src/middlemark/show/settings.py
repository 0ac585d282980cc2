"""The settings of the best rows to copy, each in its middleware's own form."""

from middlemark.document.document import Document
from middlemark.document.settings import settings_to_copy, winners
from middlemark.show import View
from middlemark.verdicts.names import plain


def render(document: Document, _view: View) -> str:
    """Return the settings of each winner, below a comment with version and levels.

    A winner may have a reason instead.
    """
    texts = []
    for row in winners(document):
        text = settings_to_copy(document, row)
        if row.result.settings is None:
            text += f"\n  no settings in the middleware's own form: {row.result.settings_absent}"
        texts.append("\n".join(map(plain, text.splitlines())) + "\n")
    return "\n".join(texts)
