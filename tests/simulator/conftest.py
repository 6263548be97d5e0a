# SPDX-License-Identifier: BSD-3-Clause
"""What tests of the simulator share."""

from __future__ import annotations

import pytest


@pytest.fixture(params=[True, False], ids=str)
def compiled(request: pytest.FixtureRequest) -> bool:
    """How to simulate; see ``interpreted_as_said``."""
    return bool(request.param)
