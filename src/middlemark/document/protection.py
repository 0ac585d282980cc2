"""What protects a row's messages, and what its proofs came to, in words. Pure."""

from collections.abc import Iterator

from middlemark.model.outcome import ProtectionProof
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
    return ", ".join(_known(result.proof)) or "not proven"


def proof_in_full(result: CellResult) -> str:
    """Return the same, and why what is not known is not."""
    absent = dict(result.proof.absent) if result.proof else {}
    whys = (f"{of}: {absent[name]}" for name, (_, _, of) in _named() if name in absent)
    return "; ".join(filter(None, (proof_in_short(result), *whys)))


def _known(proof: ProtectionProof | None) -> Iterator[str]:
    for field, (holds, failed, _) in _WORDS.items():
        known = getattr(proof, field, None)
        if known is not None:
            yield holds if known else failed


def _named() -> Iterator[tuple[str, tuple[str, str, str]]]:
    return ((field.replace("_", "-"), words) for field, words in _WORDS.items())
