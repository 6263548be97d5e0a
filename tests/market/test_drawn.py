# SPDX-License-Identifier: BSD-3-Clause
"""Prices by hand, on a machine of four processors."""

from __future__ import annotations

from dataclasses import replace

import pytest

import swftools
from swftools import Trace
from swftools.header import SwfHeader
from tests.drawn import draw_trace
from tests.market.crowds import with_utility

# A runs 0 to 10 and holds all; B waits for it until 10, C comes while A runs, D when B is over.
JOBS = """
    job submit run width request queue user
    A   0      10  4     10      1     7
    B   1      5   4     5       2     8
    C   2      5   2     5       3     7
    D   20     4   1     4       9     .
"""
LINE = [(0, 100), (100, 0)]
"""One a second is lost."""


def trace_of(functions: list[list[tuple[float, float]]] | None = None) -> Trace:
    """Return the jobs, each with a function."""
    trace = draw_trace(JOBS, processors=4, header="Queue: 1 high\nQueue: 2 express\nQueue: 3 low")
    return with_utility(trace, functions or [LINE] * 4)


def priced(mechanism: str, trace: Trace | None = None, policy: str = "fcfs", **options: object) -> list[float]:
    """Return the prices of the jobs."""
    trace = trace or trace_of()
    return swftools.price(swftools.simulate(trace, policy), mechanism, trace=trace, **options).jobs["price"].tolist()


def test_fixed_is_by_hours_that_were_run() -> None:
    """A runs 10 s on 4 processors; requests that are longer change nothing."""
    assert priced("fixed:rate=3600") == [40, 20, 10, 4]
    trace = draw_trace(JOBS.replace("10      1", "99      1"), processors=4)
    assert priced("fixed:rate=3600", trace)[0] == 40


def test_queues_by_their_names() -> None:
    """High costs twice, express 1.7 times, low half as much; 9 is no name, and as normal."""
    assert priced("queue:rate=3600") == [80, 34, 5, 4]
    assert priced("queue:rate=3600,multiples.high=3,others=10") == [120, 34, 5, 40]
    assert priced("queue:rate=3600,multiples.9=6") == [80, 34, 5, 24]
    assert priced("queue:rate=3600,queues.9=high") == [80, 34, 5, 8]


def test_queues_that_nobody_names() -> None:
    """Without the trace there is nothing but the parameters."""
    prices = swftools.price(swftools.simulate(trace_of(), "fcfs"), "queue:rate=3600,multiples.2=7")
    assert prices.jobs["price"].tolist() == [40, 140, 10, 4]
    none = trace_of()
    none = replace(none, header=SwfHeader(()), machine_processors=4)
    assert priced("queue:rate=3600", none) == [40, 20, 10, 4]


def test_first_price_is_the_utility_got() -> None:
    """A ends after 10 s, B after 14, C, behind B, after 18, D after 4."""
    assert priced("first-price") == pytest.approx([90, 86, 82, 96])


def test_vcg_is_what_others_lost() -> None:
    """Without A, B and C begin 9 s earlier; without B, C begins 5 s earlier; D harms nobody."""
    assert priced("vcg") == pytest.approx([18, 5, 0, 0])


def test_vcg_counts_who_came_while_the_job_waited() -> None:
    """B waits from 1 to 10, C comes at 2, before B runs: it is among the others."""
    trace = trace_of([[(0, 0), (1, 0)], LINE, LINE, LINE])
    assert priced("vcg", trace)[1] == pytest.approx(5)


def test_vcg_counts_who_came_until_the_horizon() -> None:
    """A ends at 10. E comes at 11, when B and C still keep it waiting; it counts from a horizon of 1 s on.

    Without A, B is over at 6, C at 11: E begins at its submission instead of 20.
    """
    trace = draw_trace(
        """
        job submit run width request
        A   0      10  4     10
        B   1      5   4     5
        C   2      5   4     5
        E   11     5   4     5
        """,
        processors=4,
    )
    trace = with_utility(trace, [LINE] * 4)
    assert priced("vcg", trace)[0] == pytest.approx(18)
    assert priced("vcg:horizon=0.5s", trace)[0] == pytest.approx(18)
    for horizon in ("1s", "24h", "1d", "2min"):
        assert priced(f"vcg:horizon={horizon}", trace)[0] == pytest.approx(27)


def test_the_job_is_not_there_at_its_own_instant() -> None:
    """J, which waits for A, lets B go ahead of C, of the same instant; without it C begins at 1 and B waits for A."""
    trace = draw_trace(
        """
        job submit run width request
        A   0      10  2     10
        J   1      5   4     5
        C   1      30  2     30
        B   1      3   2     3
        """,
        processors=4,
    )
    # As it was: B to 4, J to 15, C to 45. Without J: C to 31, 14 s earlier, B to 13, 9 s later.
    assert priced("vcg", with_utility(trace, [LINE] * 4), "easy")[1] == pytest.approx(14 - 9)


def test_later_jobs_are_absent_present_or_nowhere() -> None:
    """The shortest goes first. E keeps B waiting until 13, A or no A; D, which comes after the end of A, goes ahead."""
    trace = draw_trace(
        """
        job submit run width request
        A   0      10  2     10
        E   0      13  2     13
        B   1      4   4     4
        D   12     3   4     3
        """,
        processors=4,
    )
    trace = with_utility(trace, [LINE, LINE, LINE, LINE])
    # As it was: E ends at 13, then D runs until 16, then B until 20. With D absent B runs from 13 to 17.
    assert priced("vcg:later=absent", trace, "sjf")[0] == pytest.approx(3)
    assert priced("vcg:later=present", trace, "sjf")[0] == pytest.approx(0)
    assert priced("vcg:later=nowhere", trace, "sjf")[0] == pytest.approx(0)


def test_the_floor_is_a_parameter() -> None:
    """Under sjf A, of 2 s, lets B and C begin in the order that is worth more: without it they would be worse off."""
    trace = draw_trace(
        """
        job submit run width request
        A   0      2   4     2
        B   0      30  4     30
        C   1      5   4     5
        """,
        processors=4,
    )
    trace = with_utility(trace, [LINE] * 3)
    # As it was: A to 2, C to 7, B to 37. Without A: B to 30, 7 s earlier, C to 35, 28 s later.
    assert priced("vcg:floor=null", trace, "sjf")[0] == pytest.approx(7 - 28)
    assert priced("vcg", trace, "sjf")[0] == 0
    assert priced("vcg:floor=-5", trace, "sjf")[0] == -5


def test_the_bill_sums_up_by_user() -> None:
    """Who owes most comes first; jobs of nobody are a line too."""
    trace = trace_of()
    bill = swftools.price(swftools.simulate(trace, "fcfs"), "vcg", trace=trace).bill()
    assert bill["user_id"].fillna(-1).tolist() == [7, 8, -1]
    assert bill["jobs"].tolist() == [2, 1, 1]
    assert bill["price"].tolist() == pytest.approx([18, 5, 0])
    assert bill["utility_got"].tolist() == pytest.approx([90 + 82, 86, 96])
    assert bill["processor_hours"].tolist() == pytest.approx([50 / 3600, 20 / 3600, 4 / 3600])


def test_it_prints_as_three_lines() -> None:
    """What, how much, and what has no price."""
    trace = trace_of([LINE, LINE, [], LINE])
    prices = swftools.price(swftools.simulate(trace, "fcfs"), "first-price")
    assert repr(prices).splitlines() == [
        "Prices: first-price, 4 jobs under fcfs, 2 users",
        "sum 272, 100 % of the utility; median 90, largest 96, 0 % are 0",
        "without a price: no utility function 1",
    ]
    assert "first-price" in prices._repr_html_()
