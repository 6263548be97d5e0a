# SPDX-License-Identifier: BSD-3-Clause
"""A detector that proposes flurries: stretches of a log in which a single user submits a great part of the jobs.

It only proposes. Whether a burst is a flurry is for a person to say, in the log's card, under the cleaning rule
``flurries``; the columns of the proposal are what that rule takes.

References
----------
Tsafrir, Feitelson 2006, "Instability in parallel job scheduling simulation: the role of workload flurries".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.trace import Trace

IntArray = npt.NDArray[np.int64]

_DTYPES: dict[str, Any] = {
    **dict.fromkeys(("user", "first_job", "last_job", "jobs"), "int64"),
    **dict.fromkeys(("share", "from_time", "to_time"), "float64"),
}


def propose_flurries(
    trace: Trace,
    *,
    least_jobs: int = 400,
    least_share: float = 0.25,
    times_usual: float = 10.0,
    times_others: float = 2.0,
) -> pd.DataFrame:
    """Propose flurries of a log: one row for each, the largest first.

    For each user, finds the stretch of consecutive submissions that maximizes the number of the user's jobs minus
    ``least_share`` times the number of all jobs in it (a maximum-sum stretch); for a user with a larger share of the
    whole log, that share is used. The stretch is proposed if it is at most half of the log, and the user submitted at
    least ``least_jobs`` jobs in it, at least ``times_usual`` times as densely as outside it and ``times_others`` times
    as densely as the busiest other user usually does elsewhere. Then the search goes on before and after it.

    Parameters
    ----------
    trace : Trace
        A log, cleaned or not. Jobs are taken in order of submission; those without user, job number or
        submission time are skipped.
    least_jobs : int
        Fewest jobs of a flurry. The smallest that the archive filtered from our five logs has 452.
    least_share : float
        Share of all submissions, between 0 and 1. The archive's have 28 % to 94 %.
    times_usual : float
        Ratio of the user's share of submissions inside and outside the stretch, at least 1.
    times_others : float
        Ratio of the user's share in the stretch and the median share of the busiest other user, over stretches about as
        long elsewhere in the log (2^k submissions, no more than the stretch has); at least 0, where 0 asks for none.

    Returns
    -------
    pandas.DataFrame
        user, first_job, last_job (lowest and highest job number), jobs, share (of all submissions in the
        stretch), and from_time, to_time (first and last submission, seconds). The first three are a range of
        the cleaning rule ``flurries``.

    Raises
    ------
    ParameterError
        A parameter is outside its domain.

    Notes
    -----
    Differs from the source: Tsafrir and Feitelson find flurries by eye in plots of submissions. The criterion above is
    ours; it was tested by planting the archive's published flurries in clean logs. It is made for logs in which bursts
    are the exception. If all users work in bursts (campaigns of hundreds of jobs, or few users at a time),
    ``times_others`` keeps it from proposing them all, and a flurry is found only if its user was nearly alone.

    Examples
    --------
    >>> users = [1, 2, 3, 4] * 500 + [9] * 600 + [1, 2, 3, 4] * 500
    >>> trace = Trace.from_columns(job_number=range(1, 4601), submit_time=range(4600), user_id=users)
    >>> propose_flurries(trace)[["user", "first_job", "last_job", "jobs"]].values.tolist()
    [[9, 2001, 2600, 600]]
    """
    if not (least_jobs >= 1 and 0 < least_share < 1 and times_usual >= 1 and times_others >= 0):
        raise ParameterError(
            f"least_jobs={least_jobs} must be positive, least_share={least_share} between 0 and 1, "
            f"times_usual={times_usual} at least 1 and times_others={times_others} at least 0"
        )
    arrays = trace.views
    jobs = np.flatnonzero((arrays.user_id >= 0) & (arrays.job_number >= 0) & ~np.isnan(arrays.submit_time))
    jobs = jobs[np.argsort(arrays.submit_time[jobs], kind="stable")]
    user, number, submit = arrays.user_id[jobs], arrays.job_number[jobs], arrays.submit_time[jobs]
    by_user = np.argsort(user, kind="stable")
    others = _BusiestUsers(user)
    rows = []
    for positions in np.split(by_user, np.flatnonzero(np.diff(user[by_user])) + 1):
        least = max(least_share, len(positions) / max(len(user), 1))
        for part in _dense_stretches(positions, least_jobs, least):
            length = part[-1] - part[0] + 1
            share = len(part) / length
            outside = len(user) - length
            if outside < length or share * outside < times_usual * (len(positions) - len(part)):
                continue
            if times_others == 0 or share >= times_others * others.usual_share(user[part[0]], part[0], part[-1] + 1):
                numbers, times = number[part], submit[part]
                rows.append((user[part[0]], numbers.min(), numbers.max(), len(part), share, times[0], times[-1]))
    frame = pd.DataFrame(rows, columns=list(_DTYPES)).astype(_DTYPES)
    return frame.sort_values("jobs", ascending=False, kind="stable", ignore_index=True)


def _dense_stretches(positions: IntArray, least_jobs: int, share: float) -> Iterator[IntArray]:
    """Yield the densest stretch of a user's positions, then those before and behind it, while they are long enough.

    The densest has the greatest (jobs - share x length). With weight(k) = k - share x position(k), the sum from
    job i to job j is weight(j) - weight(i) + 1 - share, so the best i for each j is the smallest weight so far:
    one pass.
    """
    pending = [positions]
    while pending:
        piece = pending.pop()
        if len(piece) < least_jobs:
            continue
        weight = np.arange(len(piece)) - share * piece
        lowest = np.minimum.accumulate(weight)
        last = int(np.argmax(weight - lowest))
        first = int(np.flatnonzero(weight[: last + 1] == lowest[last])[-1])
        if last - first + 1 >= least_jobs:
            yield piece[first : last + 1]
            pending += [piece[last + 1 :], piece[:first]]


class _BusiestUsers:
    """The busiest users of all stretches of a length, counted when that length is first asked for."""

    def __init__(self, user: IntArray) -> None:
        self._user = np.unique(user, return_inverse=True)[1]
        self._ids = np.unique(user)
        self._counted: dict[int, tuple[IntArray, IntArray, IntArray]] = {}

    def usual_share(self, user: int, begin: int, end: int) -> float:
        """Return the median share of the busiest other user, over stretches outside ``begin`` to ``end``; 0 of none."""
        length = 1 << (int(end - begin).bit_length() - 1)
        if length not in self._counted:
            self._counted[length] = self._count(length)
        busiest, jobs, jobs_of_next = self._counted[length]
        starts = length * np.arange(len(busiest))
        is_outside = (starts >= end) | (starts + length <= begin)
        counts = np.where(busiest == user, jobs_of_next, jobs)[is_outside]
        return float(np.median(counts)) / length if len(counts) else 0.0

    def _count(self, length: int) -> tuple[IntArray, IntArray, IntArray]:
        """Return the busiest user of each stretch, the jobs of that user, and those of the next busiest."""
        stretches, users = len(self._user) // length, len(self._ids)
        place = np.repeat(np.arange(stretches), length)
        code, jobs = np.unique(place * users + self._user[: len(place)], return_counts=True)
        stretch = code // users
        order = np.lexsort((-jobs, stretch))
        first = np.searchsorted(stretch, np.arange(stretches))
        next_jobs = np.append(jobs[order], 0)[first + 1]
        is_own = np.append(stretch, -1)[first + 1] == np.arange(stretches)
        return self._ids[code[order[first]] % users], jobs[order[first]], np.where(is_own, next_jobs, 0)
