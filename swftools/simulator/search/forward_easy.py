# SPDX-License-Identifier: BSD-3-Clause
"""Backfilling played forward from the state at a decision, as if no more jobs came: reference values of a trade-off.

References
----------
Chiang and Vasupongayya 2008, section 3.2 (version C): FCFS-backfill and LXF-backfill, which reserve for the first job.
"""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.instants import instant, ratio, time_since, time_until
from swftools.simulator.search.costs import Points, add_costs
from swftools.simulator.search.state import (
    BY_LXF,
    FACTS,
    JOBS,
    MEASURES,
    PROCESSORS,
    REFERENCE,
    SIZE,
    SUBMITTED,
    TERMS,
    TIME,
    TOLD,
    Search,
)
from swftools.simulator.search.steps import take_place


@kernel(allocates=False)
def write_references(search: Search, utility: Points) -> None:
    """Write down the reference value of each measure."""
    aim, values, jobs = search.aim, search.values, search.counts[JOBS]
    for by_lxf in range(2):
        is_asked = False
        for term in range(search.counts[MEASURES]):
            is_asked = is_asked or aim[BY_LXF * TERMS + term] == by_lxf
        if not is_asked:
            continue
        play_backfill(search, by_lxf == 1)
        for term in range(TERMS):
            values[term] = 0.0
        for number in range(jobs):
            place = search.queued[number]
            add_costs(search, utility, place, search.begins[place], 0, 0)
        for term in range(search.counts[MEASURES]):
            if aim[BY_LXF * TERMS + term] == by_lxf:
                aim[REFERENCE * TERMS + term] = values[term]


@kernel(allocates=False)
def play_backfill(search: Search, by_lxf: bool) -> None:
    """Write when each waiting job would begin under EASY, in order of submission or of the expansion factor."""
    facts, rest = search.facts, search.rest
    jobs, size = search.counts[JOBS], search.counts[SIZE]
    for number in range(2 * size):
        rest[number] = search.steps[number]
    for place in range(jobs):
        search.is_placed[place] = 0
    left, step = jobs, 0
    while left > 0:
        present = rest[2 * step]
        head = first_that_may(search, by_lxf, present, -1, 0.0, 0.0, 0.0)
        while head >= 0 and facts[FACTS * head + PROCESSORS] <= rest[2 * step + 1]:
            size = begin_at(search, head, step, size)
            left -= 1
            head = first_that_may(search, by_lxf, present, -1, 0.0, 0.0, 0.0)
        if head < 0:
            break
        # What is free only grows from here on: the head begins where it first fits.
        then = step + 1
        while rest[2 * then + 1] < facts[FACTS * head + PROCESSORS]:
            then += 1
        shadow, extra = rest[2 * then], rest[2 * then + 1] - facts[FACTS * head + PROCESSORS]
        window = time_until(present, shadow)
        other = first_that_may(search, by_lxf, present, head, rest[2 * step + 1], window, extra)
        while other >= 0:
            if facts[FACTS * other + TIME] > window:
                extra -= facts[FACTS * other + PROCESSORS]
            size = begin_at(search, other, step, size)
            left -= 1
            other = first_that_may(search, by_lxf, present, head, rest[2 * step + 1], window, extra)
        step += 1
    for place in range(jobs):
        search.is_placed[place] = 0


@kernel(allocates=False)
def begin_at(search: Search, place: int, step: int, size: int) -> int:
    """Let a job begin at a step; return the number of steps."""
    facts, rest = search.facts, search.rest
    processors, time = facts[FACTS * place + PROCESSORS], facts[FACTS * place + TIME]
    search.begins[place], search.is_placed[place] = rest[2 * step], 1
    last, end = step + 1, instant(rest[2 * step] + time)
    while rest[2 * last] < end:
        last += 1
    return take_place(rest, size, step, last, processors, time)


@kernel(allocates=False)
def first_that_may(
    search: Search, by_lxf: bool, present: float, head: int, free: float, time: float, extra: float
) -> int:
    """Return the first job in the order of a policy that has not begun, or -1; behind a head, that may go ahead of it.

    That may who fits now and either is expected to end in time or needs only what is left over then.
    """
    facts = search.facts
    first, most = -1, 0.0
    for number in range(search.counts[JOBS]):
        place = search.queued[number]
        if search.is_placed[place] == 1 or place == head:
            continue
        processors, takes = facts[FACTS * place + PROCESSORS], facts[FACTS * place + TIME]
        if head >= 0 and (processors > free or (takes > time and processors > extra)):
            continue
        if not by_lxf:
            return place
        factor = 1.0 + ratio(time_since(search.told[TOLD * place + SUBMITTED], present), takes)
        if first < 0 or factor > most:
            first, most = place, factor
    return first
