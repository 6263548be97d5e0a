# SPDX-License-Identifier: BSD-3-Clause
"""Schedules in which jobs are stopped and resized: by a script, or at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from swftools import Trace
from swftools.simulator import (
    CHECKPOINT,
    KILL,
    NOBODY,
    RUNNING,
    SUSPEND,
    WAITING,
    Policy,
    first_waiting,
    free,
    next_waiting,
    now,
    preempt,
    resize,
    simulate,
    start_on,
    stretch_on,
    wake_at,
)
from swftools.simulator.schedule import Schedule
from tests.drawn import draw_trace

Act = Callable[[Any], None]


def scripted(trace: Trace, script: dict[float, list[Act]], **options: Any) -> Schedule:
    """Simulate a trace under a policy that does what stands in a script, by the time."""

    def act(machine: Any) -> None:
        for do in script.get(now(machine), []):
            do(machine)
        later = [time for time in script if time > now(machine)]
        if later:
            wake_at(machine, min(later))

    return simulate(trace, Policy("scripted", act), compiled=False, **options)


def starts(job: int, processors: int) -> Act:
    """Return what starts a job; jobs are numbered from 0 in order of submission."""
    return lambda machine: start_on(machine, job, processors)


def stops(job: int, how: int) -> Act:
    """Return what stops a job."""
    return lambda machine: preempt(machine, job, how)


def resizes(job: int, processors: int) -> Act:
    """Return what resizes a job."""
    return lambda machine: resize(machine, job, processors)


def with_curves(trace: Trace, interval: float = 3.0) -> Trace:
    """Give jobs speedup curves, all but every third one, and checkpoints, all but every second one.

    The curve is linear: a job takes half as long on twice the width, up to 8 processors.
    """
    place, width = np.arange(len(trace)), trace.arrays.width
    is_moldable = place % 3 != 2
    jobs = trace.jobs.assign(
        is_moldable=is_moldable,
        speedup_curve=pd.array(["downey" if has else None for has in is_moldable], dtype="str"),
        downey_a=np.where(is_moldable, 8.0, np.nan),
        downey_sigma=np.where(is_moldable, 0.0, np.nan),
        sequential_run_time=np.where(is_moldable, trace.arrays.run_time * width, np.nan),
        minimum_processors=pd.array(np.where(is_moldable, 1, width), dtype="Int64"),
        maximum_processors=pd.array(np.where(is_moldable, 8, width), dtype="Int64"),
        checkpoint_interval=np.where(place % 2 == 0, interval, np.nan),
        cost_of_going_on=place % 4 / 2.0,
    )
    return trace.with_jobs(jobs)


def drawn(table: str) -> Trace:
    """Return a drawn trace of a machine of four processors, with curves and checkpoints."""
    return with_curves(draw_trace(table, processors=4))


def disturbed(trace: Trace, seed: int, **options: Any) -> Schedule:
    """Simulate a trace under a policy that stops and resizes at random for 40 decisions, and then lets all go on."""
    rng = np.random.default_rng(seed)
    left = [40]

    def disturb(machine: Any) -> None:
        left[0] -= 1
        for job in list(machine.running[: machine.counts[RUNNING]]) if left[0] > 0 else []:
            lot = rng.random()
            if lot < 0.5:
                preempt(machine, job, int(rng.choice([KILL, CHECKPOINT, SUSPEND])))
            elif lot < 0.8:
                processors = int(rng.integers(1, 7))
                if stretch_on(machine, job, processors) > 0 and processors - machine.allocated[job] <= free(machine):
                    resize(machine, job, processors)
        job = first_waiting(machine)
        while job != NOBODY:
            for processors in (int(machine.requests.processors[job]), int(rng.integers(1, 7))):
                if processors <= free(machine) and stretch_on(machine, job, processors) > 0:
                    start_on(machine, job, processors)
                    break
            job = next_waiting(machine, job)
        if left[0] > 0 and (machine.counts[RUNNING] > 0 or machine.counts[WAITING] > 0):
            wake_at(machine, now(machine) + float(rng.choice([0.5, 1.0, 2.5])))

    return simulate(trace, Policy("disturbing", disturb), compiled=False, **options)
