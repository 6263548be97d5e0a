# SPDX-License-Identifier: BSD-3-Clause
"""Lines that are parts of a job, and runs of one job, however the log is cut."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from swftools.formats.accounting.parts_of_jobs import EarlierRuns, PartsOfJobs, job_key


def keys(*numbers: int) -> np.ndarray:
    """Return keys of jobs."""
    return np.array(numbers, np.uint64)


@pytest.mark.parametrize("cuts", [[], [1], [3], [1, 2, 3, 4, 5], [2, 2]])
def test_parts_wait_for_the_next_record_of_their_job(cuts: list[int]) -> None:
    """Records are letters of key, parts stand before them; what stands behind the last waits on."""
    lines = [("part", 1, 5.0), ("part", 2, 1.0), ("job", 1), ("part", 1, 7.0), ("job", 1), ("part", 2, np.nan)]
    parts = PartsOfJobs(1)
    merged, sums = {}, {}
    places = [0, *cuts, len(lines)]
    for begin, end in pairwise(places):
        here = [(number, *lines[number]) for number in range(begin, end)]
        jobs = [each for each in here if each[1] == "job"]
        others = [each for each in here if each[1] == "part"]
        joined = parts.join(
            keys(*(each[2] for each in jobs)),
            np.array([each[0] for each in jobs], np.int64),
            keys(*(each[2] for each in others)),
            np.array([each[0] for each in others], np.int64),
            np.array([[each[3] for each in others]], np.float64).reshape(1, -1),
        )
        merged |= {int(line): jobs[row][0] for line, row in zip(joined.line, joined.into, strict=True)}
        sums |= {each[0]: total for each, total in zip(jobs, joined.sums[0].tolist(), strict=True)}
    assert {0: 2, 3: 4} == merged
    assert {2: 5.0, 4: 7.0} == sums
    assert [1, 5] == parts.lines_left()


def test_parts_of_other_jobs() -> None:
    """A record of another job behind a part is not its own, whichever has the greater key."""
    parts = PartsOfJobs()
    nothing = np.empty((0, 2))
    joined = parts.join(keys(5), np.array([3]), keys(4, 6), np.array([1, 2]), nothing)
    assert 0 == len(joined.line)
    assert [1, 2] == parts.lines_left()


@pytest.mark.parametrize("cut", range(6))
def test_earlier_runs(cut: int) -> None:
    """Only runs that are followed count, and only of the same submission."""
    key = keys(1, 2, 1, 1, 2, 1)
    submit = np.array([5.0, 5.0, 5.0, 5.0, 5.0, 6.0])
    is_followed = np.array([True, False, True, False, False, True])
    earlier = EarlierRuns()
    found = [earlier.count(key[part], submit[part], is_followed[part]) for part in (slice(0, cut), slice(cut, 6))]
    assert [None, None, 1, 2, None, None] == [None if np.isnan(each) else each for each in np.concatenate(found)]


def test_keys() -> None:
    """Numbers and indices do not mix; what is none counts as 0."""
    number = np.array([1.0, 0.0, 2.0**34 - 1, np.nan, -1.0, 2.0**34])
    index = np.array([0.0, 1.0, 2.0**30 - 1, np.nan, 2.0**30, -5.0])
    assert [1 << 30, 1, 2**64 - 1, 0, 0, 0] == job_key(number, index).tolist()
