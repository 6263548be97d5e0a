# SPDX-License-Identifier: BSD-3-Clause
"""What jobs ask of a machine of nodes: cases that were worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from swftools import Trace, simulate
from swftools.machines.asked import Asked
from swftools.machines.requests import ask_of
from tests.drawn import rows_of
from tests.machines.tables import jobs, log_of, machine

TWO_KINDS = machine("thin 4 8 1000 0 +fast / fat 2 16 4000 2 +big gpu:a100", "all thin,fat default / gpu fat exclusive")


def shown(asked: Asked) -> list[list[str]]:
    """Return nodes, cores, memory, GPUs and marks of each job, ``-`` where it cannot run."""
    rows = []
    for row in range(len(asked.code)):
        if asked.code[row]:
            rows.append(["-"])
            continue
        numbers = [str(each[row]) for each in (asked.nodes, asked.cores, asked.memory)]
        rows.append([*numbers, f"{asked.gpus[row] / 1000:g}", *(["alone"] if asked.is_exclusive[row] else [])])
    return rows


def reasons(asked: Asked) -> list[str]:
    """Return why each job cannot run; empty where it can."""
    return [asked.reasons[code] for code in asked.code]


def test_amounts_of_nodes() -> None:
    """Amounts of a node, or of all nodes spread evenly and rounded up, on as few nodes as hold them."""
    log = jobs("""
        requested_nodes node_cores requested_processors node_memory requested_memory node_gpus exact_gpus
        2 4 . 500 . . .
        . . 16 . . . .
        . . 17 . . . .
        . . 18 . 102400 . .
        2 . 5 . . . .
        1 2.5 . 99.2 . .46 .
        2 . 4 . . . 3
        . 8 24 . . . .
        3 4 . . 2048 . .
        1 . 20 . . . .
        """)
    assert shown(ask_of(log, TWO_KINDS)) == rows_of("""
        2 4 500 0
        1 16 0 0
        2 9 0 0
        2 9 900 0
        2 3 0 0
        1 3 100 0.46
        2 2 0 2
        3 8 0 0
        3 4 8 0
        2 10 0 0
    """)


def test_a_plain_log_of_widths() -> None:
    """The width is what the job was given, as on a pool of processors, and what it asked for where it never started."""
    log = Trace.from_columns(
        submit_time=[0, 0, 0],
        allocated_processors=[12, -1, 0],
        requested_processors=[10, 7, 3],
        requested_memory=[1024, -1, 0],
    )
    asked = ask_of(log, machine("node 4 8 100 0"))
    assert shown(asked) == [["2", "6", "6", "0"], ["1", "7", "0", "0"], ["1", "3", "0", "0"]]
    assert asked.assumed == (
        "as few nodes as hold all cores, spread evenly, as the number of nodes is not told: 3 jobs",
        "no memory, as the log tells none and the partition has no default: 2 jobs",
    )


def test_one_node_is_a_pool() -> None:
    """On one node a job takes its width; on whole equal nodes as many as hold it."""
    log = Trace.from_columns(submit_time=[0] * 4, requested_processors=[1, 8, 9, 1152])
    assert shown(ask_of(log, machine("node 1 1152 0 0"))) == rows_of("1 1 0 0 / 1 8 0 0 / 1 9 0 0 / 1 1152 0 0")
    assert shown(ask_of(log, machine("node 144 8 0 0"))) == rows_of("1 1 0 0 / 1 8 0 0 / 2 5 0 0 / 144 8 0 0")


def test_who_cannot_run_is_told_why() -> None:
    """Each job that could not run on the idle machine has one reason, the first limit that it exceeds."""
    table = machine(
        "thin 4 8 1000 0 / fat 2 16 4000 2",
        "all thin,fat / thin thin max_time=100 max_nodes=2 max_cores=4 / wide thin min_nodes=3 max_memory_per_core=100",
    )
    log = jobs("""
        requested_nodes node_cores node_memory node_gpus requested_time partition
        0               1              .               .             .              all
        .               .              .               .             .              all
        1               17             .               .             .              all
        1               1              4001            .             .              all
        1               1              .               3.5           .              all
        1               9              .               .             .              thin
        3               16             .               .             .              all
        1               1              1001            2             .              all
        7               1              .               .             .              all
        1               1              .               .             101            thin
        3               1              .               .             100            thin
        1               5              .               .             .              thin
        2               1              .               .             .              wide
        3               2              201             .             .              wide
        3               2              200             .             .              wide
        1               1              .               .             .              slow
    """)
    found = ask_of(log, table)
    assert reasons(found) == [
        "asks for 0 nodes",
        "the log tells neither nodes nor processors of it",
        "asks for more cores on a node than any node of its partition has",
        "asks for more memory on a node than any node of its partition has",
        "asks for more GPUs on a node than any node of its partition has",
        "asks for more cores on a node than any node of its partition has",
        "asks for more nodes than its partition has that are large enough",
        "",
        "asks for more nodes than its partition has that are large enough",
        "requests more time than its partition allows",
        "asks for more nodes than its partition allows",
        "asks for more cores on a node than its partition allows",
        "asks for fewer nodes than its partition allows",
        "asks for more memory a core than its partition allows",
        "",
        "asks for a partition that the machine does not have: slow",
    ]
    cannot = found.code > 0
    for column in (found.nodes, found.cores, found.memory, found.gpus, found.is_exclusive):
        assert not column[cannot].any()
    assert (found.place[cannot] == -1).all()
    assert (found.place[~cannot] >= 0).all()
    assert found.code.dtype == np.int16


def test_no_node_has_all_of_it() -> None:
    """Each amount is there on some node, together on none."""
    table = machine("cores 1 16 100 0 / memory 1 4 1000 0")
    log = jobs("requested_nodes node_cores node_memory / 1 16 1000 / 1 16 100 / 1 4 1000")
    assert reasons(ask_of(log, table)) == [
        "asks for more cores, memory and GPUs than any node of its partition has together", "", ""
    ]  # fmt: skip


def test_several_partitions() -> None:
    """A job that names several has a set of each in which it fits, in its order; what it gets is that of the first."""
    table = machine(
        "thin 3 8 1000 0 / fat 2 16 4000 2",
        "a thin default_memory_per_core=10 / b fat default_memory_per_core=20 exclusive / c thin,fat max_time=50",
    )
    log = jobs("""
        partition requested_processors requested_time
        a,b       8                    10
        b,a       8                    10
        a,b       16                   10
        c,a       8                    60
        a,c,b     8                    10
        x,a       8                    10
        a|b       8                    10
    """)
    asked = ask_of(log, table)
    assert shown(asked) == rows_of("""
        1 8 80 0
        1 8 160 0 alone
        2 8 80 0
        1 8 80 0
        1 8 80 0
        1 8 80 0
        1 8 80 0
    """)
    places = [asked.places[place] for place in asked.place]
    assert [place.partitions for place in places] == [(0, 1), (1, 0), (0, 1), (0,), (0, 2, 1), (0,), (0, 1)]
    assert [nodes.tolist() for nodes in places[4].nodes] == [[0, 1, 2], [0, 1, 2, 3, 4], [3, 4]]
    assert len(asked.places) == len({place.partitions for place in asked.places})


def test_the_first_partition_gives_the_reason() -> None:
    """Where a job fits in none of several, what it lacks in the first is told."""
    table = machine("thin 3 8 1000 0 / fat 2 16 500 2", "a thin / b fat")
    log = jobs("partition requested_nodes node_cores node_memory / a,b 1 17 . / b,a 1 9 600 / a,b 1 9 600")
    assert reasons(ask_of(log, table)) == [
        "asks for more cores on a node than any node of its partition has",
        "asks for more memory on a node than any node of its partition has",
        "asks for more cores on a node than any node of its partition has",
    ]


def test_requests_that_differ_only_in_their_time() -> None:
    """A request that is as long as is allowed is allowed, and the next longer one is not."""
    table = machine("thin 3 8 1000 0", "a thin max_time=100")
    log = jobs("requested_processors requested_time / 1 100 / 1 101 / 1 100 / 1 99 / 1 .")
    assert ask_of(log, table).code.tolist() == [0, 1, 0, 0, 0]


def test_where_no_partition_is_named() -> None:
    """The default one, the only one, one of all nodes, or any: which of it is told."""
    log = log_of([{"requested_processors": 3}])

    def taken(table: str, partitions: str) -> tuple[list[list[int]], tuple[int, ...], list[str]]:
        asked = ask_of(log, machine(table, partitions))
        place = asked.places[asked.place[0]]
        return (
            [nodes.tolist() for nodes in place.nodes],
            place.partitions,
            [each for each in asked.assumed if "names no" in each],
        )

    kinds = "thin 2 8 0 0 / fat 1 16 0 0"
    assert taken(kinds, "a thin / b thin,fat default / c fat default") == (
        [[0, 1, 2], [2]],
        (1, 2),
        ["the default partition of the machine, as the log names none: 1 job"],
    )
    assert taken(kinds, "a thin")[:2] == ([[0, 1]], (0,))
    nodes, partitions, told = taken(kinds, "b fat / a thin")
    assert (nodes, partitions) == ([[2], [0, 1]], (0, 1))
    assert told == [
        "any partition, the first in which they fit, as the log names none and the machine has no default: 1 job"
    ]
    assert taken(kinds, "a thin / b thin,fat")[:2] == ([[0, 1, 2]], (1,))


def test_any_partition_has_its_limits() -> None:
    """Where any partition is taken, those whose limits a job exceeds are not among them."""
    log = log_of([{"requested_processors": 3, "requested_time": 100.0}])
    asked = ask_of(log, machine("thin 2 8 0 0 / fat 1 16 0 0", "a thin max_time=5 / b fat"))
    assert shown(asked) == [["1", "3", "0", "0"]]
    assert asked.places[asked.place[0]].partitions == (1,)


@pytest.mark.parametrize("kind", ["partition", "queue"])
def test_partitions_of_the_machine_may_be_queues_of_the_log(kind: str) -> None:
    """Of partitions and queues those count that are of the machine; of an only partition no name matters."""
    log = jobs(f"{kind} requested_processors / a 1 / b 1 / . 1 / z 1")
    table = machine("thin 2 8 0 0 / fat 1 16 0 0", "a thin default / b fat")
    asked = ask_of(log, table)
    assert [-1 if place < 0 else asked.places[place].partitions[0] for place in asked.place] == [0, 1, 0, -1]
    assert reasons(asked)[3] == "asks for a partition that the machine does not have: z"
    alone = ask_of(log, machine("thin 2 8 0 0"))
    assert not alone.code.any()
    assert "the only partition of the machine, whatever the log names: 3 jobs" in alone.assumed
    other = ask_of(log, machine("thin 2 8 0 0 / fat 1 16 0 0", "p thin default / q fat"))
    assert not other.code.any()
    assert (
        "none of the names of queues and partitions in the log is one of the machine: taken as not told: 3 jobs"
        in other.assumed
    )


def test_numbers_without_names_are_names() -> None:
    """A partition that has a number in the log and no name is that which the machine calls so."""
    log = Trace.from_columns(submit_time=[0, 0], requested_processors=[1, 1], partition_id=[2, 1])
    asked = ask_of(log, machine("thin 2 8 0 0 / fat 1 16 0 0", "1 thin / 2 fat"))
    assert [asked.places[place].partitions for place in asked.place] == [(1,), (0,)]


def test_memory_that_is_not_told() -> None:
    """The default of the partition for each core, else none; who has whole nodes has theirs."""
    table = machine("thin 4 8 1000 0 / fat 2 8 4000 0", "a thin default_memory_per_core=50 / b fat")
    log = jobs("""
        partition requested_processors requested_memory node_memory is_exclusive
        a         16                   .                .               .
        a         16                   1024             .               .
        a         16                   .                0               .
        b         16                   .                .               .
        b         16                   .                .               1
    """)
    asked = ask_of(log, table)
    assert shown(asked) == rows_of("2 8 400 0 / 2 8 8 0 / 2 8 0 0 / 2 8 0 0 / 2 8 0 0 alone")
    assert [told for told in asked.assumed if "memory" in told] == [
        "the default memory of the partition for each core, as the log tells none: 1 job",
        "no memory, as the log tells none and the partition has no default: 1 job",
    ]


def test_memory_decides_how_many_nodes_hold_the_cores() -> None:
    """300 MB a core: three cores fit on a thin node, eight on a fat one."""
    table = machine("thin 4 8 1000 0 / fat 1 8 4000 0")
    log = jobs("requested_processors requested_memory / 8 307200 / 9 307200 / 15 307200 / 16 307200")
    assert shown(ask_of(log, table)) == rows_of("1 8 2400 0 / 3 3 900 0 / 5 3 900 0 / -")


def test_whole_nodes() -> None:
    """Who asks for nodes only, or for nodes alone, or is in an exclusive partition, has whole nodes."""
    log = jobs("""
        partition requested_nodes requested_processors node_cores is_exclusive node_gpus
        all       3               .                    .              .            .
        all       2               4                    .              1            .
        gpu       1               .                    2              .            .
        all       1               .                    .              .            2
        all       1               .                    4              .            .
    """)
    asked = ask_of(log, TWO_KINDS)
    assert shown(asked) == rows_of("3 1 0 0 alone / 2 2 0 0 alone / 1 2 0 0 alone / 1 1 0 2 / 1 4 0 0")
    assert "whole nodes, as only nodes are told: 1 job" in asked.assumed
    assert "one core, or one of each node, as only GPUs are told: 1 job" in asked.assumed


def test_what_is_assumed_is_counted_without_who_is_left_out() -> None:
    """Jobs that are left out anyhow are not counted."""
    log = log_of([{"requested_processors": 3}] * 5)
    table = machine("thin 2 8 0 0")
    assert ": 3 jobs" in ask_of(log, table, cancelled=np.array([True, False, True, False, False])).assumed[0]
    assert ask_of(log, table, cancelled=np.ones(5, bool)).assumed == ()


def test_more_nodes_than_told() -> None:
    """The nodes that a log tells beside cores of all are the least: 17 cores do not fit on one node of 16."""
    log = jobs("requested_nodes requested_processors / 1 17 / 1 16 / 2 6")
    asked = ask_of(log, TWO_KINDS)
    assert shown(asked) == rows_of("2 9 0 0 / 1 16 0 0 / 2 3 0 0")
    assert "more nodes than the log tells, as so few do not hold all cores: 1 job" in asked.assumed


def test_tasks_of_a_node() -> None:
    """No more cores on a node than its tasks need."""
    log = jobs("requested_processors most_cores_per_node requested_nodes / 8 2 . / 7 4 1 / 9 8 3")
    assert shown(ask_of(log, TWO_KINDS)) == rows_of("4 2 0 0 / 2 4 0 0 / 3 3 0 0")


def test_begin_times_are_ready_times() -> None:
    """NaN where there is none; no rows where the log has none at all."""
    log = jobs("requested_processors begin_time / 1 60 / 1 . / 1 -5")
    np.testing.assert_array_equal(ask_of(log, TWO_KINDS).ready_time, [60.0, np.nan, -5.0])
    assert not len(ask_of(jobs("requested_processors / 1"), TWO_KINDS).ready_time)


def test_an_empty_log_asks_nothing() -> None:
    """Of no jobs there are arrays of no rows."""
    asked = ask_of(Trace.from_columns(submit_time=[]), TWO_KINDS)
    assert len(asked.nodes) == len(asked.code) == 0
    assert (asked.places, asked.reasons, asked.assumed) == ((), ("",), ())


def test_many_names_are_as_many_reasons_as_there_is_room_for() -> None:
    """The codes of reasons are small numbers: further names are told without saying which."""
    log = log_of(
        [{"requested_processors": 1, "partition": f"x:{number}"} for number in range(300)]
        + [{"requested_processors": 1, "partition": "all"}]
    )
    asked = ask_of(log, TWO_KINDS)
    assert (asked.code[:-1] > 0).all()
    assert asked.code[-1] == 0
    of_partition = "asks for a partition that the machine does not have"
    assert reasons(asked)[:300] == [f"{of_partition}: x:{number}" for number in range(119)] + [of_partition] * 181


def test_more_reasons_than_fit_in_a_byte() -> None:
    """Each job is told its own reason, however many there are, and so is whoever simulates it."""
    limits = "slow all max_nodes=1 / some all min_nodes=3"
    table = machine("all 4 8 100 1", f"{limits} / few all max_cores=2 max_memory_per_core=10 max_time=60")
    log = log_of(
        [
            *({"requested_processors": 1, "run_time": 1, "partition": f"x:{number}"} for number in range(140)),
            {"requested_processors": 9, "run_time": 1, "partition": "slow"},
            {"requested_processors": 1, "run_time": 1, "requested_nodes": 0},
            {"run_time": 1},
            {"node_cores": 9, "requested_nodes": 1, "run_time": 1, "partition": "slow"},
            {"node_cores": 4, "requested_nodes": 1, "run_time": 1, "partition": "few"},
            {"node_cores": 1, "requested_nodes": 1, "node_memory": 101, "run_time": 1, "partition": "slow"},
            {"node_cores": 1, "requested_nodes": 1, "node_memory": 50, "run_time": 1, "partition": "few"},
            {"node_cores": 1, "requested_nodes": 1, "node_gpus": 2, "run_time": 1, "partition": "slow"},
            {"node_cores": 1, "requested_nodes": 1, "run_time": 1, "requested_time": 61, "partition": "few"},
            {"node_cores": 1, "requested_nodes": 1, "run_time": 1, "partition": "some"},
        ]
    )
    asked = ask_of(log, table)
    said = reasons(asked)
    assert len(asked.reasons) > 128
    assert len(set(said[140:])) == 10
    assert not any("does not have" in each for each in said[140:])
    assert simulate(log, "fcfs", machine=table).excluded["reason"].tolist() == said


def test_no_word_of_a_log_reaches_a_terminal_raw() -> None:
    """Names that steer a terminal are shown as escapes."""
    log = log_of(
        [{"requested_processors": 1, "partition": "all"}, {"requested_processors": 1, "partition": "\x1b[31m"}]
    )
    assert "\x1b" not in "".join(ask_of(log, TWO_KINDS).reasons)
    features = log_of([{"requested_processors": 1, "constraints": "\x1b[31m"}])
    assert "\x1b" not in "".join(ask_of(features, machine("thin 2 8 0 0")).assumed)
