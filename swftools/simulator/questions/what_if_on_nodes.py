# SPDX-License-Identifier: BSD-3-Clause
"""When a job would start that were submitted now to a machine of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.machines.requests import ask_of
from swftools.parameters import is_whole
from swftools.simulator.nodes.setup import table_of
from swftools.simulator.questions.asked_job import check_time_and_priority, with_job
from swftools.simulator.stepping.stepper import Stepper

ASKED = (
    *("processors", "requested_nodes", "requested_cores_per_node", "requested_memory_per_node"),
    *("requested_gpus_per_node", "requested_gpus", "constraints", "is_exclusive", "partition"),
)
"""What a job may ask for, beside its time and its priority."""


def what_if_on_nodes(
    running: pd.DataFrame,
    waiting: pd.DataFrame,
    jobs: Iterable[Mapping[str, Any]],
    policies: Iterable[str],
    machine: object,
    options: Mapping[str, Any],
) -> pd.DataFrame:
    """Say when jobs would start on nodes; arguments, result and errors are those of ``what_if``.

    ``attrs["left_out"]`` of the result says of which waiting jobs nothing can be said, as they could never run on the
    machine: how many, by the reason.
    """
    asked = [_checked(job, waiting) for job in jobs]
    rows, left_out = [], {}
    for policy in policies:
        for job in asked:
            given = {name: value for name, value in job.items() if name != "priority"}
            queue, place = with_job(waiting, given, job.get("priority"))
            ran, waits = (
                each.drop(columns="job_number", errors="ignore") for each in (running, queue)
            )  # rows tell who
            stepper = Stepper.from_queue(ran, waits, policy=policy, machine=machine, **options)
            row = len(stepper._simulation._table) - len(queue) + place
            reasons = stepper._simulation._workload.excluded.set_index("row")["reason"]
            if row in reasons.index and (later := _if_all_were_there(stepper, row, machine)) is not None:
                rows.append((policy, *later))
                continue
            if row in reasons.index:
                raise ParameterError(f"{_told(job)}: it could never run on this machine: {reasons[row]}")
            left_out = {str(reason): int(count) for reason, count in reasons.value_counts().items()}
            rows.append((policy, *_answer(stepper, row)))
    columns = ["policy", "processors", "requested_time", "wait", "behind", "nodes"]
    found = pd.DataFrame(rows, columns=columns)
    found.attrs["left_out"] = left_out
    return found


def _answer(stepper: Stepper, row: int) -> tuple[int, float, float, int, int]:
    """Return width, time, wait (s), behind how many of those that wait, and on how many nodes the job of a row is."""
    waiting, rows = stepper.waiting.tolist(), stepper._simulation._rows
    mine = next(job for job in waiting if rows[job] == row)
    width, time, begin = int(stepper.width[mine]), float(stepper.requested_time[mine]), stepper.present
    machine: Any = stepper._machine
    nodes = int(machine.asked.nodes[mine])
    stepper.run()
    starts = {job: stepper.first_start(job) for job in waiting}
    start = starts[mine]
    behind = sum(starts[job] < start for job in waiting if job != mine)
    return width, time, start - begin, behind, nodes


def _if_all_were_there(stepper: Stepper, row: int, machine: object) -> tuple[int, float, float, int, int] | None:
    """Return the answer for a job that needs nodes that do not come back: never; None if it needs others."""
    trace = stepper._simulation.trace
    asked = ask_of(trace, table_of(machine))
    if asked.code[row] != 0:
        return None
    many, time = int(asked.nodes[row]), float(trace.views.requested_time[row])
    return many * int(asked.cores[row]), time, np.inf, 0, many


def _checked(job: Mapping[str, Any], waiting: pd.DataFrame) -> dict[str, Any]:
    """Return a job; refuse what is none."""
    found = dict(job)
    if unknown := set(found) - {*ASKED, "requested_time", "priority"}:
        raise ParameterError(
            f"{_told(found)}: {min(unknown)} is not one of: requested_time, priority, {', '.join(ASKED)}"
        )
    if "requested_time" not in found or not {"processors", "requested_nodes", "requested_gpus"} & found.keys():
        raise ParameterError(f"{_told(found)}: give requested_time, and processors, requested_nodes or requested_gpus")
    for name in ("processors", "requested_nodes"):
        if name in found and not is_whole(found[name], 1, 2**31 - 1):
            raise ParameterError(f"{_told(found)}: {name} is not a whole number from 1 on")
    for name in ("requested_cores_per_node", "requested_memory_per_node", "requested_gpus_per_node", "requested_gpus"):
        if name in found and not 0 <= float(found[name]) < np.inf:
            raise ParameterError(f"{_told(found)}: {name} is not 0 or more")
    check_time_and_priority(found, waiting)
    if "processors" not in found:
        of_node = float(found.get("requested_cores_per_node", 1.0))
        found["processors"] = max(round(of_node * float(found.get("requested_nodes", 1))), 1)
    return found


def _told(job: Mapping[str, Any]) -> str:
    return f"job {dict(job)}"
