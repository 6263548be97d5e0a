# SPDX-License-Identifier: BSD-3-Clause
"""The user's own request is what policies are told: no prediction."""

from __future__ import annotations

from swftools.simulator.predictors.kinds import FloatArray
from swftools.simulator.predictors.registry import foretold


@foretold("request")
def request(run_time: FloatArray, limit: FloatArray) -> FloatArray:  # noqa: ARG001 (the truth is not told)
    """Return the requests."""
    return limit
