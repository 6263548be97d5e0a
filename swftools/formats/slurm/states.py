# SPDX-License-Identifier: BSD-3-Clause
"""The states of Slurm's jobs, and what each means in SWF.

References
----------
sacct(1), "Job state codes" (the states, with their short forms).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from swftools.formats.accounting.meanings import by_word
from swftools.kernel import FloatArray, IntArray

UNKNOWN, OPEN, COMPLETED, FAILED, CANCELLED, PREEMPTED, REVOKED, REQUEUED, RESIZING, NODE_FAIL = range(10)
"""What a state says of a job: it is none of Slurm's, the job has not ended, or how it ended.

REVOKED never ran: a sibling of it in another cluster did. REQUEUED is the last word on an earlier life of a job, or on
a job that waits to be started again. RESIZING is that on a job before it was given another size, or of one that is
being given it. NODE_FAIL is a failure, after which most sites queue the job again.
"""

STATES = {
    "COMPLETED": COMPLETED,
    "CANCELLED": CANCELLED,
    "PREEMPTED": PREEMPTED,
    "REVOKED": REVOKED,
    "REQUEUED": REQUEUED,
    "RESIZING": RESIZING,
    "NODE_FAIL": NODE_FAIL,
    **dict.fromkeys(("FAILED", "TIMEOUT", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY", "LAUNCH_FAILED"), FAILED),
    **dict.fromkeys(
        (
            *("PENDING", "RUNNING", "SUSPENDED", "CONFIGURING", "COMPLETING", "SIGNALING", "STAGE_OUT"),
            *("STOPPED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"),
        ),
        OPEN,
    ),
}

_SHORT = {"CD": COMPLETED, "CA": CANCELLED, "PR": PREEMPTED, "RV": REVOKED, "RQ": REQUEUED, "RS": RESIZING}
_SHORT |= {"NF": NODE_FAIL} | dict.fromkeys(["F", "TO", "BF", "DL", "OOM"], FAILED)
_SHORT |= dict.fromkeys(["PD", "R", "S", "CF", "CG", "SI", "SO", "ST", "RF", "RH", "SE", "RD"], OPEN)

PARTIAL = 2.0
"""The status in SWF of a part of a job that another part follows."""

STATUS_OF_PREEMPTED = {"cancelled": 5.0, "failed": 0.0, "partial": 2.0}
"""The status in SWF of jobs that others displaced, by option."""


def kind_of(state: str) -> int:
    """Return what a state says: ``CANCELLED by 1000`` and ``CANCELLED+`` are CANCELLED."""
    word = state.split(maxsplit=1)[0].rstrip("+").upper() if state.strip() else ""
    return STATES.get(word, _SHORT.get(word, UNKNOWN))


def kinds_of(states: pa.LargeStringArray) -> IntArray:
    """Return what each state says; UNKNOWN where there is none."""
    return by_word(states, kind_of, UNKNOWN)


def swf_status(kinds: IntArray, preempted: str) -> FloatArray:
    """Return the status in SWF: 1 completed, 0 failed, 5 cancelled, 2 before another size; NaN if not ended.

    Parameters
    ----------
    kinds : ndarray of int
        As ``kinds_of`` returns them.
    preempted : str
        What jobs are that were taken off their nodes for others, or to be queued again: a word of
        ``STATUS_OF_PREEMPTED``.
    """
    status = np.full(len(kinds), np.nan)
    status[kinds == COMPLETED] = 1.0
    status[(kinds == FAILED) | (kinds == NODE_FAIL)] = 0.0
    status[kinds == RESIZING] = PARTIAL
    status[(kinds == CANCELLED) | (kinds == REVOKED)] = 5.0
    status[(kinds == PREEMPTED) | (kinds == REQUEUED)] = STATUS_OF_PREEMPTED[preempted]
    return status
