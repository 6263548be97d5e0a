# SPDX-License-Identifier: BSD-3-Clause
"""A schedule of a policy that searches, made again as it was searched, whatever the clock said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.parameters import Parameters
from swftools.simulator.policy_abi import Memory
from swftools.simulator.registry import Policy, find_policy
from swftools.simulator.schedule import Schedule
from swftools.simulator.search.state import Search


def recorded_search(schedule: Schedule) -> Policy:
    """Return a policy that repeats a search: each decision visits as many nodes as in the given schedule.

    So a schedule that was made with a time limit can be repeated on any machine.

    Parameters
    ----------
    schedule : Schedule
        A complete schedule of ``search``, ``genetic`` or another policy that notes its decisions, with ``seconds`` or
        ``explain``.

    Raises
    ------
    ParameterError
        The schedule has no notes of all its decisions.

    Examples
    --------
    >>> from swftools.simulator.one_call import simulate
    >>> from swftools.trace import Trace
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2, 3], submit_time=[0, 1, 2],
    ...     run_time=[10, 10, 5], requested_time=[10, 10, 5], requested_processors=[3, 4, 1])
    >>> first = simulate(trace, "search", seconds=0.001)
    >>> again = simulate(trace, recorded_search(first))
    >>> first.jobs["start_time"].equals(again.jobs["start_time"])
    True
    """
    decisions = schedule.notes.get("decisions")
    if decisions is None:
        raise ParameterError(
            f"the schedule by {schedule.policy!r} has no notes of its decisions; simulate it with explain=True, or "
            "with seconds above 0"
        )
    numbers = decisions["decision"].to_numpy(dtype=np.int64)
    if (numbers != np.arange(len(numbers))).any():
        raise ParameterError(
            f"the schedule's notes begin with decision {numbers[0]:,}: there were more decisions than notes are kept "
            "for, so the nodes of the first are lost"
        )
    found = find_policy(schedule.policy)
    nodes = decisions["nodes"].to_numpy(dtype=np.int64)
    given = {name: schedule.options[name] for name in found.parameters.names()}

    def memory(jobs: int, processors: int, parameters: Parameters) -> Memory:
        return _with_limits(found.empty_memory(jobs, processors, parameters), nodes)

    return replace(found, memory=memory, fixed=given)


def _with_limits(memory: Any, limits: npt.NDArray[np.int64]) -> Any:
    """Return a memory whose search, which may lie deeper, has limits."""
    if isinstance(memory, Search):
        return memory._replace(limits=limits)
    if not isinstance(memory, tuple):
        return memory
    return type(memory)(*(_with_limits(part, limits) for part in memory))
