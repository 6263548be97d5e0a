# SPDX-License-Identifier: BSD-3-Clause
"""The states of LoadLeveler's steps, and what each means in SWF.

References
----------
IBM, "LoadLeveler: Using and Administering" (the states, with their short forms in the reports).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from swftools.formats.accounting.meanings import by_word
from swftools.kernel import FloatArray, IntArray

UNKNOWN, OPEN, COMPLETED, FAILED, REJECTED, REMOVED, NOT_RUN, VACATED = range(8)
"""What a state says of a step: it is none of LoadLeveler's, the step has not ended, or how it ended.

FAILED is Terminated: ended because another task or a daemon failed. REJECTED and NOT_RUN never started: nothing could
run the step, or what it depends on went otherwise. REMOVED is taken away by somebody, queued or running.
"""

STATES = {
    "completed": COMPLETED,
    "terminated": FAILED,
    "rejected": REJECTED,
    "removed": REMOVED,
    "canceled": REMOVED,
    "cancelled": REMOVED,
    "not run": NOT_RUN,
    "vacated": VACATED,
    "submission error": REJECTED,
    **dict.fromkeys(
        (
            *("checkpointing", "complete pending", "completed pending", "deferred", "idle", "not queued", "notqueued"),
            *("pending", "preempted", "preempt pending", "reject pending", "rejected pending", "remove pending"),
            *("removed pending", "resume pending", "running", "starting", "system hold", "user hold", "unexpanded"),
            *("user & system hold", "user and system hold", "vacate pending", "vacated pending", "canceled pending"),
        ),
        OPEN,
    ),
}
"""States in small letters."""

_SHORT = {"C": COMPLETED, "TX": FAILED, "X": REJECTED, "RM": REMOVED, "CA": REMOVED, "NR": NOT_RUN, "V": VACATED}
_SHORT |= {"SX": REJECTED} | dict.fromkeys(
    ["CK", "CP", "D", "I", "NQ", "P", "E", "EP", "XP", "RP", "MP", "R", "ST", "S", "HS", "H", "VP"], OPEN
)


def kinds_of(states: pa.LargeStringArray) -> IntArray:
    """Return what each state says; UNKNOWN where there is none."""
    return by_word(states, lambda word: STATES.get(word.lower(), _SHORT.get(word, UNKNOWN)), UNKNOWN)


def swf_status(kinds: IntArray, code: FloatArray, run_time: FloatArray, hard_limit: FloatArray) -> FloatArray:
    """Return the status in SWF: 1 completed, 0 failed, 5 cancelled.

    A step that was removed when it had run longer than its hard limit was killed by it, and failed; one that ended as
    vacated was taken off its nodes and not started again, which is nobody's failure.

    Parameters
    ----------
    kinds : ndarray of int
        As ``kinds_of`` returns them.
    code : ndarray of float
        Completion codes; NaN is unknown, which a step that completed is forgiven.
    run_time, hard_limit : ndarray of float
        Seconds; NaN where there is none.
    """
    with np.errstate(invalid="ignore"):
        was_killed = run_time > hard_limit
    status = np.full(len(kinds), np.nan)
    status[kinds == COMPLETED] = np.where(np.nan_to_num(code) == 0, 1.0, 0.0)[kinds == COMPLETED]
    status[(kinds == FAILED) | (kinds == REJECTED)] = 0.0
    status[kinds == REMOVED] = np.where(was_killed, 0.0, 5.0)[kinds == REMOVED]
    status[(kinds == NOT_RUN) | (kinds == VACATED)] = 5.0
    return status
