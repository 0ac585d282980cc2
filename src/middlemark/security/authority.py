"""Make sets of certificates and keys (X.509, P-256). The key of the authority that signs them stays in memory."""

import datetime
import ipaddress
import os
from collections.abc import Iterable, Sequence

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs7
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from middlemark.model.protocol import Identity
from middlemark.security import curve, documents, layout

LIFE = datetime.timedelta(days=30)
EARLIER = datetime.timedelta(days=1)
"""Certificates are valid from this time before now, because the clocks of hosts may differ."""
ORGANISATION = "Middlemark"


class Authority:
    """Signs certificates. The authority's key is never written and is lost with the object."""

    def __init__(self, name: str) -> None:
        """Create the authority. ``name``: the common name of its own certificate."""
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name_of(name)
        self._certificate = self._sign_certificate(self._name, self._key.public_key(), authority=True)

    @property
    def certificate(self) -> bytes:
        """The authority's own certificate, in PEM."""
        return self._certificate.public_bytes(serialization.Encoding.PEM)

    def sign(self, document: str) -> bytes:
        """Return the document with its signature, as clear-text S/MIME."""
        builder = pkcs7.PKCS7SignatureBuilder().set_data(document.encode())
        signer = builder.add_signer(self._certificate, self._key, hashes.SHA256())
        options = [pkcs7.PKCS7Options.DetachedSignature, pkcs7.PKCS7Options.Text, pkcs7.PKCS7Options.NoCapabilities]
        return signer.sign(serialization.Encoding.SMIME, options)

    def identity(self, name: str, hosts: Sequence[str] = ()) -> tuple[bytes, bytes]:
        """Return a new certificate with this common name and its key, both in PEM.

        ``hosts``: names and addresses at which the owner of the certificate can be reached.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._sign_certificate(_name_of(name), key.public_key(), hosts)
        plain = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return certificate.public_bytes(serialization.Encoding.PEM), plain

    def _sign_certificate(
        self,
        subject: x509.Name,
        public_key: ec.EllipticCurvePublicKey,
        hosts: Sequence[str] = (),
        *,
        authority: bool = False,
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        own = self._key.public_key()
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - EARLIER)
            .not_valid_after(now + LIFE)
            .add_extension(x509.BasicConstraints(ca=authority, path_length=0 if authority else None), critical=True)
            .add_extension(_usage(authority=authority), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(own), critical=False)
        )
        if not authority:
            both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
            builder = builder.add_extension(x509.ExtendedKeyUsage(both), critical=False)
        if hosts:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_host(each) for each in hosts]), critical=False
            )
        return builder.sign(self._key, hashes.SHA256())


def subject(name: str) -> str:
    """Return the subject (RFC 4514) of a certificate with this common name."""
    return _name_of(name).rfc4514_string()


def _name_of(name: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, name),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, ORGANISATION),
        ]
    )


def _host(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


NAME = "Middlemark authority"
"""The common name of both authorities. The stranger's authority has another key, but the same name."""
HOSTS = ("localhost", "127.0.0.1", "::1")
"""The names and addresses of hosts in every certificate."""


def make_set(folder: str, hosts: Sequence[str] = ()) -> None:
    """Create the folder, which must not exist, with all files of a set. Only the owner may read them. Raises OSError.

    ``hosts``: further names and addresses for the certificates. The authorities' keys are lost when this function
    returns. So it also makes the documents that the authorities must sign, such as permissions.
    """
    os.mkdir(folder, 0o700)
    authority, strangers = Authority(NAME), Authority(NAME)
    names = tuple(dict.fromkeys((*HOSTS, *hosts)))
    _write(folder, layout.AUTHORITY, authority.certificate)
    _write(folder, layout.STRANGERS_AUTHORITY, strangers.certificate)
    for each in layout.IDENTITIES:
        signer = strangers if each == "stranger" else authority
        certificate, key = signer.identity(each, names)
        _write(folder, each + layout.CERTIFICATE, certificate)
        _write(folder, each + layout.KEY, key)
        public, secret = curve.key_pair()
        _write(folder, each + layout.CURVE_PUBLIC_KEY, public.encode() + b"\n")
        _write(folder, each + layout.CURVE_KEY, secret.encode() + b"\n")
    _write_documents(folder, "", authority, ("sender", "receiver", "broker"))
    _write_documents(folder, layout.FORGED, strangers, ("intruder", "stranger"))


def _write_documents(folder: str, prefix: str, authority: Authority, granted: Iterable[Identity]) -> None:
    now = datetime.datetime.now(datetime.UTC)
    for level in documents.LEVELS:
        _write(folder, prefix + layout.governance(level), authority.sign(documents.governance(level)))
    grants = documents.permissions([subject(each) for each in granted], now - EARLIER, now + LIFE)
    _write(folder, prefix + layout.PERMISSIONS, authority.sign(grants))


def _write(folder: str, name: str, content: bytes) -> None:
    descriptor = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
