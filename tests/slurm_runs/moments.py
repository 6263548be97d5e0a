# SPDX-License-Identifier: BSD-3-Clause
"""What ``squeue --json`` would have printed at a moment of a kept run, by its accounts; and what came of it."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from swftools import read_log
from swftools.machines.description import MachineDescription, read_machine
from swftools.machines.hostlist import expand_hosts
from swftools.trace import Trace

_TIMES = ("Submit", "Eligible", "Start", "End")
_MB = {"M": 1.0, "G": 1024.0, "T": 1024.0 * 1024.0}


@dataclass(frozen=True)
class Moment:
    """A queue at a moment of a run.

    ``document`` is that of ``squeue --json``; ``machine`` has who is away or reserved then; ``past`` is who has ended;
    ``start`` says by name when each waiting job started in the end, s from the moment on.
    """

    document: dict[str, Any]
    machine: MachineDescription
    past: Trace
    start: dict[str, float]


class Run:
    """A kept run.

    Parameters
    ----------
    folder : Path
        Of ``tests/slurm_runs``.
    scratch : Path
        A folder for what only readers of files take.
    """

    def __init__(self, folder: Path, scratch: Path) -> None:
        self.folder, self._scratch = folder, scratch
        self._trace = read_log(folder / "sacct.txt.gz", "slurm:time_zone=UTC")
        jobs = pd.read_csv(folder / "sacct.txt.gz", sep="|", dtype=str, keep_default_na=False)
        for name in _TIMES:
            seconds = pd.to_datetime(jobs[name], errors="coerce").to_numpy("datetime64[s]")
            jobs[name] = np.where(np.isnat(seconds), np.nan, seconds.astype(np.float64))
        jobs = jobs[~jobs["JobID"].str.contains(r"\[")].reset_index(drop=True)
        jobs["is_requeued"] = jobs.sort_values("Submit", kind="stable").groupby("JobID").cumcount() > 0
        self.jobs, self.begin = jobs, float(jobs["Submit"].min())
        cores = pd.read_csv(folder / "cores.txt.gz", sep="|", dtype=str, keep_default_na=False)
        self._cores = {
            (job, start): text for job, start, text in zip(cores["job"], cores["start"], cores["cores"], strict=True)
        }
        self.actions = [json.loads(line) for line in (folder / "actions.jsonl").read_text().splitlines()]
        self._sprio = _samples(folder / "sprio.txt.gz")
        self._sshare = _samples(folder / "sshare.txt.gz")
        self._site = read_machine(folder / "slurm.conf")

    def moment(self, after: float) -> Moment:
        """Return the queue so many seconds after the first submission."""
        now = self.begin + after
        jobs, ended = self.jobs, self.jobs["End"]
        is_there = (jobs["Submit"] <= now) & ~(ended <= now)
        priorities, documents, start = self._priorities(now), [], {}
        for row in np.flatnonzero(is_there).tolist():
            job = jobs.iloc[row]
            document = self._document(job, now, priorities)
            documents.append(document)
            if document["job_state"] == "PENDING" and np.isfinite(job["Start"]):
                start[job["JobID"]] = float(job["Start"]) - now
        begin = self._trace.header.unix_start_time or 0
        own = self._trace.jobs
        end = begin + own["submit_time"] + own["wait_time"] + own["run_time"]
        past = self._trace.with_jobs(own[(end <= now).to_numpy(bool, na_value=False)])
        return Moment({"jobs": documents, "last_update": now}, self._machine(now), past, start)

    def _document(self, job: pd.Series, now: float, priorities: dict[str, float]) -> dict[str, Any]:
        runs = job["Start"] <= now
        line, name = job["SubmitLine"], job["JobID"]
        array, _, task = name.partition("_")
        asked = re.search(r" -N (\d+)(?:-(\d+))?", line)
        cpus = int(job["AllocCPUS"] if runs else job["ReqCPUS"])
        memory = float(job["ReqMem"][:-1]) * _MB[job["ReqMem"][-1]] / max(int(job["ReqCPUS"]), 1)
        per_task = re.search(r" -c (\d+)", line)
        at_once = re.search(r"--array=\S*%(\d+)", line)
        gres = re.search(r"--gres=(gpu:\S+)", line)
        gpus = re.search(r"gres/gpu=(\d+)", job["ReqTRES"])
        dependency = re.search(r"--dependency=(\S+)", line)
        is_held = bool(re.search(r" (-H|--hold)\b", line)) and not job["Eligible"] <= now
        # One that is queued again waits for its begin time, and for nobody.
        waits = bool(dependency) and not job["Eligible"] <= now and not job["is_requeued"]
        found = {
            "job_id": int(job["JobIDRaw"]),
            "array_job_id": int(array) if task else 0,
            "array_task_id": int(task) if task else None,
            "array_max_tasks": int(at_once[1]) if at_once else 0,
            "job_state": "RUNNING" if runs else "PENDING",
            "user_name": job["User"],
            "account": job["Account"],
            "qos": job["QOS"],
            "partition": job["Partition"] if runs else (re.search(r" -p (\S+)", line) or [0, job["Partition"]])[1],
            "cpus": cpus,
            "cpus_per_task": int(per_task[1]) if per_task else None,
            "node_count": int(asked[1]) if asked else -(-cpus // 16),
            "max_nodes": int(asked[2] or asked[1]) if asked else 0,
            "memory_per_cpu": memory,
            "tres_per_node": gres[1] if gres else "",
            "tres_req_str": f"gres/gpu={gpus[1]}" if gpus else "",
            "shared": "none" if "--exclusive" in line else "",
            "time_limit": int(job["TimelimitRaw"]),
            "submit_time": job["Submit"],
            "eligible_time": job["Eligible"] if np.isfinite(job["Eligible"]) and not waits else job["Submit"],
            "start_time": job["Start"] if runs else 0,
            "priority": 0 if is_held else priorities.get(name, priorities.get(array, np.nan)),
            "dependency": dependency[1] if waits and dependency else "",
            "state_reason": "JobHeldUser" if is_held else "Dependency" if waits else "None",
        }
        if np.isnan(found["priority"]):
            del found["priority"]
        if runs:
            key = name, pd.Timestamp(job["Start"], unit="s").strftime("%Y-%m-%dT%H:%M:%S")
            names = expand_hosts(job["NodeList"])
            found["nodes"] = job["NodeList"]
            cores = self._cores.get(key, "")
            if cores.count(",") == len(names) - 1 and cores:
                found["job_resources"] = {
                    "allocated_nodes": [{"cpus": {"count": int(each)}} for each in cores.split(",")]
                }
        return found

    def _priorities(self, now: float) -> dict[str, float]:
        """Return the priorities that were told last, and next of who came since; of several partitions the least."""
        before = [at for at in self._sprio if at <= now + 1.0]
        after = [at for at in self._sprio if at > now + 1.0]
        found: dict[str, float] = {}
        for at in [*after[:1], *before[-1:]]:
            told: dict[str, float] = {}
            for line in self._sprio[at].splitlines():
                cells = line.split("|")
                if len(cells) > 3:  # jobs without a partition have none
                    told[cells[0]] = min(told.get(cells[0], np.inf), float(cells[3]))
            found |= told
        return found

    def _machine(self, now: float) -> MachineDescription:
        """Return the machine as it was described then: usage, who is drained or down, what is reserved."""
        usage = self._sshare[max((at for at in self._sshare if at <= now + 1.0), default=min(self._sshare))]
        path = self._scratch / "usage.txt"
        path.write_text(usage, encoding="utf-8")
        accounts = self.folder / "accounts.cfg"
        files = {"topology": self.folder / "topology.conf"} if (self.folder / "topology.conf").exists() else {}
        site = self._site.with_slurm(
            accounts=accounts, qos=self.folder / "qos.txt", usage=path, version="22.05", **files
        )
        return site.changed(self._away(now))

    def _away(self, now: float) -> list[str]:
        """Return who is away, as changes."""
        state: dict[str, str] = {}
        found = []
        for action in self.actions:
            if action["at"] > now or action["ev"] != "admin":
                continue
            told = dict(word.partition("=")[::2] for word in action["cmd"] if "=" in word)
            if "nodename" in told:
                for node in expand_hosts(told["nodename"]):
                    state[node] = told["state"]
            if "reservation" in told:
                begin = max(action["at"] - now + float(told["starttime"].partition("+")[2]), 0.0)
                end = action["at"] - now + float(told["starttime"].partition("+")[2]) + 60.0 * float(told["duration"])
                if end > 0:
                    found.append(f"away: nodes={told['nodes']},kind=reservation,in={begin:.0f}s,for={end - begin:.0f}s")
        gone = [node for node, word in state.items() if word in ("drain", "down")]
        return [*found, *(f"away: nodes={node}" for node in gone)]


def _samples(path: Path) -> dict[float, str]:
    """Return what stands behind each time of samples."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        parts = re.split(r"^# (\S+)\n", file.read(), flags=re.MULTILINE)
    return {float(time): text for time, text in zip(parts[1::2], parts[2::2], strict=True)}
