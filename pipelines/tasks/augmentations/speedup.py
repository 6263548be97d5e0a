# SPDX-License-Identifier: BSD-3-Clause
"""Speedup curves as an augmentation."""

from __future__ import annotations

import pandas as pd

from pipelines.tasks.augmentations.registry import Augmentation
from swftools.models.moldability import SpeedupParameters, generate_speedup
from swftools.trace import Trace


class AddSpeedup(Augmentation):
    """Generate a speedup curve, and the widths it may run on, for every job."""

    name = "speedup"
    code_version = 1
    stable_under_growth = True
    parameters_class = SpeedupParameters

    def compute(self, trace: Trace) -> pd.DataFrame:
        """Return the columns of which run_time(n) can be rebuilt."""
        return generate_speedup(trace, self.chosen)
