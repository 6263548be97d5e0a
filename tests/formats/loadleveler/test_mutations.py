# SPDX-License-Identifier: BSD-3-Clause
"""Damaged listings: an error that a user can mend, or every step is told of."""

from __future__ import annotations

import io
import re
from contextlib import suppress

import pytest

from swftools import Trace, read_log
from swftools.errors import LogFormatError
from tests.examples import by_day
from tests.formats.loadleveler.test_twin import SAMPLES, text_of
from tests.formats.mutations import mutations

_STEP = re.compile(rb"^[ \t]*(={3,} +Job Step\b|-{3,} +Step\b).*?[=-]{3,}[ \t\r]*$", re.MULTILINE)


@pytest.mark.parametrize("seed", by_day(range(200), 25))
def test_nothing_is_lost(seed: int) -> None:
    """No damage brings anything but an error of ours or a trace in which each step is counted once."""
    text = mutations(text_of(SAMPLES[seed % len(SAMPLES)]), seed)
    with suppress(LogFormatError):  # whatever else is raised fails the test
        _check(text, read_log(io.BytesIO(text), "loadleveler", time_zone="America/Los_Angeles", processors_per_node=8))


def _check(text: bytes, trace: Trace) -> None:
    """Assert that each step of a listing was counted once, and that no job is what no job can be."""
    of_steps = trace.quarantine[~trace.quarantine["reason"].str.contains("not a record")]
    headers = len(_STEP.findall(text))
    assert len(trace) + len(of_steps) + len(trace.merged) == headers
    jobs = trace.jobs
    assert not (jobs["run_time"] < 0).any()
    assert not (jobs["wait_time"] < 0).any()
    assert not (jobs["allocated_processors"] < 0).any()
