# SPDX-License-Identifier: BSD-3-Clause
"""Slowdowns of moldable jobs by the run time on their optimal width, as Barsanti and Sodan relate them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import ParameterError
from swftools.models.moldability import SpeedupParameters, generate_speedup
from swftools.simulator import NOBODY, Policy, measure, measure_jobs, simulate, start_on
from swftools.simulator.machine.views import first_waiting
from tests.drawn import draw_trace
from tests.simulator.policies.moldable_crowds import with_curves


def at_half(machine):  # type: ignore[no-untyped-def]
    """Start each job at once, on half its width."""
    while (job := first_waiting(machine)) != NOBODY:
        start_on(machine, job, machine.requests.processors[job] // 2)


def test_of_a_simple_curve_the_own_width_is_the_optimum() -> None:
    """On 4 of 8 processors 100 s become 162.5 s; the slowdown is that over 100 s, or over a bound of 130 s."""
    rigid = draw_trace("submit run width / 0 100 8", processors=8)
    trace = rigid.with_jobs(rigid.jobs.join(generate_speedup(rigid, SpeedupParameters(model="simple"))))
    schedule = simulate(trace, Policy("at-half", at_half), compiled=False)
    assert schedule.jobs["run_time"].tolist() == [162.5]
    assert measure_jobs(schedule)["bounded_slowdown"].tolist() == [1.0]
    slowdown = {bound: measure_jobs(schedule, nominal="optimal_run_time", bound=bound) for bound in (30, 130, 200)}
    assert [each["bounded_slowdown"].item() for each in slowdown.values()] == [1.625, 1.25, 1.0]
    assert slowdown[30]["expansion_factor"].item() == 1.625
    of_all = measure(schedule, nominal="optimal_run_time", bound=30).set_index(["measure", "statistic"])["value"]
    assert of_all["bounded_slowdown", "mean"] == 1.625


def test_of_downeys_curve_it_may_be_another_width() -> None:
    """S(n) = min(n, 4): 16 s on 8 processors, 16 s on 4, which is the optimum; a rigid job has one run time."""
    trace = draw_trace("submit run width / 0 16 8 / 100 7 2", processors=8)
    curved = with_curves(trace, [(4.0, 1, 8), None])
    jobs = curved.jobs.assign(sequential_run_time=[64.0, np.nan], optimal_processors=pd.array([4, None], dtype="Int64"))
    schedule = simulate(curved.with_jobs(jobs), "easy")
    assert measure_jobs(schedule, nominal="optimal_run_time", bound=0)["expansion_factor"].tolist() == [1.0, 1.0]
    jobs["sequential_run_time"] = [32.0, np.nan]
    other = simulate(curved.with_jobs(jobs), "easy")
    assert measure_jobs(other, nominal="optimal_run_time", bound=0)["expansion_factor"].tolist() == [2.0, 1.0]


def test_without_curves_it_says_how_to_get_them() -> None:
    """One error that names the columns and the augmentation."""
    schedule = simulate(Trace.from_columns(machine_processors=1, job_number=[1], submit_time=[0], run_time=[1]), "easy")
    with pytest.raises(ParameterError, match=r"lack optimal_processors, .*--augment speedup"):
        measure_jobs(schedule, nominal="optimal_run_time")
