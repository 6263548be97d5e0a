# SPDX-License-Identifier: BSD-3-Clause
"""What jobs ask of Slurm, field by field: of a real run, and of lines and columns by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from swftools import read_log
from swftools.machines.slurm_site import SlurmPartition, SlurmSite
from swftools.simulator.slurm.asked import SlurmJobs
from swftools.simulator.slurm.requests import slurm_jobs_of
from swftools.simulator.slurm.submit_lines import Lines
from swftools.trace import Trace
from tests.drawn import rows_of
from tests.machines.tables import log_of, machine
from tests.simulator.slurm.site import asked, of_line, row_of, site, table_of

LOG = Path(__file__).parent / "sacct.txt"

EXPECTED = """
id    cpus task least most wanted tpn percpu pernode gpunode gpus alone partitions  nice limit
1     17   1    1     0    1      0   2000   0       0       0    no    batch       0    0
4     34   1    1     4    4      0   2000   0       0       0    no    batch,short 0    0
5_0   16   1    7     7    7      4   2000   0       0       0    no    batch       0    2
8     16   2    1     0    1      0   2000   0       0       0    no    batch       0    0
10    8    1    1     1    1      0   2000   0       2       0    no    gpu         0    0
11    2    1    1     1    1      0   0      61440   0       0    no    batch       500  0
13    4    1    1     0    1      0   2000   0       0       0    yes   batch       0    0
14    8    1    1     0    1      0   2000   0       0       0    yes   batch       0    0
17    2    1    1     0    1      0   2000   0       0       0    no    batch       0    0
20    8    1    1     4    4      0   2000   0       0       0    no    short       0    0
27    128  1    8     8    8      0   2000   0       0       0    yes   big         0    0
29    29   1    1     0    1      0   6144   0       0       0    no    batch       0    0
30    4    1    1     0    1      0   2000   0       0       3    no    gpu         0    0
34    8    1    1     1    1      0   2000   0       2       0    no    gpu         0    0
40    20   1    5     5    5      4   2000   0       0       0    no    batch       0    0
41    16   1    2     2    2      0   2000   0       2       0    no    gpu         0    0
44_0  13   1    1     0    1      0   2000   0       0       0    no    batch       0    2
68    2    1    1     4    2      0   2000   0       0       0    no    short       0    0
111   4    1    1     1    1      0   2000   0       0       0    no    batch       0    0
121+1 32   1    1     0    1      0   2000   0       0       0    no    batch       0    0
73    16   1    2     2    2      0   2000   0       4       0    no    gpu         0    0
45    80   1    8     8    8      0   2000   0       0       0    yes   big         0    0
"""
"""111 has a name with a blank, so its options behind that are not read; 121+1 has its options in a script."""

NAMES = (
    *("cpus", "cpus_per_task", "min_nodes", "max_nodes", "wanted_nodes", "tasks_per_node", "memory_per_cpu"),
    *("memory_per_node", "gpus_per_node", "gpus", "is_exclusive", "partitions", "nice", "array_limit"),
)


@cache
def log(options: str = "") -> Trace:
    """Return the log."""
    return read_log(LOG, f"slurm:time_zone=UTC{options}")


@cache
def of_log() -> SlurmJobs:
    """Return what its jobs ask for."""
    return slurm_jobs_of(log(), table_of())


def test_a_real_run() -> None:
    """Each field of each job, as its command says."""
    rows = {job: row for row, job in enumerate(log().jobs["log_id"])}
    _, *lines = rows_of(EXPECTED)
    for job, *words in lines:
        found = row_of(of_log(), rows[job])
        told = {"no": False, "yes": True}
        expected = [
            told.get(word, word.split(",") if name == "partitions" else word)
            for name, word in zip(NAMES, words, strict=True)
        ]
        expected = [float(word) if isinstance(word, str) else word for word in expected]
        assert [found[name] for name in NAMES] == expected, job
    assert set(of_log().code.tolist()) == {0}


def test_for_whom_a_real_run_is() -> None:
    """User, association, QOS and array of its jobs, and when those on hold and those with a begin time may start."""
    jobs, rows = of_log(), {job: row for row, job in enumerate(log().jobs["log_id"])}
    users = {job: log().known_names["user"][log().jobs["user_id"].iloc[row]] for job, row in rows.items()}
    assert len(set(jobs.user.tolist())) == 6
    assert all(
        (jobs.user[rows[one]] == jobs.user[rows[other]]) == (users[one] == users[other])
        for one in rows
        for other in rows
    )
    assert jobs.user.min() == 0
    assert jobs.user.max() == 5
    associations = table_of().slurm.associations
    for job, row in rows.items():
        each = associations[jobs.association[row]]
        assert (each.user, each.account) == (
            users[job],
            {"5": "bio", "6": "bio", "3": "chem", "4": "chem"}.get(users[job][1], "phys"),
        )
    assert {job: jobs.qos[row] for job, row in rows.items() if jobs.qos[row]} == {"10": 2, "17": 1}
    assert {job: jobs.array[row] for job, row in rows.items() if jobs.array[row] >= 0} == {"5_0": 0, "44_0": 1}
    ready = {job: jobs.ready_time[row] for job, row in rows.items() if np.isfinite(jobs.ready_time[row])}
    assert ready == {"13": 54.0, "73": 102.0}
    assert jobs.nodes_allowed[rows["34"]] == 0
    assert np.flatnonzero(jobs.sets[0]).tolist() == list(range(56, 64))
    assert np.count_nonzero(jobs.nodes_allowed >= 0) == 1


def test_what_a_real_run_leaves_open() -> None:
    """It is told, with the number of jobs."""
    assert of_log().assumed == (
        "as many nodes as are told, no more and no fewer, as no submit line says otherwise: 1 job",
        "submit lines that do not explain the CPUs and nodes in the log: the columns count for these: 2 jobs",
        "partitions that differ in MinNodes or MaxNodes: jobs of several have the widest of their limits: 1 job",
        "jobs that were submitted on hold may start from when the log says that they were eligible: 1 job",
    )


def test_columns_of_account_and_qos() -> None:
    """QOS beside the partition, whatever the queue is; the account where the group is the Unix group."""
    assert log().jobs["qos"].value_counts().to_dict() == {"normal": 20, "high": 1, "low": 1}
    assert "account" not in log().jobs
    by_group = log(",group=group")
    assert set(by_group.jobs["account"]) == {"bio", "chem", "phys"}
    jobs = slurm_jobs_of(by_group, table_of())
    assert jobs.association.tolist() == of_log().association.tolist()
    withheld = read_log(LOG, "slurm:time_zone=UTC,group=group", anonymise="numbers")
    assert not {"account", "qos"} & {name for name in withheld.jobs if withheld.jobs[name].notna().any()}


LINES: list[tuple[str, dict[str, Any]]] = [
    ("-n 8", {"cpus": 8, "min_nodes": 1, "max_nodes": 0, "wanted_nodes": 1}),
    ("-N 4", {"cpus": 4, "min_nodes": 4, "max_nodes": 4, "wanted_nodes": 4}),
    ("-N4 -n2", {"cpus": 2, "min_nodes": 2, "max_nodes": 2, "wanted_nodes": 2}),
    ("-N 2-5 -n 40", {"cpus": 40, "min_nodes": 2, "max_nodes": 5, "wanted_nodes": 5}),
    ("-N 2-5 -n 3", {"min_nodes": 2, "max_nodes": 5, "wanted_nodes": 3}),
    ("--nodes=1-4 --ntasks 1", {"min_nodes": 1, "max_nodes": 4, "wanted_nodes": 1}),
    ("-n 6 -c 4", {"cpus": 24, "cpus_per_task": 4, "tasks_per_node": 0}),
    ("-c 4", {"cpus": 4, "cpus_per_task": 4}),
    ("-n 17 --ntasks-per-node=4", {"cpus": 17, "tasks_per_node": 4, "min_nodes": 5, "max_nodes": 0, "wanted_nodes": 5}),
    ("-N 2 --ntasks-per-node=4", {"cpus": 8, "tasks_per_node": 4, "min_nodes": 2, "max_nodes": 2}),
    ("-N 2 -n 9 --ntasks-per-node=4", {"cpus": 9, "tasks_per_node": 0, "min_nodes": 2, "max_nodes": 2}),
    ("-n 4 --mem=8G", {"memory_per_node": 8192, "memory_per_cpu": 0}),
    ("-n 4 --mem-per-cpu=3000", {"memory_per_node": 0, "memory_per_cpu": 3000}),
    ("-n 4 --mem=0", {"memory_per_node": 0, "memory_per_cpu": 0}),
    ("-n 4 -p gpu --gpus-per-node=2 --mem-per-gpu=5G", {"memory_per_node": 10240, "gpus_per_node": 2, "gpus": 0}),
    ("-n 4 -p gpu --gpus=6 -N 2 --mem-per-gpu=5G", {"memory_per_node": 15360, "gpus_per_node": 0, "gpus": 6}),
    ("-n 4 -p gpu --gpus-per-task=2", {"gpus_per_node": 0, "gpus": 8}),
    ("-n 4 -p gpu -G 3", {"gpus": 3}),
    ("-n 4 -p gpu --gres=gpu:a100:2,tmp:3", {"gpus_per_node": 2, "nodes_allowed": 0}),
    ("-n 4 -p gpu --gres=gpu:a100:1,gpu:v100:1", {"gpus_per_node": 2, "nodes_allowed": -1}),
    ("-n 4 --exclusive", {"is_exclusive": True}),
    ("-n 4 --exclusive=user", {"is_exclusive": False}),
    ("-n 64 -p big -N 8", {"cpus": 64, "is_exclusive": True, "partitions": ["big"]}),
    ("-n 4 -p batch,big", {"is_exclusive": False, "partitions": ["batch", "big"]}),
    ("-n 4 -p short,nowhere", {"partitions": ["short"]}),
    ("-n 4 --nice", {"nice": 100.0}),
    ("-n 4 --nice=-7", {"nice": -7.0}),
    ("-n 4 --array=0-9:3%2", {"array_limit": 2}),
    ("-n 4 --array=0-9", {"array_limit": 0}),
    ("-n 4 --qos=low", {"qos": 1}),
    ("-n 4 -q high", {"qos": 2}),
    ("-n 4", {"qos": 0}),
    ("-n 4 -p short -C gpu", {"nodes_allowed": 0}),
    ("-n 4 --ntasks=6", {"cpus": 6}),
    ("-n 4 --wrap x -n 5", {"cpus": 4}),
    ("-n 4 run.sh -n 5", {"cpus": 4}),
]


@pytest.mark.parametrize(("line", "expected"), LINES, ids=[line for line, _ in LINES])
def test_lines(line: str, expected: dict[str, Any]) -> None:
    """What options of sbatch mean."""
    found = of_line(line, requested_processors=None)
    assert {name: found[name] for name in expected} == expected
    assert found["code"] == 0


def test_a_line_that_does_not_explain_the_log() -> None:
    """The columns count for CPUs and nodes, and the line for what goes with them."""
    found = of_line("-c 4 --mem-per-cpu=3G --nice=5 job.sh", requested_processors=16, requested_nodes=2)
    assert (found["cpus"], found["cpus_per_task"], found["min_nodes"], found["max_nodes"]) == (16, 4, 2, 2)
    assert (found["memory_per_cpu"], found["nice"]) == (3072, 5.0)
    # What the log tells of memory is of the CPUs that it tells.
    found = of_line("-n 2 --mem-per-cpu=3G job.sh", requested_processors=4, requested_memory=1536.0 * 1024)
    assert (found["cpus"], found["memory_per_cpu"]) == (4, 1536)
    found = of_line("-n 4 job.sh", requested_processors=4, requested_nodes=2)
    assert (found["min_nodes"], found["max_nodes"]) == (2, 2)
    # GPUs of each node are told by the line, also where the number of nodes is open.
    columns = {"requested_processors": 16, "requested_nodes": 1, "allocated_nodes": 2, "requested_gpus": 2}
    found = of_line("-p gpu --gpus-per-node=2 job.sh", **columns)
    assert (found["gpus_per_node"], found["gpus"], found["max_nodes"]) == (2, 0, 0)
    # Tasks of 3 CPUs do not make 16 of them; a range of nodes holds if the log says its least.
    found = of_line("-c 3 -N 2-6 job.sh", requested_processors=16, requested_nodes=2)
    assert (found["cpus_per_task"], found["min_nodes"], found["max_nodes"], found["wanted_nodes"]) == (1, 2, 6, 6)
    found = of_line("-c 3 -N 2-6 job.sh", requested_processors=16, requested_nodes=3)
    assert (found["min_nodes"], found["max_nodes"], found["wanted_nodes"]) == (3, 3, 3)
    # A line that says no size does not say that it is one CPU, if the log does not.
    assert of_line("job.sh", requested_processors=None, allocated_processors=6)["cpus"] == 6
    assert of_line("job.sh", requested_processors=1)["cpus"] == 1


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"requested_processors": 12}, {"cpus": 12, "min_nodes": 1, "max_nodes": 0, "wanted_nodes": 1}),
        ({"requested_processors": 12, "requested_nodes": 3}, {"min_nodes": 3, "max_nodes": 3, "wanted_nodes": 3}),
        ({"requested_processors": 12, "requested_nodes": 1, "allocated_nodes": 2}, {"min_nodes": 1, "max_nodes": 0}),
        ({"requested_processors": 2, "requested_nodes": 3, "allocated_nodes": 3}, {"cpus": 3, "min_nodes": 3}),
        (
            {"requested_nodes": 3, "node_cores": 3.5},
            {"cpus": 12, "cpus_per_task": 4, "tasks_per_node": 1, "min_nodes": 3, "max_nodes": 3},
        ),
        ({"requested_processors": 12, "most_cores_per_node": 4}, {"tasks_per_node": 4, "min_nodes": 3, "max_nodes": 0}),
        ({"requested_processors": 12, "requested_memory": 1000 * 1024}, {"memory_per_cpu": 1000, "memory_per_node": 0}),
        ({"requested_processors": 12, "node_memory": 5000}, {"memory_per_cpu": 0, "memory_per_node": 5000}),
        ({"requested_processors": 12, "requested_memory": 1000.5 * 1024}, {"memory_per_cpu": 1001}),
        (
            {"requested_processors": 4, "requested_memory": 8000 * 1024, "is_exclusive": True},
            {"memory_per_cpu": 0, "memory_per_node": 32000},
        ),
        (
            {"requested_processors": 4, "requested_memory": 2000 * 1024, "is_exclusive": True},
            {"memory_per_cpu": 2000, "memory_per_node": 0},
        ),
        ({"requested_processors": 4, "node_gpus": 1.5, "partition": "gpu"}, {"gpus_per_node": 2, "gpus": 0}),
        ({"requested_processors": 4, "requested_gpus": 3, "partition": "gpu"}, {"gpus_per_node": 0, "gpus": 3}),
        (
            {"requested_processors": 4, "requested_nodes": 2, "requested_gpus": 4, "partition": "gpu"},
            {"gpus_per_node": 2, "gpus": 0},
        ),
        (
            {"requested_processors": 4, "requested_nodes": 2, "requested_gpus": 3, "partition": "gpu"},
            {"gpus_per_node": 0, "gpus": 3},
        ),
        ({"requested_processors": 4, "queue": "short,gpu"}, {"partitions": ["short", "gpu"]}),
        ({"requested_processors": 4}, {"partitions": ["batch"]}),
        ({"requested_processors": 4, "constraints": "gpu", "partition": "short"}, {"nodes_allowed": 0}),
        ({"requested_processors": 4, "qos": "high"}, {"qos": 2}),
        ({"requested_processors": 32, "requested_nodes": 2}, {"min_nodes": 2, "max_nodes": 2}),
        ({"requested_processors": 33, "requested_nodes": 2}, {"min_nodes": 2, "max_nodes": 0}),  # nodes have 16 CPUs
    ],
)
def test_columns(columns: dict[str, Any], expected: dict[str, Any]) -> None:
    """What a log tells without submit lines."""
    found = row_of(asked(columns), 0)
    assert {name: found[name] for name in expected} == expected
    assert found["code"] == 0


@pytest.mark.parametrize(
    ("default", "partitions", "expected"),
    [
        ({"default_memory_per_cpu": 500.0, "default_memory_per_node": 900.0}, "a,b", (500, 0)),
        ({"default_memory_per_cpu": 500.0}, "b,a", (700, 0)),
        ({"default_memory_per_node": 900.0}, "a,b", (0, 900)),
        ({}, "a,b", (0, 0)),
    ],
)
def test_default_memory(default: dict[str, Any], partitions: str, expected: tuple[int, int]) -> None:
    """Of the first partition, else of the site: of a CPU, else of a node."""
    table = replace(machine("n 2 8 16000 0", "a n / b n default_memory_per_core=700"), slurm=site(**default))
    jobs = asked({"requested_processors": 4, "partition": partitions}, table=table)
    assert (jobs.memory_per_cpu[0], jobs.memory_per_node[0]) == expected
    told = "no memory" if expected == (0, 0) else "the default memory of the partition or the site"
    assert told in [words.partition(",")[0] for words in jobs.assumed]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("-n 4", (4, 1, 0, 3, 0, 3)),
        ("-n 4 -p few", (4, 1, 0, 1, 2, 1)),
        ("-n 8 -N 1-4 -p few", (8, 1, 0, 1, 2, 2)),
        ("-n 8 -N 2 -p few", (8, 1, 0, 2, 2, 2)),
        ("-n 8 -p many", (8, 1, 0, 3, 4, 3)),
        ("-n 8 -N 1-4 -p many", (8, 1, 0, 3, 4, 4)),
        ("-n 8 -p few,many", (8, 1, 0, 1, 4, 1)),
        ("-n 4 --mem-per-cpu=1000 -p few", (4, 1, 1000, 1, 2, 1)),
        ("-n 4 --mem-per-cpu=1001 -p few", (8, 2, 501, 1, 2, 1)),
        ("-n 2 -c 2 --mem-per-cpu=2500 -p few", (12, 6, 834, 1, 2, 1)),
    ],
)
def test_limits_of_partitions(line: str, expected: tuple[int, ...]) -> None:
    """Fewest and most nodes; tasks have more CPUs where each would have more memory than it may have."""
    parts = "long n default min_nodes=3 / few n max_nodes=2 max_memory_per_core=1000 / many n min_nodes=3 max_nodes=4"
    table = replace(machine("n 9 16 16000 0", parts), slurm=site())
    jobs = asked({"line": f"sbatch {line}"}, table=table)
    columns = (jobs.cpus, jobs.cpus_per_task, jobs.memory_per_cpu, jobs.min_nodes, jobs.max_nodes, jobs.wanted_nodes)
    assert tuple(int(column[0]) for column in columns) == expected
    widest = "partitions that differ in MinNodes or MaxNodes"
    assert any(words.startswith(widest) for words in jobs.assumed) == ("," in line)
    more = "more CPUs a task"
    assert any(words.startswith(more) for words in jobs.assumed) == (expected[1] > 1)


def test_the_most_memory_of_a_node() -> None:
    """Of a partition: who asks for more is out, unless another of its partitions lets it be."""
    parts = (SlurmPartition("a", max_memory_per_node=1000.0), SlurmPartition("b"))
    table = replace(machine("n 2 8 16000 0", "a n / b n"), slurm=replace(site(), partitions=parts))
    lines = ("--mem=1000 -p a", "--mem=1001 -p a", "--mem=1001 -p b,a")
    jobs = slurm_jobs_of(log_of([{"submit_line": f"sbatch -n 1 {line}"} for line in lines]), table)
    assert [jobs.reasons[code] for code in jobs.code] == [
        *("", "asks for more memory of each node than its partition lets a job have", ""),
    ]
    assert jobs.partition.tolist() == [0, 1]


def test_threads() -> None:
    """Cores of two threads: what jobs ask for in threads, rounded up to cores, with as much memory in all."""
    table = machine("n 4 8 16000 0 threads:2", "p n")
    rows = [
        {"line": "sbatch -n 8 --mem-per-cpu=100", "requested_processors": 8, "allocated_processors": 8},
        {"line": "sbatch -n 8 --mem-per-cpu=100", "requested_processors": 8, "allocated_processors": 16},
        {"line": "sbatch -n 3 -c 3", "requested_processors": 9, "allocated_processors": 12},
        {"line": "sbatch -n 6 -c 2 --ntasks-per-node=2 -N 3", "requested_processors": 12, "allocated_processors": 12},
        {"line": "sbatch -N 3 -n 3", "requested_processors": 3, "requested_nodes": 3},
    ]
    trace = log_of([{("submit_line" if name == "line" else name): row[name] for name in row} for row in rows])
    jobs = slurm_jobs_of(replace(trace, provenance={"format": "slurm"}), table)
    assert jobs.cpus.tolist() == [4, 8, 6, 6, 3]
    assert jobs.cpus_per_task.tolist() == [1, 1, 2, 1, 1]
    assert jobs.tasks_per_node.tolist() == [0, 0, 0, 2, 0]
    assert jobs.memory_per_cpu.tolist() == [200, 100, 0, 0, 0]
    assert "cores of several threads each, as the log counts threads: 4 jobs" in jobs.assumed


def test_what_is_told_of_lines() -> None:
    """Options that are not simulated, lines that cannot be, and all memory of nodes."""
    jobs = asked(
        {"line": "sbatch -n 4 --licenses=a --reservation=r x"},
        {"line": "sbatch -n 4 -L a:2 x"},
        {"line": "sbatch -n four x", "requested_processors": 3},
        {"line": "sbatch -n 4 --mem=0 x"},
        {"line": None, "requested_processors": 2},
        {"line": "sbatch -n 4 --exclusive=user x"},
        {"line": "sbatch -n 4 --exclusive x"},
        {"line": "sbatch -n 4 -m block --time-min=5 --signal=B:2 x"},
    )
    assert jobs.cpus.tolist() == [4, 4, 3, 4, 2, 4, 4, 4]
    assert jobs.is_exclusive.tolist() == [False] * 6 + [True, False]
    assert [words for words in jobs.assumed if "of the partition" not in words and "machine" not in words] == [
        "submit lines that Slurm would not take as they are read: the other columns count: 1 job",
        "the option --distribution of submit lines is not followed: 1 job",
        "the option --exclusive=user of submit lines is not followed: 1 job",
        "the option --licenses of submit lines is not followed: 2 jobs",
        "the option --reservation of submit lines is not followed: 1 job",
        "the option --time-min of submit lines is not followed: 1 job",
        "no memory, as requests for all memory of nodes (--mem=0) are not simulated: 1 job",
        "no account, as the site has none of that name for that user: 8 jobs",
    ]
    empty = slurm_jobs_of(log_of([]), table_of())
    assert [len(each) for each in (empty.cpus, empty.first_partition, empty.partition, empty.assumed)] == [0, 1, 0, 0]


@pytest.mark.parametrize("select", ["cr_core_memory", "cr_core"])
def test_memory_is_shared_where_slurm_shares_it(select: str) -> None:
    """With CR_Core jobs hold none, and nodes must have what each asks of them; of its CPUs one must fit."""
    table = replace(
        machine("small 2 8 1000 0 +small / large 2 8 5000 0 +large"),
        slurm=SlurmSite(select=frozenset({"linear", select})),
    )
    lines = [
        *("sbatch -n2 --mem=800 x", "sbatch -n2 --mem=2000 x", "sbatch -n2 --mem=2000 -C small x"),
        *("sbatch -n8 --mem-per-cpu=700 x", "sbatch -n2 --mem-per-cpu=2000 x", "sbatch -n2 --mem=6000 x"),
        *("sbatch -n2 --mem=2000 -C large x", "sbatch -n2 --mem=2000 -x large0 x"),
        *("sbatch -N1 -n8 --mem-per-cpu=700 x", "sbatch -n2 --mem=1000 x", "sbatch -n2 --mem=5000 x"),
    ]
    jobs = slurm_jobs_of(log_of([{"submit_line": line} for line in lines]), table)
    held = (jobs.memory_per_cpu + jobs.memory_per_node).tolist()
    nodes = [jobs.sets[at].nonzero()[0].tolist() if at >= 0 else "any" for at in jobs.nodes_allowed.tolist()]
    if select == "cr_core":
        assert held == [0] * 11
        assert (jobs.code > 0).tolist() == [False, False, True, False, False, True, False, False, False, False, False]
        assert [nodes[job] for job in (0, 1, 3, 4, 6, 7, 9, 10)] == [
            "any",
            [2, 3],
            "any",
            *[[2, 3]] * 2,
            [3],
            "any",
            [2, 3],
        ]
    else:
        assert held == [800, 2000, 2000, 700, 2000, 6000, 2000, 2000, 700, 1000, 5000]
        assert (jobs.code > 0).tolist() == [False, False, True, False, False, True, False, False, True, False, False]
        assert [nodes[job] for job in (0, 1, 3, 4)] == ["any"] * 4


@pytest.mark.parametrize(
    ("provenance", "is_told"),
    [
        ({"format": "slurm:time_zone=UTC", "withholds_text": True}, True),
        ({"format": "slurm"}, False),
        ({"format": "lsf", "withholds_text": True}, False),
    ],
)
def test_lines_that_are_withheld_are_told(provenance: dict[str, Any], is_told: bool) -> None:
    """What is published has no submit lines, so jobs may ask for something else there."""
    trace = replace(log_of([{"requested_processors": 2}]), provenance=provenance)
    told = [words for words in slurm_jobs_of(trace, table_of()).assumed if "slurm:publish=yes" in words]
    assert bool(told) == is_told


def test_jobs_that_are_left_out_are_not_counted() -> None:
    """What is assumed is of the others."""
    trace = log_of([{"requested_processors": 2}] * 3)
    jobs = slurm_jobs_of(trace, table_of(), cancelled=np.array([True, False, True]))
    assert all(words.endswith(": 1 job") for words in jobs.assumed)
    assert jobs.assumed


def test_long_logs_of_lines_are_read_once() -> None:
    """Lines that differ in names alone are one."""
    rows = [{"submit_line": f"sbatch -J j{number} -n 3 run{number}.sh"} for number in range(50)]
    assert len(Lines(log_of(rows).jobs)) == 1
