# SPDX-License-Identifier: BSD-3-Clause
"""The new prediction for a job that outlives its prediction: its request, or a little more each time.

For predictors that observe; the engine's own rule is the request. An increment is work on the job's own width, as what
``predict`` says is. What was raised stays so when the job is stopped: that it did so much work is known, also if it is
lost, and the next increment is the one behind those that it had.

References
----------
Tsafrir, Etsion and Feitelson 2007, whose corrections "increments" are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from swftools.kernel import kernel
from swftools.parameters import choice
from swftools.simulator.machine.state import Machine
from swftools.simulator.machine.verbs import predict

LIMIT, INCREMENTS = range(2)
"""The ways as a predictor reads its parameter ``outlived``: the position of the word."""

STEPS = (60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0, 18000.0, 36000.0, 72000.0, 180000.0, 360000.0)
"""Seconds by which a prediction is raised, one after the other; behind the last comes the request."""


def outlived_parameter() -> str:
    """Declare the parameter ``outlived`` of a predictor."""
    declared: str = choice("limit", "increments")
    return declared


def none_raised(jobs: int) -> npt.NDArray[np.int8]:
    """Return how often the prediction of each job was raised, as it is at the beginning."""
    return np.zeros(jobs, np.int8)


@kernel(allocates=False)
def raise_prediction(machine: Machine, job: int, raised: npt.NDArray[np.int8]) -> None:
    """Expect a running job that outlived its prediction to need the next increment more, but not beyond its limit.

    ``raised``, which is how often that was done of each job, is changed. Of a job of which its limit was said nothing
    is said anew.
    """
    time, limit = machine.requests.requested_time[job], machine.requests.limit[job]
    if time >= limit:
        return
    if raised[job] < len(STEPS):
        predict(machine, job, time + STEPS[raised[job]])
        raised[job] += 1
    else:
        predict(machine, job, limit)
