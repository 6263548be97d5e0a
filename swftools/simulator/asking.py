"""Asking a predictor in Python: what it is told at each submission, and what that takes."""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from swftools.errors import PolicyError
from swftools.simulator.replay import COMPLETED, Log
from swftools.trace import Trace

if TYPE_CHECKING:
    from swftools.simulator.predictors.registry import PythonPredictor


class Asked:
    """A predictor in Python beside a simulation.

    Parameters
    ----------
    predictor : PythonPredictor
        It learns and answers.
    trace : Trace
        Whose jobs it is asked about.
    row : numpy.ndarray of int64
        The row of each simulated job.
    """

    def __init__(self, predictor: PythonPredictor, trace: Trace, row: npt.NDArray[np.int64]) -> None:
        self.predictor = predictor
        self.seconds = 0.0
        self._jobs = trace.jobs
        self._row = row
        self._open: list[int] = []  # runs that it does not know the end of
        self._seen = 0

    def predict(self, job: int, now: float, log: Log, run_time: npt.NDArray[np.float64]) -> float:
        """Return its answer about a job that is being submitted, after it was told of those that ended.

        Raises
        ------
        PolicyError
            It raised an error, or its answer is no number.
        """
        begin = time.perf_counter()
        self._open += range(self._seen, int(log.size[0]))
        self._seen = int(log.size[0])
        over = [run for run in self._open if log.end[run] <= now]
        self._open = [run for run in self._open if log.end[run] > now]
        done = sorted((run for run in over if log.ended_by[run] == COMPLETED), key=lambda run: (log.end[run], run))
        try:
            if done:
                jobs = log.job[done]
                rows = self._jobs.iloc[self._row[jobs]]
                self.predictor.learn(rows.assign(run_time=run_time[jobs], end_time=log.end[done]))
            submitted = self._jobs.iloc[self._row[job]].to_dict()
            answer = float(self.predictor.predict(submitted, now))
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
        other._open = list(self._open)
        return other
