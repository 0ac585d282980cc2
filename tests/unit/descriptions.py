"""Hand-made descriptions of adapters, for planning without workers."""

from typing import Any, get_args

from middlemark.model.description import Description, NativeSetting, Transport
from middlemark.model.protocol import Pattern

MIB = 1 << 20


def transport(name: str, **changed: Any) -> Transport:
    """Return a transport that supports everything except loans."""
    values: dict[str, Any] = {
        "carrier": "udp",
        "processes": (1, 2),
        "patterns": get_args(Pattern),
        "receive": ("poll", "block", "listen"),
        "reliability": ("reliable", "best-effort"),
        "loan": (False,),
        "max_bytes": 64 * MIB,
    }
    return Transport(name=name, **{**values, **changed})


def description(name: str, *transports: Transport, **changed: Any) -> Description:
    """Return an adapter with these transports."""
    values: dict[str, Any] = {
        "protocol": 1,
        "title": name,
        "version": "1.0",
        "library": "",
        "licence": "MIT",
        "is_raw_transport": False,
        "bench_only": False,
        "request_reply": False,
        "own_threads": False,
        "residue": (),
        "native": {},
    }
    values |= changed
    values["native"] = {key: NativeSetting(help=text) for key, text in values["native"].items()}
    return Description(name=name, transports=transports, **values)


def raw_transport(name: str, **changed: Any) -> Description:
    """Return a raw transport whose only transport has its name."""
    return description(name, transport(name, **{"receive": ("poll", "block"), **changed}), is_raw_transport=True)


NULL = description("null", transport("memory"), bench_only=True, native={"script": "what goes wrong"})
SHM = raw_transport("shm", carrier="shared-memory", loan=(False, True), reliability=("reliable",))
UDS = raw_transport("uds", carrier="unix-socket", reliability=("reliable",))
UDP = raw_transport("udp", reliability=("best-effort",))
TCP = raw_transport("tcp", carrier="tcp", reliability=("reliable",))
MEMCPY = raw_transport(
    "memcpy", carrier="process-memory", alone=True, processes=(1,), receive=("poll",), reliability=("reliable",),
    keep_all=False, max_depth=1,
)  # fmt: skip
AES = description(
    "aes-gcm",
    transport(
        "aes-gcm", carrier="process-memory", alone=True, processes=(1,), receive=("poll",), reliability=("reliable",),
        keep_all=False, max_depth=1, security=("encrypted",),
    ),
    is_raw_transport=True,
)  # fmt: skip
CYCLONE = description(
    "cyclonedds",
    transport("udp", processes=(2,), wire="rtps"),
    transport("shm", carrier="shared-memory", loan=(False, True), keep_all=False, max_depth=16),
    transport("intraprocess", carrier="process-memory", processes=(1,)),
    own_threads=True,
    native={"max-message-size": "bytes"},
)
FAST = description(
    "fastdds",
    transport("shm", carrier="shared-memory"),
    transport("intraprocess", carrier="process-memory", processes=(1,)),
    transport("data-sharing", carrier="shared-memory", loan=(False, True)),
    transport("udp", wire="rtps"),
    transport("tcp", carrier="tcp", max_bytes=4 * MIB, max_bytes_advice="raise the send buffer"),
    own_threads=True,
    native={"segment-size": "bytes"},
)

RAW_TRANSPORTS = (SHM, UDS, UDP, TCP)
EVERYONE = (NULL, *RAW_TRANSPORTS, CYCLONE, FAST)
