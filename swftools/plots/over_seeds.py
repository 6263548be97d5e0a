# SPDX-License-Identifier: BSD-3-Clause
"""What the pictures of a comparison share: a metric by its name, and means over seeds with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.parameters import did_you_mean
from swftools.plots.style import count_axis, duration_axis
from swftools.simulator.measure_definitions import HIGHER, LOWER, MEASURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = ("policy", "job_class", "measure", "statistic", "value", "unit")
"""Those of the table comparison that are needed; it may have ``seed`` and ``log`` beside them."""

_STATISTICS = {
    "mean": "mean {}",
    "max": "largest {}",
    "min": "least {}",
    "total": "total {}",
    "time_mean": "mean {} over time",
    "mean_by_processors": "mean {} by processors",
}

METRIC = "bounded_slowdown_mean"
"""What is shown if nothing else is asked for."""

_QUANTILES = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
"""Of Student's t distribution, at 97.5 %, with 1 to 30 degrees of freedom."""


def rows_of_metric(comparison: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the known values of a metric over all jobs: ``log`` (in words, empty if there is none), policy and so on.

    Parameters
    ----------
    comparison : pandas.DataFrame
        As ComparePolicies publishes it, or several below each other with a column ``log``.
    metric : str
        Measure and statistic, such as wait_p98; the measure alone, such as makespan, if its statistic is value.

    Raises
    ------
    ParameterError
        There is no such metric.
    """
    measure, statistic = (comparison[name].astype(str) for name in ("measure", "statistic"))
    names = measure.where(statistic == "value", measure + "_" + statistic)
    known = names.drop_duplicates().tolist()
    if metric not in known and known:
        raise ParameterError(f"no metric {metric!r} in the table{did_you_mean([metric], known)}")
    rows = comparison[(names == metric) & (comparison["job_class"].astype(str) == "all")].dropna(subset=["value"])
    log = rows["log"].astype(str) if "log" in rows else ""
    seed = rows.get("seed", 0)  # measures of schedules have none
    return rows.assign(log=log, seed=seed, policy=rows["policy"].astype(str), value=rows["value"].astype(float))


def interval(values: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the mean of some draws, and between what it lies by Student's t at 95 %; of one draw that is missing.

    Examples
    --------
    >>> [round(each, 3) for each in interval(np.array([1.0, 2.0, 3.0]))]
    [2.0, -0.484, 4.484]
    """
    count, mean = len(values), float(values.mean())
    if count < 2:
        return mean, np.nan, np.nan
    free = count - 1
    quantile = _QUANTILES[free - 1] if free <= len(_QUANTILES) else 1.95996 + 2.3722 / free + 2.8225 / free**2
    half = quantile * float(values.std(ddof=1)) / float(np.sqrt(count))
    return mean, mean - half, mean + half


def worse_of(metric: str) -> str:
    """Return which values of a metric are worse, "higher" or "lower"; "" where neither is known to be."""
    measure = max((name for name in MEASURES if metric == name or metric.startswith(f"{name}_")), key=len, default="")
    worse = MEASURES[measure].worse if measure else ""
    return worse if worse in (HIGHER, LOWER) else ""


def words_of(metric: str, unit: str) -> str:
    """Return a metric with its unit, for an axis or the heading of a table.

    Examples
    --------
    >>> words_of("wait_p98", "s"), words_of("utilization_time_mean", "1")
    ('.98 quantile of wait, s', 'mean utilization over time')
    """
    measure = max((name for name in MEASURES if f"{metric}_".startswith(f"{name}_")), key=len, default=metric)
    statistic, name = metric[len(measure) + 1 :], measure.replace("_", " ")
    whole = _STATISTICS.get(statistic, "{} " + statistic.replace("_", " "))
    words = f".{statistic[1:]} quantile of {name}" if statistic[1:].isdigit() else whole.format(name).strip()
    return words if unit in ("1", "") else f"{words}, {unit}"


def value_axis(axes: Axes, unit: str) -> None:
    """Label the x axis by few round values: of times in whole seconds, minutes, hours or days."""
    from matplotlib.ticker import MaxNLocator, MultipleLocator  # noqa: PLC0415 (an extra)

    low, high = axes.get_xlim()
    if unit != "s":
        axes.xaxis.set_major_locator(MaxNLocator(5))
        count_axis(axes, "x")
        return
    duration_axis(axes, "x", is_log=False)
    length = next((each for each in (86_400.0, 3600.0, 60.0) if high - low > 2 * each), 1.0)
    step = next(each for each in _STEPS if (high - low) / (each * length) <= 5)
    axes.xaxis.set_major_locator(MultipleLocator(step * length))


_STEPS = (*(1, 2, 5, 10, 20), *(each * 10.0**power for power in range(2, 15) for each in (0.5, 1, 2)))
