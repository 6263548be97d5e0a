"""EASY backfilling of a queue in any order: what the policies of ``priority_easy`` share."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.interface import FREE, can_start_any, earliest_start, start
from swftools.simulator.waiting_queue import NOBODY


@kernel
def easy_by_key(now, machine, requests, jobs, keys):  # type: ignore[no-untyped-def]
    """Start jobs in order of rising keys, reserve for the first that does not fit, backfill the rest in that order.

    ``jobs`` are all waiting jobs in order of submission, which is also the order of jobs of equal keys.
    """
    shadow, extra = now, 0
    head = NOBODY
    for i in np.argsort(keys, kind="mergesort"):  # the stable one, in numba's words
        job = jobs[i]
        processors = requests.processors[job]
        if head == NOBODY:
            if processors > machine.counts[FREE]:
                head = job
                if not can_start_any(machine):
                    return
                shadow, extra = earliest_start(machine, now, processors)
                continue
        elif processors > machine.counts[FREE]:
            continue
        elif requests.requested_time[job] > shadow - now:
            if processors > extra:
                continue
            extra -= processors
        start(machine, requests, now, job)
