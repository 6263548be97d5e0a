# SPDX-License-Identifier: BSD-3-Clause
"""Reservations that were met, by the share of jobs that ask: what is drawn, and what is said."""

from __future__ import annotations

import numpy as np
import pandas as pd

from swftools.plots import caption, data
from tests.plots.odd import drawn_at_both_sizes, legend_of

FOUND = pd.DataFrame(
    {
        "share": [0.5, 0.1, 0.1, 0.5, 0.9],
        "target": [0.75, 0.75, 0.95, 0.95, 0.95],
        "accepted": [1000, 400, 50, 3, 0],
        "met": [0.6, 0.8, 0.9, 1.0, np.nan],
    }
)


def test_what_is_drawn_and_said() -> None:
    """A curve for each target, by share; where nothing was accepted there is no point."""
    table = data(FOUND, "reserved")
    assert table[["target", "share"]].values.tolist() == [[0.75, 0.1], [0.75, 0.5], [0.95, 0.1], [0.95, 0.5]]
    assert (table["low"] <= table["met"]).all()
    axes = drawn_at_both_sizes(FOUND, "reserved")
    assert legend_of(axes) == ["0.75 asked for", "0.95 asked for"]
    assert caption(FOUND, "reserved").endswith(
        "0.75: below by more than chance from 50% of the jobs on; 0.95: nowhere below by more than chance"
    )
