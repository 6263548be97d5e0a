# SPDX-License-Identifier: BSD-3-Clause
"""What is expected to come: by half hours over days, and what the model of Lublin and Feitelson sends."""

from __future__ import annotations

import numpy as np
import pytest

from swftools.models.daily_cycle import BUCKET, BUCKETS, DAY
from swftools.simulator import Simulation
from swftools.simulator.policies.class_line import CLASSES, MEDIUM, SHORT
from swftools.simulator.policies.expected_arrivals import expected_jobs, model_arrivals, no_arrivals
from swftools.simulator.policies.scojo_p import ScojoParameters, scojo_memory
from tests.drawn import draw_trace


def test_parts_of_half_hours_count_by_their_share() -> None:
    """Each half hour that a span overlaps gives its share of what comes in it, over several days too."""
    rng = np.random.default_rng(5)
    counts, days = rng.integers(0, 9, BUCKETS), 4.0
    known = no_arrivals(0)
    known.by_half_hour[BUCKETS + 1 : 2 * BUCKETS + 2] = np.concatenate(([0], np.cumsum(counts)))
    known.days[0] = days
    machine = Simulation(draw_trace("submit run width / 0 1 1", processors=1), "fcfs")._machine
    for begin, length in rng.uniform(0, 3 * DAY, (50, 2)):
        machine.clock[0] = begin
        half_hours = np.arange(6 * BUCKETS)
        overlap = np.minimum(begin + length, (half_hours + 1) * BUCKET) - np.maximum(begin, half_hours * BUCKET)
        expected = (counts[half_hours % BUCKETS] * np.maximum(overlap, 0) / BUCKET).sum() / days
        assert expected_jobs(machine, known, MEDIUM, length) == pytest.approx(expected)
        assert expected_jobs(machine, known, SHORT, length) == 0.0


def test_what_the_model_sends() -> None:
    """A job each 911 s in the mean, 12.15 wide, eleven times as many in the fullest half hour as in the emptiest."""
    known = model_arrivals(128, 10.23, 60.0, 3600.0)
    of_classes = known.by_half_hour.reshape(CLASSES, BUCKETS + 1)
    number = known.curves.sum()
    assert number == of_classes[:, -1].sum()
    assert known.days[0] * DAY / number == pytest.approx(911.3, rel=0.03)
    assert known.size.sum() / number == pytest.approx(12.15, rel=0.02)
    by_half_hour = np.diff(of_classes.sum(axis=0))
    assert by_half_hour.max() / by_half_hour.min() == pytest.approx(1.83 / 0.165, rel=0.1)


def test_a_run_does_not_write_to_what_is_kept_of_the_model() -> None:
    """It is made once, and copied for each run."""
    parameters = ScojoParameters(profiles="model")
    scojo_memory(1, 128, parameters).arrivals.size[:] = 0.0
    assert (scojo_memory(1, 128, parameters).arrivals.size > 0.0).all()
