# SPDX-License-Identifier: BSD-3-Clause
"""Hypothesis strategies that tests share: traces, headers, utility functions, and the text of logs.

Whatever they draw is legal unless the name says otherwise, and they lean towards what real logs have: missing
values, odd statuses, equal submit times, identifiers that a float64 does not hold.

To make a strategy takes longer than to draw from it; so those that ``draw`` is given are made once.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import strategies as st

from swftools.fields.definition import INT64, UTILITY
from swftools.fields.dictionary import SWF_FIELDS
from swftools.header import KNOWN_LABELS, HeaderEntry, SwfHeader
from swftools.trace import Trace


@lru_cache(maxsize=None, typed=True)
def choices(*values: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for one of some values, the same one whenever it is asked for these."""
    return st.sampled_from(values)


# ---------------------------------------------------------------- headers

_LOOKS_LABELLED = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\s*:")

header_words = (
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=12).map(str.strip)
    | st.sampled_from(["128", "1664 (72, 1368, 224)", "-1", "http://x.org/a:b", "a: b", ";", ":", "Ünïcode", "a  b\tc"])
)  # fmt: skip
"""One line of a header entry: any text without line ends, and without blanks at its ends."""

labels = st.sampled_from(sorted(KNOWN_LABELS)) | st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,9}", fullmatch=True)
"""Labels of SWF, and others that look like one."""


def _is_continuation(line: str) -> bool:
    label = _LOOKS_LABELLED.match(line)
    return bool(line) and not (label and label[0].rstrip(": \t") in KNOWN_LABELS)


_continuations = st.lists(header_words.filter(_is_continuation), max_size=2)


@st.composite
def header_entries(draw: st.DrawFn) -> HeaderEntry:
    """Draw a labelled entry, of several lines now and then, or a free comment."""
    first = draw(header_words)
    if draw(st.integers(0, 4)):
        rest = draw(_continuations)
        return HeaderEntry(draw(labels), "\n".join([first, *rest]))
    return HeaderEntry(None, "free comment" if _LOOKS_LABELLED.match(first) else first)


_some_entries = st.lists(header_entries(), max_size=6)


@st.composite
def headers(draw: st.DrawFn) -> SwfHeader:
    """Draw a header: up to six entries, labels of SWF, repeated and unknown ones, and free comments."""
    return SwfHeader(tuple(draw(_some_entries)))


# ---------------------------------------------------------------- traces


@cache
def swf_values(name: str) -> st.SearchStrategy[Any]:
    """Return a strategy for the values of an SWF field, None (missing) among them."""
    field = next(field for field in SWF_FIELDS if field.name == name)
    most = int(field.maximum or 0)
    if name == "status":
        known = st.integers(0, 5) | st.sampled_from([2, 3, 4, 6, 99, -2, -7]) | st.integers(-most, most)
        return st.none() | known.filter(lambda status: status != -1)
    if field.type == INT64:
        return st.none() | st.integers(0, 200) | st.integers(0, most) | st.just(most)
    seconds = st.integers(0, 100_000).map(float) | st.sampled_from([0.5, 0.01, 1 / 3, 1e-7, 5e-324])
    return st.none() | seconds | st.floats(0, field.maximum)


@cache
def lists_of(values: st.SearchStrategy[Any], count: int) -> st.SearchStrategy[list[Any]]:
    """Return a strategy for so many values."""
    return st.lists(values, min_size=count, max_size=count)


@st.composite
def utility_points(draw: st.DrawFn) -> list[dict[str, float]]:
    """Draw the points of a utility function: times rising from 0, values falling to no less than 0."""
    count = draw(st.integers(2, 5))
    times = draw(st.lists(st.floats(1e-300, 1e12), min_size=count - 1, max_size=count - 1, unique=True))
    values = draw(st.lists(st.floats(0, 1e300), min_size=count, max_size=count))
    points = zip([0.0, *sorted(times)], sorted(values, reverse=True), strict=True)
    return [{"time": time, "value": value} for time, value in points]


extra_texts = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], min_codepoint=33), min_size=1, max_size=5), min_size=1, max_size=14
).flatmap(lambda words: st.sampled_from([" ", "\t", "  \t "]).map(lambda blank: blank.join(words)))
"""Text behind the 18th field: 1 to 14 words."""


_any_header = headers()
_kinds = st.sampled_from(["plain", "extras", "utility"])
_maybe_points = st.none() | utility_points()
_maybe_texts = st.none() | extra_texts


@st.composite
def traces(draw: st.DrawFn, *, max_jobs: int = 6, extras: bool = True, utility: bool = True) -> Trace:
    """Draw a small trace with any values that SWF can say.

    Parameters
    ----------
    max_jobs : int
        Most jobs; none now and then.
    extras : bool
        Whether some traces have a column ``extra_fields``; then at least one job has text there.
    utility : bool
        Whether some traces have a column ``utility``, null in some jobs.
    """
    count = draw(st.integers(0, max_jobs))
    columns = {field.name: draw(lists_of(swf_values(field.name), count)) for field in SWF_FIELDS}
    trace = Trace.from_columns(draw(_any_header), **columns)
    kind = draw(_kinds)
    if kind == "utility" and utility:
        functions = draw(lists_of(_maybe_points, count))
        column = pa.chunked_array([pa.array(functions, UTILITY)])
        return trace.with_jobs(trace.jobs.assign(utility=pd.Series(pd.arrays.ArrowExtensionArray(column))))
    if kind == "extras" and extras and count:
        texts = draw(lists_of(_maybe_texts, count - 1))
        texts.insert(draw(st.integers(0, count - 1)), draw(extra_texts))
        return trace.with_jobs(trace.jobs.assign(extra_fields=pd.Series(texts, dtype="str")))
    return trace


# ---------------------------------------------------------------- the text of logs, odd and damaged lines included

_NUMBERS = """
0 1 -1 2 7 128 99999 00012 -0 -0.0 -1.0 -1.00 +1 +5 -7 .5 5. . - + 1. 4.0 4.5 0.01 1e3 1E3 1e+3 1e-3 5e 1e999 1e-999
1e12345 1_000 0x10 NaN nan inf -inf 9007199254740993 9007199254740993.0 9223372036854774784 9223372036854774785
9223372036854775807 9223372036854775808 99999999999999999999 123456789012345678 1234567890123456789 2147483647
2147483648 10000000000 10000000001 10000000000.0000001 0.1234567890123456789 12345678.901234567 1,5 --1 1- 1.2.3 a ;
"""
number_words = (
    st.sampled_from([*_NUMBERS.split(), "\u0663", "\uff11", "\x00", "\x7f", "\xa0", "3\u2003"]).map(str.encode)
    | st.floats(-2, 1e11).map(lambda value: repr(value).encode())
    | st.integers(0, 10**19).map(lambda value: str(value).encode())
    | st.from_regex(rb"[-+]?[0-9]{0,12}\.[0-9]{0,8}", fullmatch=True)
)
"""Words that are numbers, nearly numbers, or none at all."""

usual_words = st.integers(0, 99_999).map(lambda value: str(value).encode()) | st.just(b"-1")

blanks = st.sampled_from([b" ", b"  ", b"\t", b" \t "])

line_ends = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\r\r\n"])


_counts = st.sampled_from([18] * 8 + [17, 19, 22, 28, 32, 33, 36, 1])
_before_words = st.sampled_from([b"", b"", b" ", b"\t"])
_behind_words = st.sampled_from([b"", b" ", b"\t"])


@cache
def _places(count: int) -> st.SearchStrategy[list[int]]:
    """Return a strategy for none to two of so many places."""
    return st.lists(st.integers(0, count - 1), max_size=2)


@st.composite
def job_lines(draw: st.DrawFn) -> bytes:
    """Draw a line of about 18 fields, most of them usual, without its end."""
    count = draw(_counts)
    words = draw(lists_of(usual_words, count))
    for place in draw(_places(count)):
        words[place] = draw(number_words)
    blank = draw(blanks)
    return draw(_before_words) + blank.join(words) + draw(_behind_words)


comment_lines = st.sampled_from(
    [
        *(b"; Version: 2.2", b";Version: 2", b";", b" ; Note: x", b";   continued", b"; MaxProcs: 1664 (72, 1368)"),
        *(
            b"; caf\xe9",
            "; Gr\u00fc\u00dfe: 1".encode(),
            b"; nul \x00",
            b"; a\rb",
            b";;; Title",
            b"\t;tab",
            b"; http://x/",
        ),
    ]
)

odd_lines = st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"")) | st.sampled_from(
    [b"", b"   ", b"\t", b"\r", b"\x1a", b"\x0c", b"\xef\xbb\xbf", b"# 1 2 3", b"1\xff\xfe\x00"]
)


_any_lines = st.one_of(job_lines(), job_lines(), comment_lines, odd_lines)
_marks = st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf"])


@st.composite
def log_texts(draw: st.DrawFn, *, max_lines: int = 8) -> bytes:
    """Draw the text of a log: jobs, comments, odd lines; any line end; now and then a BOM or no last newline.

    It never begins like a compressed file or like UTF-16.
    """
    text = b"".join(draw(_any_lines) + draw(line_ends) for _ in range(draw(st.integers(0, max_lines))))
    if text.startswith(
        (b"\x1f\x8b", b"\x1f\x9d", b"\xff\xfe", b"\xfe\xff", b"BZh", b"PK", b"PAR1", b"7z", b"\x28\xb5")
    ):
        text = b"\n" + text
    text = draw(_marks) + text
    return text.rstrip(b"\r\n") if draw(st.booleans()) else text


# ---------------------------------------------------------------- workloads for the simulator


@cache
def _whole(most: int, least: int = 0) -> st.SearchStrategy[int]:
    """Return a strategy for whole numbers."""
    return st.integers(least, most)


_maybe_requests = st.none() | st.integers(0, 12).map(float)
_maybe_users = st.none() | st.integers(1, 3)
_maybe_ranks = st.none() | st.integers(0, 3)


@st.composite
def workloads(draw: st.DrawFn, *, max_jobs: int = 12, processors: int = 6) -> Trace:
    """Draw a few jobs that crowd a small machine: equal submissions, run times of 0, requests under and over them."""
    count = draw(st.integers(0, max_jobs))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(lists_of(values, count))

    trace = Trace.from_columns(
        machine_processors=processors,
        job_number=column(_whole(count + 1, 1)),
        submit_time=[float(time) for time in column(_whole(12))],
        run_time=[float(time) for time in column(_whole(9))],
        requested_time=column(_maybe_requests),
        allocated_processors=column(_whole(processors, 1)),
        user_id=column(_maybe_users),
    )
    ranks = pd.array(column(_maybe_ranks), dtype="Int64")
    return trace.with_jobs(trace.jobs.assign(priority_rank=ranks))


def crowded_trace(jobs: int = 300, processors: int = 16, *, seed: int = 0) -> Trace:
    """Return jobs that keep a machine busy: more work than it can do until the last is submitted, in bursts."""
    rng = np.random.default_rng(seed)
    run = np.maximum(np.round(rng.lognormal(4, 1.5, jobs)), 0)
    width = np.minimum(rng.choice([1, 1, 2, 3, 5, 7, 9, 11, processors], jobs), processors)
    gaps = np.where(rng.random(jobs) < 0.3, 0.0, rng.exponential(1.0, jobs))
    submit = np.floor(np.cumsum(gaps) / (gaps.sum() or 1.0) * (run * width).sum() / processors / 3)
    request = np.where(rng.random(jobs) < 0.2, run, np.ceil(run * rng.uniform(0.7, 6, jobs)))
    trace = Trace.from_columns(
        machine_processors=processors,
        job_number=list(range(1, jobs + 1)),
        submit_time=submit.tolist(),
        run_time=run.tolist(),
        requested_time=[None if odd else time for odd, time in zip(rng.random(jobs) < 0.05, request, strict=True)],
        allocated_processors=width.tolist(),
        user_id=rng.integers(1, 9, jobs).tolist(),
        queue_id=rng.integers(0, 5, jobs).tolist(),
    )
    ranks = pd.array(rng.integers(0, 5, jobs), dtype="Int64")
    ranks[rng.random(jobs) < 0.1] = pd.NA
    return trace.with_jobs(trace.jobs.assign(priority_rank=ranks))
