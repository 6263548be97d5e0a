"""Adaptive conformal calibration: what a model predicts is shifted until the bounds hold as often as they should.

Of each job whose wait has become known, the score is by how much, in logarithms, it was above what the model predicted.
A bound is what the model predicts, shifted by a quantile of the last scores of the job's group. Which quantile adapts:
each wait beyond its bound asks for a higher one, each wait within for a slightly lower one.

References
----------
Romano, Patterson and Candes 2019, "Conformalized quantile regression" (the scores); Gibbs and Candes 2021, "Adaptive
conformal inference under distribution shift", equation 2.

Differs from the papers
    Scores are of logarithms, so that a shift is a factor. A wait tells whether it was within its bound when the job
    starts, maybe long after others were told theirs. The level is kept within 0 and 1, and at 0 the highest of the
    last scores is taken, where the paper tells a bound without end; so its proof does not hold, and coverage is
    measured.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from swftools.kernel import FloatArray
from swftools.parameters import number, whole
from swftools.qbets.rivals.gradient_boosting import GradientBoosting, whole_seconds
from swftools.qbets.rivals.registry import Course, Rival, register_rival


class Calibration:
    """The shift of one group.

    Parameters
    ----------
    miss : float
        The share of waits that shall be beyond their bounds, alpha in the papers.
    rate : float
        By how much the level moves, gamma.
    scores : int
        How many of the last scores count.
    """

    def __init__(self, miss: float, rate: float, scores: int) -> None:
        self.miss, self.rate, self.most = miss, rate, scores
        self.level = miss
        self.least = math.ceil(1.0 / miss - 1e-9) - 1
        self._in_time: deque[float] = deque()
        self._rising: list[float] = []

    def learn(self, score: float, *, is_beyond: bool | None) -> None:
        """Learn the score of a job, and whether it waited beyond its bound; None if it had none."""
        if len(self._in_time) == self.most:
            del self._rising[bisect_left(self._rising, self._in_time.popleft())]
        self._in_time.append(score)
        insort(self._rising, score)
        if is_beyond is not None:
            self.level = min(max(self.level + self.rate * (self.miss - is_beyond), 0.0), 1.0)

    def shift(self) -> float:
        """Return the score that is exceeded as often as the level says; NaN if too few are known for any bound."""
        count = len(self._rising)
        if count < self.least:
            return math.nan
        rank = math.ceil((1.0 - self.level) * (count + 1) - 1e-9)
        return self._rising[min(max(rank, 1), count) - 1]


@dataclass(frozen=True)
class Conformal(Rival):
    """Adaptive conformal calibration of whatever fits; to be inherited together with that.

    Parameters
    ----------
    rate : float
        By how much the level moves at each wait that becomes known: up by rate times the share of misses that is asked
        for, down by nearly the rate at a miss. 0: it stays.
    scores : int
        Last scores of a group that count.
    """

    rate: float = number(0.005, least=0, most=1)
    scores: int = whole(1000, least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        least = Calibration(1.0 - self.quantile, self.rate, self.scores).least
        self._require("scores", self.scores >= least, f"at least {least}, which quantile={self.quantile} needs")

    def bounds(self, predicted: FloatArray, course: Course) -> FloatArray:
        """Return what each job is told: what was predicted, shifted."""
        logs, told = np.log1p(predicted).tolist(), np.full(len(predicted), np.nan)
        waits, groups, learnt = course.wait.tolist(), course.group.tolist(), course.learnt.tolist()
        groups_in_all = int(course.group.max(initial=-1)) + 1
        of_group = [Calibration(1.0 - self.quantile, self.rate, self.scores) for _ in range(groups_in_all)]
        done = 0
        for job, known in enumerate(course.known.tolist()):
            for other in learnt[done:known]:
                if not math.isnan(logs[other]):  # it came when there was a model
                    is_beyond = None if math.isnan(told[other]) else bool(waits[other] > told[other])
                    of_group[groups[other]].learn(math.log1p(waits[other]) - logs[other], is_beyond=is_beyond)
            done = known
            if not math.isnan(logs[job]):
                told[job] = whole_seconds(logs[job] + of_group[groups[job]].shift())
        return told


@register_rival
@dataclass(frozen=True)
class ConformalGradientBoosting(Conformal, GradientBoosting):
    """Gradient boosting of the quantile, with adaptive conformal calibration by group."""

    NAME: ClassVar[str] = "gradient-boosting-conformal"
