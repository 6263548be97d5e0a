# SPDX-License-Identifier: BSD-3-Clause
"""The detector of flurries: what it proposes, what it leaves alone, and that it finds those the archive filtered."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from swftools import Trace, clean, propose_flurries, read_swf
from swftools.errors import ParameterError
from tests.examples import examples
from tests.folders import ROOT

CARDS = yaml.safe_load((ROOT / "data_catalog.yaml").read_text(encoding="utf-8"))["logs"]
PUBLISHED = [
    pytest.param(name, entry, id=f"{name.partition('-2')[0]}, user {entry['user']}")
    for name, card in CARDS.items()
    for entry in card.get("published_filters", [])
    if "user" in entry
]
COLUMNS = ["user", "first_job", "last_job", "jobs", "share", "from_time", "to_time"]


def log_of(users: list[int], **columns: Any) -> Trace:
    """Make a log of a job every 10 s, by these users."""
    count = len(users)
    whole = {"job_number": range(1, count + 1), "submit_time": np.arange(count) * 10.0, "user_id": users, **columns}
    return Trace.from_columns(**whole)


def usual(count: int) -> list[int]:
    """Return the users of a usual time: four, taking turns."""
    return [1, 2, 3, 4] * (count // 4)


def test_a_burst_is_proposed() -> None:
    """A stretch that a single user fills is proposed with its user, jobs, share and times."""
    found = propose_flurries(log_of(usual(2000) + [9] * 500 + usual(2000)))
    assert COLUMNS == list(found)
    assert [[9, 2001, 2500, 500, 1.0, 20_000.0, 24_990.0]] == found.values.tolist()


def test_a_burst_amid_others_is_proposed() -> None:
    """Jobs of others within a burst do not hide it; the share says how many they are."""
    found = propose_flurries(log_of(usual(2000) + [9, 1, 9, 9, 2] * 200 + usual(2000)))
    assert [9, 2001, 2999, 600] == found.iloc[0, :4].tolist()
    assert 600 / 999 == pytest.approx(found["share"][0], rel=1e-12)


def test_the_shortest_of_equal_stretches_is_proposed() -> None:
    """A job before the burst that is just as thin as allowed adds nothing, and is left out."""
    log = log_of(usual(2000) + [9, 1, 2, 3] + [9] * 500 + usual(2000))
    assert [[9, 2005, 2504, 500]] == propose_flurries(log, least_share=0.25).iloc[:, :4].values.tolist()


def test_bursts_of_several_users_come_largest_first() -> None:
    """Every user's bursts are proposed, also several of one user, the largest first."""
    users = usual(2000) + [8] * 450 + usual(2000) + [9] * 700 + usual(2000) + [8] * 500 + usual(2000)
    found = propose_flurries(log_of(users))
    assert [[9, 700], [8, 500], [8, 450]] == found[["user", "jobs"]].values.tolist()
    assert [4451, 7151, 2001] == found["first_job"].tolist()


def test_a_short_burst_is_none() -> None:
    """A burst must have enough jobs."""
    log = log_of(usual(2000) + [9] * 399 + usual(2000))
    assert [] == propose_flurries(log).values.tolist()
    assert [399] == propose_flurries(log, least_jobs=399)["jobs"].tolist()


def test_a_thin_burst_is_none() -> None:
    """A burst must be a great share of all submissions meanwhile."""
    log = log_of(usual(4000) + [9, 1, 2, 3, 4] * 500 + usual(4000))
    assert [] == propose_flurries(log).values.tolist()
    assert [[9, 500]] == propose_flurries(log, least_share=0.19, times_others=0)[["user", "jobs"]].values.tolist()


def test_a_busy_user_is_no_flurry() -> None:
    """A burst must be denser than the user's usual; who always submits much is not proposed."""
    log = log_of([1, 2, 3, 9, 9, 9] * 1000)
    assert [] == propose_flurries(log, times_usual=1.5).values.tolist()
    mixed = log_of([9, 1, 2, 3, 4, 5, 6, 7, 8, 2] * 300 + [9] * 500 + [9, 1, 2, 3, 4, 5, 6, 7, 8, 2] * 300)
    assert [] == propose_flurries(mixed, times_usual=10.1).values.tolist()
    assert [9] == propose_flurries(mixed, times_usual=9.9)["user"].tolist()


@pytest.mark.parametrize("users", [[7] * 500, [7] * 500 + [8], [7, 7, 7, 8] * 500])
def test_a_whole_log_is_no_flurry(users: list[int]) -> None:
    """Who submits all of a log, or the same great share of it throughout, has no burst."""
    assert [] == propose_flurries(log_of(users), times_usual=1).values.tolist()


def test_a_busy_users_burst() -> None:
    """A burst of a user who always submits much is found by what it has beyond that."""
    users = [9, 1, 9, 2] * 500 + [9] * 800 + [9, 1, 9, 2] * 500
    assert [] == propose_flurries(log_of(users)).values.tolist()
    assert [[9, 801]] == propose_flurries(log_of(users), times_usual=2)[["user", "jobs"]].values.tolist()


def test_order_is_that_of_submission() -> None:
    """A log that is not sorted, or not numbered by submission, has the same flurries."""
    users = usual(2000) + [9] * 500 + usual(2000)
    order = np.random.default_rng(4).permutation(len(users))
    log = log_of(users)
    shuffled = log.with_jobs(log.jobs.iloc[order])
    pd.testing.assert_frame_equal(propose_flurries(log), propose_flurries(shuffled))
    backwards = propose_flurries(log_of(users, job_number=np.arange(len(users), 0, -1)))
    assert [[9, 2001, 2500, 500]] == backwards.iloc[:, :4].values.tolist()


def test_jobs_without_user_number_or_time_are_passed_over() -> None:
    """What is missing is no user, and does not interrupt one."""
    users = usual(2000) + [9, -1] * 500 + usual(2000)
    assert [[9, 500, 1.0]] == propose_flurries(log_of(users))[["user", "jobs", "share"]].values.tolist()
    assert [] == propose_flurries(log_of(users, job_number=[-1] * 5000)).values.tolist()
    assert [] == propose_flurries(log_of(users, submit_time=[-1] * 5000)).values.tolist()


@pytest.mark.parametrize("jobs", [0, 1])
def test_hardly_any_jobs(jobs: int) -> None:
    """No job, or one, has no flurry; the columns are there in their types."""
    found = propose_flurries(log_of([3] * jobs))
    assert ["int64"] * 4 + ["float64"] * 3 == [str(dtype) for dtype in found.dtypes]
    assert 0 == len(found)


def test_as_many_flurries_as_jobs() -> None:
    """With every single job a flurry the search still ends, however many there are."""
    found = propose_flurries(log_of([1, 2, 3] * 2000), least_jobs=1, least_share=0.99, times_usual=1, times_others=0)
    assert 6000 == len(found)


@pytest.mark.parametrize(
    "parameters",
    [
        {"least_jobs": 0},
        {"least_share": 0},
        {"least_share": 1},
        {"least_share": math.nan},
        {"times_usual": 0.9},
        {"times_others": -0.1},
    ],
)
def test_parameters_outside_their_domain_are_refused(parameters: dict[str, float]) -> None:
    """The message names the parameters and their domains."""
    with pytest.raises(ParameterError, match=r"least_jobs=.* must be positive, least_share=.* between 0 and 1"):
        propose_flurries(log_of([1]), **parameters)  # type: ignore[arg-type]


def test_a_proposal_is_a_range_of_the_rule() -> None:
    """What is proposed can be given to the rule ``flurries``, which removes just those jobs."""
    trace = log_of(usual(2000) + [9, 1] * 500 + usual(2000))
    found = propose_flurries(trace)
    cleaned, _ = clean(trace, [{"rule": "flurries", "ranges": found[COLUMNS[:3]].to_dict("records")}])
    assert found["jobs"].tolist() == [500] == [len(cleaned.quarantine)]
    assert 0 == len(propose_flurries(cleaned))


@example([1, 2, 1, 1], 3, 0.5)
@examples(0.5)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=40), st.integers(1, 6), st.sampled_from([0.2, 0.5, 0.8]))
def test_stretches_are_the_densest(users: list[int], least_jobs: int, least_share: float) -> None:
    """No stretch of a user's submissions, tried one by one, has a greater surplus than the densest proposed."""
    users = [*users, *range(100, 300)]
    found = propose_flurries(
        log_of(users), least_jobs=least_jobs, least_share=least_share, times_usual=1, times_others=0
    )
    assert (found["jobs"] >= least_jobs).all()
    for user in (1, 2, 3):
        places = [place for place, other in enumerate(users) if other == user]
        surpluses = [
            (j - i + 1) - least_share * (places[j] - places[i] + 1)
            for i in range(len(places))
            for j in range(i, len(places))
        ]
        mine = found[found["user"] == user]
        if not mine.empty:
            surplus = mine["jobs"] - least_share * (mine["last_job"] - mine["first_job"] + 1)
            assert max(surpluses) == pytest.approx(surplus.max(), rel=1e-9)
        elif places:
            spans = [j - i + 1 for i in range(len(places)) for j in range(i, len(places))]
            best = [span for span, surplus in zip(spans, surpluses, strict=True) if surplus > max(surpluses) - 1e-9]
            assert min(best) < least_jobs  # the shortest of equal ones counts


# The archive's flurries


def planted(trace: Trace, flurry: dict[str, int]) -> tuple[Trace, set[int]]:
    """Put as many jobs of a flurry's user back as the archive removed, at the numbers that are free in its range.

    The submission times, which the clean log no longer has, are those of the neighbours, in proportion.
    """
    number, submit = trace.arrays.job_number, trace.arrays.submit_time
    free = np.setdiff1d(np.arange(flurry["first_job"], flurry["last_job"] + 1), number)
    places = np.linspace(0, len(free) - 1, flurry["jobs_removed"]).round().astype(int)
    jobs = free[places]
    order = np.argsort(number, kind="stable")
    times = np.interp(jobs, number[order], submit[order])
    return Trace.from_columns(
        job_number=np.concatenate((number, jobs)),
        submit_time=np.concatenate((submit, times)),
        user_id=np.concatenate((trace.arrays.user_id, np.full(len(jobs), flurry["user"]))),
    ), set(jobs.tolist())


@pytest.mark.full
@pytest.mark.parametrize(("name", "flurry"), PUBLISHED)
def test_published_flurries_are_found(shared: Path, name: str, flurry: dict[str, int]) -> None:
    """Planted again in the clean log, each flurry that the archive filtered is proposed, nearly whole."""
    trace, jobs = planted(read_swf(shared / "traces" / f"{name}.swf.gz"), flurry)
    found = propose_flurries(trace)
    mine = found[found["user"] == flurry["user"]]
    covered = {job for row in mine.itertuples() for job in jobs if row.first_job <= job <= row.last_job}
    assert len(covered) > 0.89 * len(jobs)
    beyond = mine["jobs"].sum() - len(covered)
    assert beyond < 0.12 * len(jobs)


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("SDSC-BLUE-2000-4.2-cln", 3),
        ("CTC-SP2-1996-3.1-cln", 2),
        ("SDSC-DS-2004-2.1-cln", 6),
        ("SDSC-SP2-1998-4.2-cln", 6),
        ("KTH-SP2-1996-2.1-cln", 1),
    ],
)
def test_clean_logs_have_few_proposals(shared: Path, name: str, count: int) -> None:
    """In the cleaned logs a handful of bursts is left for a person to judge."""
    assert count == len(propose_flurries(read_swf(shared / "traces" / f"{name}.swf.gz")))
