# SPDX-License-Identifier: BSD-3-Clause
"""PM100: jobs of Marconi100 (CINECA) with their power, a Parquet file (Antici et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swftools.formats.accounting.records import Records
from swftools.formats.registry import register_format
from swftools.formats.tables.columns import column
from swftools.formats.tables.json_rows import Row
from swftools.formats.tables.rows import Sheet
from swftools.formats.tables.states import NAMES
from swftools.formats.tables.table_format import TableFormat

_SAMPLED = 20.0
"""Seconds between two powers of a list."""


@register_format
@dataclass(frozen=True)
class Pm100(TableFormat):
    """Jobs of Marconi100 as PM100 has them."""

    NAME = "pm100"
    READER_VERSION = 3
    """3: that jobs have their nodes alone was not told."""
    TITLE = "PM100, jobs of Marconi100"
    COMMAND = "job_table.parquet of PM100, record 10127767 of Zenodo"
    NOTES = ("A node of Marconi100 has 128 hardware threads and 4 GPUs, and a job has its nodes alone.",)
    KEYS = ("job_id", "num_nodes_alloc", "num_cores_alloc", "time_limit", "submit_time", "job_state")
    COLUMNS = {
        "log_id": column("job_id"),
        "submit": column("submit_time", needed=True),
        "eligible": column("eligible_time"),
        "start": column("start_time", needed=True),
        "end": column("end_time", needed=True),
        "run_time": column("run_time"),
        "requested_time": column("time_limit", unit="min", missing=("INFINITE", "4294967295", "4294967294")),
        "allocated_nodes": column("num_nodes_alloc"),
        "requested_nodes": column("num_nodes_req"),
        "allocated_gpus": column("num_gpus_alloc"),
        "requested_gpus": column("num_gpus_req"),
        "energy": column("node_power_consumption", every=_SAMPLED),
        "mean_power": column("node_power_consumption", every=_SAMPLED),
        "max_power": column("node_power_consumption", every=_SAMPLED),
        "state": column("job_state", needed=True),
        "user": column("user_id"),
        "group": column("group_id"),
        "queue": column("partition"),
        "partition": column("qos"),
    }
    WIDTHS = {
        "nodes": {"allocated_processors": column("num_nodes_alloc"), "requested_processors": column("num_nodes_req")},
        "cores": {"allocated_processors": column("num_cores_alloc"), "requested_processors": column("num_cores_req")},
    }
    STATES = NAMES
    ZONE = "UTC"
    JOB = "A row: a job that had its nodes alone, which is what the data set chose."
    WIDTH = "Nodes, since a job has them alone; `width=cores` counts hardware threads, 128 of a node."
    MACHINE = "Marconi100, 980 nodes: `processors=980` has jobs that are wider told of."
    TRIED = "Rows made from its list of columns: never tried on the real thing."
    TRAPS = (
        "time_limit is in minutes, or INFINITE.",
        "Times without a zone are taken for UTC; say another by `time_zone=`.",
        "`node_power_consumption` is a list of W of the job's nodes together, a power each 20 s, from its start to its end. The "
        "energy is their sum times 20 s, `mean_power` and `max_power` those of the list: what happened between two samples "
        "is not known. Jobs whose list covers less than nine tenths of their run are counted, and their energy is too low.",
        "`cpu_power_consumption` and `mem_power_consumption` are parts of it, and are not read.",
        "mem_req and mem_alloc are not read: the list of columns does not say in which unit they are.",
    )
    LICENCE = "Rows of the example are made up."
    EXAMPLE = """\
job_id,submit_time,eligible_time,start_time,end_time,run_time,time_limit,num_nodes_req,num_nodes_alloc,num_cores_req,num_cores_alloc,num_gpus_req,num_gpus_alloc,job_state,user_id,group_id,partition,qos,node_power_consumption
1,2020-05-10 10:00:00,2020-05-10 10:00:00,2020-05-10 10:05:00,2020-05-10 11:05:00,3600,120,2,2,256,256,8,8,COMPLETED,7,3,1,0,
2,2020-05-10 10:01:00,2020-05-10 10:01:00,2020-05-10 10:05:00,2020-05-10 10:06:00,60,INFINITE,1,1,128,128,4,4,FAILED,8,3,1,0,"[500, 610, 580]"
"""

    def adapt(self, sheet: Sheet, records: Records, rows: Sequence[Row]) -> None:  # noqa: ARG002 (as the base has it)
        """Say that nodes are given whole."""
        records.numbers["is_exclusive"] = np.ones(len(records))
