# SPDX-License-Identifier: BSD-3-Clause
"""Arrivals scaled by a factor that stays: each job's time follows from its own."""

from __future__ import annotations

import numpy as np
import pytest

from pipelines.logs.find import SHIPPED_LOG
from pipelines.logs.load import load_log
from swftools import Trace
from swftools.errors import ParameterError
from swftools.models.arrivals import ArrivalParameters, fit_factor, generate_arrivals, scale_arrivals


def test_times_between_are_those_of_model_scaled() -> None:
    """But for the first job, which model scaled leaves where it was."""
    trace = load_log(SHIPPED_LOG).trace
    first = trace.jobs["submit_time"].min()
    parameters = ArrivalParameters(model="scaled", load=0.9)
    factor = fit_factor(trace, parameters)
    expected = generate_arrivals(trace, parameters)["model_submit_time"]
    assert first > 0
    assert (abs(scale_arrivals(trace, factor)["model_submit_time"] - expected - first * (factor - 1)) <= 1).all()


def test_factor_that_is_given() -> None:
    """Needs no jobs to be fitted to."""
    assert fit_factor(Trace.from_columns(job_number=[]), ArrivalParameters(model="scaled", factor=3)) == 3


def test_missing_and_no_submissions() -> None:
    """Stay missing; a trace without jobs has a column without rows."""
    trace = Trace.from_columns(job_number=[1, 2], submit_time=[np.nan, 7])
    assert scale_arrivals(trace, 2)["model_submit_time"].fillna(-1).tolist() == [-1.0, 14.0]
    empty = scale_arrivals(Trace.from_columns(job_number=[], submit_time=[]), 2)
    assert (len(empty), empty["model_submit_time"].dtype) == (0, np.float64)


def test_load_that_cannot_be_met_or_told() -> None:
    """A trace that lacks what a load needs, and times beyond what a log can say, are refused."""
    with pytest.raises(ParameterError, match="two jobs submitted at different times"):
        fit_factor(Trace.from_columns(job_number=[1]), ArrivalParameters(model="scaled", load=1))
    with pytest.raises(ParameterError, match="the last job would come at"):
        scale_arrivals(Trace.from_columns(job_number=[1], submit_time=[1e9]), 11)
