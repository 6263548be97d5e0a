# SPDX-License-Identifier: BSD-3-Clause
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
    starts, maybe long after others were told theirs. At a level of 0 and below, where the paper tells a bound without
    end, the highest of the last scores is taken, and at 1 and above the lowest; the level itself goes on beyond both.
    No bound is above the longest wait that the group has known. So the paper's proof of the long run does not hold to
    the letter; coverage is measured.
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
        self.longest = 0.0
        self._in_time: deque[float] = deque()
        self._rising: list[float] = []

    def learn(self, wait: float, predicted: float, told: float) -> None:
        """Learn the wait of a job, what the model predicted of it, and what it was told, s; NaN for nothing."""
        self.longest = max(self.longest, wait)
        if math.isnan(predicted):
            return
        score = math.log1p(wait) - math.log1p(predicted)
        if len(self._in_time) == self.most:
            del self._rising[bisect_left(self._rising, self._in_time.popleft())]
        self._in_time.append(score)
        insort(self._rising, score)
        if not math.isnan(told):
            self.level += self.rate * (self.miss - (wait > told))

    def bound(self, predicted: float) -> float:
        """Return what a job is told, s, of which the model predicted so much; NaN if too few scores are known."""
        count = len(self._rising)
        if count < self.least or math.isnan(predicted):
            return math.nan
        rank = math.ceil((1.0 - self.level) * (count + 1) - 1e-9)
        score = self._rising[min(max(rank, 1), count) - 1]
        return min(whole_seconds(math.log1p(predicted) + score), self.longest)


@dataclass(frozen=True)
class Conformal(Rival):
    """Adaptive conformal calibration of a rival; inherit it together with the rival.

    Parameters
    ----------
    rate : float
        How much the level moves with each wait that becomes known: up by rate times the wanted share of misses, and
        after a miss down by nearly the rate. 0: it does not move.
    scores : int
        How many of the last scores of a group count.
    """

    rate: float = number(0.005, least=0, most=1)
    scores: int = whole(1000, least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        least = Calibration(1.0 - self.quantile, self.rate, self.scores).least
        self._require("scores", self.scores >= least, f"at least {least}, which quantile={self.quantile} needs")

    def bounds(self, predicted: FloatArray, course: Course) -> FloatArray:
        """Return the bound of each job: the prediction, shifted."""
        waits, groups, learnt, raw = (
            column.tolist() for column in (course.wait, course.group, course.learnt, predicted)
        )
        of_group = [
            Calibration(1.0 - self.quantile, self.rate, self.scores) for _ in range(max(groups, default=-1) + 1)
        ]
        told: list[float] = []
        done = 0
        for job, known in enumerate(course.known.tolist()):
            for other in learnt[done:known]:
                of_group[groups[other]].learn(waits[other], raw[other], told[other])
            done = known
            told.append(of_group[groups[job]].bound(raw[job]))
        return np.array(told, dtype=np.float64)


@register_rival
@dataclass(frozen=True)
class ConformalGradientBoosting(Conformal, GradientBoosting):
    """Gradient boosting of the quantile, with adaptive conformal calibration by group."""

    NAME: ClassVar[str] = "gradient-boosting-conformal"
