# SPDX-License-Identifier: BSD-3-Clause
"""What users answer when they are asked again, and no job is killed for it: synthetic, after Lee's survey.

The request stays the limit of a job. Only the time that policies are told is shorter, so a job may outlive it.

References
----------
Lee 2009, "On the user-scheduler relationship in high-performance computing", section 5.3.1.
"""

from __future__ import annotations

from swftools.models.tightened_requests import DRAWS, STEP, TighteningParameters, tightened_times
from swftools.simulator.predictors.kinds import FloatArray, Keyed
from swftools.simulator.predictors.registry import foretold


@foretold("tightened", parameters=TighteningParameters)
def tightened(run_time: FloatArray, limit: FloatArray, parameters: TighteningParameters, keyed: Keyed) -> FloatArray:
    """Return the tightened requests: those of ``tighten_requests`` with the same seed."""
    return tightened_times(limit, run_time, keyed(STEP, DRAWS), parameters)
