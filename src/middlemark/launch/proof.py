"""Whether what protects a cell is in force, asked once a cell: see docs/decisions/0047. Pure."""

from middlemark.model.outcome import ProtectionProof
from middlemark.model.protocol import Security

PARTS = tuple(each.replace("_", "-") for each in ProtectionProof.__struct_fields__ if each != "absent")
NOT_PROVEN = "not proven yet"
FIRST_ROUND = 1


def not_proven(security: Security, round_: int) -> ProtectionProof | None:
    """Return the proof of a cell of which nothing was tried; None where none is due."""
    if security == "none" or round_ != FIRST_ROUND:
        return None
    return ProtectionProof(absent=dict.fromkeys(PARTS, NOT_PROVEN))
