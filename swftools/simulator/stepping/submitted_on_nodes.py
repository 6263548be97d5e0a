# SPDX-License-Identifier: BSD-3-Clause
"""What a job asks of nodes that is submitted while a simulation runs: read as of a log, and room made for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import IntArray
from swftools.machines.asked import Asked, Place
from swftools.machines.outages import who_may
from swftools.machines.requests import ask_of
from swftools.simulator.nodes.begin import places_of
from swftools.simulator.nodes.forking import class_anew
from swftools.simulator.nodes.placements import find_placement
from swftools.simulator.nodes.words import HALF, words_of
from swftools.simulator.simulation import Simulation
from swftools.simulator.state.arena import Arena
from swftools.simulator.stepping.chosen_nodes import order_of
from swftools.trace import Trace

COLUMNS: Mapping[str, str] = {
    **dict.fromkeys(("requested_nodes", "requested_gpus"), "Int64"),
    **dict.fromkeys(("requested_cores_per_node", "requested_memory_per_node"), "Float64"),
    **dict.fromkeys(("requested_gpus_per_node", "most_cores_per_node"), "Float64"),
    **dict.fromkeys(("constraints", "gpu_types"), "object"),
    "is_exclusive": "boolean",
}
"""What jobs may be submitted with, whether the trace has such columns or not; their types in pandas."""


def lacking(simulation: Simulation, names: Iterable[str]) -> dict[str, str]:
    """Return which of some columns the jobs of a simulation on nodes may get, and lack; and their types."""
    if simulation.nodes is None:
        return {}
    return {name: COLUMNS[name] for name in names if name in COLUMNS and name not in simulation._table.columns}


def asked_by(simulation: Simulation, job: Trace) -> Asked:
    """Return what a job, the only one of a trace, asks of the machine: read as the last of the simulation's jobs.

    What words and numbers of a request mean may depend on what the other jobs have. So it takes the longer the more
    there are: some ms for thousands.
    """
    table: Any = simulation.nodes
    whole = simulation._table.trace()
    both = whole.with_jobs(pd.concat([whole.jobs, job.jobs], ignore_index=True))
    asked = find_placement(simulation.options["placement"]).able(ask_of(both, table), table)
    by_row = ("nodes", "cores", "memory", "gpus", "is_exclusive", "place", "code", "ready_time")
    return replace(asked, **{name: getattr(asked, name)[-1:] for name in by_row})


def parts_used(machine: Any, jobs: int) -> int:
    """Return how many nodes the first so many jobs have room for."""
    asked = machine.asked
    return int((asked.first[:jobs] + asked.nodes[:jobs]).max(initial=0))


def write_request(simulation: Simulation, job: int, asked: Asked, first: int) -> None:
    """Write what a job asks for, which is known already; its nodes are to be written down from a place on."""
    number = _number_of(simulation, asked.places[asked.place[0]], _may_use(simulation, job))
    machine: Any = simulation._machine
    own = machine.asked
    own.need[job] = words_of(asked.cores[0], asked.memory[0], asked.gpus[0], asked.is_exclusive[0])
    own.nodes[job], own.place[job], own.first[job] = asked.nodes[0], number, first


def class_again(simulation: Simulation) -> None:
    """Let waiting jobs be in classes anew, since there is room for other numbers of them."""
    driver = simulation._driver
    driver.called.taken(class_anew)(driver.machine)


def _may_use(simulation: Simulation, job: int) -> IntArray:
    """Return, for each of those for whom nodes are reserved, whether a job is theirs; nothing where none are."""
    table: Any = simulation.nodes
    if not len(table.outages.holders):
        return np.zeros(0, np.int64)
    trace = simulation._table.trace()
    row = int(simulation._rows[job])
    group, may, _ = who_may(trace.with_jobs(trace.jobs.iloc[row : row + 1]), table.outages)
    return may[group[0]].astype(np.int64)


def _number_of(simulation: Simulation, place: Place, may: IntArray) -> int:
    """Return the number of a place where jobs may run; it is added where none has asked for it yet.

    Jobs that may use other nodes of what is reserved, as ``may`` says, are of another place.
    """
    driver, table = simulation._driver, simulation.nodes
    machine: Any = driver.machine
    if table is None:
        return 0
    known, one = machine.places, places_of(table, order_of(simulation), [place])
    allowed = machine.outages.may if len(table.outages) else np.zeros(0, np.int64)
    for number in range(len(known.sets) - 1):
        own = allowed[number * len(may) : (number + 1) * len(may)]
        if _same(known, number, one) and np.array_equal(own, may):
            return number
    count = len(known.sets) - 1
    if count >= 2 * HALF:
        raise ParameterError(
            f"the jobs ask for more than {count} different sets of nodes, by partition, features, types of GPUs and "
            f"reservations; simulations know at most {2 * HALF}"
        )
    arena: Arena[Any] = driver.seat.arena
    given = {**arena.given, **_joined(known, one, count)}
    sizes = arena.sizes._replace(asked_places=arena.sizes.asked_places + 1)
    if len(table.outages):
        given["machine.outages.may"] = np.append(allowed, may)
        sizes = sizes._replace(allowed=len(allowed) + len(may))
    driver.move(arena.resized(sizes, given))
    driver.rooms, driver.lease = driver.rooms.anew(), None
    return count


def _same(known: Any, number: int, one: Mapping[str, Any]) -> bool:
    """Whether a place that is known is another one, which is alone."""
    begin, end = int(known.sets[number]), int(known.sets[number + 1])
    low, high = int(known.ranges[begin]), int(known.ranges[end])
    return (
        np.array_equal(known.partition[begin:end], one["partition"])
        and np.array_equal(known.ranges[begin : end + 1] - low, one["ranges"])
        and np.array_equal(known.low[low:high], one["low"])
        and np.array_equal(known.high[low:high], one["high"])
    )


def _joined(known: Any, one: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return the columns of places with another one, which gets a number."""
    word, bit = number // HALF, 1 << number % HALF
    sets, ranges = int(known.sets[-1]), int(known.ranges[-1])
    joined = {
        "sets": np.append(known.sets, sets + one["sets"][1:]),
        "ranges": np.append(known.ranges, ranges + one["ranges"][1:]),
        **{name: np.append(getattr(known, name), one[name]) for name in ("low", "high", "partition")},
    }
    for half in range(2):
        inside = getattr(known, f"inside{half}") | np.where(one["inside0"] > 0, bit if word == half else 0, 0)
        of_places = np.append(getattr(known, f"partitions{half}"), 0)
        of_places[number] = one[f"partitions{half}"][0]
        joined |= {f"inside{half}": inside, f"partitions{half}": of_places}
    return {f"machine.places.{name}": column for name, column in joined.items()}
