# SPDX-License-Identifier: BSD-3-Clause
"""Search: goal-oriented scheduling, which plans many orders of the waiting jobs and keeps the best.

``search``
    At each decision a branching heuristic puts the waiting jobs in order. Then orders that differ from it are planned
    one after another, each job at the earliest time that running jobs and the jobs before it leave. The schedule is the
    best order by the objective that was found within the limit, and of equally good ones the first. The jobs that it
    begins now start.

Guarantee
    None beyond the objective, as far as it is planned: the next decision plans anew. On an idle machine the first job
    of the order always starts, so no queue waits for ever. ``maxW`` or ``T_w`` among the measures keeps single jobs
    from starving; without them long or wide ones may.
Outlived estimates
    A running job that outlives its estimate is expected to run to its limit. Beyond that it holds nothing in the plan,
    because it may end at any moment.
Estimates of 0 s
    In the plan, and in its slowdown, such a job takes 1 s.
Cost of a decision
    Nothing if no waiting job fits. Otherwise O(n log n) for n waiting jobs, and for each visited node O(s) over the s
    steps of the plan that it looks at, at most r + n for r running jobs. The limit says how many nodes are visited, but
    at least n are. ``tradeoff-c`` first plays backfilling forward, in O(n (n + r)).

References
----------
Chiang and Vasupongayya 2008, "Design and potential performance of goal-oriented job scheduling policies for parallel
computer workloads", sections 2.4 and 3.

Differs from the paper
----------------------
The paper leaves these open. Here the order of the heuristic is the one at the decision, with equal jobs by submission.
A node counts as visited when a job is placed, and the order of the heuristic is always planned whole. For what the
paper's measures leave open see ``swftools.simulator.search.costs``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from swftools.kernel import IntArray
from swftools.kernel.pointers import monotonic_seconds
from swftools.parameters import Parameters, choice, number, text, truth, whole
from swftools.simulator.job_orders import ORDERS, in_order
from swftools.simulator.machine.faults import WRONG_COST, fail
from swftools.simulator.machine.state import Machine
from swftools.simulator.machine.verbs import start
from swftools.simulator.machine.views import can_start_any, fits, now, waiting_jobs
from swftools.simulator.registry import policy
from swftools.simulator.search.costs import TRADEOFF_C
from swftools.simulator.search.forward_easy import write_references
from swftools.simulator.search.notes import empty_notes, note_decision, restore_search, tables_of
from swftools.simulator.search.objectives import Objective, read_objective
from swftools.simulator.search.problem import gather, room_for
from swftools.simulator.search.search_parameters import Searching
from swftools.simulator.search.state import DECISION, JOBS, MODEL, WRONG, Search
from swftools.simulator.search.tree import TRAVERSALS, search_tree

WITHOUT_LIMIT = 2**62
"""Nodes where a time limits the search."""


class SearchValues(NamedTuple):
    """The parameters as a compiled search reads them; the objective is in its memory."""

    traversal: int
    branching: int
    nodes: int
    seconds: float
    distinct: bool
    notes: bool


@dataclass(frozen=True)
class SearchParameters(Searching, Parameters):
    """Parameters of ``search``.

    Parameters
    ----------
    traversal : {"dds", "lds"}
        The order in which the tree of all orders is visited (``swftools.simulator.search.tree``).
    branching : {"lxf", "fcfs", "sjf", "widest", "narrowest", "ljf"}
        The order that the others depart from.
    objective : str
        What makes one schedule better than another, in measures that are to be small
        (``swftools.simulator.search.objectives``).
    nodes : int
        Most nodes that each search visits. The order of the heuristic is always planned in full; with 0 it is the only
        one.
    seconds : float
        If above 0, each search runs for this long instead, s. What it finds then depends on the machine, and the nodes
        that it visited are noted (``recorded_search``).
    distinct : bool
        Whether to try only one order of jobs that do not differ in anything a plan depends on. The first of several
        equally good orders may then be another one.
    explain : bool
        Whether to note what each search did: ``Schedule.notes`` then has the tables decisions, improvements and orders.
    """

    limited_by: ClassVar[str] = "nodes"

    traversal: str = choice(*TRAVERSALS)
    branching: str = choice(*ORDERS, default="lxf")
    objective: str = text("tradeoff-a(T_w:avgX)")
    nodes: int = whole(4000, least=0, most=2**53)
    seconds: float = number(0.0, least=0, unit="s")
    distinct: bool = truth(False)
    explain: bool = truth(False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "objective", read_objective(self.objective).to_text())

    def values(self) -> SearchValues:
        """Return the parameters as numbers, but the objective."""
        return SearchValues(
            TRAVERSALS.index(self.traversal),
            ORDERS.index(self.branching),
            self.nodes,
            float(self.seconds),
            self.distinct,
            self.explain or self.seconds > 0,
        )

    @property
    def aim(self) -> Objective:
        """The objective, taken apart."""
        return read_objective(self.objective)

    @property
    def effort(self) -> float:
        """About how many places a decision finds for a job."""
        return self.nodes

    @property
    def baseline(self) -> str:
        """The order that a search begins with."""
        return f"order of {self.branching}"

    @property
    def visited(self) -> str:
        """What a search counts that it tried."""
        return "placements"

    def manner(self, visits: str, orders: str, rest: str) -> str:
        """Return a sentence about a search."""
        return f"Search ({self.traversal} from the {self.baseline}) made {visits} and compared {orders}; {rest}."


def columns_needed(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns that the measures of an objective need."""
    return SearchParameters.from_mapping(values).needed


def search_memory(jobs: int, processors: int, parameters: SearchParameters) -> Search:
    """Return room for a search, what it is to aim at, and room for what is noted of it."""
    notes = empty_notes(jobs, parameters.seconds > 0, parameters.explain)
    return room_for(parameters.aim, jobs, processors, notes)


def search_notes(memory: Search, parameters: SearchParameters) -> dict[str, pd.DataFrame]:
    """Return the tables of what was searched."""
    return tables_of(memory.notes, parameters.means)


def carry_search(old: Search, new: Search, jobs: IntArray) -> None:  # noqa: ARG001 (as all of them)
    """Take along the number of the decision; what was noted of those before it is not."""
    new.counts[DECISION] = old.counts[DECISION]


@policy(
    "search",
    when="If you can say what a good schedule is, such as few long waits, and a decision may take milliseconds.",
    parameters=SearchParameters,
    memory=search_memory,
    carry=carry_search,
    restore=restore_search,
    rests=True,
    needs_where=columns_needed,
    notes=search_notes,
    takes_long="each decision plans all that wait, whatever nodes says; easy and lxf-backfill take seconds",
    version=2,
)
def search(machine: Machine, parameters: Any, memory: Search) -> None:
    """Search among schedules of the waiting jobs, and start what starts now in the best one."""
    if not can_start_any(machine):
        return
    begin = monotonic_seconds() if parameters.seconds > 0.0 else 0.0
    queue = waiting_jobs(machine)
    longest = gather(machine, memory, queue, in_order(parameters.branching, machine, queue), parameters.distinct)
    counts, requests = memory.counts, machine.requests
    limit = parameters.nodes
    until = np.inf
    if counts[DECISION] < len(memory.limits) and memory.limits[counts[DECISION]] > 0:
        limit = memory.limits[counts[DECISION]]
    elif parameters.seconds > 0.0:
        limit, until = WITHOUT_LIMIT, begin + parameters.seconds
    if counts[MODEL] == TRADEOFF_C:
        write_references(memory, requests.utility)
    search_tree(memory, requests.utility, parameters.traversal, limit, until, longest)
    if counts[WRONG] > 0:
        fail(machine, WRONG_COST, memory.job[counts[WRONG] - 1])
    for place in range(counts[JOBS]):
        job = memory.job[memory.best_path[place]]
        if memory.best_begins[place] <= now(machine) and fits(machine, job):
            start(machine, job)
    if parameters.notes:
        note_decision(machine, memory)
    counts[DECISION] += 1
