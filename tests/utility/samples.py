# SPDX-License-Identifier: BSD-3-Clause
"""Jobs and parameters that the tests of synthetic utility functions share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from swftools import Trace, UtilityFunctions, UtilityParameters

RANKS = {2: 0, 1: 1, 3: 2}
JOBS = 60_000


def many_jobs(**columns: Any) -> Trace:
    """Make jobs of 1 processor, 1 minute requested, 100 s of wait and 300 s of run, unless told otherwise."""
    usual: dict[str, Any] = {"wait_time": 100, "run_time": 300, "requested_time": 60, "requested_processors": 1}
    count = next((len(column) for column in columns.values() if np.ndim(column)), JOBS)
    whole = {"job_number": np.arange(1, count + 1), **usual, **columns}
    return Trace.from_columns(**{name: np.broadcast_to(values, count) for name, values in whole.items()})


def functions_of(generated: pd.DataFrame) -> UtilityFunctions:
    """Return the generated functions."""
    return UtilityFunctions.from_arrow(generated["utility"])


def only(kind: str, **parameters: Any) -> UtilityParameters:
    """Make parameters under which all functions are of one kind."""
    return UtilityParameters(decay_shares={kind: 1}, **parameters)
