# SPDX-License-Identifier: BSD-3-Clause
"""A compiled predictor of one's own: parameters, memory, draws, and what it says of a running job."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from swftools.parameters import Parameters, number
from swftools.simulator import OUTLIVED, SUBMISSION, Predictor, predict, simulate
from tests.drawn import draw_trace
from tests.strategies import crowded_trace


@dataclass(frozen=True)
class Doubling(Parameters):
    """Parameters of ``doubling``."""

    NAME = "doubling"
    share: float = number(0.1, least=0, most=1)


def doubling(event: Any, machine: Any, job: Any, parameters: Any) -> None:
    """Predict a share of the request of user 1, and twice as much whenever that is over."""
    requests = machine.requests
    if event == SUBMISSION and requests.user_id[job] == 0:  # users are numbered as they come
        predict(machine, job, parameters.share * requests.limit[job])
    elif event == OUTLIVED:
        predict(machine, job, 2 * requests.requested_time[job])


def trusting(event: Any, machine: Any, job: Any, parameters: Any) -> None:
    """Do the same at submission, and nothing later."""
    if event == SUBMISSION and machine.requests.user_id[job] == 0:
        predict(machine, job, parameters.share * machine.requests.limit[job])


JOBS = """
    submit run request width user
    0       20     100     1    1
    1       10      10     2    2
    11      50      50     1    2
"""


def test_a_running_job_is_expected_to_end_anew(compiled: bool) -> None:
    """Job 1 is told to take 10 s, then 20: job 3 would delay job 2, which counts on 20. Without that it goes ahead."""
    trace = draw_trace(JOBS, processors=2)
    revised = Predictor("doubling", doubling, parameters=Doubling, given=Doubling())
    schedule = simulate(trace, "easy", predictor=revised, compiled=compiled)
    assert [0, 20, 30] == schedule.jobs["start_time"].tolist()
    assert [10, 10, 50] == schedule.jobs["estimated_time"].tolist()  # as at submission
    assert "doubling:share=0.1" == schedule.options["predictor"]
    once = Predictor("trusting", trusting, parameters=Doubling, given=Doubling())
    assert [0, 61, 11] == simulate(trace, "easy", predictor=once, compiled=compiled).jobs["start_time"].tolist()


def wandering(event: Any, machine: Any, job: Any, parameters: Any, memory: Any, rng: Any) -> None:
    """Predict by draws and by how many jobs there were."""
    if event == SUBMISSION:
        memory[0][0] += 1
        predict(machine, job, machine.requests.limit[job] * rng.random() * parameters.share * (memory[0][0] % 3))


@pytest.mark.parametrize("policy", ["easy", "sjf-backfill", "conservative", "lxf-backfill"])
def test_parameters_memory_and_draws(policy: str) -> None:
    """Compiled equals interpreted; another seed or another parameter is another schedule."""
    mine = Predictor(
        "wandering",
        wandering,
        parameters=Doubling,
        memory=lambda jobs, processors: (np.zeros(1, np.int64),),
        given=Doubling(share=0.4),
    )
    trace = crowded_trace(80)

    def told(predictor: Predictor, **options: Any) -> list[float]:
        jobs = simulate(trace, policy, predictor=predictor, **options).jobs
        return [*jobs["start_time"], *jobs["estimated_time"]]

    assert told(mine, seed=1) == told(mine, seed=1, compiled=False) == told(mine, seed=1)
    assert told(mine, seed=1) != told(mine, seed=2)
    assert told(mine, seed=1) != told(replace(mine, given=Doubling(share=0.3)), seed=1)
