# SPDX-License-Identifier: BSD-3-Clause
"""What a real Slurm makes of the scripts, and what we do, in rows of one form.

``python -m tests.job_scripts.submitted`` writes ``recorded.csv`` anew; it starts a Slurm of its own.
"""

from __future__ import annotations

import csv
import math
import re
import shlex
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from swftools.job_scripts import JobRequest
from tests.job_scripts.scripts import SCRIPTS, Script
from tests.real_slurm.cluster import Slurm, running_slurm

RECORDED = Path(__file__).parent / "recorded.csv"

PARTITIONS = """\
GresTypes=gpu
AccountingStorageTRES=gres/gpu
NodeName=f[01-40] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[64001-64040] CPUs=32 Sockets=2 CoresPerSocket=16 \
RealMemory=128000 Gres=gpu:4 State=DOWN
PartitionName=large Nodes=f[01-40] MaxTime=7-00:00:00 State=UP
PartitionName=gpu Nodes=f[01-10] MaxTime=2-00:00:00 State=UP
"""
"""Nodes that never start a job, beside those of the cluster, whose partition is the default."""

DEFAULT = "batch"
_SIZES = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2, "P": 1024**3}


class Row(NamedTuple):
    """A component of a job, as accounting has it; a text each.

    Parameters
    ----------
    script : str
        Its name among the scripts.
    nodes, processors, gpus, memory : str
        Of ``ReqTRES``; memory in MiB.
    minutes : str
        ``TimelimitRaw``.
    partition : str
        Of several the first: before the scheduler has looked at the job accounting has all of them, later one.
    array_size : str
        Jobs that were made of it.
    """

    script: str
    nodes: str
    processors: str
    gpus: str
    memory: str
    minutes: str
    partition: str
    array_size: str


def submit(slurm: Slurm, script: Script) -> str:
    """Submit a script, held; return the job's id, or what sbatch says if it refuses."""
    path = slurm.folder / "job.sh"
    path.write_text(script.text)
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in script.environment.items())
    words = " ".join(shlex.quote(word) for word in script.arguments)
    told = slurm.run(f"{variables} sbatch --parsable --hold {words} {path} 2>refused || cat refused")
    return told.strip()


def rows_of_slurm(slurm: Slurm) -> list[Row]:
    """Submit all scripts and return what accounting has of them."""
    jobs = {name: submit(slurm, script) for name, script in SCRIPTS.items()}
    wrong = {name: told for name, told in jobs.items() if not told.isdecimal()}
    assert wrong == {}, wrong
    held = slurm.run("squeue --array --noheader --format=%i").split()
    tasks = Counter(job.split("_")[0] for job in held)
    slurm.run(f"scancel --state=pending {' '.join(jobs.values())}")
    found: dict[str, list[list[str]]] = {}

    def is_known() -> bool:
        text = slurm.run(
            "sacct --allocations --noheader --parsable2 --format=JobID,State,ReqTRES,TimelimitRaw,Partition "
            f"--jobs={','.join(jobs.values())}"
        )
        found.clear()
        for line in text.splitlines():
            job, state, *others = line.split("|")
            if state.startswith("CANCELLED") and others[0]:
                found.setdefault(re.split(r"[_+]", job)[0], []).append(others)
        return set(jobs.values()) <= found.keys()

    slurm.wait_for(is_known, "accounting has all jobs")
    return [
        _row(name, told, tasks[job] if len(found[job]) == 1 else 1) for name, job in jobs.items() for told in found[job]
    ]


def _row(name: str, told: list[str], array_size: int) -> Row:
    resources, minutes, partition = told
    counts = dict(each.split("=") for each in resources.split(","))
    memory = counts["mem"]
    in_mb = round(float(memory[:-1]) * _SIZES[memory[-1]])
    gpus = counts.get("gres/gpu", "0")
    return Row(name, counts["node"], counts["cpu"], gpus, str(in_mb), minutes, partition.split(",")[0], str(array_size))


def rows_of_request(name: str, request: JobRequest, like: list[Row]) -> list[Row]:
    """Return what we make of a script; what is left to the centre as Slurm has it."""
    rows = []
    for each, theirs in zip(request.components, like, strict=True):
        limit = each.time_limit
        minutes = "Partition_Limit" if limit is None else "UNLIMITED" if limit == math.inf else f"{limit / 60:.0f}"
        memory = theirs.memory if each.memory_mb is None else str(each.memory_mb)
        partition = (each.partition or DEFAULT).split(",")[0]
        counts = (str(each.nodes), str(each.processors), str(each.gpus))
        rows.append(Row(name, *counts, memory, minutes, partition, str(request.array_size)))
    return rows


def recorded() -> dict[str, list[Row]]:
    """Return what was recorded, by the name of the script."""
    found: dict[str, list[Row]] = {}
    with RECORDED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["script"], []).append(Row(**row))
    return found


def write(rows: list[Row]) -> None:
    """Record rows."""
    with RECORDED.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(rows)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, running_slurm(Path(folder) / "slurm", PARTITIONS) as slurm:
        write(rows_of_slurm(slurm))
