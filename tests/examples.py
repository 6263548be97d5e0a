# SPDX-License-Identifier: BSD-3-Clause
"""How many examples Hypothesis draws for a test: by the profile, 20 by day and 200 at night, and shares of these."""

from __future__ import annotations

from hypothesis import settings


def examples(share: float) -> settings:
    """Return settings with so many times the examples of the profile: fewer where each takes long."""
    return settings(max_examples=max(round(share * settings.default.max_examples), 1))
