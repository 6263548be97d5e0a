# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of schedules on machines of nodes: rows of nodes, resources and fragmentation over time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from swftools.errors import ParameterError
from swftools.output.amounts import percent
from swftools.plots import caption, data, plot
from swftools.plots.gantt_on_nodes import FEW
from swftools.simulator import measure
from swftools.simulator.allocations import allocations_of
from tests.examples import by_day
from tests.interpreted import all_interpreted
from tests.on_nodes import draw_machine, draw_on_nodes, random_on_nodes

MACHINE = draw_machine("kind count cores memory gpus / thin 2 4 100 0 / fat 2 8 200 2", {"all": "0-3", "fat": "2-3"})
FOUR = """
    job submit start run nodes cores memory gpus partition exclusive
    A   0      0     10  0-1   2     50     0    all       no
    B   0      0     4   2-3   1     10     0.5  fat       yes
    C   1      10    5   0-1   3     10     0    all       no
    D   1      6     9   0     1     10     0    all       no
"""


@pytest.fixture(autouse=True)
def _interpreted() -> object:
    with all_interpreted():
        yield


def blocks_of(schedule: object, **chosen: object) -> list[list[object]]:
    """Return what is drawn: job, first row, rows and the name of the node."""
    table = data(schedule, "gantt", **chosen)
    return table[["job_number", "first_node", "nodes", "node"]].to_numpy().tolist()


def test_rows_of_nodes() -> None:
    """A has half of two nodes; D lies above it, a quarter high, and C where room is: above and below D."""
    schedule = draw_on_nodes(FOUR, MACHINE)
    assert blocks_of(schedule) == [
        *([1, 0, 0.5, "thin01"], [1, 1, 0.5, "thin02"], [2, 2, 1, "fat01"], [2, 3, 1, "fat02"]),
        [4, 0.5, 0.25, "thin01"],
        *([3, 0, 0.5, "thin01"], [3, 0.75, 0.25, "thin01"], [3, 1, 0.75, "thin02"]),
    ]
    # of 24 cores and 15 s: A 4 cores 10 s, B all 16 of its nodes for 4 s, C 6 for 5 s, D 1 for 9 s
    used = (40 + 64 + 30 + 9) / (24 * 15)
    assert caption(schedule, "gantt") == (
        f"Jobs on the machine: 4 runs in 15 s from 0 s after the start of the log; {percent(used, digits=1)} of the "
        "cores of these nodes are held; shared nodes by shares of their cores"
    )
    axes = plot(schedule, "gantt")
    assert axes.get_ylabel() == "nodes"
    assert axes.get_ylim() == (0, 4)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["thin01", "thin02", "fat01", "fat02"]
    assert axes.get_yticks().tolist() == [0.5, 1.5, 2.5, 3.5]
    assert axes.get_xlabel().endswith("\nshared nodes by shares of their cores")


def test_some_of_the_nodes() -> None:
    """A kind, the first few, a window; runs on other nodes are not there, and do not make it the busiest."""
    schedule = draw_on_nodes(FOUR, MACHINE)
    assert blocks_of(schedule, kind="fat") == [[2, 0, 1, "fat01"], [2, 1, 1, "fat02"]]
    assert "1 run in 4 s from 0 s" in caption(schedule, "gantt", kind="fat")
    assert "100 % of the cores of these nodes are held" in caption(schedule, "gantt", kind="fat")
    assert blocks_of(schedule, kind="fat", nodes=1) == [[2, 0, 1, "fat01"]]
    assert caption(schedule, "gantt", kind="fat", nodes=1).endswith("held; the first 1 of 2 nodes")
    assert "the first 3 of 4 nodes" in plot(schedule, "gantt", nodes=3).get_xlabel()
    assert [job for job, *_ in blocks_of(schedule, begin=11, end=12, nodes=1)] == [4, 3]
    assert caption(schedule, "gantt", begin=20) == "Jobs on the machine: no run in this window"
    with pytest.raises(ParameterError, match=r"no kind 'fad' of nodes; there are thin, fat; did you mean fat\?"):
        plot(schedule, "gantt", kind="fad")
    with pytest.raises(ParameterError, match="is a pool of processors, without nodes"):
        plot(replace(schedule, machine=None), "gantt", kind="fat")


def test_neighbours_are_one_block_on_a_large_machine() -> None:
    """Of a run that has them whole; where few nodes are shown, each has a name and a block."""
    table = """
        job submit start run nodes    cores exclusive
        A   0      0     5   0-9,12   1     yes
        B   0      0     5   10-11,20 4     no
        C   0      5     5   0-24     3     no
    """
    schedule = draw_on_nodes(table, draw_machine("kind count cores / n 30 4"))
    whole = [[1, 0, 10, "n01"], [1, 12, 1, "n13"], [2, 10, 2, "n11"], [2, 20, 1, "n21"]]
    assert blocks_of(schedule)[:4] == whole
    assert blocks_of(schedule)[4:] == [[3, node, 0.75, f"n{node + 1:02}"] for node in range(25)]
    assert len(blocks_of(schedule, nodes=FEW)) == 14 + FEW
    labels = plot(schedule, "gantt").get_yticklabels()
    assert {label.get_text() for label in labels} & set(schedule.machine.names) == set()


def test_bands_of_kinds_on_a_large_machine() -> None:
    """A block ends where the kind does; a line lies there, and the names stand in the middle, of those with room."""
    machine = draw_machine("kind count cores / thin 20 4 / odd 1 4 / fat 19 8")
    schedule = draw_on_nodes("job submit start run nodes cores exclusive / A 0 0 5 18-29 1 yes", machine)
    blocks = data(schedule, "gantt")[["first_node", "nodes", "kind", "kind_low", "kind_high"]]
    assert blocks.to_numpy().tolist() == [[18, 2, "thin", 0, 20], [20, 1, "odd", 20, 21], [21, 9, "fat", 21, 40]]
    axes = plot(schedule, "gantt")
    assert [(text.get_text(), text.get_position()[1]) for text in axes.texts] == [("thin", 10), ("fat", 30.5)]
    assert [line.get_ydata()[0] for line in axes.lines] == [0, 20, 21]  # type: ignore[index]
    assert not plot(schedule, "gantt", kind="fat").texts
    some = data(schedule, "gantt", nodes=25)
    assert some["kind_high"].tolist() == [20, 21, 25]


@pytest.mark.parametrize("seed", by_day(range(60), 15))
def test_blocks_are_what_runs_hold(seed: int) -> None:
    """On each node a block is as high as the share of the cores, within its row, and no two lie on each other."""
    schedule = random_on_nodes(seed)
    machine = schedule.machine
    assert machine is not None
    table = data(schedule, "gantt", begin=0, end=1000)
    held = allocations_of(schedule)
    takes_time = held.end > held.start
    area = float((held.cores / machine.cores[held.node] * (held.end - held.start))[takes_time].sum())
    assert (table["nodes"] * (table["end"] - table["start"])).sum() == pytest.approx(area)
    cores = float((held.cores * (held.end - held.start)).sum())
    assert (table["cores"] * (table["end"] - table["start"])).sum() == pytest.approx(cores)
    assert (table["machine_cores"] == schedule.processors).all()
    low = table["first_node"].to_numpy()
    high = low + table["nodes"].to_numpy()
    assert (np.ceil(high - 1e-9) - np.floor(low + 1e-9) == 1).all()
    assert [machine.names[int(row)] for row in low] == table["node"].tolist()
    for one in range(len(table)):
        for other in range(one):
            meets = table["start"][one] < table["end"][other] and table["start"][other] < table["end"][one]
            assert not (meets and low[one] < high[other] - 1e-9 and low[other] < high[one] - 1e-9)


def test_resources_by_hand() -> None:
    """From the first start to the last end: a step for each event, for each resource that there is."""
    schedule = draw_on_nodes(FOUR, MACHINE)
    table = data(schedule, "resources").set_index("resource")
    assert list(dict.fromkeys(table.index)) == ["cores", "memory", "GPUs", "nodes"]
    assert table.loc["cores", "begin"].tolist() == [0, 1, 4, 6, 10]
    assert table.loc["cores", "end"].tolist() == [1, 4, 6, 10, 15]
    assert table.loc["cores", "share"].tolist() == pytest.approx([20 / 24, 20 / 24, 4 / 24, 5 / 24, 7 / 24])
    assert table.loc["GPUs", "share"].tolist() == [1, 1, 0, 0, 0]
    assert table.loc["nodes", "share"].tolist() == [1, 1, 0.5, 0.5, 0.5]
    assert caption(schedule, "resources") == (
        "Cores, memory, GPUs and nodes in use: on average "
        f"{percent((20 * 4 + 4 * 2 + 5 * 4 + 7 * 5) / (24 * 15), digits=1)} of cores, "
        f"{percent((500 * 4 + 100 * 2 + 110 * 4 + 30 * 5) / (600 * 15), digits=1)} of memory, "
        f"{percent(4 / 15, digits=1)} of GPUs are held and {percent((4 + 0.5 * 11) / 15, digits=1)} of nodes in use, "
        "over 15 s"
    )
    thin = data(schedule, "resources", kind="thin")
    assert set(thin["resource"]) == {"cores", "memory", "nodes"}
    fat = data(schedule, "resources", partition="fat").set_index("resource")
    assert fat.loc["cores", "share"].tolist() == [1, 1]  # until B ends
    assert "(of kind thin and partition all)" in caption(schedule, "resources", kind="thin", partition="all")
    axes = plot(schedule, "resources")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["cores", "memory", "GPUs", "nodes"]  # type: ignore[union-attr]
    assert len({str(patch.get_linestyle()) for patch in axes.patches}) == 4


def test_fragmentation_by_hand() -> None:
    """C waits first, for 2 cores on each of two nodes: from 4 s on there are 10, and 8 of them on one node."""
    machine = draw_machine("kind count cores / thin 2 4 / fat 1 8")
    table = "job submit start run nodes cores exclusive / A 0 0 10 0-1 3 no / B 0 0 4 2 1 yes / C 1 10 5 0-1 2 no"
    schedule = draw_on_nodes(table, machine)
    steps = data(schedule, "fragmentation")
    assert steps[["begin", "end", "fragmentation"]].to_numpy().tolist() == [
        *([0, 1, 0], [1, 4, 0], [4, 10, 1], [10, 15, 0]),
    ]
    assert caption(schedule, "fragmentation") == (
        f"Fragmentation of the nodes: in {percent(6 / 15, digits=1)} of 15 s the first waiting job has room in sum and "
        "not on nodes"
    )
    assert plot(schedule, "fragmentation").texts[0].get_text() == "mean 40 %"


def test_wait_reasons_by_hand() -> None:
    """C waits for cores until B ends, then for room on one node more; D, behind it, for its turn from 6 s on."""
    machine = draw_machine("kind count cores / thin 2 4 / fat 1 8")
    table = "job submit start run nodes cores / A 0 0 10 0-1 3 / B 0 0 4 2 8 / C 1 10 5 0-1 2 / D 6 10 1 2 1"
    schedule = draw_on_nodes(table, machine)
    steps = data(schedule, "wait-reasons")
    assert steps[["reason", "begin", "end", "jobs"]].to_numpy().tolist() == [
        *(["cores", *each] for each in ([0, 1, 0], [1, 4, 1], [4, 6, 0], [6, 10, 0], [10, 11, 0], [11, 15, 0])),
        *(["fragmented", *each] for each in ([0, 1, 0], [1, 4, 0], [4, 6, 1], [6, 10, 1], [10, 11, 0], [11, 15, 0])),
        *(["order", *each] for each in ([0, 1, 0], [1, 4, 0], [4, 6, 0], [6, 10, 1], [10, 11, 0], [11, 15, 0])),
    ]
    told = (
        f"fragmented {percent(6 / 13, digits=1)}, order {percent(4 / 13, digits=1)}, cores {percent(3 / 13, digits=1)}"
    )
    assert caption(schedule, "wait-reasons") == (
        f"What jobs wait for: of {13 / 3600:.3g} job-hours waited in 15 s: {told}"
    )
    axes = plot(schedule, "wait-reasons")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["cores", "fragmented", "order"]  # type: ignore[union-attr]
    edges = axes.patches[2].get_data()  # type: ignore[attr-defined]
    assert (edges.values.tolist(), edges.baseline.tolist()) == ([0, 1, 1, 2, 0, 0], [0, 1, 1, 1, 0, 0])


def test_nobody_waited() -> None:
    """The picture says so, or that there are no nodes."""
    schedule = draw_on_nodes("job submit start run nodes cores / A 0 0 10 0 1", MACHINE)
    assert caption(schedule, "wait-reasons").endswith(": no job waited")
    assert "no run on nodes" in caption(replace(schedule, machine=None), "wait-reasons")
    empty = replace(schedule, jobs=schedule.jobs[:0], segments=schedule.segments[:0])
    assert caption(empty, "wait-reasons").endswith(": no job waited")


def test_many_steps_are_shown_in_bins() -> None:
    """Their means stay."""
    schedule = random_on_nodes(5, jobs=40)
    values = measure(schedule).set_index(["measure", "statistic"])["value"]
    table = data(schedule, "fragmentation", bins=4)
    assert len(table) <= 4
    mean = np.average(table["fragmentation"], weights=table["end"] - table["begin"])
    assert mean == pytest.approx(values["fragmentation", "time_mean"])
    assert data(schedule, "resources", bins=4).groupby("resource").size().max() <= 4


@pytest.mark.parametrize("name", ["resources", "fragmentation"])
def test_a_pool_and_an_empty_schedule(name: str) -> None:
    """They say so."""
    schedule = draw_on_nodes(FOUR, MACHINE)
    pool = replace(schedule, machine=None)
    words = "no run on nodes; schedules have nodes where machine= described them"
    assert caption(pool, name).endswith(f": {words}")
    assert plot(pool, name).texts[0].get_text() == words
    empty = replace(schedule, jobs=schedule.jobs[:0], segments=schedule.segments[:0])
    assert caption(empty, name).endswith(": no run on these nodes")
    assert plot(empty, name).texts[0].get_text() == "no run on these nodes"
    both = caption({"empty": empty, "pool": pool, "nodes": schedule}, name)
    assert f": empty: no run on these nodes. pool: {words}. nodes: " in both
    plot({"empty": empty, "pool": pool}, name)
    assert caption({"pool": pool}, name).endswith(words)
    assert data(empty, name).columns.tolist() == data(schedule, name).columns.tolist()
    assert caption(empty, "gantt").endswith("no run in this window")


def test_a_kind_on_which_nothing_ran() -> None:
    """The picture says that, and not that there are no nodes."""
    schedule = draw_on_nodes("job submit start run nodes cores / A 0 0 10 0 1", MACHINE)
    assert caption(schedule, "resources", kind="fat").endswith(": no run on these nodes")
    assert caption(schedule, "gantt", kind="fat").endswith(": no run in this window")


def test_a_pool_beside_nodes() -> None:
    """Each panel is drawn as its machine is."""
    schedule = draw_on_nodes(FOUR, MACHINE)
    both = {"nodes": schedule, "pool": replace(schedule, machine=None)}
    plot(both, "gantt")
    told = caption(both, "gantt")
    assert told == "Jobs on the machine: " + ". ".join(
        f"{name}: {caption(each, 'gantt').removeprefix('Jobs on the machine: ')}" for name, each in both.items()
    )
    assert "which ones a job had is made up" in told


def test_names_of_nodes_do_not_steer() -> None:
    """A node may be called anything; a picture and its caption have no turned text."""
    evil = replace(MACHINE, names=("a\u202e<b>\n", *MACHINE.names[1:]), kinds=("x\u202ey", "fat"))
    axes = plot(draw_on_nodes(FOUR, evil), "gantt")
    assert axes.get_yticklabels()[0].get_text() == "a\\u202e<b>\\n"
    assert "\u202e" not in caption(draw_on_nodes(FOUR, evil), "resources", kind="x\u202ey")


def test_tables_have_one_type_each() -> None:
    """So that several go one below the other."""
    one = data(random_on_nodes(1), "gantt")
    assert pd.concat([one, one])["node"].dtype == "str"
