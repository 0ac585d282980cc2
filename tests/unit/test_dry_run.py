"""What ``--dry-run`` says of a cell: what will be measured, without factors that have no meaning there."""

import pytest
from planning import plan_of

from middlemark.show.dry_run import render


@pytest.mark.parametrize(
    ("keys", "told", "untold"),
    [
        ("", "udp, 1 KiB, ping-pong, one at a time, block, 2 processes, 1 subscriber, filled, pinned", "rate"),
        ("subscribers=2\necho='first'", "2 subscribers, one echoes, filled, pinned 0,1", "publisher"),
        ("rate='2.5k'", "ping-pong, rate 2.5 kHz, block", "poisson"),
        ("pattern='request-reply'\npublishers=3", "request-reply, 3 clients, one at a time", "subscriber"),
        ("pattern='stream'", "best-effort, keep all, no loan, 1 trial", "echo"),
        ("pattern='stream'", "stream, 1 → 1, as fast as possible", "ping"),
        ("pattern='stream'\nburst=100\nrecovery='90ms'", "1 → 1, bursts of 100, 90 ms apart", "rate"),
        ("pattern='stream'\nrate=10\narrivals='poisson'", "rate 10 Hz poisson", "loss"),
        ("pattern='stream'\nrate='curve'", "rate curve, block", "p99"),
        ("pattern='stream'\nrate='sustainable'\nmax_p99='2ms'", "loss up to 0 %, p99 up to 2 ms", "Hz"),
        ("[sweep.native.fastdds]\nsegment-size='8m'", "1 trial\n", "segment-size"),
    ],
)  # fmt: skip
def test_a_cell_is_told_with_its_load(keys: str, told: str, untold: str) -> None:
    text = render(plan_of(f"[[sweep]]\nadapter='udp'\ntrials=1\n{keys}"), 61.0)
    assert told in text
    assert untold not in text.splitlines()[0]
    assert "1 configurations, 1 trials, about 1 min 1 s; order from seed 1. Nothing was measured." in text
