# SPDX-License-Identifier: BSD-3-Clause
"""The order in which jobs come: all of them, some again, or some left out, until so much is asked for."""

from __future__ import annotations

import numpy as np

from swftools.simulator.nodes.gpus.arrivals import SeededDraws, draw_arrivals


class Told:
    """Draws that are told before, and no shuffling."""

    def __init__(self, *numbers: int) -> None:
        self.numbers = list(numbers)

    def below(self, limit: int) -> int:
        """Return the next one."""
        number = self.numbers.pop(0)
        assert number < limit
        return number

    def shuffle(self, values: list[int]) -> None:
        """Turn them round."""
        values.reverse()


NUMBER, MILLI = np.array([1, 0, 2, 1]), np.array([500, 700, 1000, 1000])


def test_some_come_again() -> None:
    """The first that would be too much ends it; of several GPUs one is looked at; who asks for none may come again."""
    found = draw_arrivals(NUMBER, MILLI, 5500.0, Told(1, 2, 0))
    assert found.tolist() == [3, 2, 1, 0, 1, 2]
    assert draw_arrivals(NUMBER, MILLI, 4000.0, Told(0, 3)).tolist() == [3, 2, 1, 0, 0]


def test_some_are_left_out() -> None:
    """Places of who is left are drawn until no more is asked for than wanted."""
    assert draw_arrivals(NUMBER, MILLI, 1500.0, Told(2, 1)).tolist() == [3, 0]
    assert draw_arrivals(NUMBER, MILLI, 3500.0, Told(3)).tolist() == [3, 2, 1, 0]


def test_nobody_asks() -> None:
    """Where nobody asks for GPUs each comes once; seeds draw differently."""
    assert draw_arrivals(np.zeros(3, np.int64), np.zeros(3, np.int64), 1000.0, Told()).tolist() == [2, 1, 0]
    orders = [draw_arrivals(NUMBER, MILLI, 9000.0, SeededDraws(seed)).tolist() for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
