"""What protects a row's messages, and what its proofs came to, in words. Pure."""

from middlemark.stats.result import CellResult

_WORDS = {
    "payload_not_seen": ("payload not seen", "PAYLOAD SEEN", "payload"),
    "stranger_refused": ("stranger refused", "STRANGER LET IN", "stranger"),
    "unauthorised_refused": ("unauthorised refused", "UNAUTHORISED LET IN", "permissions"),
}
"""A proof that holds, one that failed, and what it is of."""


def proof_in_short(result: CellResult) -> str:
    """Return what was proven, and what failed: ``payload not seen, stranger refused``; empty: nothing protects it."""
    if result.cell.security == "none" or result.failed is not None:
        return ""
    seen = ((getattr(result.proof, field, None), words) for field, words in _WORDS.items())
    return ", ".join(words[0 if holds else 1] for holds, words in seen if holds is not None) or "not proven"


def proof_in_full(result: CellResult) -> str:
    """Return the same, and why what is not known is not."""
    absent = dict(result.proof.absent) if result.proof else {}
    whys = (f"{of}: {why}" for field, (_, _, of) in _WORDS.items() if (why := absent.get(field.replace("_", "-"))))
    return "; ".join(filter(None, (proof_in_short(result), *whys)))
