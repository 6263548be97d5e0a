# SPDX-License-Identifier: BSD-3-Clause
"""The detector of flurries where bursts are nothing unusual: what all users do is no flurry of one."""

from __future__ import annotations

from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace, propose_flurries
from swftools.cleaning.flurries import _BusiestUsers


def campaigns(users: int = 80, middle: float = 60, spread: float = 1.6) -> Trace:
    """Make a log of 90 days and 52,000 jobs, in campaigns of a user each: a job every 20 s, lognormal in number."""
    rng = np.random.default_rng(1)
    weights = 1 / np.arange(1, users + 1)
    user, submit = [], []
    while sum(map(len, user)) < 52_000:
        jobs = int(np.ceil(rng.lognormal(np.log(middle), spread)))
        begin = rng.uniform(0, 90 * 86_400)
        user.append(np.full(jobs, 1 + rng.choice(users, p=weights / weights.sum())))
        submit.append(begin + np.cumsum(rng.exponential(20, jobs)))
    times = np.concatenate(submit)[:52_000]
    order = np.argsort(times)
    return Trace.from_columns(
        job_number=np.arange(1, 52_001), submit_time=times[order], user_id=np.concatenate(user)[:52_000][order]
    )


@pytest.mark.parametrize(
    ("users", "middle", "spread", "without", "most"),
    [(80, 60, 1.6, 0.36, 0.0), (80, 200, 1.2, 0.44, 0.05), (15, 30, 2.0, 0.56, 0.0)],
)
def test_campaigns_are_no_flurries(users: int, middle: float, spread: float, without: float, most: float) -> None:
    """A burst that is like the bursts of others is not proposed, though its user does nothing else like it."""
    trace = campaigns(users, middle, spread)
    assert without < propose_flurries(trace, times_others=0)["jobs"].sum() / len(trace)
    assert propose_flurries(trace)["jobs"].sum() / len(trace) <= most


def test_a_flurry_among_quiet_users_is_proposed_still() -> None:
    """Others' usual bursts count, not the flurry's own user, and not the stretch itself."""
    quiet = [1, 2, 3, 4] * 500
    log = [*quiet, *[9] * 600, *quiet, *[9, 1, 2, 3, 4] * 100]
    trace = Trace.from_columns(job_number=range(1, len(log) + 1), submit_time=range(len(log)), user_id=log)
    assert [[9, 600]] == propose_flurries(trace, times_usual=5)[["user", "jobs"]].values.tolist()


@pytest.mark.parametrize(("times", "found"), [(0, 1), (3.99, 1), (4.0, 1), (4.01, 0)])
def test_the_ratio_to_others(times: float, found: int) -> None:
    """Alone in a stretch where the busiest of others usually has a quarter: four times that, and no more."""
    log = [*[1, 2, 3, 4] * 512, *[9] * 512, *[1, 2, 3, 4] * 512]
    trace = Trace.from_columns(job_number=range(1, len(log) + 1), submit_time=range(len(log)), user_id=log)
    assert found == len(propose_flurries(trace, times_others=times))


@given(st.lists(st.integers(3, 6), min_size=1, max_size=60), st.data())
def test_usual_shares_are_those_counted_one_by_one(users: list[int], data: st.DataObject) -> None:
    """In each stretch of 2^k submissions outside the one asked for: the most that any other user has; the median."""
    begin = data.draw(st.integers(0, len(users) - 1))
    end = data.draw(st.integers(begin + 1, len(users)))
    user = data.draw(st.sampled_from(users))
    length = max(2**k for k in range(7) if 2**k <= end - begin)
    shares = []
    for start in range(0, len(users) - length + 1, length):
        if start + length <= begin or start >= end:
            others = [other for other in users[start : start + length] if other != user]
            shares.append(max((others.count(other) for other in others), default=0) / length)
    counted = _BusiestUsers(np.array(users))
    for _ in range(2):  # the second time from what was kept
        assert pytest.approx(median(shares or [0])) == counted.usual_share(user, begin, end)
