# SPDX-License-Identifier: BSD-3-Clause
"""Asking a predictor in Python: what it is told at each submission, and what that takes.

It is told of a job the columns that the column dictionary says to be known at submission, and of a job that has ended
its run time beside that. Of a column that the dictionary does not have nobody can say when it is known; so it is told
where the predictor ``needs`` it by name, and else not.
"""

from __future__ import annotations

import copy
import time
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError, PolicyError
from swftools.fields.dictionary import KNOWN_OF_JOBS, known_at_submission, known_later
from swftools.parameters import did_you_mean
from swftools.simulator.engine.replay import COMPLETED, Coming, RunLog
from swftools.trace import Trace

if TYPE_CHECKING:
    from swftools.simulator.predictors.kinds import PythonPredictor

_WHEN = {"start": "at a job's start only", "end": "at a job's end only", "never": "to no one at the machine"}

AT_ONCE = 4096
"""Jobs whose rows are made together: one by one they would take most of the time."""


class PredictorAdapter:
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
        try:
            self.predictor = copy.deepcopy(predictor)
        except Exception as error:
            raise PolicyError(
                f"predictor {predictor.name!r}: cannot be copied, and each simulation works on a copy: "
                f"{type(error).__name__}: {error}"
            ) from error
        self.seconds = 0.0
        self._jobs = trace.jobs[told_columns(predictor, trace)]
        self._coming = coming
        self._rows: list[dict[str, Any]] = []
        self._begin = 0  # the job whose row is the first
        self._told: dict[int, dict[str, Any]] = {}  # what was known of jobs that did not end yet
        self._ends: list[tuple[float, int]] = []  # a heap of runs by end; of some that were stopped, the end of before
        self._seen = 0

    def predict(self, job: int, now: float, log: RunLog) -> float:
        """Return its answer about a job that is being submitted, after it was told of those that ended.

        Raises
        ------
        PolicyError
            It raised an error, or its answer is not a number.
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
            raise PolicyError(f"{self._where(job, now)}: raised {type(error).__name__}: {error}") from error
        self.seconds += time.perf_counter() - begin
        if np.isnan(answer):
            raise PolicyError(f"{self._where(job, now)}: predicted NaN")
        return answer

    def _where(self, job: int, now: float) -> str:
        """Return which predictor was asked when, and about which job."""
        number = self._row(job).get("job_number")
        return f"predictor {self.predictor.name!r}, at {now:g} s, job {number} (which is being submitted)"

    def copy(self) -> PredictorAdapter:
        """Return a copy that learns by itself."""
        other = copy.copy(self)
        other.predictor = copy.deepcopy(self.predictor)
        other._told, other._ends = dict(self._told), list(self._ends)
        return other

    def expect(self, coming: Coming) -> None:
        """Take in that other jobs are to come than before."""
        self._coming, self._rows, self._begin = coming, [], 0

    def _ended(self, now: float, log: RunLog) -> list[dict[str, Any]]:
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


def told_columns(predictor: PythonPredictor, trace: Trace) -> list[str]:
    """Return the columns of a trace that a predictor is told of a job at its submission.

    Raises
    ------
    ParameterError
        It needs, by name, a column that the trace lacks, or that the column dictionary knows to be of later.
    """
    needs = getattr(predictor, "needs", ())
    if isinstance(needs, str) or not all(isinstance(name, str) for name in needs):
        raise ParameterError(f"predictor {predictor.name!r}: needs={needs!r} is not a tuple of names of columns")
    if late := known_later(needs):
        raise ParameterError(
            f"predictor {predictor.name!r} needs {late[0]}, which is known {_WHEN[KNOWN_OF_JOBS[late[0]]]}; but it "
            "is asked at the submission. If it needs run times, declare it by @foretold"
        )
    if lacking := [name for name in needs if name not in trace.jobs]:
        alike = did_you_mean(lacking, map(str, trace.jobs))
        raise ParameterError(f"predictor {predictor.name!r} needs {', '.join(lacking)}, which the trace lacks{alike}")
    wanted = {*known_at_submission(trace.jobs), *needs}
    kinds = trace.jobs.dtypes.items()
    return [str(name) for name, kind in kinds if name in wanted and not isinstance(kind, pd.ArrowDtype)]


def _with_none(column: pd.Series[Any]) -> list[Any]:
    """Return the values of a column, None where one is missing."""
    values = column.to_numpy(dtype=object, copy=True)
    values[column.isna().to_numpy()] = None
    return list(values.tolist())
