# SPDX-License-Identifier: BSD-3-Clause
"""queue: a price for each processor-hour, by the queue that the user chose.

Names of queues come from ``queues``, from an accounting log, or from the header of an SWF log. ``others`` applies to
queues without a multiple, to jobs without a queue, and to all jobs if nothing names the queues.

References
----------
Lee 2009, section 3.4.3, "GA within a Multiple-Queue, Multiple-Price Framework": high 2, express 1.7, low 0.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from swftools.kernel import FloatArray
from swftools.market.registry import mechanism
from swftools.market.sale import Sale
from swftools.parameters import Parameters, is_number, number
from swftools.trace import Trace

MULTIPLES = {"high": 2.0, "express": 1.7, "normal": 1.0, "low": 0.5}
"""Of the centre that the paper tells of."""


@dataclass(frozen=True)
class QueueParameters(Parameters):
    """Parameters of ``queue``.

    Parameters
    ----------
    rate : float
        Price of a processor-hour in a queue whose multiple is 1.
    multiples : mapping of str to float
        Multiples by name or number of a queue; ``queue:multiples.high=3`` sets one and keeps the others.
    queues : mapping of int to str
        Names of queues by number; they take precedence over those of the log.
    others : float
        Multiple of all other queues.
    """

    NAME = "queue"
    rate: float = number(1.0, least=0)
    multiples: Mapping[str, float] = field(default_factory=lambda: dict(MULTIPLES))
    queues: Mapping[int, str] = field(default_factory=dict)
    others: float = number(1.0, least=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        multiples, queues = self.multiples, self.queues
        sound = isinstance(multiples, Mapping) and all(is_number(each, 0) for each in multiples.values())
        self._require("multiples", sound, "a mapping of queues to numbers of 0 or more")
        sound = isinstance(queues, Mapping) and all(str(each).isdecimal() for each in queues)
        self._require("queues", sound, "a mapping of queue numbers to names")
        given = {str(name): float(each) for name, each in multiples.items()}
        object.__setattr__(self, "multiples", MULTIPLES | given)
        object.__setattr__(self, "queues", {int(each): str(name) for each, name in queues.items()})

    def to_mapping(self) -> dict[str, Any]:
        """Return every parameter by name; numbers of queues as text, as JSON has keys."""
        return super().to_mapping() | {"queues": {str(each): name for each, name in self.queues.items()}}


@mechanism("queue", parameters=QueueParameters)
def by_queue(sale: Sale, parameters: QueueParameters) -> FloatArray:
    """Return the price of the hours that were run, by queue."""
    names = names_of_queues(sale.trace) | dict(parameters.queues)
    multiples = parameters.multiples
    queue = sale.column("queue_id", -1)
    chosen = np.full(len(sale), float(parameters.others))
    for each in np.unique(queue[queue >= 0]).tolist():
        named = names.get(each, "")
        chosen[queue == each] = multiples.get(str(each), multiples.get(named, parameters.others))
    return parameters.rate * chosen * sale.processor_hours


def names_of_queues(trace: Trace | None) -> dict[int, str]:
    """Return the names of queues that a log tells, by number."""
    if trace is None:
        return {}
    return dict(trace.known_names.get("queue", {}))
