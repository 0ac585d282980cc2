"""What lies in a set of certificates: docs/security.md says the same to whoever brings a set of their own. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import get_args

import msgspec

from middlemark.model.description import Credential
from middlemark.model.protocol import Identity

AUTHORITY = "ca.pem"
STRANGERS_AUTHORITY = "stranger-ca.pem"
CERTIFICATE, KEY = ".pem", ".key"
CURVE_KEY, CURVE_PUBLIC_KEY = ".curve", ".curve.pub"
FOLDER = "certs"
"""In a trial's scratch folder."""
ENDS: tuple[Identity, ...] = ("sender", "receiver")
"""The identities of workers; with a companion, which has the broker's, all that a set of a user's own must have."""
WHO: Mapping[Identity, str] = {
    "sender": "of every process that sends on its own",
    "receiver": "of the others",
    "broker": "of a companion: a broker, a router",
    "intruder": "valid, and may neither publish nor subscribe: for the proof that permissions are in force",
    "stranger": "of another authority: for the proof that it is refused",
}
IDENTITIES: tuple[Identity, ...] = get_args(Identity)


class File(msgspec.Struct, frozen=True):
    """One file of a set."""

    name: str
    what: str
    secret: bool = False
    """Nobody but its owner may read it."""


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
    if "curve" in credentials:
        for each in identities:
            yield File(each + CURVE_PUBLIC_KEY, f"public key of CURVE {WHO[each]}")
            yield File(each + CURVE_KEY, "its secret key", secret=True)
