# SPDX-License-Identifier: BSD-3-Clause
"""Episodes on machines whose nodes go away: what is seen, and what comes of it, is what a slow twin and ``simulate`` say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from gymnasium.utils.env_checker import check_env

from swftools import MachineDescription, Schedule, Trace, simulate
from swftools.learning import EpisodeLog, SchedulingEnv, SchedulingVectorEnv, agent_policy, demonstrate
from swftools.machines import requests
from swftools.machines.outages import DOWN, DRAIN, RESERVATION
from swftools.simulator import measure_jobs, validate
from tests.interpreted import all_interpreted
from tests.learning.logs import part_of
from tests.learning.test_on_nodes import MACHINE, PLACED, at_random, by_lot, head_or_wait, mixed, play
from tests.naive.nodes import Cluster, jobs_of
from tests.naive.nodes_away import CHECKPOINT, LOST, REQUEUE, Rule, simulate_away
from tests.naive.placements import Placement
from tests.naive.seen_on_nodes import Played
from tests.nodes_drawn import draw_machine, ranges_of
from tests.simulator.nodes.test_away import (
    ALWAYS,
    INF,
    SURPRISE,
    outages_by_lot,
    outages_of,
    runs_of,
    trace_of,
    users_of,
)

pytestmark = pytest.mark.usefixtures("interpreted_by_day")

RULES = [Rule(), Rule(REQUEUE, 7.0), Rule(CHECKPOINT, 0.0, 3.0, 1.0), Rule(LOST)]


def check_episode(monkeypatch: pytest.MonkeyPatch, seed: int, choice: str, compiled: bool) -> tuple[int, int]:
    """Play an episode as the slow twin does; return how many decisions there were, and how many runs were stopped."""
    workload, placement, rule = by_lot(seed), PLACED[seed % len(PLACED)], RULES[seed // 2 % len(RULES)]
    workload = replace(workload, table=replace(workload.table, outages=outages_by_lot(seed, len(workload.table))))
    chosen, k = Placement.read(placement), 3 if choice == "fits" else 40
    jobs = jobs_of(workload.asked, workload.submit, workload.run, workload.request)
    jobs = [job for job in jobs if Cluster(workload.table, chosen, "machine").where_now(job)]  # others are left out
    if len(jobs) < 2:
        return 0, 0
    random = np.random.default_rng(seed)
    played = Played(jobs, lambda seen, mask: int(random.choice(np.flatnonzero(mask))), k, choice == "reserve")
    options = {"placement": chosen, "heads": "machine", "rule": rule, "users": users_of(workload)}
    runs = simulate_away(jobs, workload.table, played, **options)
    monkeypatch.setattr(requests, "ask_of", lambda trace, table, **others: workload.asked)
    on_outage = rule.on_outage + (f":delay={rule.delay:g}" if rule.delay else "")
    log = EpisodeLog(
        trace_of(workload, rule),
        machine=workload.table,
        heads="machine",
        placement=placement,
        on_outage=on_outage,
        restart_overhead=rule.overhead,
        compiled=compiled,
    )
    env = SchedulingEnv(log, k=k, jobs=len(log), warm_up=0, choice=choice)
    seen, info = env.reset()
    over = False
    for step, (wanted, mask, action) in enumerate(played.steps):
        assert not over
        np.testing.assert_allclose(seen, wanted, rtol=1e-6, atol=1e-7, err_msg=f"step {step}")
        assert info["action_mask"].tolist() == mask.tolist(), f"step {step}"
        assert seen in env.observation_space
        seen, _, over, _, info = env.step(action)
    assert over
    told = sorted((run.row, run.start, run.end, ranges_of(run.where), run.is_stopped) for run in runs)
    rows = pd.Series(np.arange(len(log.trace.jobs)), log.trace.jobs["job_number"])
    found = [(int(rows[number]), *rest) for number, *rest in runs_of(env.episode_schedule())]
    assert sorted(found) == told
    return len(played.steps), sum(run.is_stopped for run in runs)


@pytest.mark.parametrize("compiled", [False])
@pytest.mark.parametrize("choice", ["fits", "reserve"])
def test_what_is_seen(monkeypatch: pytest.MonkeyPatch, choice: str, compiled: bool) -> None:
    """On machines by lot, with an agent that takes whatever is allowed; jobs are stopped in all ways."""
    done = np.array([check_episode(monkeypatch, 9000 + seed, choice, compiled) for seed in range(30)])
    assert (done.sum(axis=0) > [200, 10]).all()
