# SPDX-License-Identifier: BSD-3-Clause
"""Several sites in lockstep: co-allocation by CO-VARQ, and jobs that are submitted to several and cancelled.

Each site is a simulation of its own log, machine, policy and predictor of waits. All stand at one instant before
anything is decided that concerns several, and none has gone beyond it.

References
----------
Nurmi 2009, chapter 6.

Reading chosen
    Each request at a site is submitted when its chance there is best, the latest of these, and planned anew as waits
    become known. When each reservation has a job that runs, all others are cancelled; where one has none when it is to
    run, all is given up, and what runs is cancelled too. What a cancelled run took is paid. A request that cannot be
    planned is not asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.output.amounts import counted, percent
from swftools.output.shown_html import ShowsItself
from swftools.qbets.predictor import WaitPredictor
from swftools.reservations.co_allocation import CoAllocation, co_allocate
from swftools.reservations.plans import check_probability
from swftools.reservations.simulated import as_submitted
from swftools.reservations.site_requests import Site, SitesParameters, checked_requests, on_one_clock, with_requests
from swftools.reservations.site_run import SiteRun
from swftools.simulator.schedule import Schedule
from swftools.trace import Trace

NO_SITE, NONE_MEETS_IT = "no-site-fits", "no-sites-meet-it"
"""Why a request is denied."""


@dataclass(frozen=True, repr=False)
class SitesOutcome(ShowsItself):
    """What came of requests at several sites.

    Parameters
    ----------
    requests : pandas.DataFrame
        A row a request: ``request``, ``ask_time``, ``start_by`` (s; missing of races), ``is_accepted``, ``why_denied``,
        the ``probability`` that was told, ``is_met``, ``needed_hours`` and ``paid_hours`` (processor-hours).
    copies : pandas.DataFrame
        A row for each part at each site where it was submitted: ``request``, ``part``, ``site``, its ``probability``
        there, ``submit_time``, ``start_time``, ``cancel_time``, ``end_time`` (s), and whether it ``is_kept``, since it
        started first.
    schedules : dict of str to Schedule
        Of each site.
    traces : dict of str to Trace
        The jobs of each site as they were submitted: ``validate(schedules[name], trace=traces[name])``.
    """

    requests: pd.DataFrame
    copies: pd.DataFrame
    schedules: dict[str, Schedule]
    traces: dict[str, Trace] = field(default_factory=dict)

    def measures(self) -> dict[str, float]:
        """Return how many requests asked and were accepted, what was expected and achieved, and what it cost.

        ``expected`` is the mean probability of accepted requests, ``achieved`` the share of them that were met;
        ``paid_over_needed`` is of all that accepted ones took; ``mean_wait`` from asking to the first start, s.
        """
        taken = self.requests[self.requests["is_accepted"]]
        needed, paid = float(taken["needed_hours"].sum()), float(taken["paid_hours"].sum())
        kept = self.copies[self.copies["is_kept"]]
        waits = kept["start_time"] - kept["ask_time"]
        return {
            "asked": float(len(self.requests)),
            "accepted": float(len(taken)),
            "expected": float(taken["probability"].mean()) if len(taken) else np.nan,
            "achieved": float(taken["is_met"].astype("float64").mean()) if len(taken) else np.nan,
            "copies": float(len(self.copies)),
            "cancelled": float(self.copies["cancel_time"].notna().sum()),
            "paid_over_needed": paid / needed if needed else np.nan,
            "mean_wait": float(waits.mean()) if len(waits) else np.nan,
        }

    def _lines(self) -> list[str]:
        found = self.measures()
        what = f"SitesOutcome: {len(self.schedules)} sites, {counted(len(self.requests), 'request')}"
        if not found["accepted"]:
            return [what, "none was accepted"]
        met = f"{percent(found['achieved'], 1)} of {found['accepted']:,.0f} accepted were met"
        return [what, met, f"paid {found['paid_over_needed']:.2f} times what they needed"]

    def _rows(self) -> tuple[pd.DataFrame, int]:
        return self.requests.head(5), len(self.requests)


@dataclass
class _Copy:
    """A part of a request at a site."""

    part: int
    site: int
    job: int
    processors: int
    run_time: float
    probability: float = np.nan
    is_taken: bool = False
    is_kept: bool = False


@dataclass
class _Request:
    """A request that is under way."""

    name: Any
    ask_time: float
    start_by: float
    parts: int
    copies: list[_Copy]
    plan: CoAllocation | None = None
    why_denied: str | None = None
    is_met: bool | None = None
    is_over: bool = False


def simulate_sites(
    sites: Sequence[Site], requests: pd.DataFrame, *, seed: int = 0, progress: Any = None, **parameters: Any
) -> SitesOutcome:
    """Simulate several sites in lockstep, and jobs that are submitted to several of them.

    Parameters
    ----------
    sites : sequence of Site
        One or more, of different names.
    requests : pandas.DataFrame
        A row a part: ``request``, which parts belong together; ``ask_time``, s; ``processors``, ``requested_time``,
        ``run_time`` (s); and ``start_by`` (s), when it is to run, unless it is a race. Times of a request are those of
        its first part.
    seed : int
        Of the simulations.
    progress : callable, optional
        Takes how many requests are over, how many there are, and the time, s.
    **parameters
        Of ``SitesParameters``.

    Returns
    -------
    SitesOutcome

    Raises
    ------
    ParameterError
        Names repeat; a column lacks or has values outside its domain; a start is not to come; by ``clock="date"``, a
        log has no date, or no time in common with the others; or as ``VarqRun`` says.
    """
    chosen = SitesParameters.from_mapping(parameters)
    return _Lockstep(sites, requests, chosen, seed).run(progress)


class _Lockstep:
    """Sites that go on together."""

    def __init__(self, sites: Sequence[Site], requests: pd.DataFrame, chosen: SitesParameters, seed: int) -> None:
        check_probability(chosen.probability)
        self.chosen, self.names = chosen, [site.name for site in sites]
        if not sites or len(set(self.names)) < len(self.names):
            raise ParameterError(f"sites: give one or more, of different names, not {', '.join(self.names) or 'none'}")
        table = checked_requests(requests, chosen)
        traces = on_one_clock(sites, chosen.clock)
        self.runs, rows = [], []
        for site, trace in zip(sites, traces, strict=True):
            longer, mask, own = with_requests(site, trace, table)
            waits = site.waits or WaitPredictor("binomial", by="queue")
            self.runs.append(
                SiteRun(longer, site.policy, site.processors, waits, mask, chosen.step, seed, **site.options)
            )
            rows.append(own)
        self.requests = list(self._requests(table, rows))
        self._of_job = {(copy.site, copy.job): (request, copy) for request in self.requests for copy in request.copies}
        self._timers = sorted({request.start_by for request in self.requests if np.isfinite(request.start_by)})
        self._asks = sorted(request.ask_time for request in self.requests)
        self._come = 0
        self._open: set[int] = set()
        self._seen = [0] * len(self.runs)

    def _requests(self, table: pd.DataFrame, rows: list[Any]) -> Iterable[_Request]:
        """Yield requests with their parts at each site where they fit."""
        for name, parts in table.groupby("request", sort=False):
            copies = []
            for part, (index, row) in enumerate(parts.iterrows()):
                for site, run in enumerate(self.runs):
                    job = run.job_of_row.get(int(rows[site][index]))
                    if job is not None:  # else it is wider than the machine
                        copies.append(_Copy(part, site, job, int(row["processors"]), float(row["run_time"])))
            first = parts.iloc[0]
            start = float(first["start_by"]) if self.chosen.mode == "reserve" else np.inf
            yield _Request(name, float(first["ask_time"]), start, len(parts), copies)

    # ------------------------------------------------------------ going on

    def run(self, progress: Any = None) -> SitesOutcome:
        """Go on to the end of all."""
        done = 0
        while True:
            if not self._open:
                self._go_apart()
            time = min(run.next_time() for run in self.runs)
            if self._timers and self._timers[0] < time:
                time = self._timers[0]
            if time == np.inf:
                break
            self._at(time)
            over = sum(request.is_over for request in self.requests) if progress else 0
            if progress and over > done:
                done = over
                progress(done, len(self.requests), time)
        return self._outcome()

    def _go_apart(self) -> None:
        """Let each site go on by itself to before the next request: where none is open they have nothing in common."""
        come = self._come
        while come < len(self._asks) and self._asks[come] <= max(run.now for run in self.runs):
            come += 1
        self._come = come
        behind = np.nextafter(self._asks[come], -np.inf) if come < len(self._asks) else np.inf
        if self._timers:
            behind = min(behind, np.nextafter(self._timers[0], -np.inf))
        for run in self.runs:
            run.go_on(behind)

    def _at(self, time: float) -> None:
        """Let everything happen that happens at an instant."""
        while True:
            standing = [run for run in self.runs if run.next_time() <= time or run.is_standing]
            standing = [run for run in standing if run.stand(time)]
            self._take_requests(time)
            for run in standing:
                run.decide(time)
            self._look_at_starts(time)
            if not any(run.is_standing or run.next_time() <= time for run in self.runs):
                if not self._timers or self._timers[0] > time:
                    return
                self._timers.pop(0)
                self._give_up(time)

    def _take_requests(self, time: float) -> None:
        """Say what becomes of the requests that have come."""
        came: dict[int, _Request] = {}
        for site, run in enumerate(self.runs):
            for job in run.arrived:
                request, _ = self._of_job[site, job]
                came[id(request)] = request
            run.arrived.clear()
        for request in came.values():
            self._open.add(id(request))
            if self.chosen.mode == "race":
                for copy in request.copies:
                    copy.is_taken = True
                    self.runs[copy.site].submit(copy.job, time)
            else:
                self._plan(request, time)

    def _plan(self, request: _Request, time: float) -> None:
        """Choose the sites of each part, reserve there, and cancel the rest."""
        chances, leads = np.zeros((2, request.parts, len(self.runs)))
        for copy in request.copies:
            chance, lead = self.runs[copy.site].chance(copy.job, request.start_by, time)
            chances[copy.part, copy.site], leads[copy.part, copy.site] = chance, lead
            copy.probability = chance
        plan = request.plan = co_allocate(chances, self.chosen.probability, shared=self.chosen.shared)
        if not plan.is_accepted:
            request.why_denied = NONE_MEETS_IT
            self._close(request)
        for copy in request.copies:
            run = self.runs[copy.site]
            copy.is_taken = plan.is_accepted and copy.site in plan.sites[copy.part]
            if copy.is_taken:
                run.reserve(copy.job, request.start_by, float(leads[copy.part, copy.site]), time)
            else:
                run.cancel(copy.job, time)

    def _look_at_starts(self, time: float) -> None:
        """Cancel what is redundant, now that something started."""
        touched: dict[int, _Request] = {}
        for site, run in enumerate(self.runs):
            log = run.stepper._simulation._replay.log
            for place in range(self._seen[site], int(log.size[0])):
                found = self._of_job.get((site, int(log.job[place])))
                if found:
                    touched[id(found[0])] = found[0]
            self._seen[site] = int(log.size[0])
        for request in touched.values():
            if not request.is_over:
                self._look_at(request, time)

    def _look_at(self, request: _Request, time: float) -> None:
        """Keep the copy of each part that started first; where each part has one, cancel the others."""
        for part in range(request.parts):
            started = [copy for copy in request.copies if copy.part == part and copy.is_taken and self._has_begun(copy)]
            if started and not any(copy.is_kept for copy in started):
                min(started, key=lambda copy: (self._begun(copy), copy.site)).is_kept = True
            if self.chosen.mode == "race" and started:
                self._cancel(request, time, part)
        if len({copy.part for copy in request.copies if copy.is_kept}) == request.parts:
            request.is_met = True
            self._close(request)
            self._cancel(request, time)

    def _close(self, request: _Request) -> None:
        """Nothing of a request is to be decided any more."""
        request.is_over = True
        self._open.discard(id(request))

    def _cancel(self, request: _Request, time: float, part: int | None = None) -> None:
        """Cancel the copies of a request, or of a part of it, that are not kept."""
        for copy in request.copies:
            run = self.runs[copy.site]
            is_meant = copy.is_taken and not copy.is_kept and part in (None, copy.part)
            if is_meant and np.isnan(run.cancel_time[copy.job]) and not self._has_ended(copy, time):
                run.cancel(copy.job, time)

    def _give_up(self, time: float) -> None:
        """Cancel the requests that are to run now, and do not."""
        for request in self.requests:
            if request.start_by == time and not request.is_over and request.plan is not None:
                request.is_met = False
                self._close(request)
                for copy in request.copies:
                    copy.is_kept = False
                self._cancel(request, time)

    def _begun(self, copy: _Copy) -> float:
        return float(self.runs[copy.site].begin_time[copy.job])

    def _has_begun(self, copy: _Copy) -> bool:
        return not np.isnan(self._begun(copy))

    def _has_ended(self, copy: _Copy, time: float) -> bool:
        return self._has_begun(copy) and self._end(copy) <= time

    def _end(self, copy: _Copy) -> float:
        """Return when a copy that began ends if nobody cancels it, s."""
        begun, run = self._begun(copy), self.runs[copy.site]
        by = run.start_by[copy.job]
        return (begun if np.isnan(by) else max(begun, float(by))) + copy.run_time

    # ------------------------------------------------------------ what came of it

    def _outcome(self) -> SitesOutcome:
        """Return what came of all requests."""
        copies = pd.DataFrame(
            [self._row(request, copy) for request in self.requests for copy in request.copies if copy.is_taken],
            columns=list(_COPIES),
        ).astype({"is_kept": "bool"})
        rows = []
        for request in self.requests:
            mine = [copy for copy in request.copies if copy.is_taken]
            parts = {copy.part: copy.processors * copy.run_time for copy in request.copies}
            missing = request.parts > len(parts)
            accepted = bool(mine) and request.why_denied is None
            rows.append(
                {
                    "request": request.name,
                    "ask_time": request.ask_time,
                    "start_by": request.start_by if np.isfinite(request.start_by) else np.nan,
                    "is_accepted": accepted,
                    "why_denied": None if accepted else (NO_SITE if missing else request.why_denied or NO_SITE),
                    "probability": request.plan.probability if request.plan else np.nan,
                    "is_met": request.is_met if accepted else None,
                    "needed_hours": sum(parts.values()) / 3600,
                    "paid_hours": sum(self._paid(copy) for copy in mine) / 3600,
                }
            )
        table = pd.DataFrame(rows, columns=list(_REQUESTS)).astype(
            {"is_met": "boolean", "why_denied": "string", "is_accepted": "bool"}
        )
        for run in self.runs:
            run.settle()
        both = {name: as_submitted(run) for name, run in zip(self.names, self.runs, strict=True)}
        schedules = {name: schedule for name, (schedule, _) in both.items()}
        return SitesOutcome(table, copies, schedules, {name: trace for name, (_, trace) in both.items()})

    def _paid(self, copy: _Copy) -> float:
        """Return the processor-seconds that a copy took."""
        if not self._has_begun(copy):
            return 0.0
        cancelled = self.runs[copy.site].cancel_time[copy.job]
        end = self._end(copy) if np.isnan(cancelled) else float(cancelled)
        return copy.processors * (end - self._begun(copy))

    def _row(self, request: _Request, copy: _Copy) -> tuple[Any, ...]:
        """Return the row of a copy."""
        run, begun = self.runs[copy.site], self._begun(copy)
        cancelled = float(run.cancel_time[copy.job])
        end = np.nan if np.isnan(begun) else (self._end(copy) if np.isnan(cancelled) else cancelled)
        times = float(run.submit_time[copy.job]), begun, cancelled, end
        name = self.names[copy.site]
        return request.name, copy.part, name, copy.probability, request.ask_time, *times, copy.is_kept


_REQUESTS = (
    *("request", "ask_time", "start_by", "is_accepted", "why_denied"),
    *("probability", "is_met", "needed_hours", "paid_hours"),
)

_COPIES = (
    *("request", "part", "site", "probability", "ask_time"),
    *("submit_time", "start_time", "cancel_time", "end_time", "is_kept"),
)
