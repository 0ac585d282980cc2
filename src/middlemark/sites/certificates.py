"""Certificates that live as long as a run: an authority whose own key is forgotten at once, and one key pair."""

from typing import NamedTuple

from middlemark.security.authority import Authority


class Certificates(NamedTuple):
    """In PEM. All ends of the run's cluster use them, and nobody else has one of this authority's."""

    authority: str
    certificate: str
    key: str


def make() -> Certificates:
    """Make new ones."""
    authority = Authority("Middlemark, authority of one run")
    certificate, key = authority.identity("Middlemark, hosts of one run")
    return Certificates(authority.certificate.decode(), certificate.decode(), key.decode())
