# SPDX-License-Identifier: BSD-3-Clause
"""VARQ in the simulator: a share of the jobs is to run at times, and is submitted when the waits so far say so.

A job that wants a reservation asks for it when the log submits it. It is held back, outside the machine's queue, until
the latest submission that meets the target; as long as it is held back its plan is made anew whenever a wait has become
known: behind the start of a job, when something happens next. Then it is submitted like any other, with the time until
its start in its request; where it starts earlier it waits on its processors. The policy decides as ever, and knows
nothing of reservations.

References
----------
Nurmi 2009, sections 5.2 and 5.3.4.

Reading chosen
    Where a plan cannot be kept, since no later submission meets the target any more, the job is submitted when it has
    the best chance from then on, the latest of these. A job that is denied is submitted at once, as it is in the log.
    Who does not start in time goes on waiting, and runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.keyed_random import count_occurrences, uniforms
from swftools.qbets.log_columns import group_labels
from swftools.qbets.predictor import WaitPredictor
from swftools.reservations.asked_percent import AskedPercent
from swftools.reservations.bids import Bids, columns_of, latest_submissions, no_bids
from swftools.reservations.live_waits import LiveWaits
from swftools.reservations.varq_parameters import VarqParameters, check_told, check_widths
from swftools.simulator.instants import whole_times
from swftools.simulator.machine.state import CHECKPOINT, HELD, KILL, SUBMITTED, SUSPEND
from swftools.simulator.registry import find_policy
from swftools.simulator.simulation import Progress
from swftools.simulator.stepping.stepper import Stepper
from swftools.trace import Trace

DRAW = "reservations"
"""The step by whose draws jobs are chosen."""

EACH = 4096
"""Stops between two calls of ``progress``."""

TRAINING, UNAVAILABLE, NONE_MEETS_IT, NO_REQUEST = DENIALS = (
    "training",
    "unavailable",
    "no-submission-meets-it",
    "no-request",
)
"""Why a reservation is denied."""


def way_of_stopping(policy: str, chosen: Mapping[str, Any]) -> int | None:
    """Return how a policy stops runs; None: it does not. A policy of one's own that says nothing of it: it suspends."""
    if policy == "genetic-checkpoint":
        return CHECKPOINT
    ways = {"kill": KILL, "checkpoint": CHECKPOINT, "suspend": SUSPEND}
    if "preemption" in chosen:
        return ways.get(chosen["preemption"], SUSPEND)
    is_ours = find_policy(policy).decide.__module__.startswith("swftools.")
    return None if is_ours else SUSPEND


class VarqRun:
    """A simulation in which jobs reserve; ``simulate_reservations`` makes one, runs it and tells what came of it.

    Parameters
    ----------
    trace, policy, processors, **options
        As ``Simulation`` takes them; policies plan with requests.
    varq : VarqParameters
        Who asks for what.
    waits : WaitPredictor
        How waits are bounded; it is not changed, and what it has learnt is not used.
    seed : int
        Who asks, and of the simulation.

    Raises
    ------
    ParameterError
        Policies are to be told something else than requests, or make jobs wider or narrower; or the method of waits is
        no bound that can be asked about any percentile.
    """

    def __init__(
        self,
        trace: Trace,
        policy: str,
        processors: int | None,
        varq: VarqParameters,
        waits: WaitPredictor,
        seed: int = 0,
        **options: Any,
    ) -> None:
        check_told(options.get("predictor", "request"))
        self.varq, self.seed, self.waits = varq, seed, waits
        if options.get("machine") is not None:
            raise ParameterError("reservations are of a pool of processors; give processors= in place of machine=")
        self.stepper = Stepper(trace, policy, processors, seed=seed, **options)
        simulation = self.stepper._simulation
        check_widths(simulation.policy, simulation._chosen)
        driver = simulation._driver
        # What is paid beyond a job is part of its run, and nobody else's: copies of the simulation share the rest.
        driver.coming = driver.coming._replace(run_time=driver.coming.run_time.copy(), limit=driver.coming.limit.copy())
        simulation._workload = simulation._workload._replace(coming=driver.coming)
        coming = driver.coming
        self.row, jobs = coming.row, len(coming.row)
        self.run_time, self.request = coming.run_time.copy(), coming.limit.copy()
        self.logged_submit = coming.submit_time[self.row]
        self.processors = coming.processors[self.row].astype(np.float64)
        self.explanatory = waits.parameters.explanatory
        self._groups(trace)
        self.is_chosen = self._chosen(trace)
        self.has_request = (trace.views.requested_time > 0)[self.row]
        if options.get("requests", "logged") != "logged":  # everybody's are made up
            self.has_request[:] = True
        self.asked = AskedPercent(varq.probability, varq.adapt, len(self.labels))
        self.start_by = np.full(jobs, np.nan)
        self.submit_time = np.full(jobs, np.nan)
        self.begin_time = np.full(jobs, np.nan)
        self.denied = np.full(jobs, -1, np.int8)
        self.told_at_ask = np.full(jobs, np.nan)
        self.planned_at_ask = np.full(jobs, np.nan)
        self.told_at_submission = np.full(jobs, np.nan)
        self._known = np.full(jobs, -1, np.int64)  # number among its group's waits
        self._lead = np.full(jobs, np.nan)
        self._bids = no_bids()
        self._versions: dict[int, int] = {}
        self._active = np.zeros(0, np.int64)
        self._seen_runs = self._seen_jobs = 0
        self._stops_by = way_of_stopping(simulation.policy.name, simulation._chosen.to_mapping())
        self._runs: dict[int, list[int]] = {}  # of jobs with reservations, where runs may be stopped

    def _groups(self, trace: Trace) -> None:
        """Make what learns the waits of each group."""
        labels = group_labels(trace.jobs, self.waits.by)
        self.labels = [str(label) for label in labels.categories]
        self.group = np.asarray(labels.codes, np.int64)[self.row]
        counts = np.bincount(self.group, minlength=len(self.labels))
        self.live = [LiveWaits(self.waits, int(count)) for count in counts]

    def _chosen(self, trace: Trace) -> Any:
        """Return which jobs ask for reservations."""
        occurrence = np.asarray(count_occurrences(trace.jobs), np.int64)[self.row]
        number = trace.views.job_number[self.row]
        return uniforms(self.seed, DRAW, number, occurrence, 1)[:, 0] < self.varq.share

    # ------------------------------------------------------------ going on

    def run(self, progress: Progress | None = None) -> None:
        """Go on to the end."""
        stops = 0
        goes_on = self.stepper.advance(to="event")
        while goes_on:
            self.happen()
            goes_on = self.stepper.skip(to="event")
            stops += 1
            if progress and stops % EACH == 0:
                progress(self._seen_jobs, len(self.row), self.stepper.now)
        self._see_starts(np.inf)
        self.settle()

    @property
    def is_reserved(self) -> BoolArray:
        """Of all jobs: which have a reservation."""
        return np.asarray((self.denied < 0) & ~np.isnan(self.start_by))

    @property
    def has_asked(self) -> BoolArray:
        """Of all jobs: which asked for one."""
        return np.asarray(self.is_chosen & ~np.isnan(self.start_by))

    def settle(self) -> None:
        """Let run times say what jobs waited on their processors, as they began; of a run that is over."""
        reserved = np.flatnonzero(self.is_reserved & ~np.isnan(self.begin_time))
        self.stepper._simulation._driver.coming.run_time[reserved] = self.run_time[reserved] + self._waited(reserved)

    def _waited(self, jobs: IntArray) -> FloatArray:
        """Return how long jobs that have started waited on their processors, as far as no stop took it back, s."""
        waited = np.maximum(self.start_by[jobs] - self.begin_time[jobs], 0.0)
        for i, job in enumerate(jobs.tolist()):
            if len(self._runs.get(job, ())) > 1:
                waited[i] += self._kept_wait(job, self._runs[job][:-1])
        return waited

    def _kept_wait(self, job: int, runs: list[int], now: float | None = None) -> float:
        """Return how much of the work that a job keeps of runs is time that it waited on its processors, s.

        Waiting is the first that a run does; what is lost, is lost from the end. ``now``: the last run is stopped.
        """
        log = self.stepper._simulation._replay.log
        interval = self.stepper._simulation._replay.requests.checkpoint_interval
        waited = done = 0.0
        for run in runs:
            is_stopped_now = now is not None and run == runs[-1]
            how = self._stops_by if is_stopped_now else int(log.ended_by[run])
            end = now if is_stopped_now else float(log.end[run])
            work = max(end - float(log.start[run]) - float(log.overhead[run]), 0.0)  # type: ignore[operator]
            waited, done = waited + min(work, max(self.start_by[job] - float(log.start[run]), 0.0)), done + work
            if how == KILL:
                waited = done = 0.0
            elif how == CHECKPOINT:
                between = float(interval[job]) if len(interval) else 0.0
                done = whole_times.py_func(done, between) * between if between > 0.0 else 0.0
                waited = min(waited, done)
        return waited

    def happen(self) -> None:
        """Take in what happened at this instant, before the policy decides; hold back who asks, and who is to wait."""
        now = self.stepper.now
        self._see_starts(now)
        self._see_releases(now)
        self.asked.settle(now, self.group, self.start_by, self.begin_time)
        self._see_submissions(now)
        self._plan_anew(now)
        self._wait_on_processors(now)

    def _see_starts(self, now: float) -> None:
        """Learn the waits of the jobs that started."""
        log = self.stepper._simulation._replay.log
        runs = int(log.size[0])
        if runs == self._seen_runs:
            return
        groups = set()
        for run in range(self._seen_runs, runs):
            job, start = int(log.job[run]), float(log.start[run])
            if self._stops_by is not None and self.denied[job] < 0 and not np.isnan(self.start_by[job]):
                self._runs.setdefault(job, []).append(run)
            if np.isnan(self.begin_time[job]):
                group = int(self.group[job])
                self.live[group].started(int(self._known[job]), start)
                groups.add(group)
            self.begin_time[job] = start
        self._seen_runs = runs
        for group in groups:
            self.live[group].learn(min(now, float(log.start[runs - 1])))

    def _see_releases(self, now: float) -> None:
        """Take in who was held back until now."""
        bids = self._bids
        if not len(bids.job):
            return
        due = bids.start - self._lead[bids.job] <= now
        if not due.any():
            return
        for job in bids.job[due].tolist():
            self.told_at_submission[job] = self._percent(job, float(self._lead[job])) / 100.0
            self._submit(job, self.start_by[job] - self._lead[job])
            self.asked.submitted(job)
        self._keep(~due)

    def _see_submissions(self, now: float) -> None:
        """Take in the jobs that the log submits now."""
        submitted = int(self.stepper._machine.counts[SUBMITTED])
        for job in range(self._seen_jobs, submitted):
            if not (self.is_chosen[job] and self._reserve(job, now)):
                self._submit(job, now)
        self._seen_jobs = submitted

    def _submit(self, job: int, time: float) -> None:
        """Take in that a job is submitted."""
        self.submit_time[job] = time
        limit = self.stepper._simulation._replay.requests.limit[job]
        self._known[job] = self.live[self.group[job]].submitted(time, self._explain(job, limit))

    def _explain(self, job: int, limit: float) -> float:
        """Return the explanatory variable of a job with a request."""
        if self.explanatory == "requested_processors":
            return float(self.processors[job])
        if not self.has_request[job]:
            return -1.0
        return float(limit * self.processors[job] if self.explanatory == "requested_work" else limit)

    def _percent(self, job: int, lead: float) -> int:
        """Return with how many percent a job starts in time that is submitted so long before."""
        return self.live[self.group[job]].percent(self._explain(job, self.request[job] + lead), lead)

    # ------------------------------------------------------------ plans

    def _reserve(self, job: int, now: float) -> bool:
        """Let a job ask for its reservation; return whether it is held back."""
        varq, live = self.varq, self.live[self.group[job]]
        start = now + varq.ahead if varq.ahead > 0.0 else (np.floor(now / varq.every) + 1.0) * varq.every
        self.start_by[job] = start
        if not self.has_request[job]:
            self.denied[job] = DENIALS.index(NO_REQUEST)
        elif not live.is_trained:
            self.denied[job] = DENIALS.index(TRAINING)
        elif live.is_down:
            self.denied[job] = DENIALS.index(UNAVAILABLE)
        if self.denied[job] >= 0:
            return False
        bid = self._bid(job, now, start)
        lead = latest_submissions(bid, live, now, self.asked.of(int(self.group[job])), varq.step, self.explanatory)[0]
        if np.isnan(lead):
            self.denied[job] = DENIALS.index(NONE_MEETS_IT)
            return False
        self._hold_back(job, now, start, float(lead))
        return True

    def _hold_back(self, job: int, now: float, start: float, lead: float) -> None:
        """Keep a job out of the queue until it is to be submitted, so long before its start."""
        bid = self._bid(job, now, start)
        self.start_by[job] = start
        self.told_at_ask[job] = self._percent(job, lead) / 100.0
        self.planned_at_ask[job] = start - lead
        self.stepper.hold(job, max(start, now + 1.0))
        self._bids = Bids(
            *(np.append(old, new) for old, new in zip(columns_of(self._bids), columns_of(bid), strict=True))
        )
        self._active = np.append(self._active, job)
        self._put(np.array([job]), np.array([lead]))

    def _bid(self, job: int, now: float, start: float) -> Bids:
        """Return what is asked for."""
        numbers = (np.array([value]) for value in (now, start, self.request[job], self.processors[job]))
        return Bids(np.array([job]), np.array([self.group[job]]), *numbers)

    def _plan_anew(self, now: float) -> None:
        """Plan the jobs that are held back anew, where more is known of waits than before."""
        if not len(self._bids.job) or self.varq.replans == "never":
            return
        for group in np.unique(self._bids.group).tolist():
            live = self.live[group]
            version = live.version + self.asked.version
            if self._versions.get(group) == version:
                continue
            self._versions[group] = version
            bids = Bids(*(column[self._bids.group == group] for column in columns_of(self._bids)))
            leads = self._leads(bids, live, now)
            changed = leads != self._lead[bids.job]
            if changed.any():
                self._put(bids.job[changed], leads[changed])

    def _leads(self, bids: Bids, live: LiveWaits, now: float) -> Any:
        """Return how long before their starts jobs of a group are to be submitted, as far as is known now."""
        percent = self.asked.of(int(bids.group[0]))
        leads = latest_submissions(bids, live, now, percent, self.varq.step, self.explanatory)
        for i in np.flatnonzero(np.isnan(leads)).tolist():
            leads[i] = self._best_lead(bids, i, now, percent - 1)[0]
        return leads

    def _best_lead(self, bids: Bids, place: int, now: float, most: int) -> tuple[float, int]:
        """Return the lead of the latest submission of the greatest probability from now on, and that, up to ``most`` %.

        Where nothing can be told, it is submitted at once.
        """
        one = Bids(*(column[[place]] for column in columns_of(bids)))
        live, low, high = self.live[int(one.group[0])], 0, most
        best = float(one.start[0] - now)
        while low < high:
            middle = (low + high + 1) // 2
            lead = latest_submissions(one, live, now, middle, self.varq.step, self.explanatory)[0]
            if np.isnan(lead):
                high = middle - 1
            else:
                low, best = middle, float(lead)
        return best, low

    def _put(self, jobs: IntArray, leads: FloatArray) -> None:
        """Let jobs that are held back be submitted at other times, and with other requests."""
        self._lead[jobs] = leads
        machine, requests = self.stepper._machine, self.stepper._simulation._replay.requests
        requests.limit[jobs] = requests.requested_time[jobs] = self.request[jobs] + leads
        submit = self.start_by[jobs] - leads
        requests.submit_time[jobs] = submit
        count = int(machine.counts[HELD])
        held, until = machine.held[:count], machine.held_until[:count]
        for job, time in zip(jobs.tolist(), submit.tolist(), strict=True):
            until[np.flatnonzero(held == job)[0]] = max(time, self.stepper.now)
        order = np.lexsort((held, until))  # what is in order is a heap
        held[:], until[:] = held[order], until[order]

    def _keep(self, chosen: Any) -> None:
        """Keep some of those that are held back."""
        self._bids = Bids(*(column[chosen] for column in columns_of(self._bids)))

    def _wait_on_processors(self, now: float) -> None:
        """Let jobs that may start now run until they are to, and then for their own time."""
        if not len(self._active):
            return
        machine, jobs = self.stepper._machine, self._active
        over = (machine.queue.place[jobs] < 0) & ~np.isnan(self.begin_time[jobs])
        if over.any():
            jobs = self._active = jobs[~over]
        # Of who runs too, since this decision may stop it and start it again.
        coming = self.stepper._simulation._driver.coming
        coming.run_time[jobs] = self.run_time[jobs] + np.maximum(self.start_by[jobs] - now, 0.0)
        for job in jobs.tolist() if self._runs else ():
            if job in self._runs:
                is_running = machine.allocated[job] > 0
                coming.run_time[job] += self._kept_wait(job, self._runs[job], now if is_running else None)

    # ------------------------------------------------------------ what came of it

    def table(self) -> pd.DataFrame:
        """Return a row for each job that asked; see ``ReservedSchedule.reservations``."""
        jobs = np.flatnonzero(self.has_asked)
        accepted = self.denied[jobs] < 0
        reason = np.array([None, *DENIALS], dtype=object)[self.denied[jobs] + 1]
        trace = self.stepper._simulation.trace
        row, start = self.row[jobs], self.begin_time[jobs]
        surplus = np.where(accepted, self._waited(jobs), 0.0)
        met = pd.array(start <= self.start_by[jobs], dtype="boolean")
        met[~accepted | np.isnan(start)] = pd.NA
        return pd.DataFrame(
            {
                "job_number": trace.jobs["job_number"].to_numpy()[row],
                "job_occurrence": np.asarray(count_occurrences(trace.jobs), np.int64)[row],
                "group": np.array(self.labels, dtype=object)[self.group[jobs]],
                "ask_time": self.logged_submit[jobs],
                "start_by": self.start_by[jobs],
                "target": self.varq.probability,
                "is_accepted": accepted,
                "why_denied": pd.array(reason, dtype="string"),
                "probability": self.told_at_ask[jobs],
                "planned_submit_time": self.planned_at_ask[jobs],
                "probability_at_submission": self.told_at_submission[jobs],
                "submit_time": self.submit_time[jobs],
                "requested_time": self.stepper._simulation._replay.requests.limit[jobs].copy(),
                "processors": self.processors[jobs].astype(np.int64),
                "start_time": start,
                "is_met": met,
                "run_time": self.run_time[jobs],
                "surplus_time": surplus,
            }
        )
