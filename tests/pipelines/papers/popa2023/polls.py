# SPDX-License-Identifier: BSD-3-Clause
"""Polls for tests: the shipped excerpt, and a few rows of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd

from pipelines.catalog.reader import read_catalog
from pipelines.logs.tables import Tables, read_tables

DAY = 86_400
NOON = 1_619_870_400
"""Of 1 May 2021, s since 1970."""


@cache
def excerpt() -> Tables:
    """Return the shipped excerpt."""
    return read_tables(read_catalog().tables["mila-excerpt"])


def polls_of(waits: Sequence[Sequence[float]], missing: Sequence[int] = (), **columns: Sequence[float]) -> Tables:
    """Return polls of days with rows whose rests of waits are these, s; the first row of the excerpt for all else.

    ``missing`` are the places of days whose files are not here; ``columns`` have a value a row.
    """
    files = [f"jobs_x_2021-05-{day:02d}.csv" for day in range(1, len(waits) + 1)]
    found = [file for place, file in enumerate(files) if place not in missing]
    parts = [
        excerpt()
        .table.iloc[[0] * len(own)]
        .assign(
            file=files[day],
            poll_time=NOON + day * DAY,
            submit_time=NOON + day * DAY - 3600,
            wait_ahead=list(own),
            eligible_time=pd.Timestamp(NOON + day * DAY - 1800, unit="s").strftime("%Y-%m-%d %H:%M:%S"),
        )
        for day, own in enumerate(waits)
        if day not in missing
    ]
    table = pd.concat(parts, ignore_index=True)
    return Tables("x", files, found, table.assign(**{name: np.array(values) for name, values in columns.items()}))
