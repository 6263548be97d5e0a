# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on spot GPUs of Alibaba, 2026 (Duan et al. 2026)."""

from __future__ import annotations

from dataclasses import dataclass

from swftools.formats.registry import register_format
from swftools.formats.tables.columns import column
from swftools.formats.tables.table_format import TableFormat


@register_format
@dataclass(frozen=True)
class SpotGpu(TableFormat):
    """Jobs of Alibaba's trace of spot GPUs."""

    NAME = "spot-gpu"
    TITLE = "Jobs on spot GPUs (Alibaba 2026)"
    COMMAND = "job_info_df.csv, from cluster-trace-v2026-spot-gpu of alibaba/clusterdata"
    NOTES = ("It is demand only: when jobs started is not told, so there are no waits.",)
    KEYS = ("job_name", "organization", "gpu_model", "gpu_request", "worker_num", "submit_time", "duration", "job_type")
    BESIDE = {"nodes": ("node_name", "gpu_model", "gpu_capacity_num")}
    COLUMNS = {
        "log_id": column("job_name"),
        "submit": column("submit_time", unit="s", needed=True),
        "run_time": column("duration", needed=True),
        "requested_gpus": column("gpu_request", times="worker_num", round_up=True),
        "group": column("organization"),
        "queue": column("job_type"),
        "partition": column("gpu_model"),
    }
    WIDTHS = {
        "gpus": {"requested_processors": column("gpu_request", times="worker_num", round_up=True, needed=True)},
        "cpus": {"requested_processors": column("cpu_request", times="worker_num", round_up=True, needed=True)},
    }
    HAS_DATES = False
    JOB = "A row: a job, whose queue is HP (high priority) or Spot."
    WIDTH = "GPUs: those of a worker times workers. The page of the data set calls them those of the job; 94 workers of 1 GPU say otherwise."
    MACHINE = "The model of GPU is the partition."
    TRIED = "The four rows that the data set's page shows."
    TRAPS = (
        "Times count from the first submission.",
        "What jobs ask for together may be more than the machine has; `processors=` tells.",
    )
    LICENCE = "Rows of the example: Alibaba, clusterdata, CC BY 4.0; cite Duan et al. 2026."
    EXAMPLE = """\
job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,job_type
239255,13,A10,20,1,1,0,2764799,HP
437260,57,A100-SXM4-80GB,15,1,16,9589663,41060,Spot
437261,57,A100-SXM4-80GB,15,1,94,9589663,71718,Spot
"""
