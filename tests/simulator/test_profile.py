# SPDX-License-Identifier: BSD-3-Clause
"""The profile of free processors, against the intervals themselves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.simulator import profile
from swftools.simulator.profile import BLOCK, BLOCKS, CLASSES, FEW, SPARES, USED, Profile, empty_profile
from tests.examples import by_day, examples
from tests.interpreted import BY_ITSELF

pytestmark = pytest.mark.usefixtures("interpreted_by_day")

MACHINE = 6
intervals = st.tuples(st.integers(0, 12).map(float), st.integers(1, 9).map(float), st.integers(1, 3))


class NaiveProfile:
    """The intervals themselves, and sums over all of them."""

    def __init__(self, machine: int = MACHINE) -> None:
        self.machine = machine
        self.now = 0.0
        self.taken: list[tuple[float, float, int]] = []

    def free(self, time: float) -> int:
        """Return the processors that are free at a time."""
        return self.machine - sum(width for begin, end, width in self.taken if begin <= time < end)

    def moments(self) -> list[float]:
        """Return now and the times at which something begins or ends."""
        later = {time for begin, end, _ in self.taken for time in (begin, end) if time > self.now}
        return [self.now, *sorted(later)]

    def least(self, begin: float, end: float) -> int:
        """Return the fewest that are free from one time until another."""
        inside = [start for start, _, _ in self.taken if begin < start < end]
        return min(self.free(time) for time in [begin, *inside])

    def earliest(self, width: int, duration: float, until: float = math.inf) -> float:
        """Return the first time from which so many are free for so long, or until some time; that time if none is."""
        for time in self.moments():
            if time < until and self.least(time, min(time + duration, until)) >= width:
                return time
        return until

    def most(self, end: float) -> int:
        """Return the most that are free at a time before another."""
        return max(self.free(time) for time in self.moments() if time < end)

    def falls_below(self, width: int) -> float:
        """Return the first time at which fewer are free."""
        return next((time for time in self.moments() if self.free(time) < width), math.inf)


def steps_of(steps: Profile) -> list[tuple[float, int]]:
    """Return the steps, and check all that is kept of blocks."""
    found = []
    blocks = int(steps.counts[BLOCKS])
    for block in range(blocks):
        first, size = steps.first[block], steps.size[block]
        levels = steps.levels[first : first + size] + steps.offset[block]
        assert 1 <= size <= BLOCK
        assert (levels.min(), levels.max()) == (steps.low[block], steps.high[block])
        assert steps.begins[block] == steps.times[first]
        check_longest(steps, block, levels)
        found += list(zip(steps.times[first : first + size].tolist(), levels.tolist(), strict=True))
    assert all(steps.size[block] + steps.size[block + 1] > BLOCK // 2 for block in range(blocks - 1))
    places = [*steps.first[:blocks].tolist(), *steps.spare[: steps.counts[SPARES]].tolist()]
    assert sorted(places) == [BLOCK * place for place in range(steps.counts[USED])]
    return found


def check_longest(steps: Profile, block: int, levels: np.ndarray) -> None:
    """Check that nothing is free for longer than is kept, and no less than was so before time passed."""
    first, last = steps.first[block], steps.first[block] + steps.size[block] - 1
    place = first // BLOCK
    for power in range(CLASSES):
        if steps.known[place] >> power & 1:
            longest, begin = 0.0, math.inf
            for time, level in zip(steps.times[first : last + 1], [*levels[:-1], 0], strict=True):
                begin = min(begin, time)
                longest = max(longest, time - begin)
                begin = begin if level >= 2**power else math.inf
            kept = steps.longest[place * CLASSES + power]
            assert kept >= longest
            assert kept == longest or block == 0


def expected_steps(naive: NaiveProfile) -> list[tuple[float, int]]:
    """Return the times at which another number is free than before."""
    found: list[tuple[float, int]] = []
    for time in naive.moments():
        if not found or found[-1][1] != naive.free(time):
            found.append((time, naive.free(time)))
    return found


@pytest.mark.parametrize("interpreted", BY_ITSELF)
@given(
    steps=st.lists(st.tuples(st.sampled_from(["place", "take", "give", "pass", "free"]), intervals), max_size=14),
    question=st.tuples(st.integers(1, MACHINE), st.integers(0, 8).map(float)),
    until=st.integers(1, 25).map(float),
)
def test_profile_is_that_of_intervals(
    interpreted: bool,
    steps: list[tuple[str, tuple[float, float, int]]],
    question: tuple[int, float],
    until: float,
) -> None:
    """Taking, giving back, placing at the earliest time and letting time pass; steps stay few and rise."""

    def kernel(name: str) -> Any:
        function = getattr(profile, name)
        return function.py_func if interpreted else function

    changed, naive = empty_profile(40), NaiveProfile()
    kernel("clear")(changed, 0.0, MACHINE)
    for what, (begin, duration, width) in steps:
        if what == "pass":
            naive.now = max(naive.now, begin)
            kernel("forget_past")(changed, naive.now)
        elif what == "give" and naive.taken:
            start, end, held = naive.taken.pop()
            kernel("add")(changed, max(start, naive.now), end, held)
        elif what == "free" and naive.taken:
            start, end, held = naive.taken.pop()
            time = max(start, naive.now)
            kernel("free_from")(changed, time, held)
            kernel("add")(changed, max(time, end), math.inf, -held)
        elif what == "place" or naive.least(max(begin, naive.now), begin + duration) >= width:
            start = naive.earliest(width, duration) if what == "place" else max(begin, naive.now)
            assert what != "place" or start == kernel("earliest")(changed, width, duration, math.inf)
            naive.taken.append((start, start + duration, width))
            kernel("add")(changed, start, start + duration, -width)
        assert naive.earliest(*question) == kernel("earliest")(changed, *question, math.inf)
        bound = naive.now + until
        assert naive.earliest(*question, bound) == kernel("earliest")(changed, *question, bound)
        assert naive.least(naive.now, bound) == kernel("least")(changed, bound)
        assert naive.free(bound) == kernel("free_at")(changed, bound)
        assert naive.most(bound) == kernel("most")(changed, bound)
        assert naive.falls_below(question[0]) == kernel("falls_below")(changed, question[0])
        assert expected_steps(naive) == steps_of(changed)


@pytest.mark.parametrize("seed", by_day(range(4), 1))
def test_profile_of_many_blocks_is_that_of_intervals(seed: int) -> None:
    """Hundreds of reservations come and go, so that blocks are halved, united and given back; a copy is equal."""
    draw = np.random.default_rng(seed)
    machine, jobs = 40, 500
    changed, copied, naive = empty_profile(jobs), empty_profile(jobs), NaiveProfile(machine)
    profile.clear(changed, 0.0, machine)
    most = 0
    for step in range(900):
        width, duration = int(draw.integers(1, 30)), float(draw.integers(1, 200))
        shrinks = step > 600 or (step > 300 and draw.random() < 0.4)
        if naive.taken and shrinks:
            start, end, held = naive.taken.pop(int(draw.integers(len(naive.taken))))
            profile.add(changed, max(start, naive.now), end, held)
        elif len(naive.taken) < jobs:
            start = profile.earliest(changed, width, duration, math.inf)
            if step % 25 == 0:
                assert naive.earliest(width, duration) == start
            profile.add(changed, start, start + duration, -width)
            naive.taken.append((start, start + duration, width))
        if draw.random() < 0.02:
            naive.now += float(draw.integers(0, 300))
            naive.taken = [taken for taken in naive.taken if taken[1] > naive.now]
            profile.forget_past(changed, naive.now)
        most = max(most, int(changed.counts[BLOCKS]))
        if step % 25 == 0:
            assert expected_steps(naive) == steps_of(changed)
            bound = naive.now + float(draw.integers(1, 3000))
            assert naive.least(naive.now, bound) == profile.least(changed, bound)
            assert naive.earliest(width, duration, bound) == profile.earliest(changed, width, duration, bound)
            profile.copy_profile(changed, copied)
            assert steps_of(changed) == steps_of(copied)
    assert most >= 5


@pytest.mark.parametrize("seed", by_day(range(3), 1))
def test_searches_of_many_blocks_are_those_of_intervals(seed: int) -> None:
    """So many blocks that what is free for too short a time is passed over; also up to where a reservation begins."""
    draw = np.random.default_rng(seed)
    machine, jobs = 40, 1600
    changed, naive = empty_profile(jobs), NaiveProfile(machine)
    profile.clear(changed, 0.0, machine)
    asked = 0
    for step in range(jobs):
        width, duration = int(draw.choice([1, 2, 3, 4, 8, 16, 21])), float(draw.integers(1, 100))
        if naive.taken and draw.random() < 0.3:
            start, end, held = naive.taken.pop(int(draw.integers(len(naive.taken))))
            profile.add(changed, max(start, naive.now), end, held)
        else:  # in holes and far behind, so that there are holes
            start = profile.earliest(changed, width, duration, math.inf)
            start += float(draw.choice([0, 0, 3000])) if draw.random() < 0.5 else 0.0
            if naive.least(start, start + duration) < width:
                continue
            profile.add(changed, start, start + duration, -width)
            naive.taken.append((start, start + duration, width))
        if draw.random() < 0.01:
            naive.now += float(draw.integers(0, 50))
            naive.taken = [taken for taken in naive.taken if taken[1] > naive.now]
            profile.forget_past(changed, naive.now)
        if step > 600 and changed.counts[BLOCKS] > FEW:
            steps = steps_of(changed)
            for _ in range(2):
                asked += 1
                bound = float(steps[int(draw.integers(1, len(steps)))][0] + draw.choice([0, 0, 0.5]))
                for until in (bound, math.inf):
                    found = profile.earliest(changed, width, duration, until)
                    assert earliest_of_steps(steps, width, duration, until) == found
                width, duration = int(draw.integers(1, 30)), float(draw.integers(1, 60))
            assert profile.most(changed, bound) == max(level for time, level in steps if time < bound)
    assert asked > 500


def earliest_of_steps(steps: list[tuple[float, int]], width: int, duration: float, until: float) -> float:
    """Return the first time from which so many are free for so long, or until some time, step by step."""
    begin = until
    for time, level in steps:
        if time >= until or (begin < until and time >= begin + duration):
            break
        if level < width:
            begin = until
        elif begin == until:
            begin = time
    return begin


@examples(0.3)
@given(st.lists(st.tuples(st.integers(0, 300).map(float), st.integers(1, 3)), max_size=300))
def test_freeing_from_times_on_is_adding_without_end(changes: list[tuple[float, int]]) -> None:
    """Sorted or not, and across blocks."""
    for order in (changes, sorted(changes)):
        one, other = empty_profile(300), empty_profile(300)
        for steps in (one, other):
            profile.clear(steps, 0.0, 1)
        for time, width in order:
            profile.free_from(one, time, width)
            profile.add(other, time, math.inf, width)
        assert steps_of(other) == steps_of(one)


def test_profile_of_no_time_and_of_no_end() -> None:
    """An interval that is empty, or over before it begins, changes nothing; one without end holds for ever."""
    steps = empty_profile(2)
    profile.clear(steps, 5.0, 4)
    profile.add(steps, 6.0, 6.0, -3)
    profile.add(steps, 6.0, 5.5, -3)
    assert [(5.0, 4)] == steps_of(steps)
    profile.add(steps, 7.0, math.inf, -3)
    assert [(5.0, 4), (7.0, 1)] == steps_of(steps)
    assert math.inf == profile.earliest(steps, 2, 3.0, math.inf)
