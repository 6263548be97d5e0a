# SPDX-License-Identifier: BSD-3-Clause
"""Small cases of machines of nodes, worked out by hand: what jobs must come of each policy and placement.

The form of machines and jobs is that of ``tests.nodes_drawn``. An outcome stands behind the runs that must have it:
a policy and, where they are not the usual ones, ``placement=`` and ``heads=``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.drawn import rows_of
from tests.nodes_drawn import Workload, draw_workload


@dataclass(frozen=True)
class Case:
    """A machine, its jobs, and starts and nodes by the runs, parted by ``|``, that must lead to them."""

    name: str
    nodes: str
    partitions: str
    jobs: str
    outcomes: dict[str, str]

    def workload(self) -> Workload:
        """Return what is simulated."""
        return draw_workload(self.nodes, self.partitions, self.jobs)

    def runs(self) -> Iterator[tuple[str, str, str, list[list[str]]]]:
        """Return policy, placement and heads of each run, and the table of job, start and nodes that comes of it."""
        for runs, table in self.outcomes.items():
            for run in runs.split("|"):
                policy, *options = run.split()
                chosen = dict(option.split("=", 1) for option in options)
                rows = [["job", "start", "nodes"], *rows_of(table)]
                yield policy, chosen.get("placement", "first-fit"), chosen.get("heads", "partition"), rows


EVERY_EASY = (
    "easy | easy heads=machine | easy placement=first-fit:sparing=false | "
    "easy placement=first-fit:sparing=false heads=machine"
)

CASES = [
    Case(
        "memory in pieces: 4 and 4 free on two nodes are not 8",
        "count cores memory / 2 8 16",
        "p:0-1",
        "job submit run nodes memory / A 0 10 2 12 / B 1 5 1 8 / C 2 5 1 4",
        {EVERY_EASY: "A 0 0-1 / B 10 0 / C 2 0"},
    ),
    Case(
        "a job without GPUs on the only node with some keeps out one that wants them",
        "cores memory gpus / 4 8 2 / 4 8 0",
        "all:0-1 gpu:0",
        "job submit run cores gpus partition / A 0 10 4 0 all / B 1 5 1 2 gpu / C 1 5 1 0 all",
        {EVERY_EASY: "A 0 0 / B 10 0 / C 1 1"},
    ),
    Case(
        "an exclusive job needs an empty node, and keeps it",
        "count cores memory / 2 4 8",
        "p:0-1",
        "job submit run cores alone / A 0 10 1 . / B 1 10 1 x / C 2 3 1 x / D 3 3 3 .",
        {EVERY_EASY: "A 0 0 / B 1 1 / C 10 0 / D 3 0"},
    ),
    Case(
        "a long job beside what the head takes, on its very node; another takes too much",
        "count cores / 1 8",
        "p:0",
        "job submit run cores / A 0 10 4 / B 1 10 6 / C 2 50 3 / D 3 50 2",
        {EVERY_EASY: "A 0 0 / B 10 0 / C 20 0 / D 3 0"},
    ),
    Case(
        "the head waits in another partition: a long job goes by",
        "count cores / 2 4",
        "left:0 right:1",
        "job submit run cores partition / A 0 10 4 left / B 1 10 4 left / C 2 99 4 right",
        {EVERY_EASY: "A 0 0 / B 10 0 / C 2 1"},
    ),
    Case(
        "who ends as the reservation begins may have its nodes, who ends later not",
        "count cores / 2 1",
        "p:0-1",
        "job submit run nodes alone / A 0 4 1 x / B 0 10 1 x / C 5 5 2 x / D 6 4 1 x / E 6 9 1 x",
        {EVERY_EASY: "A 0 0 / B 0 1 / C 10 0-1 / D 6 0 / E 15 0"},
    ),
    Case(
        "without sparing the free node is reserved, so the long job waits; with it the others are",
        "count cores / 3 1",
        "p:0-2",
        "job submit run nodes / A 0 4 1 / B 0 10 2 / C 5 5 2 / D 6 20 1",
        {
            "easy | easy heads=machine": "A 0 0 / B 0 1-2 / C 10 1-2 / D 6 0",
            "easy placement=first-fit:sparing=false": "A 0 0 / B 0 1-2 / C 10 0-1 / D 10 2",
        },
    ),
    Case(
        "with sparing a short job takes a node that is reserved for later, and leaves the other to a long one",
        "count cores / 3 1",
        "p:1-2 all:0-2",
        "job submit run nodes partition / A 0 10 1 p / B 1 5 2 p / C 2 3 1 all / D 2 30 1 all",
        {
            "easy | easy heads=machine | easy placement=fewest-switches": "A 0 1 / B 10 1-2 / C 2 2 / D 2 0",
            "easy placement=first-fit:sparing=false": "A 0 1 / B 10 1-2 / C 2 0 / D 5 0",
        },
    ),
    Case(
        "partitions that overlap: the small node serves the long job, the next waits for the large ones",
        "count cores / 3 2 / 1 1",
        "p:0-3 q:0-1",
        """job submit run nodes cores partition
           A 0 10 2 2 q / B 0 20 1 2 p / C 1 5 1 2 q / D 2 30 1 1 p / E 3 30 1 1 p""",
        {EVERY_EASY: "A 0 0-1 / B 0 2 / C 10 0 / D 2 3 / E 10 1"},
    ),
    Case(
        "one ends early: the reservation comes forward",
        "count cores / 2 1",
        "p:0-1",
        "job submit run request nodes / A 0 3 100 1 / B 0 20 20 1 / C 1 5 5 2 / D 2 50 50 1",
        {EVERY_EASY: "A 0 0 / B 0 1 / C 20 0-1 / D 25 0"},
    ),
    Case(
        "a run of 0 s ends at its instant, and another decision is made there",
        "count cores / 1 1",
        "p:0",
        "job submit run / A 0 0 / B 0 0 / C 0 5",
        {f"{EVERY_EASY} | fcfs | fcfs heads=machine": "A 0 0 / B 0 0 / C 0 0"},
    ),
    Case(
        "more nodes or time than its partition allows, no core, more nodes than there are: excluded",
        "count cores / 3 4",
        "p:0-1:1:20 q:0-1",
        "job submit run nodes cores partition / A 0 1 2 1 p / B 0 30 1 1 p / C 0 1 1 0 p / D 0 1 3 1 q / E 0 1 2 1 q",
        {EVERY_EASY: "A - - / B - - / C - - / D - - / E 0 0-1"},
    ),
    Case(
        "who should have ended counts as ended now, so that the reservation begins now",
        "count cores / 2 1",
        "p:0-1",
        "job submit run request nodes / A 0 10 2 1 / B 3 5 5 2 / C 4 1 1 1",
        {EVERY_EASY: "A 0 0 / B 10 0-1 / C 15 0"},
    ),
    Case(
        "partitions without a common node are machines of their own, each with its head",
        "count cores / 4 1",
        "p:0-1 q:2-3",
        """job submit run nodes partition
           A 0 10 1 p / B 0 6 1 q / C 1 5 2 p / D 1 5 2 q / E 2 20 1 q / F 2 5 1 p""",
        {
            "easy": "A 0 0 / B 0 2 / C 10 0-1 / D 6 2-3 / E 11 2 / F 2 1",
            "easy heads=machine": "A 0 0 / B 0 2 / C 10 0-1 / D 22 2-3 / E 2 3 / F 2 1",
        },
    ),
    Case(
        "the head of a second partition is reserved behind that of the first, with which it has a node in common",
        "count cores / 3 1",
        "p:0-1 q:1-2",
        "job submit run nodes partition / A 0 10 2 p / B 1 10 2 p / C 1 10 2 q / D 2 30 1 q / E 2 8 1 q",
        {
            "easy": "A 0 0-1 / B 10 0-1 / C 20 1-2 / D 30 1 / E 2 2",
            "easy heads=machine": "A 0 0-1 / B 10 0-1 / C 32 1-2 / D 2 2 / E 20 1",
        },
    ),
    Case(
        "a job of a partition without a head takes no node that it would keep from the head of another",
        "count cores / 3 1",
        "p:0-1 q:1-2",
        "job submit run nodes partition / A 0 10 1 p / B 1 5 2 p / C 1 20 1 q / D 2 20 1 q / E 3 3 1 q",
        {"easy | easy heads=machine": "A 0 0 / B 10 0-1 / C 1 2 / D 15 1 / E 3 1"},
    ),
    Case(
        "a second head that fits before the reservation of the first takes the time between",
        "count cores / 2 1",
        "p:0-1 q:1",
        "job submit run nodes partition / A 0 20 1 p / B 0 5 1 q / C 1 10 2 p / D 1 15 1 q / E 1 16 1 q",
        {
            "easy": "A 0 0 / B 0 1 / C 20 0-1 / D 5 1 / E 30 1",
            "fcfs": "A 0 0 / B 0 1 / C 20 0-1 / D 30 1 / E 45 1",
        },
    ),
    Case(
        "a job of two partitions becomes the head of the one that has none, and is reserved where it is earliest",
        "count cores / 2 1",
        "p:0 q:1",
        "job submit run partition / A 0 10 p / B 0 20 q / C 1 5 p / D 1 5 p,q / E 2 30 q",
        {"easy": "A 0 0 / B 0 1 / C 10 0 / D 15 0 / E 20 1"},
    ),
    Case(
        "a job of two partitions of which only one has a head is no head of the other's jobs where it starts",
        "count cores / 2 1",
        "p:0 q:1",
        "job submit run partition / A 0 10 p / B 1 5 p / C 1 5 p,q / D 2 9 q",
        {"easy": "A 0 0 / B 10 0 / C 1 1 / D 6 1", "fcfs": "A 0 0 / B 10 0 / C 1 1 / D 6 1"},
    ),
    Case(
        "the head of a partition is protected though it may use another that has its head already",
        "count cores / 2 2",
        "p:0 q:1",
        """job submit run cores partition
           A 0 30 1 p / B 0 10 1 q / C 1 5 2 p / D 1 5 2 p,q / E 2 30 1 q""",
        {
            "easy": "A 0 0 / B 0 1 / C 30 0 / D 10 1 / E 15 1",
            "easy heads=machine": "A 0 0 / B 0 1 / C 30 0 / D 32 1 / E 2 1",
        },
    ),
    Case(
        "the head of two partitions is the only one of both, so the next of the second is not protected",
        "count cores / 2 2",
        "p:0 q:1",
        """job submit run cores partition
           A 0 10 2 p / B 0 20 1 q / C 1 5 2 p,q / D 2 5 2 q / E 3 30 1 q""",
        {"easy | easy heads=machine": "A 0 0 / B 0 1 / C 10 0 / D 33 1 / E 3 1"},
    ),
    Case(
        "a node is spared for a job that ends before all of its reservations, not one of them",
        "cores / 1 / 3",
        "p:1 q:0-1 r:1",
        "job submit run cores partition / A 0 5 2 p / B 1 15 2 p / C 1 5 3 r / D 2 8 1 q",
        {"easy": "A 0 1 / B 5 1 / C 20 1 / D 2 0"},
    ),
    Case(
        "in strict order a job that does not fit closes all of its partitions",
        "count cores / 2 2",
        "p:0 q:1",
        "job submit run cores partition / A 0 10 2 p / B 0 20 1 q / C 1 5 2 p,q / D 2 3 1 q",
        {
            "fcfs | fcfs heads=machine": "A 0 0 / B 0 1 / C 10 0 / D 10 1",
            "easy": "A 0 0 / B 0 1 / C 10 0 / D 2 1",
        },
    ),
    Case(
        "in strict order a job that does not fit closes its partition, with all nodes of it",
        "count cores / 4 1",
        "p:0-1 q:1-2 r:3",
        """job submit run nodes partition
           A 0 10 2 p / B 1 5 1 p / C 1 5 1 q / D 2 5 1 q / E 2 5 1 r / F 3 5 1 r""",
        {
            "fcfs": "A 0 0-1 / B 10 0 / C 1 2 / D 6 2 / E 2 3 / F 7 3",
            "fcfs heads=machine": "A 0 0-1 / B 10 0 / C 10 1 / D 10 2 / E 10 3 / F 15 3",
        },
    ),
    Case(
        "a free node of a closed partition is closed to others too; EASY gives it to who ends in time",
        "count cores / 3 1",
        "p:0-1 q:1-2",
        "job submit run nodes partition / A 0 10 1 p / B 1 5 2 p / C 1 20 1 q / D 1 3 1 q",
        {
            "fcfs": "A 0 0 / B 10 0-1 / C 1 2 / D 15 1",
            "easy": "A 0 0 / B 10 0-1 / C 1 2 / D 1 1",
        },
    ),
    Case(
        "the first of several partitions in which it fits counts",
        "count cores / 4 1",
        "p:0-1 q:2-3",
        "job submit run nodes partition / A 0 10 1 p / B 1 5 2 p,q / C 2 5 2 q,p / D 3 2 1 q,p",
        {"easy | easy heads=machine": "A 0 0 / B 1 2-3 / C 6 2-3 / D 3 1"},
    ),
    Case(
        "nodes of two partitions do not add up",
        "count cores / 2 1",
        "p:0 q:1",
        "job submit run nodes partition / A 0 1 2 p,q / B 0 1 1 q,p",
        {"easy | fcfs": "A - - / B 0 1"},
    ),
    Case(
        "of partitions that are free at one instant the first named counts",
        "count cores / 2 1",
        "p:0 q:1",
        "job submit run partition / A 0 10 p / B 0 10 q / C 1 5 q,p / D 2 20 p",
        {"easy | easy heads=machine | fcfs": "A 0 0 / B 0 1 / C 10 1 / D 10 0"},
    ),
    Case(
        "best fit takes the node with the fewest cores free, so the large node stays whole",
        "cores / 8 / 4 / 2",
        "p:0-2",
        "job submit run cores / A 0 10 2 / B 0 10 3 / C 0 10 1 / D 0 10 8",
        {
            "easy placement=best-fit | fcfs placement=best-fit": "A 0 2 / B 0 1 / C 0 1 / D 0 0",
            "easy": "A 0 0 / B 0 0 / C 0 0 / D 10 0",
        },
    ),
    Case(
        "best fit looks at GPUs first, of which there may be parts",
        "cores gpus / 8 2 / 8 0 / 4 1",
        "p:0-2",
        "job submit run gpus / A 0 10 0 / B 0 10 1 / C 0 10 0 / D 0 10 0.5 / E 0 10 0.25",
        {
            "easy placement=best-fit": "A 0 1 / B 0 2 / C 0 2 / D 0 0 / E 0 0",
            "easy": "A 0 0 / B 0 0 / C 0 0 / D 0 0 / E 0 0",
        },
    ),
    Case(
        "best fit looks at memory last, and then at the number",
        "cores memory / 4 16 / 4 8 / 4 8",
        "p:0-2",
        "job submit run memory / A 0 10 4 / B 0 10 4 / C 0 10 4",
        {"easy placement=best-fit": "A 0 1 / B 0 1 / C 0 2"},
    ),
    Case(
        "best fit reserves the node that will have the fewest cores free, and a long job goes ahead on the other",
        "cores / 6 / 4",
        "p:0-1",
        "job submit run cores / A 0 10 4 / B 0 10 3 / C 1 5 4 / D 1 20 3",
        {"easy placement=best-fit | easy placement=best-fit:sparing=false": "A 0 1 / B 0 0 / C 10 1 / D 1 0"},
    ),
    Case(
        "lowest weight first, then the number",
        "cores weight / 1 5 / 1 1 / 1 1 / 1 3",
        "p:0-3",
        "job submit run nodes / A 0 10 1 / B 0 10 2 / C 0 10 1",
        {"easy placement=lowest-weight | fcfs placement=lowest-weight": "A 0 1 / B 0 2-3 / C 0 0"},
    ),
    Case(
        "without sparing the nodes of lowest weight are reserved",
        "cores weight / 1 3 / 1 2 / 1 1",
        "p:0-2",
        "job submit run nodes / A 0 10 2 / B 5 5 2 / C 6 20 1",
        {"easy placement=lowest-weight:sparing=false": "A 0 1-2 / B 10 1-2 / C 6 0"},
    ),
    Case(
        "worst fit takes the node with the most cores free, and of equal ones the first",
        "cores / 4 / 8 / 7",
        "p:0-2",
        "job submit run cores / A 0 10 2 / B 0 10 1 / C 0 10 1 / D 0 10 1",
        {"easy placement=worst-fit | fcfs placement=worst-fit": "A 0 1 / B 0 2 / C 0 1 / D 0 2"},
    ),
    Case(
        "worst fit looks at GPUs only for who asks for some",
        "cores gpus / 8 0 / 4 1 / 2 2",
        "p:0-2",
        "job submit run gpus / A 0 10 0 / B 0 10 0.5 / C 0 10 0 / D 0 10 1",
        {"easy placement=worst-fit | easy placement=worst-fit:sparing=false": "A 0 0 / B 0 2 / C 0 0 / D 0 2"},
    ),
    Case(
        "fewest switches takes the smallest switch that suffices, and of its nodes those with the fewest cores",
        "count cores switch / 3 4 0 / 1 4 1 / 1 2 1 / 1 1 2",
        "p:0-5",
        "job submit run nodes / A 0 10 1 / B 0 10 1 / C 0 10 2 / D 0 10 2",
        {
            "easy placement=fewest-switches": "A 0 5 / B 0 4 / C 0 3-4 / D 0 0-1",
            "easy": "A 0 0 / B 0 0 / C 0 0-1 / D 0 0-1",
        },
    ),
    Case(
        "where no switch suffices all of the largest is taken, and the rest of the smallest that suffices",
        "count switch / 2 0 / 3 1 / 1 2",
        "p:0-5",
        "job submit run nodes alone / A 0 10 4 x / B 10 10 5 x",
        {"easy placement=fewest-switches": "A 0 2-5 / B 10 0-4", "easy": "A 0 0-3 / B 10 0-4"},
    ),
    Case(
        "of switches with as many nodes that with the fewest cores free; nodes of none are as of one",
        "count cores switch / 2 4 0 / 2 3 1 / 3 1 -1",
        "p:0-6",
        "job submit run nodes cores / A 0 10 2 1 / B 0 10 2 1 / C 0 10 3 1",
        {"easy placement=fewest-switches": "A 0 2-3 / B 0 2-3 / C 0 4-6"},
    ),
    Case(
        "a short job takes the switch whose nodes are reserved for later, though the other has fewer cores",
        "count cores switch / 2 4 0 / 2 6 1",
        "p:0-3 q:2-3",
        """job submit run nodes cores partition
           A 0 10 2 1 q / B 1 5 2 6 q / C 2 3 2 1 p""",
        {
            "easy placement=fewest-switches": "A 0 2-3 / B 10 2-3 / C 2 2-3",
            "easy placement=fewest-switches:sparing=false": "A 0 2-3 / B 10 2-3 / C 2 0-1",
        },
    ),
    Case(
        "contiguous takes the shortest run that suffices, and who has none waits",
        "count cores / 7 2",
        "p:0-6 a:2 b:5",
        """job submit run nodes cores partition
           A 0 10 1 2 a / B 0 20 1 2 b / C 0 30 1 1 p / D 1 5 2 2 p / E 2 5 3 2 p""",
        {
            "fcfs placement=contiguous": "A 0 2 / B 0 5 / C 0 6 / D 1 0-1 / E 10 0-2",
            "fcfs placement=contiguous:must=false": "A 0 2 / B 0 5 / C 0 6 / D 1 0-1 / E 6 0-1,3",
        },
    ),
    Case(
        "without a run that suffices all of the longest is taken, where that is no must",
        "count / 7",
        "p:0-6 a:1 b:5",
        "job submit run nodes partition / A 0 10 1 a / B 0 10 1 b / C 1 5 4 p",
        {
            "easy placement=contiguous:must=false": "A 0 1 / B 0 5 / C 1 0,2-4",
            "easy placement=contiguous": "A 0 1 / B 0 5 / C 10 0-3",
        },
    ),
    Case(
        "a reservation is for the time from which on there is a run, and nobody goes ahead into it",
        "count / 4",
        "p:0-3 a:1 b:3",
        """job submit run nodes partition
           A 0 10 1 a / B 0 20 1 b / C 1 5 2 p / D 2 8 1 p / E 2 9 1 p""",
        {"easy placement=contiguous": "A 0 1 / B 0 3 / C 10 0-1 / D 2 0 / E 2 2"},
    ),
    Case(
        "a reservation for a part of a run has its first nodes, so that they are neighbours",
        "count / 4",
        "p:0-3 a:3 b:1",
        "job submit run nodes partition / A 0 10 1 a / B 0 10 1 b / C 1 5 3 p / D 2 20 1 a",
        {"easy placement=contiguous heads=machine": "A 0 3 / B 0 1 / C 10 0-2 / D 10 3"},
    ),
    Case(
        "enough nodes that are no neighbours are no time for a reservation",
        "count / 4",
        "p:0-3 a:1 b:3",
        "job submit run nodes partition / A 0 20 1 a / B 0 10 1 b / C 1 5 3 p / D 2 15 1 p",
        {"easy placement=contiguous heads=machine": "A 0 1 / B 0 3 / C 20 0-2 / D 2 0"},
    ),
    Case(
        "nodes of which no switch is told come in their turn among switches",
        "count switch / 2 0 / 2 -1",
        "p:0-3",
        "job submit run nodes alone / A 0 10 2 x / B 0 10 2 x",
        {"easy placement=fewest-switches": "A 0 0-1 / B 0 2-3"},
    ),
    Case(
        "best fit reserves by what will be free, and not by what is",
        "cores / 8 / 6",
        "p:0-1 a:0 b:1",
        "job submit run cores partition / A 0 10 7 a / B 0 10 5 b / C 1 5 6 p / D 2 30 1 b",
        {"easy placement=best-fit | easy placement=best-fit heads=machine": "A 0 0 / B 0 1 / C 10 1 / D 15 1"},
    ),
    Case(
        "whose partitions have no such run is excluded, though they have as many nodes",
        "cores / 2 / 1 / 2",
        "p:0-2",
        "job submit run nodes cores / A 0 10 2 2 / B 0 10 2 1",
        {
            "easy placement=contiguous": "A - - / B 0 0-1",
            "easy placement=contiguous:must=false": "A 0 0,2 / B 10 0-1",
        },
    ),
    Case(
        "GPU packing fills begun GPUs, then begun nodes, then idle ones with the fewest GPUs",
        "cores gpus / 9 4 / 9 2 / 9 1",
        "p:0-2 a:0 b:1",
        """job submit run gpus partition
           A 0 10 1.5 a / B 0 10 0.75 b / C 0 10 0.5 p / D 0 10 0.5 p / E 0 10 1 p / F 0 10 1 p / G 0 10 2 p""",
        {"easy placement=gpu-packing": "A 0 0 / B 0 1 / C 0 0 / D 0 1 / E 0 0 / F 0 0 / G 10 1"},
    ),
    Case(
        "GPU packing begins no node while another is begun; jobs without GPUs go where the fewest are free",
        "cores gpus / 4 1 / 4 4 / 8 0",
        "p:0-2 a:1",
        "job submit run gpus partition / A 0 10 1 a / B 0 10 1 p / C 0 10 0 p / D 0 10 3 p",
        {
            "easy placement=gpu-packing": "A 0 1 / B 0 1 / C 0 2 / D 10 1",
            "easy placement=best-fit": "A 0 1 / B 0 0 / C 0 0 / D 0 1",
        },
    ),
    Case(
        "the dot product sends who asks for memory to where memory is, and who asks for cores to where cores are free",
        "cores memory / 8 16 / 8 16",
        "p:0-1 a:0 b:1",
        """job submit run cores memory partition
           A 0 10 6 2 a / B 0 10 1 12 b / C 0 10 1 4 p / D 0 10 1 1 p""",
        {
            "easy placement=dot-product": "A 0 0 / B 0 1 / C 0 0 / D 0 1",
            "easy placement=best-fit": "A 0 0 / B 0 1 / C 0 0 / D 0 0",
        },
    ),
    Case(
        "the dot product counts GPUs that are free",
        "count cores gpus / 2 8 2",
        "p:0-1 a:0 b:1",
        "job submit run cores gpus partition / A 0 10 1 1 a / B 0 10 3 0 b / C 0 10 1 0.5 p",
        {"easy placement=dot-product": "A 0 0 / B 0 1 / C 0 1"},
    ),
    Case(
        "the dot product is of shares of the node, so the small node is taken that the job fills more; then the first",
        "cores memory / 16 16 / 4 4 / 4 4",
        "p:0-2",
        "job submit run cores memory / A 0 10 2 2 / B 0 10 2 2 / C 0 10 2 2",
        {"easy placement=dot-product": "A 0 1 / B 0 2 / C 0 1"},
    ),
    Case(
        "the shortest goes ahead first",
        "cores / 2",
        "p:0",
        "job submit run cores / A 0 10 1 / B 1 10 2 / C 2 8 1 / D 2 4 1",
        {
            "easy": "A 0 0 / B 10 0 / C 2 0 / D 20 0",
            "sjf-backfill | easy:backfill_order=sjf": "A 0 0 / B 10 0 / C 20 0 / D 2 0",
        },
    ),
    Case(
        "the head is the first by priority, not the first submitted",
        "cores / 2",
        "p:0",
        "job submit run cores rank / A 0 10 1 1 / B 1 10 2 2 / C 2 5 2 0 / D 3 7 1 . / E 3 9 1 2",
        {
            "prio-fifo": "A 0 0 / B 15 0 / C 10 0 / D 3 0 / E 25 0",
            "easy": "A 0 0 / B 10 0 / C 20 0 / D 3 0 / E 25 0",
        },
    ),
    Case(
        "a job enters the queue when it is ready, behind those that were submitted before",
        "cores / 1",
        "p:0",
        "job submit run ready / A 0 5 5 / B 1 10 . / C 2 3 .",
        {"easy | fcfs | easy heads=machine": "A 14 0 / B 1 0 / C 11 0"},
    ),
    Case(
        "two that are first and ask for 0 s have the node at one instant: who runs on beyond it needs room beside both",
        "cores / 4",
        "p:0 q:0",
        "job submit run cores partition / A 0 10 2 p / B 1 0 3 p / C 1 0 3 q / D 2 20 1 p / E 3 7 1 p",
        {"easy": "A 0 0 / B 10 0 / C 10 0 / D 10 0 / E 3 0"},
    ),
    Case(
        "of equal jobs that entered late goes first who was submitted first, where expansion counts",
        "cores / 1",
        "p:0",
        "job submit run ready / A 0 10 . / B 0 5 5 / C 1 5 .",
        {
            "lxf | lxf-backfill | weighted-priority | lxf heads=machine": "A 0 0 / B 10 0 / C 15 0",
            "fcfs | easy": "A 0 0 / B 15 0 / C 10 0",
        },
    ),
    Case(
        "who goes before the head by its rank delays it, and the reservation with it",
        "cores / 3",
        "p:0",
        "job submit run cores rank / A 0 10 1 1 / B 1 10 3 1 / C 1 30 2 2 / D 2 20 1 0 / E 3 15 1 2",
        {"prio-fifo | prio-fifo heads=machine": "A 0 0 / B 22 0 / C 32 0 / D 2 0 / E 3 0"},
    ),
    Case(
        "a node that is taken until the reservation begins is reserved in place of one that is free",
        "count / 4",
        "p:0-3 q:3",
        "job submit run nodes partition / A 0 10 2 p / B 1 5 3 p / C 2 5 1 q / D 3 20 1 p",
        {
            "easy | easy heads=machine": "A 0 0-1 / B 10 0-1,3 / C 2 3 / D 3 2",
            "easy placement=first-fit:sparing=false heads=machine": "A 0 0-1 / B 10 0-2 / C 2 3 / D 7 3",
        },
    ),
    Case(
        "best fit reserves another node when somebody who stays there leaves less of it",
        "count cores / 2 4",
        "p:0-1 q:1",
        "job submit run nodes cores partition / A 0 10 2 2 p / B 1 5 1 3 p / C 2 20 1 1 q / D 3 20 1 2 p",
        {
            "easy placement=best-fit heads=machine | easy placement=best-fit:sparing=false heads=machine | "
            "easy placement=best-fit": "A 0 0-1 / B 10 1 / C 2 1 / D 3 0"
        },
    ),
    Case(
        "who was to stay beyond the reservation ends early, and its node is reserved in place of another",
        "count cores / 3 4",
        "p:0-2",
        """job submit run request nodes cores
           A 0 10 10 1 2 / B 0 4 30 1 1 / C 0 10 10 2 2 / D 1 5 5 2 4 / E 2 20 20 1 2""",
        {
            "easy | easy heads=machine | easy placement=first-fit:sparing=false": (
                "A 0 0 / B 0 0 / C 0 1-2 / D 10 0-1 / E 4 2"
            )
        },
    ),
    Case(
        "a reservation ends when a job elsewhere does, and then the node is another head's",
        "count cores / 4 1",
        "p:0 q:0,2 r:3",
        "job submit run nodes partition / A 0 10 1 p / B 0 20 1 r / C 1 10 1 p / D 1 5 2 q / E 2 30 1 q",
        {"easy": "A 0 0 / B 0 3 / C 10 0 / D 20 0,2 / E 25 0"},
    ),
    Case(
        "best fit reserves by what will be free, not by what is",
        "count cores / 2 4",
        "p:0-1 q:1",
        "job submit run cores partition / A 0 10 3 p / B 0 30 1 q / C 0 10 1 q / D 1 5 3 p / E 2 20 2 p",
        {
            "easy placement=best-fit heads=machine | easy placement=best-fit": (
                "A 0 0 / B 0 1 / C 0 1 / D 10 1 / E 10 0"
            ),
            "easy heads=machine": "A 0 0 / B 0 1 / C 0 1 / D 10 0 / E 2 1",
        },
    ),
    Case(
        "what is known of K stays its own when A, which fits fewer nodes, starts and is known no more",
        "count cores / 6 2",
        "p:0,4 q:0,2-3,5 r:0-1 x:1 y:2 z:3 u:4 v:5",
        """job submit run request nodes cores partition
           P 0 100 100 1 2 x / Q 0 300 300 1 1 y / R 0 300 300 1 1 z / S 0 50 300 1 2 u / T 0 60 300 1 2 v
           H 1 5 5 2 2 r / A 2 300 300 1 2 p / K 3 300 300 3 1 q""",
        {EVERY_EASY: "P 0 1 / Q 0 2 / R 0 3 / S 0 4 / T 0 5 / H 100 0-1 / A 50 4 / K 60 2-3,5"},
    ),
    Case(
        "a node that comes free early is reserved in place of the last, and a long job may not have it",
        "count / 5",
        "p:0-3 q:4",
        """job submit run request nodes partition
           A 0 4 50 1 p / B 0 10 10 1 p / C 0 10 10 1 p / D 0 10 10 1 p / E 1 5 5 2 p / F 1 9 9 1 q / G 5 60 60 1 p""",
        {
            "easy placement=first-fit:sparing=false heads=machine": (
                "A 0 0 / B 0 1 / C 0 2 / D 0 3 / E 10 0-1 / F 1 4 / G 10 2"
            ),
            "easy heads=machine": "A 0 0 / B 0 1 / C 0 2 / D 0 3 / E 10 1-2 / F 1 4 / G 5 0",
        },
    ),
]
