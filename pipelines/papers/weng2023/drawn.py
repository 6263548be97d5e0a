# SPDX-License-Identifier: BSD-3-Clause
"""Requests for GPUs of jobs of a log that has none: each job asks as a pod of the default workload does, drawn."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

import numpy as np

from swftools.kernel import IntArray
from swftools.keyed_random import count_occurrences, uniforms
from swftools.trace import Trace

COLUMNS = ("cpu_milli", "memory_mib", "num_gpu", "gpu_milli")


@cache
def requests() -> tuple[IntArray, IntArray]:
    """Return what pods of the default workload ask for, a row each kind, and how many do."""
    text = files(__package__).joinpath("published", "requests.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    asked = np.array([[int(row[name]) for name in COLUMNS] for row in rows], np.int64)
    return asked, np.array([int(row["pods"]) for row in rows], np.int64)


def with_requests(trace: Trace, seed: int = 0) -> Trace:
    """Return jobs that ask for GPUs: as they do, or, where none does, as pods that are drawn by the keys of jobs."""
    if "requested_gpus_per_node" in trace.jobs and trace.jobs["requested_gpus_per_node"].notna().any():
        return trace
    asked, pods = requests()
    jobs = trace.jobs
    numbers = jobs["job_number"].to_numpy(dtype=np.int64, na_value=-1)
    drawn = uniforms(seed, "openb requests", numbers, count_occurrences(jobs), 1)[:, 0]
    cpu, memory, number, milli = asked[np.searchsorted(np.cumsum(pods) / pods.sum(), drawn, side="right")].T
    return trace.with_jobs(
        jobs.assign(
            requested_cores_per_node=cpu / 1000,
            requested_memory_per_node=memory.astype(float),
            requested_gpus_per_node=number * milli / 1000,
        )
    )
