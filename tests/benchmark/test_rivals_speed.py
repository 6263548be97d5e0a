# SPDX-License-Identifier: BSD-3-Clause
"""Rivals of QBETS: what is known at submissions, and whole replays."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import swftools
from swftools.qbets import features_at_submission, list_rivals, replay
from tests.benchmark.conftest import BLUE

pytestmark = pytest.mark.benchmark(group="predict")


@pytest.fixture(scope="module")
def sdsc_blue(shared: Path) -> swftools.Trace:
    """The whole log, cleaned."""
    return swftools.clean(swftools.read_swf(shared / "traces" / BLUE))[0]


def test_features(benchmark: BenchmarkFixture, sdsc_blue: swftools.Trace) -> None:
    """Of all jobs, the table among it."""
    benchmark.pedantic(features_at_submission, (sdsc_blue,), rounds=3, warmup_rounds=1)
    benchmark.extra_info["jobs/s"] = round(len(sdsc_blue) / benchmark.stats.stats.min)


@pytest.mark.parametrize("method", sorted(list_rivals()))
def test_replay(benchmark: BenchmarkFixture, sdsc_blue: swftools.Trace, method: str) -> None:
    """The whole log by queue, 243 fits: at most five minutes are asked for."""
    benchmark.pedantic(replay, (sdsc_blue, method), rounds=1)
    benchmark.extra_info["predictions/s"] = round(len(sdsc_blue) / benchmark.stats.stats.min)
