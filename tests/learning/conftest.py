# SPDX-License-Identifier: BSD-3-Clause
"""What is registered by a test of this room is gone with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.learning.agents import policies_of_a_test


@pytest.fixture(autouse=True)
def own_policies() -> Iterator[None]:
    """Policies of one test are not those of another."""
    with policies_of_a_test():
        yield
