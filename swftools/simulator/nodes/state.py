# SPDX-License-Identifier: BSD-3-Clause
"""The state of a machine of nodes: that of a pool, and beside it nodes, what jobs ask of them, and who waits for what.

Waiting jobs that ask for the same (of the same nodes, as many, for as long, with the same rank) are a class: a list in
order of the queue. Classes in which a job waits are active, and stand side by side in arrays. Of each a bound is known
on how many nodes of a set fit its jobs now, and now and at the time that is reserved for the first waiting job. What is
freed raises bounds, a search that finds too few sets them, and starts leave them. So who may start at all is known
after one pass over the active classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import numpy as np

from swftools.kernel import FloatArray, IntArray, ShortArray
from swftools.kernel.pointers import Lent
from swftools.simulator.engine.replay import Coming, Replay, ReplayState, with_views
from swftools.simulator.machine.state import Machine, read_only
from swftools.simulator.state.columns import (
    BLANK,
    PER_JOB,
    PER_NODE,
    PER_PART,
    PER_STATE,
    REAL,
    RESET,
    SHORT,
    WHOLE,
    Per,
    StateColumn,
    StateSizes,
    empty,
)

PER_PARTITION: Per = "partitions"
PER_HEAD: Per = "heads"
PER_PLAN: Per = "planned"
PER_PLACE_ASKED: Per = "asked_places"
PER_SET: Per = "sets"
PER_RANGE: Per = "ranges"


class NodeRequests(NamedTuple):
    """What each job asks of nodes, by job.

    ``need`` is the word that it needs of each of ``nodes`` nodes, ``place`` where it may run, ``first`` the place of
    the first of its nodes in ``NodeState.held``.
    """

    need: Annotated[IntArray, StateColumn(WHOLE, PER_JOB, is_ahead=True)]
    nodes: Annotated[ShortArray, StateColumn(SHORT, PER_JOB, is_ahead=True)]
    place: Annotated[ShortArray, StateColumn(SHORT, PER_JOB, is_ahead=True)]
    first: Annotated[IntArray, StateColumn(WHOLE, PER_JOB, on_fork=BLANK, is_ahead=True)]


class Places(NamedTuple):
    """Where jobs may run: a place is of sets of nodes, a set of ranges of nodes.

    The sets of place p are those from ``sets[p]`` up to ``sets[p + 1]``, the ranges of set s those from ``ranges[s]``
    up to ``ranges[s + 1]``, the nodes of range r those from ``low[r]`` up to ``high[r]``. ``inside0`` and ``inside1``
    tell by node, in bits, in which places it is. ``partition`` is that of a set, ``partitions0`` and ``partitions1``
    tell by place, in bits, of which partitions it has sets, ``members0`` and ``members1`` by node of which it is.
    """

    sets: Annotated[IntArray, StateColumn(WHOLE, PER_PLACE_ASKED, is_given=True)]
    ranges: Annotated[IntArray, StateColumn(WHOLE, PER_SET, is_given=True)]
    low: Annotated[IntArray, StateColumn(WHOLE, PER_RANGE, is_given=True)]
    high: Annotated[IntArray, StateColumn(WHOLE, PER_RANGE, is_given=True)]
    inside0: Annotated[IntArray, StateColumn(WHOLE, PER_NODE, is_given=True)]
    inside1: Annotated[IntArray, StateColumn(WHOLE, PER_NODE, is_given=True)]
    partition: Annotated[IntArray, StateColumn(WHOLE, PER_SET, is_given=True)]
    partitions0: Annotated[IntArray, StateColumn(WHOLE, PER_PLACE_ASKED, is_given=True)]
    partitions1: Annotated[IntArray, StateColumn(WHOLE, PER_PLACE_ASKED, is_given=True)]
    members0: Annotated[IntArray, StateColumn(WHOLE, PER_NODE, is_given=True)]
    members1: Annotated[IntArray, StateColumn(WHOLE, PER_NODE, is_given=True)]


class NodeState(NamedTuple):
    """The nodes, in the order in which the placement looks at them.

    ``free`` is what is free of each, ``capacity`` what it has, ``users`` how many jobs run there. ``then`` is what is
    expected to be free at the reserved time beside what the first waiting job takes, ``then_users`` who runs there
    then. ``before`` has the number of the reservation before whose time the node fits, ``reserved`` that of the last
    choice of nodes for it. ``held`` has the nodes of each job, ``group`` from which set they are. ``chosen`` is room
    for nodes of the first waiting job, and for those that it had before; ``was`` for what was or will be free; ``key``
    for what placements order nodes by, ``tally`` for what they count of groups of nodes. ``switch`` numbers the
    switches of the nodes, those of no switch that is told as one.
    """

    free: Annotated[IntArray, StateColumn(WHOLE, PER_NODE)]
    capacity: Annotated[IntArray, StateColumn(WHOLE, PER_NODE, is_given=True)]
    users: Annotated[IntArray, StateColumn(WHOLE, PER_NODE)]
    then: Annotated[IntArray, StateColumn(WHOLE, PER_NODE)]
    then_users: Annotated[IntArray, StateColumn(WHOLE, PER_NODE)]
    before: Annotated[IntArray, StateColumn(WHOLE, PER_NODE)]
    reserved: Annotated[IntArray, StateColumn(WHOLE, PER_NODE)]
    chosen: Annotated[ShortArray, StateColumn(SHORT, PER_NODE, times=2)]
    was: Annotated[IntArray, StateColumn(WHOLE, PER_NODE)]
    key: Annotated[IntArray, StateColumn(WHOLE, PER_NODE)]
    tally: Annotated[IntArray, StateColumn(WHOLE, PER_NODE, times=4)]
    switch: Annotated[IntArray, StateColumn(WHOLE, PER_NODE, is_given=True)]
    held: Annotated[ShortArray, StateColumn(SHORT, PER_PART)]
    group: Annotated[ShortArray, StateColumn(SHORT, PER_JOB, is_rare=True)]


ACTIVE, KNOWN, HEADS, SPARING, CHOOSES, HEAD, NUMBER, EARLIER, LAST, CHANGED, MARK = range(11)
FOUND, PLANNED, PLAN, IS_FRESH, CLOSED0, CLOSED1, BASE, LENGTH = range(11, 19)
"""Places in ``WaitingClasses.counts``: classes in which a job waits; classes known; how many jobs have a reservation at
once: one, or one a partition; whether placement is sparing; when nodes of a reservation are chosen again. Of the one
reservation: whose it is, or NOBODY; its number; how many nodes fit before its time; the last of its nodes; whether
others might serve by now; the number of the choice of its nodes. Of several: how many jobs are to have
one; how many have; the number of the plan; whether no job has started or ended since it was made. In bits, the
partitions that are closed, or have a reservation. The number of the first class."""

ONE_HEAD, HEAD_OF_PARTITION = range(2)
"""What ``counts[HEADS]`` may be."""

KEPT, BY_FIT, BY_AMOUNT = range(3)
"""What ``counts[CHOOSES]`` may be: nodes of a reservation stay those that they are as long as its time is kept; they
are chosen again when others fit, or do not; or when more or less is free."""

MANY = 1 << 40
"""A bound where nothing is known."""


class WaitingClasses(NamedTuple):
    """Classes of jobs that ask for the same.

    By job: its ``class_of``, and who stands ``behind`` and ``ahead`` of it there, counted from 1; 0: nobody. By class:
    its ``first`` and ``last`` job, counted so; the ``time`` that its jobs are expected to run; one ``like`` all; its
    ``slot`` among those active, counted from 1. ``table`` finds a class by what its jobs ask for. By slot: ``slots``
    has the class; ``need``, ``nodes``, and in bits the place, of its jobs; ``fit_now`` and ``fit_then`` are the
    bounds. ``keys`` and ``turns`` are a heap of who may go ahead.
    """

    counts: Annotated[IntArray, StateColumn(WHOLE, PER_STATE, times=LENGTH)]
    time_reserved: Annotated[FloatArray, StateColumn(REAL, PER_STATE)]
    class_of: Annotated[ShortArray, StateColumn(SHORT, PER_JOB, on_fork=RESET)]
    behind: Annotated[ShortArray, StateColumn(SHORT, PER_JOB, on_fork=RESET)]
    ahead: Annotated[ShortArray, StateColumn(SHORT, PER_JOB, on_fork=RESET)]
    first: Annotated[ShortArray, StateColumn(SHORT, PER_JOB, times=2, on_fork=RESET, is_rare=True)]
    last: Annotated[ShortArray, StateColumn(SHORT, PER_JOB, times=2, on_fork=RESET, is_rare=True)]
    time: Annotated[FloatArray, StateColumn(REAL, PER_JOB, times=2, on_fork=RESET, is_rare=True)]
    like: Annotated[ShortArray, StateColumn(SHORT, PER_JOB, times=2, on_fork=RESET, is_rare=True)]
    slot: Annotated[ShortArray, StateColumn(SHORT, PER_JOB, times=2, on_fork=RESET, is_rare=True)]
    table: Annotated[ShortArray, StateColumn(SHORT, "table", is_rare=True)]
    slots: Annotated[IntArray, StateColumn(WHOLE, PER_JOB, on_fork=RESET, is_rare=True)]
    need: Annotated[IntArray, StateColumn(WHOLE, PER_JOB, on_fork=RESET, is_rare=True)]
    nodes: Annotated[IntArray, StateColumn(WHOLE, PER_JOB, on_fork=RESET, is_rare=True)]
    inside0: Annotated[IntArray, StateColumn(WHOLE, PER_JOB, on_fork=RESET, is_rare=True)]
    inside1: Annotated[IntArray, StateColumn(WHOLE, PER_JOB, on_fork=RESET, is_rare=True)]
    times: Annotated[FloatArray, StateColumn(REAL, PER_JOB, on_fork=RESET, is_rare=True)]
    fit_now: Annotated[IntArray, StateColumn(WHOLE, PER_JOB, on_fork=RESET, is_rare=True)]
    fit_then: Annotated[IntArray, StateColumn(WHOLE, PER_JOB, on_fork=RESET, is_rare=True)]
    keys: Annotated[FloatArray, StateColumn(REAL, PER_JOB, on_fork=RESET, is_rare=True)]
    turns: Annotated[IntArray, StateColumn(WHOLE, PER_JOB, on_fork=RESET, is_rare=True)]


class NodePlan(NamedTuple):
    """The reservations of several first waiting jobs, some of each partition at most, as they are made at a decision.

    By reservation: the ``job``, when it is to ``begin`` and to ``end`` (s), and where its entries end (``entries``).
    By partition: how many ``heads`` it has. An entry is a node of a reservation: ``node``, ``of`` which reservation,
    what is ``left`` there when it begins, and the ``next`` entry of the same node. ``newest`` is the last entry of each
    node, if ``stamp`` has the number of the plan. ``first_job`` is the first that waits for each place, ``first_key``
    its key in the order.
    """

    job: Annotated[IntArray, StateColumn(WHOLE, PER_HEAD)]
    begin: Annotated[FloatArray, StateColumn(REAL, PER_HEAD)]
    end: Annotated[FloatArray, StateColumn(REAL, PER_HEAD)]
    entries: Annotated[IntArray, StateColumn(WHOLE, PER_HEAD)]
    heads: Annotated[IntArray, StateColumn(WHOLE, PER_PARTITION)]
    node: Annotated[ShortArray, StateColumn(SHORT, PER_PLAN, is_rare=True)]
    of: Annotated[ShortArray, StateColumn(SHORT, PER_PLAN, is_rare=True)]
    left: Annotated[IntArray, StateColumn(WHOLE, PER_PLAN, is_rare=True)]
    next: Annotated[ShortArray, StateColumn(SHORT, PER_PLAN, is_rare=True)]
    newest: Annotated[IntArray, StateColumn(WHOLE, PER_NODE)]
    first_job: Annotated[IntArray, StateColumn(WHOLE, PER_PLACE_ASKED)]
    first_key: Annotated[FloatArray, StateColumn(REAL, PER_PLACE_ASKED)]
    stamp: Annotated[IntArray, StateColumn(WHOLE, PER_NODE)]


_OWN = {
    "asked": NodeRequests,
    "places": Places,
    "nodes": NodeState,
    "classes": WaitingClasses,
    "plan": NodePlan,
}

if TYPE_CHECKING:

    class NodeMachine(Machine):
        """The state of a machine of nodes; policies read it, and change it by the verbs only."""

        asked: NodeRequests
        places: Places
        nodes: NodeState
        classes: WaitingClasses
        plan: NodePlan

    class NodeReplayState(ReplayState):
        """All that the engine goes on with, on a machine of nodes."""

        machine: NodeMachine

else:
    NodeMachine = NamedTuple("NodeMachine", [*get_type_hints(Machine, include_extras=True).items(), *_OWN.items()])

    class NodeReplayState(NamedTuple):
        """All that the engine goes on with, on a machine of nodes."""

        coming: Coming
        machine: NodeMachine
        replay: Replay


def _example() -> Any:
    """Return a state of the kinds of arrays that every state of nodes has."""
    sizes = StateSizes(
        jobs=1, rows=1, runs=4, running=2, places=256, held=2, ends=4, edges=1, points=1, nodes=1, parts=1
    )
    state = empty(
        NodeReplayState, sizes._replace(table=2, partitions=1, heads=1, planned=1, asked_places=1, sets=1, ranges=1)
    )
    return with_views(state._replace(machine=state.machine._replace(restart=read_only(np.zeros(2)))))


node_state_at = Lent(_example)
node_machine_at = Lent(lambda: _example().machine)
