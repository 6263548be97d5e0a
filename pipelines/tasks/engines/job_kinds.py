# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of batch systems: how each is asked which jobs there are, and what became of one. A row of ``KINDS`` each.

Job scripts, and the commands that submit and cancel, are those of dask-jobqueue.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

WAITS, RUNS, ENDED, CANNOT_START = "waits", "runs", "ended", "cannot start"


@dataclass(frozen=True)
class Listed:
    """A job as its batch system lists it.

    Parameters
    ----------
    phase : str
        One of the constants above.
    words : str
        The state, with its reason, in the batch system's words.
    """

    phase: str
    words: str


@dataclass(frozen=True)
class Kind:
    """A batch system.

    Parameters
    ----------
    name : str
        As people write it.
    cluster : str
        Its class in dask-jobqueue.
    own_texts : tuple of str
        Keys of the file that not all kinds have.
    lists : tuple of str
        The command that lists the user's jobs.
    read : callable
        Makes of what that printed the jobs by their number.
    tells : tuple of str
        The command that says what became of a job, whose number comes last.
    read_end : callable
        Makes words of what that printed.
    tests : tuple of str
        The command that says whether a script would be taken; empty where there is none.
    account : str
        What the class of dask-jobqueue calls an account.
    own_numbers : tuple of str
        Further such keys.
    time_of : callable
        Makes of a walltime what this kind takes.
    problem_of : callable
        Says what this kind cannot do with the keys of a file; nothing if it can.
    """

    name: str
    cluster: str
    own_texts: tuple[str, ...]
    lists: tuple[str, ...]
    read: Callable[[str], dict[str, Listed]]
    tells: tuple[str, ...]
    read_end: Callable[[str], str]
    tests: tuple[str, ...] = ()
    account: str = "account"
    own_numbers: tuple[str, ...] = ()
    time_of: Callable[[str], str] = str
    problem_of: Callable[[Mapping[str, Any]], str] = lambda _: ""

    @property
    def section(self) -> str:
        """Its name in the configuration of dask-jobqueue."""
        return self.cluster.removesuffix("Cluster").lower()

    def settings_of(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Return what the class of dask-jobqueue is given for the keys of a file."""
        chosen = {**settings, "walltime": self.time_of(settings["walltime"])}
        if "account" in chosen:
            chosen[self.account] = chosen.pop("account")
        return chosen


# ---------------------------------------------------------------- Slurm

_RUNNING = ("RUNNING", "RESIZING", "SIGNALING", "STAGE_OUT", "SUSPENDED", "STOPPED")
_WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT")
_NEVER = re.compile(
    r"PerJobLimit|MaxWallDuration|PartitionTimeLimit|BadConstraints|Invalid|NotAllowed|NeverSatisfied|launch failed"
)
"""Reasons for which a job waits until its owner changes it."""


def _read_squeue(printed: str) -> dict[str, Listed]:
    found = {}
    for line in printed.splitlines():
        job, state, reason = (*line.split("|", 2), "", "")[:3]
        if state in _RUNNING:
            phase = RUNS
        elif state in _WAITING:
            phase = CANNOT_START if _NEVER.search(reason) else WAITS
        else:
            phase = ENDED
        found[job] = Listed(phase, f"{state} ({reason})" if reason not in ("", "None") else state)
    return found


def _read_sacct(printed: str) -> str:
    state, code, elapsed, nodes = (*printed.strip().partition("\n")[0].split("|"), "", "", "", "")[:4]
    return f"{state}, exit code {code}, after {elapsed} on {nodes}" if state else ""


# ---------------------------------------------------------------- others


def _by_letter(letter: str, waits: str, runs: str, stuck: str = "") -> str:
    if letter in stuck.split():
        return CANNOT_START
    return WAITS if letter in waits.split() else RUNS if letter in runs.split() else ENDED


def _read_qstat_of_pbs(printed: str) -> dict[str, Listed]:
    rows = [line.split() for line in printed.splitlines() if line[:1].isdigit()]
    return {
        re.match(r"\d+", row[0])[0]: Listed(_by_letter(row[-2], "Q H W T M", "R E S U B"), row[-2])  # type: ignore[index]
        for row in rows
        if len(row) > 4
    }


def _read_qstat_of_sge(printed: str) -> dict[str, Listed]:
    rows = [row for row in map(str.split, printed.splitlines()) if len(row) > 4 and row[0].isdigit()]
    return {row[0]: Listed(_of_sge(row[4]), row[4]) for row in rows}


def _of_sge(state: str) -> str:
    if "E" in state:
        return CANNOT_START
    return WAITS if "w" in state or "h" in state else RUNS


def _read_bjobs(printed: str) -> dict[str, Listed]:
    found = {}
    for line in printed.splitlines():
        job, state, reason = (*line.split("|", 2), "", "")[:3]
        phase = _by_letter(state, "PEND PSUSP WAIT PROV", "RUN USUSP SSUSP UNKWN")
        found[job.strip()] = Listed(phase, f"{state} ({reason.strip()})" if reason.strip(" -") else state)
    return found


def _without_seconds(walltime: str) -> str:
    """Return a time as LSF takes it, hours and minutes; seconds are rounded up."""
    hours, minutes, *seconds = walltime.split(":")
    whole = int(minutes) + (sum(map(int, seconds)) > 0)
    return f"{int(hours) + whole // 60:02}:{whole % 60:02}"


def _problem_of_lsf(settings: Mapping[str, Any]) -> str:
    if re.fullmatch(r"\d+:\d\d(:\d\d)?", settings["walltime"]):
        return ""
    return f"walltime {settings['walltime']!r}: LSF takes hours and minutes, such as 04:00"


def _problem_of_sge(settings: Mapping[str, Any]) -> str:
    directives = settings.get("job_extra_directives", [])
    if settings["cores"] == 1 or any("-pe " in line for line in directives):
        return ""
    return (
        f'job_extra_directives must ask for the cores, such as ["-pe smp {settings["cores"]}"]: names of parallel '
        "environments are each site's own (qconf -spl)"
    )


def _lines_of(*names: str) -> Callable[[str], str]:
    """Return what picks lines that begin with some names, and puts them in one line."""

    def read(printed: str) -> str:
        lines = [" ".join(line.split()) for line in printed.splitlines()]
        return ", ".join(line for line in lines if line.split(" ")[0] in names)

    return read


def _joined(printed: str) -> str:
    return " ".join(printed.split())


KINDS = {
    "slurm": Kind(
        "Slurm",
        "SLURMCluster",
        ("job_mem",),
        ("squeue", "--noheader", "--states=all", f"--user={os.getuid()}", "--format=%i|%T|%r"),
        _read_squeue,
        ("sacct", "--noheader", "--parsable2", "--allocations", "--format=State,ExitCode,Elapsed,NodeList", "--jobs"),
        _read_sacct,
        tests=("sbatch", "--test-only"),
        own_numbers=("job_cpu",),
    ),
    "pbs": Kind(
        "PBS",
        "PBSCluster",
        ("resource_spec",),
        ("qstat",),
        _read_qstat_of_pbs,
        ("qstat", "-x", "-f"),
        _lines_of("job_state", "Exit_status", "comment", "resources_used.walltime", "exec_host"),
    ),
    "lsf": Kind(
        "LSF",
        "LSFCluster",
        ("lsf_units",),
        ("bjobs", "-a", "-noheader", "-o", "jobid stat pend_reason delimiter='|'"),
        _read_bjobs,
        ("bjobs", "-a", "-noheader", "-o", "stat exit_code exit_reason exec_host"),
        _joined,
        account="project",
        time_of=_without_seconds,
        problem_of=_problem_of_lsf,
    ),
    "sge": Kind(
        "Grid Engine",
        "SGECluster",
        ("resource_spec",),
        ("qstat",),
        _read_qstat_of_sge,
        ("qacct", "-j"),
        _lines_of("failed", "exit_status", "ru_wallclock", "hostname"),
        account="project",
        problem_of=_problem_of_sge,
    ),
}
