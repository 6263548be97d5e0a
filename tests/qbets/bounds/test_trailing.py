# SPDX-License-Identifier: BSD-3-Clause
"""The quantile of the last waits: as numpy computes it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.errors import ParameterError
from swftools.qbets.bounds.trailing import TrailingQuantile


@given(
    st.lists(st.integers(0, 20) | st.floats(0, 1e9), min_size=1, max_size=60),
    st.integers(1, 25),
    st.sampled_from([0.01, 0.5, 0.95, 0.99]),
)
def test_as_numpy(waits: list[float], window: int, quantile: float) -> None:
    """After each wait, of those in the window; equal ones too."""
    bound = TrailingQuantile(quantile, window).fit([])
    assert np.isnan(bound.predict())
    for count, wait in enumerate(waits, start=1):
        last = waits[max(count - window, 0) : count]
        assert bound.update([wait]).predict() == pytest.approx(np.quantile(last, quantile), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("beside", [-1, 1])
def test_a_state_of_another_length_is_refused(beside: int) -> None:
    """Its kernels would look beside it."""
    bound = TrailingQuantile(0.5, 3)
    bound.check_state(np.zeros(bound.places(0)), 0)
    with pytest.raises(ValueError, match=f"where {bound.places(0)} are needed"):
        bound.check_state(np.zeros(bound.places(0) + beside), 0)


@pytest.mark.parametrize("window", [0, 1.5, True, 10**7])
def test_what_is_refused(window: float) -> None:
    """A window that is none."""
    with pytest.raises(ParameterError, match="window="):
        TrailingQuantile(window=window).fit([1.0])  # type: ignore[arg-type]
