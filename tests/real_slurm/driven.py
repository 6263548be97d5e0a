# SPDX-License-Identifier: BSD-3-Clause
"""Sixty jobs of many kinds in a real Slurm within two minutes, and what it says of them afterwards.

with running_slurm(tmp_path / "slurm", CONFIGURATION, NODES) as slurm:
    driven = drive(slurm, tmp_path)
    read_log(driven.sacct, "slurm:time_zone=UTC")
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.real_slurm.cluster import Slurm

NODES, JOBS, SUBMITTED_WITHIN = 8, 60, 60.0
"""Nodes of eight cores, jobs (an array counts as one), and seconds until the last is submitted."""

CONFIGURATION = """\
PartitionName=short Nodes=ALL MaxTime=1 State=UP PriorityJobFactor=5 PriorityTier=2
PartitionName=whole Nodes=ALL MaxTime=10 State=UP OverSubscribe=EXCLUSIVE
DebugFlags=Backfill
"""
"""Two partitions more, one that goes first, one that gives whole nodes."""

FIELDS = (
    "JobID,JobIDRaw,State,Flags,Priority,Reason,Submit,Eligible,Start,End,ElapsedRaw,Suspended,Timelimit,Partition,QOS,"
    "NNodes,ReqCPUS,AllocCPUS,ReqTRES,AllocTRES,ReqMem,NodeList,Constraints,User,Account,JobName,ExitCode,SubmitLine"
)

KINDS = (
    "--ntasks=1",
    "--ntasks=4",
    "--ntasks=12",
    "--nodes=1-3 --ntasks=6",
    "--nodes=4 --ntasks-per-node=2",
    "--ntasks=3 --cpus-per-task=2",
    "--ntasks=10 --exclusive",
    "--ntasks=2 --partition=short",
    "--ntasks=24 --nodes=3 --partition=whole",
    "--ntasks=2 --array=0-5%2",
)


@dataclass(frozen=True)
class Driven:
    """What is kept of a run.

    Parameters
    ----------
    sacct : Path
        ``sacct -P``, each life of each job, times in UTC.
    site : Path
        Nodes, partitions and configuration, as docs/slurm.md has them printed.
    tasks : int
        Jobs, with each task of an array.
    """

    sacct: Path
    site: Path
    tasks: int


def drive(slurm: Slurm, folder: Path, seed: int = 1) -> Driven:
    """Submit the jobs and one more, which is cancelled while it runs; wait until all have ended.

    Parameters
    ----------
    slurm : Slurm
        With `NODES` nodes and `CONFIGURATION`.
    folder : Path
        Where its accounts are put.
    seed : int
        Of kinds, run times and submissions: the same ones in each run.
    """
    drawn = np.random.Generator(np.random.Philox(seed))
    moments = np.sort(drawn.uniform(0.0, SUBMITTED_WITHIN, JOBS))
    kinds = [KINDS[k % len(KINDS)] for k in drawn.permutation(JOBS)]
    run_times = drawn.integers(2, 12, JOBS)
    begun, tasks = time.monotonic(), 0
    jobs: list[str] = []
    for moment, kind, run_time in zip(moments, kinds, run_times, strict=True):
        time.sleep(max(0.0, begun + moment - time.monotonic()))
        jobs.append(slurm.submit(kind, "--time=1", f"sleep {run_time}"))
        tasks += 6 if "--array" in kind else 1
    after = slurm.submit(f"--dependency=afterany:{jobs[-1]}", "--ntasks=1", "--time=1", "sleep 30")
    slurm.wait_for(lambda: slurm.states()[after] == "RUNNING", f"job {after} runs", 120.0)
    slurm.run(f"scancel {after}")
    ended = {"COMPLETED", "CANCELLED"}
    slurm.wait_for(lambda: set(slurm.states().values()) <= ended, "all jobs have ended", 120.0)
    path, site = folder / "sacct.txt", folder / "site.txt"
    site.write_text(slurm.run("scontrol show node; scontrol show partition; scontrol show config"), encoding="utf-8")
    slurm.wait_for(lambda: _kept(slurm, path) == tasks + 1, "sacct has all ends", 30.0)
    return Driven(path, site, tasks + 1)


def _kept(slurm: Slurm, path: Path) -> int:
    """Keep what sacct says; return how many lives have an end."""
    text = slurm.run(f"TZ=UTC sacct --allusers --duplicates --allocations --parsable2 --format={FIELDS}")
    path.write_text(text, encoding="utf-8")
    end = FIELDS.split(",").index("End")
    return sum(line.split("|")[end] != "Unknown" for line in text.splitlines()[1:])
