# SPDX-License-Identifier: BSD-3-Clause
"""Orders without reservations or backfilling: jobs start in the order until the first that does not fit.

No job overtakes the first of the order, so processors idle while it waits for enough of them. Cost: log n for each job
that comes or is started, however many wait. The order of ``lxf`` changes with time; it costs w log w for the w waiting
jobs at each decision at which one of them fits.

==============  ==============================  ======================================================================
Name            First                           Who may starve
==============  ==============================  ======================================================================
``fcfs``        Earliest submission             Nobody: the first job waits for running jobs only, then is next
``sjf``         Shortest estimate               Long jobs, while shorter ones keep coming
``ljf``         Longest estimate                Short jobs, while longer ones keep coming
``widest``      Most processors ("largest")     Narrow jobs, while wider ones keep coming
``narrowest``   Fewest processors               Wide jobs, while narrower ones keep coming
``lxf``         Largest expansion factor        Nobody: the factor of a waiting job grows without bound; long jobs wait
==============  ==============================  ======================================================================

None of them has parameters, and none promises a start time. Jobs of equal rank start in order of submission. "Estimate"
is what policies are told of run times. ``lxf`` ranks by (wait so far + estimate) / estimate, computed anew at each
decision.

References
----------
Feitelson, Rudolph and Schwiegelshohn 2005, "Parallel job scheduling - a status report"; Krueger, Lai and Dixit-Radiya
1994 for narrowest first ("smallest first"); Li and Cheng 1991 for widest first ("largest first").
"""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.job_orders import LJF, LXF, NARROWEST, SJF, WIDEST, first_in_order, simple_order
from swftools.simulator.machine.state import Machine
from swftools.simulator.machine.verbs import start
from swftools.simulator.machine.views import first_waiting, fits, next_waiting
from swftools.simulator.machine.waiting_queue import ANY
from swftools.simulator.memory_transfer import carry_nothing
from swftools.simulator.nodes.exchange import on_nodes
from swftools.simulator.nodes.strict import start_from_heap_on_nodes, start_in_order_on_nodes, start_in_turn_on_nodes
from swftools.simulator.policies.job_heap import JobHeap, empty_heap, first_of_heap
from swftools.simulator.registry import policy


@policy(
    "fcfs",
    when="As the lower end of a comparison: what is gained by letting any job go ahead.",
    rests=True,
    promises=("order", "no-idle-head"),
    restates=("pyss", "cqsim", "dr_evt", "raps"),
    allocates=False,
    version=2,
)
def fcfs(machine: Machine) -> None:
    """Start jobs in order of submission until the first that does not fit."""
    start_in_turn(machine)


@policy(
    "sjf",
    when="To see the least mean wait that an order can give without backfilling; long jobs may starve.",
    rests=True,
    allocates=False,
    version=2,
)
def sjf(machine: Machine) -> None:
    """Start jobs by rising estimate, until the first that does not fit."""
    start_in_order(machine, SJF)


@policy(
    "ljf",
    when="To see how much the order of the queue matters: it is the worst for short jobs.",
    memory=empty_heap,
    carry=carry_nothing,
    rests=True,
    allocates=False,
    version=2,
)
def ljf(machine: Machine, memory: JobHeap) -> None:
    """Start jobs by falling estimate, until the first that does not fit."""
    start_from_heap(machine, memory, LJF)


@policy(
    "widest",
    when="To see how much the order of the queue matters: it is the best for wide jobs.",
    memory=empty_heap,
    carry=carry_nothing,
    rests=True,
    allocates=False,
    version=2,
)
def widest(machine: Machine, memory: JobHeap) -> None:
    """Start jobs from the widest to the narrowest, until the first that does not fit."""
    start_from_heap(machine, memory, WIDEST)


@policy(
    "narrowest",
    when="To see how much the order of the queue matters: it is the worst for wide jobs.",
    rests=True,
    allocates=False,
    version=2,
)
def narrowest(machine: Machine) -> None:
    """Start jobs from the narrowest to the widest, until the first that does not fit."""
    start_in_order(machine, NARROWEST)


@policy("lxf", when="To see a fair order by slowdown without any backfilling.", rests=True, allocates=False, version=2)
def lxf(machine: Machine) -> None:
    """Start jobs by falling expansion factor, until the first that does not fit."""
    start_in_order(machine, LXF)


@on_nodes(start_in_turn_on_nodes)
@kernel(allocates=False)
def start_in_turn(machine: Machine) -> None:
    """Start waiting jobs in the order of the queue, until the first that does not fit."""
    head = first_waiting(machine)
    while fits(machine, head):
        start(machine, head)
        head = next_waiting(machine, head)


@on_nodes(start_in_order_on_nodes)
@kernel(allocates=False)
def start_in_order(machine: Machine, kind: int) -> None:
    """Start waiting jobs in an order, until the first that does not fit."""
    order = simple_order(kind)
    head = first_in_order(machine, order, ANY, ANY, ANY)
    while fits(machine, head):
        start(machine, head)
        head = first_in_order(machine, order, ANY, ANY, ANY)


@on_nodes(start_from_heap_on_nodes)
@kernel(allocates=False)
def start_from_heap(machine: Machine, heap: JobHeap, kind: int) -> None:
    """Do the same in an order that does not change with time, in which the index of the queue is of no help."""
    order = simple_order(kind)
    head = first_of_heap(machine, heap, order)
    while fits(machine, head):
        start(machine, head)
        head = first_of_heap(machine, heap, order)
