# SPDX-License-Identifier: BSD-3-Clause
"""Evaluation: by hand, of groups, and what it does not count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools.errors import ParameterError
from swftools.fields.dictionary import table_fields
from swftools.qbets import evaluate


def predictions(method: str = "binomial", **columns: Any) -> pd.DataFrame:
    """Return predictions of as many jobs as the first column has."""
    jobs = len(next(iter(columns.values())))
    usual = {
        "job_number": range(jobs),
        "job_occurrence": 0,
        "method": method,
        "queue": "1",
        "submit_time": np.arange(jobs) * 1.0,
        "submit_timestamp": pd.NaT,
        "wait_time": 10.0,
        "requested_time": 600.0,
        "processors": 4,
        "wait_bound": np.nan,
        "withheld_bound": np.nan,
        "no_prediction": None,
        "cluster": 0,
        "history_length": 59,
        "is_trimmed": False,
    }
    return pd.DataFrame(usual | columns)


def test_by_hand() -> None:
    """Four jobs are told bounds, of which one is too low; one is told nothing, one is of the training."""
    table = predictions(
        wait_time=[10.0, 10.0, 10.0, 0.0, 10.0, 10.0],
        wait_bound=[10.0, 20.0, 5.0, 40.0, np.nan, np.nan],
        withheld_bound=[np.nan] * 4 + [30.0, 10.0],
        no_prediction=[None] * 4 + ["unavailable", "training"],
    )
    row = evaluate(table, grouped_by=["all"]).iloc[0]
    assert (row["jobs"], row["predicted"], row["correctness"]) == (5, 4, 0.75)
    assert row["standard_error"] == pytest.approx(np.sqrt(0.75 * 0.25 / 4))
    assert not row["is_correct"]
    assert row["rms_over"] == pytest.approx(np.sqrt((0 + 100 + 1600) / 3))
    assert row["rms_ratio"] == 1.0
    assert row["median_tightness"] == pytest.approx(1.5)  # of 1, 2, .5 and 40, for no wait counts as 1 s
    assert row["p90_tightness"] == pytest.approx(np.quantile([1, 2, 0.5, 40], 0.9))
    assert row["share_not_predicted"] == pytest.approx(1 / 5)
    assert row["withheld_correctness"] == 1.0


def test_ratios() -> None:
    """The method that is compared with, divided by each: above 1 is tighter."""
    tables = [predictions("binomial", wait_bound=[30.0, 30.0]), predictions("mine", wait_bound=[20.0, 20.0])]
    found = evaluate(tables, grouped_by=["all", "queue"])
    assert found["method"].tolist() == ["binomial", "mine"] * 2
    assert found["rms_ratio"].tolist() == [1.0, 2.0] * 2
    assert evaluate(tables, compare_with="mine", grouped_by=["all"])["rms_ratio"].tolist() == [0.5, 1.0]
    assert evaluate(tables, compare_with="nobody", grouped_by=["all"])["rms_ratio"].isna().all()


def test_groups() -> None:
    """In order: months, queues by number, classes by size; what is not known comes last."""
    table = predictions(
        wait_bound=[20.0] * 4,
        queue=["10", "9", "unknown", "9"],
        processors=pd.array([1, 65, None, 4], dtype="Int64"),
        requested_time=[900.0, 901.0, np.nan, 1e9],
        submit_timestamp=pd.to_datetime(["2024-02-01", "2024-01-31", "2024-02-03", "2024-02-09"], utc=True),
    )
    found = evaluate(table)
    assert list(found) == list(table_fields("wait_evaluation"))
    groups = {name: part["group"].tolist() for name, part in found.groupby("grouped_by", sort=False)}
    assert list(groups) == ["all", "queue", "month", "processors", "requested_time"]
    assert groups["queue"] == ["9", "10", "unknown"]
    assert groups["month"] == ["2024-01", "2024-02"]
    assert groups["processors"] == ["1", "2-4", "65 and more", "unknown"]
    assert groups["requested_time"] == ["to 15 minutes", "to 1 hour", "more", "unknown"]
    assert found.groupby("grouped_by")["jobs"].sum().eq(4).all()


def test_months_without_a_calendar() -> None:
    """Thirty days each."""
    found = evaluate(
        predictions(wait_bound=[20.0] * 3, submit_time=[0.0, 30 * 86_400.0 - 1, 30 * 86_400.0]), grouped_by=["month"]
    )
    assert found[["group", "jobs"]].to_numpy().tolist() == [["month 0000", 2], ["month 0001", 1]]


def test_nothing_to_score() -> None:
    """No value is made up."""
    for table in (predictions(wait_bound=[np.nan] * 3, no_prediction=["unavailable"] * 3), predictions(wait_bound=[])):
        found = evaluate(table)
        assert found[["correctness", "rms_over", "rms_ratio", "median_tightness"]].isna().all(axis=None)
        assert found["is_correct"].isna().all()


def test_what_is_refused() -> None:
    """The same jobs twice, a grouping that there is not, and a quantile that is none."""
    table = predictions(wait_bound=[20.0])
    with pytest.raises(ParameterError, match="several predictions of one method for one job"):
        evaluate([table, table])
    with pytest.raises(ParameterError, match="grouped_by='colour' is not one of: all, queue"):
        evaluate(table, grouped_by=["colour"])
    with pytest.raises(ParameterError, match="quantile=2"):
        evaluate(table, quantile=2)
