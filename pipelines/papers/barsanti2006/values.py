# SPDX-License-Identifier: BSD-3-Clause
"""Means and paired ratios over seeds, with their standard errors, of what the comparisons measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np

from pipelines.papers.barsanti2006.comparison import ComparisonOfPaper, LogOfPaper
from pipelines.papers.barsanti2006.workloads import ALPHAS
from pipelines.papers.paper import Measurements, Run
from swftools.simulator.metrics.columns import FloatArray

SEEDS, QUICK_SEEDS, QUICK_JOBS = 24, 2, 1_000
"""Workloads of each kind; the paper has four. To be quick, two small ones."""

LOG = "SDSC-BLUE-2000-4.2-cln-5000-9999"
"""The log on which the experiments are run that draw their own jobs: any would do, and this one is shipped."""


Given = Mapping[str, Any]
"""A comparison: the paper's name of its workload, and parameters of ``ComparisonOfPaper``."""


class Estimate(NamedTuple):
    """A mean over seeds, and its standard error; NaN where nothing was measured, or a single seed has no error."""

    mean: float
    error: float

    @property
    def is_known(self) -> bool:
        """Whether anything was measured."""
        return not isnan(self.mean)


def runs_of(quick: bool, workload: str = "W1", **given: Any) -> list[Run]:
    """Return a comparison on workloads of the paper's name, one a seed."""
    parameters = ComparisonOfPaper(alpha=ALPHAS[workload], **given)
    if quick:
        parameters = replace(parameters, jobs=QUICK_JOBS)
    return [Run("comparison", parameters, seed) for seed in range(QUICK_SEEDS if quick else SEEDS)]


def runs_on_log(quick: bool, **given: Any) -> list[Run]:
    """Return a comparison on a log, one a seed of the curves."""
    return [Run("log", LogOfPaper(**given), seed) for seed in range(1 if quick else 8)]


def mean_of(found: Measurements, runs: list[Run], subject: str, measure: str, x: str = "", log: str = LOG) -> Estimate:
    """Return the mean of a measure over seeds."""
    return _estimate(_values(found, runs, subject, measure, x, log))


def ratio_of(
    found: Measurements, runs: list[Run], over: str, under: str, measure: str, x: str = "", log: str = LOG
) -> Estimate:
    """Return the mean over seeds of the ratio of two approaches on the same workload."""
    above, below = (_values(found, runs, subject, measure, x, log) for subject in (over, under))
    if len(above) != len(below):
        return Estimate(nan, nan)
    return _estimate(above[below > 0] / below[below > 0])


def _values(found: Measurements, runs: list[Run], subject: str, measure: str, x: str, log: str) -> FloatArray:
    """Return a measure, one value a seed."""
    return np.array(found.values(log, runs[0], subject, measure, x), dtype=float)


def _estimate(values: FloatArray) -> Estimate:
    if not len(values):
        return Estimate(nan, nan)
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else nan
    return Estimate(float(values.mean()), error)
