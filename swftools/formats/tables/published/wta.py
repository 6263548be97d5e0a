# SPDX-License-Identifier: BSD-3-Clause
"""The Workflow Trace Archive: tasks of workflows as a folder of Parquet (Versluis et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass

from swftools.formats.registry import register_format
from swftools.formats.tables.columns import column
from swftools.formats.tables.table_format import TableFormat


@register_format
@dataclass(frozen=True)
class WorkflowTraceArchive(TableFormat):
    """Tasks in the form of the Workflow Trace Archive."""

    NAME = "wta"
    ANY_ORDER = True
    READER_VERSION = 3
    """3: of several jobs that one waited for none was told."""
    TITLE = "Workflow Trace Archive, tables of tasks"
    COMMAND = "the folder tasks/schema-1.0 of a trace of the Workflow Trace Archive"
    NOTES = ("A job is a task of a workflow; times count from the beginning of the trace, in whole milliseconds.",)
    KEYS = ("id", "ts_submit", "runtime", "wait_time", "resource_amount_requested", "workflow_id")
    BESIDE = {"workflows": ("critical_path_length", "task_count")}
    COLUMNS = {
        "log_id": column("id"),
        "submit": column("ts_submit", unit="ms", needed=True),
        "wait_time": column("wait_time", unit="ms", missing=("-1", "-1.0")),
        "run_time": column("runtime", unit="ms", missing=("-1", "-1.0"), needed=True),
        "requested_processors": column("resource_amount_requested", missing=("-1", "-1.0"), round_up=True),
        "user": column("user_id", missing="-1"),
        "group": column("group_id", missing="-1"),
        "executable": column("type"),
        "partition": column("submission_site", missing="-1"),
        "array_number": column("workflow_id", missing="-1"),
        "dependency": column("parents"),
    }
    HAS_DATES = False
    JOB = (
        "A row of `tasks`: a task. What it waits for is `preceding_job_number`, or, of several parents or one that is "
        "submitted later, `preceding_job_numbers`; `dependency` has their ids."
    )
    WIDTH = "The resources asked for, rounded up; `exact_processors` has the fraction. The workflow is `array_number`."
    MACHINE = "The site of submission is the partition."
    TRIED = "Shell's trace, 10,208 tasks."
    TRAPS = (
        "-1 and -1.0 are missing values; a trace without waits has -1 in each row.",
        "A task may be submitted before its parents have ended: then it waits for them.",
        "memory_requested is not read: its unit differs from trace to trace.",
    )
    LICENCE = (
        "Rows of the example: the Workflow Trace Archive, Shell's trace, CC BY 4.0; the second and third are changed."
    )
    EXAMPLE = """\
{"id": 0, "ts_submit": 0, "runtime": 7184, "wait_time": -1, "resource_amount_requested": 1.0, "workflow_id": 0, "parents": [], "user_id": -1}
{"id": 1, "ts_submit": 0, "runtime": 9171, "wait_time": -1, "resource_amount_requested": 0.5, "workflow_id": 0, "parents": [0], "user_id": -1}
{"id": 2, "ts_submit": 6000, "runtime": 5240, "wait_time": 100, "resource_amount_requested": 1.0, "workflow_id": 0, "parents": [0, 1], "user_id": 4}
"""
