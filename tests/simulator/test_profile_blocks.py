# SPDX-License-Identifier: BSD-3-Clause
"""A profile of many steps, in many blocks, against one number for each second."""

from __future__ import annotations

import numpy as np
import pytest

from swftools.simulator.profile import BLOCKS, add, carry_profile, clear, earliest, empty_profile, free_at, least
from tests.examples import by_day

SECONDS = 700


def naive_earliest(seconds: np.ndarray, processors: int, duration: int) -> float:
    """Return the first second from which so many are free for a duration; beyond the last all is as in the last."""
    padded = np.concatenate([seconds, np.full(duration, seconds[-1])])
    return next(float(t) for t in range(SECONDS) if (padded[t : t + duration] >= processors).all())


@pytest.mark.parametrize("seed", by_day(range(3), 1))
def test_many_steps(seed: int) -> None:
    """Blocks are halved as steps come, one a second in the end, and united as they go."""
    rng = np.random.default_rng(seed)
    profile, seconds = empty_profile(SECONDS), np.full(SECONDS, 1000)
    clear(profile, 0.0, 1000)
    done = []
    most = 0
    for turn in range(1600):
        if turn < 800:
            begin = int(rng.integers(0, SECONDS - 1))
            end = min(begin + int(rng.choice([1, 2, 40, 400])), SECONDS - 1)
            change = int(rng.choice([-7, -2, 3]))
            done.append((begin, end, change))
        else:  # all is taken back, in another order
            begin, end, change = done.pop(int(rng.integers(len(done))))
            change = -change
        add(profile, float(begin), float(end), change)
        seconds[begin:end] += change
        most = max(most, int(profile.counts[BLOCKS]))
        if turn % 40 == 0:
            assert [free_at(profile, float(t)) for t in range(SECONDS)] == seconds.tolist()
            taken_along = empty_profile(SECONDS)
            carry_profile(profile, taken_along)
            assert [free_at(taken_along, float(t)) for t in range(SECONDS)] == seconds.tolist()
            assert earliest(taken_along, 990, 20.0, np.inf) == earliest(profile, 990, 20.0, np.inf)
            assert least(taken_along, 300.0) == least(profile, 300.0)
            add(taken_along, 3.0, 500.0, -5)
            assert free_at(taken_along, 250.0) == seconds[250] - 5
        end, processors, duration = (int(rng.integers(1, high)) for high in (SECONDS, 1000, 60))
        assert least(profile, float(end)) == seconds[:end].min()
        processors = int(np.quantile(seconds, rng.random()))
        if seconds[-1] >= processors:
            assert earliest(profile, processors, float(duration), np.inf) == naive_earliest(
                seconds, processors, duration
            )
    assert most > 10
    assert profile.counts[BLOCKS] == 1
    assert free_at(profile, 0.0) == 1000
