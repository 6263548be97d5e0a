# SPDX-License-Identifier: BSD-3-Clause
"""Where jobs may run, and who cannot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from swftools.machines.slurm_site import SlurmPartition
from tests.machines.tables import machine
from tests.simulator.slurm.site import asked, of_line, row_of, site, table_of

SMALL = machine("a 2 4 8000 0 / b 2 8 16000 2", "p a,b max_time=100 / q b max_nodes=1 max_cores=6 / r a,b min_nodes=3")


@pytest.mark.parametrize(
    ("partition", "columns", "why"),
    [
        ("p", {"requested_processors": 24}, ""),
        ("p", {"requested_processors": 25}, "asks for more cores than the nodes of its partition have"),
        ("p", {"requested_processors": 4, "requested_nodes": 4}, ""),
        ("p", {"requested_processors": 5, "requested_nodes": 5}, "asks for more nodes than its partition has"),
        ("p", {"requested_processors": 1, "requested_time": 100}, ""),
        ("p", {"requested_processors": 1, "requested_time": 101}, "requests more time than its partition allows"),
        ("p", {"requested_processors": 2, "requested_memory": 16000 * 1024}, ""),
        ("p", {"requested_processors": 3, "requested_memory": 16000 * 1024}, "asks for more cores than"),
        ("p", {"requested_processors": 4, "requested_memory": 8000 * 1024}, ""),
        ("p", {"requested_processors": 1, "requested_memory": 16001 * 1024}, "asks for more memory on a node"),
        ("p", {"submit_line": "sbatch -n 12 --mem=16000 x"}, ""),
        ("p", {"submit_line": "sbatch -n 17 --mem=16000 x"}, "asks for more cores than the nodes"),
        ("p", {"submit_line": "sbatch -n 1 --mem=16001 x"}, "asks for more memory on a node"),
        ("p", {"submit_line": "sbatch -N 2 -n 16 x"}, ""),
        ("p", {"submit_line": "sbatch -N 2 -n 17 x"}, "asks for more cores than the nodes"),
        ("p", {"submit_line": "sbatch -N 1 -n 9 x"}, "asks for more cores on a node than any node"),
        ("p", {"submit_line": "sbatch -n 8 -c 3 x"}, "asks for more cores than the nodes"),
        ("p", {"submit_line": "sbatch -n 6 -c 3 x"}, ""),
        ("p", {"submit_line": "sbatch -n 1 -c 9 x"}, "asks for more cores on a node than any node"),
        ("p", {"submit_line": "sbatch -N 3 --ntasks-per-node=4 x"}, ""),
        ("p", {"submit_line": "sbatch -N 3 --ntasks-per-node=5 x"}, "asks for more nodes than its partition has"),
        ("p", {"submit_line": "sbatch -N 2 --gpus-per-node=2 x"}, ""),
        ("p", {"submit_line": "sbatch -N 3 --gpus-per-node=2 x"}, "asks for more nodes than its partition has"),
        ("p", {"submit_line": "sbatch -n 1 --gpus-per-node=3 x"}, "asks for more GPUs on a node"),
        ("p", {"submit_line": "sbatch -n 1 --gpus=4 x"}, ""),
        ("p", {"submit_line": "sbatch -n 1 --gpus=5 x"}, "asks for more GPUs than the nodes"),
        ("p", {"submit_line": "sbatch -N 1 -n 1 --gpus=3 x"}, "asks for more GPUs on a node"),
        ("p", {"submit_line": "sbatch -n 5 --mem-per-cpu=2000 --gpus-per-node=2 -N 1 x"}, ""),
        ("q", {"submit_line": "sbatch -n 6 x"}, ""),
        ("q", {"submit_line": "sbatch -n 7 x"}, "asks for more cores on a node than its partition allows"),
        ("q", {"submit_line": "sbatch -N 2 x"}, "asks for more nodes than its partition allows"),
        ("r", {"submit_line": "sbatch -n 5 x"}, ""),
        ("r", {"submit_line": "sbatch -N 2 x"}, "asks for fewer nodes than its partition allows"),
        ("s", {"requested_processors": 1}, "asks for a partition that the machine does not have: s"),
        (
            "p",
            {"requested_processors": 1, "constraints": "huge"},
            "asks for features that no node of its partition has",
        ),
        ("p", {"requested_processors": 1, "gpu_types": "v100"}, "asks for a type of GPU"),
        ("p", {"requested_processors": 1, "requested_nodes": 0}, "asks for 0 nodes"),
        ("p", {}, "the log tells neither nodes nor processors of it"),
    ],
)
def test_who_cannot_run(partition: str, columns: dict[str, Any], why: str) -> None:
    """On the idle machine, within the limits of the partition."""
    table = replace(SMALL, features=(frozenset({"x"}),) * 2, gpu_types=(frozenset(), frozenset({"a100"})))
    known = {"requested_processors": 1, "partition": "p"}
    jobs = asked({"partition": partition, **columns}, known, table=table)
    assert jobs.reasons[jobs.code[0]].startswith(why)
    assert bool(jobs.code[0]) == bool(why)
    assert jobs.first_partition.tolist() == [0, 0, 1] if why else [0, 1, 2]
    assert jobs.code[1] == 0


def test_of_several_partitions_those_in_which_it_can() -> None:
    """The reason is that of the first where it can in none."""
    jobs = asked(
        {"partition": "q,p", "requested_processors": 12},
        {"partition": "q,p", "requested_processors": 40},
        {"partition": "p,q", "requested_processors": 40},
        {"partition": "r,q,p", "requested_processors": 3},
        table=SMALL,
    )
    assert jobs.first_partition.tolist() == [0, 1, 1, 1, 4]
    assert jobs.partition.tolist() == [0, 2, 1, 0]
    assert [jobs.reasons[code] for code in jobs.code] == [
        "",
        "asks for more cores on a node than its partition allows",
        "asks for more cores than the nodes of its partition have on which it may run",
        "",
    ]


def test_nodes_by_name() -> None:
    """Nodes that are left out, and nodes that are wanted if they suffice."""
    table = replace(SMALL, names=("n1", "n2", "n3", "n4"))

    def nodes(line: str) -> tuple[list[int], bool]:
        jobs = asked({"submit_line": f"sbatch -p p {line} x"}, table=table)
        allowed = jobs.nodes_allowed[0]
        odd = any("--nodelist" in words for words in jobs.assumed)
        return (np.flatnonzero(jobs.sets[allowed]).tolist() if allowed >= 0 else [0, 1, 2, 3]), odd

    assert nodes("-x n[2-3],m") == ([0, 3], False)
    assert nodes("-w n[2-3] -N 2") == ([1, 2], False)
    assert nodes("-w n2 -n 3") == ([1], False)
    assert nodes("-w n2 -N 2") == ([0, 1, 2, 3], True)
    assert nodes("-w n9 -n 3") == ([0, 1, 2, 3], True)
    assert nodes("-w n[2-3] -x n3 -n 2") == ([1], False)
    assert nodes("-x n[ -n 2") == ([0, 1, 2, 3], False)
    assert asked({"submit_line": "sbatch -p p -w n[2-3] -n 5 x"}, table=table).min_nodes.tolist() == [2]


def test_sets_are_there_once() -> None:
    """Jobs with the same features share one; who asks for none has none."""
    table = table_of()
    rows = [
        {"requested_processors": 1, "partition": "short", "constraints": text} for text in ("gpu", None, "cpu", "gpu")
    ]
    jobs = asked(*rows, table=table)
    assert jobs.nodes_allowed.tolist() == [0, -1, 1, 0]
    assert jobs.sets.sum(axis=1).tolist() == [8, 56]


def test_who_may_use_a_partition() -> None:
    """Accounts and QOS that are allowed, or denied."""
    parts = (
        SlurmPartition("batch", allow_accounts=("users",), deny_qos=("low",)),
        SlurmPartition("short", deny_accounts=("users",)),
        SlurmPartition("gpu", allow_qos=("high",)),
    )
    rows = [
        {"partition": "batch", "account": "users"},
        {"partition": "batch", "account": "others"},
        {"partition": "batch"},
        {"partition": "batch", "account": "users", "qos": "low"},
        {"partition": "short", "account": "users"},
        {"partition": "batch,short", "account": "others"},
        {"partition": "gpu", "qos": "high"},
        {"partition": "gpu", "qos": "low"},
    ]
    table = replace(table_of(), slurm=site(partitions=parts, associations=()))
    jobs = asked(*({"requested_processors": 1, **row} for row in rows), table=table)
    account, qos = "has an account that may not use its partition", "has a QOS that may not be used in its partition"
    assert [jobs.reasons[code] for code in jobs.code] == ["", account, "", qos, account, "", "", qos]
    assert row_of(jobs, 5)["partitions"] == ["short"]


def test_the_partition_of_a_line_counts() -> None:
    """The log tells where a job ran; where nothing of the line is known, that counts."""
    assert of_line("-n 1 -p short,batch", partition="batch")["partitions"] == ["short", "batch"]
    assert of_line("-n 1 -p night", partition="batch")["partitions"] == ["batch"]
    assert of_line("-n 1", partition="short")["partitions"] == ["short"]
    rows = [{"submit_line": f"sbatch -n 1 -p {name} x", "partition": "batch"} for name in ("night", "short")]
    assert [row_of(asked(*rows), row)["partitions"] for row in (0, 1)] == [["batch"], ["short"]]
