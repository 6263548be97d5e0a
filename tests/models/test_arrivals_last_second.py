# SPDX-License-Identifier: BSD-3-Clause
"""The block bootstrap at the end of a log: a day of which the last second is there, in part, is a whole day."""

from __future__ import annotations

import pytest

from swftools import Trace
from swftools.models.arrivals import ArrivalParameters, generate_arrivals

DAY = 86_400


def bootstrap(*times: float, seed: int = 0, block_days: int = 1) -> list[float]:
    """Return the submissions drawn for jobs that came at these times."""
    columns = {"run_time": [100] * len(times), "requested_processors": [1] * len(times)}
    numbers = list(range(1, len(times) + 1))
    trace = Trace.from_columns(machine_processors=8, job_number=numbers, submit_time=times, **columns)
    parameters = ArrivalParameters(model="bootstrap", seed=seed, block_days=block_days)
    return [float(time) for time in generate_arrivals(trace, parameters)["model_submit_time"]]


@pytest.mark.parametrize("last", [2 * DAY - 1, 2 * DAY - 0.75, 2 * DAY - 0.25])
def test_a_day_that_ends_with_its_last_second_is_whole(last: float) -> None:
    """The only whole day has one job, in its last second: each drawn one comes then (arrivals are whole seconds)."""
    assert [round(last), round(last) + DAY] == bootstrap(DAY - 10, last)


@pytest.mark.parametrize("last", [2 * DAY - 1.25, 2 * DAY - 2, 2 * DAY - 3600])
def test_a_day_that_ends_before_its_last_second_is_not(last: float) -> None:
    """Nobody knows what would have come in the rest of it: the log is one block, and keeps its times."""
    assert [DAY - 10, round(last)] == bootstrap(DAY - 10, last)


@pytest.mark.parametrize(("last", "is_whole"), [(3 * DAY - 1, True), (3 * DAY - 1.25, False), (3 * DAY, True)])
def test_the_last_of_several_days(last: float, is_whole: bool) -> None:
    """It is drawn like the others, or never."""
    times = [DAY - 10, *(DAY + second for second in range(100)), last]
    drawn = {round(time % DAY) for seed in range(20) for time in bootstrap(*times, seed=seed)}
    seconds = set(range(100))
    assert drawn == (seconds | {DAY - 1} if is_whole and last < 3 * DAY else seconds)


def test_the_last_second_of_a_block_of_days() -> None:
    """A block of two days ends with the last second of its second day."""
    assert [3 * DAY - 1, 5 * DAY - 1] == bootstrap(DAY - 10, 3 * DAY - 1, block_days=2)
    assert [DAY - 10, 3 * DAY - 2] == bootstrap(DAY - 10, 3 * DAY - 2, block_days=2)
