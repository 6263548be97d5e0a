"""The cleaning rules: what each removes, repairs or marks, why, and how many jobs of which public log.

A rule is a function of a Trace and keyword parameters that returns a ``Decision``; ``cleaning.py`` carries it
out. Counts are of the five cleaned logs SDSC-BLUE 4.2, CTC-SP2 3.1, SDSC-DS 2.1, SDSC-SP2 4.2, KTH-SP2 2.1 of
the Parallel Workloads Archive. Where none is given, these five have no such job.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from swftools.cleaning import Decision, cleaning_rule
from swftools.errors import ParameterError
from swftools.fields import SWF_NAMES
from swftools.trace import Trace

PARTIAL = (2, 3, 4)
"""SWF status of a line that is part of a job: to be continued, last and completed, last and failed."""

FAILED, COMPLETED, CANCELLED = 0, 1, 5


@cleaning_rule("partial-executions")
def merge_partial_executions(trace: Trace) -> Decision:
    """Merge the lines of a job that was checkpointed or swapped out (status 2-4) into one job.

    Parts follow their summary line, which has the same job number and the whole run time: they are merged into
    it. Parts without a summary are merged into the first of them, whose run and CPU time become the sums over
    all parts and whose status becomes that of the last (3: completed, 4: failed, 2: unknown). The wait stays
    that to the first start; time swapped out is not in SWF's fields and is lost.
    """
    arrays = trace.arrays
    part = np.isin(arrays.status, PARTIAL)
    if not part.any():
        return Decision()
    rows = np.flatnonzero(np.isin(arrays.job_number, arrays.job_number[part]))
    rows = rows[np.argsort(arrays.job_number[rows], kind="stable")]
    number, status, is_part = arrays.job_number[rows], arrays.status[rows], part[rows]
    before = np.roll(np.arange(len(rows)), 1)
    closed = is_part[before] & (status[before] != PARTIAL[0])
    begins = ~is_part | (number != number[before]) | closed
    begins[0] = True
    series = np.cumsum(begins) - 1
    leader = rows[np.flatnonzero(begins)][series]
    merge_into = np.full(len(trace), -1)
    followers = is_part & ~begins
    merge_into[rows[followers]] = leader[followers]
    unled = part[leader]  # series without a summary line
    repairs = {}
    for name in ("run_time", "average_cpu_time"):
        values = getattr(arrays, name).copy()
        known = unled & ~np.isnan(values[rows])
        totals = np.bincount(series[known], values[rows][known], minlength=series[-1] + 1)
        any_known = np.bincount(series[known], minlength=series[-1] + 1) > 0
        values[leader[unled]] = np.where(any_known, totals, np.nan)[series[unled]]
        repairs[name] = values
    last = np.zeros(series[-1] + 1, np.int64)
    last[series] = status
    final = trace.jobs["status"].copy()
    outcome = {2: None, 3: COMPLETED, 4: FAILED}
    for row, group in zip(leader[unled], series[unled], strict=True):
        final.iloc[row] = outcome[int(last[group])]
    return Decision(merge_into=merge_into, repairs={**repairs, "status": final})


@cleaning_rule("duplicates")
def remove_duplicates(trace: Trace) -> Decision:
    """Quarantine lines that repeat an earlier one in all 18 fields; mark jobs that only share their number.

    Logs that were joined from several machines number their jobs anew, so an equal number alone is no proof.
    """
    repeated = trace.jobs.duplicated(list(SWF_NAMES), keep="first").to_numpy(dtype=bool)
    numbers = trace.jobs["job_number"]
    shared = numbers.where(~repeated).duplicated(keep=False).to_numpy(dtype=bool) & numbers.notna().to_numpy(dtype=bool)
    return Decision(
        quarantine=repeated,
        reason="equal in all 18 fields to an earlier line",
        flags={"is_duplicate_number": shared & ~repeated},
    )


@cleaning_rule("missing-submit-time")
def remove_missing_submit_times(trace: Trace) -> Decision:
    """Quarantine jobs without a submission time: they cannot be placed in time."""
    return Decision(quarantine=np.isnan(trace.arrays.submit_time), reason="no submission time")


@cleaning_rule("submission-order")
def sort_by_submit_time(trace: Trace) -> Decision:
    """Sort jobs by submission (stable) and mark those that stood behind a later one.

    SWF demands this order; simulators rely on it. Jobs without a submission time go last.
    """
    submit = np.where(np.isnan(trace.arrays.submit_time), np.inf, trace.arrays.submit_time)
    behind = submit < np.maximum.accumulate(submit) if len(submit) else np.zeros(0, bool)
    if not behind.any():
        return Decision()
    return Decision(order=np.argsort(submit, kind="stable"), flags={"is_out_of_order": behind})


@cleaning_rule("unrepresentative-start")
def remove_unrepresentative_start(trace: Trace, last_job: int | None = None, days: float = 0.0) -> Decision:
    """Quarantine the beginning of a log, while the machine was not yet in regular use.

    Parameters
    ----------
    trace : Trace
        The log.
    last_job : int, optional
        Highest job number to remove. The archive's cleaned logs had 8 (SDSC-BLUE), 10 (SDSC-SP2), 14 (KTH)
        and 20 (SDSC-DS) such jobs removed.
    days : float
        Remove submissions of the first so many days since second 0 of the log.
    """
    if days < 0 or (last_job is not None and last_job < 0):
        raise ParameterError(f"unrepresentative-start: last_job={last_job}, days={days} may not be negative")
    early = trace.arrays.submit_time < days * 86_400.0
    if last_job is not None:
        early |= (trace.arrays.job_number >= 0) & (trace.arrays.job_number <= last_job)
    remark = None if last_job is not None or days else "nothing asked for: give last_job or days"
    return Decision(quarantine=early, reason="unrepresentative start of the log", remark=remark)


@cleaning_rule("flurries")
def remove_flurries(trace: Trace, ranges: Sequence[Mapping[str, int]] = ()) -> Decision:
    """Quarantine flurries: bursts of a single user's activity that no other period resembles.

    The archive's cleaned logs had 7,126 such jobs of three users removed (SDSC-BLUE), 13,771 of four
    (SDSC-SP2), 2,080 of one (CTC). ``propose_flurries`` finds candidates.

    Parameters
    ----------
    trace : Trace
        The log.
    ranges : sequence of mapping
        Each with ``user``, ``first_job`` and ``last_job``, both inclusive.

    References
    ----------
    Tsafrir, Feitelson 2006, "Instability in parallel job scheduling simulation: the role of workload flurries".
    """
    removed = np.zeros(len(trace), bool)
    reason = np.full(len(trace), "", dtype=object)
    for entry in ranges:
        if set(entry) != {"user", "first_job", "last_job"}:
            raise ParameterError(f"flurries: {dict(entry)} should have exactly the keys user, first_job and last_job")
        number = trace.arrays.job_number
        inside = (number >= entry["first_job"]) & (number <= entry["last_job"])
        inside &= trace.arrays.user_id == entry["user"]
        reason[inside] = f"flurry of user {entry['user']}, jobs {entry['first_job']}-{entry['last_job']}"
        removed |= inside
    return Decision(quarantine=removed, reason=reason.tolist(), remark=None if ranges else "no ranges given")


@cleaning_rule("missing-processors")
def remove_missing_processors(trace: Trace) -> Decision:
    """Quarantine jobs of unknown width: neither allocated nor requested processors are known and positive.

    KTH: 1 job. CTC has no requested and SDSC-BLUE no allocated processors for many jobs; the other field serves.
    """
    return Decision(quarantine=trace.arrays.width <= 0, reason="neither allocated nor requested processors are known")


@cleaning_rule("wider-than-machine")
def remove_wider_than_machine(trace: Trace, action: str = "quarantine") -> Decision:
    """Deal with jobs wider than the machine, which no scheduler could ever start.

    Parameters
    ----------
    trace : Trace
        The log; without known machine size the rule does nothing and says so.
    action : {"quarantine", "clip"}
        Remove the job, or cut its processors to the machine's.
    """
    _check_action("wider-than-machine", action, ("quarantine", "clip"))
    machine = trace.processors
    if machine is None:
        return Decision(remark="machine size unknown: neither given nor in the header")
    if action == "clip":
        names = ("allocated_processors", "requested_processors")
        return Decision(repairs={name: trace.jobs[name].clip(upper=machine) for name in names})
    width = trace.arrays.width
    reason = [f"{job} processors on a machine of {machine}" if job > machine else "" for job in width.tolist()]
    return Decision(quarantine=width > machine, reason=reason)


@cleaning_rule("unknown-status")
def repair_unknown_status(trace: Trace) -> Decision:
    """Set a status outside 0-5 to missing."""
    status = trace.jobs["status"]
    return Decision(repairs={"status": status.where(status.between(0, 5))})


@cleaning_rule("cancelled")
def mark_cancelled(trace: Trace, action: str = "flag") -> Decision:
    """Mark jobs logged as cancelled (status 5), before their start or while running.

    SDSC-BLUE: 47,718; SDSC-DS: 29,319; SDSC-SP2: 16,598. Most of them ran. They are kept: what they do is a
    choice of the simulation.

    Parameters
    ----------
    trace : Trace
        The log.
    action : {"flag", "quarantine"}
        Mark or remove.
    """
    return _marked("cancelled", "is_cancelled", trace.arrays.status == CANCELLED, action, "cancelled")


@cleaning_rule("never-started")
def mark_never_started(trace: Trace, action: str = "flag") -> Decision:
    """Mark jobs that left the queue without running: no run time, and failed or cancelled.

    SDSC-BLUE: 10,742; SDSC-DS: 11,018; SDSC-SP2: 5,671. They are kept: they load the queue until they leave it.

    Parameters
    ----------
    trace : Trace
        The log.
    action : {"flag", "quarantine"}
        Mark or remove.
    """
    return _marked("never-started", "is_never_started", _never_started(trace), action, "never started")


@cleaning_rule("missing-run-time")
def mark_missing_run_time(trace: Trace, action: str = "flag") -> Decision:
    """Mark jobs without a run time that are not logged as failed or cancelled: a gap in the log.

    SDSC-BLUE: 2; SDSC-DS: 6.

    Parameters
    ----------
    trace : Trace
        The log.
    action : {"flag", "quarantine"}
        Mark or remove.
    """
    missing = np.isnan(trace.arrays.run_time) & ~_never_started(trace)
    return _marked("missing-run-time", "is_run_time_missing", missing, action, "no run time")


@cleaning_rule("run-over-request")
def mark_run_over_request(trace: Trace, action: str = "flag") -> Decision:
    """Deal with jobs that ran longer than they had asked for.

    SDSC-BLUE: 23,434; SDSC-DS: 10,658; CTC: 7,174; SDSC-SP2: 4,134; KTH: 475; mostly by seconds, since a limit
    is enforced late. Raising the request is what Yuan et al. 2010 did, cutting the run what most simulators do;
    the simulation offers both, so the default only marks.

    Parameters
    ----------
    trace : Trace
        The log.
    action : {"flag", "raise-request", "cut-run"}
        Mark; set the requested time to the run time; or set the run time to the requested time.
    """
    _check_action("run-over-request", action, ("flag", "raise-request", "cut-run"))
    run, requested = trace.arrays.run_time, trace.arrays.requested_time
    over = (run > requested) & (requested > 0)
    flags = {"is_over_request": over}
    if action == "raise-request":
        return Decision(flags=flags, repairs={"requested_time": np.where(over, run, requested)})
    if action == "cut-run":
        return Decision(flags=flags, repairs={"run_time": np.where(over, requested, run)})
    return Decision(flags=flags)


def _never_started(trace: Trace) -> Any:
    """Return which jobs have no run time and failed or were cancelled."""
    return np.isnan(trace.arrays.run_time) & np.isin(trace.arrays.status, (FAILED, CANCELLED))


def _marked(rule: str, flag: str, mask: Any, action: str, reason: str) -> Decision:
    """Return the decision of a rule that marks jobs, or removes them if asked to."""
    _check_action(rule, action, ("flag", "quarantine"))
    return Decision(flags={flag: mask}) if action == "flag" else Decision(quarantine=mask, reason=reason)


def _check_action(rule: str, action: str, allowed: tuple[str, ...]) -> None:
    """Raise unless an action is one of a rule's."""
    if action not in allowed:
        raise ParameterError(f"cleaning rule {rule!r}: action={action!r} is not one of {', '.join(allowed)}")
