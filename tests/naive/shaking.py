# SPDX-License-Identifier: BSD-3-Clause
"""Shaken submissions, the slow obvious way: numpy's own generator, one job at a time."""

from __future__ import annotations

import numpy as np

from swftools.keyed_random import step_key


def naive_shift(seed: int, number: int, occurrence: int, seconds: int) -> int:
    """Return by how many seconds a job is moved."""
    key, counter = np.array([seed, step_key("shaking")], np.uint64), np.array([0, number, occurrence, 0], np.int64)
    rng = np.random.Generator(np.random.Philox(key=key, counter=counter.astype(np.uint64)))
    return int(rng.random() * (seconds + 1))
