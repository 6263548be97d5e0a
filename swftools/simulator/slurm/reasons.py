# SPDX-License-Identifier: BSD-3-Clause
"""Why jobs waited, as Slurm names it: a row an interval, which together fill the wait of each job."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from swftools.kernel import FloatArray
from swftools.simulator.slurm import limits
from swftools.simulator.slurm.limits import OF_QOS
from swftools.simulator.slurm.state import LOST_REASONS, REASONS, Dynamic, SlurmMemory

BEHIND_ONE = "taken out: it waits for a job that never ends"
"""Why a job is left out that waits for one that was taken out."""

_RESOURCES = ("cpu", "mem", "node", "gres/gpu", "billing")

_PLAIN = {
    limits.NONE: "None",
    limits.LACKS: "Resources",
    limits.BEHIND: "Priority",
    limits.TASKS: "JobArrayTaskLimit",
    limits.OWN_JOBS: "AssocMaxJobsLimit",
    limits.JOBS: "AssocGrpJobsLimit",
    limits.BEGIN_TIME: "BeginTime",
    limits.WALL: "AssocMaxWallDurationPerJobLimit",
    limits.JOBS + OF_QOS: "QOSGrpJobsLimit",
    limits.JOBS_OF_USER + OF_QOS: "QOSMaxJobsPerUserLimit",
    limits.JOBS_OF_ACCOUNT + OF_QOS: "MaxJobsPerAccount",
    limits.WALL + OF_QOS: "QOSMaxWallDurationPerJobLimit",
}

_OF_RESOURCES = {
    limits.IN_ALL: "AssocGrpCpuLimit AssocGrpMemLimit AssocGrpNodeLimit AssocGrpGRES AssocGrpBilling",
    limits.MINUTES: (
        "AssocGrpCPUMinutesLimit AssocGrpMemMinutes AssocGrpNodeMinutes AssocGrpGRESMinutes AssocGrpBillingMinutes"
    ),
    limits.RUNNING_MINUTES: (
        "AssocGrpCPURunMinutesLimit AssocGrpMemRunMinutes AssocGrpNodeRunMinutes AssocGrpGRESRunMinutes "
        "AssocGrpBillingRunMinutes"
    ),
    limits.OF_JOB: (
        "AssocMaxCpuPerJobLimit AssocMaxMemPerJob AssocMaxNodePerJobLimit AssocMaxGRESPerJob AssocMaxBillingPerJob"
    ),
    limits.JOB_MINUTES: (
        "AssocMaxCpuMinutesPerJobLimit AssocMaxMemMinutesPerJob AssocMaxNodeMinutesPerJobLimit "
        "AssocMaxGRESMinutesPerJob AssocMaxBillingMinutesPerJob"
    ),
    limits.ON_NODE: "AssocMaxCpuPerNode AssocMaxMemPerNode - AssocMaxGRESPerNode AssocMaxBillingPerNode",
    limits.IN_ALL + OF_QOS: "QOSGrpCpuLimit QOSGrpMemLimit QOSGrpNodeLimit QOSGrpGRES QOSGrpBilling",
    limits.MINUTES + OF_QOS: (
        "QOSGrpCPUMinutesLimit QOSGrpMemoryMinutes QOSGrpNodeMinutes QOSGrpGRESMinutes QOSGrpBillingMinutes"
    ),
    limits.RUNNING_MINUTES + OF_QOS: (
        "QOSGrpCPURunMinutesLimit QOSGrpMemoryRunMinutes QOSGrpNodeRunMinutes QOSGrpGRESRunMinutes "
        "QOSGrpBillingRunMinutes"
    ),
    limits.OF_JOB + OF_QOS: (
        "QOSMaxCpuPerJobLimit QOSMaxMemoryPerJob QOSMaxNodePerJobLimit QOSMaxGRESPerJob QOSMaxBillingPerJob"
    ),
    limits.JOB_MINUTES + OF_QOS: (
        "QOSMaxCpuMinutesPerJobLimit QOSMaxMemoryMinutesPerJob QOSMaxNodeMinutesPerJob QOSMaxGRESMinutesPerJob "
        "QOSMaxBillingMinutesPerJob"
    ),
    limits.ON_NODE + OF_QOS: "QOSMaxCpuPerNode QOSMaxMemoryPerNode - QOSMaxGRESPerNode QOSMaxBillingPerNode",
    limits.LEAST + OF_QOS: "QOSMinCpuNotSatisfied QOSMinMemory QOSMinNode QOSMinGRES QOSMinBilling",
    limits.OF_ACCOUNT + OF_QOS: (
        "MaxCpuPerAccount MaxMemoryPerAccount MaxNodePerAccount MaxGRESPerAccount MaxBillingPerAccount"
    ),
    limits.OF_USER + OF_QOS: (
        "QOSMaxCpuPerUserLimit QOSMaxMemoryPerUser QOSMaxNodePerUserLimit QOSMaxGRESPerUser QOSMaxBillingPerUser"
    ),
}

REASON_NAMES: dict[int, str] = _PLAIN | {
    first + place: name for first, names in _OF_RESOURCES.items() for place, name in enumerate(names.split())
}
"""Slurm's names of reasons, by number."""

_RESOURCE_OF = {first + place: name for first in _OF_RESOURCES for place, name in enumerate(_RESOURCES)}


def wait_reasons(memory: SlurmMemory, parameters: Any) -> dict[str, pd.DataFrame]:  # noqa: ARG001 (as all notes)
    """Return why jobs waited: ``job``, from when (``begin``) to when (``end``, NaN: it waits still), s, and ``reason``.

    ``resource`` is that of a limit of one; missing where it is none.
    """
    state: Dynamic = memory.state
    many = int(state.counts[REASONS])
    job, begin, code = state.reason_job[:many], state.reason_time[:many], state.reason_code[:many]
    is_there = ~(begin >= state.gone[job])  # who is cancelled waits no more
    job, begin, code = job[is_there], begin[is_there], code[is_there]
    many, order = len(job), np.argsort(job, kind="stable")
    job, begin, code = job[order], begin[order], code[order]
    end = np.full(many, np.nan)
    if many:
        is_last = np.append(job[1:] != job[:-1], True)
        end[~is_last] = begin[1:][~is_last[:-1]]
        end[is_last] = np.where(state.by[job[is_last]] != 0, state.began[job[is_last]], state.gone[job[is_last]])
    numbers, place = np.unique(code, return_inverse=True)
    names = np.array([REASON_NAMES[int(number)] for number in numbers], object)
    resources = np.array([_RESOURCE_OF.get(int(number)) for number in numbers], object)
    table = pd.DataFrame(
        {
            "job": job,
            "begin": begin,
            "end": end,
            "reason": pd.array(names[place] if many else [], dtype="str"),
            "resource": pd.array(resources[place] if many else [], dtype="str"),
        }
    )
    lost = int(state.counts[LOST_REASONS])
    return {"wait_reasons": table[~(table["end"] <= table["begin"])].reset_index(drop=True), **_told(lost)}


def who_is_gone(memory: SlurmMemory) -> tuple[FloatArray, tuple[str, ...]]:
    """Return when each job was taken out, s, NaN of others, and why: it was cancelled, or a limit stands against it."""
    gone: FloatArray = memory.state.gone
    out = np.flatnonzero(~np.isnan(gone)).tolist()
    words = [""] * len(gone) if out else []
    for job in out:
        reason = int(memory.state.reason[job])
        if np.isinf(gone[job]):
            words[job] = BEHIND_ONE
        elif limits.is_of_usage(reason):
            words[job] = f"taken out at {gone[job]:.10g} s: would wait for ever in Slurm ({REASON_NAMES[reason]})"
        else:
            words[job] = f"taken out by preemption at {gone[job]:.10g} s"
    return gone, tuple(words)


def _told(lost: int) -> dict[str, pd.DataFrame]:
    """Return a table that says how many changes of reasons there was no room for, if there are any."""
    return {"wait_reasons_lost": pd.DataFrame({"changes": [lost]})} if lost else {}
