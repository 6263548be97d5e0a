# SPDX-License-Identifier: BSD-3-Clause
"""Whether jobs together need more than a machine has."""

from __future__ import annotations

import numpy as np

from swftools.formats.accounting.ledger import Part
from swftools.kernel import FloatArray


def joined_column(parts: list[Part], name: str) -> FloatArray:
    """Return a column of all parts."""
    nothing = [np.full(len(part.line), np.nan) for part in parts]
    return np.concatenate([part.numbers.get(name, none) for part, none in zip(parts, nothing, strict=True)])


def demand(start: FloatArray, end: FloatArray, width: FloatArray, most: int) -> tuple[float, int]:
    """Return how many processors jobs have at once at most, and how many jobs start while that is too many."""
    known = np.isfinite(start) & np.isfinite(end) & np.isfinite(width) & (end > start)
    if not known.any():
        return 0.0, 0
    times = np.concatenate([start[known], end[known]])
    change = np.concatenate([width[known], -width[known]])
    order = np.lexsort((change, times))  # what ends makes room for what starts at the same time
    used = np.cumsum(change[order])
    over = (used > most) & (change[order] > 0)
    return float(used.max()), int(over.sum())
