# SPDX-License-Identifier: BSD-3-Clause
"""Two clusters in the midst of their log, and who asks them; files that need others have fixtures of these names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from pipelines.service.clusters import Cluster
from tests.pipelines.service.small_cluster import Hand
from tests.pipelines.service.two_clusters import asking, two_clusters


@pytest.fixture
def clock() -> Hand:
    """Where the log is in its midst: two jobs wait."""
    return Hand(12_000.0)


@pytest.fixture
def clusters(clock: Hand) -> list[Cluster]:
    """Two clusters of the same jobs."""
    return two_clusters(clock)


@pytest.fixture
def client(clusters: list[Cluster]) -> Iterator[TestClient]:
    """Who asks them."""
    with asking(clusters) as made:
        yield made
