# SPDX-License-Identifier: BSD-3-Clause
"""What the experiments of Barsanti and Sodan 2006 measure, beside values made by hand and by plain pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from pipelines.papers.barsanti2006 import comparison
from pipelines.papers.barsanti2006.comparison import APPROACHES, CIRNE_BERMAN, EDGES, FIXED, SCOJO, ComparisonOfPaper
from pipelines.papers.barsanti2006.workloads import CLASSES, WorkloadOfPaper, classes_of, made, optimal_times
from swftools import Trace
from swftools.simulator import simulate
from tests.drawn import draw_trace
from tests.simulator.policies.moldable_crowds import rigid

SMALL: dict[str, Any] = {"jobs": 400}


def measured(parameters: ComparisonOfPaper, seed: int = 1) -> pd.Series:  # type: ignore[type-arg]
    """Return the values that an experiment measures, by subject, place and measure."""
    found = comparison.measure_comparison(draw_trace("submit run width / 0 1 1"), parameters, seed)
    assert not found.duplicated(["subject", "x", "measure"]).any()
    return found.set_index(["subject", "x", "measure"])["value"]


def test_a_workload_is_the_papers() -> None:
    """Simple curves: half to twice the width that the model gives, which is the best; run times are known exactly."""
    jobs = made(WorkloadOfPaper(**SMALL), 5).jobs
    own = jobs["requested_processors"].to_numpy(dtype=int)
    assert (jobs["optimal_processors"] == own).all()
    assert (jobs["minimum_processors"] == np.maximum(-(-own // 2), 1)).all()
    assert (jobs["maximum_processors"] == np.minimum(2 * own, 128)).all()
    assert (jobs["requested_time"] == jobs["run_time"]).all()
    assert optimal_times(jobs).tolist() == jobs["run_time"].tolist()
    other = made(WorkloadOfPaper(**SMALL), 6).jobs
    assert not other["run_time"].equals(jobs["run_time"])


def test_a_share_of_the_jobs_is_rigid() -> None:
    """A fifth of each class, within chance; they keep their width."""
    trace = made(WorkloadOfPaper(jobs=4000, moldable_share=0.8), 2)
    kinds = classes_of(optimal_times(trace.jobs))
    for kind in CLASSES:
        assert trace.jobs["is_moldable"][kinds == kind].mean() == pytest.approx(0.8, abs=0.06)
    jobs = simulate(trace, "scojo-p").jobs
    kept = jobs["allocated_processors"] == trace.jobs["requested_processors"]
    assert kept[~trace.jobs["is_moldable"]].all()
    assert not kept[trace.jobs["is_moldable"]].all()


def test_classes_begin_at_a_minute_and_an_hour() -> None:
    """59 s are short, 60 s medium, 3,599 s medium, 3,600 s long."""
    assert classes_of(np.array([59.0, 60.0, 3599.0, 3600.0])).tolist() == ["short", "medium", "medium", "long"]


def test_requests_may_be_estimates() -> None:
    """No job runs longer than it is said to, and most are said to run much longer."""
    jobs = made(WorkloadOfPaper(**SMALL, requests="estimated"), 5).jobs
    assert (jobs["requested_time"] >= jobs["run_time"]).all()
    assert (jobs["requested_time"] > 2 * jobs["run_time"]).mean() > 0.5


def test_means_of_the_jobs_that_are_kept() -> None:
    """The first and the last 5 % by submission are left out; each measure as pandas has it from the schedule."""
    parameters = ComparisonOfPaper(**SMALL)
    found = measured(parameters)
    trace = made(parameters, 1)
    jobs = simulate(trace, "cirne-berman", 128).jobs
    response = jobs["wait_time"] + jobs["run_time"]
    kept = jobs.index.isin(jobs.index[20:-20])
    long = kept & (trace.jobs["run_time"] >= 3600)
    assert found[CIRNE_BERMAN, "all", "mean response"] == pytest.approx(response[kept].mean() / 3600)
    assert found[CIRNE_BERMAN, "long", "mean wait"] == pytest.approx(jobs["wait_time"][long].mean() / 3600)
    assert found[CIRNE_BERMAN, "long", "mean run time"] == pytest.approx(jobs["run_time"][long].mean() / 3600)
    assert found[CIRNE_BERMAN, "all", "mean response, 10 % cut"] == pytest.approx(response[40:-40].mean() / 3600)
    ratio = response / np.maximum(trace.jobs["run_time"], 30)
    bounded = np.where(trace.jobs["run_time"] < 30, np.maximum(ratio, 1), ratio)  # who is expanded may be below 1
    assert found[CIRNE_BERMAN, "all", "mean bounded slowdown"] == pytest.approx(bounded[kept].mean())
    own = trace.jobs["requested_processors"]
    assert found[CIRNE_BERMAN, "long", "shrunk jobs"] == (jobs["allocated_processors"] < own)[long].sum()
    assert found[CIRNE_BERMAN, "long", "expanded jobs"] == (jobs["allocated_processors"] > own)[long].sum()
    best = trace.jobs["optimal_processors"]
    assert found["workload", "all", "mean optimal width"] == pytest.approx(best.mean())
    assert found["workload", "long", "mean optimal width"] == pytest.approx(best[trace.jobs["run_time"] >= 3600].mean())
    assert found[FIXED, "all", "shrunk jobs"] == found[FIXED, "all", "expanded jobs"] == 0


def test_utilization_while_jobs_were_submitted() -> None:
    """Processor time of runs within the submissions that are kept, over all there is then."""
    parameters = ComparisonOfPaper(**SMALL)
    jobs = simulate(made(parameters, 1), "fixed", 128).jobs
    begin, end = jobs["submit_time"].iloc[20], jobs["submit_time"].iloc[-21]
    within = np.minimum(jobs["end_time"], end) - np.maximum(jobs["start_time"], begin)
    used = (within.clip(lower=0) * jobs["allocated_processors"]).sum() / (128 * (end - begin))
    assert measured(parameters)[FIXED, "", "utilization"] == pytest.approx(100 * used)


def test_histograms_have_each_job_once() -> None:
    """An edge belongs to the group below it."""
    found = measured(ComparisonOfPaper(**SMALL))
    for kind in CLASSES:
        counts = [found[SCOJO, f"{kind} {edge:g}", "jobs"] for edge in (*EDGES[kind], np.inf)]
        workload = made(ComparisonOfPaper(**SMALL), 1)
        assert sum(counts) == (classes_of(optimal_times(workload.jobs))[20:-20] == kind).sum()
    rows = comparison._histogram("name", "long", np.array([1.0, 1.5, 300.0]))
    assert [value for *_, value in rows] == [1, 1, 0, 0, 0, 0, 0, 0, 1]


def test_what_is_to_come_is_that_of_the_model_with_simple_curves_only() -> None:
    """With the workload's own alpha; with other curves it is learned from the past."""
    policies = comparison.policies_of(ComparisonOfPaper(alpha=9.83))
    assert policies[SCOJO] == "scojo-p:profiles=model,alpha=9.83"
    assert comparison.policies_of(ComparisonOfPaper(curves="cirne-berman"))[SCOJO] == "scojo-p"


@pytest.mark.parametrize("approaches", APPROACHES)
def test_every_set_is_measured(approaches: str) -> None:
    """Each approach has every measure, of all jobs and of each class."""
    found = measured(ComparisonOfPaper(jobs=200, approaches=approaches))
    for name in APPROACHES[approaches]:
        assert found[name, "all", "mean response"] > 0
        assert {place for subject, place, _ in found.index if subject == name} >= {"all", *CLASSES, ""}


def test_of_rigid_jobs_all_approaches_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no job is moldable nothing is left to choose."""
    monkeypatch.setattr(comparison, "made", lambda parameters, seed: rigid_jobs(made(parameters, seed)))
    found = measured(ComparisonOfPaper(**SMALL)).unstack("subject")
    responses = found.loc[("all", "mean response")].drop("workload")
    assert responses.nunique() == 1


def rigid_jobs(trace: Trace) -> Trace:
    """Return a workload none of whose jobs is moldable."""
    return rigid(trace)


def test_a_log_is_given_curves() -> None:
    """Jobs that did not run are left out; seeds draw other curves."""
    log = draw_trace("submit run width / 0 100 4 / 0 0 4 / 5 100 4 / 9 4000 8", processors=8)
    found = comparison.measure_log(log, comparison.LogOfPaper(curves="cirne-berman"), 3)
    values = found.set_index(["subject", "x", "measure"])["value"]
    assert values["workload", "all", "jobs"] == 3
    other = comparison.measure_log(log, comparison.LogOfPaper(curves="cirne-berman"), 4)
    assert not other["value"].equals(found["value"])
