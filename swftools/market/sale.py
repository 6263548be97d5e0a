# SPDX-License-Identifier: BSD-3-Clause
"""Sale: what a mechanism is told of the jobs that it sets prices for."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from swftools.kernel import FloatArray, IntArray
from swftools.market.in_parts import Work
from swftools.simulator.schedule import Schedule
from swftools.trace import Trace
from swftools.utility.functions import UtilityFunctions


@dataclass(frozen=True, eq=False)
class Sale:
    """The jobs to price, in the order of the schedule, and what they got.

    Parameters
    ----------
    schedule : Schedule
        The complete schedule.
    trace : Trace, optional
        The trace that was simulated.
    rows : numpy.ndarray of int64
        Rows of ``schedule.jobs`` that are priced.
    utility : numpy.ndarray of float64
        What each of them is worth to its user at the turnaround that it got; NaN where it has no function.
    processor_hours : numpy.ndarray of float64
        Processors times hours of its useful work. Work that a policy made it do twice, by stopping it, and restart
        overhead are not charged to its user.
    work : Work
        Runs long work: in parts, by several processes, with progress.
    """

    schedule: Schedule
    trace: Trace | None
    rows: IntArray
    utility: FloatArray
    processor_hours: FloatArray
    work: Work

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str, missing: int) -> IntArray:
        """Return a whole-numbered column of the jobs; all missing where there is none."""
        if name not in self.schedule.jobs:
            return np.full(len(self), missing)
        values: IntArray = self.schedule.jobs[name].iloc[self.rows].to_numpy(dtype=np.int64, na_value=missing)
        return values

    def digest(self) -> str:
        """Return a text that differs for another schedule, other jobs, or other utility functions."""
        jobs, made = self.schedule.jobs, hashlib.sha256(self.rows.tobytes())
        for name in ("job_number", "job_occurrence", "submit_time", "start_time", "end_time"):
            made.update(jobs[name].to_numpy(dtype=np.float64, na_value=-1.0).tobytes())
        if "utility" in jobs:
            functions = UtilityFunctions.from_arrow(jobs["utility"])
            for part in (functions.offsets, functions.times, functions.values):
                made.update(part.tobytes())
        schedule = self.schedule
        return f"{made.hexdigest()} {schedule.policy} {schedule.processors} {sorted(schedule.options.items())}"
