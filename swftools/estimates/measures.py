# SPDX-License-Identifier: BSD-3-Clause
"""What is measured of an estimate, and of which jobs it can be.

References
----------
Lee 2009, "On the user-scheduler relationship in high-performance computing", equations 5.1 and 5.2.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.cleaning.rules import CANCELLED
from swftools.trace import FloatArray, Trace

BoolArray = npt.NDArray[np.bool_]

NO_REQUEST, NO_RUN, NEVER_RAN = "no requested time", "no run time", "cancelled before they ran"
"""Why a job is not studied."""


def inaccuracy(said: FloatArray, run_time: FloatArray) -> FloatArray:
    """Return ``|said - run time| / said``: the inaccuracy of requested (5.1) or of estimated times (5.2).

    From 0 to 1 it is the share that was not used; above 1, the job ran more than twice as long as was said. A job that
    ran half as long and one that ran one and a half times as long are alike inaccurate.

    Examples
    --------
    >>> inaccuracy(np.array([100.0, 100.0, 100.0]), np.array([32.0, 168.0, 300.0])).tolist()
    [0.68, 0.68, 2.0]
    """
    found: FloatArray = np.abs(said - run_time) / said
    return found


def reasons(trace: Trace) -> dict[str, BoolArray]:
    """Return which jobs are not studied, by the first reason that holds.

    A request that is missing, 0 or less is unknown: logs write it so. A run time that is missing is unknown. A
    cancelled job (status 5) of run time 0 never ran. One that ran is studied, and so is a job of run time 0 that was
    not cancelled: it failed as soon as it began.
    """
    arrays = trace.views
    no_request = ~(np.isfinite(arrays.requested_time) & (arrays.requested_time > 0))
    no_run = ~(np.isfinite(arrays.run_time) & (arrays.run_time >= 0)) & ~no_request
    never_ran = (arrays.status == CANCELLED) & (arrays.run_time == 0) & ~no_request
    return {NO_REQUEST: no_request, NO_RUN: no_run, NEVER_RAN: never_ran}


def is_studied(trace: Trace) -> BoolArray:
    """Return which jobs of a trace can be studied."""
    left: BoolArray = ~np.logical_or.reduce(list(reasons(trace).values()))
    return left


def used_shares(used: FloatArray) -> pd.DataFrame:
    """Return how many jobs used how much of their request: by tenths, all of it, more.

    Parameters
    ----------
    used : array of float
        Run time / requested time.

    Returns
    -------
    pandas.DataFrame
        used_from and used_to (what it goes to is not included, but that of 1 to 1 is exactly 1), jobs, share of them.

    Examples
    --------
    >>> used_shares(np.array([0.0, 0.1, 0.95, 1.0, 1.0, 7.0]))["jobs"].tolist()
    [1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 1]
    """
    tenths = np.arange(11) / 10
    place = np.where(used > 1, 11, np.searchsorted(tenths, used, side="right") - 1)
    jobs = np.bincount(place, minlength=12)
    begins, ends = np.append(tenths, 1.0), np.concatenate((tenths[1:], [1.0, np.inf]))
    return pd.DataFrame({"used_from": begins, "used_to": ends, "jobs": jobs, "share": jobs / max(len(used), 1)})


def decreases(decrease: FloatArray) -> pd.DataFrame:
    """Return how many estimates were how much less than the request: a row each tenth.

    Parameters
    ----------
    decrease : array of float
        (Requested - estimated) / requested, above 0, at most 1.

    Returns
    -------
    pandas.DataFrame
        decrease_from (not included), decrease_to (included), jobs, share of them: the classes of Figure 5.3.

    Examples
    --------
    >>> decreases(np.array([0.1, 0.11, 0.2]))["jobs"].tolist()
    [1, 2, 0, 0, 0, 0, 0, 0, 0, 0]
    """
    tenths = np.arange(11) / 10
    jobs = np.bincount(np.searchsorted(tenths, decrease, side="left") - 1, minlength=10)
    share = jobs / max(len(decrease), 1)
    return pd.DataFrame({"decrease_from": tenths[:-1], "decrease_to": tenths[1:], "jobs": jobs, "share": share})
