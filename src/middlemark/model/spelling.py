"""Suggestions for misspelt names, and the wording of lists and quotations in messages."""

from collections.abc import Iterable

_LISTED = 12


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``did you mean 'size'?`` if a known name is similar, else a list of the known names."""
    names = list(known)
    near = nearest(word, names)
    if near is not None:
        return f"did you mean '{near}'?"
    if not names:
        return "there is none"
    return there_are(names)


def there_are(names: Iterable[str]) -> str:
    """Return ``there are udp, shm and tcp``."""
    words = list(names)
    return f"there {'is' if len(words) == 1 else 'are'} {listing(words)}"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to ``word``, ignoring case; None if none is similar."""
    import difflib  # imported late: only needed when a name is misspelt

    folded = {name.casefold().replace("_", "-"): name for name in known}
    near = difflib.get_close_matches(word[:100].casefold().replace("_", "-"), folded, n=1, cutoff=0.6)
    return folded[near[0]] if near else None


def listing(names: Iterable[str]) -> str:
    """Join names for a sentence: ``udp, shm and tcp``; the end of a long list becomes ``N more``.

    Names that contain a comma are separated by semicolons: ``shm, loan; udp; and tcp``.
    """
    words = list(names)
    if len(words) > _LISTED:
        words = [*words[: _LISTED - 1], f"{len(words) - _LISTED + 1} more"]
    if len(words) < 2:
        return "".join(words)
    if any("," in word for word in words):
        return f"{'; '.join(words[:-1])}; and {words[-1]}"
    return f"{', '.join(words[:-1])} and {words[-1]}"


def quoted(value: object) -> str:
    """Quote a value as TOML would write it, shortened if it is long."""
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, int) and value.bit_length() > 200:
        return "an integer of many digits"  # printing it may exceed Python's limit of digits
    elif isinstance(value, int | float):
        text = str(value)
    elif isinstance(value, str):
        text = f"'{value}'"
    elif isinstance(value, dict):
        return "a table"
    elif isinstance(value, list):
        return "a list"
    else:
        text = str(value)
    return text if len(text) <= 60 else f"{text[:56]}…'" if text.startswith("'") else f"{text[:57]}…"
