# SPDX-License-Identifier: BSD-3-Clause
"""A queue that is followed while it goes on: jobs are submitted, end, are cancelled; processors go away."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, Self

import numpy as np
import pandas as pd

from swftools.errors import ParameterError, PolicyError
from swftools.kernel import IntArray, kernel
from swftools.parameters import is_whole
from swftools.parameters.choices import INSTANT
from swftools.simulator.engine.replay import (
    AT_EVENTS,
    DECIDING,
    NOT_DECIDING,
    coming_at,
    replay_at,
)
from swftools.simulator.machine.event_queue import push
from swftools.simulator.machine.state import AWAY, CAPACITY, FREE, KILL, NOW, STARTED, STOPPED, WAKE
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.machine.work import stretch_on
from swftools.simulator.policy_abi import machine_at
from swftools.simulator.schedule import Schedule
from swftools.simulator.stepping.actions import Acts
from swftools.simulator.stepping.shadow_on_nodes import shadow_on_nodes
from swftools.simulator.stepping.submissions import add_job

FOR_GOOD = 100 * 365.25 * 86_400.0
"""How long processors are away that do not come back, s."""


class Follows(Acts):
    """What a ``Stepper`` can be told while it runs."""

    _present: float
    _away: dict[int, float]
    _for_good: float
    origin: IntArray | None

    @property
    def present(self) -> float:
        """The present time, s: how far it was let go on, which may be later than ``now``, when something happened."""
        return max(self._simulation.now, self._present)

    def run(self, until: float | None = None, *, before: float | None = None) -> Self:
        """Let the policy decide, to the end or to a time; return itself.

        Parameters
        ----------
        until : float, optional
            A time, s, whose events still happen, and which is the present from then on.
        before : float, optional
            The same, but what happens at that time is still to come: jobs can be submitted that come together with it.
        """
        if until is not None and before is not None:
            raise ParameterError("give until= or before=, not both")
        if before is not None:
            until = float(np.nextafter(before, -np.inf))
        self._simulation.run(until)
        self._was_run_to(until if before is None else before)
        return self

    def submit(
        self,
        processors: int | None = None,
        requested_time: float | None = None,
        run_time: float | None = None,
        *,
        at: float | None = None,
        job_number: int | None = None,
        user: int | None = None,
        queue: int | None = None,
        **columns: Any,
    ) -> int:
        """Submit a job, at the present time or later.

        At the present time it waits at once, unless the decision of this instant is made: then there is another one.

        Parameters
        ----------
        processors : int
            That it asks for. On a machine of nodes, where ``requested_nodes`` or others say it, not needed.
        requested_time : float, optional
            How long it may run, s.
        run_time : float, optional
            How long it does run, s, which the policy is not told; without it, as long as it may, or until ``end``.
        at : float, optional
            When, s; without it now.
        job_number : int, optional
            What it is called; without it by the next number that no job has.
        user, queue : int, optional
            Their numbers.
        **columns
            Others that the trace's jobs have, such as ``priority_rank``. With ``preceding_job_number`` it waits for the
            end of that job, and for ``think_time`` (s) more, where the run follows dependencies. On a machine of nodes
            also what it asks of them, whether the trace has it or not: ``requested_nodes``,
            ``requested_cores_per_node``, ``requested_memory_per_node`` (MB), ``requested_gpus_per_node``,
            ``constraints``, ``is_exclusive``.

        Returns
        -------
        int
            The job. Those that are to come behind it are numbered anew, and no others.

        Raises
        ------
        ParameterError
            It is no job that could be simulated, is wider than the machine, or would have come in the past.
        PolicyError
            Something was done in this decision already; or predictor or requests depend on all jobs at once.
        """
        simulation = self._simulation
        simulation._check_whole()
        time = self._time(at)
        told = {"user_id": user, "queue_id": queue, "requested_time": requested_time, "run_time": run_time}
        number = simulation._table.next_number if job_number is None else job_number
        if not is_whole(number, 0):
            raise ParameterError(f"job_number={number!r} is not a whole number from 0 on")
        is_now = self._begins_again(time)
        job = add_job(
            simulation,
            {"job_number": number, "submit_time": time, "requested_processors": processors}
            | {name: value for name, value in told.items() if value is not None}
            | columns,
        )
        if self.origin is not None:
            self.origin = np.insert(self.origin, job, NOBODY)
        if is_now:
            self._again()
        return job

    def end(self, job: int, at: float | None = None) -> Self:
        """Let a running job end, at the present time or later, whatever its run time was said to be; return itself.

        Raises
        ------
        ParameterError
            The time is past.
        PolicyError
            The job does not run; or something was done in this decision already.
        """
        simulation = self._simulation
        simulation._check_whole()
        time = self._time(at)
        machine = simulation._machine
        if not 0 <= job < simulation._driver.jobs or machine.run[job] < 0:
            raise PolicyError(f"job {job} does not run: jobs that do are those of running, once their start is decided")
        is_now = self._begins_again(time)
        kernel = end_run_kernel()
        (kernel.compiled if simulation._driver.called.is_compiled else kernel.py_func)(
            *simulation._driver.seat.places, int(job), time
        )
        if is_now:
            self._again()
        return self

    def cancel(self, job: int) -> Self:
        """Take a job out that waits, runs, is held back or is to come; return itself.

        It is excluded from the schedule, runs and all. If its processors become free the policy decides again.
        """
        simulation, known = self._simulation, self._simulation._driver.jobs
        simulation._check_whole()
        if not is_whole(job, 0, known - 1):
            raise PolicyError(f"there is no job {job}")
        if job in self._away:
            raise PolicyError(f"job {job} stands for processors that failed: end it to bring them back")
        self._check_untouched()
        mask = np.zeros(len(simulation._table), np.bool_)
        mask[simulation._rows[job]] = True
        clock = self._machine.clock
        if not self.is_deciding and np.isfinite(self.present):
            clock[NOW] = self.present  # nothing happened since ``now``
        others_may_start, order = simulation._take_out(mask)
        if self.origin is not None:
            self.origin = self.origin[order]
        if others_may_start and not self.is_deciding:
            clock[WAKE] = min(clock[WAKE], clock[NOW])
        return self

    def take_away(self, processors: int, until: float | None = None, how: int = KILL) -> int:
        """Take processors away at the present time, as a group of nodes that fails; return what stands for them.

        They are held by a job of the highest right, which nobody is told of before, and which no policy stops. Where
        too few are free, running jobs are stopped, those first that started last, and wait again where they stood.

        Parameters
        ----------
        processors : int
            How many.
        until : float, optional
            When they come back, s, which policies know from now on; without it they do not.
        how : int
            What the jobs lose that are stopped: ``KILL`` (all of their work), ``CHECKPOINT`` or ``SUSPEND``.

        Returns
        -------
        int
            The job that stands for them, which is excluded from the schedule. ``end`` brings them back earlier.

        Raises
        ------
        ParameterError
            There are not so many processors, or ``until`` is not to come.
        PolicyError
            Something was done in this decision already.
        """
        present = self.present
        self._check_pool("take_away()", "describe outages of nodes")
        back = present + FOR_GOOD if until is None else float(until)
        capacity = int(self._machine.counts[CAPACITY])
        held = sum(int(self._machine.allocated[job]) for job in self._away)
        if not is_whole(processors, 1, capacity - held):
            raise ParameterError(
                f"processors={processors!r}: give a whole number from 1 to {capacity - held:,}, which there are"
            )
        if not present < back < np.inf:
            raise ParameterError(f"until={until!r} is not a time to come (it is {present:.10g} s)")
        if how not in (0, 1, 2):
            raise ParameterError(f"how={how!r} is not KILL, CHECKPOINT or SUSPEND")
        job = self.submit(int(processors), back - present, back - present, queue=AWAY)
        if not self.is_deciding:
            self._simulation._driver.step(present, AT_EVENTS)
        self._away = {**self._away, job: back}
        if until is None:
            self._for_good = min(self._for_good, back)
        machine = self._machine
        runs = sorted(machine.running[: len(self.running)].tolist(), key=lambda each: (machine.start_time[each], each))
        while machine.counts[FREE] < processors:
            victim = runs.pop()
            if victim not in self._away:
                self.preempt(victim, how)
        self.start(job)
        return job

    def shadow(self, job: int | None = None) -> tuple[float, int]:
        """Return when a waiting job could start, s, if running jobs end as expected and nobody else starts.

        It is infinity where the job needs nodes that are not known to come back.

        Parameters
        ----------
        job : int, optional
            Without it the first of the queue.

        Returns
        -------
        time : float
            The shadow time of EASY: others that end by then do not delay it.
        extra : int
            The processors that are left over then. On a machine of nodes the cores, of nodes that are there for as
            long as the job would run.

        Raises
        ------
        PolicyError
            Nobody waits; or, on a machine of nodes, the job does not.
        """
        waiting = self.waiting
        if job is None and not len(waiting):
            raise PolicyError("no job waits: there is no shadow time")
        if self._simulation.nodes is not None:
            if job is not None and job not in waiting:
                raise PolicyError(f"job {job} does not wait: give one of waiting")
            return shadow_on_nodes(self._simulation, int(waiting[0] if job is None else job))
        width = int(self.width[waiting[0] if job is None else job])
        times, free = self.free_over_time()
        place = int(np.argmax(free >= width))
        return float(times[place]), int(free[place]) - width

    def _time(self, at: float | None) -> float:
        """Return when something is to happen: now, or later."""
        present = self.present
        if at is None:
            if present == -np.inf:
                raise ParameterError("nothing has happened yet: say when by at= (s)")
            return present
        if not (max(present, 0.0) <= at < np.inf):
            raise ParameterError(f"at={at!r} is not a time from the present on, which is {max(present, 0.0):.10g} s")
        return float(at)

    def _was_run_to(self, time: float | None) -> None:
        """Note that it went on to a time, also if nothing happened then."""
        if time is not None and np.isfinite(time):
            self._present = max(self._present, time)

    def _check_pool(self, what: str, instead: str) -> None:
        """Refuse on nodes what counts processors."""
        if self._simulation.nodes is not None:
            raise PolicyError(f"{what} counts processors of a pool, and this is a machine of nodes; {instead}")

    def _check_untouched(self) -> None:
        """Refuse what would change the machine below what was done in this decision."""
        counts = self._machine.counts
        if self.is_deciding and (counts[STARTED] or counts[STOPPED]):
            raise PolicyError("you have already acted in this decision: do this before, or call advance() first")

    def _begins_again(self, time: float) -> bool:
        """Whether something happens just now, while it stands before a decision: then that is of what it is to be."""
        is_now = self.is_deciding and time == self._simulation.now
        if is_now:
            self._check_untouched()
        return is_now and self._simulation._driver.options.semantics == INSTANT

    def _again(self) -> None:
        """Let what happens now happen, and stand before the decision again."""
        self._replay_counts[DECIDING] = NOT_DECIDING
        self._simulation._driver.step(self._simulation.now, AT_EVENTS)


def without_away(schedule: Schedule, numbers: list[int]) -> Schedule:
    """Return a schedule without the jobs of some numbers that stand for processors that were away."""
    jobs, segments, excluded = schedule.jobs, schedule.segments, schedule.excluded
    is_away = jobs["job_number"].isin(numbers)
    keys = jobs.loc[is_away, ["job_number", "job_occurrence"]].assign(reason="")
    excluded = pd.concat([excluded, keys], ignore_index=True) if len(keys) else excluded.copy()
    excluded.loc[excluded["job_number"].isin(numbers), "reason"] = "processors that were away"
    return replace(
        schedule,
        jobs=jobs[~is_away].reset_index(drop=True),
        segments=segments[~segments["job_number"].isin(numbers)].reset_index(drop=True),
        excluded=excluded,
    )


def end_run(coming_place: Any, machine_place: Any, replay_place: Any, job: int, time: float) -> None:
    """Let the present run of a job end at a time, s."""
    coming, machine, replay = coming_at(coming_place), machine_at(machine_place), replay_at(replay_place)
    log, ends, run = replay.log, replay.ends, machine.run[job]
    log.end[run] = time
    for i in range(ends.size[0]):  # the heap is made anew in its own place
        other = ends.runs[i]
        push(ends.times, ends.runs, i, time if other == run else ends.times[i], other)
    work = max(time - machine.start_time[job] - machine.overhead[job], 0.0)
    coming.run_time[job] = machine.done[job] + work / stretch_on(machine, job, machine.allocated[job])


@cache
def end_run_kernel() -> Any:
    """Return ``end_run`` as a kernel: compiled at its first use, from then on taken from the cache on disk."""
    from numba import types  # noqa: PLC0415 (takes half a second, and is needed from here on)

    places = [types.int64] * 3
    return kernel(types.void(*places, types.int64, types.float64), allocates=False)(end_run)
