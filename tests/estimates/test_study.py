# SPDX-License-Identifier: BSD-3-Clause
"""How good estimates are: by hand, against a twin in plain Python, what must hold of any trace, and bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.errors import ParameterError
from swftools.estimates import EstimateStudy, inaccuracy, study_estimates
from swftools.header import SwfHeader
from swftools.trace import Trace
from tests.examples import examples
from tests.naive.estimates import Job, naive_inaccuracy, naive_used

HOUR = 3600

_times = st.sampled_from([None, 0, 1, 59, 60, 540, 600, 601, 3600, 7200, 86_400, 90_000])
_jobs = st.lists(
    st.fixed_dictionaries(
        {
            "requested_time": _times,
            "run_time": _times,
            "requested_processors": st.sampled_from([None, 1, 2, 3, 4, 7, 8, 1000, 2**40]),
            "user_id": st.sampled_from([None, 1, 2, 30]),
            "queue_id": st.sampled_from([None, 0, 4]),
            "status": st.sampled_from([0, 1, 5]),
        }
    ),
    max_size=15,
)


def trace_of(jobs: list[Job], header: SwfHeader | None = None) -> Trace:
    """Return jobs as a trace."""
    names = ("requested_time", "run_time", "requested_processors", "user_id", "queue_id", "status")
    columns = {name: [-1 if job.get(name) is None else job[name] for job in jobs] for name in names}
    return Trace.from_columns(header, job_number=range(1, len(jobs) + 1), **columns)


def drawn_by_hand() -> Trace:
    """Return eight jobs, five of which can be studied.

    They used .1, 1, 1.5, 0 and .5 of their requests, so that they are .9, 0, .5, 1 and .5 inaccurate.
    """
    header = SwfHeader.from_lines(["; Queue: 2 night"])
    request = [HOUR, HOUR, 600, 600, 2 * HOUR, 0, HOUR, HOUR]
    run = [360, HOUR, 900, 0, HOUR, 10, -1, 0]
    names = ("requested_time", "run_time", "user_id", "queue_id", "requested_processors", "status")
    rows = zip(
        request, run, [7, 7, 8, 8, 7, 7, 7, 7], [2, 2, 2, 3, -1, 2, 2, 2], [1, 2, 3, 4, -1, 1, 1, 1],
        [1, 0, 1, 0, 5, 1, 1, 5], strict=True,
    )  # fmt: skip
    return trace_of([dict(zip(names, row, strict=True)) for row in rows], header)


def groups(study: EstimateStudy, by: str, of: str = "requested") -> dict[str, tuple[Any, ...]]:
    """Return jobs, mean and median inaccuracy and how many used all, of each group, in order."""
    rows = study.inaccuracy.query("grouped_by == @by and of == @of")
    columns = (rows[name] for name in ("jobs", "mean", "p50", "used_all"))
    return dict(zip(rows["group"], zip(*columns, strict=True), strict=True))


def test_by_hand() -> None:
    """Eight jobs, five of which can be studied: every figure as one adds it up on paper."""
    study = study_estimates(drawn_by_hand())
    assert (study.jobs, study.studied, study.longer, study.used_all, study.used_all_unfinished) == (8, 5, 1, 2, 1)
    assert study.left_out == {"no requested time": 1, "no run time": 1, "cancelled before they ran": 1}
    assert groups(study, "all") == {"all": (5, pytest.approx(0.58), 0.5, 2)}
    assert study.inaccuracy["p25"].iloc[0] == 0.5
    assert study.inaccuracy["p90"].iloc[0] == pytest.approx(0.96)
    assert study.inaccuracy["mean_used"].iloc[0] == pytest.approx((0.1 + 1 + 1.5 + 0 + 0.5) / 5)
    by_user = {"7": (3, pytest.approx(1.4 / 3), 0.5, 1), "8": (2, 0.75, 0.75, 1)}
    assert groups(study, "user") == by_user
    assert list(groups(study, "user")) == ["7", "8"]
    assert list(groups(study, "queue").items()) == [
        ("2 night", (3, pytest.approx(1.4 / 3), 0.5, 2)),
        ("3", (1, 1.0, 1.0, 0)),
        ("unknown", (1, 0.5, 0.5, 0)),
    ]
    assert {name: row[0] for name, row in groups(study, "size").items()} == {
        "1": 1, "2 to 3": 2, "4 to 7": 1, "unknown": 1,
    }  # fmt: skip
    assert {name: row[0] for name, row in groups(study, "requested-time").items()} == {
        "up to 10 min": 2, "10 min to 1 h": 2, "1 h to 2 h": 1,
    }  # fmt: skip
    assert study.used["jobs"].tolist() == [1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1]
    assert study.requests["requested_time"].tolist() == [600, HOUR, 2 * HOUR]
    assert study.requests["cumulative_share"].tolist() == [0.4, 0.8, 1.0]
    assert study.answers.empty
    assert study.decreases.empty


def test_users_with_most_jobs_come_first() -> None:
    """Their numbers mean nothing, so the order is by jobs; only as many requests are listed as are asked for."""
    jobs = [{"requested_time": 60 * n, "run_time": 1, "user_id": n} for n in (1, 5, 5, 3, 3, 3, 9, 9)]
    study = study_estimates(trace_of(jobs), most_used=2)
    assert list(groups(study, "user")) == ["3", "5", "9", "1"]
    assert study.requests["requested_time"].tolist() == [180, 300]


def test_estimates_beside_requests() -> None:
    """The thesis has 120 min requested, 60 min estimated, 50 s run; beside it one that stayed, and one raised."""
    jobs = [{"requested_time": 7200, "run_time": 50}, {"requested_time": 600, "run_time": 900}]
    trace = trace_of([*jobs, {"requested_time": 100, "run_time": 50}, {"requested_time": 100, "run_time": 50}])
    assert study_estimates(trace, [50, 900, 50, 50]).answers["outlived"].tolist() == [0, 0, 0, 0]  # to the second
    study = study_estimates(trace, [3600, 600, 200, np.nan])
    answers = study.answers.set_index("answer")
    assert answers["jobs"].to_dict() == {"same": 1, "less": 1, "more": 1, "all": 3}
    assert answers.loc["less", "mean_decrease"] == 0.5
    assert round(answers.loc["less", "requested"], 2) == 0.99
    assert answers.loc["less", "estimated"] == pytest.approx(1 - 50 / 3600)
    assert answers.loc["more", "mean_decrease"] == -1
    assert answers["outlived"].to_dict() == {"same": 1, "less": 0, "more": 0, "all": 1}
    assert groups(study, "all", "estimated")["all"][:2] == (3, pytest.approx((1 - 50 / 3600 + 0.5 + 0.75) / 3))
    assert study.decreases["jobs"].tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]  # up to 50 %, included


def test_inaccuracy_is_of_what_was_said() -> None:
    """68 %: either 32 % of it was used, or 168 %."""
    assert inaccuracy(np.array([100.0, 100.0]), np.array([32.0, 168.0])).tolist() == [0.68, 0.68]


@examples(0.5)
@given(_jobs)
def test_like_the_twin(jobs: list[Job]) -> None:
    """Group by group, and the distribution of what was used."""
    study = study_estimates(trace_of(jobs))
    for by in ("all", "user", "size", "requested-time"):
        expected, found = naive_inaccuracy(jobs, by), groups(study, by)
        assert found.keys() == expected.keys()
        for group, row in found.items():
            assert (row[0], row[3]) == (expected[group][0], expected[group][3])
            assert math.isclose(row[1], expected[group][1])
            assert math.isclose(row[2], expected[group][2])
    assert study.used["jobs"].tolist() == naive_used(jobs)


@examples(0.5)
@given(_jobs, st.randoms(use_true_random=False))
def test_what_holds_of_any_trace(jobs: list[Job], random: Any) -> None:
    """Counts balance, a grouping has each job once, percentiles rise, and the order of jobs is nothing to it."""
    study = study_estimates(trace_of(jobs))
    assert study.studied == study.used["jobs"].sum() == study.requests["jobs"].sum()
    for by in ("user", "queue", "size", "requested-time"):
        assert sum(row[0] for row in groups(study, by).values()) == study.studied
        assert sum(row[3] for row in groups(study, by).values()) == study.used_all
    assert study.longer <= study.used_all <= study.studied
    percentiles = study.inaccuracy[["p10", "p25", "p50", "p75", "p90"]].to_numpy()
    assert (np.diff(percentiles, axis=1) >= 0).all()
    random.shuffle(jobs)
    shuffled = groups(study_estimates(trace_of(jobs)), "size")
    assert shuffled == {group: pytest.approx(row) for group, row in groups(study, "size").items()}


@examples(0.5)
@given(_jobs)
def test_requests_as_their_own_estimates(jobs: list[Job]) -> None:
    """Then 5.2 says what 5.1 does, and nobody changed the answer."""
    trace = trace_of(jobs)
    asked = trace.arrays.requested_time
    study = study_estimates(trace, np.where(asked > 0, asked, np.nan))
    for by in ("all", "user", "queue"):
        assert groups(study, by) == groups(study, by, "estimated")
    assert study.answers["jobs"].tolist() == [study.studied, 0, 0, study.studied]


@pytest.mark.parametrize(
    ("estimated", "said"),
    [
        ([1.0], "1 estimates for 2 jobs"),
        ([60.0, 0.0], "the estimate of row 1 is 0 s; give a time above 0, or NaN"),
        ([-5.0, 60.0], "the estimate of row 0 is -5 s"),
        ([60.0, np.inf], "the estimate of row 1 is inf s"),
        (["an", "hour"], "estimated are not seconds"),
    ],
)
def test_wrong_estimates(estimated: Any, said: str) -> None:
    """They are refused with what is wrong, and where."""
    with pytest.raises(ParameterError, match=said):
        study_estimates(trace_of([{"requested_time": 60, "run_time": 1}] * 2), estimated)


@pytest.mark.parametrize("most", [0, -1, 1.5, "2"])
def test_wrong_number_of_requests(most: Any) -> None:
    """A number of rows is a whole one from 1 on."""
    with pytest.raises(ParameterError, match="most_used="):
        study_estimates(trace_of([]), most_used=most)


def test_three_lines_and_a_table() -> None:
    """Of a log, of one with estimates, and of nothing; what a header calls a queue runs nothing in a page."""
    jobs = [{"requested_time": 7200, "run_time": 720, "queue_id": 1}] * 3
    trace = trace_of(jobs, SwfHeader.from_lines(["; Queue: 1 <script>x"]))
    assert repr(study_estimates(trace, [3600.0] * 3)).splitlines() == [
        "EstimateStudy: 3 jobs studied of 3",
        "inaccuracy of requests 90.0 % in the mean, 90.0 % in the median, of estimates 80.0 % in the mean",
        "0 % used all of their request or more, most ask for 2 h (100 %)",
    ]
    assert repr(study_estimates(trace_of([]))) == "EstimateStudy: no jobs studied of 0"
    page = study_estimates(trace)._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;x" in page
    assert "the first 5 of 5 rows" not in page
    assert "<table>" not in study_estimates(trace_of([]))._repr_html_()
