"""A detector that proposes flurries: stretches of a log in which a single user submits a great part of the jobs.

It only proposes. Whether a burst is a flurry is for a person to say, in the log's card, under the cleaning rule
``flurries``; the columns of the proposal are what that rule takes.

References
----------
Tsafrir, Feitelson 2006, "Instability in parallel job scheduling simulation: the role of workload flurries".
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.trace import Trace


def propose_flurries(trace: Trace, *, least_jobs: int = 400, least_share: float = 0.25, times_usual: float = 10.0) -> pd.DataFrame:
    """Propose flurries of a log: one row each, the largest first.

    For each user the stretch of consecutive submissions is found in which the user's jobs, less ``least_share``
    of all jobs, are most (a maximum-sum stretch). It is proposed if the user submitted at least ``least_jobs``
    jobs in it, and at least ``times_usual`` times as densely as that user did outside it.

    Parameters
    ----------
    trace : Trace
        In order of submission; jobs without user or job number are passed over.
    least_jobs : int
        Fewest jobs of a flurry. The smallest that the archive filtered from our five logs has 452.
    least_share : float
        Share of all submissions, between 0 and 1. The archive's have 28 % to 94 %.
    times_usual : float
        Ratio of the user's share of submissions inside and outside the stretch.

    Returns
    -------
    pandas.DataFrame
        user, first_job, last_job (job numbers, inclusive), jobs, share, submit_time of the first and of the
        last in seconds (from_time, to_time).

    Raises
    ------
    ParameterError
        A parameter is outside its domain.

    Differs from the source: Tsafrir and Feitelson pick flurries out by eye from plots of submissions; the
    criterion above is ours, tested by planting the archive's published flurries in clean logs.

    Examples
    --------
    >>> users = [1, 2, 3, 4] * 500 + [9] * 600 + [1, 2, 3, 4] * 500
    >>> trace = Trace.from_columns(job_number=range(1, 4601), submit_time=range(4600), user_id=users)
    >>> propose_flurries(trace)[["user", "first_job", "last_job", "jobs"]].values.tolist()
    [[9, 2001, 2600, 600]]
    """
    if least_jobs < 1 or not 0 < least_share < 1 or times_usual < 1:
        raise ParameterError(
            f"least_jobs={least_jobs} must be positive, least_share={least_share} between 0 and 1 and "
            f"times_usual={times_usual} at least 1"
        )
    arrays = trace.arrays
    known = (arrays.user_id >= 0) & (arrays.job_number >= 0)
    user, number, submit = arrays.user_id[known], arrays.job_number[known], arrays.submit_time[known]
    rows = []
    order = np.argsort(user, kind="stable")
    starts = np.flatnonzero(np.diff(user[order], prepend=-1))
    for positions in np.split(order, starts[1:]):
        if len(positions) < least_jobs:
            continue
        first, last = _densest_stretch(positions, least_share)
        jobs = last - first + 1
        length = positions[last] - positions[first] + 1
        outside = (len(positions) - jobs) / max(len(user) - length, 1)
        if jobs >= least_jobs and jobs / length >= times_usual * outside:
            begin, end = positions[first], positions[last]
            rows.append((user[begin], number[begin], number[end], jobs, jobs / length, submit[begin], submit[end]))
    names = ["user", "first_job", "last_job", "jobs", "share", "from_time", "to_time"]
    return pd.DataFrame(rows, columns=names).sort_values("jobs", ascending=False, kind="stable", ignore_index=True)


def _densest_stretch(positions: npt.NDArray[np.int64], share: float) -> tuple[int, int]:
    """Return the first and last of a user's jobs whose stretch has the greatest (jobs - share x length).

    With weight(k) = k - share x position(k), the sum from job i to job j is weight(j) - weight(i) + 1 - share,
    so the best i for each j is the smallest weight so far: one pass.
    """
    weight = np.arange(len(positions)) - share * positions
    lowest = np.minimum.accumulate(weight)
    last = int(np.argmax(weight - lowest))
    first = int(np.flatnonzero(weight[: last + 1] == lowest[last])[-1])
    return first, last
