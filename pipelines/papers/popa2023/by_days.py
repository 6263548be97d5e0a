# SPDX-License-Identifier: BSD-3-Clause
"""Figures of days, and their means: rows of a day stood in one queue, so standard errors are those of days."""

from __future__ import annotations

from math import nan

import numpy as np

from pipelines.papers.paper import Measurements, Run
from swftools.kernel import FloatArray


def by_day(found: Measurements, log: str, run: Run, measure: str, subject: str = "day") -> dict[str, float]:
    """Return a measure by day."""
    rows = found.table[(found.table["log"] == log) & (found.table["experiment"] == run.text)]
    own = rows[(rows["subject"] == subject) & (rows["measure"] == measure) & (rows["x"] != "")]
    return dict(zip(own["x"], own["value"].astype(float), strict=True))


def weighted(each: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Return the mean over days, weighted, NaN of no day; and its standard error, NaN of fewer than two.

    It is that of a ratio of sums, as over a sample of clusters (Cochran 1977, section 6.4: n / (n - 1)).
    """
    days = len(each)
    if not days or np.isnan(each).any() or not weight.sum():
        return nan, nan
    mean = float((each * weight).sum() / weight.sum())
    error = float(np.sqrt((((each - mean) * weight) ** 2).sum()) / weight.sum())
    return mean, error * (days / (days - 1)) ** 0.5 if days > 1 else nan


def paired(found: Measurements, log: str, run: Run, base: Run) -> tuple[float, float]:
    """Return by how much the error of one run is above that of another, and the standard error, over the same days."""
    ours, theirs = (by_day(found, log, each, "mse") for each in (run, base))
    rows = by_day(found, log, run, "rows")
    days = [day for day in ours if day in theirs]
    each = np.array([ours[day] - theirs[day] for day in days])
    return weighted(each, np.array([rows[day] for day in days]))


def error_of(found: Measurements, log: str, run: Run, measure: str, subject: str = "day") -> float:
    """Return the standard error of a figure of all rows: that of its mean over days, weighted by rows."""
    each, rows = (by_day(found, log, run, name, subject) for name in (measure, "rows"))
    return weighted(np.array(list(each.values())), np.array([rows[day] for day in each]))[1]
