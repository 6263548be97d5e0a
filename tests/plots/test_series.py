# SPDX-License-Identifier: BSD-3-Clause
"""What pictures of several methods share: looks that differ, legends that fit, counts on logarithmic axes."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from swftools.plots.series import legend_above, look_at, queue_axis, share_interval
from swftools.plots.style import SIZES, count_axis, style
from swftools.simulator.search.explanation import draw_search


def test_looks_differ() -> None:
    """The first seven in their colour; twenty in something."""
    assert len({look_at(place)["color"] for place in range(7)}) == 7
    assert len({str(look_at(place)) for place in range(20)}) == 20


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ((15, 100), ["20", "50", "100"]),
        ((0.5, 3000), ["1", "10", "100", "1,000"]),
        ((0.05, 1), ["0.05", "0.1", "0.2", "0.5", "1"]),
    ],
)
def test_counts_on_a_logarithmic_axis(limits: tuple[float, float], expected: list[str]) -> None:
    """As they are written, and some of them on an axis of a power of ten too."""
    with style():
        axes = Figure().add_subplot()
        axes.set(yscale="log", ylim=limits)
        count_axis(axes, "y")
        axes.figure.savefig(BytesIO(), format="png")
    ticks = [*axes.yaxis.get_major_ticks(), *axes.yaxis.get_minor_ticks()]
    shown = {tick.get_loc(): tick.label1.get_text() for tick in ticks if limits[0] <= tick.get_loc() <= limits[1]}
    assert [shown[place] for place in sorted(shown) if shown[place]] == expected


def test_legends_and_queues_have_the_room_there_is() -> None:
    """As many entries side by side as fit, one at the end; names of queues upright, and cut off in a column."""
    columns, names = [], []
    for size in SIZES:
        with style(size):
            axes = SIZES[size].new_axes(0.5)
            for name in ("last", *"abcdefg"):
                axes.plot([0], [0], label=name * 5)
            legend_above(axes, last="last" * 5)
            queue_axis(axes, ["1", "a long name of a queue", "another such name", "and one more of them"])
        legend = axes.get_legend()
        assert legend is not None
        assert legend.get_texts()[-1].get_text() == "last" * 5
        columns.append(legend._ncols)  # type: ignore[attr-defined]
        names.append([label.get_text() for label in axes.get_xticklabels()])
        assert {label.get_rotation() for label in axes.get_xticklabels()} == {90}
    assert columns[0] > columns[1] >= 1
    assert names[0][1] == "a long name of a queue"
    assert names[1][1] == "a long n.."


def test_a_search_is_drawn_without_formulas() -> None:
    """A style has none, so that powers of ten on its logarithmic axis stand as numbers."""
    measures = pd.DataFrame({"measure": ["avgX"], "heuristic": [3.0], "best": [1.0]})
    times = ["planned_start", "end", "heuristic_planned_start", "heuristic_end"]
    jobs = pd.DataFrame(columns=["job_number", "processors", "is_started", *times]).astype(dict.fromkeys(times, float))
    running = pd.DataFrame({"job_number": [1], "processors": [2], "expected_end": [60.0]})
    improvements = pd.DataFrame({"nodes": [10, 1000], "avgX": [3.0, 1.0]})
    with style():
        figure = draw_search(0.0, 4, 1000, "order of lxf", "placements", measures, jobs, running, improvements)
        figure.savefig(BytesIO(), format="png")
    words = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert "100" in words
    assert not any("$" in word for word in words)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_share_is_within_its_interval(share: float) -> None:
    """Of any number of waits, whatever is rounded: a bar that ends before its dot cannot be drawn."""
    count = np.arange(1.0, 3000.0)
    low, high = share_interval(np.full(len(count), share), count)
    assert ((low <= share) & (share <= high) & (high <= 1)).all()
