# SPDX-License-Identifier: BSD-3-Clause
"""Machines of the Argonne Leadership Computing Facility (Theta, Polaris, Aurora): DIM_JOB_COMPOSITE, a CSV a year."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swftools.formats.accounting.records import Records
from swftools.formats.registry import register_format
from swftools.formats.tables.columns import column
from swftools.formats.tables.json_rows import Row
from swftools.formats.tables.rows import Sheet
from swftools.formats.tables.table_format import TableFormat


@register_format
@dataclass(frozen=True)
class Alcf(TableFormat):
    """Jobs of ALCF's machines, from its table DIM_JOB_COMPOSITE."""

    NAME = "alcf"
    READER_VERSION = 3
    """3: that jobs have their nodes alone was not told."""
    TITLE = "ALCF (Theta, Polaris, Aurora), DIM_JOB_COMPOSITE"
    COMMAND = "ANL-ALCF-DJC-MACHINE_DATE_DATE.csv, from the public data of ALCF"
    NOTES = ("Status follows from the exit status: 0 is completed, any other failed.",)
    KEYS = ("COBALT_JOBID", "QUEUED_TIMESTAMP", "START_TIMESTAMP", "END_TIMESTAMP", "NODES_REQUESTED")
    COLUMNS = {
        "log_id": column("COBALT_JOBID"),
        "submit": column("QUEUED_TIMESTAMP", needed=True),
        "start": column("START_TIMESTAMP", needed=True),
        "end": column("END_TIMESTAMP", needed=True),
        "run_time": column("RUNTIME_SECONDS"),
        "requested_time": column("WALLTIME_SECONDS"),
        "allocated_nodes": column("NODES_USED"),
        "requested_nodes": column("NODES_REQUESTED"),
        "exit_code": column("EXIT_STATUS"),
        "user": column("USERNAME_GENID"),
        "group": column("PROJECT_NAME_GENID"),
        "executable": column("JOB_NAME"),
        "queue": column("QUEUE_NAME"),
        "partition": column("MACHINE_NAME"),
    }
    WIDTHS = {
        "nodes": {"allocated_processors": column("NODES_USED"), "requested_processors": column("NODES_REQUESTED")},
        "cores": {"allocated_processors": column("CORES_USED"), "requested_processors": column("CORES_REQUESTED")},
    }
    JOB = "A row."
    WIDTH = "Nodes, which these machines give whole; `width=cores` counts cores."
    MACHINE = "A file is of one machine; `MACHINE_NAME`, where there is such a column, is the partition."
    TRIED = "Rows made from the names of its columns: never tried on the real thing."
    TRAPS = (
        "Nothing says in which zone its times are, so one must be said: `time_zone=UTC` or `time_zone=America/Chicago`.",
    )
    LICENCE = "Rows of the example are made up."
    EXAMPLE = """\
JOB_NAME,COBALT_JOBID,MACHINE_NAME,QUEUED_TIMESTAMP,START_TIMESTAMP,END_TIMESTAMP,USERNAME_GENID,PROJECT_NAME_GENID,QUEUE_NAME,WALLTIME_SECONDS,RUNTIME_SECONDS,NODES_USED,NODES_REQUESTED,CORES_USED,CORES_REQUESTED,LOCATION,EXIT_STATUS
a,500001.theta,theta,2022-01-01 00:00:00,2022-01-01 01:00:00,2022-01-01 02:00:00,11,22,default,7200.0,3600.0,128,128,8192,8192,"0-63,64-127",0
b,500002.theta,theta,2022-01-01 00:10:00,2022-01-01 01:00:00,2022-01-01 01:00:30,12,22,debug,3600.0,30.0,8,8,512,512,200-207,-1
"""

    def adapt(self, sheet: Sheet, records: Records, rows: Sequence[Row]) -> None:  # noqa: ARG002 (as the base has it)
        """Take for completed what ended with 0; nodes are given whole."""
        records.numbers["is_exclusive"] = np.ones(len(records))
        code = records.number("exit_code")
        records.numbers["status"] = np.where(np.isfinite(code), np.where(code == 0, 1.0, 0.0), np.nan)
