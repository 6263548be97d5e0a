# SPDX-License-Identifier: BSD-3-Clause
"""Logs that count threads, on machines with several threads a core: cases that were worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from swftools import Trace, read_log, read_machine, write_swf
from swftools.formats.parquet import read_parquet, write_parquet
from swftools.header import SwfHeader
from swftools.machines.formats.slurm_machine import SlurmMachine
from swftools.machines.node_table import NodeTable
from swftools.machines.requests import ask_of
from tests.drawn import rows_of
from tests.machines.tables import jobs, machine
from tests.machines.test_requests import reasons, shown

CONF = """\
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=1000
MaxMemPerCPU=4000
NodeName=n[1-4] CPUs=128 Sockets=2 CoresPerSocket=32 ThreadsPerCore=2 RealMemory=256000
NodeName=c[1-2] CPUs=64 Sockets=2 CoresPerSocket=32 ThreadsPerCore=2 RealMemory=256000
PartitionName=batch Nodes=n[1-4] Default=YES MaxCPUsPerNode=127
PartitionName=cores Nodes=c[1-2] MaxCPUsPerNode=63
PartitionName=both Nodes=ALL DefMemPerCPU=3000
"""
"""Nodes of 64 cores, whose CPUs are threads, and, on two, cores."""

SACCT = """\
JobID|User|Partition|State|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|NCPUS|ReqTRES|AllocTRES|ReqMem
1|a|{0}|COMPLETED|2026-01-01T00:00:00Z|2026-01-01T00:00:00Z|2026-01-01T00:00:00Z|2026-01-01T00:01:00Z|60|10|128|128|cpu=128,mem=128000M,node=1|cpu=128,mem=128000M,node=1|128000M
2|a|{0}|COMPLETED|2026-01-01T00:00:00Z|2026-01-01T00:00:00Z|2026-01-01T00:00:00Z|2026-01-01T00:01:00Z|60|10|1|2|cpu=1,node=1|cpu=2,mem=2000M,node=1|
3|a|{0}|COMPLETED|2026-01-01T00:00:00Z|2026-01-01T00:00:00Z|2026-01-01T00:00:00Z|2026-01-01T00:01:00Z|60|10|64|128|cpu=64,mem=64000M,node=1|cpu=128,mem=64000M,node=1|64000M
"""


def of_slurm(log: Trace) -> Trace:
    """Return a log as if it were read from Slurm's."""
    return replace(log, provenance={"format": "slurm"})


def told(log: Trace, table: NodeTable) -> list[str]:
    """Return what is assumed of threads."""
    return [each for each in ask_of(log, table).assumed if "threads" in each]


def test_threads_of_slurm_become_cores() -> None:
    """Rounded up, of each node or of all; memory of a job stays as much, and the partition's default is of cores."""
    table = machine("node 4 64 256000 0 threads:2", "all node default_memory_per_core=2000")
    log = jobs("""
        requested_nodes requested_processors node_cores requested_memory most_cores_per_node
        1               128                  .          .                .
        1               1                    .          .                .
        1               3                    .          1024000          .
        2               129                  .          1024             .
        .               129                  .          .                .
        1               .                    127        1024             .
        .               256                  .          .                64
        1               1                    .          .                .
        5               640                  .          .                .
        1               .                    129        .                .
    """)
    asked = ask_of(of_slurm(log), table)
    assert shown(asked) == rows_of("""
        1 64 128000 0
        1 1 2000 0
        1 2 3000 0
        2 33 66 0
        2 33 66000 0
        1 64 127 0
        4 32 64000 0
        1 1 2000 0
        -
        -
    """)
    assert told(of_slurm(log), table) == ["cores of several threads each, as the log counts threads: 6 jobs"]
    assert reasons(asked)[8:] == [
        "asks for more nodes than its partition has that are large enough",
        "asks for more cores on a node than any node of its partition has",
    ]


@pytest.mark.parametrize(
    ("header", "becomes_cores"),
    [
        ("from Slurm, sacct (slurm)", True),
        ("from Slurm, sacct (slurm:time_zone=UTC)", True),
        ("from OpenPBS (pbs)", False),
    ],
)
def test_a_log_of_slurm_in_another_file(header: str, becomes_cores: bool) -> None:
    """Its header says that it was Slurm's; other logs count cores."""
    table = machine("node 2 8 0 0 threads:2")
    log = replace(
        jobs("requested_processors / 8"), header=SwfHeader.from_lines([f"; Conversion: swftools 1, {header}"])
    )
    assert shown(ask_of(log, table)) == rows_of("1 4 0 0" if becomes_cores else "1 8 0 0")


@pytest.mark.parametrize(
    ("rows", "becomes_cores"),
    [
        ("1 9 . / 1 16 . / 1 3 .", True),  # more than the cores of any node, no more than the threads
        ("1 8 . / 1 3 .", False),
        ("1 9 . / 1 17 . / 1 3 .", False),  # such counts neither
        ("2 16 . / . 16 . / 1 3 .", False),  # may be on two nodes
        ("3 . 16 / 1 3 .", True),
    ],
)
def test_other_logs_show_that_they_count_threads(rows: str, becomes_cores: bool) -> None:
    """By jobs on one node that are larger than any has cores, while none is larger than its threads."""
    table = machine("node 3 8 0 0 threads:2 / small 1 4 0 0 threads:4")
    asked = ask_of(jobs(f"requested_nodes requested_processors node_cores / {rows}"), table)
    assert shown(asked)[-1] == (["1", "2", "0", "0"] if becomes_cores else ["1", "3", "0", "0"])
    assert any("threads" in each for each in asked.assumed) is becomes_cores


def test_one_thread_of_each_core() -> None:
    """Where Slurm gave up to as many threads a core more than asked for, these cores count; not what is beyond."""
    table = machine("node 4 64 256000 0 threads:2")
    log = of_slurm(
        jobs("""
            requested_nodes requested_processors allocated_processors requested_memory is_exclusive
            1               64                   128                  1024000          .
            1               64                   129                  1024000          .
            1               63                   64                   1024000          .
            1               64                   128                  1024000          1
            1               64                   32                   1024000          .
        """)
    )
    assert shown(ask_of(log, table)) == rows_of("""
        1 64 64000 0
        1 32 64000 0
        1 32 63000 0
        1 32 64000 0 alone
        1 32 64000 0
    """)
    assert told(log, table) == [
        "cores of several threads each, as the log counts threads: 4 jobs",
        "the cores that jobs were given, which hold more threads than they asked for: they use fewer of each: 1 job",
    ]


def test_what_was_given_beside_cores_of_each_node() -> None:
    """Says nothing: it is of all nodes."""
    log = of_slurm(jobs("requested_nodes node_cores allocated_processors / 2 8 16"))
    assert shown(ask_of(log, machine("node 4 64 0 0 threads:2"))) == rows_of("2 4 0 0")


def test_nodes_of_several_numbers_of_threads() -> None:
    """Each partition has its own; where nodes of one differ the fewest count with which the job fits."""
    table = machine(
        "plain 2 8 1000 0 / twice 2 8 1000 0 threads:2 / four 1 4 1000 0 threads:4",
        "plain plain / twice twice / all plain,twice,four / some twice,four",
    )
    log = of_slurm(
        jobs("""
            partition requested_nodes node_cores requested_memory
            plain     1               8          102400
            plain     1               9          102400
            twice     1               8          102400
            twice     1               16         102400
            all       1               8          102400
            all       1               9          102400
            all       1               16         61440
            all       1               32         10240
            all       1               33         10240
            some      1               8          102400
            all,twice 1               9          102400
        """)
    )
    asked = ask_of(log, table)
    assert shown(asked) == rows_of(
        """
        1 8 800 0
        -
        1 4 800 0
        -
        1 8 800 0
        1 5 900 0
        1 8 960 0
        1 8 320 0
        -
        1 4 800 0
        1 5 900 0
    """
    )
    assert [each.partition(":")[2] for each in asked.assumed if "threads" in each] == [" 6 jobs"]


def test_whole_nodes_have_no_threads() -> None:
    """Of logs whose jobs have whole nodes, as PM100, threads do not matter."""
    table = machine("node 3 32 256000 4 threads:4")
    log = of_slurm(jobs("requested_nodes requested_processors is_exclusive / 1 128 1 / 2 256 1"))
    asked = ask_of(log, table)
    assert shown(asked) == rows_of("1 1 0 0 alone / 2 1 0 0 alone")
    assert told(log, table) == []


def test_what_slurm_says_of_cpus(tmp_path: Path) -> None:
    """Threads, but where CPUs are as many as cores; limits and defaults of a CPU become those of a core."""
    (tmp_path / "slurm.conf").write_text(CONF)
    table = read_machine(tmp_path / "slurm.conf").table()
    assert table.cores.tolist() == [64] * 6
    assert dict(zip(table.names, table.threads.tolist(), strict=True)) == dict.fromkeys(
        ("c1", "c2"), 1
    ) | dict.fromkeys(("n1", "n2", "n3", "n4"), 2)
    batch, cores, both = table.partitions
    assert (batch.max_cores, batch.default_memory_per_core, batch.max_memory_per_core) == (64, 2000, 8000)
    assert (cores.max_cores, cores.default_memory_per_core, cores.max_memory_per_core) == (63, 1000, 4000)
    assert (both.max_cores, both.default_memory_per_core, both.max_memory_per_core) == (0, 3000, 4000)


def test_a_partition_of_nodes_that_are_not_there() -> None:
    """Is told by the description, with its place."""
    slurm = SlurmMachine("x")
    slurm.add_nodes(["n1"], {"cpus": "4", "corespersocket": "2", "threadspercore": "2"}, "here")
    for name, nodes in (("p", ["n[1"]), ("q", ["n2"]), ("r", ["n1", "n2"])):
        slurm.add_partition(name, nodes, {"defmempercpu": "10"}, "here")
    assert [part["default_memory_per_core"] for part in slurm.content()["partitions"]] == [10, 10, 20]


@pytest.mark.parametrize(
    ("partition", "expected", "in_swf"),
    [
        ("batch", "1 64 128000 0 / 1 1 2000 0 / 1 64 64000 0", [64, 1, 64]),
        ("cores", "- / 1 1 1000 0 / 2 32 32000 0", [0, 2, 0]),
    ],
)
def test_sacct_of_nodes_with_two_threads_a_core(
    tmp_path: Path, partition: str, expected: str, in_swf: list[int]
) -> None:
    """128 CPUs are a node of 64 cores, also in another file; where CPUs are cores they are more."""
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "sacct.txt").write_text(SACCT.format(partition))
    table = read_machine(tmp_path / "slurm.conf").table()
    log = read_log(tmp_path / "sacct.txt")
    assert shown(ask_of(log, table)) == rows_of(expected)
    write_parquet(log, tmp_path / "log.parquet")
    assert shown(ask_of(read_parquet(tmp_path / "log.parquet"), table)) == rows_of(expected)
    write_swf(log, tmp_path / "log.swf")
    assert ask_of(read_log(tmp_path / "log.swf"), table).cores.tolist() == in_swf
