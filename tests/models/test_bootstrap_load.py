# SPDX-License-Identifier: BSD-3-Clause
"""How far the load of bootstrapped arrivals is from the log's: as far as days differ, and there are few of them."""

from __future__ import annotations

import numpy as np
import pytest

from swftools import Trace
from swftools.models.arrivals import ArrivalParameters, apply_arrivals, generate_arrivals
from swftools.offered_work import offered_load
from swftools.selection import scale_to_load

DAY = 86_400


def log_of(days: int, spread: float) -> Trace:
    """Make a log of equal jobs at a load of 0.45, some hundred a day, lognormal in number with a spread (sigma)."""
    rng = np.random.default_rng(5)
    counts = np.maximum(np.rint(200 * rng.lognormal(0, spread, days)), 1).astype(int)
    submit = np.sort(np.repeat(np.arange(days), counts) * DAY + rng.integers(0, DAY, counts.sum()))
    submit[[0, -1]] = 0, days * DAY - 1
    work = 0.45 * 100 * (days * DAY - 1) / len(submit)
    return Trace.from_columns(
        machine_processors=100,
        job_number=range(len(submit)),
        submit_time=submit,
        requested_processors=[1] * len(submit),
        run_time=[work] * len(submit),
    )


def bootstrapped(trace: Trace, seed: int) -> Trace:
    """Return the trace at other arrivals."""
    generated = generate_arrivals(trace, ArrivalParameters(seed=seed, model="bootstrap"))
    return apply_arrivals(trace.with_jobs(trace.jobs.join(generated)))


@pytest.mark.parametrize(
    ("days", "spread", "least", "greatest"),
    [(90, 1.2, 0.34, 0.57), pytest.param(900, 0.5, 0.43, 0.46, marks=pytest.mark.slow)],
)
def test_the_load_varies_as_days_do(days: int, spread: float, least: float, greatest: float) -> None:
    """The time taken has the standard deviation over the mean that jobs a day have, by the root of the days."""
    trace = log_of(days, spread)
    assert 0.45 == pytest.approx(offered_load(trace))
    counts = np.bincount((trace.arrays.submit_time // DAY).astype(int))
    expected = counts.std() / counts.mean() / np.sqrt(days)
    loads = np.array([offered_load(bootstrapped(trace, seed)) for seed in range(80)], dtype=float)
    assert expected == pytest.approx((0.45 / loads).std(), rel=0.15)
    assert (0.45 / loads).mean() == pytest.approx(1, abs=0.01 + 3 * expected / np.sqrt(80))
    assert (least, greatest) == (round(loads[:40].min(), 2), round(loads[:40].max(), 2)), "as docs/arrivals.md says"


def test_the_load_can_be_had_afterwards() -> None:
    """Scaled to the log's own load, the days are a little longer or shorter, and the load is met."""
    trace = log_of(90, 1.2)
    scaled = scale_to_load(bootstrapped(trace, 3), 0.45)
    assert 0.45 == pytest.approx(offered_load(scaled), rel=1e-4)
    assert abs(offered_load(bootstrapped(trace, 3)) - 0.45) > 0.01  # type: ignore[operator]
