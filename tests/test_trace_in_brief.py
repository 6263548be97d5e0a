# SPDX-License-Identifier: BSD-3-Clause
"""What a trace prints, and what a notebook shows of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from swftools import SwfHeader, Trace, describe, offered_load
from swftools.fields.dictionary import SWF_NAMES
from swftools.output.shown_html import _width
from tests.examples import examples
from tests.strategies import traces

HEADER = SwfHeader.from_lines(["; UnixStartTime: 956527200", "; MaxProcs: 4", "; Queue: 2 <i>night</i>"])

COLUMNS = {
    "job_number": [1, 2, 3],
    "submit_time": [0, 60, 200_000],
    "wait_time": [5, 0, 0],
    "run_time": [100, 50, -1],
    "allocated_processors": [2, -1, 0],
    "requested_processors": [3, 1, 4],
    "requested_time": [100, 50, 50],
    "user_id": [7, 8, 7],
    "queue_id": [2, 9, -1],
}


def named(trace: Trace, *rows: tuple[str, int, str]) -> Trace:
    """Return a trace with names behind numbers."""
    return replace(trace, names=pd.DataFrame(rows, columns=["kind", "number", "name"]))


def test_three_lines() -> None:
    """Name, jobs and dates; machine, users, load; what is missing, most first."""
    trace = replace(Trace.from_columns(HEADER, **COLUMNS), provenance={"name": "night.swf"})
    assert repr(trace) == (
        "Trace: night.swf, 3 jobs, 2000-04-23 to 2000-04-26\n"
        "machine 4 processors, 2 users, load 0.00\n"
        "missing: average_cpu_time 100 %, used_memory 100 %, requested_memory 100 %, status 100 %, ..."
    )
    page = trace._repr_html_()
    assert "think_time 100 %, run_time 33 %, allocated_processors 33 %, queue_id 33 %</p>" in page
    assert page.count("<tr>") == 4
    assert '<td style="text-align: left">2 &lt;i&gt;night&lt;/i&gt;</td>' in page
    assert '<td style="text-align: left">9</td>' in page


def test_without_a_header() -> None:
    """A length instead of dates, a machine of unknown size; nothing missing is said."""
    columns = {name: [1, 2] for name in SWF_NAMES}
    trace = Trace.from_columns(**{**columns, "submit_time": [0, 7200]})
    assert repr(trace) == "Trace: 2 jobs, over 2 h\nmachine of unknown size, 2 users\nmissing: nothing"


def test_no_job_and_one() -> None:
    """Neither has a load; a log without jobs lacks nothing."""
    assert repr(Trace.from_columns()) == "Trace: no jobs\nmachine of unknown size, no users\nmissing: nothing"
    assert "<table>" not in Trace.from_columns()._repr_html_()
    one = Trace.from_columns(machine_processors=1, job_number=[1], submit_time=[5], user_id=[3])
    assert repr(one).split("\n")[:2] == ["Trace: 1 job, over 0 s", "machine 1 processor, 1 user"]
    assert one._repr_html_().count("<tr>") == 2


def test_the_load() -> None:
    """Allocated processors count where they are known and positive, else requested ones: 200 + 50 + 100 of 400."""
    columns = {**COLUMNS, "submit_time": [0, 60, 100], "run_time": [100, 50, 25]}
    assert ", load 0.88\n" in repr(Trace.from_columns(HEADER, **columns))


def test_quarantined_lines_are_told() -> None:
    """Lines that are no jobs are missing too."""
    trace = Trace.from_columns(**COLUMNS)
    lines = pd.DataFrame({"line_number": [1], "rule": ["parse"], "reason": ["x"], "text": ["y"]})
    assert "2 users, 1 line quarantined" in repr(replace(trace, quarantine=lines))


def test_hostile_names() -> None:
    """Names of logs, machines, users and queues are text, on a terminal and on a page."""
    evil = "<script>alert(1)</script>\u202e\x1b[2J\nTrace: forged"
    trace = named(Trace.from_columns(**COLUMNS), ("user", 7, evil), ("queue", 2, evil), ("group", 8, "other"))
    trace = replace(trace, provenance={"name": evil})
    assert len(repr(trace).split("\n")) == 3
    assert repr(trace).startswith("Trace: <script>alert(1)</script>\\u202e\\x1b[2..., 3 jobs")
    page = trace._repr_html_()
    assert "<script" not in page
    assert not {"\u202e", "\x1b", "\n"} & set(page)
    assert ">7 &lt;script&gt;alert(1)&lt;/script&gt;\\u202e\\x1b[2J\\nTrace: forged</td>" in page
    assert ">8</td>" in page  # that is a user, not the group
    machine = Trace.from_columns(SwfHeader.from_lines(["; Computer: SP2\u202e"]), **COLUMNS)
    assert repr(machine).startswith("Trace: SP2\\u202e, 3 jobs")


@examples(0.5)
@given(traces())
def test_every_trace_fits(trace: Trace) -> None:
    """Three lines of at most 100 columns; load and users are those that others find."""
    lines = repr(trace).split("\n")
    assert len(lines) == 3
    assert max(map(_width, lines)) <= 100
    load, users = offered_load(trace), describe(trace)["users"]
    assert (f"load {load:.2f}" in lines[1]) if load is not None else "load" not in lines[1]
    assert (f"{users:,} user" if users else "no users") in lines[1]
    assert trace._repr_html_().count("</tr>") == (1 + min(5, len(trace)) if len(trace) else 0)


@pytest.mark.parametrize("users", [[10**12, 5, 5], [0, 1, 0], [-7, 5, -7]])
def test_users_far_apart(users: list[int]) -> None:
    """Counted as well as those that stand close, also from 0 on and below."""
    assert "2 users" in repr(Trace.from_columns(job_number=[1, 2, 3], user_id=users))


def test_values_that_others_refuse() -> None:
    """Infinite times, dates beyond the calendar and columns of words are shown, not raised at."""
    jobs = Trace.from_columns(HEADER, **COLUMNS).jobs
    odd = jobs.assign(submit_time=[0.0, np.inf, 1e300], run_time=np.inf, user_id=["a", "7", None])
    assert repr(Trace(HEADER, odd)).startswith("Trace: 3 jobs, over 1.16e+295 d\n")
    assert "2 users" in repr(Trace(HEADER, odd))
    Trace(HEADER, odd)._repr_html_()


def test_describe_is_the_function() -> None:
    """What the console prints."""
    trace = Trace.from_columns(HEADER, **COLUMNS)
    assert trace.describe() == describe(trace)


def test_looking_leaves_nothing_behind() -> None:
    """The arrays for simulating are not made by it."""
    trace = Trace.from_columns(HEADER, **COLUMNS)
    repr(trace), trace._repr_html_()
    assert "arrays" not in vars(trace)
