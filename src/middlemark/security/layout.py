"""The files in a set of certificates. docs/how-to/security.md documents them for users who make their own. Pure."""

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
"""The prefix of documents that the stranger's authority signed. Strangers and intruders use these documents."""
FOLDER = "certs"
"""The name of a set's folder inside the scratch folder of a trial."""
ENDS: tuple[Identity, ...] = ("sender", "receiver")
"""The identities of workers. A user's own set must contain these. If the adapter has companions, it must also contain
the broker."""
WHO: Mapping[Identity, str] = {
    "sender": "of every process that sends on its own",
    "receiver": "of every other process",
    "broker": "of a companion, such as a broker or a router",
    "intruder": "of a process whose permissions are forged or missing, to prove that permissions are in force",
    "stranger": "of a process that another authority certified, to prove that such a process is refused",
}
IDENTITIES: tuple[Identity, ...] = get_args(Identity)


class File(msgspec.Struct, frozen=True):
    """A file of a set of certificates. ``what``: its description for users."""

    name: str
    what: str
    secret: bool = False
    """True if only the file's owner may read it."""


def governance(level: Security) -> str:
    """Return the name of the governance document of a level."""
    return f"governance-{level}.p7s"


def files(credentials: Iterable[Credential], identities: Iterable[Identity]) -> Iterator[File]:
    """Yield the files of a set with these credentials and identities, in the order in which documents list them."""
    identities = tuple(identities)
    if "x509" in credentials:
        yield File(AUTHORITY, "certificate of the authority that issued all other certificates except the stranger's")
        if "stranger" in identities:
            yield File(STRANGERS_AUTHORITY, "certificate of the stranger's authority")
        for each in identities:
            yield File(each + CERTIFICATE, f"certificate {WHO[each]}")
            yield File(each + KEY, "its private key", secret=True)
    if "dds" in credentials:
        for level in LEVELS:
            yield File(governance(level), f"governance of DDS Security at {level}, signed by the authority")
        yield File(PERMISSIONS, "permissions of DDS Security for sender, receiver and broker, signed by the authority")
        if {"intruder", "stranger"} & set(identities):
            for level in LEVELS:
                yield File(
                    FORGED + governance(level),
                    f"governance of DDS Security at {level}, signed by the stranger's authority, only for proofs",
                )
            yield File(FORGED + PERMISSIONS, "permissions of intruder and stranger, signed by the stranger's authority")
    if "curve" in credentials:
        for each in identities:
            yield File(each + CURVE_PUBLIC_KEY, f"public key of CURVE {WHO[each]}")
            yield File(each + CURVE_KEY, "its secret key", secret=True)
