"""User estimates of run times as an augmentation."""

from __future__ import annotations

import pandas as pd

from pipelines.tasks.augmentations.registry import Augmentation
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
