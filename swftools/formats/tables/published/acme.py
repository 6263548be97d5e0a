# SPDX-License-Identifier: BSD-3-Clause
"""Acme: two GPU clusters for language models (Seren, Kalos) in 2023, a CSV each (Hu et al. 2024)."""

from __future__ import annotations

from dataclasses import dataclass

from swftools.formats.registry import register_format
from swftools.formats.tables import gpu_clusters
from swftools.formats.tables.columns import column
from swftools.formats.tables.states import NAMES
from swftools.formats.tables.table_format import TableFormat


@register_format
@dataclass(frozen=True)
class Acme(TableFormat):
    """Jobs of Acme's clusters Seren and Kalos."""

    NAME = "acme"
    READER_VERSION = 4
    """4: jobs without GPUs were cleaned away. 3: what was asked of each node was not told."""
    TITLE = "Acme, GPU clusters for language models"
    COMMAND = "trace_seren.csv or trace_kalos.csv, from InternLM/AcmeTrace"
    NOTES = gpu_clusters.NOTES
    KEYS = ("job_id", "node_num", "gpu_num", "cpu_num", "type", "submit_time", "gpu_time")
    COLUMNS = {
        **gpu_clusters.COLUMNS,
        "requested_memory_per_node": column("mem_per_pod_GB", unit="GB", missing="0"),
        "executable": column("type"),
    }
    WIDTHS = gpu_clusters.WIDTHS
    STATES = NAMES
    ZONE = gpu_clusters.ZONE
    JOB = "A row: a job of Slurm (Seren) or of Kubernetes (Kalos). The executable is the kind of work (`type`)."
    WIDTH = "GPUs that were asked for; `width=cpus` and `width=nodes` count others."
    MACHINE = "Each file is of one cluster."
    TRIED = "The two rows of each cluster that the data set's page shows."
    TRAPS = (
        "In Kalos `duration` and `gpu_time` count from the submission, other than the page of the data set says: 18 s of a job "
        "that ran for 8. So the run time is always from start to end.",
        gpu_clusters.NO_QUEUE,
        "Times have an offset, Kalos' that of UTC.",
    )
    LICENCE = "Rows of the example: Shanghai AI Laboratory, AcmeTrace, CC BY 4.0; cite Hu et al. 2024."
    EXAMPLE = """\
job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,shared_mem_per_pod,type,state,submit_time,start_time,end_time,fail_time,stop_time,duration,queue,gpu_time
dlctk696s0jbvitv,uf794,8,64,960,1000,100.0,Other,FAILED,2023-05-17 11:00:58+00:00,2023-05-17 11:01:08+00:00,2023-05-17 11:01:16+00:00,2023-05-17 11:01:16+00:00,,18,10.0,1152.0
dlc1t2ypl09b8qtp,uf794,8,64,960,1000,100.0,Other,CANCELLED,2023-05-17 11:28:42+00:00,2023-05-17 11:28:54+00:00,2023-05-17 11:30:04+00:00,,2023-05-17 11:30:04+00:00,82,12.0,5248.0
"""
