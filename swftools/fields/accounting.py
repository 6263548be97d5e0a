# SPDX-License-Identifier: BSD-3-Clause
"""The columns of jobs that accounting logs have and SWF has no place for, and the names behind its numbers."""

from __future__ import annotations

from swftools.fields.definition import BOOL, FLOAT64, INT64, INTEGERS, MAX_TIME, NEVER, STRING, Field, Known

_MOST_PROCESSORS = 2.0**31 - 1
_MOST_JOULES, _MOST_WATTS = 1e18, 1e12


def _count(name: str, unit: str, meaning: str, known: Known) -> Field:
    return Field(name, INT64, unit, meaning, maximum=_MOST_PROCESSORS, minimum=0, known=known)


def _share(name: str, unit: str, meaning: str) -> Field:
    return Field(name, FLOAT64, unit, meaning, maximum=_MOST_PROCESSORS, minimum=0, known="submission")


ACCOUNTING_COLUMNS = (
    Field(
        "log_id",
        STRING,
        "1",
        "Id of the job in the log that it was read from.",
        "null: SWF, or withheld",
        known="submission",
    ),
    Field(
        "eligible_time",
        FLOAT64,
        "s",
        "When the job could first have started (dependencies, holds), in seconds from the start of the log.",
        maximum=MAX_TIME,
        minimum=-MAX_TIME,
        known="start",
    ),
    _count("allocated_nodes", "nodes", "Nodes the job was given.", "start"),
    _count("requested_nodes", "nodes", "Nodes the job asked for.", "submission"),
    _count("fewest_processors", "processors", "Fewest processors the job would have taken.", "submission"),
    _count("allocated_gpus", "GPUs", "GPUs the job was given.", "start"),
    _count("requested_gpus", "GPUs", "GPUs the job asked for.", "submission"),
    _share("exact_processors", "processors", "What the width counts as told, where it was rounded up to processors."),
    _share("exact_gpus", "GPUs", "GPUs as told, where shares of one were rounded up."),
    Field("restarts", INT64, "1", "How often the job was started again.", minimum=0, known="end"),
    Field("exit_code", INT64, "1", "Exit status of the job's program.", known="end"),
    Field("exit_signal", INT64, "1", "Signal that ended the job's program, 0 for none.", minimum=0, known="end"),
    Field(
        "logged_state",
        STRING,
        "1",
        "State of the job in the words of the log.",
        "null: SWF, or not in the log",
        known="end",
    ),
    Field(
        "array_number",
        INT64,
        "1",
        "Number, in the log, of the array that the job is an element of.",
        minimum=0,
        known="submission",
    ),
    Field("array_index", INT64, "1", "Index of the job in its array.", minimum=0, known="submission"),
    Field(
        "dependency",
        STRING,
        "1",
        "What the job waited for, in the words of the log.",
        "null: nothing, or withheld",
        known="submission",
    ),
    Field(
        "preceding_job_numbers",
        INTEGERS,
        "1",
        "Jobs that must all end before this one starts, where they are several, or one is submitted later than this.",
        "null: none, or one that preceding_job_number says",
        optional=True,
        known="submission",
    ),
    Field(
        "soft_requested_time",
        FLOAT64,
        "s",
        "Run time after which the job may be ended, below the requested time; 20th field of Frontier's SWF.",
        maximum=MAX_TIME,
        minimum=0,
        known="submission",
    ),
    Field(
        "estimated_wait_time",
        FLOAT64,
        "s",
        "How long the batch system itself said, at the submission, that the job would wait.",
        maximum=MAX_TIME,
        minimum=0,
        known="submission",
    ),
    Field(
        "queue_name",
        STRING,
        "1",
        "Queue in the words of the log, where each line of SWF names it; 20th field of JSSPP's SWF.",
        "null: not in the log, or withheld",
        known="submission",
    ),
    Field(
        "resource_request",
        STRING,
        "1",
        "What the job asked for, in the words of the log; 21st field of JSSPP's SWF.",
        "null: not in the log, or withheld",
        known="submission",
    ),
    Field(
        "node_list",
        STRING,
        "1",
        "Nodes the job was given, an entry a processor, in the words of the log; 19th field of JSSPP's SWF.",
        "null: not in the log, or withheld",
        known="start",
    ),
    _count(
        "logged_allocated_processors",
        "processors",
        "Field 5 of a line of SWF as it stood, where allocated_processors follows from resource_request.",
        "start",
    ),
    _count(
        "logged_requested_processors",
        "processors",
        "Field 8 of a line of SWF as it stood, where requested_processors follows from resource_request.",
        "submission",
    ),
    Field(
        "energy",
        FLOAT64,
        "J",
        "Energy that the job's nodes took while it ran, as logged.",
        maximum=_MOST_JOULES,
        minimum=0,
        known="end",
    ),
    Field(
        "mean_power",
        FLOAT64,
        "W",
        "Mean power of the job, over all its nodes: as logged, else its energy over its run time.",
        maximum=_MOST_WATTS,
        minimum=0,
        known="end",
    ),
    Field(
        "max_power",
        FLOAT64,
        "W",
        "Highest power of the job that was sampled, over all its nodes.",
        maximum=_MOST_WATTS,
        minimum=0,
        known="end",
    ),
    Field(
        "scheduler_flags",
        STRING,
        "1",
        "Marks of the batch system, such as which of its schedulers started the job, in the words of the log.",
        "null: none",
        optional=True,
        known="start",
    ),
    Field(
        "priority",
        INT64,
        "1",
        "Last priority that the batch system gave the job; more is earlier.",
        maximum=2.0**53,
        minimum=0,
        optional=True,
        known="start",
    ),
    Field(
        "wait_reason",
        STRING,
        "1",
        "Last reason for which the job waited, in the words of the log; withheld in published data.",
        "null: none, or withheld",
        optional=True,
        known="start",
    ),
    Field(
        "constraints",
        STRING,
        "1",
        "Features that the nodes of the job had to have, in the words of the log.",
        "null: none, or withheld",
        optional=True,
        known="submission",
    ),
    Field(
        "host_list",
        STRING,
        "1",
        "Nodes the job was given, as a list in the words of the log, n[01-04]; withheld in published data.",
        "null: none, or withheld",
        optional=True,
        known="start",
    ),
    Field(
        "submit_line",
        STRING,
        "1",
        "Command that submitted the job; withheld in published data.",
        "null: not in the log, or withheld",
        optional=True,
        known="submission",
    ),
    Field(
        "is_time_ambiguous",
        BOOL,
        "1",
        "One of its times is in an hour that the zone repeats, without a word on which of the two.",
        NEVER,
        known="end",
    ),
)

NAMES = (
    Field("kind", STRING, "1", "What is named: user, group, executable, queue or partition.", NEVER, known="never"),
    Field("number", INT64, "1", "Number in the jobs table.", NEVER, minimum=0, known="never"),
    Field("name", STRING, "1", "Name in the log, or a keyed hash of it.", NEVER, known="never"),
)
