# SPDX-License-Identifier: BSD-3-Clause
"""What an episode is: how many jobs, what is seen of them, what may be chosen, and what it is rewarded for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import IntArray
from swftools.learning.costs import Cost
from swftools.parameters import is_whole

CHOICES = ("fits", "reserve")


@dataclass(frozen=True)
class Rules:
    """The rules of an episode.

    Parameters
    ----------
    k : int
        Waiting jobs that are seen, the first of the queue.
    jobs : int
        Jobs of an episode, beside those of the warm-up.
    warm_up : int
        Jobs before them that the log's policy decides.
    choice : {"fits", "reserve"}
        Whether only a job may be chosen that fits now, or also one that does not: it gets a reservation, and others go
        ahead that do not delay it, as under EASY.
    cost : Cost
        What the reward is made of.
    dense : bool
        Whether there is a reward at each start, or one at the end.
    """

    k: int
    jobs: int
    warm_up: int
    choice: str
    cost: Cost
    dense: bool

    def __post_init__(self) -> None:
        """Refuse what is no rule."""
        check_sizes(self.jobs, self.warm_up, self.k)
        if self.choice not in CHOICES:
            raise ParameterError(f"choice={self.choice!r} is not one of: {', '.join(CHOICES)}")

    @property
    def reserves(self) -> bool:
        """Whether a job that does not fit may be chosen."""
        return self.choice == "reserve"

    @property
    def length(self) -> int:
        """Jobs of an episode in all."""
        return self.warm_up + self.jobs

    def kinds(self) -> IntArray:
        """Return them as compiled code has them: ``COST``, ``DENSE``, ``WARM_UP``."""
        return np.array([self.cost.number, self.dense, self.warm_up], np.int64)


def check_sizes(jobs: int, warm_up: int, k: int = 1) -> None:
    """Refuse sizes of an episode that are not numbers of jobs."""
    for name, value, least in (("k", k, 1), ("jobs", jobs, 1), ("warm_up", warm_up, 0)):
        if not is_whole(value, least, 2**31 - 1):
            raise ParameterError(f"{name}={value!r} is not an integer of {least} or more")
