"""How to get an adapter that is known but was not built."""

HOW_TO_GET = {
    "cyclonedds": "install Cyclone DDS (Debian, Ubuntu: cyclonedds-dev and iceoryx), then start ./middlemark again",
    "fastdds": "install Fast DDS (Debian, Ubuntu: libfastrtps-dev, libfastcdr-dev), then start ./middlemark again",
    "null": "it is part of every build; build again with ./middlemark",
    "shm": "it is part of every build; build again with ./middlemark",
    "tcp": "it is part of every build; build again with ./middlemark",
    "udp": "it is part of every build; build again with ./middlemark",
    "uds": "it is part of every build; build again with ./middlemark",
}
