# SPDX-License-Identifier: BSD-3-Clause
"""Measures of machines of nodes: schedules drawn by hand, a naive twin, and what does not change for a pool."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from swftools.errors import ParameterError
from swftools.machines.amounts import MOST_MEMORY
from swftools.machines.node_table import GPU
from swftools.machines.outages import node_outages
from swftools.machines.parts import Outage
from swftools.simulator import mean_over_time, measure
from swftools.simulator.measure_definitions import MEASURES, NODES
from swftools.simulator.metrics.over_time_on_nodes import nodes_over_time
from swftools.simulator.schedule import Schedule
from tests.examples import by_day
from tests.interpreted import BY_ITSELF, all_interpreted
from tests.naive.nodes_over_time import naive_runs, naive_state
from tests.on_nodes import draw_machine, draw_on_nodes, random_on_nodes

MACHINE = draw_machine("kind count cores memory gpus / thin 2 4 100 0 / fat 2 8 200 2", {"all": "0-3", "fat": "2-3"})
THREE = """
    job submit start run nodes cores memory gpus partition exclusive
    A   0      0     10  0-1   2     50     0    all       no
    B   0      0     4   2     1     10     0.5  fat       yes
    C   1      10    5   0-1   3     10     0    all       no
"""


@pytest.fixture(autouse=True, params=BY_ITSELF)
def _interpreted(request: pytest.FixtureRequest) -> object:
    with all_interpreted(request.param):
        yield


def steps_of(schedule: Schedule, **chosen: str) -> dict[str, list[float]]:
    """Return the step functions as lists."""
    return {str(name): column.tolist() for name, column in nodes_over_time(schedule, **chosen).items()}


def values_of(schedule: Schedule, **options: object) -> dict[tuple[str, str], float]:
    """Return the measures of nodes."""
    table = measure(schedule, **options)  # type: ignore[arg-type]
    of_nodes = table[table["measure"].isin(NODES)]
    return {(row.measure, row.statistic): row.value for row in of_nodes.itertuples()}


def test_over_time_by_hand() -> None:
    """B has all of a fat node alone; C has room on the fat ones once B has ended, and before that in sum."""
    assert steps_of(draw_on_nodes(THREE, MACHINE)) == {
        "time": [0, 1, 4, 10, 15],
        "busy_nodes": [3, 3, 2, 2, 0],
        "busy_cores": [12, 12, 4, 6, 0],
        "busy_memory": [300, 300, 100, 20, 0],
        "busy_gpus": [2, 2, 0, 0, 0],
        "node_utilization": [0.75, 0.75, 0.5, 0.5, 0],
        "utilization": [12 / 24, 12 / 24, 4 / 24, 6 / 24, 0],
        "memory_utilization": [300 / 600, 300 / 600, 100 / 600, 20 / 600, 0],
        "gpu_utilization": [0.5, 0.5, 0, 0, 0],
        "fragmentation": [0, 1, 0, 0, 0],
    }


def test_over_time_of_some_nodes() -> None:
    """Those of a kind, of a partition, and of both; fragmentation stays that of the machine."""
    schedule = draw_on_nodes(THREE, MACHINE)
    thin = steps_of(schedule, kind="thin")
    assert thin["busy_cores"] == [4, 4, 4, 6, 0]
    assert thin["utilization"] == [0.5, 0.5, 0.5, 0.75, 0]
    assert thin["node_utilization"] == [1, 1, 1, 1, 0]
    assert np.isnan(thin["gpu_utilization"]).all()
    assert thin["fragmentation"] == [0, 1, 0, 0, 0]
    fat = steps_of(schedule, partition="fat")
    assert fat["busy_gpus"] == [2, 2, 0, 0, 0]
    assert fat["utilization"] == [0.5, 0.5, 0, 0, 0]
    assert steps_of(schedule, kind="thin", partition="fat")["busy_nodes"] == [0, 0, 0, 0, 0]


def test_measures_by_hand() -> None:
    """Means over 15 s, from the first submission to the last end; a kind without GPUs has no row of them."""
    assert values_of(draw_on_nodes(THREE, MACHINE)) == pytest.approx(
        {
            ("node_utilization", "time_mean"): (3 * 4 + 2 * 11) / (4 * 15),
            ("node_utilization", "max"): 0.75,
            ("memory_utilization", "time_mean"): (300 * 4 + 100 * 6 + 20 * 5) / (600 * 15),
            ("memory_utilization", "max"): 0.5,
            ("gpu_utilization", "time_mean"): 2 * 4 / (4 * 15),
            ("gpu_utilization", "max"): 0.5,
            ("fragmentation", "time_mean"): 3 / 15,
            ("gpu_packing", "time_mean"): 1.0,
            ("kind_utilization", "thin"): (4 * 10 + 6 * 5) / (8 * 15),
            ("kind_utilization", "fat"): 8 * 4 / (16 * 15),
            ("kind_memory_utilization", "thin"): (100 * 10 + 20 * 5) / (200 * 15),
            ("kind_memory_utilization", "fat"): 200 * 4 / (400 * 15),
            ("kind_gpu_utilization", "fat"): 2 * 4 / (4 * 15),
            ("partition_utilization", "all"): (12 * 4 + 4 * 6 + 6 * 5) / (24 * 15),
            ("partition_utilization", "fat"): 8 * 4 / (16 * 15),
            ("partition_memory_utilization", "all"): (300 * 4 + 100 * 6 + 20 * 5) / (600 * 15),
            ("partition_memory_utilization", "fat"): 200 * 4 / (400 * 15),
            ("partition_gpu_utilization", "all"): 2 * 4 / (4 * 15),
            ("partition_gpu_utilization", "fat"): 2 * 4 / (4 * 15),
        }
    )


def test_a_window() -> None:
    """Only what lies in it, as for the utilization of all cores."""
    schedule = draw_on_nodes(THREE, MACHINE)
    values = values_of(schedule, window=(2.0, 12.0))
    assert values["fragmentation", "time_mean"] == pytest.approx(2 / 10)
    assert values["kind_utilization", "thin"] == pytest.approx((4 * 8 + 6 * 2) / (8 * 10))
    assert values["node_utilization", "time_mean"] == pytest.approx((3 * 2 + 2 * 8) / (4 * 10))
    assert values_of(schedule, window=(5.0, 9.0))["gpu_utilization", "max"] == 0
    table = measure(schedule, window=(2.0, 12.0)).set_index(["measure", "statistic"])["value"]
    assert table["partition_utilization", "all"] == pytest.approx(table["utilization", "time_mean"])


@pytest.mark.parametrize(
    ("job", "is_fragmented"),
    [
        ("1 10 5 0   4 0  0 all no", [1, 1]),  # 4 cores in sum; none of the nodes has more than 3
        ("1 10 5 0   3 0  0 all no", [0, 0]),  # the second node has 3
        ("1 10 5 0-1 2 0  0 all no", [1, 0]),  # 4 in sum, and one node only has 2; from 5 s on both have
        ("1 10 5 0-1 3 0  0 all no", [0, 0]),  # 6 in sum only from 5 s on, when it has room
        ("1 10 5 0   1 80 0 all no", [1, 0]),  # memory: 100 in sum, 70 and 30 on nodes, then 90
        ("1 10 5 0-1 1 55 0 all no", [0, 1]),  # 110 in sum from 5 s on only, on nodes 90 and 30
        ("1 10 5 0   1 0  0 all yes", [1, 1]),  # a whole node: 4 cores and 100 MB in sum, and none is empty
        ("1 10 5 0-1 1 0  0 all yes", [0, 0]),  # two whole nodes: 8 cores
    ],
)
def test_fragmentation_by_hand(job: str, is_fragmented: list[int]) -> None:
    """Of 4 cores and 100 MB two nodes have 1 and 3 cores free, from 5 s on 3 and 3; 70 and 30 MB, then 90 and 30."""
    machine = draw_machine("kind count cores memory gpus / n 2 4 100 0")
    runs = "A 0 0 5 0 2 20 0 all no / B 0 0 10 0 1 10 0 all no / C 0 0 10 1 1 70 0 all no"
    headings = "job submit start run nodes cores memory gpus partition exclusive"
    schedule = draw_on_nodes(f"{headings} / {runs} / D {job}", machine)
    steps = nodes_over_time(schedule).set_index("time")["fragmentation"]
    assert steps[[1.0, 5.0]].tolist() == is_fragmented
    assert steps[[0.0, 10.0]].tolist() == [0, 0]  # nobody waits


def test_who_is_first() -> None:
    """By when they were eligible; the second is looked at once the first has started, in its own partition."""
    table = """
        job submit start run nodes cores memory gpus partition exclusive ready
        A   0      0     9   0     2     0      0    all       no        0
        B   0      0     9   1     2     0      0    all       no        0
        C   1      9     1   0     4     0      0    all       no        5
        D   2      6     1   2-3   8     0      0    fat       no        2
    """
    late = draw_on_nodes(table, draw_machine("kind count cores / n 2 4 / fat 2 8", {"all": "0-1", "fat": "2-3"}))
    steps = nodes_over_time(late)
    assert steps["time"].tolist() == [0, 1, 2, 5, 6, 7, 9, 10]
    assert steps["fragmentation"].tolist() == [0, 0, 0, 0, 1, 1, 0, 0]  # from 2 s on D is first, and has room
    early = replace(late, jobs=late.jobs.drop(columns="ready_time"))
    assert nodes_over_time(early)["fragmentation"].tolist() == [0, 1, 1, 1, 1, 0, 0]


@pytest.mark.parametrize(
    ("of_a", "of_b", "of_c"),
    [
        ("6 0   0", ["4 0   0", "5 0   0"], "6 0   0"),  # of 8 cores 2 and 4 are free, then 3
        ("1 150 0", ["1 100 0", "1 101 0"], "1 150 0"),  # of 200 MB 50 and 100, then 99
        ("6 0   0", ["6 0   0", "7 0   0"], "4 0 0.5"),  # 2 cores and 2, then 1; thin nodes have no GPU
    ],
)
def test_nodes_that_are_too_small_have_no_room(of_a: str, of_b: list[str], of_c: str) -> None:
    """C fits on none: in sum fat nodes have just enough for it, then one less; what thin ones have is none for it."""
    headings = "job submit start run nodes cores memory gpus"
    for of_this, is_fragmented in zip(of_b, (1, 0), strict=True):
        schedule = draw_on_nodes(f"{headings} / A 0 0 9 2 {of_a} / B 0 0 9 3 {of_this} / C 1 9 1 2 {of_c}", MACHINE)
        assert nodes_over_time(schedule)["fragmentation"].tolist() == [0, is_fragmented, 0, 0]


def test_a_job_with_several_runs() -> None:
    """It waits for the first of them, and no more."""
    once = draw_on_nodes("job submit start run nodes cores / A 0 0 9 0 3 / B 0 0 9 1 3 / C 1 20 1 0 2", MACHINE)
    again = once.segments.iloc[[2]].assign(start_time=4.0, end_time=5.0, nodes=pd.Series([[2, 2]], index=[2]))
    twice = replace(once, segments=pd.concat([again, once.segments], ignore_index=True))
    assert set(nodes_over_time(once)["fragmentation"]) == {0}
    small = draw_machine("kind count cores / n 2 4 / m 1 1")
    steps = [nodes_over_time(replace(each, machine=small)) for each in (once, twice)]
    assert steps[0].loc[steps[0]["fragmentation"] == 1, "time"].tolist() == [1]
    assert steps[1].loc[steps[1]["fragmentation"] == 1, "time"].tolist() == [1]
    assert steps[0]["time"].tolist() == [0, 1, 9, 20, 21]
    assert steps[1]["time"].tolist() == [0, 1, 4, 5, 9, 20, 21]


def test_memory_that_is_not_known() -> None:
    """It never lacks, and counts for nothing: neither what such a node has nor what runs hold there."""
    odd = replace(MACHINE, memory=np.array([100, MOST_MEMORY, 200, MOST_MEMORY]))
    steps, values = steps_of(draw_on_nodes(THREE, odd)), values_of(draw_on_nodes(THREE, odd))
    assert steps["busy_memory"] == [250, 250, 50, 10, 0]
    assert steps["memory_utilization"] == [250 / 300, 250 / 300, 50 / 300, 10 / 300, 0]
    assert values["kind_memory_utilization", "thin"] == pytest.approx((50 * 10 + 10 * 5) / (100 * 15))
    assert values["partition_memory_utilization", "fat"] == pytest.approx(200 * 4 / (200 * 15))
    none = values_of(draw_on_nodes(THREE, replace(MACHINE, memory=np.full(4, MOST_MEMORY))))
    assert [name for name, _ in none if "memory" in name] == []


def test_runs_of_no_length() -> None:
    """They are never seen, also where they take a node that is given back at that instant."""
    table = "job submit start run nodes cores / A 0 0 5 0 4 / B 1 5 0 0 4 / C 1 5 2 0 4"
    steps = steps_of(draw_on_nodes(table, draw_machine("kind count cores / n 1 4")))
    assert steps["time"] == [0, 1, 5, 7]
    assert steps["busy_cores"] == [4, 4, 4, 0]
    assert steps["busy_nodes"] == [1, 1, 1, 0]


@pytest.mark.parametrize("seed", by_day(range(300), 40))
def test_twin(seed: int) -> None:
    """At each instant, and in sum: what each node has, by kind, by partition, and whether the queue is fragmented."""
    schedule = random_on_nodes(seed)
    machine = schedule.machine
    assert machine is not None
    runs, steps = naive_runs(schedule), nodes_over_time(schedule)
    kind = str(machine.kinds[seed % 2])
    of_kind = nodes_over_time(schedule, kind=kind, partition="odd")
    times = sorted({*schedule.jobs["submit_time"], *schedule.segments["start_time"], *schedule.segments["end_time"]})
    assert steps["time"].tolist() == times
    spent: dict[tuple[str, int], float] = {}
    for row, time in enumerate(times):
        state = naive_state(schedule, runs, time)
        assert steps["fragmentation"][row] == state["is_fragmented"]
        assert steps["busy_nodes"][row] == sum(many > 0 for many in state["users"].values())
        for name, factor in (("cores", 1), ("memory", 1), ("gpus", GPU)):
            held = {node: each[name] for node, each in state["held"].items()}
            assert steps[f"busy_{name}"][row] * factor == pytest.approx(sum(held.values()))
            some = [node for node in (0, 2, 3) if machine.kinds[machine.kind[node]] == kind]
            assert of_kind[f"busy_{name}"][row] * factor == pytest.approx(sum(held[node] for node in some))
            for node, value in held.items():
                length = times[row + 1] - time if row + 1 < len(times) else 0.0
                spent[name, node] = spent.get((name, node), 0.0) + value * length
    values, whole = values_of(schedule), times[-1] - times[0]
    assert values["fragmentation", "time_mean"] == pytest.approx(mean_over_time(steps, "fragmentation"))
    assert values["node_utilization", "time_mean"] == pytest.approx(mean_over_time(steps, "node_utilization"))
    for each in machine.partitions:
        expected = sum(spent["cores", int(node)] for node in each.nodes) / (machine.cores[each.nodes].sum() * whole)
        assert values["partition_utilization", each.name] == pytest.approx(expected)
    for name, title in (("memory", "kind_memory_utilization"), ("gpus", "kind_gpu_utilization")):
        for place, word in enumerate(machine.kinds):
            nodes = np.flatnonzero(machine.kind == place)
            size = getattr(machine, name)[nodes].sum()
            assert ((title, word) in values) == (size > 0)
            if size:
                expected = sum(spent[name, int(node)] for node in nodes) / (size * whole)
                assert values[title, word] == pytest.approx(expected)


def test_fragmentation_happens() -> None:
    """The schedules that are drawn are worth looking at."""
    shares = [nodes_over_time(random_on_nodes(seed))["fragmentation"].mean() for seed in range(10)]
    assert 0.05 < np.mean(shares) < 0.9


def test_a_pool_has_none_of_them() -> None:
    """Its table is what it was: rows for rows; and those of nodes stand behind all others."""
    away = node_outages([Outage(nodes=("n",), begin=1.0, end=2.0)], [[3]])
    switched = replace(MACHINE, switch=np.zeros(4, np.int64), switches=("s",), outages=away)
    on_nodes = draw_on_nodes(THREE, switched)
    pool = replace(on_nodes, machine=None)
    whole, plain = measure(on_nodes), measure(pool)
    assert not plain["measure"].isin(NODES).any()
    assert set(NODES) <= set(MEASURES)
    first = pd.DataFrame(whole)[: len(plain)]
    delays = ["is_blocked", "head_delay", "head_delay_by_later", "reservation_violation", "slowdown_of_violation"]
    of_heads = plain["measure"].isin(delays)
    pd.testing.assert_frame_equal(first[~of_heads], pd.DataFrame(plain)[~of_heads])
    assert first["value"][of_heads].isna().all()  # the blocked head is that of a pool
    assert set(whole["measure"][len(plain) :]) == set(NODES)
    assert len(measure(on_nodes, by="allocated_processors")) == len(measure(pool, by="allocated_processors"))


def test_nothing_ran() -> None:
    """Values are missing, and no row lacks; nor where no time passes."""
    schedule = draw_on_nodes(THREE, MACHINE)
    empty = replace(schedule, jobs=schedule.jobs[:0], segments=schedule.segments[:0])
    assert len(nodes_over_time(empty)) == 0
    values = values_of(empty)
    assert values.keys() == values_of(schedule).keys()
    assert np.isnan(list(values.values())).all()
    instant = values_of(draw_on_nodes("job submit start run nodes cores / A 3 3 0 0 1", MACHINE))
    assert np.isnan(list(instant.values())).all()


def test_what_is_refused() -> None:
    """A pool, a kind that there is not, segments without columns, nodes of another machine."""
    schedule = draw_on_nodes(THREE, MACHINE)
    with pytest.raises(ParameterError, match=r"is a pool of processors, without nodes; simulate it with machine="):
        nodes_over_time(replace(schedule, machine=None))
    with pytest.raises(ParameterError, match=r"no kind 'fatt' of nodes; there are thin, fat; did you mean fat\?"):
        nodes_over_time(schedule, kind="fatt")
    with pytest.raises(ParameterError, match="no partition 'thin' of nodes; there are all, fat"):
        nodes_over_time(schedule, partition="thin")
    with pytest.raises(ParameterError, match=r"schedule\.segments has no columns nodes, is_exclusive"):
        measure(replace(schedule, segments=schedule.segments.drop(columns=["nodes", "is_exclusive"])))
    small = draw_machine("kind count cores / n 2 4")
    with pytest.raises(ParameterError, match=r"row 1: 2 to 2, and the machine has 2 nodes, from 0 on; is it the mach"):
        measure(replace(schedule, machine=small))


SWITCHED = draw_machine("kind count cores gpus switch / a 2 4 2 0 / b 2 4 2 1")


def test_switches_spanned_by_hand() -> None:
    """A spans one switch, B and D two; C has one node, and does not count."""
    table = """
        job submit start run nodes cores
        A   0      0     5   0-1   1
        B   0      0     5   1-2   1
        C   0      1     5   0     1
        D   0      6     5   0-3   1
    """
    schedule = draw_on_nodes(table, SWITCHED)
    assert values_of(schedule)["switches_spanned", "mean"] == pytest.approx(5 / 3)
    assert values_of(schedule, window=(0.0, 6.0))["switches_spanned", "mean"] == pytest.approx(3 / 2)
    assert values_of(schedule, window=(6.0, 9.0))["switches_spanned", "mean"] == 2
    assert np.isnan(values_of(schedule, window=(1.0, 5.0))["switches_spanned", "mean"])
    untold = replace(SWITCHED, switch=np.array([-1, -1, 0, -1]), switches=("s",))
    assert values_of(replace(schedule, machine=untold))["switches_spanned", "mean"] == pytest.approx(5 / 3)
    without = replace(SWITCHED, switch=np.zeros(0, np.int64), switches=())
    assert ("switches_spanned", "mean") not in values_of(replace(schedule, machine=without))


def test_gpu_packing_by_hand() -> None:
    """Of 2 GPUs of node 0 1 is held for 10 s and 0.5 for 4 s of these; both of node 1 by who is alone there for 2 s."""
    table = """
        job submit start run nodes cores gpus exclusive
        A   0      0     10  0     1     1    no
        B   0      3     4   0     1     0.5  no
        C   0      4     2   1     1     0    yes
        D   0      0     20  2     1     0    no
    """
    schedule = draw_on_nodes(table, SWITCHED)
    assert values_of(schedule)["gpu_packing", "time_mean"] == pytest.approx((10 + 2 + 4) / (20 + 4))
    assert values_of(schedule, window=(0.0, 4.0))["gpu_packing", "time_mean"] == pytest.approx((4 + 0.5) / 8)
    assert values_of(schedule, window=(8.0, 20.0))["gpu_packing", "time_mean"] == pytest.approx(2 / 4)
    assert np.isnan(values_of(schedule, window=(10.0, 20.0))["gpu_packing", "time_mean"])
