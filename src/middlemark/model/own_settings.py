"""The settings of a middleware in its own form: comments in its language, and settings of several processes."""

from collections.abc import Mapping, Sequence

from middlemark.model.protocol import Language, OwnSettings

_COMMENTS: Mapping[Language, tuple[str, str]] = {"toml": ("# ", ""), "xml": ("<!-- ", " -->")}
"""Begin and end of a comment; in the other languages a comment begins with ``//``."""


def commented(language: Language, lines: Sequence[str]) -> str:
    """Return the lines as comments of the language, each ending in a newline."""
    begin, end = _COMMENTS.get(language, ("// ", ""))
    safe = [each.replace("--", "- -") if language == "xml" else each for each in lines]
    return "".join(f"{begin}{each}{end}\n" for each in safe)


def together(reports: Sequence[tuple[str, OwnSettings | None]]) -> OwnSettings | None:
    """Return the settings of several processes as one text; None: no process reported settings.

    Different texts follow each other, each after a comment with the names of its processes.
    """
    by_settings: dict[tuple[Language, str], list[str]] = {}
    for process, each in reports:
        if each is not None:
            by_settings.setdefault((each.language, each.text), []).append(process)
    if not by_settings:
        return None
    language = next(iter(by_settings))[0]
    if len(by_settings) == 1:
        return OwnSettings(language=language, text=next(iter(by_settings))[1])
    texts = [commented(language, [", ".join(names)]) + text for (_, text), names in by_settings.items()]
    return OwnSettings(language=language, text="\n".join(texts))
