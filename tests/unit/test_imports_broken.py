"""Damaged logs: intact parts are read, other parts are counted, and nothing ends in a traceback."""

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from imports_cases import PASTED, READ, blocks, fixture, one, printed, read

from middlemark.imports import FORMATS, NotRead, find, how_many_unread, refusal
from middlemark.imports.lines import LONGEST, Lines
from middlemark.imports.log import not_read
from middlemark.model.times import QUANTILES

pytestmark = pytest.mark.slow

TEXT = [path for path in READ if path.suffix != ".json"]


def names(path):
    return f"{path.parent.name}/{path.name}"


@pytest.mark.parametrize("path", TEXT, ids=names)
@pytest.mark.parametrize("end", [b"\r\n", b"\r", b"\n\n"], ids=["CRLF", "CR", "empty lines"])
def test_other_line_ends_change_nothing(path, end):
    data = path.read_bytes()
    changed = read(data.replace(b"\n", end))
    assert changed.measured == read(data).measured
    assert changed.unread == 0


@pytest.mark.parametrize("path", TEXT, ids=names)
def test_logs_redirected_by_a_windows_shell_are_read(path):
    data = path.read_bytes()
    assert read(data.decode().encode("utf-16")).measured == read(data).measured
    assert read(b"\xef\xbb\xbf" + data).measured == read(data).measured


@pytest.mark.parametrize("path", [each for each in TEXT if each.parent.name not in ("roundtripping",)], ids=names)
def test_decimal_commas_are_read(path):
    data = path.read_bytes()
    with_commas = _with_decimal_commas(data)
    assert with_commas != data
    log = read(with_commas)
    assert log.unread == 0, log.first_unread
    assert log.measured == read(data).measured


def _with_decimal_commas(data: bytes) -> bytes:
    return b"".join(
        bytes(
            ord(",")
            if at and char == ord(".") and line[at - 1 : at].isdigit() and line[at + 1 : at + 2].isdigit()
            else char
            for at, char in enumerate(line)
        )
        if line[:1] in b"[ 0123456789" and b"[0]" not in line and b"Bytes" not in line
        else line
        for line in data.splitlines(keepends=True)
    )


@pytest.mark.parametrize("path", [*READ, *PASTED], ids=names)
@pytest.mark.parametrize("size", [1, 7, 4096])
def test_the_division_of_a_file_into_blocks_does_not_matter(path, size):
    data = path.read_bytes()
    assert read(data, size) == read(data)


@pytest.mark.parametrize("path", TEXT, ids=names)
def test_a_last_line_without_a_line_end_is_incomplete(path):
    data = path.read_bytes().rstrip(b"\n")
    log = read(data)
    assert log.unread == 1
    number, text = log.first_unread
    assert number == data.count(b"\n") + 1
    assert data.splitlines()[-1].decode().strip().startswith(text[:20])


@pytest.mark.parametrize(
    "prompt",
    ["user@host:~$ ddsperf pub", "[me@lab-1 build]$ ", "root@rig:/opt# ./ddsperf sub", "$ ddsperf ping",
     "(venv) me@box:~/x$ ls", "me@mac ~ % ddsperf", "PS C:\\build> ddsperf.exe pub", "C:\\build>ddsperf.exe pub"],
)  # fmt: skip
def test_prompts_above_and_below_a_log_are_no_damage(prompt: str) -> None:
    data = fixture("ddsperf/ping.log")
    pasted = read(f"{prompt}\n".encode() + data + f"{prompt}\n".encode())
    assert (pasted.measured, pasted.unread, pasted.prompts) == (read(data).measured, 2, 2)
    assert not_read(pasted) is None
    assert "2 of 15 lines could not be read (2 shell prompts); the first, line 1: " in how_many_unread(pasted)


def test_other_text_in_a_paste_is_not_called_a_cut_only() -> None:
    log = read(b"Here is what I get:\n" + fixture("ddsperf/ping.log"))
    assert (log.unread, log.prompts) == (1, 0)
    warning = not_read(log)
    assert warning is not None
    assert "other text in a paste does no harm" in warning.advice


def test_blank_lines_count_in_the_number_of_lines_and_in_the_number_of_a_line() -> None:
    log = read(b"\n\n" + fixture("ddsperf/ping.log") + b"\n \n[1] 2.0")
    assert how_many_unread(log) == "1 of 18 lines could not be read; the first, line 18: [1] 2.0"


def test_a_truncated_figure_is_not_read():
    data = fixture("ddsperf/ping.log")
    cut = data[: data.index(b"cnt 37041") + len(b"cnt 370")]
    whole = data[: cut.rindex(b"\n") + 1]
    assert read(cut).measured == read(whole).measured
    assert read(cut).unread == 1


def test_merged_lines_of_two_processes_are_counted_and_the_others_read():
    lines = fixture("ddsperf/ping.log").splitlines(keepends=True)
    assert b"cnt" in lines[3]
    assert b"cnt" in lines[5]
    torn = lines[3][:40] + lines[4][:-1] + lines[3][40:]
    log = read(b"".join([*lines[:3], torn, *lines[5:]]))
    assert log.unread == 1
    assert log.first_unread[0] == 4
    assert one(log).samples == one(read(b"".join(lines))).samples - 37_513


def test_a_hole_of_zeros_discards_only_the_line_around_it():
    data = fixture("ddsperf/ping.log")
    at = data.index(b"50% 10.741us")
    log = read(data[:at] + bytes(4096) + data[at:])
    assert log.unread == 2, "the parts of the line before and after the hole"
    assert one(log).samples == one(read(data)).samples - 31_743


def test_an_endless_line_takes_no_memory_and_counts_as_one():
    data = fixture("ddsperf/ping.log")
    begin = data.index(b"[20704] 4.000  vm")
    huge = b"x" * (3 * LONGEST)
    log = read(data[:begin] + huge + b"\n" + data[begin:])
    assert log.unread == 1
    assert log.measured == read(data).measured
    kept = Lines(blocks(huge, 4096))
    assert list(kept) == []
    assert kept.unread == 1


@pytest.mark.parametrize("path", [each for each in READ if each.suffix == ".json"], ids=names)
def test_a_truncated_document_gives_its_complete_part(path):
    data = path.read_bytes()
    whole = read(data)
    log = read(data[: int(len(data) * 0.9)])
    assert log.unread
    assert log.lines - log.unread < whole.lines
    assert log.measured


@pytest.mark.parametrize("path", [each for each in READ if each.suffix == ".json"], ids=names)
def test_two_documents_in_one_file_are_both_read(path):
    data = path.read_bytes()
    assert read(b"something on stderr\n" + data + b"\n" + data).measured == read(data).measured * 2


@pytest.mark.parametrize(
    ("data", "line", "shown"),
    [
        (b"\n\nhello\nworld\n", "line 3", "hello"),
        (b"\x7fELF\x02\x01\x01\0\0\0", "line 1", "ELF"),
        (b"{}", "line 1", "{}"),
        (b"", "the file is empty", ""),
        (b"\0" * 5000, "the file is empty", ""),
        (b"x" * 5_000_000, "the file is empty", ""),
    ],
)
def test_a_file_that_is_no_log_is_refused_with_its_first_line_and_the_formats(data, line, shown):
    assert find(data) is None
    text = refusal(data)
    assert line in text
    assert shown in text
    assert all(each.name in text for each in FORMATS)


def most_lines(data: bytes) -> int:
    return len(data.replace(b"\r", b"\n").replace(b"\0", b"\n").split(b"\n"))


def attempt(data: bytes):
    """Read a log by the format that recognizes it. Only documented errors may be raised."""
    found = find(data)
    if found is None:
        return None
    try:
        return found.read(blocks(data, 512))
    except NotRead:
        return None


FUZZ = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("path", [*READ, *PASTED], ids=names)
@FUZZ
@given(data=st.data())
def test_a_mutated_log_is_read_as_far_as_it_is_intact(path, data):
    text = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 80))
        match data.draw(st.sampled_from(["cut", "drop", "put", "digits", "again"])):
            case "cut":
                del text[max(at, len(text) // 3) :]
            case "drop":
                del text[at : at + length]
            case "put":
                text[at:at] = data.draw(st.binary(max_size=30))
            case "digits":
                text[at:at] = b"9" * length
            case "again":
                text[at:at] = text[at : at + 10 * length]
    log = attempt(bytes(text))
    if log is not None:
        _holds(bytes(text), log)


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
@FUZZ
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=40),
            st.sampled_from(
                [line + b"\n" for path in [*READ, *PASTED] for line in path.read_bytes().splitlines()[:40]]
                + [
                    b'{"perftest":[',
                    b'{"benchmarks":[{"name":"a","real_time":1e400}',
                    b'"analysis_results":[[[[',
                    b"}]",
                ]
            ),
            st.text(max_size=20).map(lambda text: text.encode("utf-8", "surrogatepass")),
        ),
        max_size=30,
    )
)
def test_no_format_ends_in_a_traceback_for_any_input(form, parts):
    data = b"".join(parts)
    try:
        log = form.read(blocks(data, 64))
    except NotRead:
        return
    _holds(data, log)


def _holds(data: bytes, log) -> None:
    assert 0 <= log.unread <= log.lines
    if log.unit == "line":
        assert log.lines <= most_lines(data)
    assert (log.first_unread is None) == (log.unread == 0)
    assert len(log.measured) <= log.lines
    if log.measured:
        for form in ("table", "json", "csv"):
            assert printed(log, form).endswith("\n")
    for measured in log.measured:
        for figures in filter(None, msgspec.structs.astuple(measured.times)):
            for name in figures.__struct_fields__:
                value = getattr(figures, name)
                assert value is None or abs(value) < float("inf")
            quantiles = [value for name in QUANTILES if (value := getattr(figures, name)) is not None]
            assert quantiles == sorted(quantiles), "quantiles that are not in order are left out"


def test_endless_brackets_are_no_log():
    log = read(b'{"benchmarks": [' + b"[" * 200_000)
    assert log.measured == ()
    assert log.unread == 1
