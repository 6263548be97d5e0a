"""The request x run time / request of the user's last finished job; without one, the request.

References
----------
Yuan et al. 2010, "Last Model".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.simulator.machine.events import END, SUBMISSION
from swftools.simulator.machine.state import Machine
from swftools.simulator.machine.verbs import predict
from swftools.simulator.machine.work import work_done
from swftools.simulator.predictors.registry import predictor


class Accuracy(NamedTuple):
    """Run time / request of each user's last finished job; 1 without one."""

    last: npt.NDArray[np.float64]


def no_accuracy(jobs: int, processors: int) -> Accuracy:  # noqa: ARG001 (as all memories)
    """Return the accuracy of users of whom nothing is known: there are no more of them than jobs."""
    return Accuracy(np.ones(jobs))


@predictor("last-model", memory=no_accuracy, version=1)
def last_model(event: int, machine: Machine, job: int, memory: Accuracy) -> None:
    """Scale the request by how much of it the user's last finished job used; unknown users are taken at their word."""
    user, limit = machine.requests.user_id[job], machine.requests.limit[job]
    if user < 0:
        return
    if event == SUBMISSION:
        predict(machine, job, limit * memory.last[user])
    elif event == END:
        memory.last[user] = min(work_done(machine, job) / max(limit, 1e-9), 1.0)
