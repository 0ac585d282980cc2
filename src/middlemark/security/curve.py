"""Make and check key pairs of CURVE, ZeroMQ's encryption. Keys are Curve25519, as Z85 text (ZeroMQ's RFC 32)."""

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

_DIGITS = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
KEY_BYTES = 32


def z85(data: bytes) -> str:
    """Encode bytes as Z85 text. The number of bytes is a multiple of four."""
    text = bytearray()
    for at in range(0, len(data), 4):
        number = int.from_bytes(data[at : at + 4], "big")
        text += bytes(_DIGITS[number // 85**place % 85] for place in range(4, -1, -1))
    return text.decode()


def from_z85(text: str) -> bytes:
    """Decode Z85 text. Raises ValueError."""
    if len(text) % 5:
        raise ValueError("its length is not a multiple of five characters")
    data = b""
    for at in range(0, len(text), 5):
        number = 0
        for character in text[at : at + 5]:
            number = number * 85 + _DIGITS.index(character.encode())
        if number >> 32:
            raise ValueError("five of its characters encode more than 32 bits")
        data += number.to_bytes(4, "big")
    return data


def key_pair() -> tuple[str, str]:
    """Return a new public key and its secret key."""
    secret = X25519PrivateKey.generate()
    return z85(secret.public_key().public_bytes_raw()), z85(secret.private_bytes_raw())


def public_key_of(secret: str) -> str:
    """Return the public key of a secret key. Raises ValueError, whose text does not show the key."""
    try:
        return z85(X25519PrivateKey.from_private_bytes(from_z85(secret)).public_key().public_bytes_raw())
    except ValueError:
        raise ValueError("is not a CURVE key: 40 characters of Z85") from None
