# SPDX-License-Identifier: BSD-3-Clause
"""The mean run time of the user's last finished jobs; the request if too few have finished.

The original averages two jobs. If only one has finished, this predictor returns the request, like the simulator pyss.

References
----------
Tsafrir, Etsion and Feitelson 2007, "Backfilling using system-generated predictions rather than user runtime estimates".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.parameters import Parameters, whole
from swftools.simulator.machine.events import END, OUTLIVED, SUBMISSION
from swftools.simulator.machine.state import Machine
from swftools.simulator.machine.verbs import predict
from swftools.simulator.machine.work import work_done
from swftools.simulator.predictors.outlived import INCREMENTS, none_raised, outlived_parameter, raise_prediction
from swftools.simulator.predictors.registry import predictor


@dataclass(frozen=True)
class UserAverageParameters(Parameters):
    """Parameters of ``user-average``.

    Parameters
    ----------
    jobs : int
        How many of the user's last finished jobs are averaged.
    outlived : {"limit", "increments"}
        The new prediction of a job that outlives its prediction.
    """

    jobs: int = whole(2, least=1, most=1000)
    outlived: str = outlived_parameter()


class Finished(NamedTuple):
    """Which job of each user ended last, which of his before each job, -1 where none; how often each was raised."""

    last: npt.NDArray[np.int32]
    before: npt.NDArray[np.int32]
    raised: npt.NDArray[np.int8]


def none_finished(jobs: int, processors: int) -> Finished:  # noqa: ARG001 (as all memories)
    """Return the memory before any job has ended: there are no more users than jobs."""
    return Finished(np.full(jobs, -1, np.int32), np.full(jobs, -1, np.int32), none_raised(jobs))


@predictor(
    "user-average",
    parameters=UserAverageParameters,
    memory=none_finished,
    allocates=False,
    events=(SUBMISSION, OUTLIVED, END),
    version=1,
)
def user_average(event: int, machine: Machine, job: int, parameters: Any, memory: Finished) -> None:
    """Average the run times of the user's last finished jobs; requests of unknown users stay as they are."""
    user = machine.requests.user_id[job]
    if user < 0:
        return
    if event == SUBMISSION:
        total, count, earlier = 0.0, 0, memory.last[user]
        while count < parameters.jobs and earlier >= 0:
            total += work_done(machine, earlier)
            count += 1
            earlier = memory.before[earlier]
        if count == parameters.jobs:
            predict(machine, job, total / count)
    elif event == OUTLIVED and parameters.outlived == INCREMENTS:
        raise_prediction(machine, job, memory.raised)
    elif event == END:
        memory.before[job] = memory.last[user]
        memory.last[user] = job
