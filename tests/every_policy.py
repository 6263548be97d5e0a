# SPDX-License-Identifier: BSD-3-Clause
"""The policies of the package, for tests that hold of every one, and jobs with all that any of them asks for."""

from __future__ import annotations

import numpy as np
import pandas as pd

from swftools import Trace
from swftools.fields.definition import UTILITY
from swftools.models.moldability import SpeedupParameters, generate_speedup
from swftools.simulator.registry import list_policies
from swftools.utility.functions import UtilityFunctions

OURS = sorted(
    name
    for name, made in list_policies().items()
    if made.decide.__module__.startswith("swftools.") and not made.has_setting
)
"""The names of those that decide on a pool too."""

CHANGE_RUN_TIMES = frozenset({"genetic-checkpoint", "scojo-p", "cirne-berman"})
"""Those that do some work twice, or run a job at another width than its own."""

_LIGHT = {
    "genetic": "genetic:generations=1,individuals=6,most_jobs=8",
    "genetic-checkpoint": "genetic-checkpoint:generations=1,individuals=6,most_jobs=8",
}


def light(name: str) -> str:
    """Return a policy with parameters under which a test may run it interpreted, and often; most as they are."""
    return _LIGHT.get(name, name)


def with_all_columns(trace: Trace, *, seed: int = 0, moldable_share: float = 0.8) -> Trace:
    """Return a trace whose jobs have what it lacks of the columns that policies ask for."""
    rng = np.random.default_rng(seed)
    count, missing = len(trace), {}
    if "priority_rank" not in trace.jobs:
        missing["priority_rank"] = pd.array(rng.integers(0, 3, count), dtype="Int64")
    if "checkpoint_interval" not in trace.jobs:
        intervals = rng.choice([5.0, 20.0, 60.0, np.nan], count)
        missing["checkpoint_interval"] = pd.array([None if np.isnan(s) else s for s in intervals], dtype="Float64")
    if "utility" not in trace.jobs:
        spans, heights = (
            2.0 ** rng.integers(2, 12, (count, 2)),
            np.sort(rng.integers(0, 9, (count, 3)), axis=1)[:, ::-1],
        )
        points = [
            [(0.0, float(high)), (first, float(middle)), (first + second, float(low))]
            for (first, second), (high, middle, low) in zip(spans, heights, strict=True)
        ]
        odd = rng.random(count) < 0.1
        functions = UtilityFunctions.from_points([] if out else each for out, each in zip(odd, points, strict=True))
        missing["utility"] = pd.Series(functions.to_arrow(), trace.jobs.index, dtype=pd.ArrowDtype(UTILITY))
    if "speedup_curve" not in trace.jobs:
        missing |= dict(generate_speedup(trace, SpeedupParameters(seed=seed, moldable_share=moldable_share)).items())
    return trace.with_jobs(trace.jobs.assign(**missing))
