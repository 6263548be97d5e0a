# SPDX-License-Identifier: BSD-3-Clause
"""The machine and the site on which the jobs of ``sacct.txt`` ran, and what is asked by a line or two."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from swftools.machines.node_table import NodeTable
from swftools.machines.slurm_site import SlurmAssociation, SlurmPartition, SlurmQos, SlurmSite
from swftools.simulator.slurm.asked import SlurmJobs
from swftools.simulator.slurm.requests import slurm_jobs_of
from tests.machines.tables import log_of, machine

PARTITIONS = ("batch", "short", "gpu", "big")
ACCOUNTS = {"bio": ("u5", "u6"), "chem": ("u3", "u4"), "phys": ("u1", "u2")}


def site(**changes: Any) -> SlurmSite:
    """Return a site with three accounts of two users each, behind the root, and three QOS."""
    associations = [SlurmAssociation("root")]
    for account, users in ACCOUNTS.items():
        parent = len(associations)
        associations.append(SlurmAssociation(account, parent=0))
        associations += [SlurmAssociation(account, user, parent=parent, default_qos="normal") for user in users]
    known = {
        "qos": tuple(SlurmQos(name) for name in ("normal", "low", "high")),
        "associations": tuple(associations),
        "partitions": tuple(SlurmPartition(name) for name in PARTITIONS),
    }
    return SlurmSite(**{**known, **changes})


def table_of(**changes: Any) -> NodeTable:
    """Return the machine: 56 nodes and 8 with GPUs, four partitions."""
    table = machine(
        "cpu 56 16 64000 0 +cpu / gpu 8 16 64000 4 +gpu gpu:a100",
        """
        batch cpu     default_memory_per_core=2000 max_time=600 default
        short cpu,gpu default_memory_per_core=2000 max_time=60 max_nodes=4
        gpu   gpu     default_memory_per_core=2000 max_time=600
        big   cpu,gpu default_memory_per_core=2000 max_time=240 min_nodes=8 exclusive
        """,
    )
    return replace(table, slurm=site(**changes))


def asked(*rows: dict[str, Any], table: NodeTable | None = None) -> SlurmJobs:
    """Return what jobs ask for, each given by columns of a log; ``line`` is that of ``submit_line``."""
    told = [{("submit_line" if name == "line" else name): value for name, value in row.items()} for row in rows]
    return slurm_jobs_of(log_of(told), table_of() if table is None else table)


def of_line(options: str, **columns: Any) -> dict[str, Any]:
    """Return what a job asks for by its line, by name; ``partitions`` are names."""
    return row_of(asked({"line": f"sbatch {options}", **columns}), 0)


def row_of(jobs: SlurmJobs, row: int) -> dict[str, Any]:
    """Return what one job asks for, by name."""
    rows = len(jobs.cpus)
    found = {
        name: values[row].item()
        for name in jobs._fields
        if isinstance(values := getattr(jobs, name), np.ndarray) and values.shape == (rows,) and name != "partition"
    }
    parts = jobs.partition[jobs.first_partition[row] : jobs.first_partition[row + 1]]
    return {**found, "partitions": [PARTITIONS[part] for part in parts], "why": jobs.reasons[jobs.code[row]]}
