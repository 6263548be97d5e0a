# SPDX-License-Identifier: BSD-3-Clause
"""The naive twin chooses the nodes that Slurm's rules say: cases by hand, and starts of a real Slurm."""

from __future__ import annotations

import pytest

from swftools.machines.slurm_site import SlurmSwitch
from tests.naive.slurm_nodes import choose
from tests.naive.slurm_world import Placed
from tests.slurm_drawn import draw_world, put, shown

# name; nodes; what runs (job A), or .; what job B asks, in short; the nodes and cores that it gets
CASES = [
    ("best fit in a run", "cores / 8 / 4 / 6", "", "cpus 4", "1:4"),
    ("first of equals", "cores / 8 / 4 / 4", "", "cpus 3", "1:3"),
    ("free cores count", "cores / 8 / 8 / 8", "1:5", "cpus 3", "1:3"),
    ("smallest run that suffices", "count cores / 2 4 / 1 1 / 3 2", "2:1", "cpus 6", "3:2 4:2 5:2"),
    ("first of equal runs", "count cores / 2 3 / 1 1 / 3 2", "2:1", "cpus 6", "0:3 1:3"),
    ("best fit only in its run", "count cores / 2 4 / 1 1 / 1 9", "2:1", "cpus 4", "0:4"),
    (
        "largest run, then the best node of another",
        "count cores / 2 4 / 1 1 / 2 2 / 1 3",
        "2:1",
        "cpus 10",
        "0:4 1:4 3:2",
    ),
    ("not enough", "count cores / 2 4", "", "cpus 9", "-"),
    ("just enough", "count cores / 2 4", "", "cpus 8", "0:4 1:4"),
    ("a CPU is kept for each node to come", "count cores / 3 4", "", "cpus 6 nodes 3", "0:4 1:1 2:1"),
    ("tasks go round", "count cores / 4 16", "", "cpus 34 nodes 1-4", "0:16 1:15 2:2 3:1"),  # seen
    (
        "nodes of few CPUs are left out",
        "cores / 6 / 8 / 3 / 1 / 4 / 6",
        "",
        "cpus 21 nodes 1-4",
        "0:6 1:8 2:3 4:4",
    ),  # seen
    ("all but nodes of the most CPUs are left out", "cores / 2 / 3 / 3", "", "cpus 6 nodes 2", "1:3 2:3"),
    (
        "wanted nodes are not needed in one run",
        "count cores / 2 4 / 1 1 / 1 5",
        "2:1",
        "cpus 5 nodes 1-3",
        "0:1 1:1 3:3",
    ),
    ("as many nodes as wanted", "count cores / 4 4", "", "cpus 4 nodes 1-3", "0:2 1:1 2:1"),
    ("fewer nodes than wanted", "count cores / 2 4", "", "cpus 4 nodes 1-3", "0:3 1:1"),
    ("no more wanted than tasks", "count cores / 4 4", "", "cpus 2 nodes 1-4", "0:1 1:1"),
    ("no more than the most nodes", "count cores / 4 2", "", "cpus 6 nodes 2", "-"),
    ("too few nodes", "count cores / 2 4", "", "cpus 4 nodes 3", "-"),
    ("at least two", "count cores / 3 4", "", "cpus 4 nodes 2-", "0:3 1:1"),
    ("one node must have all", "cores / 2 / 3", "", "cpus 4 nodes 1", "-"),
    ("one node, best fit", "cores / 8 / 3 / 4", "", "cpus 3 nodes 1", "1:3"),
    ("one task on one node: best fit by free cores", "cores / 8 / 3 / 4", "", "cpus 1 nodes 1", "1:1"),
    ("one task on each node", "cores / 8 / 1 / 4", "", "cpus 3 nodes 3", "0:1 1:1 2:1"),
    (
        "tasks per node",
        "count cores / 7 4",
        "",
        "cpus 16 nodes 7 tasks_per_node 4",
        "0:4 1:4 2:4 3:4 4:4 5:4 6:4",
    ),  # seen
    ("tasks per node need room", "cores / 3 / 4 / 8", "", "cpus 8 nodes 2 tasks_per_node 4", "1:4 2:4"),
    ("tasks per node and node by node", "count cores / 4 8", "", "cpus 6 nodes 3 tasks_per_node 2", "0:2 1:2 2:2"),
    ("CPUs of a task lie together", "cores / 3 / 5", "", "cpus 6 cpus_per_task 2", "0:2 1:4"),
    ("CPUs of a task have no room", "cores / 3 / 3", "", "cpus 6 cpus_per_task 2", "-"),
    (
        "tasks of two CPUs are kept for nodes to come",
        "count cores / 2 8",
        "",
        "cpus 8 cpus_per_task 2 nodes 2",
        "0:6 1:2",
    ),
    ("alone on idle nodes", "count cores / 3 4", "1:1", "cpus 6 alone x", "0:4 2:4"),
    ("alone with all cores", "count cores / 4 4", "1:1", "cpus 6 alone x", "2:4 3:4"),
    ("alone, smallest that suffices", "cores / 8 / 4 / 6", "", "cpus 4 alone x", "1:4"),
    ("beside an exclusive job is no room", "cores / 4 / 4", "0:4", "cpus 1", "1:1"),
    ("memory of each CPU", "cores memory / 8 300 / 8 800", "", "cpus 4 memory_per_cpu 100", "1:4"),
    ("memory of each CPU limits a node", "cores memory / 8 300 / 8 800", "", "cpus 9 memory_per_cpu 100", "0:3 1:6"),
    ("memory is held", "cores memory / 8 400 / 8 400", "0:3", "cpus 2 memory_per_cpu 100", "1:2"),
    ("memory of each node", "cores memory / 4 300 / 4 800", "", "cpus 4 memory_per_node 301", "1:4"),
    ("memory of a node suffices exactly", "cores memory / 4 300 / 4 800", "", "cpus 4 memory_per_node 300", "0:4"),
    ("memory limits who is alone", "cores memory / 8 300 / 8 600", "", "cpus 5 memory_per_cpu 100 alone x", "1:8"),
    ("GPUs of each node", "cores gpus / 4 1 / 4 2", "", "cpus 2 gpus_per_node 2", "1:2"),
    ("GPUs on too few nodes", "cores gpus / 4 1 / 4 2", "", "cpus 2 gpus_per_node 2 nodes 2", "-"),
    ("GPUs of one node", "cores gpus / 4 1 / 4 2", "", "cpus 2 gpus 2 nodes 1", "1:2"),
    ("GPUs in all", "cores gpus / 4 1 / 4 2 / 4 0", "", "cpus 6 gpus 3", "0:2 1:4"),
    ("GPUs of each node: ties, the first", "cores gpus / 8 1 / 4 1", "", "cpus 2 gpus_per_node 1", "0:2"),
    ("GPUs in all: ties, the first", "cores gpus / 8 1 / 4 1", "", "cpus 2 gpus 1", "0:2"),
    ("alone with GPUs: best fit", "cores gpus / 8 1 / 4 1", "", "cpus 2 gpus 1 alone x", "1:4"),
    ("where more GPUs are free", "cores gpus / 2 1 / 4 2 / 4 1", "", "cpus 2 gpus 2", "1:2"),
    ("no more GPUs than asked for", "cores gpus / 4 1 / 4 2", "", "cpus 2 gpus 1", "0:2"),
    ("a run with enough GPUs", "cores gpus / 4 1 / 1 0 / 4 1 / 4 1", "", "cpus 2 gpus 2", "2:1 3:1"),
    ("nodes for GPUs alone", "cores gpus / 4 2 / 4 2", "", "cpus 4 gpus 4", "0:3 1:1"),
    ("no node without a task", "cores gpus / 4 2 / 4 2", "", "cpus 1 gpus 4", "-"),
    ("GPUs and as few nodes as need be", "cores gpus / 4 2 / 4 2", "", "cpus 4 gpus 2 nodes 1-2", "0:4"),
    ("the last node must suffice", "cores / 1 / 11 / 16", "", "cpus 16 nodes 2", "0:1 2:15"),  # seen
    ("GPUs in all, not reached", "cores gpus / 4 1 / 4 2", "", "cpus 6 gpus 4", "-"),
    ("GPUs in all on one node", "cores gpus / 2 1 / 4 2", "", "cpus 2 gpus 2", "1:2"),
    ("a set of nodes", "cores / 4 / 8 / 8", "", "cpus 4 set 1-2", "1:4"),
    ("lowest weight first", "cores weight / 4 2 / 8 1", "", "cpus 4", "1:4"),
    ("then the next weight", "cores weight / 4 2 / 8 1 / 4 3", "", "cpus 10", "0:2 1:8"),
    ("a run ends where the weight changes", "cores weight / 2 1 / 2 1 / 3 2 / 3 2", "", "cpus 5", "0:2 1:2 2:1"),
    ("the lightest run first, though another suffices", "cores weight / 2 1 / 3 2 / 2 1", "", "cpus 5", "0:2 1:1 2:2"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_by_hand(case: tuple[str, str, str, str, str]) -> None:
    """A job gets the nodes and cores that were worked out by hand, beside one that runs."""
    _, nodes, runs, asked, expected = case
    words = asked.split()
    headings, cells = words[::2], words[1::2]
    jobs = f"job {' '.join(headings)} / A {' '.join('0-9' if each == 'set' else '1' for each in headings)}"
    world = draw_world(nodes, "p:0-99", f"{jobs} / B {' '.join(cells)}".replace("A 1 x", "A 1 ."))
    first, second = world.jobs
    first.memory_per_cpu, first.memory_per_node = 100 if "memory is held" in case else 0, 0
    if runs:
        put(world, first, runs)
    placed = choose(world, second, 0, range(len(world.table)), world.running)
    assert shown(placed) == expected


def test_only_nodes_that_are_given() -> None:
    """Nodes beside the partition, the job's own set or those that are given are not chosen."""
    world = draw_world("count cores / 5 4", "p:0-3", "job cpus set / A 4 1-4")
    assert shown(choose(world, world.jobs[0], 0, [0, 2, 3, 4], [])) == "2:4"
    assert choose(world, world.jobs[0], 0, [0, 4], []) is None


def test_what_is_held() -> None:
    """Memory goes with the CPUs that are held or with nodes; GPUs are taken node after node."""
    world = draw_world(
        "count cores memory gpus / 2 4 1000 2",
        "p:0-1",
        """
        job cpus nodes memory_per_cpu memory_per_node gpus_per_node gpus alone
        A   5    .     10             0               0             3    .
        B   2    2     0              70              1             0    .
        C   1    .     10             0               0             0    x
        """,
    )
    first, second, alone = (choose(world, job, 0, [0, 1], []) for job in world.jobs)
    assert first == Placed({0: 4, 1: 1}, {0: 40, 1: 10}, {0: 2, 1: 1})
    assert second == Placed({0: 1, 1: 1}, {0: 70, 1: 70}, {0: 1, 1: 1})
    assert alone == Placed({0: 4}, {0: 40}, {0: 0})


TREE = (
    SlurmSwitch("a", 3, True, (0, 1)),
    SlurmSwitch("b", 3, True, (2, 3, 4)),
    SlurmSwitch("c", 4, True, (5, 6)),
    SlurmSwitch("left", 4, False, (0, 1, 2, 3, 4)),
    SlurmSwitch("top", -1, False, (0, 1, 2, 3, 4, 5, 6)),
)

# name; cores of the seven nodes; what job A holds; what is asked; what it gets
IN_A_TREE = [
    ("no best fit", "4 4 4 4 4 8 3", "", "3 .", "0:3"),
    ("fewest usable nodes", "4 4 4 4 4 4 4", "5:4", "3 .", "6:3"),
    ("nodes in order, the next leaf by its nodes", "6 14 4 4 4 4 4", "5:4 6:4", "12 .", "0:6 1:6"),
    ("a small leaf, then the nearest", "4 4 4 4 4 4 4", "0:4", "9 .", "1:4 2:4 3:1"),
    ("then the leaves further away", "4 4 4 4 4 4 4", "0:4", "20 .", "1:4 2:4 3:4 4:4 5:4"),
    ("not first the leaf of most CPUs", "1 1 4 4 4 9 9", "", "12 .", "0:1 1:1 2:4 3:4 4:2"),
    ("order of the leaves", "4 4 4 4 4 4 4", "", "6 2", "0:4 1:2"),
    ("a leaf with enough nodes", "4 4 4 4 4 4 4", "", "3 3", "2:1 3:1 4:1"),
    ("the leaf of most nodes, then the nearest with enough", "4 4 4 4 4 4 4", "", "5 5", "0:1 1:1 2:1 3:1 4:1"),
    ("first below the switch that has enough", "4 4 4 4 4 4 4", "", "6 6", "0:1 2:1 3:1 4:1 5:1 6:1"),
    ("all leaves", "4 4 4 4 4 4 4", "", "26 .", "0:4 1:4 2:4 3:4 4:4 5:4 6:2"),
    ("no more than the most nodes", "1 4 4 4 4 4 4", "", "8 2", "5:4 6:4"),
    ("not enough", "4 4 4 4 4 4 4", "", "29 .", "-"),
]


@pytest.mark.parametrize("case", IN_A_TREE, ids=lambda case: case[0])
def test_in_a_tree(case: tuple[str, str, str, str, str]) -> None:
    """With a topology the leaf with the fewest nodes that suffice in number is taken, then others, also by way."""
    _, cores, runs, asked, expected = case
    nodes = "cores / " + " / ".join(cores.split())
    world = draw_world(nodes, "p:0-6", f"job cpus nodes / A 1 . / B {asked}", switches=TREE)
    if runs:
        put(world, world.jobs[0], runs)
    placed = choose(world, world.jobs[1], 0, range(7), world.running)
    assert shown(placed) == expected


def test_leaves_are_near_to_the_first() -> None:
    """Leaves of one distance from the first are equal, wherever the last one was."""
    switches = (
        SlurmSwitch("a", 4, True, (0, 1, 2)),
        SlurmSwitch("b", 5, True, (3, 4)),
        SlurmSwitch("c", 5, True, (5,)),
        SlurmSwitch("d", 6, True, (6, 7)),
        SlurmSwitch("left", 6, False, (0, 1, 2)),
        SlurmSwitch("right", 6, False, (3, 4, 5)),
        SlurmSwitch("top", -1, False, tuple(range(8))),
    )
    world = draw_world("count cores / 8 1", "p:0-7", "job cpus nodes / A 7 7", switches=switches)
    assert shown(choose(world, world.jobs[0], 0, range(8), [])) == "0:1 1:1 2:1 3:1 4:1 6:1 7:1"


def test_switches_that_are_not_connected() -> None:
    """Nodes of a job lie below one top; nodes that no switch has are not used."""
    switches = (SlurmSwitch("a", -1, True, (0, 1)), SlurmSwitch("b", -1, True, (2, 3)))
    world = draw_world("count cores / 5 1", "p:0-4", "job cpus / A 2 / B 3 / C 1", switches=switches)
    assert shown(choose(world, world.jobs[0], 0, [1, 2, 3, 4], [])) == "2:1 3:1"
    assert choose(world, world.jobs[1], 0, range(5), []) is None
    assert choose(world, world.jobs[2], 0, [4], []) is None
