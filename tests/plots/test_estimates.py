# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of requests: what of them is used, how inaccurate they are by group, how they are tightened."""

from __future__ import annotations

import numpy as np
import pytest

from swftools.errors import ParameterError
from swftools.header import SwfHeader
from swftools.models.tightened_requests import tighten_requests
from swftools.output.amounts import percent
from swftools.plots import caption, data
from swftools.trace import Trace
from tests.plots.odd import ODD, drawn_at_both_sizes, words_on


def trace_of(requested: list[float], run_time: list[float], **columns: list[int]) -> Trace:
    """Return jobs by requested and run time, in queues of odd names."""
    header = SwfHeader.from_lines([f"; Queue: {number} {name}" for number, name in enumerate(ODD)])
    numbers = np.arange(len(requested))
    return Trace.from_columns(header, job_number=numbers, requested_time=requested, run_time=run_time, **columns)


def test_used() -> None:
    """A bar a tenth as high as its share, one for all and one for more; jobs that say nothing are left out."""
    trace = trace_of([100, 100, 100, 100, 0, 100], [0, 5, 15, 100, 9, 101])
    found = data(trace, "used")
    assert found["jobs"].tolist() == [2, 1, *[0] * 8, 1, 1]
    heights = [bar.get_height() for bar in drawn_at_both_sizes(trace, "used").patches]
    assert heights == [40, 20, *[0] * 8, 20, 20]
    assert caption(trace, "used") == (
        "Used share of the request: of 5 jobs 40.0 % used less than a tenth, 60.0 % less than a fifth, "
        "40.0 % all of it or more"
    )


def test_inaccuracy_by_class() -> None:
    """A bar a class as long as its mean, with a line from quartile to quartile."""
    trace = trace_of([600, 600, 600, 3600], [60, 300, 600, 3600])
    axes = drawn_at_both_sizes(trace, "inaccuracy")
    assert [bar.get_width() for bar in axes.patches] == [pytest.approx(140 / 3), 0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["up to 10 min", "10 min to 1 h"]
    assert data(trace, "inaccuracy")[["p25", "p75"]].iloc[0].tolist() == [0.25, 0.7]
    assert caption(trace, "inaccuracy") == (
        "Inaccuracy of requested times: largest for requested time up to 10 min (46.7 % in the mean), least for "
        "requested time 10 min to 1 h (0 % in the mean)"
    )
    assert caption(trace, "inaccuracy", by="user").endswith("user unknown (35.0 % in the mean), the only one shown")


def test_only_groups_of_most_jobs_have_bars() -> None:
    """They keep their order; names of queues are shown as they are."""
    trace = trace_of([100] * 6, [10] * 6, queue_id=[2, 2, 0, 0, 1, 3])
    assert [name[:1] for name in data(trace, "inaccuracy", by="queue", most=2)["group"]] == ["0", "2"]
    words_on(drawn_at_both_sizes(trace, "inaccuracy", by="queue"))
    with pytest.raises(ParameterError, match="by='colour'"):
        data(trace, "inaccuracy", by="colour")


def test_tightening() -> None:
    """What is drawn are the decreases of the synthetic answers of a seed; short requests stay, and make no picture."""
    trace = trace_of([7200.0] * 300, [720.0] * 300)
    answers = tighten_requests(trace, 4)["tightened_time"]
    decrease = 1 - answers[answers < 7200] / 7200
    found = data(trace, "tightening", seed=4)
    assert found["jobs"].tolist() == np.histogram(decrease, np.arange(11) / 10)[0].tolist()
    assert found["mean_decrease"].iloc[0] == pytest.approx(decrease.mean())
    heights = [bar.get_height() for bar in drawn_at_both_sizes(trace, "tightening", seed=4).patches]
    assert sum(heights) == pytest.approx(100)
    said = caption(trace, "tightening", seed=4)
    assert said.startswith(
        f"Requests tightened (synthetic): {percent(len(decrease), 300, digits=1)} of the requests of 300 jobs"
    )
    assert caption(trace, "tightening", seed=5) != said
    assert caption(trace_of([60.0] * 9, [1.0] * 9), "tightening").endswith("no request that is tightened")
