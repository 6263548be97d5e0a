# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic surveys where there are few users, or few of them submit nearly all: the shares of hours are met there too.

So it is in the log of NASA's iPSC/860 (69 users, one of them with every second job, of a second).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.checkpoints import exchanges
from swftools.checkpoints import synthetic_survey as module
from swftools.checkpoints.survey import CheckpointSurvey
from swftools.checkpoints.synthetic_survey import CheckpointSurveyParameters, generate_checkpoint_survey
from swftools.models.lublin_feitelson import generate
from tests.examples import by_day

TARGET = 100 * np.array(module.NODE_HOURS) / sum(module.NODE_HOURS)
DECLINED = 6


def log_of(users: int, skew: float) -> Trace:
    """Make a log of 18,000 jobs: every second one a second of user 0's, the n-th other user with a share of n^-skew."""
    trace = generate(18_000, processors=128, seed=1)
    rng = np.random.default_rng(1)
    weights = np.arange(1, users + 1) ** -skew
    user = 1 + rng.choice(users, size=len(trace), p=weights / weights.sum())
    small = rng.random(len(trace)) < 0.55
    jobs = trace.jobs.assign(user_id=pd.array(np.where(small, 0, user), dtype="Int64"))
    jobs.loc[small, ["run_time", "requested_processors", "allocated_processors"]] = 1
    return trace.with_jobs(jobs)


def shares_of(trace: Trace, survey: CheckpointSurvey) -> np.ndarray:
    """Return the percent of processor hours by choice."""
    work = pd.Series(trace.arrays.width * trace.arrays.run_time, index=trace.arrays.job_number)
    answers = survey.answers
    hours = np.bincount(answers["choice"].to_numpy(int), work[answers["job_number"].to_numpy(int)], 7)
    shares: np.ndarray = 100 * hours / hours.sum()
    return shares


@pytest.mark.parametrize(("users", "skew"), [(20, 1.2), (69, 1.2), (69, 2.0), (200, 1.2)])
def test_shares_are_met_with_few_users(users: int, skew: float) -> None:
    """Within a point, at every seed; and still a user declines once at most, with the last answer."""
    trace = log_of(users, skew)
    for seed in range(4):
        survey = generate_checkpoint_survey(trace, CheckpointSurveyParameters(seed=seed))
        assert shares_of(trace, survey).tolist() == pytest.approx(TARGET.tolist(), abs=1), seed
        answers = survey.answers
        assert 1365 == len(answers) == answers["job_number"].nunique()
        assert answers["submit_time"].is_monotonic_increasing
        asked = answers["user_id"].nunique()
        declined = answers[answers["choice"] == DECLINED]
        assert min(56, asked) == len(declined) == declined["user_id"].nunique()
        assert declined.index.isin(answers.drop_duplicates("user_id", keep="last").index).all()


@given(
    st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=25),
    st.sets(st.integers(0, 3)),
)
def test_where_a_user_may_decline(jobs: list[tuple[int, bool]], declining: set[int]) -> None:
    """At any job not asked about that stands behind the answer before the last; found one by one."""
    user = np.array([user for user, _ in jobs])
    is_asked = np.array([asked for _, asked in jobs])
    is_last = np.zeros(len(jobs), bool)
    expected = set()
    for one in declining:
        answers = [place for place in range(len(jobs)) if jobs[place] == (one, True)]
        if answers:
            is_last[answers[-1]] = True
            after = answers[-2] if len(answers) > 1 else -1
            expected |= {(place, answers[-1]) for place in range(after + 1, len(jobs)) if jobs[place] == (one, False)}
    candidates, present = module._later_jobs(user, is_asked, is_last)
    assert expected == set(zip(candidates.tolist(), present.tolist(), strict=True))
    assert len(expected) == len(candidates)


@pytest.mark.parametrize("seed", by_day(range(60), 20))
def test_whoever_declines_elsewhere_has_as_many_answers(seed: int) -> None:
    """However often the last jobs are changed: as many jobs of each user are asked about, and the last one declines."""
    rng = np.random.default_rng(seed)
    user, work = rng.integers(0, 4, 200), np.exp(3 * rng.standard_normal(200))
    jobs = module._Jobs(np.arange(200), user, np.ones(200, int), work, work)
    places = np.sort(rng.choice(200, 8, replace=False))
    count = len(np.unique(user[places])) - seed % 2
    asked, declines = module._declining(jobs, places, count, np.random.default_rng(seed))
    assert np.bincount(user[places], minlength=4).tolist() == np.bincount(user[asked], minlength=4).tolist()
    assert count == declines.sum() == len(np.unique(user[asked[declines]]))
    assert all(place == asked[user[asked] == user[place]].max() for place in asked[declines])

    def miss(of: np.ndarray, last: np.ndarray) -> float:
        return float(abs(work[last].sum() / work[of].sum() - TARGET[DECLINED] / 100))

    last = np.array([places[user[places] == one].max() for one in np.unique(user[asked[declines]])])
    assert miss(asked, asked[declines]) <= miss(places, last) + 1e-12


def test_a_third_choice_passes_work_on() -> None:
    """No pair of choices 0 and 1 comes nearer; by way of choice 2, which is left with its own, both are met."""
    work = np.array([10.0, 1.0, 1.0, 7.0, 4.0])
    choice = np.array([0, 1, 1, 2, 2])
    target = np.array([7.0, 5.0, 11.0])  # choice 0 has 3 too many, choice 1 has 3 too few
    exchanges.exchange(work, choice, target)
    assert [7.0, 5.0, 11.0] == np.bincount(choice, work, 3).tolist()
    assert [1, 2, 2] == np.bincount(choice).tolist()


@pytest.mark.parametrize(("others", "is_mended"), [(550.0, True), (600.0, False)])
def test_a_share_hardly_off_is_left(others: float, is_mended: bool) -> None:
    """Half a point of all work is near enough to try no more than single pairs."""
    work = np.array([10.0, 1.0, 1.0, 7.0, 4.0, others])
    choice = np.array([0, 1, 1, 2, 2, 3])
    before = choice.copy()
    exchanges.exchange(work, choice, np.array([7.0, 5.0, 11.0, others]))
    assert is_mended == bool((choice != before).any())


@given(st.data())
def test_exchanges_by_a_third_come_nearer(data: st.DataObject) -> None:
    """The numbers of the choices stay, the work is nearer than before; or else nothing is changed, and that is said."""
    size = data.draw(st.integers(3, 20))
    work = np.sort(data.draw(st.lists(st.floats(0, 100), min_size=size, max_size=size)))
    choice = np.array(data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)))
    target = work.sum() * np.array([0.5, 0.3, 0.15, 0.05])
    excess = np.bincount(choice, work, 4) - target
    pairs = [(a, b) for a in range(4) for b in range(4) if excess[a] > 0 > excess[b]]
    after = choice.copy()
    is_changed = exchanges._exchange_by_third(work, after, pairs, excess)
    assert np.bincount(choice, minlength=4).tolist() == np.bincount(after, minlength=4).tolist()
    left = np.bincount(after, work, 4) - target
    assert (abs(left).sum() < abs(excess).sum()) == is_changed
    assert is_changed or choice.tolist() == after.tolist()
