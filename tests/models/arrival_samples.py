# SPDX-License-Identifier: BSD-3-Clause
"""Every model of arrivals, and jobs for them, that the tests share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from swftools import SwfHeader, Trace
from swftools.models.arrivals import ArrivalParameters, generate_arrivals

NAME = "model_submit_time"

SCALED = ArrivalParameters(model="scaled", factor=2.0)
EACH = [
    *(ArrivalParameters(types=types) for types in ("all", "batch", "interactive", "mix")),
    ArrivalParameters(model="poisson"),
    ArrivalParameters(model="bootstrap"),
    SCALED,
]
"""Every model."""

each_model = pytest.mark.parametrize("parameters", EACH, ids=lambda chosen: f"{chosen.model}-{chosen.types}")
KEEPING = EACH[:5]
"""The models that keep the log's own rate to the second."""


def named(model: str, **parameters: Any) -> ArrivalParameters:
    """Return parameters of a model; scaled by 1 unless a load or a factor is given."""
    if model == "scaled" and not {"load", "factor"} & set(parameters):
        parameters["factor"] = 1.0
    return ArrivalParameters(model=model, **parameters)


def times_of(trace: Trace, parameters: ArrivalParameters) -> npt.NDArray[np.float64]:
    """Return the generated submissions, in the order of the rows."""
    times: npt.NDArray[np.float64] = generate_arrivals(trace, parameters)[NAME].to_numpy()
    return times


def jobs_at(*times: float, header: SwfHeader | None = None) -> Trace:
    """Make jobs submitted at these times, numbered from 1, of 100 s on 2 of 8 processors."""
    columns = {"run_time": [100] * len(times), "requested_processors": [2] * len(times)}
    numbers = list(range(1, len(times) + 1))
    return Trace.from_columns(header, machine_processors=8, job_number=numbers, submit_time=times, **columns)
