# SPDX-License-Identifier: BSD-3-Clause
"""Exact prices of small crowds: no user gains by a false function, and how near ``vcg`` comes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import swftools
from tests.market.crowds import PROCESSORS, crowd, trace_of
from tests.naive.market import Bidder, exact, gain

CLAIMS = [((0.0, value), (end, 0.0)) for value, end in itertools.product([0.0, 2.0, 6.0, 20.0], [4.0, 12.0, 40.0])]
"""What a user may report: too little, too much, too urgent, too patient."""


@pytest.mark.parametrize("seed", range(4))
def test_nobody_gains_by_a_false_function(seed: int) -> None:
    """Under exact prices, whatever one user of a crowd reports, the true function leaves the user as much or more."""
    jobs = crowd(seed, 4)
    for job, claim in itertools.product(range(len(jobs)), CLAIMS):
        claimed = [*jobs[:job], jobs[job]._replace(points=claim), *jobs[job + 1 :]]
        honest = gain(job, jobs[job].points, jobs, PROCESSORS)
        assert gain(job, jobs[job].points, claimed, PROCESSORS) <= honest + 1e-9


def test_first_prices_would_reward_it() -> None:
    """The same grid finds users who gain where they pay what they report: the test above could have failed."""
    jobs, gains = crowd(0, 4), []
    for job, claim in itertools.product(range(len(jobs)), CLAIMS):
        claimed = [*jobs[:job], jobs[job]._replace(points=claim), *jobs[job + 1 :]]
        ends, _ = exact(claimed, PROCESSORS)
        gains.append(value(jobs[job], ends[job]) - value(claimed[job], ends[job]))
    assert max(gains) > 1  # who tells the truth has nothing left


def value(job: Bidder, time: float) -> float:
    """Return what a job is worth, by numpy."""
    times, values = zip(*job.points, strict=True)
    return float(np.interp(time, times, values, right=0.0))


@pytest.mark.parametrize("seed", range(6))
def test_the_approximation_is_exact_where_the_policy_finds_the_best(seed: int) -> None:
    """With three jobs the first generation has every order: the schedule of ``genetic`` is the best, and prices agree.

    It decides anew at each end, so a better schedule than that of any one order is possible: then nothing is said.
    """
    jobs = crowd(seed, 3)
    trace = trace_of(jobs)
    schedule = swftools.simulate(trace, "genetic", plan_clock="requested")
    ends, prices = exact(jobs, PROCESSORS)
    total = sum(value(job, ends[place]) for place, job in enumerate(jobs))
    got = swftools.price(schedule, "vcg:floor=null", trace=trace).jobs
    assert got["utility_got"].sum() == pytest.approx(total)
    np.testing.assert_allclose(got["price"], prices, atol=1e-9)
