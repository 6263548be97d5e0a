# SPDX-License-Identifier: BSD-3-Clause
"""The Grid Workloads Format: that of the archive, with 29 columns, and the short one of workflows (Iosup et al. 2008)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from swftools.formats.registry import Fit, register_format
from swftools.formats.tables.columns import column
from swftools.formats.tables.heads import head_of
from swftools.formats.tables.table_format import TableFormat

_NONE = ("-1", "-1.0")
_COLUMNS = (
    *(
        "JobID",
        "SubmitTime",
        "WaitTime",
        "RunTime",
        "NProcs",
        "AverageCPUTimeUsed",
        "UsedMemory",
        "ReqNProcs",
        "ReqTime",
    ),
    *(
        "ReqMemory",
        "Status",
        "UserID",
        "GroupID",
        "ExecutableID",
        "QueueID",
        "PartitionID",
        "OrigSiteID",
        "LastRunSiteID",
    ),
    *("JobStructure", "JobStructureParams", "UsedNetwork", "UsedLocalDiskSpace", "UsedResources", "ReqPlatform"),
    *("ReqNetwork", "ReqLocalDiskSpace", "ReqResources", "VOID", "ProjectID"),
)
_ROW = re.compile(
    rb"^[^\s#]\S*[ \t]+\d+(?:\.\d+)?[ \t]+-?\d+(?:\.\d+)?(?:[ \t]+[^\r\n\t ]+){26}[ \t]*\r?$", re.MULTILINE
)


@register_format
@dataclass(frozen=True)
class Gwf(TableFormat):
    """Jobs in the Grid Workloads Format of the archive, 29 values a line."""

    NAME = "gwf"
    TITLE = "Grid Workloads Format, 29 columns"
    COMMAND = "a trace of the Grid Workloads Archive (.gwf)"
    KEYS = ("JobID", "SubmitTime", "WaitTime", "RunTime", "NProcs", "OrigSiteID")
    COLUMNS = {
        "log_id": column("JobID"),
        "submit": column("SubmitTime", unit="s", missing=_NONE, needed=True),
        "wait_time": column("WaitTime", missing=_NONE),
        "run_time": column("RunTime", missing=_NONE, needed=True),
        "allocated_processors": column("NProcs", missing=_NONE),
        "cpu_time": column("AverageCPUTimeUsed", times="NProcs", missing=_NONE),
        "used_memory": column("UsedMemory", missing=_NONE),
        "requested_processors": column("ReqNProcs", missing=_NONE),
        "requested_time": column("ReqTime", missing=_NONE),
        "requested_memory": column("ReqMemory", missing=_NONE),
        "status": column("Status", missing=_NONE),
        "user": column("UserID", missing=_NONE),
        "group": column("GroupID", missing=_NONE),
        "executable": column("ExecutableID", missing=_NONE),
        "queue": column("QueueID", missing=_NONE),
        "partition": column("LastRunSiteID", missing=_NONE),
    }
    HEADLESS = _COLUMNS
    SEPARATOR = " "
    COMMENT = "#"
    JOB = "A line."
    WIDTH = "`NProcs`; what was asked for is `ReqNProcs`."
    MACHINE = "The site that a job last ran on is the partition."
    TRIED = "Lines made from the description of its columns: never tried on the real thing."
    TRAPS = (
        "Lines that begin with # are notes. Values are parted by blanks or tabs, so none may hold one.",
        "Submissions are seconds since 1970. -1 is missing.",
        "Structure (JobStructure) and what a job used of disk and network are not read.",
    )
    LICENCE = "Rows of the example are made up."
    EXAMPLE = """\
# JobID SubmitTime WaitTime RunTime NProcs ...
1 1109193083 10 3600 4 3500 -1 4 7200 -1 1 user1 group1 app1 queue1 -1 site1 site1 UNITARY -1 -1 -1 -1 -1 -1 -1 -1 vo1 -1
2 1109193090 -1 -1 -1 -1 -1 2 7200 -1 5 user2 group1 app1 queue1 -1 site1 -1 UNITARY -1 -1 -1 -1 -1 -1 -1 -1 vo1 -1
"""

    @classmethod
    def recognise(cls, head: bytes) -> Fit:
        """Say whether the lines have 29 values."""
        if head.startswith((b"PAR1", b"[", b"{")):
            return Fit(False, "no lines of 29 values")
        found = len(_ROW.findall(head))
        return Fit(found > 0, "lines of 29 values, the second and third numbers" if found else "no lines of 29 values")

    def preface(self, head: bytes) -> bytes | None:  # noqa: ARG002 (as the base has it)
        """Return nothing: no line has to stand before a later part."""
        return b""


@register_format
@dataclass(frozen=True)
class GwfWorkflows(TableFormat):
    """Tasks of workflows in the short form of the Grid Workloads Format, which has a header."""

    NAME = "gwf-workflows"
    ANY_ORDER = True
    READER_VERSION = 3
    """3: of several jobs that one waited for none was told."""
    TITLE = "Grid Workloads Format of workflows, 7 columns"
    COMMAND = "a .gwf of workflows, as simulators of these take them"
    NOTES = ("It is demand only: when tasks started is not told, so there are no waits.",)
    KEYS = ("WorkflowID", "JobID", "SubmitTime", "RunTime", "NProcs", "Dependencies")
    COLUMNS = {
        "log_id": column("JobID"),
        "submit": column("SubmitTime", unit="s", needed=True),
        "run_time": column("RunTime", missing=_NONE, needed=True),
        "allocated_processors": column("NProcs", missing=_NONE),
        "requested_processors": column("ReqNProcs", missing=_NONE),
        "array_number": column("WorkflowID"),
        "dependency": column("Dependencies", missing=_NONE),
    }
    HAS_DATES = False
    JOB = "A line: a task of a workflow, whose number is `array_number`."
    WIDTH = "`NProcs`; what was asked for is `ReqNProcs`."
    MACHINE = "Not told."
    TRIED = "An excerpt of 70 tasks."
    TRAPS = ("Times count from the beginning of the file. Dependencies on several are `preceding_job_numbers`.",)
    LICENCE = "Rows of the example: a sample of the AtLarge team, MIT licence."
    EXAMPLE = """\
WorkflowID, JobID     , SubmitTime, RunTime   , NProcs    , ReqNProcs , Dependencies
0         , 1         , 16        , 11        , 1         , 1         ,
0         , 2         , 40        , 11        , 1         , 1         , 1
0         , 7         , 87        , 11        , 1         , 1         , 1 2
"""

    @classmethod
    def recognise(cls, head: bytes) -> Fit:
        """Say whether there is a header with the names of the columns, and no more than these."""
        fit = super().recognise(head)
        found = head_of(head)
        if fit.fits and found and len(found.columns) > len(_COLUMNS) - 1:
            return Fit(False, "a table of more columns")
        return fit
