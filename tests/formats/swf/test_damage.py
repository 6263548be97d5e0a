# SPDX-License-Identifier: BSD-3-Clause
"""Reading damaged SWF: every damage is rejected with its line and reason, one test for each."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest

from swftools import iter_swf, read_swf
from swftools.errors import ParameterError, SwfFormatError
from swftools.fields.dictionary import SWF_NAMES
from swftools.formats.swf.block import MOST_COMMENTS, MOST_LINES, read_block
from tests.formats.swf.tables import JOB, jobs, read, rejected


def test_control_characters() -> None:
    """NUL bytes and their like within a line are damage; in a comment they do no harm."""
    text = f"{JOB}\x00\n{JOB} \x1b[0m\n\x001 {JOB}\n\x0c\n; Note: a\x00b\n\x1a".encode()
    trace = read(text)
    assert [(line, "control characters within the line") for line in (1, 2, 3, 4, 6)] == rejected(trace)
    assert f"{JOB}\x00" == trace.quarantine["text"][0]
    assert ("a\x00b",) == trace.header.notes


def test_lines_that_end_in_cr_alone() -> None:
    """A file of the old Macintosh is one line: it must not pass for one long comment, or for one job."""
    reason = "a carriage return within the line; lines end in LF or CR LF"
    assert [(1, reason)] == rejected(read(f"; Version: 2.2\r{JOB}\r{JOB}\r"))
    assert [(1, reason)] == rejected(read(f"{JOB}\r{JOB}\r"))
    why = "a line of 1,048,576 bytes and more (carriage returns among them: its lines seem to end in CR alone)"
    assert [(1, why)] == rejected(read(f"{JOB}\r" * 40_000))


def test_overlong_lines() -> None:
    """A line of 1 MiB and more is damage; the quarantine keeps the first 64 KiB of its text."""
    trace = read(f"{JOB}\n" + "x" * (1 << 20) + f"\n{JOB}\n")
    assert "1 1 0 5 60\n3 1 0 5 60" == jobs(trace)
    assert [(2, "a line of 1,048,576 bytes and more")] == rejected(trace)
    assert ["x" * 65536] == trace.quarantine["text"].tolist()


WORDS = """
run_time                7                       7
run_time                00012                   12
run_time                +5                      5
run_time                .5                      0.5
run_time                5.                      5
run_time                1e3                     1000
run_time                1.5E+3                  1500
run_time                1e-3                    0.001
run_time                -0                      0
run_time                -0.0                    0
run_time                -1.0                    -
run_time                -1e0                    -
run_time                10000000000             1e+10
run_time                1e-999                  0
run_time                10000000001             is beyond 1e+10
run_time                1e999                   is beyond 1e+10
run_time                1e9999                  is beyond 1e+10
run_time                1e12345                 is not a number
run_time                -2                      is negative (only -1, missing, may be)
run_time                -0.5                    is negative (only -1, missing, may be)
run_time                .                       is not a number
run_time                -                       is not a number
run_time                --1                     is not a number
run_time                1.2.3                   is not a number
run_time                1,5                     is not a number
run_time                1_000                   is not a number
run_time                0x10                    is not a number
run_time                5e                      is not a number
run_time                NaN                     is not a number
run_time                nan                     is not a number
run_time                inf                     is not a number
run_time                Infinity                is not a number
run_time                60s                     is not a number
run_time                \u0663                  is not a number
run_time                \uff11                  is not a number
user_id                 1e3                     1000
user_id                 7.000                   7
user_id                 -0.0                    0
user_id                 9223372036854774784     9223372036854774784
user_id                 9223372036854774785     is beyond 9.22337e+18
user_id                 9223372036854775808     is beyond 9.22337e+18
user_id                 99999999999999999999    is beyond 9.22337e+18
user_id                 9007199254740993        9007199254740993
user_id                 9007199254740993.0      9007199254740993
user_id                 90071992547409931.0     90071992547409931
user_id                 00000000000000000000012 12
user_id                 1e-9999                 is not a whole number
user_id                 7.5                     is not a whole number
user_id                 -2                      is negative (only -1, missing, may be)
requested_processors    2147483647              2147483647
requested_processors    2147483648              is beyond 2.14748e+09
used_memory             9007199254740992        9007199254740992
used_memory             1e16                    is beyond 9.0072e+15
status                  -9223372036854774784    -9223372036854774784
status                  -9223372036854775808    is beyond 9.22337e+18
status                  -1.0                    -
status                  -2.5                    is not a whole number
""".strip().splitlines()


@pytest.mark.parametrize("line", WORDS, ids=lambda line: "-".join(line.split()[:2]))
def test_numbers(line: str) -> None:
    """What counts as a number, which value it has, and why it does not."""
    name, word, outcome = line.split(maxsplit=2)
    position = SWF_NAMES.index(name)
    fields = JOB.split()
    fields[position] = word
    trace = read(" ".join(fields))
    if len(trace):
        value = trace.jobs[name][0]
        integral = str(value) if str(trace.jobs[name].dtype) == "Int64" or value > 1e15 else f"{value:g}"
        assert outcome == ("-" if pd.isna(value) else integral.removesuffix(".0"))
    else:
        assert [(1, f"field {position + 1} ({name}): {word!r} {outcome}")] == rejected(trace)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("0.14285714285714285", 1 / 7),
        ("14285.857142857143", 14285.857142857143),
        ("4503599627370497.5", None),  # halfway between two float64s, and beyond 10^10 s
        ("9007199254.740992", 9007199254.740992),
        ("9007199254.740993", 9007199254.740993),
        ("123456789.012345678", 123456789.012345678),
        ("0.000000000000000001", 1e-18),
        ("8589934592.000000954", 8589934592.000000954),
        ("9999999999.99999999", 9999999999.99999999),
        ("1.00000000000000011102230246251565404", 1.00000000000000011102230246251565404),
    ],
)
def test_decimals_are_read_to_the_last_bit(word: str, value: float | None) -> None:
    """A decimal number becomes the float64 nearest to it, however many digits it has."""
    assert ([] if value is None else [value]) == read(JOB.replace(" 60 ", f" {word} ")).jobs["run_time"].tolist()


def test_an_endless_number_is_none() -> None:
    """A word of more than 400 characters is damage, and is shown cut."""
    trace = read(JOB.replace(" 60 ", f" {'9' * 5000} "))
    assert [(1, f"field 4 (run_time): '{'9' * 80}' is not a number")] == rejected(trace)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1 0 5 60", "4 fields instead of 18"),
        (JOB.replace(" 60 ", " sixty "), r"field 4 \(run_time\): 'sixty' is not a number"),
        (f"{JOB} {JOB}", "36 fields"),
        (f"{JOB}\x00", "control characters"),
    ],
)
def test_strict_reading_raises_at_the_first_wrong_line(line: str, reason: str, tmp_path: Path) -> None:
    """One error that names file, line, field and remedy."""
    path = tmp_path / "log.swf"
    path.write_text(f"; Version: 2.2\n{JOB}\n\n{line}\nalso bad\n")
    with pytest.raises(SwfFormatError, match=rf"log\.swf, line 4: {reason}.*; mend the line, or read without strict"):
        read_swf(path, strict=True)
    with pytest.raises(SwfFormatError, match=rf"log\.swf, line 4: {reason}"):
        list(iter_swf(path, strict=True, chunk_bytes=10))
    assert 2 == len(read_swf(path).quarantine)


def test_strict_reading_of_a_sound_log() -> None:
    """Comments, blank lines and jobs are no reason to raise."""
    assert 2 == len(read(f"; x\n\n{JOB}\n\t{JOB} 19\r\n", strict=True))


@pytest.mark.parametrize("count", [20_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_many_wrong_lines(count: int) -> None:
    """Two hundred thousand of them are put aside as easily as one."""
    trace = read(f"{JOB}\n" + "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 x\n" * count)
    assert (1, count) == (len(trace), len(trace.quarantine))
    assert count + 1 == trace.quarantine["line_number"].iloc[-1]


def test_a_bomb_of_tiny_lines_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """More lines than any log has end in an error, not in the memory of the machine."""
    assert MOST_LINES * 8 <= 1 << 31
    monkeypatch.setattr("swftools.formats.swf.block.MOST_LINES", 1000)
    with pytest.raises(SwfFormatError, match="<stream>: 1,001 lines are more than can be read at once"):
        read("\n" * 1001)
    monkeypatch.undo()
    with pytest.raises(SwfFormatError, match=r"4,194,305 of 4,194,306 lines are comments or not jobs"):
        read(";\n" * (MOST_COMMENTS + 1) + "\n")


def test_pieces_have_a_size() -> None:
    """``chunk_bytes`` is at least 1."""
    for size in (0, -1):
        with pytest.raises(ParameterError, match=f"chunk_bytes={size}: at least 1"):
            list(iter_swf(io.BytesIO(b""), chunk_bytes=size))


def test_a_block_in_the_middle_of_a_log_has_no_byte_order_mark() -> None:
    """Only the first line of a file may begin with one."""
    block = read_block(f"\ufeff{JOB}\n".encode(), "x", 5, strict=False, utility=None)
    assert [5] == block.quarantine["line_number"].tolist()
