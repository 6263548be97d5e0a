# SPDX-License-Identifier: BSD-3-Clause
"""What the groups of a cluster are called is remembered, until there is another one."""

from __future__ import annotations

from swftools.live import JobEvent
from tests.pipelines.service.asked import small_service


def test_a_queue_that_comes_is_there() -> None:
    """And names that come later are taken."""
    (cluster,) = small_service(of_each=3).clusters.values()
    assert cluster.groups() == cluster.groups() == {"batch": "batch", "night": "night"}
    cluster.learn(10_000.0, [JobEvent("submitted", 10_000.0, "new", groups={"queue": "7"})])
    assert cluster.groups() == {"7": "7", "batch": "batch", "night": "night"}
    cluster.predictor.names = {"queue": {7: "week"}}
    assert cluster.groups()["7"] == "week"


def test_jobs_that_are_one_group_have_no_names() -> None:
    """Whatever they are asked by."""
    (cluster,) = small_service(of_each=3, by=None).clusters.values()
    assert set(cluster.groups()) == {"all"}
