# SPDX-License-Identifier: BSD-3-Clause
"""The columns of predicted waits, and of how good they are."""

from __future__ import annotations

from swftools.fields.definition import BOOL, FLOAT64, INT64, NEVER, STRING, TIMESTAMP, Field

_STAGE = "replay"


def _seconds(name: str, meaning: str, missing: str = NEVER) -> Field:
    """Return a time of a job."""
    return Field(name, FLOAT64, "s", meaning, missing, stage=_STAGE, minimum=0, known="never")


def _number(name: str, meaning: str, unit: str = "jobs") -> Field:
    """Return a number of things."""
    return Field(name, INT64, unit, meaning, NEVER, stage=_STAGE, minimum=0, known="never")


WAIT_PREDICTIONS = (
    Field("method", STRING, "1", "Bound or predictor, with its parameters.", NEVER, stage=_STAGE, known="never"),
    Field(
        "queue",
        STRING,
        "1",
        "Queue, or other group of jobs, that was replayed by itself; or all.",
        NEVER,
        stage=_STAGE,
        known="never",
    ),
    Field(
        "submit_time",
        FLOAT64,
        "s",
        "Submission, in seconds from the start of the log.",
        NEVER,
        stage=_STAGE,
        known="never",
    ),
    Field(
        "submit_timestamp",
        TIMESTAMP,
        "UTC",
        "Submission as a point in time.",
        "null: the log does not say when it starts",
        stage=_STAGE,
        known="never",
    ),
    _seconds("wait_time", "How long the job waited.", "null: it never started, or is not known to have"),
    _seconds("requested_time", "What its user asked for.", "null: not known"),
    Field(
        "processors",
        INT64,
        "processors",
        "Requested processors; allocated ones where these are not known.",
        "null: not known",
        stage=_STAGE,
        minimum=0,
        known="never",
    ),
    _seconds("wait_bound", "What the job was told: a bound of its wait.", "null: it was told nothing"),
    _seconds(
        "withheld_bound",
        "The bound that the job was not told.",
        "null: it was told one, or there was none",
    ),
    Field(
        "no_prediction",
        STRING,
        "1",
        "Why the job was told nothing: training (too few jobs had started), too-few-waits (of its cluster) or "
        "unavailable (nothing seemed to start).",
        "null: it was told a bound",
        stage=_STAGE,
        known="never",
    ),
    _number("cluster", "Which cluster of its queue the job belonged to, from 0, by rising explanatory variable.", "1"),
    _number("history_length", "Waits that the bound was made of."),
    Field("is_trimmed", BOOL, "1", "Earlier waits of the cluster were forgotten.", NEVER, stage=_STAGE, known="never"),
)


def _measure(name: str, unit: str, meaning: str, missing: str = "null: no job was told a bound") -> Field:
    """Return a measure of predictions."""
    return Field(name, FLOAT64, unit, meaning, missing, stage="evaluate", known="never")


WAIT_EVALUATION = (
    Field("method", STRING, "1", "Bound or predictor, with its parameters.", NEVER, stage="evaluate", known="never"),
    Field(
        "grouped_by",
        STRING,
        "1",
        "all, queue, month, processors or requested_time.",
        NEVER,
        stage="evaluate",
        known="never",
    ),
    Field("group", STRING, "1", "Which of these, in words; all for all.", NEVER, stage="evaluate", known="never"),
    Field(
        "jobs",
        INT64,
        "jobs",
        "Jobs that were submitted behind the training.",
        NEVER,
        stage="evaluate",
        minimum=0,
        known="never",
    ),
    Field(
        "predicted",
        INT64,
        "jobs",
        "Of these, jobs that were told a bound and whose wait is known.",
        NEVER,
        stage="evaluate",
        known="never",
    ),
    _measure("correctness", "1", "Share of these whose wait was no longer than the bound."),
    _measure("standard_error", "1", "Of the correctness, by the binomial distribution: sqrt(c (1 - c) / n)."),
    Field(
        "is_correct",
        BOOL,
        "1",
        "The correctness is no less than the quantile.",
        "null: no job was told a bound",
        stage="evaluate",
        known="never",
    ),
    _measure(
        "rms_over", "s", "Root of the mean square of bound - wait, where the bound was no less.", "null: none was"
    ),
    _measure(
        "rms_ratio",
        "1",
        "rms_over of the method that is compared with, divided by this one: above 1 is tighter. Nurmi 2009 prints it "
        "bold where is_correct.",
        "null: there is no such method, or no value",
    ),
    _measure("median_tightness", "1", "Median of bound / wait; waits below 1 s count as 1 s."),
    _measure("p90_tightness", "1", "The .9 quantile of bound / wait."),
    _measure("within_1_minute", "1", "Share of predicted jobs whose wait is within 1 minute of what was told."),
    _measure("within_10_minutes", "1", "Share of predicted jobs whose wait is within 10 minutes of what was told."),
    _measure("ratio_p5", "1", "The .05 quantile of wait / what was told, each at least 1 s; to ratio_p95 are 90 %."),
    _measure("ratio_p25", "1", "The .25 quantile of wait / what was told; from it to ratio_p75 is half of the jobs."),
    _measure("ratio_p75", "1", "The .75 quantile of wait / what was told."),
    _measure("ratio_p95", "1", "The .95 quantile of wait / what was told."),
    _measure("deadline", "s", "Deadline of the verdicts, from the submission on.", NEVER),
    _measure(
        "right_verdicts",
        "1",
        "Share of predicted jobs of which it was rightly said whether they start by the deadline.",
    ),
    _measure("best_constant", "1", "Share of verdicts that would be right if all were the same."),
    _measure("share_not_predicted", "1", "Share of the jobs that were told nothing.", "null: there are no jobs"),
    _measure(
        "withheld_correctness",
        "1",
        "Share of withheld bounds, of jobs whose wait is known, that would have been right.",
        "null: none was withheld",
    ),
)
