# SPDX-License-Identifier: BSD-3-Clause
"""How jobs of PBS ended: what an Exit_status means, and the status in SWF.

References
----------
PBS Professional, "Administrator's Guide" and "Reference Guide": Exit_status is negative where the job could not be run
or was killed by PBS (JOB_EXEC_...: -1 to -11 failures to start, later also limits, -29 of the run time), that of the
job's shell up to 255, and 256 + the signal that killed the job.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import BoolArray, FloatArray

_SIGNALLED = 256.0
_SHELL = 128.0
_MOST_SIGNAL = 64.0


def exit_of(exit_status: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the exit code and the signal of each Exit_status.

    From 256 on there is no exit code but a signal. A shell whose command was killed ends with 128 + the signal, which
    is then told beside the exit code.
    """
    with np.errstate(invalid="ignore"):
        is_killed = exit_status >= _SIGNALLED
        is_told = (exit_status > _SHELL) & (exit_status <= _SHELL + _MOST_SIGNAL)
        signal = np.where(is_killed, exit_status - _SIGNALLED, np.where(is_told, exit_status - _SHELL, 0.0))
    known = np.isfinite(exit_status)
    return np.where(is_killed, 0.0, exit_status), np.where(known, signal, np.nan)


def swf_status(
    exit_status: FloatArray, was_deleted: BoolArray, run_time: FloatArray, requested_time: FloatArray
) -> FloatArray:
    """Return the status in SWF of jobs with an E record: 1 completed, 0 failed, 5 cancelled, NaN unknown.

    A job that somebody deleted before its end is cancelled, unless it had reached its requested time: then whoever
    deleted it (Maui and Moab do so) enforced the limit, and it failed as one that PBS killed itself. One that ended
    with 0 completed, even if it was deleted in that moment. Without an Exit_status, only of one that was deleted is
    known what became of it.

    Parameters
    ----------
    exit_status : ndarray of float
        NaN where there is none.
    was_deleted : ndarray of bool
        Whether a D record stands before the E record.
    run_time, requested_time : ndarray of float
        Seconds; NaN where there is none.
    """
    with np.errstate(invalid="ignore"):
        was_killed = run_time >= requested_time
    status = np.where(exit_status == 0, 1.0, 0.0)
    status[np.isnan(exit_status)] = np.nan
    status[was_deleted & (exit_status != 0)] = 5.0
    status[was_deleted & (exit_status != 0) & was_killed] = 0.0
    return status
