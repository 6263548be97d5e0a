# SPDX-License-Identifier: BSD-3-Clause
"""Asks a Slurm by its commands what the machine and its partitions are, and whose jobs may be seen."""

from __future__ import annotations

import getpass
import re

from pipelines.service.sensors.commands import Run
from pipelines.service.sensors.sensor import Machine, QueueLimits, SensorError
from swftools.parameters.durations import seconds_of

PARTITIONS = ("scontrol", "show", "partition", "--oneliner")
PROCESSORS = ("sinfo", "--noheader", "--format=%C")
CONFIGURATION = ("scontrol", "show", "config")
USER = ("sacctmgr", "--noheader", "--parsable2", "show", "user")

SEE_ALL = ("Operator", "Administrator")
"""Levels of users who see the jobs of all others, whatever PrivateData says."""

RESTRICTED = (
    "Slurm shows this service only the jobs of its own account (PrivateData=jobs): waits of others are not learnt; "
    "let it run as an operator (sacctmgr modify user NAME set adminlevel=operator)"
)
"""What is said where others' jobs are not seen."""


def read_machine(run: Run) -> Machine:
    """Return the processors that jobs may get, and the partitions.

    Raises
    ------
    SensorError
        Slurm does not answer.
    """
    queues = {}
    for line in run(PARTITIONS).splitlines():
        told = dict(re.findall(r"(\w+)=(\S*)", line))
        if name := told.get("PartitionName"):
            queues[name] = QueueLimits(
                is_default=told.get("Default") == "YES",
                longest=_limit(told.get("MaxTime", "")),
                default_time=_limit(told.get("DefaultTime", "")),
                processors=_whole(told.get("TotalCPUs", "")),
            )
    return Machine(_total(run(PROCESSORS)), queues)


def read_notice(run: Run, user: str | None = None) -> str | None:
    """Return a sentence where other users' jobs are not seen.

    Parameters
    ----------
    run : callable
        Runs a command and returns what it prints.
    user : str, optional
        Who asks; default: who runs this.

    Raises
    ------
    SensorError
        Slurm does not answer.
    """
    asks = getpass.getuser() if user is None else user
    told = dict(re.findall(r"^(\w+)\s*=\s*(.*?)\s*$", run(CONFIGURATION), re.MULTILINE))
    if "jobs" not in re.split(r"[,\s]+", told.get("PrivateData", "").lower()):
        return None
    if asks in ("root", told.get("SlurmUser", "").partition("(")[0]):
        return None
    try:
        level = run((*USER, f"name={asks}", "format=AdminLevel")).strip()
    except SensorError:  # nobody says, so it is not one that is known to see all
        level = ""
    return None if level in SEE_ALL else RESTRICTED


def _limit(text: str) -> float | None:
    """Return a limit, s; None where there is none."""
    return seconds_of(text) if text[:1].isdecimal() else None


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() and int(text) else None


def _total(text: str) -> int | None:
    """Return how many processors there are, as sinfo prints them: of all allocated, idle and others, then in all."""
    totals = [_counted(line.strip().rpartition("/")[2]) for line in text.splitlines()]
    return sum(totals) or None


def _counted(text: str) -> int:
    """Return a number of sinfo, which may write 81.5K of large ones."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KM]?)", text)
    return round(float(found[1]) * {"": 1, "K": 1024, "M": 1024**2}[found[2]]) if found else 0
