# SPDX-License-Identifier: BSD-3-Clause
"""F-DATA: the jobs of Fugaku (RIKEN), 24 million from 2021 to 2024, a Parquet file a month (Antici et al. 2024)."""

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
class Fdata(TableFormat):
    """Jobs of Fugaku as F-DATA has them."""

    NAME = "fdata"
    READER_VERSION = 3
    """3: that jobs have their nodes alone was not told."""
    TITLE = "F-DATA, the jobs of Fugaku"
    COMMAND = "the Parquet files of F-DATA, record 11467483 of Zenodo; a folder of months is one log"
    NOTES = ("A node of Fugaku has 48 cores for jobs.",)
    KEYS = ("jid", "adt", "sdt", "edt", "nnumr", "cnumr")
    COLUMNS = {
        "log_id": column("jid"),
        "submit": column("adt", needed=True),
        "eligible": column("qdt"),
        "start": column("sdt", needed=True),
        "end": column("edt", needed=True),
        "run_time": column("duration"),
        "requested_time": column("elpl"),
        "allocated_nodes": column("nnuma"),
        "requested_nodes": column("nnumr"),
        "mean_power": column("avgpcon", of="node"),
        "max_power": column("maxpcon", of="node"),
        "exit_code": column("ec"),
        "state": column("exit state"),
        "user": column("usr"),
        "executable": column("jnam"),
    }
    WIDTHS = {
        "nodes": {"allocated_processors": column("nnuma"), "requested_processors": column("nnumr")},
        "cores": {"allocated_processors": column("cnumat"), "requested_processors": column("cnumr")},
    }
    STATES = {"COMPLETED": 1, "FAILED": 0}
    ZONE = "Asia/Tokyo"
    JOB = "A row: a job, or an element of an array."
    WIDTH = "Nodes, which Fugaku gives whole; `width=cores` counts cores (`cnumat`, `cnumr`)."
    MACHINE = "Fugaku, 158,976 nodes: `processors=158976` has jobs that are wider told of."
    TRIED = "Rows made from its list of columns: never tried on the real thing."
    TRAPS = (
        "The column `exit state` has a blank in its name.",
        "CPU times, memory and energy (uctmut, mszl, mmszu, econ) are not read: no page says in which units they are.",
        "Powers (avgpcon, maxpcon) are of a node, in W: here they are of the job's nodes together. The highest power of the job "
        "may be less, since its nodes need not have theirs at one time.",
    )
    LICENCE = "Rows of the example are made up."
    EXAMPLE = """\
jid,usr,jnam,cnumr,cnumat,nnumr,nnuma,adt,qdt,sdt,edt,ec,elpl,exit state,duration,avgpcon,maxpcon
j1,u1,n1,96,96,2,2,2021-04-01 00:00:10+09:00,2021-04-01 00:00:11+09:00,2021-04-01 00:01:00+09:00,2021-04-01 01:01:00+09:00,0,7200.0,completed,3600.0,90.5,120.0
j2,u2,n2,48,48,1,1,2021-04-01 00:00:20+09:00,2021-04-01 00:00:21+09:00,2021-04-01 00:02:00+09:00,2021-04-01 00:02:30+09:00,1,600.0,failed,30.0,60.0,
"""

    def adapt(self, sheet: Sheet, records: Records, rows: Sequence[Row]) -> None:  # noqa: ARG002 (as the base has it)
        """Say that nodes are given whole."""
        records.numbers["is_exclusive"] = np.ones(len(records))
