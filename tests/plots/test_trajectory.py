# SPDX-License-Identifier: BSD-3-Clause
"""The probability of a start in time by submission: what is drawn, and what is said."""

from __future__ import annotations

import numpy as np

from swftools.plots import caption, data
from swftools.reservations import Trajectory
from tests.plots.odd import drawn_at_both_sizes, legend_of

DRAWN = Trajectory(
    1000.0,
    np.array([0.0, 400.0, 700.0, 900.0]),
    np.array([1100.0, 700.0, 400.0, 200.0]),
    np.array([40, 70, 70, 10]),
    np.array([False, True, True, True]),
).table()


def test_the_table_by_hand() -> None:
    """Requests that the queue does not take are left out; who meets the target is marked."""
    table = data(DRAWN, "trajectory", probability=0.7)
    assert table["ahead"].tolist() == [600.0, 300.0, 100.0]
    assert table["is_met"].tolist() == [True, True, False]


def test_what_is_drawn_and_said() -> None:
    """A curve, and the latest submission that meets what is asked for."""
    axes = drawn_at_both_sizes(DRAWN, "trajectory", probability=0.5)
    assert axes.lines[0].get_ydata().tolist() == [0.7, 0.7, 0.1]  # type: ignore[union-attr]
    assert axes.get_xlim() == (600.0, 0.0)
    assert (axes.lines[2].get_xdata().tolist(), axes.lines[2].get_ydata().tolist()) == ([300.0], [0.7])  # type: ignore[union-attr]
    assert legend_of(axes) == ["asked for", "submission that is taken"]
    assert drawn_at_both_sizes(DRAWN, "trajectory").get_legend() is None
    best = "Probability of a start in time, by submission: at most 0.70, by a submission 5 min before the start"
    assert caption(DRAWN, "trajectory") == best
    assert caption(DRAWN, "trajectory", probability=0.9) == f"{best}; no submission meets 0.9"
    assert caption(DRAWN, "trajectory", probability=0.05).endswith(
        "; the latest that meets 0.05 is 100 s before it, requesting 3.33 min"
    )
