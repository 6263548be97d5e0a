# SPDX-License-Identifier: BSD-3-Clause
"""Other arrivals as an augmentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from pipelines.tasks.augmentations.registry import Augmentation
from swftools.models.arrivals import ArrivalParameters, fit_factor, generate_arrivals, scale_arrivals
from swftools.trace import Trace


class AddArrivals(Augmentation):
    """Generate another submission time for every job, by an arrival model."""

    name = "arrivals"
    code_version = 1
    parameters_class = ArrivalParameters

    def compute(self, trace: Trace) -> pd.DataFrame:
        """Return model_submit_time."""
        return generate_arrivals(trace, self.chosen)

    def why_not_fixed(self) -> str:
        """Return why no factor can be fixed where the model is one process over all jobs."""
        if self.chosen.model == "scaled":
            return ""
        return (
            f"model {self.chosen.model} gives the n-th of its times to the n-th job, so that one that comes late would "
            "move all behind it; model=scaled can be had"
        )

    def fit(self, trace: Trace) -> dict[str, Any]:
        """Return the factor that was given, or that gives the load."""
        return {"factor": fit_factor(trace, self.chosen)}

    def compute_fixed(self, trace: Trace, fitted: Mapping[str, Any]) -> pd.DataFrame:
        """Return model_submit_time: each job's own submission, times the factor."""
        return scale_arrivals(trace, fitted["factor"])
