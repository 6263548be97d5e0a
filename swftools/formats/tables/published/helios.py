# SPDX-License-Identifier: BSD-3-Clause
"""Helios: four GPU clusters of SenseTime in 2020, a CSV each (Hu et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass

from swftools.formats.registry import register_format
from swftools.formats.tables import gpu_clusters
from swftools.formats.tables.columns import column
from swftools.formats.tables.states import NAMES
from swftools.formats.tables.table_format import TableFormat


@register_format
@dataclass(frozen=True)
class Helios(TableFormat):
    """Jobs of SenseTime's Helios."""

    NAME = "helios"
    READER_VERSION = 4
    """4: jobs without GPUs were cleaned away. 3: what was asked of each node was not told."""
    TITLE = "Helios, GPU clusters of SenseTime"
    COMMAND = "cluster_log.csv of a cluster, from S-Lab-System-Group/HeliosData"
    NOTES = gpu_clusters.NOTES
    KEYS = ("job_id", "vc", "gpu_num", "cpu_num", "node_num", "submit_time", "state")
    BESIDE = {"GPUs of virtual clusters a day": ("date", "total")}
    COLUMNS = {**gpu_clusters.COLUMNS, "run_time": column("duration"), "partition": column("vc")}
    WIDTHS = gpu_clusters.WIDTHS
    STATES = NAMES
    ZONE = gpu_clusters.ZONE
    JOB = "A row: a job of Slurm."
    WIDTH = "GPUs that were asked for. Of `gpu_num` 0 a job has no width, which is counted; `width=cpus` gives all jobs one."
    MACHINE = (
        "A virtual cluster (`vc`) is a machine of its own, and is the partition; `cluster_gpu_number.csv` has its GPUs."
    )
    TRIED = "The three rows that the data set's page shows."
    TRAPS = (
        gpu_clusters.NO_QUEUE,
        "Times are wall clocks in China, which has no summer time.",
    )
    LICENCE = "Rows of the example: SenseTime and S-Lab, Helios, CC BY 4.0; cite Hu et al. 2021."
    EXAMPLE = """\
job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
1425511,uXBbc,vcJkd,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-10 04:55:09,36848,0
1425512,uVMrF,vchbv,4,16,1,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:27,2020-06-09 18:45:36,249,0
1425513,uzqls,vcpDC,1,1,1,CANCELLED,2020-06-09 18:41:28,2020-06-09 18:41:28,2020-06-17 14:15:21,675233,0
"""
