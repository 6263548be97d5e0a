# SPDX-License-Identifier: BSD-3-Clause
"""What tests of bounds share: waits as Hypothesis draws them, and bounds read off after each wait."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from swftools.kernel import FloatArray
from swftools.qbets.bounds import Bound
from swftools.qbets.bounds.registry import compiled_add_waits

WAITS = st.one_of(
    st.integers(0, 5).map(float),  # ties, and no wait at all
    st.integers(0, 10**6).map(float),
    st.floats(1e-300, 1e300),
)


def bounds_after_each(bound: Bound, waits: Iterable[float]) -> list[Any]:
    """Return what a bound says when it knows no wait, one, two, and so on, told one by one."""
    bound.fit([])
    return [bound.predict(), *(bound.update([wait]).predict() for wait in waits)]


def bounds_of_samples(bound: Bound, samples: FloatArray) -> FloatArray:
    """Return the bounds of each row of waits, a column each.

    They are learnt into one state that is zeroed for each row, as a replay does.
    """
    add, kernel, learn = bound.compiled_add(), bound.compiled_bound(), compiled_add_waits()
    columns = []
    for facts in bound.facts(samples.shape[1]):
        state = np.zeros(bound.places(samples.shape[1]))
        columns.append(np.empty(len(samples)))
        for row, waits in enumerate(samples):
            state[:] = 0.0
            learn(add, state, facts, waits)
            columns[-1][row] = kernel(state, facts)
    return np.column_stack(columns)
