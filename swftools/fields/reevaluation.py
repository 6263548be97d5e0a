# SPDX-License-Identifier: BSD-3-Clause
"""The columns of what is looked at again and again as a log grows: drift of the workload, and policies watched."""

from __future__ import annotations

from swftools.fields.definition import BOOL, FLOAT64, INT64, NEVER, STRING, Field

_STAGE = "reevaluate"


def _word(name: str, meaning: str) -> Field:
    """Return a column of words."""
    return Field(name, STRING, "1", meaning, NEVER, stage=_STAGE, known="never")


def _jobs(name: str, meaning: str) -> Field:
    """Return a number of jobs."""
    return Field(name, INT64, "jobs", meaning, NEVER, stage=_STAGE, minimum=0, known="never")


def _figure(name: str, window: str) -> Field:
    """Return the figure of a window."""
    return Field(
        name,
        FLOAT64,
        "column unit",
        f"The figure of the {window} by which the statistic is pictured: its mean, median, or the share of the most "
        "frequent value.",
        "null: no job of the window has the aspect",
        stage=_STAGE,
        known="never",
    )


WORKLOAD_DRIFT = (
    _word("aspect", "What may drift, such as run_time or users."),
    _word("statistic", "How the windows are compared, such as kolmogorov_smirnov."),
    _figure("recent", "recent window"),
    _figure("reference", "reference"),
    _word("unit", "Unit of recent and reference."),
    Field(
        "drift",
        FLOAT64,
        "1",
        "The statistic: how far the recent window is from the reference: a distance, a ratio or a difference.",
        "null: too few jobs, or it has no meaning",
        stage=_STAGE,
        known="never",
    ),
    Field(
        "threshold",
        FLOAT64,
        "1",
        "The drift beyond which it is told; of a ratio also its inverse, of a difference its absolute value.",
        "null: it is never told",
        stage=_STAGE,
        minimum=0,
        known="never",
    ),
    Field("is_beyond", BOOL, "1", "The drift is beyond the threshold.", NEVER, stage=_STAGE, known="never"),
    _jobs("recent_jobs", "Jobs of the recent window that have the aspect."),
    _jobs("reference_jobs", "Jobs of the reference that have the aspect."),
    _jobs("recent_missing", "Jobs of the recent window that lack it, and are left out."),
    _jobs("reference_missing", "Jobs of the reference that lack it, and are left out."),
)

POLICY_WATCH = (
    _word("policy", "Policy, with the parameters given."),
    _word("measure", "What is measured, as in the table metrics."),
    _word("statistic", "What of it."),
    Field(
        "parameter",
        FLOAT64,
        "s",
        "Bound or threshold of the measure.",
        "null: it has none",
        stage=_STAGE,
        known="never",
    ),
    _jobs("jobs", "Jobs that the value was taken over, with the seed of which it is over fewest."),
    Field(
        "value",
        FLOAT64,
        "column unit",
        "Mean over the seeds.",
        "null: with no seed it has a meaning",
        stage=_STAGE,
        known="never",
    ),
    Field(
        "spread",
        FLOAT64,
        "column unit",
        "Sample standard deviation over the seeds.",
        "null: of fewer than two seeds",
        stage=_STAGE,
        minimum=0,
        known="never",
    ),
    Field(
        "seeds",
        INT64,
        "1",
        "Seeds with which the measure has a value: the log as it is, and shaken ones.",
        NEVER,
        stage=_STAGE,
        minimum=0,
        known="never",
    ),
    _word("unit", "Unit of value and spread."),
)
