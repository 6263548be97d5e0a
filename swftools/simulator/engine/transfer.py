# SPDX-License-Identifier: BSD-3-Clause
"""What is done with every array of a state, job by job and run by run: copied in, taken along, blanked, begun anew.

These functions are written from the columns that the state has, so none of them forgets one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np  # noqa: F401 (the functions that are written name it)

from swftools.simulator.engine.replay import Coming, ReplayState, RunLog
from swftools.simulator.machine.state import Requests
from swftools.simulator.state.columns import (
    BLANK,
    COPY,
    PER_JOB,
    PER_ROW,
    PER_RUN,
    RESET,
    array_at,
    columns_of,
)
from swftools.simulator.state.written import each_number, empty_value, written

_PREDICTED = {"requested_time": "told"}
"""What a request is copied from that is not of the same name."""


def _submitting() -> Iterator[str]:
    come = columns_of(Coming)
    yield "row = coming.row[job]"
    for name in columns_of(Requests):
        source = _PREDICTED.get(name, name)
        at, array = "job" if come[source].per == PER_JOB else "row", f"coming.{source}"
        yield from each_number(come[source], array, f"requests.{name}[job{{at}}] = {array}[{at}{{at}}]")


def taking_a_job(kind: type) -> Iterator[str]:
    """Yield the lines that copy all that is of one job in states of a kind."""
    yield "row, new_row = coming.row[job], new_coming.row[new]"
    for path, column in columns_of(kind).items():
        if column.per not in (PER_JOB, PER_ROW) or path == "coming.row" or column.on_fork == RESET:
            continue
        old, new = ("job", "new") if column.per == PER_JOB else ("row", "new_row")
        value = empty_value(column) if column.on_fork == BLANK else f"{path}[{old}{{at}}]"
        yield from each_number(column, path, f"new_{path}[{new}{{at}}] = {value}")


def _taking_from_a_log() -> Iterator[str]:
    for name, column in columns_of(Coming).items():
        if column.per == PER_JOB:
            yield from each_number(column, f"log.{name}", f"coming.{name}[new{{at}}] = log.{name}[job{{at}}]")


def _taking_a_run() -> Iterator[str]:
    for name, column in columns_of(RunLog).items():
        if column.per == PER_RUN and column.on_fork == COPY:
            yield f"new_log.{name}[new] = log.{name}[run]"


def _beginning_anew() -> Iterator[str]:
    for path, column in columns_of(ReplayState).items():
        if not column.is_ahead and not column.is_given:
            places = ", ".join([":"] * (1 + len(column.further)))
            yield f"{path}[{places}] = {empty_value(column)}"


submit = written(
    globals(),
    "submit(coming, requests, job)",
    "Copy in what is known of a job from its submission on.",
    _submitting(),
)

take_job = written(
    globals(),
    "take_job(coming, machine, replay, job, new_coming, new_machine, new_replay, new)",
    "Copy all that is of one job, whose row is written already; of one that is to come nothing is known in either.",
    taking_a_job(ReplayState),
)

take_from_log = written(
    globals(),
    "take_from_log(log, coming, job, new)",
    "Copy what is to come of one job of a log, whose rows both have.",
    _taking_from_a_log(),
)

take_run = written(
    globals(),
    "take_run(log, run, new_log, new)",
    "Copy what is of one run, but for its job.",
    _taking_a_run(),
)

begin_anew = written(
    globals(),
    "begin_anew(machine, replay)",
    "Forget all that is known of jobs and runs, and how large the machine is.",
    _beginning_anew(),
)


def blank_jobs(state: ReplayState, jobs: int | slice) -> None:
    """Write that nothing is known of jobs that are to come: the room for them may have been others'."""
    for path, column in columns_of(type(state)).items():
        if column.per == PER_JOB and not column.is_ahead and len(array := array_at(state, path)):
            array[jobs] = column.empty
