# SPDX-License-Identifier: BSD-3-Clause
"""Helios: four GPU clusters of SenseTime in 2020, a CSV each (Hu et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass

from swftools.formats.registry import register_format
from swftools.formats.tables.columns import column
from swftools.formats.tables.states import NAMES
from swftools.formats.tables.table_format import TableFormat


@register_format
@dataclass(frozen=True)
class Helios(TableFormat):
    """Jobs of SenseTime's Helios."""

    NAME = "helios"
    TITLE = "Helios, GPU clusters of SenseTime"
    COMMAND = "cluster_log.csv of a cluster, from S-Lab-System-Group/HeliosData"
    NOTES = ("Processors are GPUs unless width=cpus or width=nodes was said; jobs without GPUs have no width then.",)
    KEYS = ("job_id", "vc", "gpu_num", "cpu_num", "node_num", "submit_time", "state")
    BESIDE = {"GPUs of virtual clusters a day": ("date", "total")}
    COLUMNS = {
        "log_id": column("job_id"),
        "submit": column("submit_time", needed=True),
        "start": column("start_time", needed=True),
        "end": column("end_time", needed=True),
        "run_time": column("duration"),
        "requested_nodes": column("node_num"),
        "requested_gpus": column("gpu_num"),
        "state": column("state", needed=True),
        "user": column("user"),
        "partition": column("vc"),
    }
    WIDTHS = {
        "gpus": {"requested_processors": column("gpu_num", needed=True)},
        "cpus": {"requested_processors": column("cpu_num", needed=True)},
        "nodes": {"requested_processors": column("node_num", needed=True)},
    }
    STATES = NAMES
    ZONE = "Asia/Shanghai"
    JOB = "A row: a job of Slurm."
    WIDTH = "GPUs that were asked for. Of `gpu_num` 0 a job has no width, which is counted; `width=cpus` gives all jobs one."
    MACHINE = (
        "A virtual cluster (`vc`) is a machine of its own, and is the partition; `cluster_gpu_number.csv` has its GPUs."
    )
    TRIED = "The three rows that the data set's page shows."
    TRAPS = (
        "The column `queue` is no queue but the seconds waited.",
        "Times are wall clocks in China, which has no summer time.",
    )
    LICENCE = "Rows of the example: SenseTime and S-Lab, Helios, CC BY 4.0; cite Hu et al. 2021."
    EXAMPLE = """\
job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
1425511,uXBbc,vcJkd,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-10 04:55:09,36848,0
1425512,uVMrF,vchbv,4,16,1,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:27,2020-06-09 18:45:36,249,0
1425513,uzqls,vcpDC,1,1,1,CANCELLED,2020-06-09 18:41:28,2020-06-09 18:41:28,2020-06-17 14:15:21,675233,0
"""
