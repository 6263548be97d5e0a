# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of jobs on nodes that go down: they begin anew, go on from their last checkpoints, or are lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from swftools.errors import ParameterError
from swftools.parameters import Parameters, number
from swftools.parameters.as_text import read_entry
from swftools.parameters.spelling import require_known
from swftools.simulator.nodes.away.state import LOST, REQUEUE, TO_CHECKPOINT
from swftools.trace import Trace


@dataclass(frozen=True)
class OnOutage(Parameters):
    """What becomes of a job that is stopped since a node of it goes down.

    Parameters
    ----------
    delay : float
        How long it waits before it may start again, s. If it is 0, it waits again at its old place in the queue; else
        it enters the queue at its end when the time is over.
    """

    mode: ClassVar[int]
    delay: float = number(0.0, least=0, unit="s")

    def check(self, trace: Trace) -> None:
        """Raise ParameterError unless a trace says what is needed of its jobs."""


@dataclass(frozen=True)
class Requeue(OnOutage):
    """The job begins anew: all of its work is lost."""

    NAME: ClassVar[str] = "requeue"
    mode: ClassVar[int] = REQUEUE


@dataclass(frozen=True)
class Checkpoint(OnOutage):
    """The job goes on from its last checkpoint; one that writes none begins anew."""

    NAME: ClassVar[str] = "checkpoint"
    mode: ClassVar[int] = TO_CHECKPOINT

    def check(self, trace: Trace) -> None:
        """Raise ParameterError if the trace says of no job when it writes checkpoints."""
        if "checkpoint_interval" not in trace.jobs:
            raise ParameterError(
                "on_outage='checkpoint' needs checkpoint_interval, which the trace lacks; let infer_checkpoints "
                "(tasks: --augment checkpoints) make it, or give each job one (s), or choose on_outage='requeue'"
            )


@dataclass(frozen=True)
class Lost(Parameters):
    """The job is over, and its work is lost."""

    NAME: ClassVar[str] = "lost"
    mode: ClassVar[int] = LOST
    delay: ClassVar[float] = 0.0

    def check(self, trace: Trace) -> None:
        """Need nothing of a trace."""


RULES: dict[str, type[Requeue] | type[Checkpoint] | type[Lost]] = {
    each.NAME: each for each in (Requeue, Checkpoint, Lost)
}
"""What may become of them, by name."""


def find_on_outage(text: str | OnOutage | Lost) -> OnOutage | Lost:
    """Return what becomes of stopped jobs by its text form, as ``requeue:delay=60``.

    Raises
    ------
    ParameterError
        There is none of that name, or it takes no such parameter.

    Examples
    --------
    >>> find_on_outage("checkpoint: delay=60").to_text()
    'checkpoint:delay=60'
    """
    if isinstance(text, OnOutage | Lost):
        return text
    if not isinstance(text, str):
        raise ParameterError(f"on_outage={text!r} is not one of {', '.join(RULES)}")
    name, given = read_entry(text, RULES)
    return RULES[require_known(f"no on_outage {name!r}", name, RULES)].from_mapping(given)
