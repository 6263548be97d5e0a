# SPDX-License-Identifier: BSD-3-Clause
"""What runs hold on nodes as arrays, what schedules on nodes show, and their tables in files."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from swftools.errors import ParameterError, SchemaError
from swftools.fields.definition import RANGES
from swftools.machines.amounts import MOST_MEMORY
from swftools.machines.node_table import GPU
from swftools.simulator import allocations_of, mean_over_time, measure, nodes_over_time, simulate
from swftools.simulator.allocations import NODE_COLUMNS, runs_on_nodes
from swftools.tables import read_frame, read_table, write_frame
from swftools.trace import Trace
from tests.examples import by_day
from tests.interpreted import all_interpreted
from tests.on_nodes import draw_machine, draw_on_nodes, random_on_nodes

MACHINE = draw_machine("kind count cores memory gpus / thin 2 4 100 0 / fat 2 8 200 2", {"all": "0-3", "fat": "2-3"})
SCHEDULE = draw_on_nodes(
    """
    job submit start run nodes cores memory gpus partition exclusive
    A   0      4     10  0-1,3 2     50     0    all       no
    B   0      0     4   2     1     10     0.5  fat       yes
    C   1      9     0   3     1     0      0.25 fat       no
    """,
    MACHINE,
)


def test_by_hand() -> None:
    """Runs by start: B has the whole of its node, C a quarter of a GPU."""
    held = allocations_of(SCHEDULE)
    assert held.run.tolist() == [0, 1, 1, 1, 2]
    assert held.node.tolist() == [2, 0, 1, 3, 3]
    assert held.cores.tolist() == [8, 2, 2, 2, 1]
    assert held.memory.tolist() == [200, 50, 50, 50, 0]
    assert held.gpus.tolist() == [2 * GPU, 0, 0, 0, GPU // 4]
    assert held.start.tolist() == [0, 4, 4, 4, 9]
    assert held.end.tolist() == [4, 14, 14, 14, 9]
    assert runs_on_nodes(SCHEDULE).partition.tolist() == [1, 0, 1]
    assert SCHEDULE.segments["allocated_processors"].tolist() == [8, 6, 1]


def test_memory_that_is_not_known() -> None:
    """Nobody holds it: B, alone on such a node, holds 0 MB of it, A what it asked for."""
    held = allocations_of(replace(SCHEDULE, machine=replace(MACHINE, memory=np.array([100, 100, MOST_MEMORY, 200]))))
    assert held.memory.tolist() == [0, 50, 50, 50, 0]
    assert held.cores.tolist() == [8, 2, 2, 2, 1]
    held = allocations_of(replace(SCHEDULE, machine=replace(MACHINE, memory=np.full(4, MOST_MEMORY))))
    assert held.memory.tolist() == [0, 50, 50, 50, 0]


@pytest.mark.parametrize("seed", by_day(range(60), 15))
def test_sums(seed: int) -> None:
    """Cores of a run are its allocated processors; each node of a run is there once, and rising."""
    schedule = random_on_nodes(seed)
    held = allocations_of(schedule)
    expected = schedule.segments["allocated_processors"].to_numpy(dtype=np.int64)
    assert np.bincount(held.run, held.cores, minlength=len(expected)).astype(int).tolist() == expected.tolist()
    pairs = list(zip(held.run.tolist(), held.node.tolist(), strict=True))
    assert pairs == sorted(set(pairs))


def test_runs_in_any_form() -> None:
    """Lists as objects, some of the rows, and a partition of another machine."""
    plain = SCHEDULE.segments.assign(nodes=SCHEDULE.segments["nodes"].tolist())
    some = replace(SCHEDULE, segments=plain.iloc[1:])
    assert allocations_of(some).node.tolist() == [0, 1, 3, 3]
    odd = replace(SCHEDULE, segments=plain.assign(partition=["all", "none", None]))
    assert runs_on_nodes(odd).partition.tolist() == [0, -1, -1]
    empty = allocations_of(replace(SCHEDULE, segments=SCHEDULE.segments[:0]))
    assert [len(each) for each in empty] == [0] * 7


def test_what_is_refused() -> None:
    """A pool, and columns that lack."""
    with pytest.raises(ParameterError, match="is a pool of processors, without nodes"):
        allocations_of(replace(SCHEDULE, machine=None))
    with pytest.raises(ParameterError, match=r"schedule\.segments has no columns partition, which runs on nodes have"):
        allocations_of(replace(SCHEDULE, segments=SCHEDULE.segments.drop(columns="partition")))


def test_what_is_printed() -> None:
    """Nodes and cores of the machine; each job with its partition and nodes, also in a notebook and in CSV."""
    assert repr(SCHEDULE).startswith("Schedule: easy, 3 jobs on 4 nodes (24 cores), 14 s\n")
    one = replace(SCHEDULE, machine=draw_machine("kind count cores / n 1 1"), processors=1)
    assert repr(one).startswith("Schedule: easy, 3 jobs on 1 node (1 core), 14 s\n")
    shown = SCHEDULE.head()
    assert shown.columns.tolist() == [*SCHEDULE.jobs.columns, "partition", "nodes"]
    assert shown["nodes"].tolist() == ["thin[01-02],fat02", "fat01", "fat02"]
    assert shown["partition"].tolist() == ["all", "fat", "fat"]
    assert SCHEDULE.head(1)["nodes"].tolist() == ["thin[01-02],fat02"]
    assert SCHEDULE.head(0)["nodes"].tolist() == []
    page = SCHEDULE._repr_html_()
    assert ">thin[01-02],fat02</td>" in page
    assert '<th style="text-align: left">nodes</th>' in page
    told = pd.read_csv(io.StringIO(SCHEDULE.to_csv()))
    assert told["nodes"].tolist() == ["thin[01-02],fat02", "fat01", "fat02"]
    assert "nodes" not in SCHEDULE.jobs


def test_jobs_that_name_their_nodes(tmp_path: Path) -> None:
    """Columns of that name which jobs have are theirs; a job of several runs shows the last; one without shows none."""
    own = replace(SCHEDULE, jobs=SCHEDULE.jobs.assign(partition="mine"))
    assert own.head()["partition"].tolist() == ["mine"] * 3
    assert own.head().columns.tolist() == [*own.jobs.columns, "nodes"]
    runs = SCHEDULE.segments
    again = pd.concat([runs, runs.iloc[[1]].assign(job_number=1, nodes=[[3, 3]], start_time=20.0)], ignore_index=True)
    assert replace(SCHEDULE, segments=again).head()["nodes"].tolist() == ["fat02", "fat01", "fat02"]
    fewer = replace(SCHEDULE, segments=runs.iloc[1:]).head()
    assert fewer["nodes"].isna().tolist() == [False, True, False]
    SCHEDULE.to_csv(tmp_path / "jobs.csv", columns=["job_number", "nodes"])
    assert (tmp_path / "jobs.csv").read_text().splitlines()[1] == '1,"thin[01-02],fat02"'


def test_jobs_without_numbers() -> None:
    """They are told apart by their occurrences, whether all are shown or some; a head of -1 leaves the last out."""
    lacks = {"job_number": pd.array([pd.NA] * 3, dtype="Int64"), "job_occurrence": [1, 2, 3]}
    jobs = SCHEDULE.jobs.assign(**lacks)
    occurrence = SCHEDULE.segments["job_number"].map(dict(zip(SCHEDULE.jobs["job_number"], (1, 2, 3), strict=True)))
    runs = SCHEDULE.segments.assign(**{**lacks, "job_occurrence": occurrence.to_numpy(dtype="int64")})
    schedule = replace(SCHEDULE, jobs=jobs, segments=runs)
    nodes = ["thin[01-02],fat02", "fat01", "fat02"]
    assert schedule.head()["nodes"].tolist() == schedule.with_nodes()["nodes"].tolist() == nodes
    assert schedule.head(2)["nodes"].tolist() == schedule.head(-1)["nodes"].tolist() == nodes[:2]
    assert schedule.with_nodes(slice(1, None))["nodes"].tolist() == nodes[1:]


def test_a_pool_shows_what_it_showed() -> None:
    """No column more, whatever its jobs are called."""
    pool = replace(SCHEDULE, machine=None, segments=SCHEDULE.segments.drop(columns=list(NODE_COLUMNS)))
    assert repr(pool).startswith("Schedule: easy, 3 jobs on 24 processors, 14 s\n")
    assert pool.head().columns.tolist() == pool.jobs.columns.tolist()
    assert pool.to_csv() == pool.jobs.to_csv(index=False)
    assert "partition" not in replace(pool, jobs=pool.jobs.assign(partition="x"))._repr_html_()


def test_files(tmp_path: Path) -> None:
    """Ranges of numbers in Parquet, which come back; a schedule of a pool has none of the columns."""
    path = tmp_path / "segments.parquet"
    write_frame(SCHEDULE.segments, path, "segments")
    assert read_table(path, "segments").schema.field("nodes").type == RANGES
    back = read_frame(path, "segments")
    assert back["nodes"].tolist() == [[2, 2], [0, 1, 3, 3], [3, 3]]
    again = replace(SCHEDULE, segments=back)
    for one, other in zip(allocations_of(again), allocations_of(SCHEDULE), strict=True):
        assert one.tolist() == other.tolist()
    write_frame(SCHEDULE.segments.drop(columns=list(NODE_COLUMNS)), path, "segments")
    assert not set(NODE_COLUMNS) & set(read_table(path, "segments").column_names)
    with pytest.raises(SchemaError, match="nodes"):
        write_frame(SCHEDULE.segments.assign(nodes="n1"), path, "segments")


def test_a_summary() -> None:
    """Four figures more than that of a pool."""
    with all_interpreted():
        summary, plain = measure(SCHEDULE).summary(), measure(replace(SCHEDULE, machine=None)).summary()
    assert summary.index[: len(plain)].tolist() == plain.index.tolist()
    assert summary.index[len(plain) :].tolist() == ["nodes in use", "memory in use", "GPUs in use", "fragmentation"]
    assert set(summary["unit"][len(plain) :]) == {"%"}
    assert summary.loc["nodes in use", "easy"] == pytest.approx(100 * (4 * 1 + 10 * 3) / (4 * 14), abs=0.01)


def test_a_simulation(tmp_path: Path) -> None:
    """What the engine says of nodes is read alike from memory and from a file, and measures agree with each other."""
    draw = np.random.default_rng(2)
    trace = Trace.from_columns(
        job_number=range(1, 31),
        submit_time=np.sort(draw.integers(0, 100, 30)),
        run_time=draw.integers(0, 40, 30),
        requested_time=draw.integers(40, 60, 30),
        requested_processors=draw.integers(1, 12, 30),
    )
    with all_interpreted():
        schedule = simulate(trace, "easy", machine=MACHINE, compiled=False)
        values = measure(schedule).set_index(["measure", "statistic"])["value"]
        steps = nodes_over_time(schedule)
    assert len(schedule) == 30
    assert values["partition_utilization", "all"] == pytest.approx(values["utilization", "time_mean"])
    assert mean_over_time(steps, "utilization") == pytest.approx(values["utilization", "time_mean"])
    held = allocations_of(schedule)
    cores = np.bincount(held.run, held.cores, minlength=30)
    assert cores.tolist() == schedule.segments["allocated_processors"].tolist()
    assert len(set(schedule.head(30)["nodes"])) > 3
    write_frame(schedule.segments, tmp_path / "segments.parquet", "segments")
    expected = [each.tolist() for each in held]
    back = replace(schedule, segments=read_frame(tmp_path / "segments.parquet", "segments"))
    assert [each.tolist() for each in allocations_of(back)] == expected
    # pandas reads it alone, and what its own to_parquet wrote where it takes the types of Arrow.
    plain = replace(schedule, segments=pd.read_parquet(tmp_path / "segments.parquet"))
    assert [each.tolist() for each in allocations_of(plain)] == expected
    assert plain.head(30)["nodes"].tolist() == schedule.head(30)["nodes"].tolist()
    schedule.segments.to_parquet(tmp_path / "pandas.parquet")
    typed = replace(schedule, segments=pd.read_parquet(tmp_path / "pandas.parquet", dtype_backend="pyarrow"))
    assert [each.tolist() for each in allocations_of(typed)] == expected


def test_parquet_has_the_nodes_of_csv(tmp_path: Path) -> None:
    """Pandas reads it as it is; a pool has none."""
    SCHEDULE.to_parquet(tmp_path / "jobs.parquet")
    told = pd.read_parquet(tmp_path / "jobs.parquet")
    assert told["nodes"].tolist() == SCHEDULE.with_nodes()["nodes"].tolist()
    assert told["partition"].tolist() == SCHEDULE.with_nodes()["partition"].tolist()
    replace(SCHEDULE, machine=None).to_parquet(tmp_path / "pool.parquet")
    assert "nodes" not in pd.read_parquet(tmp_path / "pool.parquet")
