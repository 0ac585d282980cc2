"""Check a user's own set of certificates before anything starts. Reports all problems, and never shows a key."""

import datetime
import os
import stat
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import NameOID

from middlemark.model.description import Credential
from middlemark.model.protocol import Identity, Security
from middlemark.problems import Problem
from middlemark.security import curve, documents, layout, smime

MAKE = "`middlemark certs FOLDER` makes a complete set to start from"


def problems_of(
    folder: Path,
    credentials: Iterable[Credential],
    identities: Sequence[Identity],
    hosts: Sequence[str] = (),
    levels: Collection[Security] = documents.LEVELS,
) -> list[Problem]:
    """Return the problems of the credentials that these identities need.

    Other identities are also checked if their files exist. ``hosts``: the addresses at which clients reach a broker.
    ``levels``: the levels of security whose governance document must exist.
    """
    return _Check(folder, tuple(credentials), hosts).problems(identities, levels)


class _Check:
    def __init__(self, folder: Path, credentials: tuple[Credential, ...], hosts: Sequence[str]) -> None:
        self._folder = folder
        self._credentials = credentials
        self._hosts = hosts
        self._found: list[Problem] = []
        self._now = datetime.datetime.now(datetime.UTC)
        self._subjects: dict[Identity, str] = {}

    def problems(self, needed: Sequence[Identity], levels: Collection[Security]) -> list[Problem]:
        if not self._folder.is_dir():
            return [Problem(str(self._folder), f"there is no such folder; {MAKE}")]
        authorities = self._authorities(layout.AUTHORITY) if "x509" in self._credentials else []
        for each in layout.IDENTITIES:
            for credential in self._credentials:
                files = list(layout.files((credential,), (each,)))
                there = any((self._folder / file.name).exists() for file in files if file.name.startswith(each + "."))
                if each not in needed and not there:
                    continue
                if credential == "curve":
                    self._pair(each)
                elif credential == "x509":
                    self._identity(each, authorities)
        if "dds" in self._credentials:
            self._documents(needed, levels, authorities)
        return self._found

    def _report(self, name: str, text: str) -> None:
        self._found.append(Problem(str(self._folder / name), text))

    def _read(self, name: str, what: str, *, secret: bool = False) -> bytes | None:
        path = self._folder / name
        try:
            content = path.read_bytes()
            mode = stat.S_IMODE(os.stat(path).st_mode)
        except FileNotFoundError:
            self._report(name, f"there is no such file; it is {what}. {MAKE}")
            return None
        except OSError as error:
            self._report(name, f"cannot be read ({error.strerror}); let the user who measures read it")
            return None
        if secret and mode & 0o077:
            self._report(name, f"other users may read it (mode {mode:04o}); chmod 600 {path}")
        return content

    def _authorities(self, name: str) -> list[x509.Certificate]:
        content = self._read(name, "the authority's certificate")
        if content is None:
            return []
        try:
            found = x509.load_pem_x509_certificates(content)
        except ValueError:
            self._report(name, "contains no certificate in PEM")
            return []
        for each in found:
            self._dates(name, each)
            if not _is_authority(each):
                self._report(name, "is not the certificate of an authority (CA:TRUE is missing)")
        return found

    def _dates(self, name: str, certificate: x509.Certificate) -> None:
        if certificate.not_valid_after_utc < self._now:
            self._report(name, f"it expired on {certificate.not_valid_after_utc:%Y-%m-%d}; make a new one")
        if certificate.not_valid_before_utc > self._now:
            begins = f"{certificate.not_valid_before_utc:%Y-%m-%d %H:%M} UTC"
            self._report(name, f"it is not valid before {begins}; check this machine's clock")

    def _identity(self, identity: Identity, authorities: Sequence[x509.Certificate]) -> None:
        name = identity + layout.CERTIFICATE
        certificate = self._certificate(name, f"the certificate {layout.WHO[identity]}")
        if certificate is not None:
            self._dates(name, certificate)
            self._signed(identity, certificate, authorities)
            self._subject(identity, certificate)
        key_name = identity + layout.KEY
        content = self._read(key_name, f"the private key of {name}", secret=True)
        if content is None:
            return
        try:
            key = serialization.load_pem_private_key(content, None)
        except TypeError:
            self._report(key_name, "it has a password, which cannot be entered here; store it without a password")
        except (ValueError, UnsupportedAlgorithm):
            self._report(key_name, "contains no private key in PEM")
        else:
            if certificate is not None and key.public_key() != certificate.public_key():
                self._report(key_name, f"it is not the key of {name}")

    def _certificate(self, name: str, what: str) -> x509.Certificate | None:
        content = self._read(name, what)
        if content is None:
            return None
        try:
            return x509.load_pem_x509_certificate(content)
        except ValueError:
            self._report(name, "contains no certificate in PEM")
            return None

    def _signed(
        self, identity: Identity, certificate: x509.Certificate, authorities: Sequence[x509.Certificate]
    ) -> None:
        if not authorities:
            return
        signed = any(_issued(certificate, by) for by in authorities)
        if identity == "stranger" and signed:
            text = f"{layout.AUTHORITY} issued it, so nobody would refuse the stranger; issue it with another authority"
            self._report(identity + layout.CERTIFICATE, text)
        if identity != "stranger" and not signed:
            text = f"{layout.AUTHORITY} did not issue it, so the other processes would refuse it"
            self._report(identity + layout.CERTIFICATE, text)

    def _subject(self, identity: Identity, certificate: x509.Certificate) -> None:
        name = identity + layout.CERTIFICATE
        self._subjects[identity] = certificate.subject.rfc4514_string()
        if not certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME):
            self._report(name, "its subject has no common name (CN), which permissions need")
        if identity == "broker" and self._hosts and not set(self._hosts) & set(_hosts_of(certificate)):
            named = ", ".join(_hosts_of(certificate)) or "none"
            self._report(
                name, f"it is valid for {named}, but clients reach the broker at {self._hosts[0]} and would refuse it"
            )

    def _documents(
        self, needed: Sequence[Identity], levels: Collection[Security], authorities: Sequence[x509.Certificate]
    ) -> None:
        for level in documents.LEVELS:
            name = layout.governance(level)
            if level in levels and (content := self._document(name, "the rules of DDS Security", authorities)):
                for fault in documents.faults_of_governance(content, level):
                    self._report(name, fault)
        name = layout.PERMISSIONS
        if content := self._document(name, "the permissions of DDS Security", authorities):
            subjects = [self._subjects[each] for each in needed if each in self._subjects]
            for fault in documents.faults_of_permissions(content, subjects, self._now):
                self._report(name, fault)

    def _document(self, name: str, what: str, authorities: Sequence[x509.Certificate]) -> bytes | None:
        signed = self._read(name, f"{what}, signed by {layout.AUTHORITY}")
        if signed is None or not authorities:
            return None
        try:
            return smime.content_of(signed, authorities)
        except ValueError as error:
            self._report(name, str(error))
            return None

    def _pair(self, identity: Identity) -> None:
        public_name, name = identity + layout.CURVE_PUBLIC_KEY, identity + layout.CURVE_KEY
        public = self._read(public_name, f"the public key of CURVE {layout.WHO[identity]}")
        secret = self._read(name, f"the secret key that belongs to {public_name}", secret=True)
        try:
            if public is not None and len(curve.from_z85(_text(public))) != curve.KEY_BYTES:
                raise ValueError
        except ValueError:
            public = None
            self._report(public_name, "is not a CURVE key: 40 characters of Z85")
        if secret is None:
            return
        try:
            expected = curve.public_key_of(_text(secret))
        except ValueError as error:
            self._report(name, f"{error}")
        else:
            if public is not None and expected != _text(public):
                self._report(name, f"it does not belong to {public_name}")


def _text(content: bytes) -> str:
    return content.decode("ascii", "replace").strip()


def _is_authority(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except (x509.ExtensionNotFound, ValueError):
        return False


def _issued(certificate: x509.Certificate, by: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(by)
    except (InvalidSignature, TypeError, ValueError):
        return False
    return True


def _hosts_of(certificate: x509.Certificate) -> list[str]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return []
    return [*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress))]
