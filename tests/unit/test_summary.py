"""The output at the end of a run fits on one screen, begins with the answer, and claims nothing without a verdict."""

import shlex
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from report_runs import cell, document_of, run_of, spread
from test_compare import write

from middlemark.commands.show import command
from middlemark.document import Document
from middlemark.document.matrix import matrices, table_of
from middlemark.document.screen import warnings_of
from middlemark.document.table import Table
from middlemark.model.cell import Cell
from middlemark.model.outcome import Failure, RunWarning
from middlemark.model.plan import Note
from middlemark.problems import MeasureError, RequestError
from middlemark.show import View
from middlemark.show.summary import MOST_LINES, render
from middlemark.show.terminal import command_lines
from middlemark.stats.result import CellResult, Noise, TrialNoise
from middlemark.verdicts.comparisons import Comparisons
from middlemark.verdicts.experiments import Standing
from middlemark.verdicts.rows import MeasuredRun

SIZES = (16, 1024, 65536)
Figures = dict[Cell, list[float | Failure]]


def over_sizes(adapter: str, transport: str, *middles: float, trials: int = 10, **levels: object) -> Figures:
    return {
        cell(adapter, transport, size=size, **levels): spread(middle, trials)
        for size, middle in zip(SIZES, middles, strict=True)
    }


USUAL = (
    over_sizes("shm", "shm", 10_000, 11_000, 30_000)
    | over_sizes("udp", "udp", 15_000, 16_000, 50_000)
    | over_sizes("lyra", "shm", 12_000, 13_000, 45_000)
    | over_sizes("lyra", "udp", 31_000, 32_000, 90_000)
    | over_sizes("vega", "udp", 21_000, 22_000, 45_500)
    | over_sizes("deneb", "udp", 25_000, 26_000, 60_000)
)


def screen(run: MeasuredRun, width: int = 100) -> list[str]:
    return render(document_of(run), View(width=width)).splitlines()


def table(run: MeasuredRun) -> Table:
    return table_of(matrices(document_of(run).experiments)[0])


def text_of(run: MeasuredRun) -> str:
    return " ".join(" ".join(screen(run)).split())


def with_results(run: MeasuredRun, change: Callable[[CellResult], CellResult]) -> MeasuredRun:
    return msgspec.structs.replace(run, results=tuple(map(change, run.results)))


def test_the_answer_comes_first() -> None:
    assert text_of(run_of(USUAL)).startswith(
        "lyra shm is the fastest at 16 B and 1 KiB, 1.18 to 1.20 × baseline; "
        "lyra shm and vega udp tie, within 5 %, at 64 KiB. first-look on robot-7"
    )


def test_a_middleware_has_one_line_for_its_best_transport_in_order_of_rank() -> None:
    lines = screen(run_of(USUAL))
    at = next(at for at, line in enumerate(lines) if line.startswith("baseline shm"))
    assert [line.split("  ")[0] for line in lines[at : at + 4]] == [
        "baseline shm (copying)",
        "lyra shm",
        "vega udp",
        "deneb udp",
    ]


def test_every_ratio_is_to_the_baseline_in_its_columns_legend() -> None:
    columns = document_of(run_of(USUAL)).experiments[:3]
    assert [(each.copying and each.copying.name, each.handing_over) for each in columns] == [("shm", None)] * 3
    for column, base in zip(columns, (10_000, 11_000, 30_000), strict=True):
        for each in column.rows:
            assert each.figure is not None
            assert each.ratio == pytest.approx(each.figure / base)


def test_without_a_baseline_ratios_are_to_the_best() -> None:
    figures = {each: values for each, values in USUAL.items() if each.adapter not in ("shm", "udp")}
    run = run_of(figures)
    assert "× the best, without a baseline" in text_of(run)
    assert [each.ratio for each in document_of(run).experiments[0].rows] == [None] * 4


def test_every_standing_equals_the_verdict_on_its_pair() -> None:
    document = document_of(run_of(USUAL))
    comparisons = Comparisons(document.rows, document.runs)
    words = {Standing.SLOWER: "slower", Standing.EQUIVALENT: "equivalent", Standing.UNDECIDED: "undecided"}
    seen = set()
    for column in document.experiments[:3]:
        for each in column.ranked:
            if each.row.index != column.reference:
                found = comparisons.find(column.reference or 0, each.row.index, "p50")
                assert found is not None
                assert words[each.standing] == found.word
                seen.add(each.standing)
    assert seen == {Standing.SLOWER, Standing.EQUIVALENT}


def test_a_cell_has_the_best_transport_at_that_level_with_its_name() -> None:
    figures = over_sizes("lyra", "shm", 12_000, 13_000, 80_000) | over_sizes("lyra", "udp", 31_000, 32_000, 40_000)
    run = run_of(figures | over_sizes("vega", "udp", 50_000, 52_000, 90_000))
    lines = {each.name: [" ".join(cell.text.split()) for cell in each.cells] for each in table(run).lines}
    assert lines == {
        "lyra": ["shm 12.0 1.00 ✓", "shm 13.0 1.00 ✓", "udp 40.0 1.00 ✓"],
        "vega udp": ["50.0 4.17", "52.0 4.00", "90.0 2.25"],
    }


def test_with_too_few_trials_all_is_undecided_and_the_command_measures_more() -> None:
    few = {each: values[:2] for each, values in USUAL.items()}
    run = run_of(few, command=("/usr/bin/middlemark", "run", "first-look", "--trials", "2"))
    lines = screen(run)
    assert lines[0].startswith("Undecided with 2 trials each: lyra shm leads at every size")
    assert not [line for line in lines if line.startswith("Decided")]
    assert "2 trials each (6 are the fewest) at every size" in text_of(run)
    assert "→ middlemark run first-look --only adapter=lyra,vega,deneb,shm --trials 10" in text_of(run)
    assert "?" not in "".join(lines), "a mark on every figure would be useless"


def test_the_lowest_median_leads_even_if_only_others_have_trials_for_a_verdict() -> None:
    run = run_of({cell(): spread(2e4), cell("vega"): spread(3e4), cell("deneb"): spread(1e4, 2)})
    text = text_of(run)
    assert text.startswith("Undecided with 2 trials each: deneb udp leads at 64 B.")
    assert "Decided vega udp is slower than lyra udp at 64 B" in text
    assert [line.name for line in table(run).lines] == ["deneb udp", "lyra udp", "vega udp"]


@pytest.mark.parametrize(("number", "of_sizes"), [(1, 12), (6, 12), (60, 2)])
def test_the_summary_fits_one_screen_with_any_number_of_configurations(number: int, of_sizes: int) -> None:
    warnings = [RunWarning(f"kind-{at}", "doubtful " * 20, "do this; do that " * 9) for at in range(9)]
    sizes = [16 << at for at in range(of_sizes)]
    figures: Figures = {
        cell(f"middleware-{at}", size=size, receive=receive, processes=processes): spread(2e4 + at, 3)
        for at in range(number)
        for size in sizes
        for receive, processes in (("block", 2), ("poll", 2), ("block", 1))
    }
    figures[cell("deneb")] = [Failure("crashed", "the pong was killed by SIGSEGV " * 9, "run it alone")]
    plan_notes = tuple(Note("--size", "8 B became 16 B") for _ in range(3))
    run = run_of(figures, warnings=warnings)
    file = msgspec.structs.replace(run.file, plan=msgspec.structs.replace(run.file.plan, notes=plan_notes))
    document = document_of(msgspec.structs.replace(run, file=file))
    for width in (60, 80, 100, 140):
        lines = render(document, View(width=width)).splitlines()
        assert len(lines) <= MOST_LINES
        assert max(map(len, lines)) <= width


def disturbed(result: CellResult, share: float) -> CellResult:
    marked = (f"other processes had {100 * share:.0f} % of its processors' time (make)",) if share > 0.1 else ()
    trials = tuple(
        TrialNoise(
            trial=number, others_share=share, own_share=0.0, delay_share=None, steal_share=0.0, irq_share=0.0,
            softirq_share=0.0, pressure_share=0.0, throttled_ns=0, still_share=0.0, longest_gap_ns=0,
            longest_spell_ns=0,
            marked=marked,
        )
        for number in (1, 2)
    )  # fmt: skip
    noise = Noise(
        others_share=share, own_share=0.0, delay_share=None, steal_share=0.0, irq_share=0.0, softirq_share=0.0,
        pressure_share=0.0, throttled_ns=0, still_share=0.0, longest_gap_ns=0, longest_spell_ns=0, above_p99_9=None,
        trials=trials, disturbed=(), disturbed_trial=None, absent={},
    )  # fmt: skip
    return msgspec.structs.replace(result, noise=noise)


def test_only_a_disturbed_machine_is_in_the_first_line() -> None:
    run = run_of(USUAL)
    busy = with_results(run, lambda each: disturbed(each, 0.2 if each.cell.adapter == "lyra" else 0.3))
    assert text_of(busy).startswith(
        "The machine was disturbed in 36 of 36 trials; the worst: other processes had 30 % of its processors' time"
    )
    quiet = with_results(run, lambda each: disturbed(each, 0.01))
    assert screen(quiet)[0] == screen(run)[0]


def test_a_remedy_is_printed_once_with_the_text_of_the_worst_row() -> None:
    lost = {"lyra": (1, "a; b"), "vega": (400, "b; a"), "deneb": (2, "a")}

    def warned(each: CellResult) -> CellResult:
        number, advice = lost[each.cell.adapter]
        counts = msgspec.structs.replace(each.counts, lost=number)
        return msgspec.structs.replace(each, counts=counts, warnings=(RunWarning("loss", f"{number} lost", advice),))

    run = with_results(run_of({cell(name): spread(2e4) for name in lost}), warned)
    (kind,) = warnings_of(document_of(run).rows)
    assert (kind.count, kind.text, kind.advice) == (3, "400 lost", "a; b")
    assert "Warnings lost messages in 3 rows → a" in text_of(run)


def test_bimodal_trials_are_named_and_leave_the_answer_undecided() -> None:
    run = run_of({cell(): spread(2e4), cell("vega"): spread(3e4)}, warnings=[RunWarning("bimodal", "two", "look")])
    assert "Undecided bimodal in lyra udp at 64 B" in text_of(run)
    assert screen(run)[0].startswith("Undecided: lyra udp leads")


def test_a_failed_row_is_printed_with_its_reason_and_advice() -> None:
    crashed = Failure("crashed", "the pong was killed by SIGSEGV", "run it alone: --only adapter=deneb")
    text = text_of(run_of({cell(): spread(2e4), cell("vega"): spread(3e4), cell("deneb"): [crashed] * 3}))
    assert (
        "Broken deneb udp at 64 B failed: the pong was killed by SIGSEGV → run it alone: --only adapter=deneb" in text
    )


def test_a_size_at_which_no_row_has_a_median_is_named_with_the_remedy() -> None:
    def without_median(result: CellResult) -> CellResult:
        warning = RunWarning("few-samples", "a median needs 20 samples and no trial has more than 18", "measure longer")
        small = result.cell.size < 65536
        return result if small else msgspec.structs.replace(result, round_trip_ns=None, warnings=(warning,))

    figures: Figures = {cell(name, size=size): spread(2e4) for name in ("lyra", "vega") for size in (64, 65536)}
    text = text_of(with_results(run_of(figures), without_median))
    assert "Broken lyra udp at 64 KiB and 1 more without a median: too few samples → measure longer" in text


def test_the_headline_has_the_range_of_the_trials_if_the_columns_differ() -> None:
    figures: Figures = {
        cell(name, size=size): spread(2e4, trials) for name in ("lyra", "vega") for size, trials in ((64, 1), (1024, 3))
    }
    assert screen(run_of(figures))[0].startswith("Undecided with 1 to 3 trials each: lyra udp leads at ")


def test_an_interrupted_run_prints_the_resume_command() -> None:
    run = run_of({cell(): spread(2e4), cell("vega"): spread(3e4)}, interrupted=True)
    cut = msgspec.structs.replace(run, outcomes=run.outcomes[:7])
    assert "Broken The run was interrupted after 7 of 20 trials." in text_of(cut)
    assert "→ middlemark run --resume runs/first-run" in text_of(cut)


def test_a_run_without_measurements_is_stated() -> None:
    text = text_of(run_of({cell(): [Failure("crashed", "killed", "look")] * 2}))
    assert text.startswith("No two configurations can be compared.")
    assert "Nothing was measured" in text


def test_only_notes_about_the_command_line_come_before_the_figures() -> None:
    run = run_of({cell(): spread(2e4)})
    notes = (Note("--size", "8 B became 16 B, the smallest message"), Note("first-look: sweep 1", "left out: x"))
    file = msgspec.structs.replace(run.file, plan=msgspec.structs.replace(run.file.plan, notes=notes))
    text = text_of(msgspec.structs.replace(run, file=file))
    assert "note: --size: 8 B became 16 B" in text
    assert "left out" not in text


def test_many_notes_are_counted() -> None:
    run = run_of({cell(): spread(2e4)})
    notes = tuple(Note("--loan", f"lcm udp: left out {number}") for number in range(22))
    file = msgspec.structs.replace(run.file, plan=msgspec.structs.replace(run.file.plan, notes=notes))
    text = text_of(msgspec.structs.replace(run, file=file))
    assert "note: --loan: lcm udp: left out 0; 21 more with --rows" in text
    assert "left out 1" not in text


def test_at_one_size_the_varying_factor_makes_the_columns() -> None:
    figures = {
        cell(name, pattern="stream", rate=rate): spread(middle)
        for name, middle in (("lyra", 900.0), ("vega", 800.0))
        for rate in (1000.0, 100.0)
    }
    (matrix,) = matrices(document_of(run_of(figures)).experiments)
    assert (matrix.factor, matrix.titles) == ("rate", ("100 Hz", "1 kHz"))


def test_floods_are_ranked_by_received_messages() -> None:
    stream = {"pattern": "stream", "depth": None}
    run = run_of(
        {cell("udp", **stream): spread(5e5), cell("lyra", **stream): spread(4e5), cell("vega", **stream): spread(2e5)}
    )
    assert [each.name for each in table(run).lines] == ["baseline udp (copying)", "lyra udp", "vega udp"]
    ratios: Sequence[object] = [each.ratio for each in document_of(run).experiments[0].ranked]
    assert ratios == [pytest.approx(1.25, rel=0.01), pytest.approx(2.5, rel=0.01)]
    assert "messages/s, and × the baseline" in text_of(run)


# Tests of the command.


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    return write(
        tmp_path,
        {
            Cell(adapter=adapter, transport=transport, size=size): figure
            for size in (64, 1024)
            for adapter, transport, figure in (("lyra", "udp", 50_000 + size), ("socket", "socket", 25_000))
        },
    )


def shown(*words: object) -> Result:
    return CliRunner().invoke(command, [*map(str, words)], standalone_mode=False)


def test_show_prints_the_newest_run_of_a_folder(stored: Path) -> None:
    done = shown(stored.parent)
    assert (done.return_value, shown(stored).stdout) == (0, done.stdout)
    assert f"middlemark show {stored}" in " ".join(done.stdout.split())


def test_show_finds_a_run_in_runs_by_its_name(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (stored.parent / "runs").mkdir()
    stored.rename(stored.parent / "runs" / "first")
    monkeypatch.chdir(stored.parent)
    done = shown("first")
    assert (done.return_value, shown("runs/first").stdout) == (0, done.stdout)
    assert isinstance(shown("secon").exception, MeasureError)


def test_rows_and_warnings_are_shown_with_an_option(stored: Path) -> None:
    assert "How to read it" in shown(stored, "--rows").stdout
    assert "How to read it" not in shown(stored).stdout
    assert shown(stored, "--warnings").stdout == "No row has a warning.\n"


def test_a_part_of_a_run_has_the_verdicts_of_the_whole(stored: Path) -> None:
    whole, part = shown(stored).stdout, shown(stored, "--only", "size=1k").stdout
    assert "64 B" in whole
    assert "64 B" not in part
    line, of_part = (
        next(each for each in text.splitlines() if each.startswith("lyra udp  ")) for text in (whole, part)
    )
    assert line.split()[-2:] == of_part.split()[-2:]


def test_a_selection_without_a_match_is_refused(stored: Path) -> None:
    assert "; there " in str(shown(stored, "--only", "size=2k").exception)
    assert isinstance(shown(stored, "--only", "zeal=2k").exception, RequestError)


def test_a_document_without_verdicts_still_makes_a_screen() -> None:
    empty: Document = msgspec.structs.replace(document_of(run_of({cell(): spread(2e4)})), experiments=())
    assert render(empty, View()).startswith("No two configurations can be compared.")


def test_a_command_on_several_lines_is_one_shell_command_without_broken_words() -> None:
    words = ["run", f"--only=adapter={','.join(f'dds{each}' for each in range(30))}", "--trials", "10"]
    first, *others = command_lines("printf %s-- ", " ".join(words), 60)
    assert len(others) == 2
    printed = subprocess.run(
        ["sh", "-c", "\n".join((first, *others))], capture_output=True, text=True, check=True
    ).stdout
    assert printed.split("--", 1)[0] == "run"
    assert printed == "".join(f"{word}--" for word in words)
    assert command_lines("next: ", "middlemark run", 60) == ["next: middlemark run"]
    spaced = shlex.join(["--out", "my robot's runs, by day and by month", "--trials"])
    lines = command_lines("printf %s-- ", spaced, 40)
    printed = subprocess.run(["sh", "-c", "\n".join(lines)], capture_output=True, text=True, check=True).stdout
    assert printed == "--out--my robot's runs, by day and by month----trials--"


def test_the_requested_metrics_are_the_columns(stored: Path) -> None:
    lines = shown(stored, "--metric", "min,range,memory.ping").stdout.splitlines()
    head = next(at for at, line in enumerate(lines) if "memory.ping" in line)
    assert lines[head].split()[-3:] == ["min", "range", "memory.ping"]
    assert lines[head + 1].split()[-1] == "–", "this run has no memory figures"
    wrong = shown(stored, "--metric", "zeal").exception
    assert "there is no metric zeal" in str(wrong)
