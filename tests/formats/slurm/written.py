# SPDX-License-Identifier: BSD-3-Clause
"""Logs of Slurm drawn by Hypothesis: what their jobs are, and how sacct prints them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

ZONE = "Asia/Tokyo"
"""Without daylight saving, so that each time has one meaning."""

_OFFSET = timedelta(hours=9)
_T0 = 1_700_000_000
OPTIONAL = (
    *("User", "Account", "Partition", "Cluster", "Eligible", "ElapsedRaw", "Elapsed", "Timelimit", "TimelimitRaw"),
    *("ReqCPUS", "AllocTRES", "ReqTRES", "ReqMem", "MaxRSS", "TotalCPU", "ExitCode", "Restarts", "NodeList", "Comment"),
    "NNodes",
)
NEEDED = ("JobID", "State", "Submit", "Start", "End", "NCPUS")
STATUS = {"COMPLETED": 1, "FAILED": 0, "TIMEOUT": 0, "CANCELLED by 1000": 5, "OUT_OF_MEMORY": 0, "PREEMPTED": 5}

names = st.text("abcdefgh .-/=:[]é", min_size=1, max_size=8).map(str.strip).filter(bool)


@dataclass(frozen=True)
class Step:
    """A step: its name, memory in KB and CPU time in s."""

    name: str
    memory: int
    cpu: int


@dataclass(frozen=True)
class Drawn:
    """A job: what is true of it; times in seconds since 1970, memory in MB for each CPU."""

    id: str
    submit: int
    wait: int
    run: int
    processors: int
    nodes: int
    gpus: int
    limit: int | None
    memory: int
    state: str
    cpu: int
    exit: tuple[int, int]
    name: str
    user: str
    account: str
    partition: str
    steps: tuple[Step, ...]
    is_pending: bool

    @property
    def is_job(self) -> bool:
        """Whether it has ended."""
        return self.state in STATUS


@st.composite
def jobs(draw: st.DrawFn, number: int) -> Drawn:
    """Draw a job with a number of its own."""
    suffix = draw(st.sampled_from(["", "", "_0", "_17", "+1"]))
    state = draw(st.sampled_from([*STATUS, *STATUS, "RUNNING", "PENDING"]))
    steps = draw(
        st.lists(
            st.builds(
                Step,
                st.sampled_from(["batch", "extern", "0", "1", "12"]),
                st.integers(0, 10**7),
                st.integers(0, 10**5),
            ),
            max_size=3,
        )
    )
    return Drawn(
        id=f"{number}{suffix}",
        submit=_T0 + draw(st.integers(0, 10**7)),
        wait=draw(st.integers(0, 10**5)),
        run=draw(st.integers(0, 10**6)),
        processors=draw(st.integers(1, 512)),
        nodes=draw(st.integers(1, 9)),
        gpus=draw(st.integers(0, 8)),
        limit=draw(st.none() | st.integers(1, 10**4)),
        memory=draw(st.integers(1, 10**5)),
        state=state,
        cpu=draw(st.integers(0, 10**7)),
        exit=draw(st.tuples(st.integers(0, 255), st.integers(0, 64))),
        name=draw(names),
        user=draw(names),
        account=draw(names),
        partition=draw(names),
        steps=tuple(steps),
        is_pending=state == "PENDING" or (state == "CANCELLED by 1000" and draw(st.booleans())),
    )


@st.composite
def logs(draw: st.DrawFn) -> list[Drawn]:
    """Draw the jobs of a log."""
    return [draw(jobs(number)) for number in range(1, 1 + draw(st.integers(0, 6)))]


def clock(seconds: int) -> str:
    """Return a duration as sacct prints it."""
    days, rest = divmod(seconds, 86400)
    return f"{f'{days}-' if days else ''}{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"


def moment(seconds: int | None) -> str:
    """Return a time as sacct prints it in the zone."""
    if seconds is None:
        return "Unknown"
    return (datetime.fromtimestamp(seconds, UTC) + _OFFSET).strftime("%Y-%m-%dT%H:%M:%S")


def fields_of(job: Drawn, step: Step | None) -> dict[str, str]:
    """Return the values of a job's line, or of one of its steps', by column."""
    start = None if job.is_pending else job.submit + job.wait
    end = (start or job.submit) + job.run if job.is_job else None
    nothing = step is not None or job.is_pending
    return {
        "JobID": job.id + (f".{step.name}" if step else ""),
        "State": job.state,
        "Submit": moment(job.submit),
        "Eligible": moment(job.submit),
        "Start": moment(start),
        "End": moment(end),
        "NCPUS": "0" if job.is_pending else str(job.processors),
        "ElapsedRaw": "0" if job.is_pending else str(job.run),
        "Elapsed": clock(0 if job.is_pending else job.run),
        "Timelimit": "UNLIMITED" if job.limit is None else clock(60 * job.limit),
        "TimelimitRaw": "UNLIMITED" if job.limit is None else str(job.limit),
        "NNodes": str(job.nodes),
        "ReqCPUS": str(job.processors),
        "AllocTRES": "" if nothing else f"cpu={job.processors},gres/gpu={job.gpus},node={job.nodes}",
        "ReqTRES": f"cpu={job.processors},mem={job.memory * job.processors}M,node={job.nodes}",
        "ReqMem": f"{job.memory}Mc",
        "MaxRSS": f"{step.memory}K" if step else "",
        "TotalCPU": clock(step.cpu if step else job.cpu),
        "ExitCode": "{}:{}".format(*job.exit),
        "Restarts": "0",
        "NodeList": "None assigned" if job.is_pending else "n1",
        "Comment": "",
        "JobName": step.name if step else job.name,
        "User": "" if step else job.user,
        "Account": job.account,
        "Partition": "" if step else job.partition,
        "Cluster": "c1",
    }


def sacct_text(log: list[Drawn], columns: list[str], *, tail: str = "", end: str = "\n") -> str:
    """Return what ``sacct -P`` prints of jobs; a ``tail`` of "|" is that of ``sacct -p``."""
    lines = ["|".join(columns) + tail]
    for job in log:
        for step in (None, *job.steps):
            fields = fields_of(job, step)
            lines.append("|".join(fields[column] for column in columns) + tail)
    return end.join([*lines, ""])


def sacct_json(log: list[Drawn], indent: int | None) -> str:
    """Return what ``sacct --json`` prints of jobs."""
    return json.dumps({"meta": {"plugin": {"jobs": []}}, "jobs": [_object(job) for job in log]}, indent=indent)


def _object(job: Drawn) -> dict[str, Any]:
    number, _, index = job.id.partition("_")
    number, _, offset = number.partition("+")
    start = 0 if job.is_pending else job.submit + job.wait
    none = {"set": False, "infinite": False, "number": 0}
    given = [("cpu", "", job.processors), ("node", "", job.nodes), ("gres", "gpu", job.gpus)]
    wanted = [("cpu", "", job.processors), ("node", "", job.nodes)]
    return {
        "job_id": 1000 + int(number) if index or offset else int(number),
        "array": {"job_id": int(number) if index else 0, "task_id": none | {"set": True, "number": int(index or 0)}},
        "het": {"job_id": int(number) if offset else 0, "job_offset": int(offset or 0)},
        "state": {"current": [job.state.split()[0]]},
        "time": {
            "submission": job.submit,
            "start": start,
            "end": (start or job.submit) + job.run if job.is_job else 0,
            "elapsed": 0 if job.is_pending else job.run,
            "limit": none if job.limit is None else none | {"set": True, "number": job.limit},
            "total": {"seconds": job.cpu, "microseconds": 0},
        },
        "tres": {
            "allocated": [] if job.is_pending else _tres(given),
            "requested": _tres(wanted),
        },
        "required": {"CPUs": job.processors, "memory_per_cpu": none | {"set": True, "number": job.memory}},
        "steps": [
            {
                "time": {"total": {"seconds": step.cpu, "microseconds": 0}},
                "tres": {"requested": {"max": [{"type": "mem", "count": 1024 * step.memory}]}},
            }
            for step in job.steps
        ],
        "exit_code": {"return_code": job.exit[0], "signal": {"signal_id": job.exit[1]}},
        "allocation_nodes": 0 if job.is_pending else job.nodes,
        "nodes": "None assigned" if job.is_pending else "n1",
        "name": job.name,
        "user": job.user,
        "account": job.account,
        "partition": job.partition,
        "cluster": "c1",
    }


def _tres(counts: list[tuple[str, str, int]]) -> list[dict[str, Any]]:
    return [{"type": kind, "name": name, "count": count} for kind, name, count in counts]


def truth(job: Drawn) -> dict[str, Any]:
    """Return what must be read of a job that has ended, where every column is there."""
    ran = not job.is_pending
    cpu = job.cpu or sum(step.cpu for step in job.steps)
    is_recorded = ran and not (cpu == 0 and job.run > 10)
    memory = max((step.memory for step in job.steps), default=0)
    array, _, index = job.id.partition("_")
    return {
        "log_id": job.id,
        "submit": job.submit,
        "wait_time": job.wait if ran else None,
        "run_time": job.run if ran else None,
        "allocated_processors": job.processors if ran else None,
        "requested_processors": job.processors,
        "allocated_nodes": job.nodes if ran else None,
        "average_cpu_time": cpu / job.processors if is_recorded else None,
        "used_memory": memory if ran and memory else None,
        "requested_memory": job.memory * 1024,
        "requested_time": None if job.limit is None else 60 * job.limit,
        "status": STATUS[job.state],
        "exit_code": job.exit[0],
        "exit_signal": job.exit[1],
        "array_number": int(array) if index else None,
        "array_index": int(index) if index else None,
        "allocated_gpus": job.gpus if ran else None,
        "user": job.user,
        "group": job.account,
        "executable": job.name,
        "queue": job.partition,
        "partition": "c1",
    }
