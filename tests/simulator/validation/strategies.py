# SPDX-License-Identifier: BSD-3-Clause
"""What Hypothesis draws for the tests of the validator."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from swftools import Trace


@st.composite
def workloads(draw: st.DrawFn, exact: bool = False) -> Trace:
    """Draw a trace that loads a machine of 1 to 8 processors; many jobs come, end, or run for no time, at once."""
    size = draw(st.integers(1, 8))
    count = draw(st.integers(0, 20))

    def numbers(least: int, most: int) -> list[int]:
        return draw(st.lists(st.integers(least, most), min_size=count, max_size=count))

    run, more = np.array(numbers(0, 12)), np.array(numbers(0, 8))
    return Trace.from_columns(
        machine_processors=size,
        job_number=draw(st.permutations(range(1, count + 1))),
        submit_time=np.sort(numbers(0, 40)),
        run_time=run,
        requested_time=run if exact else run + more * draw(st.sampled_from([1, 10])),
        requested_processors=numbers(1, size),
    )
