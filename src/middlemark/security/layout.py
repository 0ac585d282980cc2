"""What lies in a set of certificates: docs/security.md says the same to whoever brings a set of their own. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import get_args

import msgspec

from middlemark.model.description import Credential
from middlemark.model.protocol import Identity, Security
from middlemark.security.documents import LEVELS

AUTHORITY = "ca.pem"
STRANGERS_AUTHORITY = "stranger-ca.pem"
CERTIFICATE, KEY = ".pem", ".key"
CURVE_KEY, CURVE_PUBLIC_KEY = ".curve", ".curve.pub"
PERMISSIONS = "permissions.p7s"
FORGED = "stranger-"
"""So begin documents of the stranger's authority, which a stranger and an intruder show for those of the trial."""
FOLDER = "certs"
"""In a trial's scratch folder."""
ENDS: tuple[Identity, ...] = ("sender", "receiver")
"""The identities of workers; with a companion, which has the broker's, all that a set of a user's own must have."""
WHO: Mapping[Identity, str] = {
    "sender": "of every process that sends on its own",
    "receiver": "of the others",
    "broker": "of a companion: a broker, a router",
    "intruder": "of one who has no permission, or a forged one: for the proof that permissions are in force",
    "stranger": "of one whom another authority vouches for: for the proof that it is refused",
}
IDENTITIES: tuple[Identity, ...] = get_args(Identity)


class File(msgspec.Struct, frozen=True):
    """One file of a set."""

    name: str
    what: str
    secret: bool = False
    """Nobody but its owner may read it."""


def governance(level: Security) -> str:
    """Return the name of the rules of a level."""
    return f"governance-{level}.p7s"


def files(credentials: Iterable[Credential], identities: Iterable[Identity]) -> Iterator[File]:
    """Yield the files of a set with these credentials of these identities, in the order to read them in."""
    identities = tuple(identities)
    if "x509" in credentials:
        yield File(AUTHORITY, "certificate of the authority that all but the stranger's are of")
        if "stranger" in identities:
            yield File(STRANGERS_AUTHORITY, "certificate of the stranger's authority")
        for each in identities:
            yield File(each + CERTIFICATE, f"certificate {WHO[each]}")
            yield File(each + KEY, "its private key", secret=True)
    if "dds" in credentials:
        for level in LEVELS:
            yield File(governance(level), f"governance of DDS Security at {level}, signed by the authority")
        yield File(PERMISSIONS, "permissions of DDS Security, of sender, receiver and broker, signed likewise")
        if {"intruder", "stranger"} & set(identities):
            for level in LEVELS:
                yield File(FORGED + governance(level), "the same by the stranger's authority: for the proofs alone")
            yield File(FORGED + PERMISSIONS, "permissions of intruder and stranger, signed likewise")
    if "curve" in credentials:
        for each in identities:
            yield File(each + CURVE_PUBLIC_KEY, f"public key of CURVE {WHO[each]}")
            yield File(each + CURVE_KEY, "its secret key", secret=True)
