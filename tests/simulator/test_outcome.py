# SPDX-License-Identifier: BSD-3-Clause
"""Schedules own what they show: nothing is shared with the trace, the simulation, or another schedule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.models import lublin_feitelson
from swftools.simulator import Schedule, simulate
from swftools.simulator.policy_abi import pack
from swftools.simulator.simulation import Simulation

OPTIONS: list[dict[str, Any]] = [{}, {"predictor": "exact"}, {"overrun": "run-on"}]


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Jobs that queue."""
    return lublin_feitelson.generate(200, processors=64, load=0.95, seed=3)


def memory(frame: pd.DataFrame) -> dict[str, np.ndarray[Any, Any]]:
    """Return where the numbers of each column are."""
    arrays = {name: frame[name].array for name in frame}
    return {
        name: np.asarray(getattr(array, "_data", array))
        for name, array in arrays.items()
        if not pd.api.types.is_string_dtype(array.dtype)
    }


def spoil(schedule: Schedule) -> None:
    """Overwrite every number of a schedule, behind the back of pandas."""
    for frame in (schedule.jobs[["start_time", "end_time", "submit_time", "run_time"]], schedule.segments):
        for array in memory(frame).values():
            array.flags.writeable = True
            array[:] = 0


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_columns_are_apart(trace: Trace, options: dict[str, Any]) -> None:
    """No column that a simulation makes is another column, or one of the trace or its arrays."""
    schedule = simulate(trace, "easy", **options)
    made = [name for name in schedule.jobs if name not in trace.jobs or name in ("submit_time", "run_time")]
    made += ["job_number", "allocated_processors", "requested_time"]
    columns = [*memory(schedule.jobs[list(dict.fromkeys(made))]).values(), *memory(schedule.segments).values()]
    others = [*memory(trace.jobs).values(), *trace.arrays]
    for i, column in enumerate(columns):
        assert not any(np.may_share_memory(column, other) for other in [*columns[:i], *others])


def test_a_simulation_goes_on_behind_its_schedule(trace: Trace) -> None:
    """What becomes of a schedule does not matter to the simulation, nor to its other schedules."""
    simulation = Simulation(trace, "easy").run(until=float(trace.jobs["submit_time"].iloc[100]))
    spoil(simulation.schedule())
    simulation.run()
    spoil(simulation.schedule())
    pd.testing.assert_frame_equal(simulation.schedule().jobs, simulate(trace, "easy").jobs)
    pd.testing.assert_frame_equal(simulation.schedule().segments, simulate(trace, "easy").segments)


def test_jobs_that_stand_in_another_order(trace: Trace) -> None:
    """Rows of the schedule are in the order of the trace, whatever the order of submission."""
    turned = trace.with_jobs(trace.jobs.iloc[::-1].reset_index(drop=True))
    jobs = simulate(turned, "easy").jobs
    assert jobs["job_number"].tolist() == turned.jobs["job_number"].tolist()
    same = jobs.iloc[::-1].reset_index(drop=True)
    pd.testing.assert_frame_equal(same, simulate(trace, "easy").jobs, check_like=True)


def test_memories_of_one_value() -> None:
    """An array that is one value many times is packed as what it says, nothing or not."""
    rng = np.random.default_rng(0)
    packed = pack([], (np.broadcast_to(np.int32(7), 3), np.broadcast_to(0.0, 2), np.array([1.5])), rng)
    assert [array.tolist() for array in packed.memory] == [[7, 7, 7], [0, 0], [1.5]]
    assert [array.dtype for array in packed.memory] == [np.int32, np.float64, np.float64]
    assert all(array.flags.writeable for array in packed.memory)
