# SPDX-License-Identifier: BSD-3-Clause
"""Small logs for episodes, and what is seen of them told again in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from swftools import Trace
from swftools.learning import EpisodeLog
from swftools.simulator import Stepper

JOBS = 60


def crowded(seed: int = 0, jobs: int = JOBS, processors: int = 8) -> Trace:
    """Return jobs that come faster than they are done; some run longer than requested, some stop early."""
    random = np.random.default_rng(seed)
    run = random.integers(1, 4000, jobs)
    return Trace.from_columns(
        machine_processors=processors,
        job_number=np.arange(1, jobs + 1),
        submit_time=np.cumsum(random.integers(0, 900, jobs)),
        run_time=run,
        requested_time=np.maximum(1, run * random.choice([0.5, 1, 2, 5], jobs)).astype(int),
        requested_processors=random.integers(1, processors + 1, jobs),
    )


def bursts(size: int = 10, number: int = 6) -> Trace:
    """Return job arrays: so many single jobs at one instant, every ten minutes, on a machine that holds them all."""
    jobs = size * number
    return Trace.from_columns(
        machine_processors=number * size,
        job_number=np.arange(1, jobs + 1),
        submit_time=np.repeat(np.arange(number) * 600, size),
        run_time=np.arange(jobs) % 7 * 400,
        requested_time=np.full(jobs, 3000),
        requested_processors=np.ones(jobs, int),
    )


def part_of(log: EpisodeLog, first: int, jobs: int) -> Trace:
    """Return the jobs of an episode as a trace of their own."""
    rows = np.sort(log.coming.row[first : first + jobs])
    return log.trace.with_jobs(log.trace.jobs.iloc[rows].reset_index(drop=True))


def seen_by(stepper: Stepper, k: int, to_come: int, *, reserves: bool = False) -> tuple[Any, Any]:
    """Return observation and mask of a simulation, as the environment's docstring says."""
    seen, mask = np.zeros((k + 1, 6)), np.zeros(k + 1, np.int8)
    waiting, running = list(stepper.waiting), list(stepper.running)

    def share(seconds: float) -> float:
        return seconds / (seconds + 3600)

    shadow, spare = stepper.now, stepper.free
    if waiting:
        needed, ends = int(stepper.width[waiting[0]]), {}
        for job in running:
            moment = max(float(stepper.expected_end[job]), stepper.now)
            ends[moment] = ends.get(moment, 0) + int(stepper.allocated[job])
        free = stepper.free + ends.pop(stepper.now, 0)  # who outlived its request may end at any moment
        for moment in sorted(ends):
            if free >= needed:
                break
            free, shadow = free + ends[moment], moment
        spare = free - needed
    for row, job in enumerate(waiting[:k]):
        time, fits = float(stepper.estimated_time[job]), stepper.width[job] <= stepper.free
        ahead = fits and (row == 0 or stepper.now + time <= shadow or stepper.width[job] <= spare)
        wait = stepper.now - float(stepper.submit_time[job])
        seen[row] = stepper.width[job] / stepper.processors, share(time), share(wait), fits, ahead, 1
        mask[row] = fits or reserves
    rest = max(float(stepper.expected_end[running[0]]) - stepper.now, 0.0) if running else 0.0
    queue = len(waiting) / (len(waiting) + k)
    seen[k] = (
        *(stepper.free / stepper.processors, share(shadow - stepper.now), queue),
        *(max(spare, 0) / stepper.processors, share(rest), 0),
    )
    mask[k] = bool(running) or to_come > 0
    return seen, mask
