# SPDX-License-Identifier: BSD-3-Clause
"""What jobs on nodes waited for: by hand, against the slow twin, and in sum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from swftools.errors import ParameterError
from swftools.machines.outages import NodeOutages
from swftools.simulator import sum_wait_reasons, wait_reasons, wait_reasons_over_time
from swftools.simulator.metrics.wait_reasons import REASONS, REQUESTS
from swftools.simulator.schedule import Schedule
from tests.examples import by_day
from tests.interpreted import all_interpreted
from tests.naive.wait_reasons import naive_wait_reasons
from tests.on_nodes import draw_machine, draw_on_nodes, random_on_nodes

MACHINE = draw_machine(
    "kind count cores memory gpus / thin 2 4 100 0 / fat 1 8 200 2", {"all": "0-2", "thin": "0-1", "fat": "2"}
)


@pytest.fixture(autouse=True)
def _interpreted(request: pytest.FixtureRequest) -> object:
    with all_interpreted("compiled" not in request.node.name):
        yield


def reasons_of(table: str, **options: object) -> dict[int, dict[str, float]]:
    """Return for each job that waited the seconds of its reasons."""
    waits = wait_reasons(draw_on_nodes(table, MACHINE), **options)  # type: ignore[arg-type]
    rows = {row["job_number"]: {name: row[name] for name in REASONS if row[name]} for row in waits.to_dict("records")}
    return {job: reasons for job, reasons in rows.items() if reasons}


def test_cores_then_nodes_then_others() -> None:
    """D waits for cores until B ends; then node 1 has room for it. Where C takes 2 of its cores then, no node has 3."""
    table = """
        job submit start run nodes cores partition
        A   0      0     6   0     3   thin
        B   0      0     4   1     3   thin
        C   4      4     9   1     1   thin
        D   1      8     5   0     3   thin
    """
    assert reasons_of(table) == {4: {"cores": 3, "cycle": 4}}
    assert reasons_of(table.replace("4      4     9   1     1 ", "4      4     9   1     2 ")) == {
        4: {"cores": 3, "fragmented": 2, "cycle": 2}
    }


def test_the_scarcest_resource() -> None:
    """All of memory is held, some cores are free: memory lacks. GPUs go before cores where no node has either."""
    table = """
        job submit start run nodes cores memory gpus partition
        A   0      0     5   2     2     200    0    fat
        B   1      5     4   2     7     50     2    fat
        C   2      9     1   2     8     0      1    fat
    """
    # B has neither cores nor memory in sum, each on no node
    assert reasons_of(table) == {2: {"cores": 4}, 3: {"cores": 3, "gpus": 4}}
    assert reasons_of(table.replace("2     7     50", "2     6     50"))[2] == {"memory": 4}


def test_fewer_nodes_with_enough_is_scarcer() -> None:
    """Of two thin nodes both have too little memory in sum; one has enough memory, and none enough cores."""
    table = """
        job submit start run nodes cores memory partition
        A   0      0     5   0     3     0      thin
        B   0      0     5   1     3     90     thin
        C   1      5     4   0-1   4     80     thin
    """
    assert reasons_of(table) == {3: {"cores": 4}}
    more = table.replace("0     3     0  ", "0     1     0  ").replace("1     3     90", "1     1     90")
    assert reasons_of(more.replace("0-1   4     80", "0-1   3     80")) == {3: {"memory": 4}}


def test_whole_nodes() -> None:
    """C wants a node alone: 6 cores are free, and no node is idle until 4 s, when the scheduler takes its time."""
    table = """
        job submit start run nodes cores exclusive partition
        A   0      0     9   0     1     no  thin
        B   0      0     4   1     1     no  thin
        C   1      6     2   1     1     yes thin
    """
    assert reasons_of(table) == {3: {"whole_nodes": 3, "cycle": 2}}
    held = "job submit start run nodes cores exclusive partition / A 0 0 3 0-1 1 yes thin / B 1 3 2 0 1 no thin"
    assert reasons_of(held) == {2: {"cores": 2}}


def test_held_before_it_was_eligible() -> None:
    """B asked to run from 3 s on; it fits from then on. C became eligible at its start."""
    table = """
        job submit start run nodes cores ready
        A   0      0     2   0     4     0
        B   1      5     2   0     4     3
        C   1      2     1   1     4     2
    """
    assert reasons_of(table) == {2: {"held": 2, "cycle": 2}, 3: {"held": 1}}
    late = table.replace("1      2     1   1     4     2", "1      2     1   1     4     7")
    assert reasons_of(late)[3] == {"held": 1}
    with_window = reasons_of(table, window=(2.0, 4.0))
    assert with_window == {2: {"held": 1, "cycle": 1}}
    steps = wait_reasons_over_time(draw_on_nodes(table, MACHINE))
    assert steps["time"].tolist() == [0, 1, 2, 3, 5, 7]
    assert steps["held"].tolist() == [0, 2, 1, 0, 0, 0]
    assert steps["cycle"].tolist() == [0, 0, 0, 1, 0, 0]


def test_only_nodes_that_are_large_enough_count() -> None:
    """B wants 6 cores of one node: 8 are free on thin nodes, which do not count; the fat one has 5."""
    table = "job submit start run nodes cores partition / A 0 0 4 2 3 all / B 1 4 1 2 6 all"
    assert reasons_of(table) == {2: {"cores": 3}}
    memory = "job submit start run nodes cores memory partition / A 0 0 4 2 1 100 all / B 1 4 1 2 1 150 all"
    assert reasons_of(memory) == {2: {"memory": 3}}


def test_jobs_that_ask_for_the_same() -> None:
    """B and C wait for cores, then for the scheduler, each from its submission to its start."""
    table = "job submit start run nodes cores partition / A 0 0 4 0-1 4 thin / B 1 7 1 0 3 thin / C 2 6 3 1 3 thin"
    assert reasons_of(table) == {2: {"cores": 3, "cycle": 3}, 3: {"cores": 2, "cycle": 2}}
    steps = wait_reasons_over_time(draw_on_nodes(table, MACHINE))
    assert steps["time"].tolist() == [0, 1, 2, 4, 6, 7, 8, 9]
    assert steps["cores"].tolist() == [0, 1, 2, 0, 0, 0, 0, 0]
    assert steps["cycle"].tolist() == [0, 0, 0, 2, 1, 0, 0, 0]


def test_a_job_that_was_stopped() -> None:
    """Its wait ends with its first run, wherever that stands in the table."""
    schedule = draw_on_nodes("job submit start run nodes cores / A 0 0 4 0-2 4 / B 1 4 1 0 4", MACHINE)
    again = schedule.segments.iloc[[1]].assign(start_time=9.0, end_time=11.0)
    for runs in ([schedule.segments, again], [again, schedule.segments]):
        waits = wait_reasons(replace(schedule, segments=pd.concat(runs, ignore_index=True)))
        assert waits[list(REASONS)].sum(axis=1).tolist() == [0, 3]


def test_nodes_that_are_away() -> None:
    """B fits on node 1, which is down until 3 s; the fat node is drained from 5 s on, when C waits for its turn."""
    table = "job submit start run nodes cores partition / A 0 0 8 0 4 thin / B 1 6 1 1 4 thin / C 1 8 2 2 8 fat"
    schedule = draw_on_nodes(table, MACHINE)
    away = outages([1, 2, 0], [-np.inf, 5, 20], [3, np.inf, 30])
    waits = wait_reasons(replace(schedule, machine=replace(MACHINE, outages=away)))
    assert waits[["away", "cycle"]].to_numpy().tolist() == [[0, 0], [2, 3], [3, 4]]
    steps = wait_reasons_over_time(replace(schedule, machine=replace(MACHINE, outages=away)))
    assert steps["time"].tolist() == [0, 1, 3, 5, 6, 7, 8, 10]
    assert steps["away"].tolist() == [0, 1, 0, 1, 1, 1, 0, 0]


def outages(nodes: list[int], begin: list[float], end: list[float]) -> NodeOutages:
    """Return outages that are known when they begin."""
    none = np.full(len(nodes), -1)
    return NodeOutages(np.array(nodes), np.array(begin), np.array(end), np.zeros(len(nodes), int), none + np.inf, none)


def with_outages(schedule: Schedule, seed: int) -> Schedule:
    """Return a schedule on whose machine nodes are away now and then, whatever runs there."""
    draw = np.random.default_rng(seed)
    begin = draw.integers(-3, 15, 4).astype(float)
    away = outages(draw.integers(0, 5, 4).tolist(), begin.tolist(), (begin + draw.integers(1, 9, 4)).tolist())
    assert schedule.machine is not None
    return replace(schedule, machine=replace(schedule.machine, outages=away))


def test_a_partition_that_is_not_known() -> None:
    """So nobody can say what there is room for."""
    schedule = draw_on_nodes("job submit start run nodes cores / A 0 0 4 0 4 / B 1 4 1 0 4", MACHINE)
    runs = schedule.segments.assign(partition=pd.array(["all", "else"], dtype="str"))
    waits = wait_reasons(replace(schedule, segments=runs))
    assert waits["unknown"].tolist() == [0, 3]
    assert waits["partition"].isna().tolist() == [False, True]
    assert wait_reasons_over_time(replace(schedule, segments=runs))["unknown"].tolist() == [0, 1, 0, 0]
    sums = sum_wait_reasons(replace(schedule, segments=runs))
    assert sums.groupby("by", sort=False)["jobs"].sum().tolist() == [2, 1, 2]


def test_sums_by_partition_and_request() -> None:
    """In job-hours; each kind of request once, the first that holds."""
    table = """
        job submit start run   nodes cores gpus exclusive partition
        A   0      0     7200  0-1   4     0    no        thin
        B   0      7200  3600  0     1     0    no        thin
        C   3600   7200  3600  1     1     0    yes       thin
        D   0      0     7200  2     1     2    yes       fat
        E   0      7200  60    2     1     1    no        fat
    """
    sums = sum_wait_reasons(draw_on_nodes(table, MACHINE)).set_index(["by", "name"])
    assert sums.index.tolist() == [
        ("all", "all"),
        *(("partition", name) for name in ("all", "thin", "fat")),
        *(("request", name) for name in REQUESTS),
    ]
    assert sums["jobs"].tolist() == [5, 0, 3, 2, 2, 1, 1, 1]
    assert sums["waited"].tolist() == [5, 0, 3, 2, 2, 1, 0, 2]
    assert sums["cores"].tolist() == [3, 0, 3, 0, 0, 1, 0, 2]
    assert sums["gpus"].tolist() == [2, 0, 0, 2, 2, 0, 0, 0]
    kinds = wait_reasons(draw_on_nodes(table, MACHINE))["request"].tolist()
    assert kinds == ["several nodes", "part of a node", "whole nodes", "GPUs", "GPUs"]


def with_ready(schedule: Schedule, seed: int) -> Schedule:
    """Return a schedule whose jobs were eligible some time between their submission and their start, or before it."""
    jobs = schedule.jobs
    share = np.random.default_rng(seed).choice([-1.0, 0.0, 0.5, 1.0], len(jobs))
    return replace(schedule, jobs=jobs.assign(ready_time=jobs["submit_time"] + np.ceil(share * jobs["wait_time"])))


@pytest.mark.parametrize("seed", by_day(range(300), 12))
def test_twin(seed: int) -> None:
    """Of each job, and at each instant; the wait is the sum."""
    schedule = random_on_nodes(seed, jobs=14)
    schedule = with_ready(schedule, seed) if seed % 2 else schedule
    schedule = with_outages(schedule, seed) if seed % 3 else schedule
    of_jobs, over_time, times = naive_wait_reasons(schedule)
    waits, steps = wait_reasons(schedule), wait_reasons_over_time(schedule)
    assert steps["time"].tolist() == times
    for name in REASONS:
        assert waits[name].tolist() == pytest.approx([each.get(name, 0.0) for each in of_jobs])
        assert steps[name].tolist() == [each.get(name, 0) for each in over_time]
    assert waits[list(REASONS)].sum(axis=1).tolist() == pytest.approx(schedule.jobs["wait_time"].tolist())


@pytest.mark.parametrize("seed", range(5))
def test_windows_add_up(seed: int) -> None:
    """What is waited before a time and from it on is all that is waited."""
    schedule = with_ready(random_on_nodes(seed, jobs=14), seed)
    early, late = (wait_reasons(schedule, window)[list(REASONS)] for window in ((-9.0, 6.5), (6.5, 1e9)))
    assert early.sum().sum() > 0
    assert late.sum().sum() > 0
    np.testing.assert_allclose(early + late, wait_reasons(schedule)[list(REASONS)])


def test_nothing_ran() -> None:
    """There are no rows, and sums are 0; one job alone does not wait."""
    schedule = draw_on_nodes("job submit start run nodes cores / A 0 0 10 0 1", MACHINE)
    empty = replace(schedule, jobs=schedule.jobs[:0], segments=schedule.segments[:0])
    assert len(wait_reasons(empty)) == len(wait_reasons_over_time(empty)) == 0
    assert wait_reasons(empty).columns.tolist() == wait_reasons(schedule).columns.tolist()
    for each in (empty, schedule):
        assert sum_wait_reasons(each)["waited"].tolist() == [0.0] * (1 + 3 + len(REQUESTS))


def test_what_is_refused() -> None:
    """A pool, a window that is none, a start that is missing, a job without a run."""
    schedule = draw_on_nodes("job submit start run nodes cores / A 0 0 4 0 4 / B 1 4 1 0 4", MACHINE)
    with pytest.raises(ParameterError, match=r"is a pool of processors, without nodes; simulate it with machine="):
        wait_reasons(replace(schedule, machine=None))
    with pytest.raises(ParameterError, match=r"window=\(4, 4\) is not \(begin, end\) in seconds"):
        sum_wait_reasons(schedule, window=(4, 4))
    with pytest.raises(ParameterError, match="a submission, start or end of the schedule is missing"):
        wait_reasons(replace(schedule, jobs=schedule.jobs.assign(submit_time=np.nan)))
    with pytest.raises(ParameterError, match=r"job 2 has no run in schedule\.segments; leave it out"):
        wait_reasons_over_time(replace(schedule, segments=schedule.segments[:1]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_compiled_is_interpreted(seed: int) -> None:
    """To the bit."""
    schedule = with_ready(random_on_nodes(seed, jobs=14), seed)
    compiled = wait_reasons(schedule), wait_reasons_over_time(schedule)
    with all_interpreted():
        interpreted = wait_reasons(schedule), wait_reasons_over_time(schedule)
    for one, other in zip(interpreted, compiled, strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
