# SPDX-License-Identifier: BSD-3-Clause
"""Saved states for tests of reservations: of waits as they are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from swftools import Trace
from swftools.qbets import WaitPredictor


def log_of_waits(waits: Any, requested_time: Any = 3600, every: float = 1e6, **columns: Any) -> Trace:
    """Return a log whose jobs wait so long, s; each starts before the next one comes."""
    count = len(waits)
    return Trace.from_columns(
        job_number=range(1, count + 1),
        submit_time=np.arange(count) * every,
        wait_time=waits,
        run_time=[60] * count,
        requested_time=np.broadcast_to(requested_time, count),
        requested_processors=[1] * count,
        **columns,
    )


def save_state(folder: Path, log: Trace, method: Any = "binomial", **options: Any) -> Path:
    """Return a file with what was learnt of a log: of one group, untrained and unclustered unless it is asked."""
    usual: dict[str, Any] = {"by": None, "training": 0, "clustering": False, "availability": False}
    predictor = WaitPredictor(method, **{**usual, **options})
    predictor.replay(log)
    predictor.save(folder / "state")
    return folder / "state"
