# SPDX-License-Identifier: BSD-3-Clause
"""The cleaning rules: what each removes, repairs or marks, why, and how many jobs of which public log.

A rule is a function of a Trace, and of its parameters where it has some, that returns a ``Decision``; ``apply.py``
carries it out. Counts are of the five cleaned logs SDSC-BLUE 4.2, CTC-SP2 3.1, SDSC-DS 2.1, SDSC-SP2 4.2, KTH-SP2 2.1
of the Parallel Workloads Archive. Where none is given, these five have no such job.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.cleaning.decisions import Decision
from swftools.cleaning.registry import cleaning_rule
from swftools.fields.dictionary import SWF_NAMES
from swftools.parameters import Parameters, choice, is_whole, number, whole
from swftools.trace import Trace

FAILED, COMPLETED, CONTINUED, CANCELLED = 0, 1, 2, 5
PARTIAL = (CONTINUED, 3, 4)
"""SWF status of a line that is part of a job: to be continued, last and completed, last and failed."""

_OUTCOMES = {CONTINUED: -1, 3: COMPLETED, 4: FAILED}
_FLURRY_KEYS = ("user", "first_job", "last_job")


@cleaning_rule("partial-executions")
def merge_partial_executions(trace: Trace) -> Decision:
    """Merge the lines of a job that was checkpointed or swapped out (status 2-4) into one job.

    A part belongs to the line before it that has the same job number, in the order of submission, in which they will
    stand, unless that was a last part, or both name their users and these differ. Parts behind a summary line (any
    other status) are merged into it: what it says of the whole job stands, also where the parts do not add up to it,
    which the report remarks on. Parts without a summary are merged into the first of them, whose run and CPU time
    become the sums over all parts and whose status becomes that of the last (completed, failed, or missing where it
    was to be continued). Its wait stays that to the first start; time swapped out is not in SWF's fields and is lost.

    A line to be continued (status 2) that no part belongs to keeps its status, and the report remarks on it: where
    a log has exit codes there, as Sandia's has, 2 is one of them.
    """
    part = trace.jobs["status"].isin(PARTIAL).to_numpy(dtype=bool)
    if not part.any():
        return Decision()
    arrays = trace.views
    rows = np.flatnonzero(np.isin(arrays.job_number, arrays.job_number[part]))
    # In the order in which they will stand; a part without a submission stays behind the line before it.
    submit = pd.Series(arrays.submit_time[rows]).groupby(arrays.job_number[rows]).ffill().fillna(-np.inf)
    rows = rows[np.lexsort((submit, arrays.job_number[rows]))]
    number, user, status, is_part = arrays.job_number[rows], arrays.user_id[rows], arrays.status[rows], part[rows]
    before = np.roll(np.arange(len(rows)), 1)
    other_job = (number != number[before]) | (number < 0)
    other_user = (user != user[before]) & (user >= 0) & (user[before] >= 0)
    is_closed = is_part[before] & (status[before] != CONTINUED)
    begins = ~is_part | other_job | other_user | is_closed
    begins[0] = True
    series = np.cumsum(begins) - 1
    leaders = rows[begins]
    merge_into = np.full(len(trace), -1)
    merge_into[rows[~begins]] = leaders[series[~begins]]

    by_part = pd.DataFrame({"series": series, "run": arrays.run_time[rows], "cpu": arrays.average_cpu_time[rows]})
    sums = by_part[is_part].groupby("series").sum(min_count=1).reindex(range(len(leaders)))
    last = np.full(len(leaders), -1)
    last[series] = status
    unled = part[leaders]  # the first part leads, for want of a summary line
    new = {name: getattr(arrays, name).copy() for name in ("run_time", "average_cpu_time", "status")}
    new["run_time"][leaders[unled]] = sums["run"][unled]
    new["average_cpu_time"][leaders[unled]] = sums["cpu"][unled]
    parts = np.bincount(series[is_part], minlength=len(leaders))
    alone = unled & (parts == 1) & (last == CONTINUED)
    ended = unled & ~alone
    new["status"][leaders[ended]] = [_OUTCOMES[final] for final in last[ended].tolist()]

    differ = ~unled & (np.abs(sums["run"] - arrays.run_time[leaders]) > parts)  # each may be rounded
    remarks = {
        f"run times of parts do not add up to their summary's in {differ.sum()} jobs": differ.any(),
        f"{alone.sum()} jobs of status 2 (to be continued) have no further part; they keep it": alone.any(),
    }
    remark = "; ".join(text for text, is_so in remarks.items() if is_so) or None
    return Decision(merge_into=merge_into, repairs=new, remark=remark)


@cleaning_rule("duplicates")
def remove_duplicates(trace: Trace) -> Decision:
    """Quarantine lines that repeat an earlier one in all 18 fields; mark jobs that only share their number.

    Logs that were joined from several machines number their jobs anew, so an equal number alone is no proof;
    and without a number nothing tells a line from its like, so such lines stay. Text behind the 18th field is
    not compared: whatever it says, it says it of the same job.
    """
    numbers = trace.jobs["job_number"]
    shared = numbers.notna() & numbers.duplicated(keep=False)
    alike = trace.jobs.loc[shared, list(SWF_NAMES)].duplicated().reindex(trace.jobs.index, fill_value=False)
    rest = numbers.mask(alike)
    return Decision(
        quarantine=alike,
        reason="equal in all 18 fields to an earlier line",
        flags={"is_duplicate_number": rest.notna() & rest.duplicated(keep=False)},
    )


@cleaning_rule("missing-submit-time")
def remove_missing_submit_times(trace: Trace) -> Decision:
    """Quarantine jobs without a submission time: they cannot be placed in time."""
    return Decision(quarantine=trace.jobs["submit_time"].isna(), reason="no submission time")


@cleaning_rule("submission-order")
def sort_by_submit_time(trace: Trace) -> Decision:
    """Sort jobs by submission (stable) and mark those that stood behind a later one.

    SWF demands this order; simulators rely on it. Jobs without a submission time go last and are not marked.
    """
    submit = trace.jobs["submit_time"].to_numpy()
    known = ~np.isnan(submit)
    latest = np.maximum.accumulate(np.where(known, submit, -np.inf))
    keys = np.where(known, submit, np.inf)
    order = None if (keys[1:] >= keys[:-1]).all() else np.argsort(keys, kind="stable")
    return Decision(order=order, flags={"is_out_of_order": submit < latest})


@dataclass(frozen=True)
class StartParameters(Parameters):
    """Parameters of unrepresentative-start.

    Parameters
    ----------
    last_job : int, optional
        Highest job number to remove. The archive's cleaned logs had 8 (SDSC-BLUE), 10 (SDSC-SP2), 14 (KTH)
        and 20 (SDSC-DS) such jobs removed.
    days : float
        Remove submissions of the first so many days since second 0 of the log.
    """

    last_job: int | None = whole(None, least=0, optional=True)
    days: float = number(0.0, least=0, unit="days")


@cleaning_rule("unrepresentative-start", parameters=StartParameters)
def remove_unrepresentative_start(trace: Trace, parameters: StartParameters) -> Decision:
    """Quarantine the beginning of a log, while the machine was not yet in regular use."""
    last_job, days = parameters.last_job, parameters.days
    early = trace.jobs["submit_time"] < days * 86_400.0
    if last_job is not None:
        early |= (trace.jobs["job_number"] <= last_job).fillna(False).astype(bool)
    remark = None if last_job is not None or days else "nothing asked for: give last_job or days"
    return Decision(quarantine=early, reason="unrepresentative start of the log", remark=remark)


@dataclass(frozen=True)
class FlurriesParameters(Parameters):
    """Parameters of flurries.

    Parameters
    ----------
    ranges : sequence of mapping
        Each with ``user``, ``first_job`` and ``last_job`` (job numbers, both inclusive). The report remarks on
        ranges without a job.
    """

    ranges: Sequence[Mapping[str, int]] = ()

    def __post_init__(self) -> None:
        self._require("ranges", isinstance(self.ranges, list | tuple), "a list")
        for entry in self.ranges:
            keyed = isinstance(entry, Mapping) and set(entry) == set(_FLURRY_KEYS)
            self._require("ranges", keyed, f"a list of mappings of exactly the keys {', '.join(_FLURRY_KEYS)}")
            numbered = all(is_whole(value, 0) for value in entry.values()) and entry["first_job"] <= entry["last_job"]
            self._require("ranges", numbered, "of whole numbers, first_job not beyond last_job")


@cleaning_rule("flurries", parameters=FlurriesParameters)
def remove_flurries(trace: Trace, parameters: FlurriesParameters) -> Decision:
    """Quarantine flurries: bursts of a single user's activity that no other period resembles.

    The archive's cleaned logs had 7,126 such jobs of three users removed (SDSC-BLUE), 13,771 of four
    (SDSC-SP2), 2,080 of one (CTC). ``propose_flurries`` finds candidates.

    References
    ----------
    Tsafrir, Feitelson 2006, "Instability in parallel job scheduling simulation: the role of workload flurries".
    """
    numbers, users = trace.jobs["job_number"], trace.jobs["user_id"]
    reason = np.full(len(trace), "", dtype=object)
    empty = []
    for entry in parameters.ranges:
        user, first, last = (entry[key] for key in _FLURRY_KEYS)
        inside = (numbers.between(first, last) & (users == user)).fillna(False).to_numpy(dtype=bool)
        what = f"user {user}, jobs {first}-{last}"
        reason[inside] = f"flurry of {what}"
        empty += [] if inside.any() else [what]
    remark = f"no job in: {'; '.join(empty)}" if empty else None
    return Decision(quarantine=reason != "", reason=reason, remark=remark if parameters.ranges else "no ranges given")


@cleaning_rule("missing-processors")
def remove_missing_processors(trace: Trace) -> Decision:
    """Quarantine jobs of unknown width: neither allocated nor requested processors are known and positive.

    KTH: 1 job. CTC has no requested and SDSC-BLUE no allocated processors for many jobs; the other field serves. Jobs
    that ask for cores of a node stay: where the width counts GPUs they have none, and run on machines of nodes.
    """
    lacks = trace.views.width <= 0
    if "requested_cores_per_node" in trace.jobs:
        lacks = lacks & ~(trace.jobs["requested_cores_per_node"].to_numpy() > 0)
    return Decision(quarantine=lacks, reason="neither allocated nor requested processors are known")


@dataclass(frozen=True)
class WidthParameters(Parameters):
    """Parameters of wider-than-machine.

    Parameters
    ----------
    action : {"quarantine", "clip"}
        Remove the job, or cut both its processor counts to the machine's.
    """

    action: str = choice("quarantine", "clip")


@cleaning_rule("wider-than-machine", parameters=WidthParameters)
def remove_wider_than_machine(trace: Trace, parameters: WidthParameters) -> Decision:
    """Deal with jobs wider than the machine, which no scheduler could ever start.

    A job's width is its allocated processors where known, else the requested ones. A job that asked for more
    than the machine has, and was given less, is not wide. Without known machine size the rule does nothing and
    says so.
    """
    machine = trace.processors
    if machine is None:
        return Decision(remark="machine size unknown: neither given nor in the header")
    width = trace.views.width
    wide = width > machine
    if parameters.action == "clip":
        names = ("allocated_processors", "requested_processors")
        columns = {name: trace.jobs[name] for name in names}
        return Decision(repairs={name: old.mask(wide, old.clip(upper=machine)) for name, old in columns.items()})
    reason = np.full(len(trace), "", dtype=object)
    reason[wide] = [f"{processors} processors on a machine of {machine}" for processors in width[wide].tolist()]
    return Decision(quarantine=wide, reason=reason)


@cleaning_rule("unknown-status")
def repair_unknown_status(trace: Trace) -> Decision:
    """Set a status outside 0-5 to missing."""
    status = trace.jobs["status"]
    return Decision(repairs={"status": status.where(status.between(FAILED, CANCELLED))})


@dataclass(frozen=True)
class MarkingParameters(Parameters):
    """Parameters of rules that mark.

    Parameters
    ----------
    action : {"flag", "quarantine"}
        Mark or remove.
    """

    action: str = choice("flag", "quarantine")


class CancelledParameters(MarkingParameters):
    """Parameters of cancelled."""


@cleaning_rule("cancelled", parameters=CancelledParameters)
def mark_cancelled(trace: Trace, parameters: CancelledParameters) -> Decision:
    """Mark jobs logged as cancelled (status 5), before their start or while running.

    SDSC-BLUE: 47,718; SDSC-DS: 29,319; SDSC-SP2: 16,598. Most of them ran. They are kept: what they do is a
    choice of the simulation.
    """
    return _marked("is_cancelled", trace.jobs["status"] == CANCELLED, parameters, "cancelled")


class NeverStartedParameters(MarkingParameters):
    """Parameters of never-started."""


@cleaning_rule("never-started", parameters=NeverStartedParameters)
def mark_never_started(trace: Trace, parameters: NeverStartedParameters) -> Decision:
    """Mark jobs that left the queue without running: no run time, and failed or cancelled.

    SDSC-BLUE: 10,742; SDSC-DS: 11,018; SDSC-SP2: 5,671. They are kept: they load the queue until they leave it.
    """
    return _marked("is_never_started", _never_started(trace), parameters, "never started")


class MissingRunTimeParameters(MarkingParameters):
    """Parameters of missing-run-time."""


@cleaning_rule("missing-run-time", parameters=MissingRunTimeParameters)
def mark_missing_run_time(trace: Trace, parameters: MissingRunTimeParameters) -> Decision:
    """Mark jobs without a run time that are not logged as failed or cancelled: a gap in the log.

    SDSC-BLUE: 2; SDSC-DS: 6.
    """
    missing = trace.jobs["run_time"].isna() & ~_never_started(trace)
    return _marked("is_run_time_missing", missing, parameters, "no run time")


@dataclass(frozen=True)
class OverRequestParameters(Parameters):
    """Parameters of run-over-request.

    Parameters
    ----------
    action : {"flag", "raise-request", "cut-run"}
        Mark; set the requested time to the run time; or set the run time to the requested time.
    """

    action: str = choice("flag", "raise-request", "cut-run")


@cleaning_rule("run-over-request", parameters=OverRequestParameters)
def mark_run_over_request(trace: Trace, parameters: OverRequestParameters) -> Decision:
    """Deal with jobs that ran longer than they had asked for.

    SDSC-BLUE: 23,434; SDSC-DS: 10,658; CTC: 7,174; SDSC-SP2: 4,134; KTH: 475; mostly by seconds, since a limit
    is enforced late. Raising the request is what Yuan et al. 2010 did, cutting the run what most simulators do;
    the simulation offers both, so the default only marks. The mark tells what the log said: a repaired job has
    it too.
    """
    run, requested = trace.jobs["run_time"], trace.jobs["requested_time"]
    over = (run > requested) & (requested > 0)
    repairs: dict[str, npt.ArrayLike] = {}
    if parameters.action == "raise-request":
        repairs["requested_time"] = requested.mask(over, run)
    elif parameters.action == "cut-run":
        repairs["run_time"] = run.mask(over, requested)
    return Decision(flags={"is_over_request": over}, repairs=repairs)


def _never_started(trace: Trace) -> pd.Series[bool]:
    """Return which jobs have no run time and failed or were cancelled."""
    return trace.jobs["run_time"].isna() & trace.jobs["status"].isin((FAILED, CANCELLED)).astype(bool)


def _marked(flag: str, mask: pd.Series[bool], parameters: MarkingParameters, reason: str) -> Decision:
    """Return the decision of a rule that marks jobs, or removes them if asked to."""
    if parameters.action == "flag":
        return Decision(flags={flag: mask})
    return Decision(quarantine=mask, reason=reason)
