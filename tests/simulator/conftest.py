# SPDX-License-Identifier: BSD-3-Clause
"""What tests of the simulator share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.interpreted import all_interpreted


@pytest.fixture(params=[True, False], ids=str)
def compiled(request: pytest.FixtureRequest) -> Iterator[bool]:
    """How to simulate; if not compiled, all kernels that Python calls are interpreted too."""
    with all_interpreted(not request.param):
        yield request.param
