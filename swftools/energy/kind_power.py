# SPDX-License-Identifier: BSD-3-Clause
"""Power of a machine of nodes over time, by the kind of its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from swftools.energy.node_power import NodePower, power_on_nodes
from swftools.energy.power import (
    EnergyParameters,
    chosen_parameters,
    power_of_runs,
    sum_of,
    switched_off,
)
from swftools.simulator.allocations import allocations_of, machine_of
from swftools.simulator.metrics.columns import column_of, rows_of
from swftools.simulator.metrics.step_functions import changes_at, instants_of
from swftools.simulator.schedule import Schedule


def power_by_kind(
    schedule: Schedule,
    parameters: EnergyParameters | None = None,
    *,
    powers: Mapping[str, NodePower] | None = None,
    **changes: Any,
) -> pd.DataFrame:
    """Return the power of the nodes of each kind, from each event to the next.

    Parameters
    ----------
    schedule : Schedule
        On a machine of nodes.
    parameters : EnergyParameters, optional
        Defaults if not given.
    powers : mapping of str to NodePower, optional
        The power of nodes by the name of their kind. What a kind does not say, the parameters do.
    **changes
        Single parameters by name: ``busy_power=200``.

    Returns
    -------
    pandas.DataFrame
        One row for each kind and instant, kinds in the order of the machine: ``kind`` (str); ``time``, s, the instants
        of ``power_over_time``; ``power``, W of the nodes of that kind from then up to the next instant. Together with
        ``static_power``, which no node takes, they are the power of the machine. The logged power of a job is
        shared out to its nodes by the cores that it holds there.

    Raises
    ------
    ParameterError
        As ``power_over_time``, or the machine is a pool.

    Examples
    --------
    >>> from swftools import MachineDescription, Trace, simulate
    >>> nodes = [{"kind": "thin", "count": 1, "cores": 2}, {"kind": "fat", "count": 1, "cores": 4}]
    >>> machine = MachineDescription.from_mapping({"nodes": nodes})
    >>> trace = Trace.from_columns(submit_time=[0], run_time=[5], requested_processors=[2])
    >>> power_by_kind(simulate(trace, "fcfs", machine=machine), busy_power=10, idle_power=1).values.tolist()
    [['thin', 0.0, 20.0], ['thin', 5.0, 2.0], ['fat', 0.0, 4.0], ['fat', 5.0, 4.0]]
    """
    chosen, machine = chosen_parameters(parameters, changes), machine_of(schedule)
    power = power_of_runs(schedule, chosen, powers or {})
    nodes = power_on_nodes(schedule, powers or {}, chosen.busy_power, chosen.idle_power)
    runs, held = schedule.segments, allocations_of(schedule)
    busy = held.cores * nodes.busy_core[held.node]
    is_logged = ~power.is_assumed[rows_of(runs, schedule.jobs)]
    if is_logged.any():
        share = held.cores / np.maximum(np.bincount(held.run, held.cores, len(runs)), 1)[held.run]
        busy = np.where(is_logged[held.run], power.watts[held.run] * share, busy)
    more = busy - held.cores * nodes.idle_core[held.node]
    idle = machine.cores * nodes.idle_core + nodes.rest
    moments = [column_of(schedule.jobs, "submit_time"), column_of(runs, "start_time"), column_of(runs, "end_time")]
    times = instants_of(
        *(changes_at(each).at for each in moments), *(each.at for each, _ in switched_off(schedule, power, chosen))
    )
    parts = []
    for place, kind in enumerate(machine.kinds):
        of_kind = machine.kind == place
        here = of_kind[held.node]
        total = sum_of(
            times,
            [
                (changes_at(held.start[here]), more[here]),
                (changes_at(held.end[here]), -more[here]),
                *switched_off(schedule, power, chosen, of_kind),
            ],
        )
        watts = np.maximum(idle[of_kind].sum() + total, 0.0)
        parts.append(pd.DataFrame({"kind": pd.array([kind] * len(times), dtype="str"), "time": times, "power": watts}))
    return pd.concat(parts, ignore_index=True)
