"""The output of ``--dry-run`` for a cell: what will be measured, without factors that have no effect there."""

import pytest
from planning import plan_of

from middlemark.plan.rounds import racing, until_decided
from middlemark.show.dry_run import render


@pytest.mark.parametrize(
    ("keys", "expected", "unexpected"),
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
        ("[sweep.native.fastdds]\nsegment-size='8m'", "1 trial", "segment-size"),
    ],
)  # fmt: skip
def test_a_cell_is_printed_with_its_load(keys: str, expected: str, unexpected: str) -> None:
    text = render(plan_of(f"[[sweep]]\nadapter='udp'\ntrials=1\n{keys}"), 200, verbose=True)
    assert expected in text
    line = next(each for each in text.splitlines() if each.startswith("lan: ") and expected in each)
    assert unexpected not in line
    assert text.startswith("1 configuration, 1 trial, about ")
    assert "; order from seed 1. Nothing was measured.\n" in text


def test_a_sweep_is_one_line_with_any_number_of_configurations() -> None:
    text = "[[sweep]]\nname='many'\nadapter='udp'\ntransport='udp'\nsize=[64,'1k']\nreceive=['block','poll']\n"
    plan = plan_of(f"{text}depth=[{','.join(map(str, range(1, 41)))}]\n[[sweep]]\nname='few'\nadapter='udp'\nrate=7")
    head, *rows = render(plan, 100).splitlines()[1:4]
    assert head.split() == ["configurations", "of", "64", "B", "1", "KiB", "trials", "about"]
    assert [each.split()[1:5] for each in rows] == [["many", "80", "80", "480"], ["few", "–", "1", "3"]]
    assert len(render(plan, 100).splitlines()) == 5


def test_the_dry_run_of_a_race_counts_the_races_with_a_choice() -> None:
    plan = plan_of("[[sweep]]\nadapter=['cyclonedds','fastdds']\ntransport='udp'\nsize=[64,'1k']")
    text = render(racing(plan, (), 90.0), 200)
    assert "then further rounds of the candidates that may be the best, in 2 races, within 1 min 30 s in all" in text
    assert "further rounds" not in render(plan, 200)


def test_each_expectation_is_printed_with_the_cells_it_concerns() -> None:
    expect = """
[[expect]]
say = "udp is quick"
of = "adapter=udp"
at_most = "1ms"
[[expect]]
say = "size costs"
a = "size=64"
b = "size=1k"
direction = "b slower"
[[expect]]
say = "MIRA is the fastest"
untestable = "no source of it"
"""
    plan = plan_of("[[sweep]]\nadapter='udp'\nsize=[64,'1k']\nreceive=['block','poll']\n" + expect)
    expectations = [each for each in render(until_decided(plan, 600.0), 100).splitlines() if "expect" in each]
    assert expectations == [
        "then further rounds until every expectation is decided, within 10 min 00 s in all",
        "expects: udp is quick: p50 at most 1ms, of 4 configurations",
        "expects: size costs: p50 b slower, of 2 pairs",
        "expects: MIRA is the fastest: untestable",
    ]


def test_the_times_of_the_sweeps_add_up_to_the_total() -> None:
    plan = plan_of(
        "[[sweep]]\nname='a'\nadapter='udp'\nduration='2s'\n[[sweep]]\nname='b'\nadapter='udp'\nrate=7\nduration='5s'"
    )
    total, _, *rows = render(plan, 100).splitlines()[:4]
    seconds = [int(each.split()[-2]) for each in rows]
    assert f"about {sum(seconds)} s;" in total
