# SPDX-License-Identifier: BSD-3-Clause
"""Every policy as an agent: its actions make its schedule, and the rewards that they get are those of the schedule."""

from __future__ import annotations

import numpy as np
import pytest

from swftools.errors import ParameterError
from swftools.learning import EpisodeLog, SchedulingEnv, demonstrate
from swftools.simulator import measure_jobs, simulate
from tests.every_policy import OURS, light, with_all_columns
from tests.examples import by_day
from tests.learning.logs import crowded, part_of

CANNOT = {"genetic-checkpoint", "pv-easy", "scojo-p", "cirne-berman", "fixed", "conservative-fixed"}
"""Those that may stop jobs, or start them on other widths or at times of their own."""


@pytest.mark.parametrize("policy", by_day([light(name) for name in OURS if name not in CANNOT], 9))
def test_its_actions_make_its_schedule(policy: str) -> None:
    """Start by start; what is shown at each decision allows what is done."""
    log = EpisodeLog(with_all_columns(crowded(1)))
    env = SchedulingEnv(log, k=30, jobs=40, warm_up=0, reward="wait")
    shown = demonstrate(env, policy, seed=2, first=7)
    whole = simulate(part_of(log, 7, 40), policy, overrun="run-on", seed=2)
    assert env.episode_schedule().jobs["start_time"].tolist() == whole.jobs["start_time"].tolist()
    assert shown.masks[np.arange(len(shown.actions)), shown.actions].all()
    assert shown.rewards.sum() == pytest.approx(-measure_jobs(whole)["wait"].mean())
    assert shown.observations.shape == (len(shown.actions), 31, 6)
    assert (shown.actions < 30).sum() == 40
    assert shown.info["decisions"] == len(shown.actions)
    assert shown.info["invalid_actions"] == 0


def test_from_where_it_decided_the_warm_up() -> None:
    """The policy of the warm-up may go on."""
    log = EpisodeLog(crowded(2), policy="sjf")
    env = SchedulingEnv(log, k=30, jobs=30, warm_up=15, choice="reserve")
    demonstrate(env, "sjf", first=3)
    whole = simulate(part_of(log, 3, 45), "sjf", overrun="run-on")
    assert env.episode_schedule().jobs["start_time"].tolist() == whole.jobs["start_time"].tolist()


def test_what_no_agent_does() -> None:
    """Another policy behind a warm-up, a job beyond the window, jobs that are stopped."""
    log = EpisodeLog(with_all_columns(crowded(1)))
    with pytest.raises(ParameterError, match="'sjf' cannot go on where 'easy' decided the warm-up; give warm_up=0"):
        demonstrate(SchedulingEnv(log, k=9, jobs=40, warm_up=5), "sjf")
    env = SchedulingEnv(log, k=1, jobs=40, warm_up=0)
    with pytest.raises(ParameterError, match="policy 'sjf' starts a job that is not among the first 1 of the queue"):
        demonstrate(env, "sjf", first=0)
    env = SchedulingEnv(log, k=30, jobs=40, warm_up=0)
    with pytest.raises(ParameterError, match="stops jobs, or runs them on other widths"):
        demonstrate(env, "pv-easy:preemption=kill", first=0)
    with pytest.raises(ParameterError, match="when nothing ends or comes: nobody is asked"):
        demonstrate(env, "conservative-fixed", first=7)
