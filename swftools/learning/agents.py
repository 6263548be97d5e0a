# SPDX-License-Identifier: BSD-3-Clause
"""Agents as policies: whoever chooses by what the environment shows decides in the simulator, too."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import IntArray, kernel
from swftools.kernel.layout import Layout
from swftools.learning.episode_on_nodes import nodes_of_runs
from swftools.learning.network import Network, calling_module
from swftools.learning.observation import (
    FEATURES,
    FITS,
    FREE_SHARE,
    GOES_AHEAD,
    ObservedJobs,
    empty_seen,
    observe,
    seen_at,
)
from swftools.learning.observed_nodes import ObservedOnNodes, form_of, on_this_machine, seen_on_nodes_at
from swftools.learning.rules import CHOICES
from swftools.machines.node_table import GPU
from swftools.parameters import is_whole
from swftools.parameters.small_files import hash_of_file
from swftools.simulator.entry_points import simulate
from swftools.simulator.nodes.words import amounts_of
from swftools.simulator.policy_abi import machine_at
from swftools.simulator.simulation import Simulation
from swftools.simulator.stepping.chosen_nodes import order_of
from swftools.simulator.stepping.python_policies import python_policy
from swftools.simulator.stepping.stepper import Stepper
from swftools.trace import Trace

Agent = Callable[[Any, Any], int]
"""Takes observation and mask, and returns an action."""


def agent_policy(
    name: str,
    agent: Agent | Any,
    *,
    k: int = 128,
    choice: str = "fits",
    version: int = 1,
    weights: str | PathLike[str] | None = None,
) -> None:
    """Register an agent as a policy, so that ``simulate``, ``compare`` and all others take it by name.

    Parameters
    ----------
    name : str
        Its name, by which it is asked for; in a module of your own ``module:name``.
    agent : callable, or an object with ``predict``
        Takes the observation, shape (k + 1, 6), or as a machine of nodes is seen, and the mask, shape (k + 1,), as
        ``SchedulingEnv`` shows them, and returns an action. Or an object with the usual method of libraries,
        ``predict(observation, action_masks=..., deterministic=True)``, which returns action and state. It must return
        the same action for the same input; otherwise schedules cannot be repeated.
    k, choice
        The values that it was trained with.
    version : int
        Version of its schedules: raise it when they change.
    weights : path, optional
        The file that the agent was read from. Published versions then depend on its content, and on the module.

    Raises
    ------
    ParameterError
        The name is taken, an option has an unknown value, or there is no such file.

    Examples
    --------
    An agent that takes the first job that fits:

    >>> from swftools.learning import agent_policy, default_log
    >>> from swftools.simulator import simulate
    >>> agent_policy("example-first-fit", lambda observation, mask: int(mask.argmax()), k=16)
    >>> len(simulate(default_log(), "example-first-fit").jobs)
    5000
    """
    if not is_whole(k, 1, 2**31 - 1):
        raise ParameterError(f"k={k!r} is not an integer of 1 or more")
    if choice not in CHOICES:
        raise ParameterError(f"choice={choice!r} is not one of: {', '.join(CHOICES)}")
    choose = choosing(agent)
    eye = Eye(k, choice == "reserve")

    def decide(stepper: Stepper) -> None:
        eye.act_on(stepper, choose)

    stamp = _hash_of(weights) if weights is not None else agent.stamp if isinstance(agent, Network) else ""
    python_policy(name, version=version, made_in=calling_module(), stamp=stamp)(decide)


def _hash_of(path: str | PathLike[str]) -> str:
    """Return the hash of a file."""
    try:
        return hash_of_file(path)
    except OSError as error:
        raise ParameterError(f"weights={str(path)!r}: cannot be read: {error.strerror}") from error


def choosing(agent: Agent | Any) -> Agent:
    """Return a function of observation and mask, whatever form an agent has."""
    predict = getattr(agent, "predict", None)
    if predict is None:
        if not callable(agent):
            raise ParameterError(f"agent {agent!r:.60} is neither a function of observation and mask nor has predict()")
        function: Agent = agent
        return function
    if "action_masks" in inspect.signature(predict).parameters:
        return lambda seen, mask: int(predict(seen, action_masks=mask.astype(bool), deterministic=True)[0])
    return lambda seen, _: int(predict(seen, deterministic=True)[0])


def what_it_saw(
    trace: Trace, policy: str, job_number: int, agent: Agent | Any = None, *, k: int = 128, **options: Any
) -> pd.DataFrame:
    """Return what a policy saw when it started a job: a row for each action, one of which is ``chosen``.

    Parameters
    ----------
    trace : Trace
        The log.
    policy : str
        Any policy; what it saw is described in the terms of the environment.
    job_number : int
        The job.
    agent : optional
        With ``scores(observation)``, such as a ``Network``: its scores become a column.
    k : int
        Jobs that are seen.
    **options
        Options of ``simulate``; ``overrun="run-on"`` by default, as in the environment.

    Returns
    -------
    pandas.DataFrame
        A row for each waiting job, and one for waiting, whose ``job_number`` is missing: ``processors``,
        ``estimated_time`` and ``waited`` (s), ``fits``, ``goes_ahead`` (it would not delay the head), ``allowed``,
        ``chosen``, ``score``. The same in each row: processors that were ``free``, the time until the first job of the
        queue could start (``time_to_head``, s), the extra processors then (``spare``), and how many jobs were
        ``waiting``. On a machine of nodes also what each job asks for: ``nodes``, of each of them ``cores_per_node``,
        ``memory_per_node`` (MB) and ``gpus_per_node``, whether it ``is_exclusive``, and its ``partitions``.

    Raises
    ------
    ParameterError
        The job is not in the trace, never starts, or was not among the first k of the queue when it started.
    """
    options = {"overrun": "run-on"} | options
    stepper, eye = Stepper(trace, "fcfs", **options), Eye(k, reserves=False)
    runs = simulate(trace, policy, **options).segments
    order = list(zip(runs["job_number"].tolist(), runs["start_time"].tolist(), nodes_of_runs(runs), strict=True))
    if job_number not in runs["job_number"].tolist():
        raise ParameterError(f"job {job_number} is not started by policy {policy!r} in this trace")
    if runs["job_number"].duplicated().any():
        raise ParameterError(
            f"what_it_saw needs jobs that run once and have unique numbers; policy {policy!r} stops jobs, nodes go "
            "down where they run, or numbers repeat"
        )
    _play_until(stepper, order, job_number)
    eye.look(stepper)
    shown = int((eye.seen.job >= 0).sum())
    rows, jobs, waits = [*range(shown), k], eye.seen.job[:shown], [None]
    numbers = [stepper.job_number(job) for job in jobs]
    if job_number not in numbers:
        raise ParameterError(f"job {job_number} was not among the first {k} of the queue when it was started; give k=")
    to_head, spare = _room_of_head(stepper, int(jobs[0]))
    is_so = eye.observation[:shown, [FITS, GOES_AHEAD]] > 0
    table = pd.DataFrame(
        {
            "job_number": pd.array([*numbers, *waits], dtype="Int64"),
            "processors": pd.array([*stepper.width[jobs], *waits], dtype="Int64"),
            "estimated_time": [*stepper.estimated_time[jobs], np.nan],
            "waited": [*stepper.now - stepper.submit_time[jobs], np.nan],
            "fits": pd.array([*is_so[:, 0], *waits], dtype="boolean"),
            "goes_ahead": pd.array([*is_so[:, 1], *waits], dtype="boolean"),
            "allowed": eye.seen.mask[rows] > 0,
            "chosen": [number == job_number for number in [*numbers, *waits]],
            "free": round(float(eye.observation[k, FREE_SHARE]) * stepper.processors),
            "time_to_head": to_head,
            "spare": spare,
            "waiting": len(stepper.waiting),
        }
    )
    if stepper._simulation.nodes is not None:
        table = table.assign(**_asked_of_nodes(stepper, jobs))
    if hasattr(agent, "scores"):
        table.insert(8, "score", agent.scores(eye.observation[None, : k + 1])[0][rows])
    return table


def _room_of_head(stepper: Stepper, head: int) -> tuple[float, int]:
    """Return when the first job of the queue can start, s from now, and how many processors are left then."""
    if stepper._simulation.nodes is None:
        times, free = stepper.free_over_time()
        place = int((free >= stepper.width[head]).argmax())
        return float(times[place] - stepper.now), int(free[place] - stepper.width[head])
    time, spare = stepper.shadow()
    return time - stepper.now, spare


def _asked_of_nodes(stepper: Stepper, jobs: IntArray) -> dict[str, Any]:
    """Return what jobs ask of nodes, in columns, with a last row of what waits."""
    machine: Any = stepper._machine
    table: Any = stepper._simulation.nodes
    cores, memory, gpus, is_exclusive = amounts_of(machine.asked.need[jobs])
    sets, partition = machine.places.sets, machine.places.partition
    where = [partition[sets[place] : sets[place + 1]] for place in machine.asked.place[jobs]]
    return {
        "nodes": pd.array([*machine.asked.nodes[jobs].tolist(), None], dtype="Int64"),
        "cores_per_node": pd.array([*cores.tolist(), None], dtype="Int64"),
        "memory_per_node": pd.array([*memory.tolist(), None], dtype="Int64"),
        "gpus_per_node": [*(gpus / GPU), np.nan],
        "is_exclusive": pd.array([*is_exclusive.tolist(), None], dtype="boolean"),
        "partitions": [*(",".join(table.partitions[each].name for each in own) for own in where), None],
    }


def _play_until(stepper: Stepper, order: list[tuple[int, float, IntArray]], job_number: int) -> None:
    """Start jobs when, and in the order in which, they were started, up to one that is not started yet."""
    simulation, done = stepper._simulation, 0
    numbers = simulation.trace.jobs["job_number"].to_numpy()[simulation._rows]
    job_of = {int(number): job for job, number in enumerate(numbers)}
    while stepper.advance(to="event"):
        while order[done][1] == stepper.now:
            number, _, nodes = order[done]
            if number == job_number:
                return
            stepper.start(job_of[number], nodes if len(nodes) else None)
            done += 1


class Eye:
    """What an agent sees of any simulation."""

    def __init__(self, k: int, reserves: bool) -> None:
        self._k, self._reserves = k, reserves
        self.seen: ObservedJobs | ObservedOnNodes = empty_seen(k, reserves=reserves)
        self.observation = self.seen.observation.reshape(k + 1, FEATURES)
        self._layout: Layout | None = None
        self._places: Any = None

    def look(self, stepper: Stepper) -> bool:
        """Look; return whether there is a job to choose."""
        self._turn_to(stepper._simulation)
        driver = stepper._simulation._driver
        place, seen, look_at = driver.seat.places[1], self.seen, driver.called.taken(_look_kernel())
        if not isinstance(place, int):
            return bool(look_at(seen, place))
        if self._layout is None:
            self._layout = Layout(seen, (seen_at if self._places is None else seen_on_nodes_at).example)
        return bool(look_at(self._layout.address, place))

    def _turn_to(self, simulation: Simulation) -> None:
        """Make room for what is seen of a machine, unless it is the one that was looked at before."""
        table, machine = simulation.nodes, simulation._machine
        places = None if table is None else machine.places.sets  # type: ignore[attr-defined]
        if places is self._places:
            return
        form = form_of(table)
        seen = empty_seen(self._k, reserves=self._reserves, form=form)
        self.observation = seen.observation.reshape(self._k + 1 + form.further, form.columns)
        self._places, self._layout, self.seen = places, None, seen
        if table is not None:
            given: Any = machine
            self.seen = on_this_machine(seen, given.places, table, order_of(simulation))

    def act_on(self, stepper: Stepper, choose: Agent) -> None:
        """Let an agent choose until it waits, or nothing is left to choose."""
        self._turn_to(stepper._simulation)
        seen, last = self.seen, len(self.seen.job)
        while stepper.free and self.look(stepper):
            action = int(choose(self.observation.copy(), seen.mask.copy()))
            if not 0 <= action <= last:
                raise ParameterError(f"the agent chose {action}, which is not from 0 to {last}")
            if not seen.mask[action]:
                action = last if seen.mask[last] else int(seen.mask.argmax())
            if action == last:
                return
            job = int(seen.job[action])
            fits = self.observation[action, FITS] > 0
            stepper.start_or_fill(job)
            if not fits or not len(stepper.waiting):
                return


def look(seen: Any, machine: Any) -> bool:
    """Look at a machine that lies at a place."""
    return observe(machine_at(machine), seen_at(seen))


@cache
def _look_kernel() -> Any:
    from numba import types  # noqa: PLC0415 (takes half a second, and is needed from here on)

    return kernel(types.boolean(types.int64, types.int64), allocates=False)(look)
