# SPDX-License-Identifier: BSD-3-Clause
"""What a simulation keeps: users in 32 bits, queues and ranks in 64, zeros that take no memory, a log of one length."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from swftools.kernel import arrays, untouched_zeros
from swftools.simulator import Simulation, schedule_columns, simulate
from tests.strategies import crowded_trace


@pytest.mark.parametrize("bytes_", [arrays.MANY_BYTES - 8, arrays.MANY_BYTES, arrays.MANY_BYTES + 8])
@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.bool_])
def test_zeros_are_zeros(bytes_: int, dtype: type) -> None:
    """They can be written to, each apart from others, and stay while somebody has a part of them."""
    count = bytes_ // np.dtype(dtype).itemsize
    zeros, others = untouched_zeros(count, dtype), untouched_zeros(count, dtype)
    assert (zeros.dtype, zeros.shape, zeros.flags.c_contiguous) == (dtype, (count,), True)
    assert not zeros.any()
    zeros[[0, -1]] = 1
    assert zeros.sum() == 2
    assert not others.any()
    part = zeros[-1:]
    del zeros
    assert part[0] == 1


def test_numbers_beyond_32_bits() -> None:
    """Jobs, users, queues and ranks may have any number of 64 bits; the schedule is that of small numbers."""
    trace = crowded_trace(120, 8)
    kinds = np.arange(120) % 3
    small = trace.jobs.assign(
        job_number=pd.array(np.arange(120), dtype="Int64"),
        user_id=pd.array(kinds, dtype="Int64"),
        queue_id=pd.array(kinds, dtype="Int64"),
        priority_rank=pd.array(kinds, dtype="Int64"),
    )
    large = small.assign(
        job_number=small["job_number"] * 2**33 + 2**40,
        user_id=small["user_id"] * 2**35 + 2**62,
        queue_id=small["queue_id"] + 2**31,
        priority_rank=small["priority_rank"] + 2**40,
    )
    for policy in ("weighted-priority:rank_weight=2", "easy"):
        ours, theirs = (simulate(trace.with_jobs(jobs), policy, predictor="user-average") for jobs in (small, large))
        assert ours.jobs["start_time"].tolist() == theirs.jobs["start_time"].tolist()
        assert theirs.jobs["job_number"].tolist() == large["job_number"].tolist()
    simulation = Simulation(trace.with_jobs(large), "easy").run()
    requests = simulation._machine.requests
    assert requests.queue_id.max() == 2**31 + 2
    assert requests.priority_rank.max() == 2**40 + 2
    assert sorted(set(requests.user_id.tolist())) == [0, 1, 2]


def test_numbers_that_repeat() -> None:
    """Occurrences are those of the trace, in each table of the schedule, and of each table by itself."""
    trace = crowded_trace(40, 8)
    number, run = pd.array(np.arange(40) // 4, dtype="Int64"), trace.jobs["run_time"].copy()
    run.iloc[[2, 9]] = np.nan
    schedule = simulate(trace.with_jobs(trace.jobs.assign(job_number=number, run_time=run)), "sjf")
    keys = [(job // 4, job % 4) for job in range(40)]
    found = [
        list(zip(table["job_number"], table["job_occurrence"], strict=True))
        for table in (schedule.jobs, schedule.excluded, schedule.segments)
    ]
    assert found[1] == [keys[2], keys[9]]
    assert found[0] == [key for key in keys if key not in found[1]]
    assert sorted(found[2]) == found[0]
    starts = dict(zip(found[0], schedule.jobs["start_time"], strict=True))
    assert [starts[key] for key in found[2]] == schedule.segments["start_time"].tolist()


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative"])
def test_the_log_is_long_enough_from_the_beginning(policy: str) -> None:
    """Where each job runs once it is never made longer, which would take its memory twice."""
    simulation = Simulation(crowded_trace(300, 8), policy)
    room = len(simulation._replay.log.job)
    simulation.run()
    assert len(simulation._replay.log.job) == room


@pytest.mark.parametrize("many", [1, 2, 3, 5, 64])
def test_words_of_blocks(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """How runs ended is said in the same words, whatever the portions; portions that say the same share them."""
    how = np.array([4, 4, 4, 4, 4, 4, 0, 4, 5, 3, 4, 4], np.int8)
    monkeypatch.setattr(schedule_columns, "MANY", many)
    words = schedule_columns._words(how)
    assert [schedule_columns.ENDED_BY[int(number)] for number in how] == list(words)
    assert words.dtype == "str"
    assert len(schedule_columns._words(how[:0])) == 0
