"""What ``--dry-run`` says of a cell: what will be measured, and nothing that means nothing there."""

import pytest
from planning import plan_of

from middlemark.report.dry_run import render


@pytest.mark.parametrize(
    ("keys", "told", "untold"),
    [
        ("", "udp udp, ping-pong, 1 KiB, block, best-effort, depth 1", "rate"),
        ("subscribers=2\necho='first'", "2 subscribers, echo first, pinned 0,1", "publisher"),
        ("rate='2.5k'", "1 subscriber, rate 2.5 kHz, pinned", "poisson"),
        ("pattern='request-reply'\npublishers=3", "3 clients, pinned", "subscriber"),
        ("pattern='stream'", "keep-all, no loan, filled, 2 processes, 1 publisher", "echo"),
        ("pattern='stream'", "1 publisher, 1 subscriber, 1 topic, rate max, pinned", "ping"),
        ("pattern='stream'\nburst=100\nrecovery='90ms'", "1 topic, bursts of 100 and 90 ms of rest, pinned", "rate"),
        ("pattern='stream'\nburst=100", "1 topic, bursts of 100, pinned", "rest"),
        ("pattern='stream'\nrate=10\narrivals='poisson'", "rate 10 Hz poisson", "loss"),
        ("pattern='stream'\nrate='curve'", "rate curve (loss within 0 %)", "p99"),
        ("pattern='stream'\nrate='curve'\nmax_p99='2ms'", "rate curve (loss within 0 %, p99 within 2 ms)", "Hz"),
        ("[sweep.native.fastdds]\nsegment-size='8m'", "1 trial\n", "segment-size"),
    ],
)  # fmt: skip
def test_a_cell_is_told_with_its_load(keys: str, told: str, untold: str) -> None:
    text = render(plan_of(f"[[sweep]]\nadapter='udp'\ntrials=1\n{keys}"), 61.0)
    assert told in text
    assert untold not in text.splitlines()[0]
    assert "1 cells, 1 trials, about 1 min 1 s; order from seed 1. Nothing was measured." in text
