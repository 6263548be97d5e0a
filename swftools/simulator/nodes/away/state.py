# SPDX-License-Identifier: BSD-3-Clause
"""The state of a machine of nodes with outages: that of one without, and beside it when which node is away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import numpy as np

from swftools.kernel import FloatArray, IntArray, ShortArray
from swftools.kernel.pointers import Lent
from swftools.simulator.engine.replay import Coming, Replay, ReplayState, with_views
from swftools.simulator.machine.state import read_only
from swftools.simulator.nodes.state import NodeMachine
from swftools.simulator.state.columns import (
    PER_NODE,
    PER_STATE,
    REAL,
    SHORT,
    WHOLE,
    Per,
    StateColumn,
    StateSizes,
    empty,
)

PER_OUTAGE: Per = "outages"
PER_CHANGE: Per = "changes"
PER_RETURN: Per = "returns"
PER_ALLOWED: Per = "allowed"
PER_KEPT: Per = "kept"

CHANGED, RETURNED, HOLDERS, SEEKER, MODE, KEPT, COMEBACKS, LENGTH = range(8)
"""Places in ``Outages.counts``: changes that have happened; returns that are over; for how many different holders nodes
are reserved; the place of the job for which nodes are looked for; what becomes of jobs that are stopped; how much of
``kept`` is used; how often jobs came back: as they were stopped and wait again, or were held back before."""

REQUEUE, TO_CHECKPOINT, LOST = range(3)
"""What ``counts[MODE]`` may be: a stopped job begins anew; goes on from its last checkpoint; is over."""

GOES, TOLD, RETURNS = range(3)
"""What a change is: a node goes away; when it will go or return becomes known; it is back."""

NO_SET = -1
"""Stands in ``NodeState.group`` for the set of a job that left the queue, as it needs nodes that never come back."""

BESIDE_NODES = 3
"""What ``kept`` has of a run beside its nodes."""


class Outages(NamedTuple):
    """When nodes are away.

    By outage, those of one node by begin: when it begins and ends (s), since when that is known, its ``kind``, the
    ``node``, and ``who`` may use it all the same. Those of a node are from ``next``, the first that is not over, up to
    ``behind``. By change, in the order in which they happen: when (``time``), of which outage (``of``), and ``what``.
    ``back`` has the outages whose end is known before it comes, by end. ``may`` tells by place and holder whether jobs
    of that place may use what is reserved. ``sought`` is from when to when nodes are looked for. ``delay`` is what a
    stopped job waits before it may start again, s. ``kept`` has of each run that was stopped the row of the log, the
    set, how many nodes, and which; ``room`` is how much of it is needed.
    """

    counts: Annotated[IntArray, StateColumn(WHOLE, PER_STATE, times=LENGTH)]
    begin: Annotated[FloatArray, StateColumn(REAL, PER_OUTAGE, is_given=True)]
    end: Annotated[FloatArray, StateColumn(REAL, PER_OUTAGE, is_given=True)]
    known: Annotated[FloatArray, StateColumn(REAL, PER_OUTAGE, is_given=True)]
    kind: Annotated[IntArray, StateColumn(WHOLE, PER_OUTAGE, is_given=True)]
    node: Annotated[IntArray, StateColumn(WHOLE, PER_OUTAGE, is_given=True)]
    who: Annotated[IntArray, StateColumn(WHOLE, PER_OUTAGE, is_given=True)]
    next: Annotated[IntArray, StateColumn(WHOLE, PER_NODE)]
    behind: Annotated[IntArray, StateColumn(WHOLE, PER_NODE, is_given=True)]
    time: Annotated[FloatArray, StateColumn(REAL, PER_CHANGE, is_given=True)]
    of: Annotated[IntArray, StateColumn(WHOLE, PER_CHANGE, is_given=True)]
    what: Annotated[IntArray, StateColumn(WHOLE, PER_CHANGE, is_given=True)]
    back: Annotated[IntArray, StateColumn(WHOLE, PER_RETURN, is_given=True)]
    may: Annotated[IntArray, StateColumn(WHOLE, PER_ALLOWED, is_given=True)]
    sought: Annotated[FloatArray, StateColumn(REAL, PER_STATE, times=2)]
    delay: Annotated[FloatArray, StateColumn(REAL, PER_STATE)]
    kept: Annotated[ShortArray, StateColumn(SHORT, PER_KEPT)]
    room: Annotated[IntArray, StateColumn(WHOLE, PER_STATE)]


if TYPE_CHECKING:

    class AwayMachine(NodeMachine):
        """The state of a machine of nodes with outages."""

        outages: Outages

    class AwayReplayState(ReplayState):
        """All that the engine goes on with, on such a machine."""

        machine: AwayMachine

else:
    AwayMachine = NamedTuple(
        "AwayMachine", [*get_type_hints(NodeMachine, include_extras=True).items(), ("outages", Outages)]
    )

    class AwayReplayState(NamedTuple):
        """All that the engine goes on with, on a machine of nodes with outages."""

        coming: Coming
        machine: AwayMachine
        replay: Replay


def _example() -> Any:
    """Return a state of the kinds of arrays that every such state has."""
    sizes = StateSizes(
        jobs=1, rows=1, runs=4, running=2, places=256, held=2, ends=4, edges=1, points=1, nodes=1, parts=1
    )
    sizes = sizes._replace(table=2, partitions=1, heads=1, planned=1, asked_places=1, sets=1, ranges=1)
    state = empty(AwayReplayState, sizes._replace(outages=1, changes=1, returns=1, allowed=1, kept=1))
    return with_views(state._replace(machine=state.machine._replace(restart=read_only(np.zeros(2)))))


away_state_at = Lent(_example)
away_machine_at = Lent(lambda: _example().machine)
