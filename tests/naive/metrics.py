# SPDX-License-Identifier: BSD-3-Clause
"""Measures of schedules, the slow obvious way: loops over jobs in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from swftools.simulator.schedule import Schedule

STOPS = {"killed": "kills", "checkpointed": "checkpoint_restarts", "suspended": "suspensions", "resized": "resizes"}
Rows = dict[tuple[str, str], tuple[int, float | None]]


def jobs_of(schedule: Schedule) -> list[dict[str, Any]]:
    """Return the jobs with their runs, as (start, end, processors, stretches).

    The stretches of a run, one behind the other, are (what, begin, end): overhead, useful, lost.
    """
    jobs = [dict(row) for _, row in schedule.jobs.iterrows()]
    for job in jobs:
        job["runs"] = [
            (run["start_time"], run["end_time"], run["allocated_processors"], naive_stretches(run))
            for _, run in schedule.segments.iterrows()
            if (run["job_number"], run["job_occurrence"]) == (job["job_number"], job["job_occurrence"])
        ]
        job["ends"] = [
            run["ended_by"]
            for _, run in schedule.segments.iterrows()
            if (run["job_number"], run["job_occurrence"]) == (job["job_number"], job["job_occurrence"])
        ]
    return jobs


def naive_stretches(run: Any) -> list[tuple[str, float, float]]:
    """Return what a run was spent on, from when to when."""
    begin, end = run["start_time"], run["end_time"]
    works = begin + run["overhead"]
    loses = end if run["lost_work"] == 0 else works + (end - works) * (1 - run["lost_work"] / run["work"])
    return [("overhead", begin, works), ("useful", works, loses), ("lost", loses, end)]


def naive_time(job: dict[str, Any], what: str, *, by_processors: bool = False, since: float = -math.inf) -> float:
    """Return the seconds, or processor-seconds, that a job's runs from a time on were spent on something."""
    return math.fsum(
        (end - begin) * (processors if by_processors else 1)
        for start, _, processors, stretches in job["runs"]
        for name, begin, end in stretches
        if name == what and start >= since
    )


def naive_percentile(values: list[float], point: float) -> float:
    """Return the value between the two jobs around a share of the way from the first to the last."""
    ordered = sorted(values)
    place = Fraction(point) / 100 * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return float(ordered[low] + (place - low) * Fraction(ordered[high] - ordered[low]))


def naive_slowdown(job: dict[str, Any], bound: float, form: str) -> float | None:
    """Return a job's bounded slowdown; None where it is 0 / 0."""
    took, turnaround = naive_took(job), job["end_time"] - job["submit_time"]
    if max(took, bound) <= 1e-9:
        return None
    if form == "stretched":
        here = bound if took < bound else turnaround - job["wait_time"]
        return (job["wait_time"] + here) / max(took, bound)
    return max(turnaround / max(took, bound), 1.0)


def naive_took(job: dict[str, Any]) -> float:
    """Return the seconds that the work of a job took, without overhead and what was lost."""
    return naive_time(job, "useful")


def naive_statistics(jobs: list[dict[str, Any]], bound: float, form: str, points: list[float]) -> Rows:
    """Return what ``measure`` says of waits, slowdowns and preemptions: over how many jobs, and the value."""

    def ratio(over: float, under: float) -> float | None:
        return over / under if under > 1e-9 else None

    measures: dict[str, Callable[[dict[str, Any]], float | None]] = {
        "wait": lambda job: job["wait_time"],
        "turnaround": lambda job: job["end_time"] - job["submit_time"],
        "expansion_factor": lambda job: ratio(job["end_time"] - job["submit_time"], naive_took(job)),
        "requested_expansion_factor": lambda job: ratio(
            job["wait_time"] + job["requested_time"], job["requested_time"]
        ),
        "bounded_slowdown": lambda job: naive_slowdown(job, bound, form),
    }
    result: Rows = {}
    for name, of in measures.items():
        known = [(of(job), job) for job in jobs if of(job) is not None]
        values: list[Any] = [value for value, _ in known]
        by_width = [(value, job["allocated_processors"]) for value, job in known]
        by_work = [(value, naive_time(job, "useful", by_processors=True)) for value, job in known]
        found = {
            "mean": _mean([(value, 1) for value in values]),
            "mean_by_processors": _mean(by_width),
            "mean_by_work": _mean(by_work),
            "max": max(values, default=None),
            **{f"p{point:g}": naive_percentile(values, point) if values else None for point in points},
        }
        result |= {(name, statistic): (len(values), value) for statistic, value in found.items()}
    wastes = [naive_time(job, "lost") / naive_took(job) for job in jobs if naive_took(job) > 1e-9]
    for name, values in (
        ("preemptions", [len([how for how in job["ends"] if how in STOPS and how != "resized"]) for job in jobs]),
        *((name, [job["ends"].count(how) for job in jobs]) for how, name in STOPS.items()),
        ("lost_work", [naive_time(job, "lost", by_processors=True) for job in jobs]),
        ("overhead", [naive_time(job, "overhead", by_processors=True) for job in jobs]),
        ("run_time_waste", wastes),
    ):
        above = [value for value in values if value > 0]
        found = {
            "total": sum(values) if values else None,
            "mean": _mean([(value, 1) for value in values]),
            "count": len(above) if values else None,
            "max": max(values, default=None),
        }
        result |= {(name, statistic): (len(values), value) for statistic, value in found.items()}
        result[name, "mean_above_0"] = (len(above), _mean([(value, 1) for value in above]))
    return result


def naive_steps(schedule: Schedule) -> list[tuple[float, ...]]:
    """Return time, busy, lost, overhead processors, utilization; jobs that wait, their processors and work, by time."""
    jobs = jobs_of(schedule)
    instants = {job["submit_time"] for job in jobs}
    runs = [run for job in jobs for run in job["runs"]]
    instants |= {time for start, end, _, _ in runs for time in (start, end)}
    stretches = [stretch for *_, parts in runs for stretch in parts if stretch[1] < stretch[2]]
    instants |= {time for _, begin, end in stretches for time in (begin, end)}
    rows = []
    for now in sorted(instants):
        running = [run for job in jobs for run in job["runs"] if run[0] <= now < run[1]]
        waiting = [job for job in jobs if _waits(job, now)]
        busy = sum(width for _, _, width, _ in running)
        rows.append(
            (
                now,
                busy,
                *(
                    sum(width for _, _, width, stretches in running if _does(what, stretches, now))
                    for what in ("lost", "overhead")
                ),
                busy / schedule.processors,
                len(waiting),
                sum(job["allocated_processors"] for job in waiting),
                sum(job["allocated_processors"] * job["requested_time"] for job in waiting),
            )
        )
    return rows


def _does(what: str, stretches: list[tuple[str, float, float]], now: float) -> bool:
    """Whether a run is spent on something at a time."""
    return any(name == what and begin <= now < end for name, begin, end in stretches)


def _waits(job: dict[str, Any], now: float) -> bool:
    """Whether a job is submitted, has a run still to begin, and does not run."""
    runs = job["runs"]
    is_to_start = any(start > now for start, _, _, _ in runs)
    return job["submit_time"] <= now and is_to_start and not any(start <= now < end for start, end, _, _ in runs)


def _mean(pairs: list[tuple[float, float]]) -> float | None:
    """Return the mean of (value, weight); None without weight."""
    weight = math.fsum(weight for _, weight in pairs)
    return math.fsum(value * weight for value, weight in pairs) / weight if weight else None
