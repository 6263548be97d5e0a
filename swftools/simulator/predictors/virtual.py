# SPDX-License-Identifier: BSD-3-Clause
"""Predictions with a given error.

References
----------
Yuan et al. 2010, "virtual" predictions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swftools.parameters import Parameters, number
from swftools.simulator.predictors.kinds import FloatArray
from swftools.simulator.predictors.registry import foretold


@dataclass(frozen=True)
class VirtualParameters(Parameters):
    """Parameters of ``virtual``.

    Parameters
    ----------
    error : float
        From 0 to 1.
    """

    error: float = number(0.5, least=0, most=1)


@foretold("virtual", parameters=VirtualParameters)
def virtual(
    run_time: FloatArray,
    limit: FloatArray,  # noqa: ARG001 (the request is not asked)
    parameters: VirtualParameters,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the run time times 1 + U(-error, error)."""
    predicted: FloatArray = run_time * (1 + rng.uniform(-parameters.error, parameters.error, len(run_time)))
    return predicted
