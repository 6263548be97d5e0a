# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of headers: read, or told and missing, never guessed at."""

from __future__ import annotations

import io

import pytest

from swftools import read_swf
from swftools.header import NUMBERS, SwfHeader, whole_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("843480031", 843480031),
        ("843,480,031", 843480031),
        ("1,024 (8 x 128)", 1024),
        ("1e9", 10**9),
        ("8.43480031e8", 843480031),
        ("12.0", 12),
        ("-28800", -28800),
        ("+7", 7),
        (" 338 (batch partition; 512 total)", 338),
        ("184(6, 171, 7)", 184),
        ("128; of which 8 are for tests", 128),
        ("64\nof two kinds", 64),
        ("9" * 18, 10**18 - 1),
        *((text, None) for text in ("12abc", "1e", "12,34", "1,2,3", "1,", "0.5", "1e-3", "0x10", "--1")),
        *(
            (text, None)
            for text in ("", "many", "9" * 19, "1e99", "12/2", "12-14", "1:30", "1" * 5000, "1_000", "\u0661")
        ),
    ],
)
def test_the_rule(text: str, value: int | None) -> None:
    """One for all labels."""
    assert whole_number(text) == value


@pytest.mark.parametrize("label", NUMBERS)
def test_what_cannot_be_read_is_told(label: str) -> None:
    """The value is missing, and the log says why."""
    text = f"; {label}: 12abc\n1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n"
    trace = read_swf(io.BytesIO(text.encode()))
    assert trace.header.integer(label) is None
    assert trace.header.unread == (label,)
    assert trace.provenance["anomalies"] == {f"{label} in the header is no number: taken for missing": 1}
    sound = read_swf(io.BytesIO(text.replace("12abc", "12 abc").encode()))
    assert sound.header.integer(label) == 12
    assert "anomalies" not in sound.provenance


def test_a_number_that_is_not_known() -> None:
    """An empty entry and -1 say that, and nothing is odd in it."""
    header = SwfHeader.from_lines(["; MaxProcs: -1", "; MaxNodes:"])
    assert (header.max_procs, header.max_nodes, header.unread) == (None, None, ())


def test_zeros_in_a_comment() -> None:
    """It is damaged: no queue has a name with a byte of zero in it."""
    trace = read_swf(io.BytesIO(b"; Queue: 1 a\0b\n; Queue: 2 c\n1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n"))
    assert trace.header.queues == {2: "c"}
    assert (len(trace), len(trace.quarantine)) == (1, 0)
