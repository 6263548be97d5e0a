# SPDX-License-Identifier: BSD-3-Clause
"""Which processors jobs get in pictures: as a naive twin says, and none by two at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from swftools.simulator.placement import on_processors

Plan = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int64]]


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Draw jobs that often start and end together; some take no time, or no processor."""
    jobs = draw(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 6), st.integers(0, 7)), max_size=14))
    starts, times, widths = np.array(jobs, dtype=np.int64).reshape(-1, 3).T
    return starts.astype(float), (starts + times).astype(float), widths


def naive(starts: npt.ArrayLike, ends: npt.ArrayLike, widths: npt.ArrayLike, processors: int) -> dict[int, list[int]]:
    """Return the processors of each job, by looking at every processor and every place."""
    from_when, until, wide = (np.asarray(each).tolist() for each in (starts, ends, widths))
    count = max(processors, sum(wide))
    busy_until = [float("-inf")] * count
    given_ = {}
    for job in sorted(range(len(wide)), key=lambda each: (from_when[each], -wide[each])):
        free = [processor for processor in range(count) if busy_until[processor] <= from_when[job]]
        chosen = free[: wide[job]]
        for first in range(processors - wide[job] + 1):
            if all(processor in free for processor in range(first, first + wide[job])):
                chosen = list(range(first, first + wide[job]))
                break
        for processor in chosen:
            busy_until[processor] = until[job]
        given_[job] = chosen
    return given_


@given(plans(), st.integers(1, 8))
def test_as_its_twin_says(plan: Plan, processors: int) -> None:
    """The first gap that a job fits, else the lowest processors; pieces neither touch nor are empty."""
    found = dict(on_processors(*plan, processors))
    assert {job: [each for low, high in pieces for each in range(low, high)] for job, pieces in found.items()} == (
        naive(*plan, processors)
    )
    assert all(low < high for pieces in found.values() for low, high in pieces)


@given(plans(), st.integers(1, 8))
def test_no_processor_is_used_twice_at_a_time(plan: Plan, processors: int) -> None:
    """Each job has its width, and beside the machine's processors none is used that is not needed."""
    starts, ends, widths = plan
    found = dict(on_processors(*plan, processors))
    for time in np.unique(starts):
        running = [job for job in found if starts[job] <= time < ends[job]]
        used = [each for job in running for low, high in found[job] for each in range(low, high)]
        assert len(used) == len(set(used)) == widths[running].sum()
        if widths[running].sum() <= processors and all(widths[starts <= time] <= processors):
            # A machine that has always had room needs no other processors.
            loads = [widths[(starts <= each) & (each < ends)].sum() for each in np.unique(starts[starts <= time])]
            assert max(loads) > processors or max(used, default=0) < processors
