# SPDX-License-Identifier: BSD-3-Clause
"""What goes beyond Lee 2009: stretches of other logs, and users who exaggerate."""

from __future__ import annotations

import numpy as np
import pytest

from pipelines.papers.lee2009.elsewhere import (
    ElsewhereParameters,
    measure_elsewhere,
    stretch_of,
    with_utility,
    worth_of,
)
from pipelines.papers.lee2009.exaggeration import ExaggerationParameters, liars_of, measure_exaggeration, reported
from swftools import Trace, offered_load
from swftools.simulator import simulate
from swftools.utility.functions import UtilityFunctions
from tests.strategies import crowded_trace

TRUE = UtilityFunctions.from_points([[(0, 8), (5, 6), (60, 2)], [], [(0, 5), (10, 0)]])


def test_who_doubles() -> None:
    """The values of those who lie, and of nobody else."""
    said = reported(TRUE, np.array([True, True, False]), "doubled")
    assert said.values.tolist() == [16, 12, 4, 5, 0]
    assert (said.times.tolist(), said.offsets.tolist()) == (TRUE.times.tolist(), TRUE.offsets.tolist())


def test_who_claims_a_step() -> None:
    """The first value up to the deadline; a job without a function has none to lie about."""
    said = reported(TRUE, np.array([True, True, False]), "step")
    assert [[part.tolist() for part in said[i]] for i in range(3)] == [[[0, 60], [8, 8]], [[], []], [[0, 10], [5, 0]]]


def test_who_lies_is_drawn_by_user() -> None:
    """All jobs of a user or none; of each share so many users; the seed says which."""
    trace = crowded_trace(200, seed=1)
    lies = liars_of(trace, 0.5, 3)
    by_user = trace.jobs.assign(lies=lies).groupby("user_id")["lies"]
    assert (by_user.nunique() == 1).all()
    assert by_user.first().sum() == 4
    assert (liars_of(trace, 0.5, 3) == lies).all()
    assert (liars_of(trace, 0.5, 4) != lies).any()
    assert not liars_of(trace, 0.0, 3).any()
    assert liars_of(trace, 1.0, 3).all()


def test_a_stretch_offers_its_load(cleaned: Trace) -> None:
    """So many jobs from there on; the last ones where the log is shorter."""
    for first in (0, 1000, 10**9):
        stretch = stretch_of(cleaned, first, 400, 0.8)
        assert len(stretch) == 400
        assert offered_load(stretch) == pytest.approx(0.8, rel=1e-4)


def test_what_is_measured_is_what_is_true(cleaned: Trace) -> None:
    """Where all double nothing changes; where all claim a step they earn otherwise; the rest is by hand."""
    few = ExaggerationParameters(share=1.0, policy="genetic:generations=1", jobs=200)
    found = measure_exaggeration(cleaned, few, 0).set_index("subject")["value"]
    assert (found["all"], found["others"]) == (1.0, 1.0)
    assert np.isnan(found["honest"])
    parameters = ElsewhereParameters(policy="easy", jobs=200, first=100, load=0.9)
    stretch = stretch_of(cleaned, 100, 200, 0.9)
    ran = cleaned.jobs["run_time"].ge(0).fillna(False) & cleaned.jobs["allocated_processors"].gt(0).fillna(False)
    logged = cleaned.with_jobs(cleaned.jobs[ran].iloc[100:300].reset_index(drop=True))
    valued = with_utility(stretch, logged, 5)
    schedule = simulate(valued, "easy", cleaned.processors)
    expected = np.nansum(worth_of(schedule.jobs, valued))
    assert measure_elsewhere(cleaned, parameters, 5)["value"].tolist() == [expected]
