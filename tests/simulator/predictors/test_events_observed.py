# SPDX-License-Identifier: BSD-3-Clause
"""A predictor is told of the events that it asked for, and of no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swftools.errors import ParameterError
from swftools.simulator import END, OUTLIVED, START, STOP, SUBMISSION, Predictor, Simulation
from swftools.simulator.predictors.kinds import EVENTS
from swftools.simulator.predictors.registry import predictor
from tests.strategies import crowded_trace


def counts(event: int, machine: Any, job: int, memory: Any) -> None:
    """Count what it is told of."""
    memory[0][event] += 1


def five(jobs: int, processors: int) -> Any:
    """Return room for a count of each event."""
    return (np.zeros(len(EVENTS), np.int64),)


@pytest.mark.parametrize(
    "events", [EVENTS, (SUBMISSION, END), (START,), (STOP, OUTLIVED), (END,), (OUTLIVED,), ()], ids=str
)
def test_only_what_it_asked_for(events: tuple[int, ...], compiled: bool) -> None:
    """How often is the same as where it is told of all; jobs are stopped, and outlive what is requested."""
    trace = crowded_trace(150, seed=2)

    def told(some: tuple[int, ...]) -> list[int]:
        told = Predictor("counts", counts, memory=five, events=some)
        simulation = Simulation(trace, "pv-easy", predictor=told, overrun="run-on", compiled=compiled).run()
        return simulation._driver.observer.memory[0].tolist()  # type: ignore[no-any-return]

    every = told(EVENTS)
    assert min(every) > 0
    assert every[SUBMISSION] == every[END] == every[START] - every[STOP]
    assert told(events) == [count if event in events else 0 for event, count in enumerate(every)]


def test_an_event_that_there_is_not() -> None:
    """It is refused where it is registered."""
    with pytest.raises(ParameterError, match=r"events=\(9,\) are not of SUBMISSION, START, STOP, OUTLIVED, END"):
        predictor("test-of-no-event", memory=five, events=(9,))(counts)
