# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of a run are told by number, in whatever order they were taken."""

from __future__ import annotations

import numpy as np
import pytest

from swftools.simulator.nodes.placed import sort_numbers


@pytest.mark.parametrize("size", [0, 1, 2, 7, 40, 41, 300])
def test_numbers_are_sorted_however_they_stand(size: int) -> None:
    """Few by insertion, many that are far from their places as a heap; those beside them stay."""
    lot = np.random.default_rng(size)
    rising = np.arange(size, dtype=np.int32) * 2
    for numbers in (rising, rising[::-1], np.roll(rising, size // 3), lot.permutation(rising), rising // 7):
        given = np.concatenate([np.array([9, 8], np.int32), numbers, np.array([5, 4], np.int32)]).astype(np.int32)
        sort_numbers.py_func(given, 2, size)
        assert given.tolist() == [9, 8, *sorted(numbers.tolist()), 5, 4]
