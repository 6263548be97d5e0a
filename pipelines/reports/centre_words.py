# SPDX-License-Identifier: BSD-3-Clause
"""What the words of the report "our centre" mean: each heading of its tables, its pictures, the reasons of waits."""

from __future__ import annotations

from pipelines.reports.report import ReportTable
from swftools.simulator.metrics.wait_reasons import REASONS, reason_in_words
from swftools.waits import WaitStudy

WORDS = {
    "in short": "jobs that ran: those of which the log tells submission, start, run time and processors (and nodes, "
    "on a machine of nodes); time used: utilization from the first submission to the last end; the rest as below",
    "jobs": "how many jobs of the log ran that are meant; in tables of reasons: how many waited for it at any moment",
    "wait": "from submission to the first start",
    "waited": "the share of jobs that waited at all",
    "median wait": "half of the jobs wait no longer",
    "90 % wait": "nine tenths of the jobs wait no longer",
    "98 % wait no longer": "the wait that 98 % of the jobs do not exceed",
    "mean wait": "the sum of all waits / the number of jobs",
    "node-hours waited": "waits x nodes; a job on a part of a node counts as its share of the cores",
    "processor-hours waited": "waits x processors",
    "job-hours waited": "the sum of the waits of jobs, of whatever size",
    "share": "of all node-hours (or processor-hours) that were waited; in the part on a partition, those of its jobs",
    "waited for": "what stood in the way at a moment, the first that applies; the parts of a wait add up to it",
    "load": "the processor time of the jobs that were submitted in a month / that of all processors in it; of a "
    "partition, of its own jobs and processors, which others may have too",
    "utilization": "the processor time of the jobs that ran in a month / that of all processors in it; in the picture "
    "at each moment, longer logs as means of equal times",
    "queue": "in tables: that which the log names; in pictures: the jobs that were submitted and do not run, at each "
    "moment (the thin line: the longest queue of each time of which the mean is drawn)",
    "waits by hour": "the median wait of the jobs that were submitted in that hour of that weekday, by the log's clock",
    "what jobs wait for": "how many jobs wait for what at each moment, one above the other",
    "cores, memory, gpus and nodes in use": "the shares that running jobs hold, and of nodes that run any job",
    "cores in use": "the core time that jobs held / that of these nodes, from the first submission to the last end",
    "memory in use": "the same of memory: what jobs asked for",
    "gpus in use": "the same of GPUs",
    "nodes": "how many of them the machine has",
    "fragmentation of the nodes": "the share of the time in which the first waiting job has room in sum, and not on "
    "the nodes that it needs",
    "asked for": "time: run time / requested time; memory: used / requested; processors: their own time / run time",
    "used in all": "what all jobs used / what all asked for, weighed by processors, memory by run time too",
    "median job": "what the job in the middle used of what it asked for",
    "less than half used": "the share of jobs that used less than half of what they asked for",
    "all used": "the share of jobs that used all of it, or more",
    "share set": "what the shares of an account, and of those above it, give it of the machine",
    "served": "the share of all processor time of the log that its jobs had",
    "ratio": "served / share set",
    "month": "of submission, by the clock of the log",
    "hour": "of submission, by the clock of the log",
    "weekday": "of submission, by the clock of the log",
    "partition": "in which a job ran first",
    "account": "of the job; the group where the log has no accounts",
    "qos": "the quality of service that the job had",
    "user": "whose job it is",
    "processors": "that a job had; in the head of the page: those of the machine",
    "gpus": "that a job had",
    "time limit": "the time that a job requested",
}
"""Words in small letters, and what they mean; headings of tables without their units, and titles of pictures."""


def words_table(study: WaitStudy) -> ReportTable:
    """Return what the words of the report mean, and the reasons for which jobs wait."""
    other = {"node-hours": "processor-hours waited", "processor-hours": "node-hours waited"}[study.unit]
    told = {word: meaning for word, meaning in WORDS.items() if word != other}
    for reason, meaning in REASONS.items():
        word = reason_in_words(reason).lower()
        told[word] = f"{told[word]}; waited for: {meaning}" if word in told else f"waited for: {meaning}"
    return ReportTable(["word", "meaning"], [[*row] for row in told.items()], explains=True)
