# SPDX-License-Identifier: BSD-3-Clause
"""Policies as agents: an episode played as any policy of the simulator decides it, to learn from or to compare with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray
from swftools.learning.episode_on_nodes import nodes_of_runs
from swftools.learning.slot import Slot, Start
from swftools.parameters.run_option_table import RunOptions
from swftools.simulator.entry_points import simulate
from swftools.simulator.machine.state import NOW
from swftools.simulator.registry import Policy, find_policy, read_policy

if TYPE_CHECKING:
    from swftools.learning.environment import SchedulingEnv


STOPPED_BY_POLICIES = ("killed", "checkpointed", "suspended", "resized")
"""How runs end that a policy stops; nodes that go down stop others, which agents start again."""


class Demonstration(NamedTuple):
    """What was seen, allowed and done at each decision of an episode, its rewards, and the ``info`` of the end.

    ``observations`` has shape (decisions, k + 1, 6), or that of a machine of nodes, ``masks`` (decisions, k + 1);
    ``actions`` and ``rewards`` have an element a decision.
    """

    observations: npt.NDArray[np.float32]
    masks: npt.NDArray[np.int8]
    actions: IntArray
    rewards: FloatArray
    info: dict[str, Any]


def demonstrate(env: SchedulingEnv, policy: str | Policy, *, seed: int = 0, **options: Any) -> Demonstration:
    """Let a policy play an episode: the actions are those that make the policy's schedule.

    So agents can learn from any policy by imitation, or be compared with it, reward by reward.

    Parameters
    ----------
    env : SchedulingEnv
        Without a warm-up, unless this policy decides the warm-up: another policy would start from another state.
    policy : str or Policy
        A policy that runs each job once, on the processors that it asks for.
    seed : int
        For the policy's draws.
    **options
        Options of ``env.reset``: ``log``, ``first``.

    Raises
    ------
    ParameterError
        There is a warm-up by another policy; or the policy stops jobs, starts them on other widths or at times of its
        own, or starts a job that is not among the first ``k`` of the queue.

    Examples
    --------
    >>> from swftools.learning import SchedulingEnv, demonstrate
    >>> shown = demonstrate(SchedulingEnv(jobs=50, warm_up=0), "conservative", first=1000)
    >>> shown.actions.shape == shown.rewards.shape, shown.info["jobs"]
    (True, 50)
    """
    seen, info = env.reset(options=options or None)
    slot = env.slot
    chosen, given = read_policy(policy)
    decides = slot.log.policy
    if slot.rules.warm_up and (chosen, chosen.chosen(given)) != decides:
        raise ParameterError(
            f"policy {chosen.name!r} cannot go on where {decides[0].name!r} decided the warm-up; give warm_up=0"
        )
    order = slot.starts_of_policy() if slot.rules.warm_up else _starts_of(slot, policy, seed)
    parts: list[tuple[Any, ...]] = []
    over, last, mask = False, slot.rules.k, info["action_mask"]
    while not over:
        action, now = last, float(slot.machine.clock[NOW])
        if order and order[0].time < now:
            raise ParameterError(
                f"policy {chosen.name!r} starts a job at {order[0].time:g} s, when nothing ends or comes: nobody is "
                "asked"
            )
        if order and order[0].time == now:
            job, _, nodes = order.pop(0)
            rows = np.flatnonzero(slot.episode.seen.job == job)
            if not len(rows):
                raise ParameterError(
                    f"policy {chosen.name!r} starts a job that is not among the first {last} of the queue; give k="
                )
            action = int(rows[0])
            slot.put_on(job, nodes)
        after, reward, over, _, info = env.step(action)
        parts.append((seen, mask, action, reward))
        seen, mask = after, info["action_mask"]
    observations, masks, actions, rewards = (np.array(column) for column in zip(*parts, strict=True))
    return Demonstration(observations, masks, actions, rewards, info)


def _starts_of(slot: Slot, policy: str | Policy, seed: int) -> list[Start]:
    """Return the starts of the jobs of an episode, in their order."""
    log, rows = slot.log, slot.coming.row
    name = find_policy(policy).name if isinstance(policy, Policy) else policy
    part = log.trace.with_jobs(log.trace.jobs.iloc[np.sort(rows)].reset_index(drop=True))
    options = replace(RunOptions.among(log.options), seed=seed).to_mapping()
    size = {"processors": log.processors} if log.nodes is None else {"machine": log.nodes}
    runs = simulate(part, policy, **size, **options, compiled=log.compiled).segments
    numbers = log.trace.jobs["job_number"].to_numpy()[rows]
    of_number = {int(number): job for job, number in enumerate(numbers)}
    found = runs["job_number"].map(of_number).to_numpy()
    is_once = len(of_number) == len(numbers) and not runs["ended_by"].isin(STOPPED_BY_POLICIES).any()
    is_as_asked = runs["allocated_processors"].to_numpy() == log.coming.processors[rows[found]]
    if not is_once or (log.nodes is None and not is_as_asked.all()):  # on nodes all run as they ask to
        raise ParameterError(
            f"policy {name!r} stops jobs, or runs them on other widths than they ask for, which no action does"
        )
    return list(map(Start, found.tolist(), runs["start_time"].tolist(), nodes_of_runs(runs)))
