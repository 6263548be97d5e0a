# SPDX-License-Identifier: BSD-3-Clause
"""Queues of a machine whose GPUs are told apart: first come first served, and EASY, each job on one node.

The engine has the times, the queue and the nodes; which of these a job gets, and which GPUs, is decided here from
outside (``Stepper``). The engine counts the GPUs of a node together; who fits each by itself fits so too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.errors import ParameterError
from swftools.machines.asked import Asked
from swftools.machines.node_table import GPU, NodeTable
from swftools.machines.requests import ask_of
from swftools.parameters.spelling import require_known
from swftools.simulator.nodes.gpus.choosing import GpuPlacement, find_gpu_placement
from swftools.simulator.nodes.gpus.cluster import Cluster, Held
from swftools.simulator.nodes.gpus.inflation import DROPPED
from swftools.simulator.nodes.gpus.workload import Asks, Typical, asks_of, models_of, typical_of
from swftools.simulator.schedule import Schedule
from swftools.simulator.stepping.stepper import Stepper
from swftools.trace import Trace

POLICIES = ("fcfs", "easy")


class GpuSchedule(NamedTuple):
    """A schedule, and by row of the trace the GPUs that each job had on its node."""

    schedule: Schedule
    gpus: dict[int, list[int]]


class _Reservation(NamedTuple):
    """What is kept for a waiting job of a class: from when on, s, on which node; and the machine then, without it."""

    kind: int
    time: float
    node: int
    then: Cluster


def simulate_on_gpus(
    trace: Trace,
    machine: NodeTable,
    placement: str | GpuPlacement = "fgd",
    policy: str = "easy",
    typical: Typical | None = None,
) -> GpuSchedule:
    """Return the schedule of a log whose jobs wait for GPUs that are told apart.

    At one instant all ends come first, then all submissions, then one decision. Jobs start in the order of the queue
    while they fit. Under ``easy`` the first that does not fit has a reservation: the earliest time at which it fits a
    node if running jobs end as expected, and the node that the placement gives it then. Others go ahead if they end by
    then, or leave room for it on its node.

    Parameters
    ----------
    trace : Trace
        The log; each job asks for one node. Cores and memory are rounded up to whole cores and MB.
    machine : NodeTable
        The machine.
    placement : str or GpuPlacement
        As ``fgd``.
    policy : str
        ``fcfs`` or ``easy``.
    typical : Typical, optional
        By which fragments are told; that of the trace by default.

    Raises
    ------
    ParameterError
        There is no such placement or policy, a job asks for several nodes, or the machine or a job is not as
        ``gpu_nodes`` and ``asks_of`` take them.
    """
    require_known(f"policy {policy!r} does not know GPUs apart", policy, POLICIES)
    asked = ask_of(trace, machine)
    if (asked.nodes > 1).any() or asked.is_exclusive.any():
        row = int(np.argmax((asked.nodes > 1) | asked.is_exclusive))
        raise ParameterError(
            f"job {trace.jobs['job_number'].iloc[row]} asks for several nodes, or for one alone: where GPUs are told "
            "apart each job is of one node, which it shares"
        )
    own, texts = asks_of(trace, models_of(machine))
    cluster = Cluster(machine, find_gpu_placement(placement), _rounded(own, asked), typical or typical_of(own, texts))
    return _Run(trace, machine, cluster, is_easy=policy == "easy").finish()


def _rounded(own: Asks, asked: Asked) -> Asks:
    """Return what jobs ask for as the engine counts it, which rounds up."""
    told = np.stack([1000 * asked.cores, asked.memory, asked.gpus, own.models[own.which]], axis=1)
    rows, which = np.unique(told, axis=0, return_inverse=True)
    cpu, memory, gpus, models = (np.ascontiguousarray(column) for column in rows.T)
    return Asks(cpu, memory, -(-gpus // GPU), np.minimum(gpus, GPU), models, which.ravel().astype(np.int64))


class _Run:
    """One simulation."""

    def __init__(self, trace: Trace, machine: NodeTable, cluster: Cluster, *, is_easy: bool) -> None:
        self.stepper = Stepper(trace, "easy", machine=machine)
        self.cluster, self.is_easy = cluster, is_easy
        self.held: dict[int, Held] = {}
        self.had: dict[int, list[int]] = {}

    def finish(self) -> GpuSchedule:
        """Run to the end."""
        stepper = self.stepper
        while stepper.advance():
            running = set(stepper.running.tolist())
            for job in [job for job in self.held if job not in running]:
                self.cluster.end(self.held.pop(job))
            self._decide()
        return GpuSchedule(stepper.schedule(), self.had)

    def _row(self, job: int) -> int:
        """Return the row of a job in the trace."""
        return int(self.stepper._simulation._rows[job])

    def _kind(self, job: int) -> int:
        """Return the class of a job."""
        return int(self.cluster.asks.which[self._row(job)])

    def _start(self, job: int, node: int) -> None:
        """Start a job on a node."""
        kind = self._kind(job)
        held = self.cluster.begin(kind, node)
        self.stepper.start(job, nodes=[node])
        self.held[job] = held
        self.had[self._row(job)] = [gpu for gpu in range(held.bits.bit_length()) if held.bits >> gpu & 1]

    def _decide(self) -> None:
        """Start who may."""
        waiting = self.stepper.waiting.tolist()
        place = 0
        while place < len(waiting) and (node := self.cluster.find(self._kind(waiting[place]))) != DROPPED:
            self._start(waiting[place], node)
            place += 1
        if not self.is_easy or place >= len(waiting) - 1:
            return
        kept = self._reserve(waiting[place])
        for job in waiting[place + 1 :]:
            self._try_ahead(job, kept)

    def _reserve(self, head: int) -> _Reservation:
        """Reserve for a job that does not fit now."""
        stepper, then, kind = self.stepper, self.cluster.copy(), self._kind(head)
        time = stepper.now
        running = stepper.running.tolist()
        while running:
            time = max(stepper.now, float(stepper.expected_end[running[0]]))
            while running and float(stepper.expected_end[running[0]]) <= time:
                then.end(self.held[running.pop(0)])
            if (node := then.find(kind)) != DROPPED:
                return _Reservation(kind, time, node, then)
        raise AssertionError("a job that fits the idle machine does not fit it")

    def _try_ahead(self, job: int, kept: _Reservation) -> None:
        """Start a job behind the first one, if it fits and delays it not."""
        stepper, kind = self.stepper, self._kind(job)
        if (node := self.cluster.find(kind)) == DROPPED:
            return
        if stepper.now + float(stepper.estimated_time[job]) <= kept.time:
            self._start(job, node)
            return
        if node == kept.node and not self._leaves_room(kind, kept):
            node = self._find_beside(kind, kept.node)
        if node == DROPPED:
            return
        self._start(job, node)
        if node == kept.node:
            kept.then.hold(self.held[job])

    def _leaves_room(self, kind: int, kept: _Reservation) -> bool:
        """Whether the first waiting job fits the reserved node then, beside another on GPUs that are free now."""
        now, then = self.cluster.copy(), kept.then.copy()
        return then.hold(now.begin(kind, kept.node)) and then.fits(kept.kind, kept.node)

    def _find_beside(self, kind: int, node: int) -> int:
        """Return the node that a job would get if one of them were full."""
        full = self.cluster.nodes.cpu[node]
        self.cluster.nodes.cpu[node] = -1
        found = self.cluster.find(kind)
        self.cluster.nodes.cpu[node] = full
        return found
