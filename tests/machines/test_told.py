# SPDX-License-Identifier: BSD-3-Clause
"""What is found out over a whole log: what its widths count, which nodes are whole, in what unit memory is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from swftools import Trace
from swftools.header import HeaderEntry, SwfHeader
from swftools.machines.requests import ask_of
from tests.drawn import rows_of
from tests.machines.tables import jobs, log_of, machine
from tests.machines.test_requests import shown

NODES = "the width counts nodes, which jobs have whole, as the log tells no cores: {} jobs"
THETA = machine("knl 8 64 1000 0")


def _with_header(trace: Trace, nodes: int, processors: int) -> Trace:
    entries = (HeaderEntry("MaxNodes", str(nodes)), HeaderEntry("MaxProcs", str(processors)))
    return replace(trace, header=SwfHeader(entries))


def test_widths_that_are_the_nodes_of_each_job_count_nodes() -> None:
    """Each job has as many processors as nodes, some of them several: then nodes are whole."""
    log = jobs("requested_processors requested_nodes requested_memory / 3 3 102400 / 1 1 . / 5 . .")
    asked = ask_of(log, THETA)
    assert shown(asked) == rows_of("3 1 100 0 alone / 1 1 0 0 alone / 5 1 0 0 alone")
    assert NODES.format(3) in asked.assumed


@pytest.mark.parametrize(
    "table",
    [
        "requested_processors requested_nodes / 4 2 / 3 3",
        "requested_processors requested_nodes / 1 1 / 1 1",
    ],
)
def test_widths_that_may_be_cores_are_cores(table: str) -> None:
    """One job of other widths shows it; and where every job has one node it cannot be told."""
    assert not ask_of(jobs(table), THETA).is_exclusive.any()


@pytest.mark.parametrize(("nodes", "processors", "counts_nodes"), [(8, 8, True), (9, 9, False), (4, 256, False)])
def test_a_header_with_as_many_nodes_as_processors(nodes: int, processors: int, counts_nodes: bool) -> None:
    """Widths count nodes then, if the machine has so many."""
    log = _with_header(Trace.from_columns(submit_time=[0, 0], requested_processors=[3, 8]), nodes, processors)
    asked = ask_of(log, THETA)
    assert (NODES.format(2) in asked.assumed) == counts_nodes
    assert asked.nodes.tolist() == ([3, 8] if counts_nodes else [1, 1])
    assert not ask_of(log, machine("one 8 1 0 0")).is_exclusive.any()


def test_widths_that_count_gpus() -> None:
    """They say nothing of how many nodes hold the cores of each."""
    log = jobs("""
        requested_processors requested_gpus exact_gpus node_cores node_gpus
        1                    1              .46        2              .46
        8                    8              8          1              8
        .                    0              .          4              0
    """)
    table = machine("v 4 8 0 8")
    assert shown(ask_of(log, table)) == rows_of("1 2 0 0.46 / 1 1 0 8 / 1 4 0 0")
    cores = jobs("requested_processors requested_gpus node_cores / 4 1 2 / 2 2 1")
    assert shown(ask_of(cores, table)) == rows_of("2 2 0 1 / 2 1 0 1")


def test_widths_that_count_gpus_are_no_nodes() -> None:
    """A GPU a node in each job: a core a GPU, and nodes that others may share."""
    log = jobs("requested_processors requested_gpus requested_nodes / 3 3 3 / 1 1 1")
    assert shown(ask_of(log, machine("v 4 8 0 8"))) == rows_of("3 1 0 1 / 1 1 0 1")


def test_what_was_given_counts_where_nothing_was_asked() -> None:
    """Nodes and GPUs that jobs were given, and told so; not GPUs that came with whole nodes, nor beside others'."""
    table = machine("v 8 8 0 8")
    log = jobs("allocated_processors allocated_nodes allocated_gpus / 7 2 4 / 3 . .")
    asked = ask_of(log, table)
    assert shown(asked) == rows_of("2 4 0 2 / 1 3 0 0")
    assert "the nodes that jobs were given count, as what they asked for is not told: 1 job" in asked.assumed
    assert "the GPUs that jobs were given count, as what they asked for is not told: 1 job" in asked.assumed
    log = jobs("requested_processors requested_gpus allocated_gpus is_exclusive / 3 1 2 . / 3 . 2 . / 3 . 8 1")
    assert shown(ask_of(log, table)) == rows_of("1 3 0 1 / 1 3 0 0 / 1 3 0 0 alone")


def test_what_was_asked_counts_before_what_was_given() -> None:
    """Where nodes are told the width is that which was asked for, since more may have been given."""
    log = jobs("requested_processors allocated_processors requested_nodes / 4 32 2 / . 16 2")
    assert shown(ask_of(log, machine("v 8 8 0 0"))) == rows_of("2 2 0 0 / 2 8 0 0")


def test_whole_nodes_of_all_jobs() -> None:
    """Where all jobs have their nodes alone, threads of them do not matter; memory is that of a node."""
    log = jobs("requested_processors requested_nodes is_exclusive requested_memory / 256 2 1 1024 / 128 1 1 .")
    asked = ask_of(log, machine("r 4 32 1000 0"))
    assert shown(asked) == rows_of("2 1 128 0 alone / 1 1 0 0 alone")
    assert (
        "whole nodes, however many cores are told, as all jobs of the log have their nodes alone: 2 jobs"
        in asked.assumed
    )


def test_requests_of_frontier() -> None:
    """Machine, sharing, nodes and cores of each; threads of whole nodes do not matter."""
    requests = ["frontier:excl:3x112", "frontier:excl:1x112"]
    rows = [{"requested_processors": 3, "allocated_gpus": 8, "resource_request": each} for each in requests]
    assert shown(ask_of(log_of(rows), machine("f 4 64 0 8"))) == rows_of("3 1 0 0 alone / 1 1 0 0 alone")
    shares = log_of([*rows, {"requested_processors": 2, "resource_request": "frontier:shared:2x4"}])
    assert shown(ask_of(shares, machine("f 4 112 0 8"))) == rows_of("3 112 0 0 alone / 1 112 0 0 alone / 2 4 0 0")


def test_requests_of_cerit() -> None:
    """Nodes, cores of each, properties of which clusters are kinds of nodes, and memory of a node in bytes."""
    wanted = {
        "2:ppn=8:x86_64:cl_zegox": 8.0,
        "1:ppn=1.5:brno": 1.0,
        "1:ppn=80:cl_zewura#excl": 64.0,
        "1:ppn=12:nodecpus12": 1.0,
        "1:ppn=4:^zewura0.cerit-sc.cz": 1.0,
        "1:ppn=4:zewura1.cerit-sc.cz": 1.0,
        "1:ppn=40:cl_zegox": 1.0,
        "1:ppn=2+2:ppn=6": 1.0,
    }
    rows = [
        {"requested_processors": 9, "resource_request": text, "requested_memory": size * 2.0**30}
        for text, size in wanted.items()
    ]
    asked = ask_of(log_of(rows), machine("zewura 2 80 517000 0 / zegox 3 12 91000 0"))
    assert shown(asked) == rows_of("""
        2 8 8192 0
        1 2 1024 0
        1 80 65536 0 alone
        1 12 1024 0
        1 4 1024 0
        1 4 1024 0
        -
        3 6 1024 0
    """)
    sets = [asked.places[place].nodes[0].tolist() if place >= 0 else [] for place in asked.place]
    assert sets == [[2, 3, 4], [0, 1, 2, 3, 4], [0, 1], [2, 3, 4], [1, 2, 3, 4], [1], [], [0, 1, 2, 3, 4]]
    assert asked.assumed == (
        "requests for nodes of several kinds: the largest amount of each kind counts for all of them: 1 job",
        "memory of field 10 is that of a node in bytes, as CERIT-SC tells it: 8 jobs",
        "cores rounded up to whole ones: 1 job",
        "names in requests that nothing of the machine has are not followed: x86_64, brno: 2 jobs",
    )


@pytest.mark.parametrize("memory", [0, 100, 2**20, 2**27])
def test_memory_of_cerit_does_not_depend_on_the_machine_nor_on_the_other_jobs(memory: int) -> None:
    """It counts bytes, whatever the nodes have, and whichever jobs of the log there are."""
    rows = [
        {"requested_processors": 8, "resource_request": "1:ppn=8", "requested_memory": size * 2.0**20}
        for size in (4096.0, 8.0, 64.0)
    ]
    table = machine(f"zewura 2 80 {memory} 0")
    asked = ask_of(log_of(rows), table)
    assert "memory of field 10 is that of a node in bytes, as CERIT-SC tells it: 3 jobs" in asked.assumed
    assert asked.memory.tolist() == [4096 if memory > 4096 else 0, 8 if memory else 0, 64 if memory else 0]
    for row, each in enumerate(rows):
        assert ask_of(log_of([each]), table).memory.tolist() == [asked.memory[row]]


def test_columns_come_before_texts() -> None:
    """For nodes too."""
    rows = [{"requested_nodes": 3, "node_cores": 1, "node_gpus": 1, "resource_request": "2:ppn=2:gpus=2"}]
    assert shown(ask_of(log_of(rows), machine("n 4 8 0 2"))) == rows_of("3 1 0 1")


@pytest.mark.parametrize("kept_as", ["pbs", "pbs:submit=queued", "header"])
def test_who_asks_pbs_for_no_nodes_gets_as_few_as_hold_it(kept_as: str) -> None:
    """However many were given, unless nothing else is told of the job; other logs say so by what was given."""
    log = jobs(
        "requested_processors allocated_processors allocated_nodes requested_nodes / 8 8 5 . / . 8 5 . / 8 8 5 2"
    )
    table = machine("n 8 8 0 0")
    assert shown(ask_of(log, table)) == rows_of("5 2 0 0 / 5 2 0 0 / 2 4 0 0")
    header = SwfHeader.from_lines(["; Conversion: swftools 1, from PBS, Torque (pbs)"])
    of_pbs = replace(log, header=header) if kept_as == "header" else replace(log, provenance={"format": kept_as})
    assert shown(ask_of(of_pbs, table)) == rows_of("1 8 0 0 / 5 2 0 0 / 2 4 0 0")


def test_requests_that_cannot_be_read() -> None:
    """The other columns count, and it is told."""
    rows = [{"requested_processors": 5, "resource_request": text} for text in ("ppn=3", "2:ppn=2")]
    asked = ask_of(log_of(rows), machine("n 4 8 0 0"))
    assert shown(asked) == rows_of("1 5 0 0 / 2 2 0 0")
    assert "requests in words that cannot be read: the other columns count: 1 job" in asked.assumed


def test_odd_numbers_are_taken_for_missing() -> None:
    """What is negative, infinite or far too large does no harm."""
    log = log_of(
        [
            {
                "requested_processors": 4,
                "node_memory": -5.0,
                "node_cores": float("inf"),
                "node_gpus": -1.0,
            },
            {"requested_processors": 4, "node_memory": 9e15, "requested_time": float("inf")},
            {"requested_processors": 2**31 - 1, "requested_memory": 9e15, "requested_gpus": 2**31 - 1},
        ]
    )
    assert shown(ask_of(log, machine("n 4 8 100 0"))) == rows_of("1 4 0 0 / - / -")
