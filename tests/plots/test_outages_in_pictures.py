# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that are away, in pictures and over time: beside the runs, and less of what there is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from swftools import Schedule, measure
from swftools.machines.outages import DOWN, DRAIN, RESERVATION
from swftools.output.amounts import percent
from swftools.plots import caption, data, plot
from swftools.plots.gantt_on_nodes import FEW
from swftools.plots.gantt_outages import HATCHES
from swftools.simulator import allocations_of, mean_over_time, nodes_over_time
from tests.interpreted import all_interpreted
from tests.on_nodes import draw_machine, draw_on_nodes
from tests.simulator.nodes.test_away import (
    ALWAYS,
    INF,
    SURPRISE,
    TWO,
    AwayCase,
    Engine,
    case_by_lot,
    engine,  # noqa: F401 (a fixture)
    outages_of,
)

CASE = AwayCase(
    "",
    TWO,
    ((0, 5, 8, DOWN, SURPRISE, -1), (1, 12, 30, DRAIN, ALWAYS, -1), (1, 40, INF, RESERVATION, ALWAYS, 0)),
    "job submit run / A 0 10 / B 0 4 / C 20 5 / D 31 9",
    "",
)


@pytest.fixture(autouse=True)
def _interpreted() -> object:
    with all_interpreted():
        yield


def schedule_of(engine: Engine) -> Schedule:  # noqa: F811
    """Return A on node 0 until 5 s, then on node 1 until 15 s; B on node 1; C, D on node 0."""
    return engine.schedule(CASE.workload(), "easy", compiled=False)


def outages_in(schedule: Schedule, **chosen: Any) -> list[list[Any]]:
    """Return what is drawn of outages: kind, from when to when, first row and rows, name of the node."""
    table = data(schedule, "gantt", **chosen)
    if "outage" not in table:
        return []
    rows = table[table["outage"].notna()]
    assert rows["job_number"].isna().all()
    return rows[["outage", "start", "end", "first_node", "nodes", "node"]].to_numpy().tolist()


def test_gantt_by_hand(engine: Engine) -> None:  # noqa: F811
    """Outages are hatched behind the runs, each kind by its own hatch, with a word in the legend; runs are as ever."""
    schedule = schedule_of(engine)
    assert outages_in(schedule) == [["down", 5, 8, 0, 1, "n0"], ["drain", 12, 30, 1, 1, "n1"]]
    assert outages_in(schedule, begin=20, end=100) == [
        ["drain", 20, 30, 1, 1, "n1"],
        ["reservation", 40, 100, 1, 1, "n1"],
    ]
    assert outages_in(schedule, nodes=1) == [["down", 5, 8, 0, 1, "n0"]]
    assert outages_in(schedule, begin=9, end=11) == []
    used = percent((5 + 4 + 10 + 5 + 9) / 80, digits=1)
    assert caption(schedule, "gantt").endswith(
        f"start of the log; {used} of the cores of these nodes are held; {3 / 3600:.3g} node-hours down; 0.005 "
        "node-hours drained"
    )
    axes = plot(schedule, "gantt")
    words = [text.get_text() for text in axes.get_legend().get_texts()]  # type: ignore[union-attr]
    assert words[-2:] == ["nodes down", "nodes drained"]
    hatched = [each for each in axes.collections if each.get_hatch()]
    assert [each.get_hatch() for each in hatched] == [HATCHES["down"], HATCHES["drain"]]
    corners = [each.get_paths()[0].get_extents().extents.tolist() for each in hatched]
    day = 86_400.0
    assert corners == [pytest.approx([5 / day, 0, 8 / day, 1]), pytest.approx([12 / day, 1, 30 / day, 2])]
    assert all(each.get_zorder() < other.get_zorder() for each in hatched for other in axes.collections[:1])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["n0", "n1"]
    without = replace(schedule, machine=replace(schedule.machine, outages=outages_of((0, 500, 501, DOWN, INF, -1))))
    assert "outage" not in data(without, "gantt")
    runs = data(schedule, "gantt").query("outage.isna()").drop(columns="outage")
    assert runs.astype(data(without, "gantt").dtypes).equals(data(without, "gantt"))


def test_neighbours_are_one_block_on_a_large_machine() -> None:
    """Of one outage, or of several of the same times and kind; where nodes have names, each is by itself."""
    machine = draw_machine("kind count cores / n 30 4")
    rows = [(node, 1, 4, DOWN, INF, -1) for node in (3, 4, 6, 5, 9)] + [
        (7, 1, 4, DRAIN, INF, -1),
        (8, 2, 4, DOWN, INF, -1),
    ]
    away = replace(machine, outages=outages_of(*rows))
    schedule = draw_on_nodes("job submit start run nodes cores / A 0 0 5 0-1 1", away)
    assert [row[:1] + row[3:] for row in outages_in(schedule)] == [
        *(["down", 3, 4, "n04"], ["down", 9, 1, "n10"], ["down", 8, 1, "n09"], ["drain", 7, 1, "n08"]),
    ]
    assert len(outages_in(schedule, nodes=FEW)) == len(rows)
    assert len(plot(schedule, "gantt").collections) == 3


def test_over_time_by_hand(engine: Engine) -> None:  # noqa: F811
    """A drained node counts while a job is on it; one that is reserved for some users is there."""
    steps = nodes_over_time(schedule_of(engine))
    assert steps[["time", "available_cores"]].to_numpy().tolist() == [
        *([0, 2], [4, 2], [5, 1], [8, 2], [12, 2], [15, 1], [20, 1], [25, 1], [30, 2], [31, 2], [40, 2]),
    ]
    share = dict(zip(steps["time"], steps["available_utilization"], strict=True))
    assert (share[0], share[5], share[8], share[15], share[20]) == (1, 1, 0.5, 0, 1)
    none = replace(schedule_of(engine), jobs=schedule_of(engine).jobs[:0], segments=schedule_of(engine).segments[:0])
    assert len(nodes_over_time(none)["available_cores"]) == 0


@pytest.mark.parametrize("seed", range(6, 12))
def test_over_time_is_what_measures_say(seed: int, engine: Engine) -> None:  # noqa: F811
    """The mean of what is available is what is not away; at each instant it is what is counted node by node."""
    workload, rule = case_by_lot(seed)
    schedule = engine.schedule(workload, "easy", rule, compiled=False)
    if not len(schedule.jobs):
        return
    machine, steps = schedule.machine, nodes_over_time(schedule)
    assert machine is not None
    values = measure(schedule).set_index(["measure", "statistic"])["value"]
    away = 1 - mean_over_time(steps, "available_cores") / machine.processors
    assert away == pytest.approx(values["away", "time_mean"])
    held, outages = allocations_of(schedule), machine.outages
    half = np.arange(len(machine)) % 2 == 0
    kind = replace(machine, kind=half.astype(np.int64), kinds=("odd", "even"), gpu_types=(), features=())
    of_half = nodes_over_time(replace(schedule, machine=kind), kind="even")
    for counted, found in ((np.ones(len(machine), np.bool_), steps), (half, of_half)):
        for time, cores in zip(found["time"], found["available_cores"], strict=True):
            there = 0
            for node in np.flatnonzero(counted):
                is_away = (outages.node == node) & (outages.begin <= time) & (time < outages.end) & (outages.who < 0)
                on_it = (held.node == node) & (held.start <= time) & (time < held.end)
                there += held.cores[on_it].sum() if is_away.any() else machine.cores[node]
            assert cores == there or time == found["time"].iloc[-1]


def test_resources_show_what_is_there(engine: Engine) -> None:  # noqa: F811
    """A grey line, and how much it is on average."""
    schedule = schedule_of(engine)
    table = data(schedule, "resources").set_index("resource").loc["available cores"]
    assert table[["begin", "end", "share"]].to_numpy().tolist()[:4] == [[0, 4, 1], [4, 5, 1], [5, 8, 0.5], [8, 12, 1]]
    assert caption(schedule, "resources").endswith(
        f"over 40 s; {percent(62 / 80, digits=1)} of the cores are available"
    )
    words = [text.get_text() for text in plot(schedule, "resources").get_legend().get_texts()]  # type: ignore[union-attr]
    assert words == ["cores", "nodes", "available cores"]


def test_a_pool_beside_outages(engine: Engine) -> None:  # noqa: F811
    """Pictures side by side: only that of the machine with outages has some."""
    schedule = schedule_of(engine)
    both = {"away": schedule, "pool": replace(schedule, machine=None)}
    _, *axes = plot(both, "gantt").figure.axes
    assert [sum(bool(each.get_hatch()) for each in one.collections) for one in axes] == [2, 0]
    away, pool = caption(both, "gantt").split(" pool: ")
    assert "node-hours down" in away
    assert "node-hours" not in pool
