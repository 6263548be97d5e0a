# SPDX-License-Identifier: BSD-3-Clause
"""A simulator of parallel job schedulers: one engine, compiled or interpreted, and policies of a dozen lines.

``simulate(trace, policy)`` returns a Schedule, ``measure`` its metrics, and ``validate`` whether it is possible.
Register a policy of your own by ``@policy``; it uses what this package exports. ``docs/add_a_policy.md`` shows how.
"""

import swftools.simulator.policies
import swftools.simulator.predictors  # noqa: F401 (imported for what they register)
from swftools.simulator.allocations import allocations_of
from swftools.simulator.entry_points import compare, simulate
from swftools.simulator.logged import logged_schedule
from swftools.simulator.machine.events import END, OUTLIVED, START, STOP, SUBMISSION
from swftools.simulator.machine.state import CHECKPOINT, ENDED, KILL, RUNNING, STARTED, STOPPED, SUSPEND, WAITING
from swftools.simulator.machine.verbs import hold, predict, preempt, resize, start, start_on, wake_at
from swftools.simulator.machine.views import (
    can_start_any,
    capacity,
    earliest_start,
    expected_time,
    first_waiting,
    fits,
    free,
    next_fitting,
    next_waiting,
    now,
    waiting_jobs,
    width,
)
from swftools.simulator.machine.waiting_queue import ANY, NOBODY
from swftools.simulator.machine.work import stretch_on, work_done
from swftools.simulator.memory_transfer import carry_nothing, renumber
from swftools.simulator.metrics.heads import find_heads
from swftools.simulator.metrics.measures import measure, summarize
from swftools.simulator.metrics.of_jobs import measure_jobs, start_delay
from swftools.simulator.metrics.over_time import max_over_time, mean_over_time, over_time
from swftools.simulator.metrics.over_time_on_nodes import nodes_over_time
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.metrics.prediction_errors import prediction_errors
from swftools.simulator.metrics.wait_reasons import sum_wait_reasons, wait_reasons, wait_reasons_over_time
from swftools.simulator.nodes.gpus.inflation import inflate
from swftools.simulator.policies.easy import start_heads
from swftools.simulator.policies.ordered_easy import backfill_in_turn
from swftools.simulator.policies.pv_easy import Manner, PvEasyParameters, by_key, decide_pv_easy, no_shadow
from swftools.simulator.predictors.kinds import Predictor, PythonPredictor
from swftools.simulator.predictors.registry import (
    find_predictor,
    foretold,
    list_predictors,
    predictor,
    python_predictor,
)
from swftools.simulator.questions.fairness import delays_at_heads, delays_from_submission
from swftools.simulator.questions.fit_semantics import fit_semantics
from swftools.simulator.questions.policy_watch import find_worse, watch_policies
from swftools.simulator.questions.slurm_starts import SlurmStarts, slurm_starts
from swftools.simulator.questions.what_if import free_windows, what_if
from swftools.simulator.registry import Policy, find_policy, list_policies, policy
from swftools.simulator.schedule import Schedule
from swftools.simulator.search.decision import explain_decision
from swftools.simulator.search.measures import planned_measure
from swftools.simulator.search.notes import recorded_search
from swftools.simulator.simulation import Simulation
from swftools.simulator.stepping.gpu_queues import simulate_on_gpus
from swftools.simulator.stepping.python_policies import python_policy
from swftools.simulator.stepping.stepper import Stepper
from swftools.simulator.validation.report import ValidationReport, validate

__all__ = [
    "ANY",
    "CHECKPOINT",
    "END",
    "ENDED",
    "KILL",
    "NOBODY",
    "OUTLIVED",
    "RUNNING",
    "START",
    "STARTED",
    "STOP",
    "STOPPED",
    "SUBMISSION",
    "SUSPEND",
    "WAITING",
    "Manner",
    "MetricParameters",
    "Policy",
    "Predictor",
    "PvEasyParameters",
    "PythonPredictor",
    "Schedule",
    "Simulation",
    "SlurmStarts",
    "Stepper",
    "ValidationReport",
    "allocations_of",
    "backfill_in_turn",
    "by_key",
    "can_start_any",
    "capacity",
    "carry_nothing",
    "compare",
    "decide_pv_easy",
    "delays_at_heads",
    "delays_from_submission",
    "earliest_start",
    "expected_time",
    "explain_decision",
    "find_heads",
    "find_policy",
    "find_predictor",
    "find_worse",
    "first_waiting",
    "fit_semantics",
    "fits",
    "foretold",
    "free",
    "free_windows",
    "hold",
    "inflate",
    "list_policies",
    "list_predictors",
    "logged_schedule",
    "max_over_time",
    "mean_over_time",
    "measure",
    "measure_jobs",
    "next_fitting",
    "next_waiting",
    "no_shadow",
    "nodes_over_time",
    "now",
    "over_time",
    "planned_measure",
    "policy",
    "predict",
    "prediction_errors",
    "predictor",
    "preempt",
    "python_policy",
    "python_predictor",
    "recorded_search",
    "renumber",
    "resize",
    "simulate",
    "simulate_on_gpus",
    "slurm_starts",
    "start",
    "start_delay",
    "start_heads",
    "start_on",
    "stretch_on",
    "sum_wait_reasons",
    "summarize",
    "validate",
    "wait_reasons",
    "wait_reasons_over_time",
    "waiting_jobs",
    "wake_at",
    "watch_policies",
    "what_if",
    "width",
    "work_done",
]
