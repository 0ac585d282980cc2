"""A whole set of certificates and keys, new, in a folder."""

import datetime
import os
from collections.abc import Iterable, Sequence

from middlemark.model.protocol import Identity
from middlemark.security import curve, documents, layout
from middlemark.security.authority import EARLIER, LIFE, Authority, subject

NAME = "Middlemark authority"
"""Also of the stranger's authority: its key alone tells it from the trial's."""
HOSTS = ("localhost", "127.0.0.1", "::1")
"""Where every bearer of a certificate may be reached."""


def make_set(folder: str, hosts: Sequence[str] = ()) -> None:
    """Make the folder, which must not be there, and all files of a set in it: the owner alone may read them.

    ``hosts``: further names and addresses that the certificates are good for. The authorities' own keys are forgotten
    here: whatever else they are to sign (permissions, say) is made in this function. Raises OSError.
    """
    os.mkdir(folder, 0o700)
    authority, strangers = Authority(NAME), Authority(NAME)
    reached = tuple(dict.fromkeys((*HOSTS, *hosts)))
    _write(folder, layout.AUTHORITY, authority.certificate)
    _write(folder, layout.STRANGERS_AUTHORITY, strangers.certificate)
    for each in layout.IDENTITIES:
        of = strangers if each == "stranger" else authority
        certificate, key = of.identity(each, reached)
        _write(folder, each + layout.CERTIFICATE, certificate)
        _write(folder, each + layout.KEY, key)
        public, secret = curve.key_pair()
        _write(folder, each + layout.CURVE_PUBLIC_KEY, public.encode() + b"\n")
        _write(folder, each + layout.CURVE_KEY, secret.encode() + b"\n")
    _write_documents(folder, "", authority, ("sender", "receiver", "broker"))
    _write_documents(folder, layout.FORGED, strangers, ("intruder", "stranger"))


def _write_documents(folder: str, begin: str, authority: Authority, granted: Iterable[Identity]) -> None:
    now = datetime.datetime.now(datetime.UTC)
    for level in documents.LEVELS:
        _write(folder, begin + layout.governance(level), authority.sign(documents.governance(level)))
    grants = documents.permissions([subject(each) for each in granted], now - EARLIER, now + LIFE)
    _write(folder, begin + layout.PERMISSIONS, authority.sign(grants))


def _write(folder: str, name: str, content: bytes) -> None:
    descriptor = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
