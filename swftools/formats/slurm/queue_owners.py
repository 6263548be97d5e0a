# SPDX-License-Identifier: BSD-3-Clause
r"""For whom jobs of a queue run, and what they wait for beside processors: what policy ``slurm`` takes of a queue.

    squeue --array --format="%i|%T|%C|%l|%M|%V|%S|%Q|%r|%P|%D|%N|%m|%b|%f|%h|%u|%a|%q|%E|%j"

The last five are user, account, QOS, dependency and the name that the user gave the job.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from swftools.formats.slurm.dependency import preceding_jobs
from swftools.formats.slurm.queue_states import bare

OWNER_COLUMNS = (
    *("user", "account", "qos", "reason", "array", "preceding", "array_limit", "max_nodes", "cpus_per_task"),
    *("eligible", "called"),
)
"""Of frames of running and waiting jobs, where a queue is read whole."""

_NOTHING = frozenset({"", "N/A", "(NULL)", "NONE", "NULL"})
_LIMIT = re.compile(r"%([0-9]+)")


class QueueOwner(NamedTuple):
    """For whom a job runs, and what it waits for; NaN and empty texts where the queue does not tell it.

    Parameters
    ----------
    user, account, qos : str
        Names.
    reason : str
        Why it waits, as Slurm names it.
    array : str
        The id of its job array.
    preceding : str
        Jobs that must end before, as ``preceding_jobs`` returns them.
    array_limit, max_nodes, cpus_per_task : float
        Most tasks of its array at once, most nodes (0: any number), CPUs of each task.
    eligible : float
        Since when it could start, or from when on it can; s since 1970.
    called : str
        The name that its user gave it, for ``singleton``.
    """

    user: str = ""
    account: str = ""
    qos: str = ""
    reason: str = ""
    array: str = ""
    preceding: str = ""
    array_limit: float = math.nan
    max_nodes: float = math.nan
    cpus_per_task: float = math.nan
    eligible: float = math.nan
    called: str = ""


def owner_of(cells: Mapping[str, str], submitted: float, started: float) -> QueueOwner:
    """Return for whom a job runs, and what it waits for.

    Parameters
    ----------
    cells : mapping
        By the names of ``squeue``.
    submitted, started : float
        s since 1970, NaN where the queue does not tell it; of one that waits for its begin time that is its start.

    Examples
    --------
    >>> cells = {"JOBID": "7_[3-9%2]", "USER": "u1", "REASON": "Dependency", "DEPENDENCY": "afterok:5(unfulfilled)"}
    >>> found = owner_of(cells, 60.0, math.nan)
    >>> found.user, found.array, found.preceding, found.array_limit, found.eligible
    ('u1', '7', '5', 2.0, 60.0)
    """
    told = {name: "" if text.upper() in _NOTHING else text for name, text in cells.items()}
    job, reason = cells.get("JOBID", ""), bare(told.get("REASON", ""))
    array, limit = job.partition("_")[0] if "_" in job else "", _LIMIT.search(job)
    eligible = _number(told.get("ELIGIBLE_TIME", ""))
    if math.isnan(eligible):
        eligible = started if reason == "BeginTime" else submitted
    return QueueOwner(
        told.get("USER", ""),
        told.get("ACCOUNT", ""),
        told.get("QOS", ""),
        reason,
        array,
        preceding_jobs(told.get("DEPENDENCY", ""), job) or "",
        float(limit[1]) if limit else _number(told.get("ARRAY_LIMIT", "")),
        _number(told.get("MAX_NODES", "")),
        _number(told.get("CPUS_PER_TASK", "")),
        eligible,
        cells.get("NAME", ""),
    )


def owner_cells_of_document(job: Mapping[str, Any], number: Any) -> dict[str, str]:
    """Return cells of a job of ``squeue --json``; ``number`` reads a number in whichever shape, None where none is."""

    def text(name: str) -> str:
        return job[name] if isinstance(job.get(name), str) else ""

    numbers = {
        "ELIGIBLE_TIME": number(job.get("eligible_time")) or None,
        "ARRAY_LIMIT": number(job.get("array_max_tasks")) or None,
        "MAX_NODES": number(job.get("max_nodes")),
        "CPUS_PER_TASK": number(job.get("cpus_per_task")) or None,
    }
    return {
        "USER": text("user_name"),
        "ACCOUNT": text("account"),
        "QOS": text("qos"),
        "DEPENDENCY": text("dependency"),
        "NAME": text("name"),
        **{name: f"{value:.0f}" for name, value in numbers.items() if value is not None},
    }


def _number(text: str) -> float:
    return float(text) if text.isdecimal() else math.nan
