# SPDX-License-Identifier: BSD-3-Clause
"""Drift: how far the jobs of the last weeks are from those of the year before.

``measure_drift`` compares both windows aspect by aspect (``aspects.py``), by statistics that are registered by name
(``statistics.py``).
"""

import swftools.drift.statistics  # noqa: F401 (imported for what it registers)
from swftools.drift.aspects import Aspect, list_drift_aspects
from swftools.drift.measurement import JOB_COLUMNS, measure_drift
from swftools.drift.registry import DriftStatistic, drift_statistic, list_drift_statistics
from swftools.drift.sample import Sample

__all__ = [
    "JOB_COLUMNS",
    "Aspect",
    "DriftStatistic",
    "Sample",
    "drift_statistic",
    "list_drift_aspects",
    "list_drift_statistics",
    "measure_drift",
]
