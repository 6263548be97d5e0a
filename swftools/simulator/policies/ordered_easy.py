"""EASY backfilling of a queue in any order: what the policies of ``priority_easy`` share."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import FREE, NOW
from swftools.simulator.machine.verbs import start
from swftools.simulator.machine.views import can_start_any, earliest_start, expected_time
from swftools.simulator.machine.waiting_queue import NOBODY


@kernel
def easy_by_key(machine, jobs, keys):  # type: ignore[no-untyped-def]
    """Start jobs in order of rising keys, reserve for the first that does not fit, backfill the rest in that order.

    ``jobs`` are all waiting jobs in order of submission, which is also the order of jobs of equal keys.
    """
    now, requests = machine.clock[NOW], machine.requests
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
                shadow, extra = earliest_start(machine, processors)
                continue
        elif processors > machine.counts[FREE]:
            continue
        elif expected_time(machine, job) > shadow - now:
            if processors > extra:
                continue
            extra -= processors
        start(machine, job)
