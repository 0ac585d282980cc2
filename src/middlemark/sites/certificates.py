"""Certificates that live as long as a run: an authority whose own key is forgotten at once, and one key pair."""

import datetime
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

LIFE = datetime.timedelta(days=30)


class Certificates(NamedTuple):
    """In PEM. All ends of the run's cluster use them, and nobody else has one of this authority's."""

    authority: str
    certificate: str
    key: str


def make() -> Certificates:
    """Make new ones."""
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority_name, name = _named("Middlemark, authority of one run"), _named("Middlemark, hosts of one run")
    now = datetime.datetime.now(datetime.UTC)

    def certificate(subject: x509.Name, of: ec.EllipticCurvePrivateKey, *, authority: bool) -> x509.Certificate:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(authority_name)
            .public_key(of.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))  # the clocks of hosts may differ
            .not_valid_after(now + LIFE)
            .add_extension(x509.BasicConstraints(ca=authority, path_length=0 if authority else None), critical=True)
            .sign(authority_key, hashes.SHA256())
        )

    pem = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    return Certificates(
        authority=certificate(authority_name, authority_key, authority=True).public_bytes(pem).decode(),
        certificate=certificate(name, key, authority=False).public_bytes(pem).decode(),
        key=key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain).decode(),
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
