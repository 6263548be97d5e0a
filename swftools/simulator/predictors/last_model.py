# SPDX-License-Identifier: BSD-3-Clause
"""The request x run time / request of the user's last finished job; without one, the request.

References
----------
Yuan et al. 2010, "Last Model".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.parameters import Parameters
from swftools.simulator.machine.events import END, OUTLIVED, SUBMISSION
from swftools.simulator.machine.state import Machine
from swftools.simulator.machine.verbs import predict
from swftools.simulator.machine.work import work_done
from swftools.simulator.predictors.outlived import INCREMENTS, none_raised, outlived_parameter, raise_prediction
from swftools.simulator.predictors.registry import predictor


@dataclass(frozen=True)
class LastModelParameters(Parameters):
    """Parameters of ``last-model``.

    Parameters
    ----------
    outlived : {"limit", "increments"}
        The new prediction of a job that outlives its prediction.
    """

    outlived: str = outlived_parameter()


class Accuracy(NamedTuple):
    """Run time / request of each user's last finished job, 1 without one; how often each job was raised."""

    last: npt.NDArray[np.float64]
    raised: npt.NDArray[np.int8]


def no_accuracy(jobs: int, processors: int) -> Accuracy:  # noqa: ARG001 (as all memories)
    """Return the accuracy of users of whom nothing is known: there are no more of them than jobs."""
    return Accuracy(np.ones(jobs), none_raised(jobs))


@predictor(
    "last-model",
    parameters=LastModelParameters,
    memory=no_accuracy,
    events=(SUBMISSION, OUTLIVED, END),
    allocates=False,
    version=1,
)
def last_model(event: int, machine: Machine, job: int, parameters: Any, memory: Accuracy) -> None:
    """Scale the request by the share that the user's last job used; requests of unknown users stay as they are."""
    user, limit = machine.requests.user_id[job], machine.requests.limit[job]
    if user < 0:
        return
    if event == SUBMISSION:
        predict(machine, job, limit * memory.last[user])
    elif event == OUTLIVED and parameters.outlived == INCREMENTS:
        raise_prediction(machine, job, memory.raised)
    elif event == END:
        memory.last[user] = min(work_done(machine, job) / max(limit, 1e-9), 1.0)
