# SPDX-License-Identifier: BSD-3-Clause
"""What rewards are made of: a cost of each job when it starts, or a measure of the schedule at the end."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from swftools.errors import ParameterError
from swftools.learning.episode import BOUNDED_SLOWDOWN, NOTHING, TURNAROUND, WAIT
from swftools.simulator.measure_definitions import LOWER, MEASURES
from swftools.simulator.metrics.measures import measure
from swftools.simulator.schedule import Schedule

_AT_STARTS = {"wait": WAIT, "turnaround": TURNAROUND, "bounded_slowdown": BOUNDED_SLOWDOWN}

_STATISTICS = ("mean", "time_mean", "value")

LEAST_RUN_TIME = 10.0
"""Of the bounded slowdown, s: as ``MetricParameters`` has it."""


class Cost(NamedTuple):
    """A cost: what lower is better in.

    ``number`` is that of a job's cost in compiled code; where it is ``NOTHING``, ``of_schedule`` tells it at the end.
    """

    name: str
    number: int
    of_schedule: Callable[[Schedule], float]

    @property
    def is_of_schedule(self) -> bool:
        """Whether it is known at the end alone."""
        return self.number == NOTHING


@cache
def find_cost(reward: str | Callable[[Schedule], float]) -> Cost:
    """Return what a reward is made of.

    Parameters
    ----------
    reward : str or callable
        A measure of ``measure``, of which the mean is taken: ``wait``, ``turnaround`` and ``bounded_slowdown`` are
        known when a job starts, all others at the end. Or a function of the schedule, where more is better.

    Raises
    ------
    ParameterError
        There is no such measure.
    """
    if callable(reward):
        function = reward
        return Cost(getattr(function, "__name__", "reward"), NOTHING, lambda schedule: -float(function(schedule)))
    if reward not in MEASURES:
        raise ParameterError(f"reward={reward!r} is not one of: {', '.join(MEASURES)}; nor a function of a schedule")
    sign = -1.0 if MEASURES[reward].worse == LOWER else 1.0
    return Cost(reward, _AT_STARTS.get(reward, NOTHING), lambda schedule: sign * _value(schedule, reward))


def _value(schedule: Schedule, name: str) -> float:
    """Return the mean of a measure, or the one value that it has."""
    table = measure(schedule)
    rows = table[(table["measure"] == name) & table["statistic"].isin(_STATISTICS)]
    if rows["value"].isna().all():
        raise ParameterError(
            f"reward={name!r} is not a number for this log; take another, or a function of the schedule"
        )
    return float(rows["value"].iloc[0])
