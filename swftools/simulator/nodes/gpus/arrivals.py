# SPDX-License-Identifier: BSD-3-Clause
"""In which order jobs come until so much has been asked for: those of a log, shuffled, and some of them again."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from swftools.kernel import IntArray


class Draws(Protocol):
    """What shuffles and draws."""

    def below(self, limit: int) -> int:
        """Return a number from 0 on, below a limit."""

    def shuffle(self, values: list[int]) -> None:
        """Shuffle values where they are."""


class SeededDraws:
    """Draws of numpy's default generator.

    Parameters
    ----------
    seed : int
        Of the generator.
    """

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def below(self, limit: int) -> int:
        """Return a number from 0 on, below a limit."""
        return int(self.generator.integers(limit))

    def shuffle(self, values: list[int]) -> None:
        """Shuffle values where they are."""
        self.generator.shuffle(values)


def draw_arrivals(number: IntArray, milli: IntArray, most: float, draws: Draws) -> IntArray:
    """Return the jobs of a log in the order in which they come, until all that they ask for is as much as wanted.

    As the program of Weng et al. (2023) does it: the jobs are shuffled. Where they ask for more, jobs that are drawn
    are left out until they do not. Where they ask for less, drawn ones come again behind them, each time any; the first
    that would be too much ends it. Of a job with several GPUs one is looked at there, so that the end may be beyond.

    Parameters
    ----------
    number, milli : numpy.ndarray of int64, shape (jobs,)
        How many GPUs each asks for, and thousandths of each.
    most : float
        Thousandths that all may ask for.
    draws : Draws
        Shuffles and draws.

    Returns
    -------
    numpy.ndarray of int64
        Places of jobs.

    Examples
    --------
    >>> once = draw_arrivals(np.ones(4, np.int64), np.full(4, 1000), 4000.0, SeededDraws(1))
    >>> sorted(once.tolist()), len(draw_arrivals(np.ones(4, np.int64), np.full(4, 1000), 6500.0, SeededDraws(1)))
    ([0, 1, 2, 3], 6)
    """
    whole = (number * milli).tolist()
    one = np.where(number > 0, milli, 0).tolist()
    order, asked = list(range(len(whole))), sum(whole)
    draws.shuffle(order)
    if asked > most:
        while asked > most:
            asked -= whole[order.pop(draws.below(len(order)))]
        return np.array(order, np.int64)
    while asked and asked + one[drawn := draws.below(len(whole))] <= most:
        order.append(drawn)
        asked += whole[drawn]
    return np.array(order, np.int64)
