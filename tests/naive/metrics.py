"""Measures of schedules, the slow obvious way: loops over jobs in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from swftools.simulator.schedule import Schedule

Rows = dict[tuple[str, str], tuple[int, float | None]]


def jobs_of(schedule: Schedule) -> list[dict[str, Any]]:
    """Return the jobs with their runs, as (start, end, processors, lost)."""
    jobs = [dict(row) for _, row in schedule.jobs.iterrows()]
    for job in jobs:
        job["runs"] = [
            (run["start_time"], run["end_time"], run["allocated_processors"], run["ended_by"] == "killed")
            for _, run in schedule.segments.iterrows()
            if (run["job_number"], run["job_occurrence"]) == (job["job_number"], job["job_occurrence"])
        ]
    return jobs


def naive_percentile(values: list[float], point: float) -> float:
    """Return the value between the two jobs around a share of the way from the first to the last."""
    ordered = sorted(values)
    place = Fraction(point) / 100 * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return float(ordered[low] + (place - low) * Fraction(ordered[high] - ordered[low]))


def naive_slowdown(job: dict[str, Any], bound: float, form: str) -> float | None:
    """Return a job's bounded slowdown; None where it is 0 / 0."""
    wait, run = job["wait_time"], job["run_time"]
    if max(run, bound) <= 1e-9:
        return None
    if form == "stretched":
        return (wait + max(run, bound)) / max(run, bound)
    return max((wait + run) / max(run, bound), 1.0)


def naive_statistics(jobs: list[dict[str, Any]], bound: float, form: str, points: list[float]) -> Rows:
    """Return what ``measure`` says of waits, slowdowns and preemptions: over how many jobs, and the value."""

    def ratio(over: float, under: float) -> float | None:
        return over / under if under > 1e-9 else None

    measures: dict[str, Callable[[dict[str, Any]], float | None]] = {
        "wait": lambda job: job["wait_time"],
        "turnaround": lambda job: job["wait_time"] + job["run_time"],
        "expansion_factor": lambda job: ratio(job["wait_time"] + job["run_time"], job["run_time"]),
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
        by_work = [(value, job["allocated_processors"] * job["run_time"]) for value, job in known]
        found = {
            "mean": _mean([(value, 1) for value in values]),
            "mean_by_processors": _mean(by_width),
            "mean_by_work": _mean(by_work),
            "max": max(values, default=None),
            **{f"p{point:g}": naive_percentile(values, point) if values else None for point in points},
        }
        result |= {(name, statistic): (len(values), value) for statistic, value in found.items()}
    lost = [sum(end - start for start, end, _, is_lost in job["runs"] if is_lost) for job in jobs]
    wastes = [time / job["run_time"] for time, job in zip(lost, jobs, strict=True) if job["run_time"] > 1e-9]
    for name, values in (("preemptions", [len(job["runs"]) - 1 for job in jobs]), ("run_time_waste", wastes)):
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
    instants |= {time for job in jobs for start, end, _, _ in job["runs"] for time in (start, end)}
    rows = []
    for now in sorted(instants):
        running = [run for job in jobs for run in job["runs"] if run[0] <= now < run[1]]
        waiting = [job for job in jobs if _waits(job, now)]
        busy = sum(width for _, _, width, _ in running)
        rows.append(
            (
                now,
                busy,
                sum(width for _, _, width, lost in running if lost),
                0,
                busy / schedule.processors,
                len(waiting),
                sum(job["allocated_processors"] for job in waiting),
                sum(job["allocated_processors"] * job["requested_time"] for job in waiting),
            )
        )
    return rows


def _waits(job: dict[str, Any], now: float) -> bool:
    """Whether a job is submitted, has a run still to begin, and does not run."""
    runs = job["runs"]
    is_to_start = any(start > now for start, _, _, _ in runs)
    return job["submit_time"] <= now and is_to_start and not any(start <= now < end for start, end, _, _ in runs)


def _mean(pairs: list[tuple[float, float]]) -> float | None:
    """Return the mean of (value, weight); None without weight."""
    weight = math.fsum(weight for _, weight in pairs)
    return math.fsum(value * weight for value, weight in pairs) / weight if weight else None
