# SPDX-License-Identifier: BSD-3-Clause
"""One of several sites: a simulation that goes no further than it is told, with jobs that others submit and cancel."""

from __future__ import annotations

from typing import Any

import numpy as np

from swftools.kernel import BoolArray
from swftools.qbets.predictor import WaitPredictor
from swftools.reservations.bids import Bids
from swftools.reservations.start_table import MOST
from swftools.reservations.varq import VarqRun
from swftools.reservations.varq_parameters import VarqParameters
from swftools.simulator.engine.replay import COMING
from swftools.simulator.machine.state import HELD, NOW, OVER, RUNNING, SUBMITTED, WAKE
from swftools.simulator.run.job_removal import take_out
from swftools.trace import Trace


class SiteRun(VarqRun):
    """A simulation of a site.

    Parameters
    ----------
    trace, policy, processors, waits, seed, **options
        As ``VarqRun`` takes them.
    is_foreign : ndarray of bool, shape (jobs of the trace,)
        Jobs that are submitted from outside: they appear here when the trace submits them, and in the queue when
        somebody says so.
    step : float
        Seconds between two times of submission.

    Attributes
    ----------
    arrived : list of int
        Such jobs that have appeared at this instant, of which nobody has said anything yet.
    """

    def __init__(
        self,
        trace: Trace,
        policy: str,
        processors: int | None,
        waits: WaitPredictor,
        is_foreign: BoolArray,
        step: float,
        seed: int = 0,
        **options: Any,
    ) -> None:
        super().__init__(trace, policy, processors, VarqParameters(share=0.0, step=step), waits, seed, **options)
        self.is_foreign = is_foreign[self.row]
        self.job_of_row = dict(zip(self.row.tolist(), range(len(self.row)), strict=True))
        self.cancel_time = np.full(len(self.row), np.nan)
        self.arrived: list[int] = []
        self._to_cancel: list[int] = []
        self.is_standing = False
        self._next: float | None = None

    @property
    def now(self) -> float:
        """The last instant that was simulated, s."""
        return self.stepper.now

    @property
    def has_asked(self) -> BoolArray:
        """Of all jobs: which asked for a reservation; who is refused one here is not to run here."""
        return self.is_reserved

    def next_time(self) -> float:
        """Return when something happens here next, s; infinite where nothing does. It may be earlier, never later."""
        if self._next is None:  # looked up once, until the site goes on or somebody changes something
            self._next = self._find_next()
        return self._next

    def _find_next(self) -> float:
        stepper = self.stepper
        if stepper.is_over:
            return np.inf
        machine, replay = stepper._machine, stepper._simulation._replay
        counts, time = machine.counts, float(machine.clock[WAKE])
        submitted = int(counts[SUBMITTED])
        if submitted < replay.counts[COMING]:
            coming = stepper._simulation._driver.coming
            time = min(time, float(coming.submit_time[coming.row[submitted]]))
        if replay.ends.size[0] > 0:
            time = min(time, float(replay.ends.times[0]))
        if counts[OVER] < counts[RUNNING]:
            time = min(time, float(machine.expected_end[machine.running[counts[OVER]]]))
        if counts[HELD] > 0:
            time = min(time, float(machine.held_until[0]))
        return time

    def go_on(self, until: float) -> None:
        """Go on to a time, whose events still happen, while nobody outside has to be asked about anything."""
        self._next = None
        goes_on = self.is_standing or self.stepper.advance(to="event", until=until)
        while goes_on:
            self.happen()
            goes_on = self.stepper.skip(to="event", until=until)
        self.is_standing = False

    def stand(self, time: float) -> bool:
        """Go on to a decision at a time, if there is one, and take in what happened; return whether it stands there."""
        self._next = None
        self.is_standing = self.is_standing or self.stepper.advance(to="event", until=time)
        if self.is_standing:
            self._see_starts(time)
            self._see_releases(time)
            self._see_submissions(time)
            self._cancel_now(time)
        return self.is_standing

    def decide(self, time: float) -> None:
        """Let the policy decide where it stands; it may stand again at the same instant."""
        self._next = None
        self._plan_anew(time)
        self._wait_on_processors(time)
        self.is_standing = self.stepper.skip(to="event", until=time)
        self._see_starts(time)

    def chance(self, job: int, start: float, now: float) -> tuple[float, float]:
        """Return the best probability that a job which has appeared runs by a time, and its lead then, s."""
        live = self.live[self.group[job]]
        if not live.is_trained or live.is_down:
            return 0.0, np.nan
        lead, percent = self._best_lead(self._bid(job, now, start), 0, now, MOST)
        return percent / 100.0, lead

    def reserve(self, job: int, start: float, lead: float, now: float) -> None:
        """Submit a job that has appeared so long before its start."""
        self._hold_back(job, now, start, lead)

    def submit(self, job: int, now: float) -> None:
        """Submit a job that has appeared now."""
        self._submit(job, now)

    def cancel(self, job: int, now: float) -> None:
        """Take a job out, whether it is held back, waits or runs; at the present instant, before the policy decides."""
        self._next = None
        self._to_cancel.append(job)
        if self.is_standing:
            self._cancel_now(now)
        else:
            clock = self.stepper._machine.clock
            clock[WAKE] = min(clock[WAKE], now)

    def _cancel_now(self, now: float) -> None:
        """Take out who is to be cancelled."""
        if not self._to_cancel:
            return
        simulation = self.stepper._simulation
        is_out = np.zeros(len(self.row), np.bool_)
        is_out[self._to_cancel] = True
        machine, replay = simulation._machine, simulation._replay
        machine.clock[NOW] = now
        (take_out if simulation._driver.called.is_compiled else take_out.py_func)(machine, replay, is_out)
        out = np.flatnonzero(is_out)
        self.cancel_time[out] = now
        before = simulation._taken_out if len(simulation._taken_out) else np.full(len(self.row), np.nan)
        simulation._taken_out = np.where(is_out, now, before)
        self._keep(~np.isin(self._bids.job, out))
        self._active = self._active[~np.isin(self._active, out)]
        self._to_cancel.clear()

    def _see_submissions(self, now: float) -> None:
        """Take in the jobs that the log submits now; of those from outside somebody is to say what becomes of them."""
        submitted = int(self.stepper._machine.counts[SUBMITTED])
        for job in range(self._seen_jobs, submitted):
            if self.is_foreign[job]:
                self.arrived.append(job)
            else:
                self._submit(job, now)
        self._seen_jobs = submitted

    def _leads(self, bids: Bids, live: Any, now: float) -> Any:  # noqa: ARG002 (as what it stands for)
        """Return how long before their starts jobs are to be submitted: when their chance is best."""
        return np.array([self._best_lead(bids, i, now, MOST)[0] for i in range(len(bids.job))])
