# SPDX-License-Identifier: BSD-3-Clause
"""Reservations that were met, by the share of jobs that ask: what is drawn, and what is said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from swftools.errors import ParameterError
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
        "75 % promised, and kept less often from 50 % of the jobs on; 95 % promised, and kept as often whatever share "
        "of the jobs asks"
    )


def test_waits_of_the_others() -> None:
    """Their mean over that where nobody reserves; without the columns one clear error."""
    with pytest.raises(ParameterError, match="lacks the columns others_mean_wait, others_mean_wait_plain"):
        data(FOUND, "reserved", shows="others")
    found = FOUND.assign(others_mean_wait=[300, 90, 110, 50, 10], others_mean_wait_plain=[100, 100, 100, 0, 10])
    table = data(found, "reserved", shows="others")
    assert table[["target", "share", "ratio"]].values.tolist() == [[0.75, 0.1, 0.9], [0.75, 0.5, 3.0], [0.95, 0.1, 1.1]]
    axes = drawn_at_both_sizes(found, "reserved", shows="others")
    assert legend_of(axes) == ["0.75 asked for", "0.95 asked for"]
    assert axes.get_ylim()[0] == 0.0
    assert caption(found, "reserved", shows="others").endswith(
        "0.75: the others wait 0.90 to 3.00 times as long as without any; "
        "0.95: the others wait 1.10 to 1.10 times as long as without any"
    )
