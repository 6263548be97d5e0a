# SPDX-License-Identifier: BSD-3-Clause
"""What a job requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Component:
    """What a job requests, or a component of a heterogeneous job; as the batch system counts it at submission.

    Parameters
    ----------
    nodes : int
        At least so many.
    most_nodes : int or None
        At most so many; None where nobody says.
    tasks : int
        Processes that are started.
    cpus_per_task : int
        Processors of each.
    processors : int
        In all.
    memory_mb : int or None
        Of all nodes together, MiB; None: what the centre gives to a job that names none.
    gpus : int
        In all.
    time_limit : float or None
        Requested time, s; infinity if it is unlimited; None: what the queue gives to a job that names none.
    partition : str or None
        Queue as it is written, several with commas between them; None: the centre's default.
    is_exclusive : bool
        No other job may run on its nodes, so it gets all that they have.
    """

    nodes: int = 1
    most_nodes: int | None = None
    tasks: int = 1
    cpus_per_task: int = 1
    processors: int = 1
    memory_mb: int | None = None
    gpus: int = 0
    time_limit: float | None = None
    partition: str | None = None
    is_exclusive: bool = False


@dataclass(frozen=True)
class JobRequest:
    """What a job script requests.

    Parameters
    ----------
    components : tuple of Component
        One, or several of a heterogeneous job, which start together.
    array_size : int
        Jobs that it makes: 1, or as many as its array has indices.
    unread : tuple of str
        What could not be read, or is not counted: file, line and remedy, a sentence each.
    """

    components: tuple[Component, ...]
    array_size: int = 1
    unread: tuple[str, ...] = ()

    @property
    def nodes(self) -> int:
        """Nodes of all components, at least."""
        return sum(each.nodes for each in self.components)

    @property
    def tasks(self) -> int:
        """Tasks of all components."""
        return sum(each.tasks for each in self.components)

    @property
    def processors(self) -> int:
        """Processors of all components."""
        return sum(each.processors for each in self.components)

    @property
    def gpus(self) -> int:
        """GPUs of all components."""
        return sum(each.gpus for each in self.components)

    @property
    def memory_mb(self) -> int | None:
        """Memory of all components, MiB; None if one of them names none."""
        said = [each.memory_mb for each in self.components if each.memory_mb is not None]
        return sum(said) if len(said) == len(self.components) else None

    @property
    def time_limit(self) -> float | None:
        """The longest requested time of the components, s; None if one of them names none."""
        said = [each.time_limit for each in self.components if each.time_limit is not None]
        return max(said) if len(said) == len(self.components) else None

    @property
    def cpus_per_task(self) -> int:
        """Processors of each task of the first component."""
        return self.components[0].cpus_per_task

    @property
    def partition(self) -> str | None:
        """Queue of the first component."""
        return self.components[0].partition

    def to_mapping(self) -> dict[str, Any]:
        """Return it as JSON has it; an unlimited time is the text ``unlimited``."""
        return {
            "components": [_plain(each) for each in self.components],
            "array_size": self.array_size,
            "unread": list(self.unread),
        }


def _plain(component: Component) -> dict[str, Any]:
    limit = component.time_limit
    return {**vars(component), "time_limit": "unlimited" if limit == float("inf") else limit}
