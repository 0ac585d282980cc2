"""Documents that an authority has signed, as S/MIME (``openssl smime -sign -text``), which DDS Security wants. Pure."""

import email.message
import email.parser
import re
from collections.abc import Iterator, Sequence

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import pkcs7

_HASHES: dict[bytes, hashes.HashAlgorithm] = {
    bytes.fromhex("608648016503040201"): hashes.SHA256(),
    bytes.fromhex("608648016503040202"): hashes.SHA384(),
    bytes.fromhex("608648016503040203"): hashes.SHA512(),
    bytes.fromhex("2b0e03021a"): hashes.SHA1(),
}
_MESSAGE_DIGEST = bytes.fromhex("2a864886f70d010904")
_SEQUENCE, _SET, _OID, _OCTETS = 0x30, 0x31, 0x06, 0x04
_EXPLICIT = 0xA0


def content_of(signed: bytes, authorities: Sequence[x509.Certificate]) -> bytes:
    """Return what was signed, without its headers. Raises ValueError: what is wrong, as the end of a sentence."""
    part, signature = _parts(signed)
    try:
        info = _signed_data(signature)
        signers = [*authorities, *_brought(signature, authorities)]
        good = [each for each in signers if any(_signed_by(each, one, part) for one in info)]
    except (IndexError, UnsupportedAlgorithm) as error:
        raise ValueError("its signature cannot be read: sign it anew, openssl smime -sign -text") from error
    if not good:
        raise ValueError("was changed after it was signed, or signed by another authority")
    if not any(_may_sign(each) for each in good):
        raise ValueError("is signed by a certificate whose key usage lacks digitalSignature: middlewares refuse it")
    headers, _, content = part.partition(b"\r\n\r\n")
    if not headers.lower().startswith(b"content-type: text/plain"):
        raise ValueError("is signed without the header of a text; sign it by openssl smime -sign -text")
    return content


def _parts(signed: bytes) -> tuple[bytes, bytes]:
    """Return what is signed, with the line ends that count, and the signature in DER."""
    head = email.parser.BytesHeaderParser().parsebytes(signed)
    boundary = head.get_boundary() if head.get_content_type() == "multipart/signed" else None
    if boundary is None:
        raise ValueError("is not signed; sign it by openssl smime -sign -text")
    text = re.sub(rb"\r*\n", b"\r\n", signed)
    pieces = re.split(rb"(?:^|\r\n)--" + re.escape(boundary.encode()) + rb"(?:--)?[ \t]*\r\n", text + b"\r\n")
    if len(pieces) < 3:
        raise ValueError("is cut off: its signature is missing")
    message = email.message_from_bytes(pieces[2])
    signature = message.get_payload(decode=True)
    return pieces[1], signature if isinstance(signature, bytes) else b""


def _values(der: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the tag, the content and the whole of each value in turn. Raises IndexError where it is cut off."""
    at = 0
    while at < len(der):
        length, begins = der[at + 1], at + 2
        if length & 0x80:
            begins += length & 0x7F
            length = int.from_bytes(der[at + 2 : begins])
        if begins + length > len(der):
            raise IndexError
        yield der[at], der[begins : begins + length], der[at : begins + length]
        at = begins + length


def _signed_data(signature: bytes) -> list[list[tuple[int, bytes, bytes]]]:
    """Return the values of each signer's information (RFC 5652, SignerInfo)."""
    [(_, information, _)] = list(_values(signature))[:1]
    [(_, wrapped, _)] = list(_values(list(_values(information))[1][1]))[:1]
    signers = [content for tag, content, _ in _values(wrapped) if tag == _SET][-1]
    return [list(_values(content)) for _, content, _ in _values(signers)]


def _brought(signature: bytes, authorities: Sequence[x509.Certificate]) -> Iterator[x509.Certificate]:
    """Yield the certificates beside the signature that one of the authorities has issued."""
    for each in pkcs7.load_der_pkcs7_certificates(signature):
        for authority in authorities:
            try:
                each.verify_directly_issued_by(authority)
            except (InvalidSignature, TypeError, ValueError):
                continue
            yield each


def _signed_by(signer: x509.Certificate, values: list[tuple[int, bytes, bytes]], part: bytes) -> bool:
    """Return whether that certificate's key has signed the part."""
    _version, _who, (_, algorithm, _), *rest = values
    kind = _HASHES.get(next(iter(_values(algorithm)))[1])
    if kind is None:
        raise UnsupportedAlgorithm("hash")
    signed = part
    if rest[0][0] == _EXPLICIT:
        (_, attributes, _), *rest = rest
        digest = hashes.Hash(kind)
        digest.update(part)
        found = dict(_attribute(content) for _, content, _ in _values(attributes))
        if found.get(_MESSAGE_DIGEST) != digest.finalize():
            return False
        signed = _der(_SET, attributes)
    value = next(content for tag, content, _ in rest if tag == _OCTETS)
    key = signer.public_key()
    try:
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(value, signed, padding.PKCS1v15(), kind)
        elif isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(value, signed, ec.ECDSA(kind))
        else:
            raise UnsupportedAlgorithm("key")
    except InvalidSignature:
        return False
    return True


def _attribute(content: bytes) -> tuple[bytes, bytes]:
    (_, name, _), (_, values, _) = _values(content)
    return name, next(iter(_values(values)))[1]


def _der(tag: int, content: bytes) -> bytes:
    length = len(content)
    if length < 0x80:
        return bytes([tag, length]) + content
    digits = length.to_bytes((length.bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(digits)]) + digits + content


def _may_sign(certificate: x509.Certificate) -> bool:
    try:
        usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    except x509.ExtensionNotFound:
        return True
    return usage.digital_signature or usage.content_commitment
