# SPDX-License-Identifier: BSD-3-Clause
"""Tasks as the simulator OpenDC takes them, such as those of SURF's Lisa: Parquet, in milliseconds."""

from __future__ import annotations

from dataclasses import dataclass

from swftools.formats.registry import register_format
from swftools.formats.tables.columns import column
from swftools.formats.tables.table_format import TableFormat


@register_format
@dataclass(frozen=True)
class OpenDc(TableFormat):
    """Tasks in the form of OpenDC."""

    NAME = "opendc"
    TITLE = "OpenDC, tables of tasks"
    COMMAND = "tasks.parquet of a workload of atlarge-research/opendc"
    NOTES = ("It is demand only: when tasks started is not told, so there are no waits.",)
    KEYS = ("id", "submission_time", "duration", "cpu_count", "cpu_capacity", "mem_capacity")
    COLUMNS = {
        "log_id": column("id"),
        "submit": column("submission_time", unit="ms", needed=True),
        "run_time": column("duration", unit="ms", needed=True),
        "requested_processors": column("cpu_count", needed=True),
        "requested_memory": column("mem_capacity", unit="MB", of="job"),
    }
    JOB = "A row: a task, whose parts in `fragments.parquet` are not read."
    WIDTH = "`cpu_count`."
    MACHINE = "Not told."
    TRIED = "A week of SURF's Lisa, 6,295 tasks."
    TRAPS = ("cpu_capacity (MHz), deferrable and deadline have no column here.",)
    BESIDE = {"fragments of tasks": ("id", "duration", "cpu_usage")}
    LICENCE = "Rows of the example: SURF and the AtLarge team, OpenDC, MIT licence; the second's time is changed."
    EXAMPLE = """\
id,submission_time,duration,cpu_count,cpu_capacity,mem_capacity
2133099,1665093600000,27930000,16,33600.0,100000
2133101,1665093660000,27930000,16,33600.0,100000
"""
