# SPDX-License-Identifier: BSD-3-Clause
"""Others' figures of predicted waits: by hand, by a loop, of the batch system's own estimate, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import ParameterError
from swftools.fields.dictionary import table_fields
from swftools.qbets import evaluate, logged_estimates, prediction_figures, replay
from tests.qbets.test_evaluation import predictions


def test_by_hand() -> None:
    """Bounds belong to the share; waits and predictions below 1 s count as 1 s in ratios alone."""
    wait = [0.0, 60.0, 61.0, 600.0, 3600.0, 3601.0, math.nan, 5.0]
    told = [60.0, 0.0, 0.0, 0.0, 3601.0, 3601.0, 5.0, math.nan]
    figures = prediction_figures(wait, told)
    assert pytest.approx((4 / 6, 1.0)) == (figures["within_1_minute"], figures["within_10_minutes"])
    ratios = sorted([1 / 60, 60, 61, 600, 3600 / 3601, 1])
    for point in (5, 25, 75, 95):
        assert pytest.approx(np.quantile(ratios, point / 100)) == figures[f"ratio_p{point}"]
    assert pytest.approx((3600.0, 5 / 6, 5 / 6)) == (
        figures["deadline"],
        figures["right_verdicts"],
        figures["best_constant"],
    )
    assert pytest.approx(4 / 6) == prediction_figures(wait, told, deadline=60)["right_verdicts"]
    assert pytest.approx(4 / 6) == prediction_figures(wait, told, deadline=60)["best_constant"]


@given(st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 2000)), min_size=1, max_size=30), st.integers(0, 2000))
def test_one_by_one(pairs: list[tuple[int, int]], deadline: int) -> None:
    """Counted by a loop over jobs."""
    figures = prediction_figures([wait for wait, _ in pairs], [told for _, told in pairs], deadline)
    count = len(pairs)
    assert figures["within_1_minute"] == pytest.approx(sum(abs(w - t) <= 60 for w, t in pairs) / count)
    assert figures["within_10_minutes"] == pytest.approx(sum(abs(w - t) <= 600 for w, t in pairs) / count)
    assert figures["right_verdicts"] == pytest.approx(sum((w <= deadline) == (t <= deadline) for w, t in pairs) / count)
    in_time = sum(wait <= deadline for wait, _ in pairs)
    assert figures["best_constant"] == pytest.approx(max(in_time, count - in_time) / count)
    low, high = figures["ratio_p25"], figures["ratio_p75"]
    inside = sum(low <= max(wait, 1) / max(told, 1) <= high for wait, told in pairs)  # type: ignore[operator]
    assert 2 * inside >= count - 2


def test_nothing_is_known() -> None:
    """Missing, but for the deadline; so too in the table."""
    figures = prediction_figures([math.nan], [1.0], 7)
    assert {"deadline"} == {name for name, value in figures.items() if value is not None}
    row = evaluate(predictions(wait_bound=[math.nan]), grouped_by=["all"], deadline=7).iloc[0]
    assert (7.0, True) == (row["deadline"], bool(pd.isna(row["right_verdicts"]) and pd.isna(row["ratio_p5"])))


def test_the_table_has_them_by_group() -> None:
    """Of each group of each method, of the jobs that were told something."""
    table = predictions(
        wait_time=[10.0, 100.0, 10.0, 5000.0], wait_bound=[70.0, 200.0, math.nan, 10.0], queue=["1", "1", "2", "2"]
    )
    found = evaluate(table, grouped_by=["all", "queue"], deadline=100).set_index("group")
    assert list(found) == [name for name in table_fields("wait_evaluation") if name != "group"]
    assert pytest.approx([1 / 3, 0.5, 0.0]) == found["within_1_minute"].tolist()
    assert pytest.approx([1 / 3, 0.5, 0.0]) == found["right_verdicts"].tolist()
    assert [500.0] == found.loc[["2"], "ratio_p5"].tolist()


@pytest.mark.parametrize("deadline", [-1, math.nan, math.inf, "1h", True])
def test_a_deadline_that_is_none(deadline: object) -> None:
    """Refused before anything is counted."""
    for call in (lambda: prediction_figures([1], [1], deadline), lambda: evaluate([], deadline=deadline)):  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="deadline="):
            call()


def test_lengths_that_differ() -> None:
    """One prediction a job."""
    with pytest.raises(ParameterError, match="give one of each a job"):
        prediction_figures([1, 2], [1])


# ---------------------------------------------------------------- the batch system's own


def _log(jobs: int = 120) -> Trace:
    trace = Trace.from_columns(
        job_number=range(jobs),
        submit_time=range(0, 10 * jobs, 10),
        wait_time=[5] * jobs,
        run_time=[60] * jobs,
        requested_time=[100] * jobs,
        queue_id=[1] * jobs,
    )
    told = [65.0, 66.0] * (jobs // 2)
    told[-1] = math.nan
    return trace.with_jobs(trace.jobs.assign(estimated_wait_time=told))


def test_estimates_of_the_batch_system() -> None:
    """A method like others, evaluated on the same jobs; who was told nothing counts as that."""
    log = _log()
    bounds = replay(log, training=100)
    own = logged_estimates(log, like=bounds)
    assert list(own) == list(bounds)
    found = evaluate([bounds, own], grouped_by=["all"]).set_index("method")
    assert [20, 20] == found["jobs"].tolist()
    assert pytest.approx((10 / 19, 1 / 20)) == (
        found.loc["batch-system", "within_1_minute"],
        found.loc["batch-system", "share_not_predicted"],
    )
    assert 120 == evaluate(logged_estimates(log, by=None), grouped_by=["all"])["jobs"].item()


def test_estimates_that_are_none() -> None:
    """No such column; predictions of another log."""
    log = _log()
    with pytest.raises(ParameterError, match="no column 'estimated_wait_time'"):
        logged_estimates(log.with_jobs(log.jobs.drop(columns="estimated_wait_time")))
    with pytest.raises(ParameterError, match="of other jobs than the log's"):
        logged_estimates(log, like=replay(_log(118), training=10))
