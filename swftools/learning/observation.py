# SPDX-License-Identifier: BSD-3-Clause
"""What is seen of machine and queue at a decision, as numbers between 0 and 1, and which actions are allowed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import IntArray, kernel
from swftools.kernel.pointers import Lent
from swftools.simulator.instants import instant
from swftools.simulator.machine.state import CAPACITY, FREE, NOW, RUNNING, SUBMITTED, WAITING, WAKE, Machine
from swftools.simulator.machine.views import earliest_start, first_waiting, width
from swftools.simulator.machine.waiting_queue import NOBODY

FEATURES = 6
"""Numbers in a row."""

WIDTH, TIME, WAITED, FITS, GOES_AHEAD, IS_JOB = range(FEATURES)
"""What is seen of a waiting job, a row each."""

FREE_SHARE, TIME_TO_HEAD, QUEUE, SPARE_SHARE, TIME_TO_END = range(FEATURES - 1)
"""What is seen of the machine, in the last row."""

HOUR = 3600.0
"""A time of t seconds is seen as t / (t + HOUR): a minute is .016, an hour .5, a day .96."""

SHOWN, RESERVES = range(2)
"""Places in ``ObservedJobs.counts``: jobs that are shown; 1 if a job that does not fit may be chosen."""


class Form(NamedTuple):
    """How many columns are seen of a machine, and how many further rows behind its own."""

    columns: int
    further: int


OF_A_POOL = Form(FEATURES, 0)


class ObservedJobs(NamedTuple):
    """What is seen: ``observation``, row by row; ``mask``, 1 where an action is allowed; the ``job`` of each row."""

    observation: npt.NDArray[np.float32]
    mask: npt.NDArray[np.int8]
    job: IntArray
    counts: IntArray


def empty_seen(rows: int, *, reserves: bool = False, form: Form = OF_A_POOL) -> ObservedJobs:
    """Return what is seen of nothing, with so many rows for jobs."""
    return ObservedJobs(
        np.zeros((rows + 1 + form.further) * form.columns, np.float32),
        np.zeros(rows + 1, np.int8),
        np.full(rows, NOBODY),
        np.array([0, reserves], np.int64),
    )


seen_at = Lent(lambda: empty_seen(1))


@kernel(allocates=False)
def observe(machine: Machine, seen: ObservedJobs) -> bool:
    """Write what is seen, and what is allowed; return whether there is a job to choose.

    Of a job to come, and of how long a job really runs, nothing is looked up.
    """
    shown, mask, queue, rows = seen.observation, seen.mask, machine.queue, len(seen.job)
    counts, least, places = machine.counts, machine.queue.least, len(machine.queue.job)
    now, free, share = machine.clock[NOW], counts[FREE], 1.0 / counts[CAPACITY]
    head, reserves = first_waiting(machine), seen.counts[RESERVES] > 0
    shadow, spare = now, free
    if head != NOBODY:
        shadow, spare = earliest_start(machine, width(machine, head))
    row, choices, place, used = 0, 0, queue.used[1], queue.used[0]
    while place < used and row < rows:
        needed, time = least[2 * (place + places)], least[2 * (place + places) + 1]
        if needed < np.inf:
            job, at = queue.job[place], row * FEATURES
            wait = now - machine.requests.submit_time[job]
            is_fitting = needed <= free
            shown[at + WIDTH] = needed * share
            shown[at + TIME] = time / (time + HOUR)
            shown[at + WAITED] = wait / (wait + HOUR)
            shown[at + FITS] = is_fitting
            shown[at + GOES_AHEAD] = is_fitting & ((job == head) | (instant(now + time) <= shadow) | (needed <= spare))
            shown[at + IS_JOB] = 1.0
            is_allowed = is_fitting | reserves
            mask[row], seen.job[row] = is_allowed, job
            choices += is_allowed
            row += 1
        place += 1
    show_no_more(seen, row)
    at = rows * FEATURES
    shown[at + FREE_SHARE] = free * share
    shown[at + TIME_TO_HEAD] = (shadow - now) / (shadow - now + HOUR)
    shown[at + QUEUE] = counts[WAITING] / (counts[WAITING] + rows)
    shown[at + SPARE_SHARE] = max(spare, 0) * share
    rest = 0.0
    if counts[RUNNING] > 0:
        rest = max(machine.expected_end[machine.running[0]] - now, 0.0)
    shown[at + TIME_TO_END] = rest / (rest + HOUR)
    is_to_come = counts[SUBMITTED] < len(machine.allocated)
    mask[rows] = counts[RUNNING] > 0 or is_to_come or machine.clock[WAKE] < np.inf
    return choices > 0


@kernel(allocates=False)
def show_no_more(seen: ObservedJobs, rows: int) -> None:
    """Clear the rows behind the first ones in which there were jobs."""
    for row in range(rows, seen.counts[SHOWN]):
        for at in range(row * FEATURES, (row + 1) * FEATURES):
            seen.observation[at] = 0.0
        seen.mask[row], seen.job[row] = 0, NOBODY
    seen.counts[SHOWN] = rows


@kernel(allocates=False)
def show_end(seen: ObservedJobs) -> None:
    """Show that nothing is left to decide: no job, and waiting is all that is allowed."""
    show_no_more(seen, 0)
    rows = len(seen.job)
    for at in range(rows * FEATURES, (rows + 1) * FEATURES):
        seen.observation[at] = 0.0
    seen.mask[rows] = 1
