# SPDX-License-Identifier: BSD-3-Clause
"""When a job would start that is submitted now: drawn by hand, and beside a whole simulation."""

from __future__ import annotations

import pandas as pd
import pytest

from swftools.errors import ParameterError
from swftools.simulator import free_windows, simulate, what_if
from tests.strategies import crowded_trace

RUNNING = pd.DataFrame({"processors": [3, 2], "requested_time": [100.0, 50.0], "elapsed": [40.0, 20.0]})
WAITING = pd.DataFrame({"processors": [5, 1], "requested_time": [10.0, 200.0], "waited": [30.0, 5.0]})
NONE = RUNNING.iloc[:0], WAITING.iloc[:0]


def waits(policy: str, processors: int, time: float, machine: int = 6) -> tuple[float, int]:
    """Return how long a job would wait, and behind how many."""
    (row,) = what_if(
        RUNNING, WAITING, [{"processors": processors, "requested_time": time}], machine, [policy]
    ).itertuples()
    assert (row.policy, row.processors, row.requested_time) == (policy, processors, time)
    return row.wait, row.behind


def test_by_hand() -> None:
    """Of 6 processors 1 is free, 3 in 30 s, 6 in 60 s; who waits needs 5 for 10 s, and 1 for 200 s.

    First come first served: 5 at 60 s, 1 beside it, so 2 more at 70 s. EASY: the second goes ahead at once, for it
    leaves 5 at 60 s; a job of 1 for 40 s may then start at 30 s, one of 2 for 20 s too, but not one of 40 s.
    """
    assert waits("fcfs", 2, 20.0) == (70.0, 2)
    assert waits("easy", 1, 30.0) == (30.0, 1)
    assert waits("easy", 2, 20.0) == (30.0, 1)
    assert waits("easy", 2, 40.0) == (70.0, 2)
    assert waits("easy", 6, 1.0) == (200.0, 2)


def test_on_an_empty_machine() -> None:
    """It starts at once."""
    found = what_if(*NONE, [{"processors": 4, "requested_time": 10.0}], 4, ["fcfs", "conservative"])
    assert found[["wait", "behind"]].values.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_each_job_is_asked_about_by_itself() -> None:
    """A second one does not wait for the first."""
    jobs = [{"processors": 4, "requested_time": 10.0}] * 2
    assert what_if(*NONE, jobs, 4)["wait"].tolist() == [0.0, 0.0]


def test_a_running_job_beyond_its_request() -> None:
    """It is taken to end in a second."""
    running = pd.DataFrame({"processors": [4], "requested_time": [10.0], "elapsed": [50.0]})
    assert what_if(running, NONE[1], [{"processors": 4, "requested_time": 5.0}], 4)["wait"].tolist() == [1.0]


@pytest.mark.parametrize(("after", "wait"), [(40.0, 30.0), (20.0, 110.0)])
def test_processors_that_fail_later(after: float, wait: float) -> None:
    """Until then they serve: 3 are free in 30 s. If they fail before, the narrow one begins anew at 60 s for 50 s."""
    away = [{"processors": 2, "after": after}]
    found = what_if(RUNNING, NONE[1], [{"processors": 3, "requested_time": 100.0}], 6, ["fcfs"], away=away)
    assert found["wait"].tolist() == [wait]


def test_free_windows() -> None:
    """By hand; jobs that end together are one step."""
    assert free_windows(RUNNING, 6).values.tolist() == [[0.0, 1.0], [30.0, 3.0], [60.0, 6.0]]
    assert free_windows(pd.concat([RUNNING] * 2), 10).values.tolist() == [[0.0, 0.0], [30.0, 4.0], [60.0, 10.0]]
    assert free_windows(NONE[0], 6).values.tolist() == [[0.0, 6.0]]


@pytest.mark.parametrize("policy", ["fcfs", "easy", "sjf-backfill", "lxf-backfill", "conservative-replanned"])
def test_it_is_what_the_simulation_does(policy: str) -> None:
    """The last job of a crowd, asked about by the state at its submission, starts as it does in the whole."""
    whole = crowded_trace(40, seed=6)
    exact = whole.with_jobs(whole.jobs.assign(requested_time=whole.jobs["run_time"]))
    jobs = simulate(exact, policy).jobs
    last = jobs.iloc[-1]
    now = last["submit_time"]
    others = jobs.iloc[:-1]
    running = others[(others["start_time"] < now) & (others["end_time"] > now)]
    waiting = others[others["start_time"] >= now]
    found = what_if(
        pd.DataFrame(
            {
                "processors": running["allocated_processors"],
                "requested_time": running["run_time"],
                "elapsed": now - running["start_time"],
            }
        ),
        pd.DataFrame(
            {
                "processors": waiting["allocated_processors"],
                "requested_time": waiting["run_time"],
                "waited": now - waiting["submit_time"],
            }
        ),
        [{"processors": int(last["allocated_processors"]), "requested_time": float(last["run_time"])}],
        exact.machine_processors,
        [policy],
    )
    assert len(waiting) > 3
    assert found["wait"].item() == pytest.approx(last["wait_time"])


@pytest.mark.parametrize(
    ("job", "machine", "message"),
    [
        ({"processors": 7, "requested_time": 1.0}, 6, "not a whole number from 1 to 6, which there are"),
        ({"processors": 0, "requested_time": 1.0}, 6, "not a whole number from 1 to 6"),
        ({"processors": 1.5, "requested_time": 1.0}, 6, "not a whole number from 1 to 6"),
        ({"processors": 1, "requested_time": 0.0}, 6, "requested_time is not above 0"),
        ({"processors": 1, "requested_time": float("nan")}, 6, "requested_time is not above 0"),
        ({"processors": 1}, 6, "give processors and requested_time"),
        ({"processors": 1, "requested_time": 1.0, "priority": 0.0}, 6, "priority is not above 0"),
        ({"processors": 1, "requested_time": 1.0, "priority": 9.0}, 6, "the jobs that wait have no priorities"),
        ({"processors": 1, "requested_time": 1.0}, 4, "hold 5 processors, and the machine has 4"),
        ({"processors": 1, "requested_time": 1.0}, 0, "processors=0 is not a whole number from 1 on"),
    ],
)
def test_what_cannot_be(job: dict[str, float], machine: int, message: str) -> None:
    """One error that says what is wrong."""
    with pytest.raises(ParameterError, match=message):
        what_if(RUNNING, WAITING, [job], machine)


def test_a_waiting_job_that_is_too_wide() -> None:
    """It could never start."""
    with pytest.raises(ParameterError, match="a waiting job needs 9 processors, and the machine has 6"):
        what_if(RUNNING, WAITING.assign(processors=9), [{"processors": 1, "requested_time": 1.0}], 6)


def test_its_place_by_priority() -> None:
    """By hand on a full machine of 4: jobs of 4 wait with priorities 30, 20, unknown; each takes 100 s from 50 s on."""
    running = pd.DataFrame({"processors": [4], "requested_time": [100.0], "elapsed": [50.0]})
    waiting = pd.DataFrame({"processors": 4, "requested_time": 100.0, "waited": [9.0, 9.0, 0.0]})
    waiting["priority"] = [30.0, 20.0, float("nan")]
    asked = [{"processors": 4, "requested_time": 7.0, "priority": at} for at in (31.0, 30.0, 25.0, 20.0, 19.0)]
    asked += [{"processors": 4, "requested_time": 7.0}]
    found = what_if(running, waiting, asked, 4, ["fcfs", "easy", "conservative"])
    for _, answers in found.groupby("policy"):
        assert answers["wait"].tolist() == [50.0, 150.0, 150.0, 250.0, 250.0, 350.0]
        assert answers["behind"].tolist() == [0, 1, 1, 2, 2, 3]
    numbered = what_if(running.assign(job_number=7), waiting.assign(job_number=[3, 2, 1]), asked[2:3], 4)
    assert numbered["wait"].item() == 150.0


def test_a_priority_where_nobody_waits() -> None:
    """It is alone in the queue."""
    assert (
        what_if(RUNNING, NONE[1], [{"processors": 6, "requested_time": 1.0, "priority": 5.0}], 6)["wait"].item() == 60
    )


def test_a_priority_among_shares_of_the_largest() -> None:
    """Those of squeue's %p are below 1, so each of %Q would be above all."""
    waiting = WAITING.assign(priority=0.5)
    with pytest.raises(ParameterError, match="priorities of the jobs that wait are all below 1, as squeue's %p"):
        what_if(RUNNING, waiting, [{"processors": 1, "requested_time": 1.0, "priority": 9.0}], 6)


def test_jobs_that_end_before_their_request() -> None:
    """Drawn by hand: policies do not know it, so EASY takes whoever is over by the requests; all starts sooner."""
    running = pd.DataFrame({"processors": [3], "requested_time": [600.0], "elapsed": [60.0]})
    waiting = pd.DataFrame({"processors": [4], "requested_time": [100.0], "waited": [20.0]})
    asked = [{"processors": 1, "requested_time": 500.0}, {"processors": 1, "requested_time": 900.0}]
    found = what_if(running.assign(run_time=200.0), waiting.assign(run_time=50.0), asked, 4, ["fcfs", "easy"])
    assert found["wait"].tolist() == [190.0, 190.0, 0.0, 190.0]
    longer = what_if(running.assign(run_time=9e9), waiting.assign(run_time=9e9), asked, 4, ["fcfs", "easy"])
    assert longer.equals(what_if(running, waiting, asked, 4, ["fcfs", "easy"]))
