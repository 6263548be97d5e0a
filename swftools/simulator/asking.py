"""Asking a predictor in Python: what it is told at each submission, and what that takes.

It knows of a job what can be known at its submission, and of a job that has ended its run time beside that; what the
log says of a job's later fate is kept from it.
"""

from __future__ import annotations

import copy
import time
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.errors import PolicyError
from swftools.simulator.replay import COMPLETED, Coming, Log
from swftools.trace import Trace

if TYPE_CHECKING:
    from swftools.simulator.predictors.registry import PythonPredictor

OUTCOMES = frozenset(
    {
        *("wait_time", "run_time", "allocated_processors", "average_cpu_time", "used_memory", "status"),
        *("is_cancelled", "is_never_started", "is_run_time_missing", "is_over_request", "extra_fields"),
    }
)
"""Columns of a trace that tell, or may tell, what became of a job."""

AT_ONCE = 4096
"""Jobs whose rows are made together: one by one they would take most of the time."""


class Asked:
    """A predictor in Python beside a simulation.

    Parameters
    ----------
    predictor : PythonPredictor
        A copy of it learns and answers, so that each simulation begins with what it knows now.
    trace : Trace
        Whose jobs it is asked about.
    coming : Coming
        The jobs that are simulated.
    """

    def __init__(self, predictor: PythonPredictor, trace: Trace, coming: Coming) -> None:
        self.predictor = copy.deepcopy(predictor)
        self.seconds = 0.0
        kinds = trace.jobs.dtypes.items()
        told = [name for name, kind in kinds if name not in OUTCOMES and not isinstance(kind, pd.ArrowDtype)]
        self._jobs = trace.jobs[told]
        self._coming = coming
        self._rows: list[dict[str, Any]] = []
        self._begin = 0  # the job whose row is the first
        self._told: dict[int, dict[str, Any]] = {}  # what was known of jobs that did not end yet
        self._ends: list[tuple[float, int]] = []  # a heap of runs by end; of some that were stopped, the end of before
        self._seen = 0

    def predict(self, job: int, now: float, log: Log) -> float:
        """Return its answer about a job that is being submitted, after it was told of those that ended.

        Raises
        ------
        PolicyError
            It raised an error, or its answer is no number.
        """
        begin = time.perf_counter()
        ended = self._ended(now, log)
        submitted = self._row(job)
        self._told[job] = submitted
        try:
            if ended:
                self.predictor.learn(ended)
            answer = float(self.predictor.predict(dict(submitted), now))
        except Exception as error:
            name = self.predictor.name
            raise PolicyError(f"predictor {name!r}, at {now:g} s: raised {type(error).__name__}: {error}") from error
        self.seconds += time.perf_counter() - begin
        if np.isnan(answer):
            raise PolicyError(f"predictor {self.predictor.name!r}, at {now:g} s: predicted NaN")
        return answer

    def copy(self) -> Asked:
        """Return a copy that learns by itself."""
        other = copy.copy(self)
        other.predictor = copy.deepcopy(self.predictor)
        other._told, other._ends = dict(self._told), list(self._ends)
        return other

    def expect(self, coming: Coming) -> None:
        """Take in that other jobs are to come than before."""
        self._coming, self._rows, self._begin = coming, [], 0

    def _ended(self, now: float, log: Log) -> list[dict[str, Any]]:
        """Return what is known of the jobs that ended since the last time, in order of end, then of start."""
        runs = int(log.size[0])
        for run in range(self._seen, runs):
            heappush(self._ends, (float(log.end[run]), run))
        self._seen = runs
        ended = []
        while self._ends and self._ends[0][0] <= now:
            end, run = heappop(self._ends)
            if log.ended_by[run] == COMPLETED:  # else it was stopped, and another run will end the job
                job = int(log.job[run])
                ended.append({**self._told.pop(job), "run_time": float(self._coming.run_time[job]), "end_time": end})
        return ended

    def _row(self, job: int) -> dict[str, Any]:
        """Return what can be known of a job at its submission, by name; None where it is missing."""
        if not self._begin <= job < self._begin + len(self._rows):
            few = slice(job, job + AT_ONCE)
            row = self._coming.row[few]
            part = self._jobs.iloc[row]
            columns = {str(name): _with_none(part[name]) for name in part}
            columns |= {
                "submit_time": self._coming.submit_time[row].tolist(),
                "width": self._coming.processors[row].tolist(),
                "requested_time": self._coming.limit[few].tolist(),
            }
            self._rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
            self._begin = job
        return self._rows[job - self._begin]


def _with_none(column: pd.Series[Any]) -> list[Any]:
    """Return the values of a column, None where one is missing."""
    values = column.to_numpy(dtype=object, copy=True)
    values[column.isna().to_numpy()] = None
    return list(values.tolist())
