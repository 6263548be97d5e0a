# SPDX-License-Identifier: BSD-3-Clause
"""Which promises a policy makes, how each is checked, and what is said of those that are broken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from swftools.kernel import IntArray
from swftools.parameters.choices import INSTANT, SEMANTICS
from swftools.simulator.registry import Policy, list_policies
from swftools.simulator.validation.preemptions import (
    find_idle_processors,
    find_repeated_stops,
    find_stops_in_vain,
    find_unfair_delays,
)
from swftools.simulator.validation.promises import (
    Broken,
    find_broken_reservations,
    find_delayed_heads,
    find_idle_heads,
    find_out_of_order,
    planned_times,
)
from swftools.simulator.validation.reservations import PlanningManner, Starts
from swftools.simulator.validation.runs import FoundViolations, SoundJobs, SoundRuns, by_submission

_WORDS = {
    "order": "one that was submitted earlier starts at {:.10g} s",
    "no-idle-head": "it is the first waiting job, and fits, from {:.10g} s on",
    "head-reservation": "as the first waiting job it was to start at {:.10g} s at the latest",
    "backfilling": "it was to start at {:.10g} s at the latest when, as the first waiting job, it was overtaken",
    "reservation": "at its submission it was promised {:.10g} s at the latest",
    "strict-fairness": "as the first waiting job it would have at {:.10g} s without those of lower priority",
    "no-idle-processors": "it waits, and fits, from {:.10g} s on",
    "no-stop-in-vain": "it is stopped at {:.10g} s, when none of higher priority starts for good",
    "one-stop": "it is stopped at {:.10g} s, though it was stopped before or writes no checkpoints",
}

_OF_STOPPED = {"strict-fairness", "no-idle-processors", "no-stop-in-vain", "one-stop"}
"""Promises that can be checked where jobs were stopped."""


def promises_of(policy: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a policy promises with its parameters among some options; nothing where there is no such policy."""
    known: dict[str, Policy] = list_policies()
    if policy not in known:
        return ()
    own = [name for name in known[policy].parameters.names() if name in options and name not in known[policy].fixed]
    return known[policy].promised({name: options[name] for name in own})


def check_promises(
    promises: tuple[str, ...],
    jobs: SoundJobs,
    queued: SoundJobs,
    runs: SoundRuns,
    processors: int,
    policy: str,
    semantics: str | None,
    tolerance: float,
) -> tuple[list[str], list[str], list[FoundViolations]]:
    """Return the promises that were checked, remarks, and what is broken; ``queued``: as the jobs entered the queue."""
    if not promises:
        return [], [say_none(policy)], []
    if set(promises) <= _OF_STOPPED:
        checks: dict[str, Callable[[], Broken]] = {
            "strict-fairness": partial(find_unfair_delays, queued, runs, processors, tolerance),
            "no-idle-processors": partial(find_idle_processors, queued, runs, processors, tolerance),
            "no-stop-in-vain": partial(find_stops_in_vain, queued, runs),
            "one-stop": partial(find_repeated_stops, queued, runs),
        }
        return checked_promises(promises, checks, None, jobs)
    if runs.stopped.any():
        return [], ["promises not checked: jobs were stopped or resized"], []
    if semantics == "cqsim" and (jobs.requested > jobs.estimated).any():
        return [], ["promises not checked: cqsim expects running jobs to run as long as requested"], []
    order = by_submission(queued)
    some = slice(None) if order is None else order
    turn = np.empty(len(jobs.number), np.int64)
    turn[runs.job] = np.arange(len(turn))
    starts = Starts(
        queued.submit[some],
        jobs.start[some],
        jobs.end[some],
        jobs.processors[some],
        jobs.estimated[some],
        turn[some],
    )
    # A job without a length ends before its plan does, whatever was estimated.
    planned_end = starts.start_time + planned_times(starts.estimated_time)
    exact = bool((starts.end_time >= planned_end - tolerance).all())
    if "exact-reservation" in promises and not exact and SEMANTICS.get(semantics or "") != INSTANT:
        return [], [f"promises not checked: {policy} keeps reservations only with exact estimates above 0 s"], []
    if {"reservation", "fixed-reservation"} & set(promises) and not exact and semantics is None:
        return [], [f"promises not checked: those of {policy} depend on the semantics; pass semantics="], []
    return checked_promises(promises, _checks(starts, processors, semantics, tolerance), order, jobs)


def say_none(policy: str) -> str:
    """Return what to say of a policy of which no promise is known."""
    if policy in list_policies():
        return f"{policy} promises nothing"
    known = f"none is known of policy {policy!r}" if policy else "the policy is not known"
    return f"promises not checked: {known}"


def checked_promises(
    promises: tuple[str, ...], checks: dict[str, Callable[[], Broken]], order: IntArray | None, jobs: SoundJobs
) -> tuple[list[str], list[str], list[FoundViolations]]:
    """Return promises, how many there were of each, and what is broken; ``order`` has the rows that they speak of.

    None: the rows of the jobs, in their order.
    """
    notes, findings = [], []
    for promise in promises:
        broken = checks[promise]()
        reason = ", or ended before its plan" if promise == "exact-reservation" else ""
        excused = f", {broken.excused:,} excused: a job outlived its estimate{reason}" if broken.excused else ""
        some = "" if broken.looked_at is None else f", of which {broken.looked_at:,} were looked at, evenly spread"
        notes.append(f"{promise}: {broken.made:,} promises{some}{excused}")
        if len(broken.job):
            findings.append(_told(promise, broken, order, jobs))
    return list(promises), notes, findings


def _checks(
    starts: Starts, processors: int, semantics: str | None, tolerance: float
) -> dict[str, Callable[[], Broken]]:
    """Return how each promise is checked."""
    heads = partial(
        find_delayed_heads, starts, processors, tolerance, one_decision=SEMANTICS.get(semantics or "") == INSTANT
    )
    kinds = ((True, False), (False, False), (True, True))
    compressed, fixed, replanned = (PlanningManner(processors, semantics == "pyss", *kind) for kind in kinds)
    return {
        "order": partial(find_out_of_order, starts, tolerance),
        "no-idle-head": partial(find_idle_heads, starts, processors, tolerance),
        "head-reservation": partial(heads, at_every_start=False),
        "backfilling": partial(heads, at_every_start=True),
        "reservation": partial(find_broken_reservations, starts, compressed, tolerance),
        "exact-reservation": partial(find_broken_reservations, starts, replanned, tolerance),
        "fixed-reservation": partial(find_broken_reservations, starts, fixed, tolerance),
    }


def _told(promise: str, broken: Broken, order: IntArray | None, jobs: SoundJobs) -> FoundViolations:
    """Return broken promises as a finding."""
    job = broken.job if order is None else order[broken.job]
    latest = np.full(len(jobs.number), np.nan)
    latest[job] = broken.latest
    words = _WORDS[promise.removeprefix("exact-").removeprefix("fixed-")]

    def say(i: int) -> str:
        return f"job {jobs.number[i]} starts at {jobs.start[i]:.10g} s; {words.format(latest[i])}"

    return FoundViolations(
        promise, job, jobs.start if promise == "order" else latest, jobs.number, jobs.occurrence, say
    )
