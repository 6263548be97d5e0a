# SPDX-License-Identifier: BSD-3-Clause
"""What `swftools collect` hears of a batch system: the jobs that started, ended or left the queue in some time, a CSV."""

from __future__ import annotations

from dataclasses import dataclass

from swftools.formats.registry import register_format
from swftools.formats.tables.columns import column
from swftools.formats.tables.table_format import TableFormat

COMPLETED, FAILED, CANCELLED = "completed", "failed", "cancelled"

HEADER = (
    *("job", "cluster", "queue", "partition", "user", "account", "processors", "requested_time"),
    *("submitted", "eligible", "started", "ended", "outcome", "told"),
)
"""The columns, in order."""


@register_format
@dataclass(frozen=True)
class Collected(TableFormat):
    """Jobs as a collector heard of them."""

    NAME = "collected"
    TITLE = "Collected, what swftools collect writes"
    COMMAND = "the files that swftools collect --inbox writes"
    NOTES = ("A job without an end was running when the file was written.",)
    KEYS = ("job", "cluster", "submitted", "started", "ended", "outcome")
    COLUMNS = {
        "log_id": column("job", needed=True),
        "submit": column("submitted", unit="s", needed=True),
        "eligible": column("eligible", unit="s"),
        "start": column("started", unit="s", needed=True),
        "end": column("ended", unit="s", needed=True),
        "requested_time": column("requested_time"),
        "requested_processors": column("processors"),
        "state": column("outcome"),
        "estimated_wait_time": column("told", unit="s"),
        "user": column("user"),
        "group": column("account"),
        "queue": column("queue"),
        "partition": column("partition"),
    }
    STATES = {COMPLETED.upper(): 1, FAILED.upper(): 0, CANCELLED.upper(): 5}
    KEEPS_RUNNING = True
    JOB = "A row: a job that started, ended or left the queue since the file before. A job that runs for long is in two files, and the one that has its end counts."
    WIDTH = "The processors that were asked for."
    MACHINE = "The files of one `cluster` go into one inbox."
    TRIED = "A real Slurm, whose jobs were heard of every few seconds."
    TRAPS = (
        "A job that runs has a start and no end. It is a job here, without a run time, so that its wait counts before it ends.",
        "`partition` and `account` are empty where jobs were heard of by the sensors that there are: these tell queue and user.",
        "`told` is the bound of its wait that a service told the job at its submission (s), where one runs; it is `estimated_wait_time`.",
        "Times are when the batch system says that it happened, s since 1970; where it does not say, when it was heard of.",
    )
    LICENCE = "The rows of the example are made up."
    EXAMPLE = """\
job,cluster,queue,partition,user,account,processors,requested_time,submitted,eligible,started,ended,outcome,told
8,blue,batch,,ana,physics,16,3600,1790000000,1790000000,1790000060,1790003000,completed,900
9,blue,batch,,bo,,4,7200,1790000100,1790000100,1790000150,,,900
10,blue,short,,ana,physics,1,600,1790000200,1790000200,,1790000900,cancelled,
"""
