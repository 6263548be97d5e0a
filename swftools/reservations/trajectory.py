# SPDX-License-Identifier: BSD-3-Clause
"""The probability that a job starts in time, over the times at which it may be submitted.

A job that is to run from a time on for so long, and is submitted before, requests the time until then too: it starts
when it may, and waits on its processors. So who submits early gives it more time to start, and asks for more.

References
----------
Nurmi 2009, section 5.2.1, Figures 5.3 and 5.4.

Differs from the paper
    Figure 5.3 prints ``waitT = currT`` and ``advWallTime = startDeadline - currT`` for what is returned; the text means
    the wait from now on and the requested time with the job's own in it, as the example there has it (6,330 s).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.output.amounts import duration, percent
from swftools.output.shown_html import ShowsItself
from swftools.reservations.start_table import StartTable, latest_lead, least_percent

if TYPE_CHECKING:
    import pandas as pd

STEP = 30.0
"""Seconds between two times of submission: those of the paper."""

MOST_STEPS = 1_000_000
"""Times of submission of one trajectory."""


@dataclass(frozen=True, repr=False)
class Trajectory(ShowsItself):
    """Times of submission, and what the job would be submitted with.

    Parameters
    ----------
    start : float
        When the job is to run, s.
    submit_time : ndarray of float, shape (n,)
        In s, rising, all before ``start``.
    requested_time : ndarray of float, shape (n,)
        What the job requests if it is submitted then, s: its own time, and that until the start.
    percent : ndarray of int, shape (n,)
        With how many percent it starts by ``start`` at the latest: 0 to 99.
    is_possible : ndarray of bool, shape (n,)
        Whether the queue takes such a request.
    """

    start: float
    submit_time: FloatArray
    requested_time: FloatArray
    percent: IntArray
    is_possible: BoolArray

    def __len__(self) -> int:
        """Return how many times of submission there are."""
        return len(self.submit_time)

    @property
    def probability(self) -> FloatArray:
        """That it starts by ``start``, of each time of submission."""
        return self.percent / 100.0

    def latest(self, probability: float) -> int | None:
        """Return the place of the latest submission that meets a probability; None where none does."""
        met = np.flatnonzero((self.percent >= least_percent(probability)) & self.is_possible)
        return int(met[-1]) if len(met) else None

    def best(self) -> int | None:
        """Return the place of the latest submission of the greatest probability; None where none is above 0."""
        known = np.where(self.is_possible, self.percent, 0)
        greatest = int(known.max(initial=0))
        return int(np.flatnonzero(known == greatest)[-1]) if greatest else None

    def table(self) -> pd.DataFrame:
        """Return it as a table, a row a time of submission, which the picture ``trajectory`` is drawn of."""
        import pandas as pd  # noqa: PLC0415 (a plan takes a moment without)

        columns = {"submit_time": self.submit_time, "requested_time": self.requested_time}
        return pd.DataFrame(columns | {"probability": self.probability, "is_possible": self.is_possible}).assign(
            start_time=self.start
        )

    def _lines(self) -> list[str]:
        best, first = self.best(), self.submit_time[0]
        what = f"Trajectory: {len(self):,} times of submission, from {duration(self.start - first)} before the start on"
        if best is None:
            return [what, "nothing can be promised"]
        ahead = duration(self.start - self.submit_time[best])
        return [what, f"at most {percent(float(self.probability[best]), 1)}, by a submission {ahead} before the start"]

    def _rows(self) -> tuple[pd.DataFrame, int]:
        table = self.table()
        return table.head(5), len(table)


def leads_until(now: float, start: float, step: float = STEP) -> FloatArray:
    """Return the times from each submission until the start, s, falling: now, and every ``step`` s before the start.

    Examples
    --------
    >>> leads_until(0.0, 100.0).tolist()
    [100.0, 70.0, 40.0, 10.0]
    >>> leads_until(0.0, 60.0).tolist()
    [60.0, 30.0]
    """
    count = int(np.ceil((start - now) / step))
    leads = (start - now) - step * np.arange(count, dtype=np.float64)
    return leads[leads > 0.0]


def trajectory_of(
    table: StartTable,
    explain: Callable[[FloatArray], FloatArray],
    now: float,
    start: float,
    requested_time: float,
    *,
    step: float = STEP,
    longest: float = np.inf,
) -> Trajectory:
    """Return the trajectory of a job.

    Parameters
    ----------
    table : StartTable
        Bounds of waits of its group, taken to stay as they are.
    explain : callable
        Takes requested times, s, and returns the explanatory variable that the job has with each.
    now, start, requested_time, step, longest : float
        In s: when it may be submitted first; when it is to run; for how long; between two submissions; the longest
        request that the queue takes.

    Raises
    ------
    ParameterError
        There are more than ``MOST_STEPS`` times of submission.
    """
    if (start - now) / step > MOST_STEPS:
        raise ParameterError(
            f"step={step:g} s makes more than {MOST_STEPS:,} times of submission of the {start - now:,.0f} s until the "
            "start: give a longer one"
        )
    leads = leads_until(now, start, step)
    _, percents = latest_lead(table, lambda ahead: explain(requested_time + ahead), leads, 1)
    requested = requested_time + leads
    return Trajectory(start, start - leads, requested, percents, requested <= longest)
