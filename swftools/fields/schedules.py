# SPDX-License-Identifier: BSD-3-Clause
"""The columns of schedules: what a simulation says of each job, and of each run."""

from __future__ import annotations

from swftools.fields.definition import BOOL, FLOAT64, INT64, NEVER, STRING, Field, Known


def _simulated(name: str, meaning: str, known: Known, unit: str = "s", *, optional: bool = False) -> Field:
    """Return a time or count of the simulation."""
    type_ = FLOAT64 if unit == "s" else INT64
    return Field(name, type_, unit, meaning, NEVER, stage="simulate", minimum=0, optional=optional, known=known)


SCHEDULE_COLUMNS = (
    _simulated("submit_time", "Submission, in seconds from the start of the log.", "submission"),
    _simulated("start_time", "Start of the last run that began the job from nothing.", "start"),
    _simulated("end_time", "End of the job.", "end"),
    _simulated("wait_time", "start_time - submit_time, runs before it that were in vain among it.", "start"),
    _simulated(
        "run_time",
        "How long the job ran from start_time on, overhead and work done twice among it: as logged, or as the options "
        "of the simulation make it, where it ran once, on its own width.",
        "end",
    ),
    _simulated("allocated_processors", "Processors of the job's last run.", "end", "processors"),
    _simulated(
        "requested_time", "Requested time in the simulation: as logged, or as its options make it.", "submission"
    ),
    _simulated("estimated_time", "What the policy took the job's run time for when it was submitted.", "submission"),
    Field(
        "is_backfilled",
        BOOL,
        "1",
        "A job that was submitted earlier starts at a later instant.",
        NEVER,
        stage="simulate",
        known="start",
    ),
    _simulated("preemptions", "How often the job was stopped, and waited again.", "end", "1"),
    _simulated(
        "ready_time",
        "When the job was eligible in the simulation: at its submission, or when the jobs that it waited for had ended "
        "and its think time was over. There only if the run followed dependencies.",
        "start",
        optional=True,
    ),
    _simulated("ready_wait", "start_time - ready_time; beside ready_time alone.", "start", optional=True),
)

SEGMENT_COLUMNS = (
    _simulated("start_time", "Start of the run.", "start"),
    _simulated("end_time", "End of the run.", "end"),
    _simulated("allocated_processors", "Processors of the run.", "start", "processors"),
    _simulated("work", "Work of the job that was done in the run: what it takes on the job's own width.", "end"),
    _simulated("lost_work", "Of that, what was lost when this run, or one that went on from it, was stopped.", "end"),
    _simulated(
        "overhead", "Of the run, the time at its beginning that it took to go on with work done before.", "start"
    ),
    Field(
        "ended_by",
        STRING,
        "1",
        "completed; limit: cut when its time was over; else it was stopped before the job was done: killed (all work "
        "lost), checkpointed (kept up to the last checkpoint), suspended (all kept) or resized (the same, and the job "
        "goes on at once on other processors).",
        NEVER,
        stage="simulate",
        known="end",
    ),
)

EXCLUSION_REASON = Field("reason", STRING, "1", "Why, in words.", NEVER, stage="simulate", known="never")


def _measured(name: str, meaning: str, missing: str = NEVER) -> Field:
    """Return a word of the table of metrics."""
    return Field(name, STRING, "1", meaning, missing, stage="measure", known="never")


METRICS = (
    _measured("policy", "Policy, or what the run is called."),
    _measured("classed_by", "Columns that jobs are classed by, or all."),
    _measured("job_class", "Class of jobs, or all."),
    _measured("measure", "What is measured, such as wait or utilization."),
    _measured("statistic", "What of it, such as mean, p98 or max; value where there is only one."),
    Field(
        "parameter",
        FLOAT64,
        "s",
        "Bound or threshold of the measure.",
        "null: it has none",
        stage="measure",
        known="never",
    ),
    Field(
        "jobs", INT64, "jobs", "Jobs that the value was taken over.", NEVER, stage="measure", minimum=0, known="never"
    ),
    Field(
        "value",
        FLOAT64,
        "column unit",
        "The statistic.",
        "null: no job has the measure, or it has no meaning",
        stage="measure",
        known="never",
    ),
    _measured("unit", "Unit of the value."),
)

SEED = Field(
    "seed",
    INT64,
    "1",
    "Seed of the run: of utility functions, estimates and policy.",
    NEVER,
    stage="measure",
    known="never",
)
