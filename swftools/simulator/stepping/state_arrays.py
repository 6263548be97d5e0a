# SPDX-License-Identifier: BSD-3-Clause
"""The arrays of a simulation's state in saved bytes, by their paths: written, and read, also those of version 1.

Arrays that a state may lack are not written where it does; one that came later is empty in a state that lacks it. None
is used before ``sound`` has looked at it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from swftools.errors import StateError
from swftools.simulator.engine.replay import State, with_views
from swftools.simulator.machine.state import read_only
from swftools.simulator.state.arena import Arena
from swftools.simulator.state.columns import (
    PER_EDGE,
    PER_END,
    PER_RUN,
    array_at,
    columns_of,
    made_of,
    sizes_in,
    sizes_of,
)
from swftools.simulator.stepping.packed import Arrays

FIRST_FORM = {
    "coming": (
        *("row", "run_time", "limit", "told", "submit_time", "processors", "user_id", "queue_id", "priority_rank"),
        *("checkpoint_interval", "speedup", "utility", "restart_overhead"),
    ),
    "machine": (
        *("counts", "clock", "predicted", "queue.least", "queue.job", "queue.place", "queue.used", "held_until"),
        *("held", "running", "started", "stops.run", "stops.how", "stops.work", "ended", "allocated", "run"),
        *("start_time", "expected_end", "done", "overhead", "restart"),
    ),
    "replay": (
        *("requests.submit_time", "requests.processors", "requests.requested_time", "requests.limit"),
        *("requests.user_id", "requests.queue_id", "requests.priority_rank", "requests.checkpoint_interval"),
        *("requests.speedup", "requests.utility", "requests.restart_overhead"),
        *("log.job", "log.start", "log.end", "log.processors", "log.ended_by", "log.before", "log.work"),
        *("log.overhead", "log.size", "ends.times", "ends.runs", "ends.size", "counts", "until"),
    ),
}
"""Arrays of a state of version 1, which has them by number."""

STATE = "state."
"""What the names of the arrays of the engine begin with."""


def arrays_of(state: State) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Yield the arrays of a state, zero where nothing was written yet, so that equal states are equal bytes."""
    used = {PER_RUN: int(state.replay.log.size[0]), PER_END: int(state.replay.ends.size[0])}
    for path, column in columns_of(State).items():
        array = array_at(state, path)
        if not len(array) and (column.is_optional or column.per == PER_EDGE):
            continue
        if (count := used.get(column.per)) is not None:
            array = np.concatenate([array[:count], np.zeros(len(array) - count, array.dtype)])
        yield f"{STATE}{path}", array


def _named(arrays: Arrays) -> Arrays:
    """Return the arrays of a state of version 1 by their paths."""
    named: Arrays = {}
    for part, names in FIRST_FORM.items():
        if sum(key.startswith(f"{part}.") for key in arrays) != len(names):
            raise StateError(f"{part} has another number of arrays than here")
        named |= {f"{STATE}{part}.{name}": arrays[f"{part}.{i}"] for i, name in enumerate(names)}
    del named[f"{STATE}machine.predicted"]  # which shows another
    return named


def _state_in(arrays: Arrays) -> State:
    """Return what the engine goes on with; arrays that came to be later are empty."""
    columns = columns_of(State)
    found = {key.removeprefix(STATE): array for key, array in arrays.items() if key.startswith(STATE)}
    if unknown := found.keys() - columns.keys():
        raise StateError(f"it has {min(unknown)}, which is nothing here")
    for path, array in found.items():
        column = columns[path]
        if array.dtype != column.kind or array.ndim != 1 + len(column.further):
            raise StateError(f"{path} is an array of {array.dtype} where one of {column.kind} is here")
        if not column.per and len(array) < column.times:  # what it counts came later
            found[path] = np.append(array, np.full(column.times - len(array), column.empty, column.kind))
    sizes = sizes_in(State, found)
    for path in columns.keys() - found.keys():  # which came later
        one = columns[path]
        found[path] = np.full(one.shape(sizes, path.rpartition(".")[2]), one.empty, one.kind)
    state: State = made_of(State, found)
    return with_views(state)


def arena_of(state: State) -> Arena[State]:
    """Return a state in memory of its own."""
    columns = columns_of(State)
    given = {path: read_only(array_at(state, path)) for path, column in columns.items() if column.is_given}
    first = {path: array_at(state, path) for path in columns if path not in given}
    return Arena(State, sizes_of(state), given, with_views, first)


def state_in(arrays: Arrays, version: int) -> State:
    """Return what the engine goes on with, of the arrays of a saved state of a version.

    Raises
    ------
    StateError
        It has other arrays than the engine.
    """
    return _state_in(_named(arrays) if version == 1 else arrays)
