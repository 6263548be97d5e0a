# SPDX-License-Identifier: BSD-3-Clause
"""Which job of a trace waits for which: drawn by hand, and as plain loops find it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace, clean
from swftools.dependencies import (
    ABSENT,
    CIRCLE,
    ITSELF,
    LATER,
    SEVERAL,
    find_dependencies,
    latest_of,
    logged_ends,
    ready_times,
)
from swftools.fields.definition import INTEGERS
from tests.drawn import draw_trace
from tests.naive.dependencies import eligible, read_nodes

WORDS = {"itself": ITSELF, "there": ABSENT, "later": LATER, "circle": CIRCLE}


def waits(trace: Trace) -> list[tuple[int, int, float]]:
    """Return the row that waits, the one that it waits for, and the think time, of each pair."""
    found = find_dependencies(trace)
    return list(zip(found.waiting.tolist(), found.before.tolist(), found.think_time.tolist(), strict=True))


def with_several(trace: Trace, several: Sequence[list[int] | None]) -> Trace:
    """Return a trace of which jobs wait for several others."""
    lists = pd.array(several, dtype=pd.ArrowDtype(INTEGERS))
    return trace.with_jobs(trace.jobs.assign(**{SEVERAL: lists}))


CASES = {
    "one waits, with a think time": ("job submit after think / 1 0 . . / 2 5 1 7", [(1, 0, 7.0)], {}),
    "a chain, submitted together": ("job submit after / 1 0 . / 2 0 1 / 3 0 2", [(1, 0, 0.0), (2, 1, 0.0)], {}),
    "the one before has a larger number": ("job submit after / 9 0 . / 2 0 9", [(1, 0, 0.0)], {}),
    "think time alone": ("job submit after think / 1 0 . 3 / 2 5 . 7", [], {}),
    "itself, none, later": (
        "job submit after / 1 0 1 / 2 5 7 / 3 6 4 / 4 8 0",
        [],
        {ITSELF: 1, ABSENT: 2, LATER: 1},
    ),
    "two, and three, in a circle; who waits for them does": (
        "job submit after / 1 0 2 / 2 0 1 / 3 0 5 / 4 0 3 / 5 0 4 / 6 0 4 / 7 1 2",
        [(5, 3, 0.0), (6, 1, 0.0)],
        {CIRCLE: 5},
    ),
    "a number that repeats: the last submitted before": (
        "job submit after / 1 0 . / 1 5 . / 2 5 1 / 1 9 . / 3 7 1 / 4 9 1",
        [(2, 1, 0.0), (4, 1, 0.0), (5, 3, 0.0)],
        {},
    ),
    "a number that repeats: none submitted before": ("job submit after / 2 0 1 / 1 5 . / 1 9 .", [], {LATER: 1}),
    "a number that repeats is no other job": ("job submit after / 1 0 . / 1 5 1", [], {ITSELF: 1}),
    "all but one name the same": ("job submit after / 1 0 . / 2 5 1 / 3 6 1", [(1, 0, 0.0), (2, 0, 0.0)], {}),
    "not in order": ("job submit after / 3 9 1 / 1 0 . / 2 5 1", [(0, 1, 0.0), (2, 1, 0.0)], {}),
    "no submission": ("job submit after / 1 . . / 2 5 1", [(1, 0, 0.0)], {}),
}


@pytest.mark.parametrize(("table", "pairs", "left_out"), CASES.values(), ids=CASES)
def test_drawn_by_hand(table: str, pairs: list[tuple[int, int, float]], left_out: dict[str, int]) -> None:
    """Who waits for whom; what means nothing is counted by why."""
    trace = draw_trace(table.replace(" / ", "\n"))
    assert waits(trace) == pairs
    assert find_dependencies(trace).left_out == left_out


@pytest.mark.parametrize("number", [1, 0, 77])
def test_dummy(number: int) -> None:
    """One number in all rows says nothing, whether there is such a job or not; in the one row of a trace it does."""
    trace = draw_trace(f"job submit after think\n1 0 {number} 1\n2 5 {number} 1\n3 6 {number} 1")
    found = find_dependencies(trace)
    assert (found.dummy, len(found.waiting), found.left_out) == (number, 0, {})
    assert find_dependencies(draw_trace("job submit after\n5 0 1")).dummy is None


def test_several() -> None:
    """A job waits for all of a list, and once for what both columns name."""
    trace = draw_trace("job submit after think\n1 0 . .\n2 0 . .\n3 5 2 4\n4 6 . 3")
    trace = with_several(trace, [None, None, [2, 1], [3, 9, 1]])
    assert waits(trace) == [(2, 0, 4.0), (2, 1, 4.0), (3, 0, 3.0), (3, 2, 3.0)]
    assert find_dependencies(trace).left_out == {ABSENT: 1}
    plain = trace.with_jobs(trace.jobs.assign(**{SEVERAL: [None, None, [2, 1], [3, 9, 1]]}))
    assert waits(plain) == waits(trace)


def test_listed_ones_may_be_submitted_later() -> None:
    """As tasks of workflows may: a list is believed, unless it leads in a circle; field 17 alone is not."""
    trace = draw_trace("job submit after\n1 0 3\n2 1 3\n3 5 .\n4 6 .\n5 7 .")
    trace = with_several(trace, [None, [3], None, [5], [4, 3]])
    assert waits(trace) == [(1, 2, 0.0), (4, 2, 0.0)]
    assert find_dependencies(trace).left_out == {LATER: 1, CIRCLE: 2}


def test_ready_times() -> None:
    """The submission, or the last end and the think time, if that is later; an end that is unknown keeps nobody."""
    trace = with_several(
        draw_trace("job submit after think\n1 0 . .\n2 1 . .\n3 5 . 4\n4 90 1 3\n5 7 2 6"),
        [None, None, [1, 2], None, None],
    )
    ready = ready_times(find_dependencies(trace), trace.views.submit_time, np.array([30.0, np.nan, 50.0, 99.0, 9.0]))
    assert ready.tolist() == [0.0, 1.0, 34.0, 90.0, 7.0]
    assert latest_of(2, np.empty(0, np.int64), np.empty(0)).tolist() == [0.0, 0.0]


def test_put_aside_by_cleaning() -> None:
    """Whoever waits for a job that cleaning took away waits for its logged end; if that is not known, for nothing."""
    table = """job submit wait run width user after think
        1 0 10 30 1 7 . .
        2 1  5  . 1 7 . .
        3 5  9 80 1 8 1 4
        4 5  9  1 1 8 2 4"""
    rule = {"rule": "flurries", "ranges": [{"user": 7, "first_job": 1, "last_job": 2}]}
    cleaned, _ = clean(draw_trace(table), [rule])
    found = find_dependencies(cleaned)
    assert found.gone.tolist() == [0]
    assert (found.gone_end.tolist(), found.gone_think_time.tolist()) == ([40.0], [4.0])
    assert found.left_out == {ABSENT: 1}
    assert ready_times(found, cleaned.views.submit_time, logged_ends(cleaned)).tolist() == [44.0, 5.0]


@pytest.mark.parametrize("what", ["times since 1970", "numbers of our own", "no line of SWF", "never started"])
def test_put_aside_when_nobody_knows(what: str) -> None:
    """Times that count from elsewhere, numbers that are not those of the text, other text: then nobody waits for it."""
    trace = draw_trace("job submit wait run after\n3 5 9 80 1")
    text = {
        "times since 1970": "1 1700000000 10 30",
        "no line of SWF": "1|0|10|30",
        "never started": "1 0 10 -1",
    }.get(what, "1 0 10 30")
    aside = pd.DataFrame({"line_number": [1], "rule": ["mine"], "reason": ["no"], "text": [text]})
    trace = trace.with_jobs(trace.jobs.assign(log_id="x") if what == "numbers of our own" else trace.jobs, aside)
    found = find_dependencies(trace)
    assert (len(found.gone), found.left_out) == (0, {ABSENT: 1})
    read = trace.with_jobs(trace.jobs, aside.assign(rule="read", text="1 0 10 30"))
    assert len(find_dependencies(read).gone) == 0, "what could not be read was no job"


_numbers = st.integers(1, 6)
_jobs = st.lists(
    st.tuples(
        _numbers,
        st.integers(0, 3),
        st.none() | _numbers,
        st.none() | st.lists(_numbers, min_size=2, max_size=4, unique=True),
    ),
    min_size=1,
    max_size=9,
)


@given(jobs=_jobs, unique=st.booleans(), several=st.booleans())
def test_twin(jobs: list[tuple[int, int, int | None, list[int] | None]], unique: bool, several: bool) -> None:
    """Plain loops find the same pairs, the same that mean nothing, and the same times."""
    trace = Trace.from_columns(
        job_number=[place if unique else job[0] for place, job in enumerate(jobs, 1)],
        submit_time=[job[1] for job in jobs],
        wait_time=[place % 3 - 1 for place in range(len(jobs))],
        run_time=[5] * len(jobs),
        preceding_job_number=[-1 if job[2] is None or (several and job[3]) else job[2] for job in jobs],
        think_time=[place % 4 - 1 for place in range(len(jobs))],
    )
    if several:
        trace = with_several(trace, [job[3] for job in jobs])
    nodes, lost = read_nodes(trace)
    found = find_dependencies(trace)
    if found.dummy is not None and several and any(job[3] for job in jobs):
        return  # lists beside a dummy: no log has such
    pairs = sorted({(node.row, other.row, node.think) for node in nodes for other in node.waits_for})
    assert sorted(waits(trace)) == pairs
    assert found.left_out == {WORDS[word]: count for word, count in lost.items() if count}
    ready = ready_times(found, trace.views.submit_time, logged_ends(trace))
    assert ready.tolist() == [eligible(node, {}) for node in nodes]
