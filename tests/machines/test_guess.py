# SPDX-License-Identifier: BSD-3-Clause
"""A machine guessed from a log: of logs whose machine is known it is that machine."""

from __future__ import annotations

import io
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import read_log, read_machine, read_swf, simulate
from swftools.errors import ParameterError
from swftools.machines.absence import Busy
from swftools.machines.description import MachineDescription
from swftools.machines.hostlist import expand_hosts, fold_hosts
from swftools.machines.named_nodes import parts_of
from swftools.trace import Trace
from tests.machines.same_tables import differences

DAY = 86_400.0


class Run(NamedTuple):
    """A job that ran."""

    start: float
    seconds: float
    nodes: str
    cores: int
    gpus: int = 0
    memory: int = -1
    """MB of each core."""
    queue: str = "batch"


def log_of(runs: Iterable[Run], column: str = "host_list", **more: Any) -> Trace:
    """Return the log of some runs."""
    runs = sorted(runs)
    lines = [
        f"{number} {run.start:.0f} 0 {run.seconds:.0f} {run.cores} -1 -1 {run.cores} -1 "
        f"{run.memory * 1024 if run.memory > 0 else -1} 1 1 1 1 1 1 -1 -1\n"
        for number, run in enumerate(runs, 1)
    ]
    trace = read_swf(io.BytesIO("".join(lines).encode()))
    given = {
        column: [run.nodes or None for run in runs],
        "queue_name": [run.queue for run in runs],
        "allocated_gpus": pd.array([run.gpus for run in runs], dtype="Int64"),
    }
    return trace.with_jobs(trace.jobs.assign(**given, **more))


def full_log(machine: MachineDescription, rounds: int, away: dict[int, set[str]], *, seed: int = 0) -> Trace:
    """Return a log in which all nodes that are not away are full in each round of a day."""
    draw = random.Random(seed)
    table = machine.table()
    queues = {node: part.name for part in table.partitions for node in part.nodes.tolist()}
    runs: list[Run] = []
    for day in range(rounds):
        free = [node for node, name in enumerate(table.names) if name not in away.get(day, set())]
        draw.shuffle(free)
        while free:
            first = free.pop()
            alike = [node for node in free if table.kind[node] == table.kind[first]]
            several = [first, *draw.sample(alike, min(len(alike), draw.choice([0, 0, 2])))]
            free = [node for node in free if node not in several]
            cores, gpus, memory = (int(each[first]) for each in (table.cores, table.gpus, table.memory))
            of_core, queue = memory // cores, queues[first]
            names = fold_hosts(table.names[node] for node in sorted(several))
            if len(several) > 1:
                wide = len(several) * cores
                runs.append(Run(day * DAY, DAY, names, wide, len(several) * gpus // 1000, of_core, queue))
                continue
            part = draw.randint(1, cores - 1)
            runs.append(Run(day * DAY, DAY, names, part, gpus // 1000, of_core, queue))
            runs.append(Run(day * DAY, DAY, names, cores - part, 0, of_core, queue))
    return log_of(runs)


KNOWN = {
    "order": "names",
    "nodes": [
        {"kind": "8c", "names": "n[01-12]", "cores": 8, "memory": 8 * 1024},
        {"kind": "16c", "names": "n[13-20]", "cores": 16, "memory": 16 * 2048},
        {"kind": "gpu", "names": "g[1-6]", "cores": 32, "memory": 32 * 1024, "gpus": 4},
    ],
    "partitions": [{"name": "batch", "nodes": "n[01-20]"}, {"name": "gpu", "nodes": "g[1-6]"}],
}


@pytest.mark.parametrize("seed", range(5))
def test_guess_is_the_truth(tmp_path: Path, seed: int) -> None:
    """Of a log that fills its machine: kinds, partitions, and who was away when; its YAML is read as the same."""
    machine = MachineDescription.from_mapping(KNOWN)
    away = {day: {"n03", "g5"} for day in range(4, 9)} | {8: {"g5"}, 0: {"n20"}}
    trace = full_log(machine, 20, away, seed=seed)
    found = MachineDescription.guessed(trace)
    truth, table = machine.table(), found.table()
    assert table.names == truth.names
    for what in ("cores", "memory", "gpus"):
        assert getattr(table, what).tolist() == getattr(truth, what).tolist(), what
    assert {part.name: part.nodes.tolist() for part in table.partitions} == {
        part.name: part.nodes.tolist() for part in truth.partitions
    }
    outages = {(each.nodes, each.begin, each.end) for each in found.outages}
    assert outages == {(("n20",), 0, DAY), (("n03",), 4 * DAY, 8 * DAY), (("g5",), 4 * DAY, 9 * DAY)}
    assert found.notes[0].startswith("guessed from a log")
    path = tmp_path / "guess.yaml"
    path.write_text(found.to_yaml())
    assert path.read_text().startswith("# guessed from a log")
    assert differences(read_machine(path).table(), table) == []
    quiet = MachineDescription.guessed(trace, least_absence=None)
    assert quiet.outages == ()
    assert len(simulate(trace, "fcfs", machine=quiet).segments) == len(trace)


def test_idle_nodes_are_not_away() -> None:
    """Where fewer than 8 in 10 of the others work, or for less than the least time."""

    def outages(busy: int, days: int, least: float = DAY) -> list[tuple[Any, ...]]:
        runs = [Run(0, DAY, f"n{node}", 4) for node in range(1, 12)]
        runs += [Run(DAY, days * DAY, f"n{node}", 4) for node in range(1, busy + 1)]
        runs += [Run((days + 1) * DAY, DAY, f"n{node}", 4) for node in range(1, 12)]
        found = MachineDescription.guessed(log_of(runs), least_absence=least).outages
        return [(each.nodes, each.begin, each.end) for each in found]

    assert outages(10, 3) == [(("n11",), DAY, 4 * DAY)]
    assert outages(9, 1) == [(("n[10-11]",), DAY, 2 * DAY)]
    assert outages(8, 3) == [(("n[9-11]",), DAY, 4 * DAY)]  # of the 10 others 8
    assert outages(7, 3) == []
    assert outages(10, 3, 3 * DAY + 1) == []


def test_jobs_that_share_nodes() -> None:
    """What is at once counts, not what follows; a job on several nodes is one core on each, or its even share."""

    def cores(*runs: Run) -> list[int]:
        return MachineDescription.guessed(log_of(runs)).table().cores.tolist()

    assert cores(Run(0, 10, "a", 3), Run(5, 10, "a", 4), Run(10, 10, "a", 3)) == [7]
    assert cores(Run(0, 10, "a", 3), Run(10, 10, "a", 4)) == [4]
    assert cores(Run(0, 10, "n[1-3]", 17)) == [6, 6, 6]
    assert cores(Run(0, 10, "n1", 3), Run(0, 10, "n[1-2]", 4)) == [4, 2]
    assert cores(Run(0, 10, "m1,n[1-2]", 9)) == [1, 1, 1]  # of two groups: nobody can say which has more
    assert cores(Run(0, 0, "a", 5)) == [5]


def test_rare_sizes_are_those_of_nodes_that_were_never_full() -> None:
    """Fewer than one in ten: the next larger size that is not rare; one in ten is a kind."""
    runs = [Run(0, 10, f"n{node:02}", 16) for node in range(1, 21)]
    rare = MachineDescription.guessed(log_of([*runs, Run(0, 10, "n21", 7)]))
    assert set(rare.table().cores.tolist()) == {16}
    common = MachineDescription.guessed(log_of([*runs[:18], Run(0, 10, "n19", 7), Run(0, 10, "n20", 7)]))
    assert common.table().cores.tolist() == [16] * 18 + [7] * 2
    largest = MachineDescription.guessed(log_of([*runs, Run(0, 10, "n21", 32)]))
    assert largest.table().cores.tolist() == [16] * 20 + [32]


def test_gpus_of_mixed_jobs_are_where_others_had_some() -> None:
    """A job on nodes with and without GPUs gives none to the others."""
    runs = [Run(0, 10, "n4", 4, 4), Run(20, 10, "n[1-4]", 16, 4), Run(40, 10, "g[1-2]", 8, 6)]
    assert MachineDescription.guessed(log_of(runs)).table().gpus.tolist() == [3000, 3000, 0, 0, 0, 4000]


def test_renamed_nodes_are_told() -> None:
    """As many nodes that come when others go are the same; fewer, or at the same time, are not."""
    old = [Run(0, DAY, f"old{node}", 4) for node in (1, 2)]
    new = [Run(DAY, DAY, f"new-{node}", 8) for node in (7, 8)]
    found = MachineDescription.guessed(log_of([*old, *new]))
    assert found.table().names == ("new-7", "new-8")
    assert found.table().cores.tolist() == [8, 8]
    assert any("renamed? old[1-2] is not named after 86,400 s, new-[7-8] not before" in note for note in found.notes)
    assert len(MachineDescription.guessed(log_of([*old, *new, Run(DAY, 1, "old1", 1)])).table()) == 4
    assert len(MachineDescription.guessed(log_of([*old, new[0]])).table()) == 3


def test_lists_with_an_entry_a_processor() -> None:
    """JSSPP's SWF says how many processors of each node a job had; jobs without a list are told."""
    runs = [Run(0, 10, "{7,7,7,9}", 4), Run(0, 10, "{9,9}", 2), Run(0, 10, "", 3)]
    found = MachineDescription.guessed(log_of(runs, "node_list"))
    assert (found.table().names, found.table().cores.tolist()) == (("7", "9"), [3, 3])
    assert any(note == "1 job with processors name no node" for note in found.notes)


def test_memory_that_is_told_of_nodes() -> None:
    """CERIT-SC's requests come with the bytes of a node, whatever the job has; else field 10 is KB of each."""
    runs = [Run(0, 10, "{7,7,7,7}", 4, memory=3 * 1024)]
    of_node = MachineDescription.guessed(log_of(runs, "node_list", resource_request=["1:ppn=4:cl_zewura#excl"]))
    assert of_node.table().memory.tolist() == [3]
    several = [Run(0, 10, "n[1-2]", 8, 0, 3 * 1024)]
    of_each = MachineDescription.guessed(log_of(several, resource_request=["2:ppn=4:cl_zewura#excl"]))
    assert of_each.table().memory.tolist() == [3, 3]
    assert MachineDescription.guessed(log_of(runs, "node_list")).table().memory.tolist() == [4 * 3 * 1024]


def test_hosts_of_pbs() -> None:
    """Slots of exec_host, resources of exec_vnode; only where the reader is told to keep them."""
    line = (
        "11/14/2023 23:13:20;E;{}.srv;user=anna group=phys queue=day ctime=1700000000 qtime=1700000000 "
        "etime=1700000000 start=1700000600 end=1700004200 Exit_status=0 Resource_List.ncpus={} {}\n"
    )
    text = line.format(1, 6, "exec_host=n1/0-3+n2/0*2")
    text += line.format(2, 6, "exec_host=n1/0*0+g/0*2 exec_vnode=(n1:ncpus=4)+(g[0]:ncpus=2:ngpus=1)")
    source = io.BytesIO(text.encode())
    trace = read_log(source, format="pbs", time_zone="UTC", hosts="yes")
    assert trace.jobs["host_list"].tolist() == ["n1/0-3+n2/0*2", "(n1:ncpus=4)+(g[0]:ncpus=2:ngpus=1)"]
    found = MachineDescription.guessed(trace).table()
    assert (found.names, found.cores.tolist(), found.gpus.tolist()) == (("g-0", "n1", "n2"), [2, 8, 2], [1000, 0, 0])
    assert [part.name for part in found.partitions] == ["day"]
    without = read_log(io.BytesIO(text.encode()), format="pbs", time_zone="UTC")
    assert "host_list" not in without.jobs
    with pytest.raises(ParameterError, match=r"the log names no nodes: .* --format pbs:hosts=yes"):
        MachineDescription.guessed(without)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n[1-3", []),
        ("{}", []),
        ("", []),
        ("n1/x", [("n1", 1)]),
        ("n1:15002/0*8", [("n1", 8)]),
        ("n1/3", [("n1", 1)]),
        ("n1/0*2+", []),
        ("n1,n1", [("n1", None)]),
    ],
)
def test_texts_of_nodes(text: str, expected: list[tuple[str, int | None]]) -> None:
    """What cannot be read names nothing."""
    assert [part[:2] for part in parts_of(text)] == expected


def test_requests_that_name_a_machine() -> None:
    """Frontier's fields 19 to 21: as many nodes as were in use at once, cores of each, GPUs over nodes."""
    runs = [Run(0, 10, "", 224, 16), Run(5, 10, "", 560, 40), Run(15, 10, "", 112, 4)]
    requests = ["frontier:excl:2x112", "frontier:excl:5x112", "frontier:excl:1x112"]
    found = MachineDescription.guessed(log_of(runs, resource_request=requests))
    assert [(kind.kind, kind.count, kind.cores, kind.gpus) for kind in found.nodes] == [
        ("frontier", 7, 112, {"gpu": 8})
    ]
    with pytest.raises(ParameterError, match="the log names no nodes, and no request"):
        MachineDescription.guessed(log_of(runs, resource_request=["1:ppn=2"] * 3))


def test_logs_that_name_nothing() -> None:
    """Are refused in one line."""
    with pytest.raises(ParameterError, match="the log names no nodes: it has neither host_list"):
        MachineDescription.guessed(log_of([Run(0, 10, "", 1)]))
    with pytest.raises(ParameterError, match="host_list names no node that can be read"):
        MachineDescription.guessed(log_of([Run(0, 10, "n[1", 1)]))


def test_own_slurm(shared: Path) -> None:
    """Of a real Slurm whose configuration is known: names, cores and GPUs are right, memory and partitions are less."""
    trace = read_log(shared / "slurm/snapshots/end/sacct_noRestarts.txt.gz", format="slurm", time_zone="UTC")
    found = MachineDescription.guessed(trace).table()
    truth = read_machine(shared / "slurm/conf/slurm.conf").table()
    assert found.names == truth.names
    assert (found.cores.tolist(), found.gpus.tolist()) == (truth.cores.tolist(), truth.gpus.tolist())
    assert (found.memory <= truth.memory).all()
    nodes = {part.name: set(part.nodes.tolist()) for part in truth.partitions}
    given = {part.name: set(part.nodes.tolist()) for part in found.partitions}
    assert all(given[name] <= nodes[name] for name in nodes)
    assert {found.names[node] for node in given["batch"]} == set(expand_hosts("n[01-56]"))


def test_steps_are_told() -> None:
    """What is found next, and at last that all is."""
    told: list[tuple[int, int, str]] = []
    MachineDescription.guessed(log_of([Run(0, 10, "n1", 1)]), progress=lambda *step: told.append(step))
    assert told == [(0, 5, "names"), (1, 5, "cores"), (2, 5, "memory"), (3, 5, "GPUs"), (4, 5, "outages"), (5, 5, "")]


def naive_most(runs: list[tuple[int, int, int, float]], node: int) -> float:
    """Return the most in use at once on a node: at the start of each run, by those that have begun and not ended."""
    at = [run for run in runs if run[0] == node]
    longer = [run for run in at if run[2] > run[1]]
    sums = [sum(run[3] for run in longer if run[1] <= time < run[2]) for _, time, _, _ in longer]
    return max([*sums, *(run[3] for run in at)], default=0.0)


def naive_idle(runs: list[tuple[int, int, int, float]], node: int) -> list[tuple[float, float]]:
    """Return the stretches in which nobody uses a node, second by second."""
    first, last = min(run[1] for run in runs), max(run[2] for run in runs)
    used = [any(run[0] == node and run[1] <= time < run[2] for run in runs) for time in range(first, last)]
    edges = [False, *(not each for each in used), False]
    begins = [first + at for at in range(len(edges) - 1) if edges[at + 1] and not edges[at]]
    ends = [first + at for at in range(len(edges) - 1) if edges[at] and not edges[at + 1]]
    return list(zip(map(float, begins), map(float, ends), strict=True))


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(0, 6), st.integers(0, 4)), min_size=1, max_size=12
    )
)
def test_most_and_idle_as_the_twins(drawn: list[tuple[int, int, int, int]]) -> None:
    """On whatever runs."""
    runs = [(node, start, start + length, float(amount)) for node, start, length, amount in drawn]
    node, start, end, amount = (np.array(column) for column in zip(*runs, strict=True))
    busy = Busy(node, start.astype(float), end.astype(float), 3)
    assert busy.most(amount).tolist() == [naive_most(runs, each) for each in range(3)]
    for each in range(3):
        assert busy.idle(each) == naive_idle(runs, each)
