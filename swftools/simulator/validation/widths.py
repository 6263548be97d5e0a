# SPDX-License-Identifier: BSD-3-Clause
"""The widths that jobs may run on, and how long they take there: speedup curves, as the rules look at them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.models.speedup import run_time
from swftools.trace import Trace

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

CURVE_COLUMNS = ("speedup_curve", "downey_a", "downey_sigma", "minimum_processors", "maximum_processors")


def moldable_jobs(jobs: pd.DataFrame) -> BoolArray:
    """Return which jobs have a speedup curve; none where the columns of curves are not all there."""
    if not set(CURVE_COLUMNS) <= set(jobs.columns):
        return np.zeros(len(jobs), np.bool_)
    return jobs["speedup_curve"].notna().to_numpy(dtype=np.bool_)


def stretch_on(trace: Trace, row: IntArray, processors: IntArray) -> FloatArray:
    """Return by what times of jobs are multiplied on a number of processors, S(own width) / S(processors).

    Parameters
    ----------
    trace : Trace
        Its speedup columns, if there.
    row : numpy.ndarray of int64, shape (runs,)
        Rows of the trace; -1 is none.
    processors : numpy.ndarray of int64, shape (runs,)
        That each of them runs on.

    Returns
    -------
    numpy.ndarray of float64, shape (runs,)
        1 on the job's own width; 0 where it cannot run on so many; NaN without row.
    """
    own = trace.views.width
    width = own[row] if (row >= 0).all() else np.append(own, -1)[row]
    stretch = (width == processors).astype(np.float64)
    stretch[row < 0] = np.nan
    places = np.flatnonzero((stretch == 0.0) & (processors >= 1) & (width >= 1))
    places = places[moldable_jobs(trace.jobs)[row[places]]]
    if not len(places):
        return stretch
    columns = trace.jobs.iloc[row[places]].assign(run_time=1.0, sequential_run_time=1.0, width=width[places])
    least, most = (
        columns[name].to_numpy(dtype=np.float64, na_value=np.nan)
        for name in ("minimum_processors", "maximum_processors")
    )
    fits = (least <= processors[places]) & (processors[places] <= most)
    places, columns = places[fits], columns[fits]
    times = run_time(processors[places], columns) / run_time(width[places], columns)
    stretch[places] = np.where(times > 0, times, 0.0)  # NaN where a curve does not reach
    return stretch
