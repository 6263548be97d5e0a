# SPDX-License-Identifier: BSD-3-Clause
"""What a sensor is: it hears of a batch system what happens to its jobs, and what its machine and queues are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from swftools.errors import SwfToolsError
from swftools.live import JobEvent


class SensorError(SwfToolsError, OSError):
    """A batch system cannot be heard of: what was asked, and what it said."""


@dataclass(frozen=True)
class QueueLimits:
    """What a queue takes; None where nobody says.

    Parameters
    ----------
    is_default : bool
        Jobs that name no queue go there.
    longest : float or None
        Longest requested run time, s.
    default_time : float or None
        Requested run time of a job that names none, s.
    processors : int or None
        Of the nodes that it has.
    """

    is_default: bool = False
    longest: float | None = None
    default_time: float | None = None
    processors: int | None = None


@dataclass(frozen=True)
class Machine:
    """What a machine is; None where nobody says.

    Parameters
    ----------
    processors : int or None
        All that jobs may get.
    queues : mapping of str to QueueLimits
        By name.
    """

    processors: int | None = None
    queues: Mapping[str, QueueLimits] = field(default_factory=dict)


NOT_SAID = Machine()
"""A machine of which nobody says anything."""


@dataclass
class Cost:
    """What calls of one command have cost the batch system.

    Parameters
    ----------
    calls : int
        How many.
    seconds : float
        That they took, s.
    failures : int
        How many of them failed.
    """

    calls: int = 0
    seconds: float = 0.0
    failures: int = 0


class Sensor(Protocol):
    """Hears of a cluster."""

    @property
    def notice(self) -> str | None:
        """What users should know of what is heard, as a sentence: that other users' jobs are not seen, say."""

    @property
    def costs(self) -> Mapping[str, Cost]:
        """What the calls have cost, by command."""

    def poll(self, now: float) -> list[JobEvent]:
        """Return what happened to jobs since the last call, up to now.

        Raises
        ------
        SensorError
            The batch system does not answer; nothing is lost, and the next call tells it.
        """

    def machine(self) -> Machine:
        """Return what the machine and its queues are now.

        Raises
        ------
        SensorError
            The batch system does not answer.
        """
