"""The answers of a report: sentences that claim no more than the trials show."""

import random

import msgspec
import pytest
from report_runs import answers_of, cell, document_of, run_of, spread

from middlemark.model.cell import Cell
from middlemark.model.outcome import Failure, RunWarning

CRASHED = Failure("crashed", "the pong was killed by SIGSEGV", "run it alone")
RAW_TRANSPORT = {cell("udp"): spread(16_000)}
LYRA, VEGA, DENEB = cell("lyra"), cell("vega"), cell("deneb")


def drawn(middle: float, trials: int, seed: int) -> list[float | Failure]:
    draw = random.Random(seed)
    return [middle * draw.lognormvariate(0, 0.5) for _ in range(trials)]


def test_the_fastest_is_named_with_its_lead_its_certainty_and_its_baseline_ratio() -> None:
    (answer,) = document_of(run_of(RAW_TRANSPORT | {VEGA: spread(60_000, by=0.05), LYRA: spread(20_000)})).answers
    assert answer.text == (
        "At 64 B over UDP: lyra udp is lowest, 20.0 µs a round trip, 1.25 × the baseline udp (copying). "
        "The other is slower. "
        "lyra udp: best, 20.0 µs, 1.25 × udp (copying); vega udp: significantly slower, 60.0 µs, 3.75 × udp (copying), "
        "+200.0 % (+197.0 % … +203.0 %, 10 rounds)."
    )
    assert (answer.sure, answer.size, answer.cells) == ("sure", 64, (2, 1))


def test_candidates_within_the_margin_are_equivalent_and_none_is_fastest() -> None:
    (answer,) = document_of(run_of(RAW_TRANSPORT | {LYRA: spread(21_000), VEGA: spread(21_200)})).answers
    assert answer.text == (
        "At 64 B over UDP: lyra udp is lowest, 21.0 µs a round trip, 1.31 × the baseline udp (copying). "
        "A tie with vega udp, within 5 %. lyra udp: equivalent, 21.0 µs, 1.31 × udp (copying); "
        "vega udp: equivalent (within 5 %), 21.2 µs, "
        "1.32 × udp (copying), +1.0 % (+1.0 % … +1.0 %, 10 rounds)."
    )
    assert answer.sure == "sure"


def test_an_undecided_answer_states_how_many_trials_it_needs() -> None:
    (answer,) = document_of(run_of(RAW_TRANSPORT | {LYRA: drawn(21_000, 10, 1), VEGA: drawn(22_000, 10, 2)})).answers
    assert "Undecided against vega udp: about " in answer.text
    assert "vega udp: undecided, " in answer.text
    assert ", 10 rounds): about " in answer.text
    assert answer.sure == "unsure"


def test_one_comparison_of_several_needs_enough_trials_for_the_whole_family() -> None:
    sizes = (16, 256, 1024, 4096, 16384, 65536, 1 << 20)
    figures = {
        cell(name, size=size): [middle * random.Random(f"{name}{size}{n}").lognormvariate(0, 0.08) for n in range(6)]
        for size in sizes
        for name, middle in (("lyra", 2e4), ("vega", 2.4e4))
    }
    texts = answers_of(run_of(figures))
    assert any("which is not enough for one of 7 comparisons: about " in each for each in texts)


def test_too_few_trials_give_figures_and_no_difference() -> None:
    (answer,) = document_of(run_of(RAW_TRANSPORT | {LYRA: spread(21_000, 2), VEGA: spread(28_000, 2)})).answers
    assert answer.text == (
        "At 64 B over UDP: lyra udp is lowest, 21.0 µs a round trip, 1.31 × the baseline udp (copying). "
        "lyra udp has 2 trials; 6 are the fewest for a verdict. "
        "lyra udp: too few trials (2 trials), 21.0 µs, 1.31 × udp (copying); "
        "vega udp: too few trials (2 trials), 28.0 µs, 1.75 × udp (copying)."
    )
    assert answer.sure == "unsure"


def test_candidates_with_too_few_trials_do_not_block_the_others_verdict() -> None:
    (text,) = answers_of(run_of({LYRA: spread(21_000), VEGA: spread(28_000, by=0.05), DENEB: spread(20_000, 2)}))
    assert "vega udp: significantly slower, 28.0 µs, +33.3 % (" in text
    assert "deneb udp: too few trials (2 trials), 20.0 µs; lyra udp: undecided, 21.0 µs; " in text, (
        "a row with too few trials is not called the lowest"
    )


def test_one_sentence_summarises_who_is_faster_at_which_size() -> None:
    figures = {
        cell(name, size=size): spread(figure)
        for name, by_size in (("lyra", (20_000, 23_000, 42_000)), ("vega", (26_000, 23_050, 31_500)))
        for size, figure in zip((16, 1024, 65536), by_size, strict=True)
    }
    answers = document_of(run_of(figures)).answers
    assert answers[0].text == (
        "Over UDP: lyra udp is faster than vega udp at 16 B (the other takes 30 % longer); "
        "vega udp is faster than lyra udp at 64 KiB (the other takes 33 % longer); they are equivalent at 1 KiB."
    )
    assert (answers[0].size, len(answers)) == (None, 4)
    assert [each.size for each in answers[1:]] == [16, 1024, 65536]


def test_floods_are_compared_by_received_messages() -> None:
    stream = {"pattern": "stream", "depth": None}
    figures = {
        cell("udp", **stream): spread(500_000),
        cell("lyra", **stream): spread(412_000),
        cell("vega", **stream): spread(280_000, by=0.05),
    }
    (text,) = answers_of(run_of(figures))
    assert text.startswith(
        "At 64 B over UDP: lyra udp has the most, 412k messages/s, 1.21 × the baseline udp (copying). "
        "The other is slower. "
        "lyra udp: best, 412k messages/s, 1.21 × udp (copying); vega udp: significantly slower, 280k messages/s, "
        "1.79 × udp (copying), -32.0 % (-32.7 % … -31.4 %, 10 rounds)."
    )
    assert text.endswith("Warnings: lyra udp (flooded), vega udp (flooded).")


def test_the_first_experiment_has_every_transport_and_later_ones_a_single_transport() -> None:
    texts = answers_of(
        run_of({LYRA: spread(21_000), cell("vega", "shm"): spread(9_000), VEGA: spread(28_000, by=0.05)})
    )
    assert len(texts) == 2
    assert texts[0].startswith("At 64 B: vega shm is lowest, 9.00 µs a round trip. The other is slower.")
    assert texts[1].startswith("At 64 B over UDP: lyra udp is lowest, 21.0 µs a round trip. The other is slower.")


def test_a_middleware_with_another_reliability_takes_part() -> None:
    (text,) = answers_of(
        run_of({LYRA: spread(21_000), VEGA: spread(28_000), cell("deneb", reliability="best-effort"): spread(9_000)})
    )
    assert text.startswith("At 64 B over UDP: deneb udp, best-effort is lowest, 9.00 µs")


def test_an_answer_with_a_bimodal_row_is_not_certain() -> None:
    figures = {LYRA: spread(21_000), VEGA: spread(28_000, by=0.05)}
    (sure,) = document_of(run_of(figures)).answers
    (unsure,) = document_of(run_of(figures, warnings=[RunWarning("bimodal", "two values")])).answers
    assert (sure.sure, unsure.sure) == ("sure", "unsure")


def test_the_transports_of_a_single_middleware_are_compared() -> None:
    (text,) = answers_of(run_of({LYRA: spread(21_000), cell(transport="shm"): spread(9_000)}))
    assert text.startswith("At 64 B: lyra shm is lowest, 9.00 µs a round trip. The other is slower. ")
    assert "lyra udp: significantly slower, 21.0 µs, +133.3 % (+133.3 % … " in text


def test_a_failed_cell_is_named_and_one_with_another_actual_transport_is_left_out() -> None:
    contradicted = run_of({LYRA: spread(21_000), VEGA: spread(28_000), DENEB: [CRASHED] * 3})
    warning = RunWarning("transport-contradicted", "asked for udp; the actual transport is shared-memory")
    results = [
        msgspec.structs.replace(each, warnings=(warning,), actual_transport="shared-memory")
        if each.cell.adapter == "vega"
        else each
        for each in contradicted.results
    ]
    first, text = answers_of(msgspec.structs.replace(contradicted, results=results))
    assert first == "1 of 3 configurations has no result; the reasons are below."
    assert "is lowest" not in text
    assert (
        "Left out, because the actual transport is not the transport in the name: vega udp (actual transport "
        "shared-memory)." in text
    )
    assert text.endswith("Without a result: deneb udp (crashed).")


def test_warnings_about_the_named_rows_are_listed() -> None:
    warnings = (RunWarning("loss", "2 of 1,000 replies never arrived"),)
    (text,) = answers_of(run_of({LYRA: spread(21_000), VEGA: spread(28_000)}, warnings=warnings))
    assert text.endswith("Warnings: lyra udp (loss), vega udp (loss).")


@pytest.mark.parametrize(
    ("figures", "facts", "expected"),
    [
        ({}, {}, "The run has no configurations: there is no result."),
        (
            {LYRA: [CRASHED] * 2},
            {},
            "Nothing was measured: none of 1 configuration has a result; the first, lyra udp · 64 B: "
            "the pong was killed by SIGSEGV.",
        ),
        ({LYRA: spread(2e4)}, {"error": "No space left"}, "The run ended early after 10 of 10 trials: No space left."),
        ({LYRA: spread(2e4)}, {"interrupted": True}, "The run was interrupted after 10 of 10 trials."),
    ],
)
def test_an_incomplete_run_is_stated_first(
    figures: dict[Cell, list[float | Failure]], facts: dict[str, object], expected: str
) -> None:
    answers = document_of(run_of(figures, **facts)).answers
    assert answers[0].text == expected
    assert answers[0].sure == "unsure"


def test_a_run_under_way_is_stated_first() -> None:
    run = run_of({LYRA: spread(2e4)})
    under_way = msgspec.structs.replace(run, running=True, outcomes=run.outcomes[:4])
    assert answers_of(under_way)[0] == "The run is still under way: 4 of 10 trials have ended."


def test_two_runs_are_compared_by_counting_where_the_second_is_faster() -> None:
    figures = {LYRA: spread(21_000), VEGA: spread(28_000)}
    slower = run_of({LYRA: spread(25_000), VEGA: spread(28_010)}, name="second")
    assert answers_of(run_of(figures), slower)[0] == (
        "second compared with first-run, for the configurations in both, by p50: 1 slower, 1 equivalent. "
        "The runs were measured at different times, so the machine may be the cause."
    )


def test_at_most_eight_answers_include_the_smallest_and_the_largest_size() -> None:
    sizes = [16 << at for at in range(20)]
    figures = {cell(name, size=size): spread(2e4, 2) for size in sizes for name in ("lyra", "vega")}
    answers = document_of(run_of(figures)).answers
    assert len(answers) == 8
    assert (answers[0].size, answers[-1].size) == (sizes[0], sizes[-1])
