# SPDX-License-Identifier: BSD-3-Clause
"""Agents that tests share, and policies that are gone when a test is over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from swftools.simulator import registry


@contextmanager
def policies_of_a_test() -> Iterator[None]:
    """Forget afterwards what was registered within."""
    names = registry.POLICIES
    known, sources = dict(names.known), dict(names._sources)
    try:
        yield
    finally:
        for now, before in ((names.known, known), (names._sources, sources)):
            now.clear()
            now.update(before)  # type: ignore[arg-type]


def by_hash(seen: Any, mask: Any) -> int:
    """Take any allowed action; always the same where the same is seen."""
    allowed = np.flatnonzero(mask)
    return int(allowed[int(1e6 * float(np.asarray(seen, np.float64).sum())) % len(allowed)])


class Widest:
    """What has ``predict`` as models of sb3-contrib have."""

    def predict(self, observation: Any, action_masks: Any = None, deterministic: bool = False) -> tuple[Any, None]:
        """Take the widest job that is allowed; wait where there is none."""
        assert deterministic
        assert action_masks.dtype == bool
        width = np.where(action_masks[:-1], observation[:-1, 0], -1.0)
        return np.array(width.argmax() if width.max() > 0 else len(action_masks) - 1), None


class Unmasked:
    """What has ``predict`` as models without masks have: it takes the first row, whatever it is."""

    def predict(self, observation: Any, state: Any = None, deterministic: bool = False) -> tuple[int, None]:
        """Take the first job."""
        assert observation.ndim == 2
        return 0, state
