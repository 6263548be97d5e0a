# SPDX-License-Identifier: BSD-3-Clause
"""Numbers at the limits of what the compiled scanner reads itself: to the last bit, or left to the judge."""

from __future__ import annotations

import hashlib
import io

import pytest

from swftools import read_swf
from swftools.errors import SwfFormatError
from swftools.formats.swf.kernel import count_lines


def line(number: str, run_time: str) -> bytes:
    """Return a job with a number and a run time."""
    return f"{number} 0 5 {run_time} 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n".encode()


@pytest.mark.parametrize(
    "number", ["999999999999999999", "1000000000000000001", "9223372036854774783", "000000000000000000000000007"]
)
def test_long_identifiers_are_exact(number: str) -> None:
    """Of 18 digits and more, which a float64 does not hold."""
    assert [int(number)] == read_swf(io.BytesIO(line(number, "60"))).jobs["job_number"].tolist()


@pytest.mark.parametrize(
    "number", ["9223372036854775808", "9999999999999999999", "18446744073709551617", "1" + "0" * 38]
)
def test_identifiers_beyond_64_bits_are_damage(number: str) -> None:
    """None comes out as what is left of it when it has overflowed."""
    trace = read_swf(io.BytesIO(line(number, "60")))
    assert 0 == len(trace.jobs)
    assert "is beyond" in trace.quarantine["reason"].item()


@pytest.mark.parametrize(
    "word",
    [
        "9007199254.740993",
        "0.900719925474099301",
        "90071992.54740993010",
        "1.23456789012345678",
        "123456.789012345678",
        "0.100000000000000005",
        "2.22044604925031308",
        "0.000000000000000001",
        "9999999999.99999999",
    ],
)
def test_long_decimals_are_exact(word: str) -> None:
    """Mantissas beyond 2**53 among them: the same float64 as Python's."""
    assert [float(word)] == read_swf(io.BytesIO(line("1", word))).jobs["run_time"].tolist()


@pytest.mark.parametrize("text", [b"", b"\n", b"a", b"a\n", b"a\nb", b"\n\n", b"x" * 300 + b"\n" * 300 + b"y"])
def test_lines_are_counted(text: bytes) -> None:
    """Also the last one, if it lacks its newline."""
    assert len(text.splitlines()) == count_lines(text)


def test_the_hash_is_that_of_the_text_also_of_a_large_one() -> None:
    """It is made beside the scanning, and a refused text ends both."""
    text = line("1", "60") * 50_000
    assert hashlib.sha256(text).hexdigest() == read_swf(io.BytesIO(text)).provenance["sha256"]
    with pytest.raises(SwfFormatError, match="line 50001"):
        read_swf(io.BytesIO(text + b"no job\n"), strict=True)
