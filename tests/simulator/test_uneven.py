# SPDX-License-Identifier: BSD-3-Clause
"""Runs that have not the same of each of their nodes: what they hold, files, measures, and what breaks them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from swftools.errors import ParameterError
from swftools.fields.definition import INTEGERS
from swftools.machines.node_table import GPU
from swftools.simulator import allocations_of, measure, nodes_over_time, wait_reasons
from swftools.simulator.allocations import BY_NODE, uneven_runs
from swftools.simulator.schedule import Schedule
from swftools.simulator.slurm.placed import columns_of_parts
from swftools.simulator.validation.report import ValidationReport, validate
from swftools.tables import read_frame, read_table, write_frame
from tests.examples import by_day
from tests.interpreted import all_interpreted
from tests.naive.nodes_over_time import naive_node, naive_runs, naive_state
from tests.on_nodes import draw_machine, draw_on_nodes, random_on_nodes, uneven

MACHINE = draw_machine("kind count cores memory gpus / thin 2 4 100 0 / fat 2 8 200 2", {"all": "0-3", "fat": "2-3"})
EVEN = draw_on_nodes(
    """
    job submit start run nodes cores memory gpus partition exclusive
    A   0      0     10  0-1,3 4     50     0    all       no
    B   0      0     4   2     1     10     1    fat       yes
    C   1      1     9   2-3   5     60     2    fat       no
    D   1      2     3   1     1     0      0    all       no
    """,
    MACHINE,
)
LISTS: dict[str, list[Any]] = {
    "cores_by_node": [[4, 1, 3], None, [1, 5], None],
    "memory_by_node": [[50, 20, 0], None, None, None],
    "gpus_by_node": [None, None, [2, 0], None],
}
"""C is on node 2 when B has ended; on node 3 there is room for A and C, as they have 3 and 5 cores."""


def with_lists(even: Schedule = EVEN, **lists: list[Any]) -> Schedule:
    """Return a schedule with lists, and with as many processors as these have."""
    told = {**LISTS, **lists}
    runs = even.segments.assign(**{name: pd.Series(each, dtype=pd.ArrowDtype(INTEGERS)) for name, each in told.items()})
    runs.loc[runs["start_time"] == 1, "start_time"] = 4.0
    cores = [sum(each) for each in told["cores_by_node"] if each]
    processors = pd.array([cores[0], 8, cores[1], 1], dtype="Int64")
    runs = runs.assign(allocated_processors=processors, work=runs["end_time"] - runs["start_time"])
    jobs = even.jobs.assign(allocated_processors=processors)
    jobs.loc[2, ["start_time", "wait_time", "run_time"]] = 4.0, 3.0, 6.0
    jobs["is_backfilled"] = [False, False, False, True]
    order = runs.sort_values("start_time", kind="stable").index
    return replace(even, jobs=jobs, segments=runs.loc[order].reset_index(drop=True))


SCHEDULE = with_lists()


def checked(schedule: Schedule) -> ValidationReport:
    """Validate a schedule by itself."""
    jobs = schedule.jobs.assign(estimated_time=schedule.jobs["requested_time"])
    return validate(replace(schedule, jobs=jobs))


def test_what_is_held_by_hand() -> None:
    """By run and node; a run with no list has the same on each, one that is alone all that there is."""
    held = allocations_of(SCHEDULE)
    assert held.run.tolist() == [0, 0, 0, 1, 2, 3, 3]
    assert held.node.tolist() == [0, 1, 3, 2, 1, 2, 3]
    assert held.cores.tolist() == [4, 1, 3, 8, 1, 1, 5]
    assert held.memory.tolist() == [50, 20, 0, 200, 0, 60, 60]
    assert held.gpus.tolist() == [0, 0, 0, 2 * GPU, 0, 2 * GPU, 0]
    assert uneven_runs(SCHEDULE).tolist() == [0, 3]
    assert uneven_runs(EVEN).tolist() == []
    some = replace(SCHEDULE, segments=SCHEDULE.segments.iloc[1:])
    assert allocations_of(some).cores.tolist() == [8, 1, 1, 5]


def test_over_time_by_hand() -> None:
    """At 2 s D comes, at 4 s B is followed by C."""
    with all_interpreted():
        steps = nodes_over_time(SCHEDULE)
    assert steps["time"].tolist() == [0, 1, 2, 4, 5, 10]
    assert steps["busy_cores"].tolist() == [16, 16, 17, 15, 14, 0]
    assert steps["busy_memory"].tolist() == [270, 270, 270, 190, 190, 0]
    assert steps["busy_gpus"].tolist() == [2, 2, 2, 2, 2, 0]
    assert steps["busy_nodes"].tolist() == [4, 4, 4, 4, 4, 0]


def test_who_is_alone_holds_whole_nodes() -> None:
    """Whatever its lists say: B has one core of the fat node in them, and all of it in what is held."""
    lists = pd.Series([[4, 1, 3], [1], None, [1, 5]], dtype=pd.ArrowDtype(INTEGERS))
    alone = replace(SCHEDULE, segments=SCHEDULE.segments.assign(cores_by_node=lists))
    assert uneven_runs(alone).tolist() == [0, 3]
    assert allocations_of(alone).cores.tolist() == [4, 1, 3, 8, 1, 1, 5]
    with all_interpreted():
        pd.testing.assert_frame_equal(nodes_over_time(alone), nodes_over_time(SCHEDULE))
        assert checked(alone).violations.empty


def test_runs_in_any_order() -> None:
    """The first run of a job is the one that starts first, wherever it stands: D runs again, on two nodes."""
    runs = SCHEDULE.segments
    again = runs[runs["job_number"] == 4].assign(start_time=11.0, end_time=13.0, nodes=[[0, 1]], cores_by_node=[[1, 1]])
    runs = pd.concat([runs, again], ignore_index=True)
    with all_interpreted():
        steps = [nodes_over_time(replace(SCHEDULE, segments=runs.iloc[::step])) for step in (1, -1)]
        waits = [wait_reasons(replace(SCHEDULE, segments=runs.iloc[::step])) for step in (1, -1)]
    pd.testing.assert_frame_equal(*steps)
    pd.testing.assert_frame_equal(*waits)
    assert waits[0]["request"].tolist()[3] == "part of a node"


@pytest.mark.parametrize("seed", by_day(range(60), 10))
def test_twins(seed: int) -> None:
    """What is held over time, and measures, of any schedule."""
    schedule = uneven(random_on_nodes(seed), seed)
    with all_interpreted():
        steps = nodes_over_time(schedule)
        values = measure(schedule).set_index(["measure", "statistic"])["value"]
    runs = naive_runs(schedule)
    for row in steps.itertuples():
        state = naive_state(schedule, runs, row.time)
        held = [sum(each[name] for each in state["held"].values()) for name in ("cores", "memory", "gpus")]
        assert [row.busy_cores, row.busy_memory, row.busy_gpus * GPU] == held
        assert row.fragmentation == state["is_fragmented"]
    length = steps["time"].iloc[-1] - steps["time"].iloc[0]
    machine = schedule.machine
    for name in ("cores", "memory", "gpus"):
        of_measure = {
            "cores": "partition_utilization",
            "memory": "partition_memory_utilization",
            "gpus": "partition_gpu_utilization",
        }
        whole = getattr(machine, name).sum()
        if not length or not whole:
            continue
        total = sum(each[name] * (run["end"] - run["start"]) for run in runs for each in run["held"].values())
        assert values[of_measure[name], "all"] == pytest.approx(total / (whole * length))


def naive_overfull(schedule: Schedule) -> int:
    """Return how many runs find too little on a node, or company, where they start."""
    runs = naive_runs(schedule)
    found = 0
    for now in sorted({run["start"] for run in runs}):
        there = [run for run in runs if run["start"] < now < run["end"]]
        mine = [run for run in runs if run["start"] == now]
        for run in sorted(mine, key=lambda run: run["end"] > now):  # those of no length first, who take nothing
            found += any(_is_too_much(schedule, node, [*there, run]) for node in run["held"])
            there += [run] if run["end"] > now else []
    return found


def _is_too_much(schedule: Schedule, node: int, runs: list[dict[str, Any]]) -> bool:
    """Whether the last of some runs has company where it is alone, or there is more in use on a node than it has."""
    here, own = [run for run in runs if node in run["held"]], runs[-1]
    if len(here) > 1 and any(run["exclusive"] for run in here):
        return True
    has = naive_node(schedule.machine, node)
    asked = [own["asked"]] if own["exclusive"] else [run["held"][node] for run in here]
    return any(sum(each[name] for each in asked) > has[name] for name in has)


@pytest.mark.parametrize("seed", by_day(range(60), 10))
def test_too_much_on_a_node(seed: int) -> None:
    """As many runs as a slow twin finds, on a machine that is smaller than that of the schedule."""
    schedule = uneven(random_on_nodes(seed), seed)
    smaller = replace(schedule.machine, cores=schedule.machine.cores - seed % 3)
    schedule = replace(schedule, machine=smaller)
    with all_interpreted():
        found = checked(schedule).violations
    count = found.drop_duplicates("rule").set_index("rule")["count"]
    assert sum(count.get(rule, 0) for rule in ("node-capacity", "node-size", "exclusive")) == naive_overfull(schedule)


def test_who_waits_for_what() -> None:
    """A run that is uneven waits for as many nodes with what it has on average, rounded up: C for 3 cores of two."""
    with all_interpreted():
        waits = wait_reasons(SCHEDULE)
    assert waits[["whole_nodes", "cores", "order", "memory", "gpus"]].iloc[2].tolist() == [0, 3, 0, 0, 0]
    assert waits["request"].tolist() == ["several nodes", "GPUs", "GPUs", "part of a node"]


def test_files(tmp_path: Path) -> None:
    """Lists in Parquet, which come back; a schedule without them has none of the columns."""
    path = tmp_path / "segments.parquet"
    write_frame(SCHEDULE.segments, path, "segments")
    assert {read_table(path, "segments").schema.field(name).type for name in BY_NODE.values()} == {INTEGERS}
    expected = [each.tolist() for each in allocations_of(SCHEDULE)]
    for back in (read_frame(path, "segments"), pd.read_parquet(path)):
        again = replace(SCHEDULE, segments=back)
        assert [each.tolist() for each in allocations_of(again)] == expected
        assert checked(again).violations.empty
    write_frame(EVEN.segments, path, "segments")
    assert not {*BY_NODE.values()} & {*read_table(path, "segments").column_names}
    assert SCHEDULE.to_csv() != EVEN.to_csv()


@pytest.mark.parametrize(
    ("change", "rules", "words"),
    [
        ({}, set(), ""),
        ({"cores_by_node": [[4, 1], None, [1, 5], None]}, {"nodes"}, "job 1 has lists"),
        ({"cores_by_node": [[4, 1, 1, 1], None, [1, 5], None]}, {"nodes"}, "job 1 has lists"),
        ({"cores_by_node": [[4, 4, 0], None, [1, 5], None]}, {"nodes"}, "job 1 has lists"),
        ({"cores_by_node": [[3, 3, 2], None, [1, 5], None]}, {"nodes"}, "job 1 has lists"),
        ({"cores_by_node": [[5, 1, 2], None, [1, 5], None]}, {"nodes"}, "job 1 has lists"),
        ({"memory_by_node": [[50, -20, 0], None, None, None]}, {"nodes"}, "job 1 has lists"),
        ({"cores_by_node": [[1, 1, 4], None, [1, 5], None]}, {"node-capacity"}, "9 of 8 cores of node fat02"),
        ({"cores_by_node": [[1, 4, 3], None, [1, 5], None]}, {"node-capacity"}, "5 of 4 cores of node thin02"),
        ({"gpus_by_node": [None, None, [0, 2], None]}, set(), ""),
    ],
)
def test_what_breaks_it(change: dict[str, list[Any]], rules: set[str], words: str) -> None:
    """Lists that cannot be, and more on a node than it has; the message names job and node."""
    with all_interpreted():
        report = checked(with_lists(**change))
    assert set(report.violations["rule"]) == rules
    assert words in " ".join(report.violations["message"])


def test_what_else_breaks_it() -> None:
    """Other processors than the lists add up to; small nodes; more memory a core than the partition allows."""
    runs = SCHEDULE.segments

    def broken(change: Callable[[pd.DataFrame], pd.DataFrame], **limits: Any) -> set[str]:
        first, *rest = MACHINE.partitions
        machine = replace(MACHINE, partitions=(replace(first, **limits), *rest))
        with all_interpreted():
            report = checked(replace(SCHEDULE, segments=change(runs.copy()), machine=machine))
        return set(report.violations["rule"])

    def more(table: pd.DataFrame) -> pd.DataFrame:
        table.loc[0, "allocated_processors"] += 1
        return table

    assert "nodes" in broken(more)
    assert broken(lambda table: table, max_memory_per_core=20) == set()
    assert broken(lambda table: table, max_memory_per_core=19) == {"limits"}
    assert broken(lambda table: table, max_cores=4) == set()
    assert broken(lambda table: table, max_cores=3) == {"limits"}
    lists = [[4, 1, 3], None, None, [5, 1]]
    moved = runs.assign(cores_by_node=pd.Series(lists, dtype=pd.ArrowDtype(INTEGERS)))
    moved["nodes"] = [[0, 1, 3, 3], [2, 2], [1, 1], [1, 2]]
    assert "node-size" in broken(lambda _: moved)


def test_the_first_node_is_told() -> None:
    """Of several on which a run has too much: C on the first fat node, which is too small for it."""
    runs = with_lists(cores_by_node=[[4, 1, 3], None, [9, 6], None]).segments
    runs.loc[runs["job_number"] == 3, "cores_per_node"] = 9
    jobs = SCHEDULE.jobs.assign(allocated_processors=[8, 8, 15, 1])
    with all_interpreted():
        found = checked(replace(SCHEDULE, jobs=jobs, segments=runs)).violations
    assert found["rule"].tolist() == ["node-size"]
    assert "has 9 cores, 60 MB and 2 GPUs of node fat01, which has 8, 200 and 2" in found["message"].iloc[0]


def test_what_is_refused() -> None:
    """Lists with another length than the run has nodes, and no lists."""
    odd = with_lists(cores_by_node=[[4, 1], None, [1, 5], None])
    with pytest.raises(ParameterError, match=r"row 0: cores_by_node has 2 numbers"):
        allocations_of(odd)
    for read in (allocations_of, checked):
        with pytest.raises(ParameterError, match="cores_by_node"):
            read(replace(SCHEDULE, segments=SCHEDULE.segments.assign(cores_by_node="4")))
    lacks = SCHEDULE.segments.assign(gpus_by_node=[None, None, None, [2, None]])
    with pytest.raises(ParameterError, match="a list of gpus_by_node lacks a number"):
        allocations_of(replace(SCHEDULE, segments=lacks))
    with all_interpreted():
        assert set(checked(replace(SCHEDULE, segments=lacks)).violations["rule"]) == {"nodes"}


def test_ranges_of_runs_that_follow_each_other() -> None:
    """The nodes of a run are its own, also where those of the next one come right behind them."""
    none, two = np.zeros(4, np.int64), np.zeros(2, np.int64)
    columns = columns_of_parts(np.array([0, 2, 4]), np.arange(4), none + 1, none, none, MACHINE, two, two == 1)
    assert [list(nodes) for nodes in columns["nodes"]] == [[0, 1], [2, 3]]


@pytest.mark.parametrize("seed", by_day(range(40), 10))
def test_columns_of_parts(seed: int) -> None:
    """Parts in any order come back from the columns that are made of them; without uneven runs there are no lists."""
    lot = np.random.default_rng(seed)
    runs = int(lot.integers(0, 6))
    size = lot.integers(1, 5, runs)
    first = np.concatenate([[0], np.cumsum(size)])
    node = np.concatenate([np.zeros(0, np.int64), *(lot.permutation(4)[:many] for many in np.minimum(size, 4))])
    alone, partition = lot.random(runs) < 0.3, lot.integers(0, 2, runs)
    run = np.repeat(np.arange(runs), size)
    amounts = {name: lot.integers(name == "cores", 3, len(node)) for name in ("cores", "memory", "gpus")}
    if seed % 3 == 0:
        amounts = {name: np.full(len(node), seed % 2 + 1) for name in amounts}
    columns = columns_of_parts(first, node, *amounts.values(), MACHINE, partition, alone)
    assert ("cores_by_node" in columns) == any(
        len(set(amounts["cores"][run == each])) > 1 and not alone[each] for each in range(runs)
    )
    segments = pd.DataFrame({"start_time": np.zeros(runs), "end_time": np.ones(runs), **columns})
    held = allocations_of(replace(EVEN, segments=segments))
    expected = []
    for place in range(len(node)):
        own = run[place]
        has = [int(amounts[name][place]) * (GPU if name == "gpus" else 1) for name in amounts]
        whole = [int(getattr(MACHINE, name)[node[place]]) for name in amounts]
        expected.append((own, int(node[place]), *(whole if alone[own] else has)))
    assert list(zip(*(each.tolist() for each in held[:5]), strict=True)) == sorted(expected)
    assert columns["partition"].tolist() == [("all", "fat")[each] for each in partition]
    for name in amounts:
        most = [max((amounts[name][run == each]).tolist()) for each in range(runs)]
        assert columns[f"{name}_per_node"].tolist() == most
    assert pa.types.is_list(columns["nodes"].dtype.pyarrow_dtype)
