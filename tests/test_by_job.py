# SPDX-License-Identifier: BSD-3-Clause
"""Values given for each job: a Series by its index, through every function that takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.by_job import in_order_of, mask_of
from swftools.checkpoints.survey import summarize_checkpoint_survey
from swftools.errors import ParameterError
from swftools.estimates import study_estimates
from swftools.models.speedup import downey_maximum_processors, downey_speedup, efficiency, run_time, simple_speedup
from swftools.qbets.clusters import cluster
from swftools.qbets.published_statistics import prediction_figures
from swftools.simulator import Simulation, measure, simulate
from swftools.simulator.metrics.over_time import over_time

TRACE = Trace.from_columns(
    machine_processors=4,
    job_number=[1, 2, 3, 4],
    submit_time=[0, 1, 2, 3],
    run_time=[100, 10, 30, 5],
    requested_time=[100, 20, 60, 20],
    requested_processors=[4, 1, 2, 4],
)
SCHEDULE = simulate(TRACE, "fcfs", compiled=False)
WIDTHS = np.array([2, 4, 8, 16])
CURVES = pd.DataFrame(
    {
        "speedup_curve": ["simple", "downey", "simple", None],
        "downey_a": [np.nan, 5.0, np.nan, np.nan],
        "downey_sigma": [np.nan, 0.5, np.nan, np.nan],
        "width": [2, 4, 8, 16],
        "run_time": [100.0, 200.0, 300.0, 400.0],
        "sequential_run_time": [130.0, 500.0, 1560.0, np.nan],
    }
)
FIRST = pd.Series([1.0, 2.0, 3.0, 4.0])
MASK = np.array([True, False, True, False])
FLOATS = np.array([10.0, 20.0, 15.0, 5.0])


def left_without(given: Any) -> list[int]:
    """Return the jobs that are left where some vanish while one runs."""
    simulation = Simulation(TRACE, "fcfs", compiled=False).run(until=3.5).without(given)
    return list(simulation.run().schedule().jobs["job_number"])


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "measure": (lambda given: measure(SCHEDULE, where=given)["value"].tolist(), MASK),
    "measure by": (lambda given: measure(SCHEDULE, where=given, by="job_number")["value"].tolist(), MASK),
    "measure by a function": (lambda given: measure(SCHEDULE, where=lambda _: given)["value"].tolist(), MASK),
    "over time": (lambda given: over_time(SCHEDULE, where=given).to_numpy().tolist(), MASK),
    "without": (left_without, np.array([False, False, False, True])),
    "estimates": (lambda given: study_estimates(TRACE, given).answers.astype(str).to_numpy().tolist(), FLOATS),
    "run time": (lambda given: run_time(given, CURVES).tolist(), WIDTHS),
    "efficiency": (lambda given: efficiency(given, CURVES).tolist(), WIDTHS),
    "survey": (
        lambda given: summarize_checkpoint_survey(pd.Series([0, 1, 2, 1]), given).astype(str).to_numpy().tolist(),
        FLOATS,
    ),
    "verdicts": (lambda given: dict(prediction_figures(pd.Series([0.0, 100, 20, 700]), given)), FLOATS),
    "clusters": (lambda given: cluster(FIRST, given, most=2, least_size=1).tolist(), FLOATS * [1, 100, 1, 100]),
    "downey": (lambda given: downey_speedup(FIRST, given, 1.0).tolist(), FLOATS),
    "most processors": (lambda given: downey_maximum_processors(FIRST + 1, given / 10).tolist(), FLOATS),
    "simple": (lambda given: simple_speedup(FIRST + 1, given).tolist(), WIDTHS),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_series_is_taken_by_its_index(name: str) -> None:
    """However it is sorted; an array by its order; and one of other jobs, or of some of them, is refused."""
    make, values = FUNCTIONS[name]
    expected = repr(make(pd.Series(values)))
    assert expected == repr(make(values))
    for order in ([3, 2, 1, 0], [1, 3, 0, 2]):
        assert expected == repr(make(pd.Series(values).iloc[order]))
        assert expected != repr(make(values[order]))
    for labels in ([0, 1, 2, 4], [0, 1, 2, 2], ["a", "b", "c", "d"]):
        with pytest.raises(ParameterError, match="another index than the jobs"):
            make(pd.Series(values, labels))
    with pytest.raises(ParameterError, match="3 values with an index, and there are 4 jobs"):
        make(pd.Series(values).iloc[[3, 1, 0]])


def test_masks_of_any_kind() -> None:
    """Lists, arrays, and nullable columns; what is no truth value, or missing, is refused."""
    jobs = pd.DataFrame({"a": [1, 2, 3]})
    for mask in ([True, False, True], np.array([True, False, True]), pd.array([True, False, True], dtype="boolean")):
        assert mask_of(jobs, mask, "where").tolist() == [True, False, True]
    for wrong in ([1, 0, 1], [True], [[True, False, True]], pd.array([True, None, True], dtype="boolean"), "abc"):
        with pytest.raises(ParameterError, match=r"where gives .* give a truth value for each of 3 jobs"):
            mask_of(jobs, wrong, "where")
    assert mask_of(jobs.iloc[:0], [], "where").tolist() == []


def test_labels_that_repeat_do_not_say_whose_a_value_is() -> None:
    """As of two tables below each other; the very index of the jobs is taken all the same."""
    twice = pd.Series([True, False, True], [0, 1, 1])
    assert mask_of(twice.to_frame(), twice, "where").tolist() == [True, False, True]
    with pytest.raises(ParameterError, match="where has another index than the jobs"):
        mask_of(twice.to_frame(), twice.iloc[[1, 0, 2]], "where")


@given(order=st.permutations(range(6)))
def test_any_order_is_undone(order: list[int]) -> None:
    """Also of tables, and where jobs have labels that are not their places."""
    index = pd.Index([10, 7, 3, 8, 99, 1])
    frame = pd.DataFrame({"a": range(6), "b": list("uvwxyz")}, index)
    assert frame.equals(in_order_of(index, frame.iloc[order], "it"))
    assert frame["a"].equals(in_order_of(index, frame["a"].iloc[order], "it"))
