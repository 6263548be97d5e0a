"""Other arrivals as an augmentation."""

from __future__ import annotations

import pandas as pd

from pipelines.tasks.augmentations.registry import Augmentation
from swftools.models.arrivals import ArrivalParameters, generate_arrivals
from swftools.trace import Trace


class AddArrivals(Augmentation):
    """Generate another submission time for every job, by an arrival model."""

    name = "arrivals"
    code_version = 1
    parameters_class = ArrivalParameters

    def compute(self, trace: Trace) -> pd.DataFrame:
        """Return model_submit_time."""
        return generate_arrivals(trace, self.chosen)
