"""Verify documents of DDS Security with the command ``openssl``. An authority signs these documents as S/MIME."""

import email.parser
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

_NO_TEXT = b"not text/plain"
"""OpenSSL prints this if the signed part does not begin with a text header."""
_UNVERIFIED = 4
"""The exit status of ``openssl smime`` for an invalid signature."""


def content_of(signed: bytes, authorities: Sequence[x509.Certificate]) -> bytes:
    """Return the signed text without its headers.

    Raises ValueError with the problem as text after the document's name.
    """
    head = email.parser.BytesHeaderParser().parsebytes(signed)
    boundary = head.get_boundary() if head.get_content_type() == "multipart/signed" else None
    if boundary is None:
        raise ValueError("is not signed; sign it with openssl smime -sign -text")
    if signed.count(b"--" + boundary.encode()) < 3:
        raise ValueError("is cut off: its signature is missing")
    with tempfile.TemporaryDirectory(prefix="middlemark-") as folder:
        trusted, signers = Path(folder, "trusted.pem"), Path(folder, "signers.pem")
        trusted.write_bytes(b"".join(each.public_bytes(Encoding.PEM) for each in authorities))
        # -partial_chain: the authority may be an intermediate authority. -no_check_time: check.py checks the dates.
        how = ("-text", "-partial_chain", "-no_check_time", "-purpose", "any")
        where = ("-CAfile", trusted, "-certfile", trusted, "-signer", signers)
        try:
            argv: list[str | Path] = ["openssl", "smime", "-verify", *how, *where]
            ended = subprocess.run(argv, input=signed, capture_output=True, check=False)
        except FileNotFoundError:
            raise ValueError("cannot be verified without the command openssl: apt install openssl") from None
        if _NO_TEXT in ended.stderr:
            raise ValueError("is signed without a text header; sign it with openssl smime -sign -text")
        if ended.returncode == _UNVERIFIED:
            raise ValueError("was changed after it was signed, or another authority signed it")
        if ended.returncode:
            raise ValueError("its signature cannot be read; sign it again with openssl smime -sign -text")
        if not all(map(_may_sign, x509.load_pem_x509_certificates(signers.read_bytes()))):
            raise ValueError("the signing certificate's key usage lacks digitalSignature, so middlewares refuse it")
    return ended.stdout


def _may_sign(certificate: x509.Certificate) -> bool:
    try:
        usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    except x509.ExtensionNotFound:
        return True
    return usage.digital_signature or usage.content_commitment
