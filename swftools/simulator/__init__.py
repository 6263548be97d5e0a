"""A simulator of parallel job schedulers: one engine, compiled or interpreted, and policies of a dozen lines.

``simulate(trace, policy)`` returns a Schedule; ``measure`` its metrics; ``validate`` whether it can be. A policy of
one's own is registered by ``@policy`` and uses what this package exports; ``docs/add_a_policy.md`` shows how.
"""

import swftools.simulator.policies  # noqa: F401 (imported for what it registers)
from swftools.simulator.interface import (
    CAPACITY,
    ENDED,
    FREE,
    PREEMPTED,
    RUNNING,
    STARTED,
    WAITING,
    can_start_any,
    earliest_start,
    first_waiting,
    next_waiting,
    preempt,
    start,
    start_on,
    stretch_on,
    wake_at,
)
from swftools.simulator.metrics.measures import measure, summarize
from swftools.simulator.metrics.of_jobs import measure_jobs, start_delay
from swftools.simulator.metrics.over_time import max_over_time, mean_over_time, over_time
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.predictors import Exact, Factor, LastModel, Predictor, Request, Tsafrir, Virtual
from swftools.simulator.registry import Policy, find_policy, list_policies, policy
from swftools.simulator.schedule import Schedule
from swftools.simulator.simulation import simulate
from swftools.simulator.validation.report import ValidationReport, validate
from swftools.simulator.waiting_queue import ANY, NOBODY, next_fitting

__all__ = [
    "ANY",
    "CAPACITY",
    "ENDED",
    "FREE",
    "NOBODY",
    "PREEMPTED",
    "RUNNING",
    "STARTED",
    "WAITING",
    "Exact",
    "Factor",
    "LastModel",
    "MetricParameters",
    "Policy",
    "Predictor",
    "Request",
    "Schedule",
    "Tsafrir",
    "ValidationReport",
    "Virtual",
    "can_start_any",
    "earliest_start",
    "find_policy",
    "first_waiting",
    "list_policies",
    "max_over_time",
    "mean_over_time",
    "measure",
    "measure_jobs",
    "next_fitting",
    "next_waiting",
    "over_time",
    "policy",
    "preempt",
    "simulate",
    "start",
    "start_delay",
    "start_on",
    "stretch_on",
    "summarize",
    "validate",
    "wake_at",
]
