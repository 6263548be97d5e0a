# SPDX-License-Identifier: BSD-3-Clause
"""A job that is asked about: whether it is one, and where it stands among those that wait."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError


def check_time_and_priority(job: Mapping[str, Any], waiting: pd.DataFrame) -> None:
    """Raise ParameterError where a job's time is none, or its priority has no place among those that wait."""
    if not 0 < job["requested_time"] < np.inf:
        raise ParameterError(f"job {job}: requested_time is not above 0")
    if "priority" not in job:
        return
    if not 0 < job["priority"] < np.inf:
        raise ParameterError(f"job {job}: priority is not above 0")
    if len(waiting) and ("priority" not in waiting or waiting["priority"].isna().all()):
        raise ParameterError(
            f"job {job}: the jobs that wait have no priorities, so it has no place among them; leave its priority out, "
            "or give a queue that has them (squeue: %Q)"
        )
    if len(waiting) and waiting["priority"].max() < 1.0 <= job["priority"]:
        raise ParameterError(
            f"job {job}: the priorities of the jobs that wait are all below 1, as squeue's %p has them; give a queue "
            "with those of %Q"
        )


def with_job(waiting: pd.DataFrame, job: Mapping[str, Any], priority: float | None) -> tuple[pd.DataFrame, int]:
    """Return those that wait with a job at the place of its priority, the last without one; and that place.

    It counts as submitted when the next of them was.
    """
    ahead = len(waiting)
    if priority is not None and len(waiting):
        ahead = int((waiting["priority"] >= priority).sum())
    waited = float(waiting["waited"].iloc[ahead]) if ahead < len(waiting) else 0.0
    mine = pd.DataFrame({**{name: [value] for name, value in job.items()}, "waited": [waited]})
    parts = [waiting.iloc[:ahead], mine, waiting.iloc[ahead:]]
    return pd.concat([part for part in parts if len(part)], ignore_index=True), ahead
