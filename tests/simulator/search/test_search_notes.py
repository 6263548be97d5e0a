# SPDX-License-Identifier: BSD-3-Clause
"""What a search notes: all of its decisions, and of orders and improvements the newest that there is room for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from swftools import Trace
from swftools.simulator import simulate
from swftools.simulator.schedule import Schedule
from swftools.simulator.search import notes
from swftools.simulator.search.notes import recorded_search


def outlived_again_and_again(users: int) -> Trace:
    """Return jobs that are predicted to take 1 s and take days, while a wide and a narrow one wait.

    Each user's first job takes 1 s, and so the second is thought to; a prediction that is outlived is raised a little,
    eleven times, and each time there is a decision, since the narrow job fits but would delay the wide one.
    """
    jobs = [(0.0, 1.0, 4e5, 2, user) for user in range(users)]
    jobs += [(1000.0, 3.5e5, 4e5, 2, user) for user in range(users)]
    jobs += [(1000.0, 10.0, 4e6, 3, users), (1000.0, 10.0, 4e7, 1, users + 1)]
    submit, run, request, width, user = zip(*jobs, strict=True)
    return Trace.from_columns(
        machine_processors=3,
        job_number=list(range(len(jobs))),
        submit_time=submit,
        run_time=run,
        requested_time=request,
        allocated_processors=width,
        user_id=user,
    )


def test_every_decision_is_told_however_many_a_job_makes() -> None:
    """From the first on, so that the search can be had again; here are a dozen for each long job."""
    trace = outlived_again_and_again(30)
    given = {"branching": "sjf", "nodes": 0, "predictor": "last-model:outlived=increments"}
    schedule = simulate(trace, "search", explain=True, **given)
    decisions = schedule.notes["decisions"]["decision"]
    assert len(decisions) > 30 * 10
    assert decisions.tolist() == list(range(len(decisions)))
    again = simulate(trace, recorded_search(schedule), predictor="last-model:outlived=increments")
    assert again.jobs["start_time"].tolist() == schedule.jobs["start_time"].tolist()


def all_waiting(jobs: int) -> Trace:
    """Return jobs that come together and go one by one."""
    rng = np.random.default_rng(7)
    run = rng.integers(1, 500, jobs).astype(float)
    return Trace.from_columns(
        machine_processors=4,
        job_number=list(range(jobs)),
        submit_time=[0.0] * jobs,
        run_time=run,
        requested_time=run,
        allocated_processors=[3] * jobs,
    )


@pytest.fixture(scope="module")
def explained() -> Iterator[Schedule]:
    """Have a schedule of more orders and improvements than there is room for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(notes, "IMPROVEMENTS_A_JOB", 2)
        patch.setattr(notes, "ORDERS_A_JOB", 6)
        yield simulate(all_waiting(40), "search", objective="lexical(avgX)", branching="ljf", nodes=300, explain=True)


def test_of_orders_the_newest_are_kept_whole(explained: Schedule) -> None:
    """Those of the last decisions, without a gap, each with all its jobs."""
    decisions, orders = explained.notes["decisions"], explained.notes["orders"]
    assert decisions["waiting"].tolist() == list(range(40, 0, -1))
    kept = orders["decision"].unique().tolist()
    assert kept == list(range(kept[0], 40))
    assert kept[0] > 0
    for decision, rows in orders.groupby("decision"):
        count = int(decisions["waiting"].iloc[decision])
        assert rows["chosen_place"].tolist() == list(range(count))
        assert sorted(rows["heuristic_place"]) == list(range(count))
        assert rows["job_number"].is_unique


def test_of_improvements_the_newest_are_kept(explained: Schedule) -> None:
    """Of each decision but the first that are there all: from the heuristic's order, if kept, to the best."""
    decisions, improvements = explained.notes["decisions"], explained.notes["improvements"]
    kept = improvements["decision"].unique().tolist()
    assert kept == list(range(kept[0], 40))
    assert kept[0] > 0
    for decision, rows in list(improvements.groupby("decision"))[1:]:
        told = decisions.iloc[decision]
        assert len(rows) == told["improvements"] + 1
        assert rows["value_1"].iloc[0] == told["first_1"]
        assert rows["nodes"].iloc[0] == told["waiting"]
        assert rows["iteration"].iloc[0] == 0
        assert rows["value_1"].iloc[-1] == told["best_1"]
        assert (np.diff(rows["nodes"]) > 0).all()
        assert (np.diff(rows["value_1"]) < 0).all()
        assert rows["nodes"].iloc[-1] <= told["nodes"]
