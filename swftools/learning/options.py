# SPDX-License-Identifier: BSD-3-Clause
"""The options of environments, for one machine and for many: their names, types and defaults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, TypedDict

from swftools.learning.costs import find_cost
from swftools.learning.episode_log import EpisodeLog
from swftools.learning.logs import Logs
from swftools.learning.rules import Rules
from swftools.machines.description import MachineDescription
from swftools.machines.node_table import NodeTable
from swftools.parameters import refuse_unknown
from swftools.simulator.nodes.away.on_outage import Lost, OnOutage
from swftools.simulator.nodes.placement import Placement
from swftools.simulator.predictors.kinds import Predictor
from swftools.simulator.registry import Policy
from swftools.simulator.requested_times import Logged
from swftools.simulator.restart import Column, Uniform
from swftools.simulator.schedule import Schedule
from swftools.trace import Trace

Given = Trace | EpisodeLog | Sequence[Trace | EpisodeLog] | None
"""What episodes may be parts of; None: 5,000 jobs of a model."""


class EnvOptions(TypedDict, total=False):
    """The options by name; ``SchedulingEnv`` says what each is. Those of a run are written by ``make run-options``."""

    k: int
    jobs: int
    warm_up: int
    choice: str
    reward: str | Callable[[Schedule], float]
    dense: bool
    reference: str | Policy | None
    policy: str | Policy
    weights: Sequence[float] | None
    machine: str | PathLike[str] | MachineDescription | NodeTable | None
    processors: int | None
    predictor: str | Predictor
    requests: str | Logged
    overrun: str
    cancelled: str
    restart_overhead: float | str | Uniform | Column
    dependencies: str
    placement: str | Placement
    heads: str
    on_outage: str | OnOutage | Lost
    seed: int
    compiled: bool | str


def rules_and_logs(log: Given, options: EnvOptions) -> tuple[Rules, Logs]:
    """Return what the episodes of an environment are like, and the logs that they are parts of.

    Raises
    ------
    ParameterError
        An option is unknown, or has another value; a log has fewer jobs than an episode, or jobs without requested
        time.
    """
    refuse_unknown("SchedulingEnv", options, list(EnvOptions.__annotations__))
    given: dict[str, Any] = {
        "k": 128,
        "jobs": 256,
        "warm_up": 64,
        "choice": "fits",
        "reward": "bounded_slowdown",
        "dense": True,
        **options,
    }
    cost, dense = find_cost(given.pop("reward")), bool(given.pop("dense"))
    rules = Rules(**{name: given.pop(name) for name in ("k", "jobs", "warm_up", "choice")}, cost=cost, dense=dense)
    logs = Logs(log, given.pop("weights", None), **given)
    logs.check_length(rules.length)
    return rules, logs
