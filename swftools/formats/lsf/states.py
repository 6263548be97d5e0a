# SPDX-License-Identifier: BSD-3-Clause
"""How jobs of LSF ended: their status, the reasons of their termination, and what these mean in SWF.

References
----------
IBM Spectrum LSF, "Configuration Reference", lsb.acct(5), and the table of termination reasons behind it (bacct -l).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from swftools.kernel import FloatArray

EXIT, DONE = 32, 64
"""Bits of jStatus. Others may stand beside them: what happened behind the job's end (post-processing)."""

REASONS = (
    *("", "TERM_PREEMPT", "TERM_WINDOW", "TERM_LOAD", "TERM_OTHER", "TERM_RUNLIMIT", "TERM_DEADLINE"),
    *("TERM_PROCESSLIMIT", "TERM_FORCE_OWNER", "TERM_FORCE_ADMIN", "TERM_REQUEUE_OWNER", "TERM_REQUEUE_ADMIN"),
    *("TERM_CPULIMIT", "TERM_CHKPNT", "TERM_OWNER", "TERM_ADMIN", "TERM_MEMLIMIT", "TERM_EXTERNAL_SIGNAL"),
    *("TERM_RMS", "TERM_ZOMBIE", "TERM_SWAP", "TERM_THREADLIMIT", "TERM_SLURM", "TERM_BUCKET_KILL"),
    *("TERM_CTRL_PID", "TERM_CWD_NOTEXIST", "TERM_REMOVE_HUNG_JOB", "TERM_ORPHAN_SYSTEM", "TERM_PRE_EXEC_FAIL"),
    *("TERM_DATA", "TERM_MC_RECALL"),
)
"""What each exitInfo means; 0 says nothing."""

BY_SOMEBODY = tuple(
    REASONS.index(f"TERM_{word}")
    for word in ("FORCE_OWNER", "FORCE_ADMIN", "REQUEUE_OWNER", "REQUEUE_ADMIN", "OWNER", "ADMIN")
)
"""Reasons that are a decision of the job's owner or an administrator."""

FOLLOWED = tuple(
    REASONS.index(f"TERM_{word}") for word in ("PREEMPT", "REQUEUE_OWNER", "REQUEUE_ADMIN", "CHKPNT", "MC_RECALL")
)
"""Reasons after which a job may be started again."""

_ORPHAN = REASONS.index("TERM_ORPHAN_SYSTEM")


def status_bits(job_status: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return whether each job is done, and whether it exited, as 1 and 0."""
    known = np.isfinite(job_status) & (np.abs(job_status) < 2**31)
    bits = np.where(known, job_status, 0.0).astype(np.int64)
    return ((bits & DONE) > 0).astype(np.float64), ((bits & EXIT) > 0).astype(np.float64)


def swf_status(job_status: FloatArray, reason: FloatArray, start: FloatArray) -> FloatArray:
    """Return the status in SWF: 1 completed, 0 failed, 5 cancelled.

    A job that exited was cancelled if its owner or an administrator ended it; or if it never started, and nothing is
    told of why, or that what it depended on was gone.

    Parameters
    ----------
    job_status, reason : ndarray of float64
        jStatus and exitInfo; a reason of NaN is one that the version does not log.
    start : ndarray of float64
        NaN for a job that never started.
    """
    done, _ = status_bits(job_status)
    by_somebody = np.isin(reason, BY_SOMEBODY)
    unexplained = np.isnan(start) & (np.isnan(reason) | np.isin(reason, (0, _ORPHAN)))
    return np.where(done > 0, 1.0, np.where(by_somebody | unexplained, 5.0, 0.0))


def words_of_states(job_status: FloatArray, reason: FloatArray) -> pa.LargeStringArray:
    """Return each state in LSF's words, such as ``EXIT TERM_OWNER``; null where the job has not ended."""
    done, exited = status_bits(job_status)
    known = np.isfinite(reason) & (reason >= 0) & (reason < len(REASONS))
    place = np.where(known, reason, 0.0).astype(np.int64)
    words = pa.array(["DONE", *("EXIT" + (f" {told}" if told else "") for told in REASONS)], pa.large_string())
    chosen = np.where(done > 0, 0, 1 + place)
    return words.take(pa.array(chosen, mask=(done + exited) == 0))
