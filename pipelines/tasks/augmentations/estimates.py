# SPDX-License-Identifier: BSD-3-Clause
"""User estimates of run times as an augmentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from pipelines.tasks.augmentations.registry import Augmentation
from swftools.models.fixed_requested_times import FixedRequestedTimes, draw_requested_times, fit_requested_times
from swftools.models.requested_times import RequestedTimeParameters, generate_requested_times
from swftools.trace import Trace


class AddEstimates(Augmentation):
    """Generate a user's estimate of the run time for every job (Tsafrir, Etsion, Feitelson 2005)."""

    name = "estimates"
    code_version = 1
    parameters_class = RequestedTimeParameters

    def compute(self, trace: Trace) -> pd.DataFrame:
        """Return model_requested_time."""
        return generate_requested_times(trace, self.chosen)

    def why_not_fixed(self) -> str:
        """Return nothing: it can be."""
        return ""

    def fit(self, trace: Trace) -> dict[str, Any]:
        """Return the distinct estimates, and the chance of each."""
        return fit_requested_times(trace, self.chosen).to_mapping()

    def compute_fixed(self, trace: Trace, fitted: Mapping[str, Any]) -> pd.DataFrame:
        """Return model_requested_time, drawn by each job's run time and key."""
        return draw_requested_times(trace, FixedRequestedTimes.from_mapping(fitted), seed=self.chosen.seed)
