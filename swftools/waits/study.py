# SPDX-License-Identifier: BSD-3-Clause
"""study_waits: how long the jobs of a schedule waited, who, and for what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray
from swftools.output.amounts import counted, duration, percent
from swftools.output.shown_html import ShowsItself, chief_columns
from swftools.parameters import did_you_mean
from swftools.simulator.metrics.columns import column_of, rows_of
from swftools.simulator.metrics.job_classes import ClassedValues
from swftools.simulator.metrics.wait_reasons import REASONS, wait_reasons
from swftools.simulator.schedule import Schedule
from swftools.waits.groups import BY_AREA, GROUPINGS, Groups, groups_of
from swftools.waits.one_node import on_one_node
from swftools.waits.requests import columns_of_one_value, uses_of_requests
from swftools.waits.shares import shares_served
from swftools.waits.widths import first_runs_of

ALL = "all"

NODE_HOURS, PROCESSOR_HOURS = "node-hours", "processor-hours"


@dataclass(frozen=True, eq=False, repr=False)
class WaitStudy(ShowsItself):
    """How long jobs waited, who, and for what; prints as a few lines, and in a notebook with its groups.

    Parameters
    ----------
    policy : str
        Of the schedule; ``logged``: what the log itself tells.
    unit : str
        What waits are weighed in: node-hours, or on a pool processor-hours.
    groups : pandas.DataFrame
        A row for each group: ``grouped_by`` (all, then those of ``GROUPINGS`` of which the log tells something),
        ``group``, ``jobs``, ``waited`` (the share of jobs that waited longer than ``least``), ``median``, ``p90`` and
        ``mean`` (of all waits, s), ``amount`` (wait x nodes, in ``unit``), ``share`` of all of that, and of it for each
        of ``REASONS`` the part that was waited for it, in ``unit``.
    reasons : pandas.DataFrame
        A row for each of ``REASONS``: ``reason``, ``meaning``, ``jobs`` that waited for it, ``hours`` (of jobs),
        ``amount`` (in ``unit``), ``share`` of all of that.
    requests : pandas.DataFrame
        What was asked for beside what was used: ``uses_of_requests``.
    shares : pandas.DataFrame
        What accounts got beside the shares that were set: ``shares_served``; no rows where nobody set any.
    least : float
        s.
    told : tuple of str
        What the study cannot know of this log, in words.
    """

    policy: str
    unit: str
    groups: pd.DataFrame
    reasons: pd.DataFrame
    requests: pd.DataFrame
    shares: pd.DataFrame
    least: float
    told: tuple[str, ...]

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Its tables, by name."""
        return {name: getattr(self, name) for name in ("groups", "reasons", "requests", "shares")}

    def to_mapping(self) -> dict[str, Any]:
        """Return all of it in types that JSON holds."""
        own = {"policy": self.policy, "unit": self.unit, "least": self.least, "told": list(self.told)}
        return own | {name: table.to_dict("records") for name, table in self.tables.items()}

    def _lines(self) -> list[str]:
        if not len(self.groups):
            return ["WaitStudy: no jobs"]
        whole = self.groups.iloc[0]
        first = (
            f"WaitStudy: {self.policy or 'another simulator'}, {counted(int(whole['jobs']), 'job')}, of which "
            f"{percent(whole['waited'])} waited longer than {duration(self.least)}"
        )
        usual = (
            f"median {duration(whole['median'])}, 90 % within {duration(whole['p90'])}, "
            f"mean {duration(whole['mean'])}; {whole['amount']:,.0f} {self.unit} waited"
        )
        most = self.reasons[self.reasons["share"] > 0].sort_values("share", ascending=False).head(3)
        reasons = [f"{each['reason']} {percent(each['share'])}" for each in most.to_dict("records")]
        return [first, usual, "for: " + ", ".join(reasons) if reasons else "nobody waited"]

    def _rows(self) -> tuple[pd.DataFrame, int]:
        chief = ("grouped_by", "group", "jobs", "waited", "median", "p90", "amount", "share")
        return chief_columns(self.groups, chief), len(self.groups)


class _Jobs(NamedTuple):
    """Of each job its wait, s, its nodes (a part of one counts as its share of the cores), and waits by reason, s."""

    wait: FloatArray
    width: FloatArray
    reasons: FloatArray


class Part(NamedTuple):
    """Some jobs of a schedule, and what is known of their waits."""

    schedule: Schedule
    study: WaitStudy


def study_waits(schedule: Schedule, by: Iterable[str] | None = None, *, least: float = 0.0) -> WaitStudy:
    """Return how long the jobs of a schedule waited, who, and for what.

    Parameters
    ----------
    schedule : Schedule
        ``logged_schedule`` of a log, or what ``simulate`` returns; on nodes, or on a pool of processors.
    by : iterable of str, optional
        The groupings, of ``GROUPINGS``; by default all of which the log tells something, without queues where they are
        the partitions.
    least : float
        A job waited if it waited longer than this, s.

    Returns
    -------
    WaitStudy
        Waits are from submission to the first start. Reasons are those of ``wait_reasons``; on a pool the machine is
        one node that has all processors, so that nothing is fragmented. They add up to the wait, for each job.

    Raises
    ------
    ParameterError
        There is no grouping of a name, or a start is missing.

    Examples
    --------
    >>> from swftools import Trace, simulate
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2, 3], submit_time=[0, 0, 1],
    ...     run_time=[9, 5, 5], requested_time=[9, 5, 5], requested_processors=[3, 3, 1])
    >>> study = study_waits(simulate(trace, "fcfs"), by=["processors"])
    >>> table = study.groups.assign(cores=study.groups["cores"] * 3600, order=study.groups["order"] * 3600)
    >>> table[["group", "jobs", "median", "cores", "order"]].round(6).to_numpy().tolist()
    [['all', 3, 8.0, 27.0, 8.0], ['1', 1, 8.0, 0.0, 8.0], ['2 to 4', 2, 4.5, 27.0, 0.0]]
    """
    names = _known(by)
    return _study(schedule, _jobs_of(schedule), None if by is None else names, least)


def study_parts(schedule: Schedule, grouping: str, *, least: float = 0.0) -> tuple[WaitStudy, dict[str, Part]]:
    """Return ``study_waits`` of a schedule, and of the jobs of each group of a grouping by themselves.

    Parameters
    ----------
    schedule : Schedule
        As of ``study_waits``.
    grouping : str
        One of ``GROUPINGS``.
    least : float
        As of ``study_waits``, s.

    Returns
    -------
    WaitStudy, dict of str to Part
        No parts where the log does not tell the grouping, or tells of one group only. What jobs waited for is the same
        as in the whole, since it depends on all jobs; shares are of the waits of the part.
    """
    _known([grouping])
    jobs = _jobs_of(schedule)
    groups = groups_of(schedule, grouping) if len(jobs.wait) else None
    parts = {}
    for place, word in enumerate(groups.words if groups is not None and len(groups.words) > 1 else ()):
        row = np.flatnonzero(groups.of_job == place) if groups is not None else np.zeros(0, np.int64)
        own = _jobs_only(schedule, row)
        parts[word] = Part(own, _study(own, _Jobs(*(each[row] for each in jobs)), None, least))
    return _study(schedule, jobs, None, least), parts


def _known(by: Iterable[str] | None) -> list[str]:
    """Return the names of groupings; all by default."""
    names = list(GROUPINGS) if by is None else list(by)
    for name in names:
        if name not in GROUPINGS:
            known = ", ".join(GROUPINGS)
            near = did_you_mean([name], GROUPINGS)
            raise ParameterError(f"there is no grouping {name!r}; there are {known}{near}")
    return names


def _jobs_only(schedule: Schedule, row: IntArray) -> Schedule:
    """Return some jobs of a schedule, and their runs; nothing is told of those that are left out."""
    is_there = np.zeros(len(schedule.jobs), np.bool_)
    is_there[row] = True
    runs = schedule.segments[is_there[rows_of(schedule.segments, schedule.jobs)]].reset_index(drop=True)
    jobs = schedule.jobs.iloc[row].reset_index(drop=True)
    return replace(schedule, jobs=jobs, segments=runs, excluded=schedule.excluded[:0])


def _study(schedule: Schedule, jobs: _Jobs, by: list[str] | None, least: float) -> WaitStudy:
    """Return what is known of the waits of a schedule's jobs."""
    names = list(GROUPINGS) if by is None else by
    unit = PROCESSOR_HOURS if schedule.machine is None else NODE_HOURS
    found = {name: groups_of(schedule, name) for name in names}
    if by is None and _are_same(found["queue"], found["partition"]):
        del found["queue"]
    whole = Groups([ALL], np.zeros(len(jobs.wait), np.int64))
    tables = [
        _table(name, groups, jobs, least) for name, groups in ((ALL, whole), *found.items()) if groups is not None
    ]
    groups = pd.concat(tables, ignore_index=True) if len(jobs.wait) else tables[0][:0]
    return WaitStudy(
        schedule.policy,
        unit,
        groups,
        _reasons(jobs),
        uses_of_requests(schedule),
        shares_served(schedule),
        least,
        _told(schedule, [name for name, groups in found.items() if groups is None and by is not None]),
    )


def _are_same(one: Groups | None, other: Groups | None) -> bool:
    """Whether two groupings put each job into a group of the same name."""
    if one is None or other is None:
        return False
    return bool((np.array(one.words)[one.of_job] == np.array(other.words)[other.of_job]).all())


def _jobs_of(schedule: Schedule) -> _Jobs:
    """Return the waits of jobs, and what they wait with; on a pool processors are counted in place of nodes."""
    waits = wait_reasons(on_one_node(schedule))[list(REASONS)].to_numpy(np.float64)
    start, width = first_runs_of(schedule)
    return _Jobs(start - column_of(schedule.jobs, "submit_time"), width, waits)


def _table(name: str, groups: Groups, jobs: _Jobs, least: float) -> pd.DataFrame:
    """Return the rows of a grouping."""
    count = len(groups.words)
    waits = ClassedValues(jobs.wait, groups.of_job, count)
    median, p90 = waits.percentiles([50, 90])
    hours = jobs.wait * jobs.width / 3600.0
    amount = np.bincount(groups.of_job, hours, count).astype(np.float64)
    by_reason = {
        reason: np.bincount(groups.of_job, jobs.reasons[:, place] * jobs.width / 3600.0, count)
        for place, reason in enumerate(REASONS)
    }
    many = np.bincount(groups.of_job, minlength=count)
    waited = np.bincount(groups.of_job, jobs.wait > least, count)
    table = pd.DataFrame(
        {
            "grouped_by": pd.array([name] * count, dtype="str"),
            "group": pd.array(groups.words, dtype="str"),
            "jobs": many,
            "waited": waited / np.maximum(many, 1),
            "median": median,
            "p90": p90,
            "mean": waits.mean(),
            "amount": amount,
            "share": _shares(amount),
            **by_reason,
        }
    )
    return table.sort_values("amount", ascending=False, kind="stable") if name in BY_AREA else table


def _shares(amounts: FloatArray) -> FloatArray:
    """Return amounts as shares of their sum; 0 where that is 0."""
    total = float(amounts.sum())
    return amounts / total if total > 0 else np.zeros(len(amounts))


def _reasons(jobs: _Jobs) -> pd.DataFrame:
    """Return what was waited for, in all."""
    amount = (jobs.reasons * jobs.width[:, None]).sum(axis=0) / 3600.0
    return pd.DataFrame(
        {
            "reason": pd.array(list(REASONS), dtype="str"),
            "meaning": pd.array(list(REASONS.values()), dtype="str"),
            "jobs": (jobs.reasons > 0).sum(axis=0),
            "hours": jobs.reasons.sum(axis=0) / 3600.0,
            "amount": amount,
            "share": _shares(amount),
        }
    )


def _told(schedule: Schedule, absent: Sequence[str]) -> tuple[str, ...]:
    """Return what cannot be known of a schedule."""
    told = [f"the log does not tell by {name}, so there are no such groups" for name in absent]
    if schedule.machine is None:
        told.append("without a machine (--machine) only processors count: nothing of nodes, memory, GPUs and outages")
    elif schedule.machine.slurm is None:
        told.append("the machine does not say how Slurm is configured, so waits for limits are not told apart")
    elif not schedule.machine.slurm.enforce & {"limits", "safe"}:
        told.append("Slurm enforces no limits there (AccountingStorageEnforce), so nobody waits for one")
    if "ready_time" not in schedule.jobs:
        told.append("the log does not tell when jobs were eligible, so waits for dependencies and holds are not known")
    told += [
        f"{name} is {value:g} in every row, which says nothing: what jobs used of it is not known"
        for name, value in columns_of_one_value(schedule).items()
    ]
    names = [] if schedule.machine is None else [part.name for part in schedule.machine.partitions]
    if len(names) > 1 and len(schedule.jobs) and not schedule.segments["partition"].isin(names).any():
        told.append(
            "no partition or queue of the log is one of the machine's, so what jobs waited for is not known; name the "
            "machine's partitions as the log does ('swftools machine --from LOG' makes one with its names)"
        )
    if len(schedule.excluded):
        reasons = schedule.excluded["reason"].value_counts()
        told += [f"left out: {counted(int(many), 'job')}, {reason}" for reason, many in reasons.items()]
    return tuple(told)
