# SPDX-License-Identifier: BSD-3-Clause
"""Exact prices of crowds, by brute force: the best of all orders under EASY, with each job and without it.

All jobs are there at once, and run as long as requested. An order is a schedule by EASY backfilling; the best of all
orders is the one whose reported utility is largest in all. What a user pays is what the others would have been worth
in the best schedule without the job, less what they are worth in the best one with it.

Independent of ``swftools.market`` and of the simulator: lists, and time instant by instant.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, permutations
from typing import NamedTuple

Points = Sequence[tuple[float, float]]


class Bidder(NamedTuple):
    """A job, and the utility function that its user reports."""

    width: int
    run: float
    points: Points


def worth(points: Points, time: float) -> float:
    """Return the value of a function at a time: linear between points, 0 behind the last."""
    for (begin, high), (end, low) in pairwise(points):
        if begin <= time <= end:
            return high + (low - high) * (time - begin) / (end - begin)
    return 0.0


def easy(order: Sequence[int], jobs: Sequence[Bidder], processors: int) -> dict[int, float]:
    """Return when each job ends if EASY takes them in an order; all come at 0."""
    waiting, running, ends, now = list(order), [], {}, 0.0
    while waiting:
        free = processors - sum(jobs[job].width for job, end in running if end > now)
        while waiting and jobs[waiting[0]].width <= free:
            free -= _start(waiting, 0, jobs, running, ends, now)
        if waiting:
            head, future, reserved = jobs[waiting[0]].width, free, now
            for end, width in sorted((end, jobs[job].width) for job, end in running if end > now):
                if future >= head and end > reserved:
                    break
                future, reserved = future + width, end
            spare = future - head
            place = 1
            while place < len(waiting):
                job = jobs[waiting[place]]
                in_time = now + job.run <= reserved
                if job.width <= free and (in_time or job.width <= spare):
                    spare -= 0 if in_time else job.width
                    free -= _start(waiting, place, jobs, running, ends, now)
                else:
                    place += 1
            now = min(end for _, end in running if end > now)
    return ends


def _start(
    waiting: list[int],
    place: int,
    jobs: Sequence[Bidder],
    running: list[tuple[int, float]],
    ends: dict[int, float],
    now: float,
) -> int:
    """Let a waiting job start; return its width."""
    job = waiting.pop(place)
    ends[job] = now + jobs[job].run
    running.append((job, ends[job]))
    return jobs[job].width


def best(who: Sequence[int], jobs: Sequence[Bidder], processors: int) -> tuple[float, dict[int, float]]:
    """Return the largest reported utility of all orders of some jobs, and its ends; of equal ones the first's."""
    found: tuple[float, dict[int, float]] = (-1.0, {})
    for order in permutations(who):
        ends = easy(order, jobs, processors)
        total = sum(worth(jobs[job].points, ends[job]) for job in who)
        if total > found[0] + 1e-9:
            found = total, ends
    return found


def exact(jobs: Sequence[Bidder], processors: int) -> tuple[dict[int, float], list[float]]:
    """Return the ends in the best schedule, and what each user pays."""
    everybody = range(len(jobs))
    total, ends = best(everybody, jobs, processors)
    prices = []
    for job in everybody:
        others = [other for other in everybody if other != job]
        without, _ = best(others, jobs, processors)
        prices.append(without - (total - worth(jobs[job].points, ends[job])))
    return ends, prices


def gain(job: int, truth: Points, jobs: Sequence[Bidder], processors: int) -> float:
    """Return what a user has in the end, by the true function, where jobs are as reported."""
    ends, prices = exact(jobs, processors)
    return worth(truth, ends[job]) - prices[job]
