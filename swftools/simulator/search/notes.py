# SPDX-License-Identifier: BSD-3-Clause
"""What is noted of searches: decisions, better orders that were found, the order that was chosen, generations.

Rows of numbers, the oldest of which are written over when there are too many; as tables they are what
``Schedule.notes`` holds. From them a schedule that was searched is made again, whatever the clock said.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, kernel
from swftools.parameters import Parameters
from swftools.simulator.machine.state import NOW, STARTED, Machine
from swftools.simulator.memory_transfer import check_sound
from swftools.simulator.policy_abi import Memory
from swftools.simulator.registry import Policy, find_policy
from swftools.simulator.schedule import Schedule
from swftools.simulator.search.state import (
    BEST,
    DECISION,
    FIRST,
    IMPROVEMENTS,
    IS_EXHAUSTED,
    ITERATION,
    JOBS,
    MEASURES,
    PATHS,
    TERMS,
    VISITS,
    Notes,
    Search,
)

DECISIONS, IMPROVED, ORDERS, GENERATIONS = range(4)
"""Places in ``Notes.written``: how many rows were written so far, also over others."""

TIME, WAITING, NODES, NUMBER_OF_PATHS, FOUND, EXHAUSTED, STARTS = range(7)
WIDTHS = (7 + 2 * TERMS, 3 + TERMS, 6, 4)
"""Numbers of a row of each table."""

PLAIN = (
    {"time": "float64", "waiting": "int64", "nodes": "int64", "paths": "int64", "improvements": "int64"}
    | {"is_exhausted": "bool", "started": "int64"}
    | {f"{which}_{term}": "float64" for which in ("first", "best") for term in range(1, TERMS + 1)},
    {"decision": "int64", "nodes": "int64", "iteration": "int64"}
    | {f"value_{term}": "float64" for term in range(1, TERMS + 1)},
    {"decision": "int64", "job": "int64", "chosen_place": "int64", "heuristic_place": "int64"}
    | {"planned_start": "float64", "heuristic_planned_start": "float64"},
    {"decision": "int64", "generation": "int64", "best": "float64", "mean": "float64"},
)
"""Columns of the four tables, as they are noted."""

DECISIONS_A_JOB, IMPROVEMENTS_A_JOB, ORDERS_A_JOB, GENERATIONS_A_JOB = 16, 32, 64, 128
"""Rows for which there is room, for each job of the trace."""


def empty_notes(jobs: int, decisions: bool, everything: bool, *, generations: bool = False) -> Notes:
    """Return room for notes of decisions alone, of everything, or of nothing; of generations where there are such."""

    def rows(wanted: bool, width: int, count: int) -> Any:
        return np.broadcast_to(np.zeros(1), width * count if wanted else 1)

    return Notes(
        rows(decisions or everything, WIDTHS[DECISIONS], DECISIONS_A_JOB * jobs + 64),
        rows(everything, WIDTHS[IMPROVED], IMPROVEMENTS_A_JOB * jobs + 64),
        rows(everything, WIDTHS[ORDERS], ORDERS_A_JOB * jobs + 64),
        rows(everything and generations, WIDTHS[GENERATIONS], GENERATIONS_A_JOB * jobs + 64),
        np.zeros(len(WIDTHS), np.int64),
    )


def restore_search(old: Search, new: Search, machine: Machine) -> None:  # noqa: ARG001 (as all of them)
    """Take out of a saved state the number of the decision, and what was noted of those before it."""
    check_sound(old.counts[DECISION] >= 0 and (old.notes.written >= 0).all(), "a decision before the first")
    new.counts[DECISION] = old.counts[DECISION]
    for ours, theirs in zip(old.notes, new.notes, strict=True):
        theirs[:] = ours


@kernel(allocates=False)
def next_row(table: FloatArray, width: int, written: int) -> int:
    """Return where the next row of a table begins; -1 if nothing is noted in it."""
    rows = len(table) // width
    return width * (written % rows) if rows > 0 else -1


@kernel(allocates=False)
def note_improvement(search: Search) -> None:
    """Note that a better order was found."""
    notes, counts = search.notes, search.counts
    at = next_row(notes.improvements, WIDTHS[IMPROVED], notes.written[IMPROVED])
    if at < 0:
        return
    row = notes.improvements
    row[at], row[at + 1], row[at + 2] = float(counts[DECISION]), float(counts[VISITS]), float(counts[ITERATION])
    for term in range(TERMS):
        row[at + 3 + term] = search.aim[BEST * TERMS + term] if term < max(counts[MEASURES], 1) else np.nan
    notes.written[IMPROVED] += 1


@kernel(allocates=False)
def note_generation(search: Search, mean: float) -> None:
    """Note what the best order so far is worth, or costs by the first measure, and what a generation is in the mean."""
    notes, counts = search.notes, search.counts
    at = next_row(notes.generations, WIDTHS[GENERATIONS], notes.written[GENERATIONS])
    if at < 0:
        return
    row = notes.generations
    row[at], row[at + 1] = float(counts[DECISION]), float(counts[ITERATION])
    row[at + 2], row[at + 3] = search.aim[BEST * TERMS], mean
    notes.written[GENERATIONS] += 1


@kernel(allocates=False)
def note_decision(machine: Machine, search: Search) -> None:
    """Note what a decision searched, found and started."""
    notes, counts = search.notes, search.counts
    at = next_row(notes.decisions, WIDTHS[DECISIONS], notes.written[DECISIONS])
    if at < 0:
        return
    row = notes.decisions
    row[at + TIME], row[at + WAITING] = machine.clock[NOW], float(counts[JOBS])
    row[at + NODES], row[at + NUMBER_OF_PATHS] = float(counts[VISITS]), float(counts[PATHS])
    row[at + FOUND], row[at + EXHAUSTED] = float(counts[IMPROVEMENTS]), float(counts[IS_EXHAUSTED])
    row[at + STARTS] = float(machine.counts[STARTED])
    for term in range(TERMS):
        is_there = term < max(counts[MEASURES], 1)  # without a measure the first is what an order is worth
        row[at + STARTS + 1 + term] = search.aim[FIRST * TERMS + term] if is_there else np.nan
        row[at + STARTS + 1 + TERMS + term] = search.aim[BEST * TERMS + term] if is_there else np.nan
    notes.written[DECISIONS] += 1
    rows = len(notes.orders) // WIDTHS[ORDERS]
    if rows == 0:
        return
    row = notes.orders
    for place in range(counts[JOBS]):
        at = WIDTHS[ORDERS] * (notes.written[ORDERS] % rows)
        own = search.best_path[place]
        row[at], row[at + 1], row[at + 2] = float(counts[DECISION]), float(search.job[own]), float(place)
        row[at + 3], row[at + 4] = float(own), search.best_begins[place]
        row[at + 5] = search.first_begins[own]
        notes.written[ORDERS] += 1


def tables_of(notes: Notes, means: list[bool]) -> dict[str, pd.DataFrame]:
    """Return the tables of what was noted: decisions, improvements, orders; none where nothing is.

    Parameters
    ----------
    notes : Notes
        As the search has left them.
    means : list of bool
        Of each measure of the objective, whether it is a mean: what is noted are sums.
    """
    if len(notes.decisions) <= 1:
        return {}
    decisions, improvements, orders = (_rows(notes, number) for number in (DECISIONS, IMPROVED, ORDERS))
    waiting = decisions["waiting"].to_numpy()
    for term, is_mean in enumerate(means, 1):
        if is_mean:
            for name in (f"first_{term}", f"best_{term}"):
                decisions[name] /= waiting
            at = improvements["decision"].to_numpy() - int(decisions["decision"].min() if len(decisions) else 0)
            improvements = improvements[at >= 0]
            improvements[f"value_{term}"] /= waiting[at[at >= 0]]
    tables = {"decisions": decisions}
    if len(notes.orders) > 1:
        whole = orders.groupby("decision")["chosen_place"].transform("min") == 0
        tables |= {"improvements": improvements, "orders": orders[whole].reset_index(drop=True)}
    if len(notes.generations) > 1:
        tables["generations"] = _rows(notes, GENERATIONS)
    return tables


def _rows(notes: Notes, number: int) -> pd.DataFrame:
    """Return a table as it is noted, from the oldest row that is there on."""
    width, written = WIDTHS[number], int(notes.written[number])
    table = notes[number][: len(notes[number]) // width * width].reshape(-1, width)
    count = len(table)
    rows = table[:written] if written <= count else np.roll(table, -(written % count), axis=0)
    frame = pd.DataFrame({name: rows[:, at].astype(kind) for at, (name, kind) in enumerate(PLAIN[number].items())})
    if number == DECISIONS:
        frame.insert(0, "decision", np.arange(written - len(frame), written))
    return frame


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
    >>> from swftools.simulator.entry_points import simulate
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
