# SPDX-License-Identifier: BSD-3-Clause
"""Episodes on machines of nodes: what is seen, and what comes of it, is what a slow twin says, and ``simulate``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from swftools import simulate
from swftools.errors import ParameterError
from swftools.learning import EpisodeLog, SchedulingEnv
from swftools.machines import requests
from tests.interpreted import all_interpreted
from tests.learning.logs import crowded, part_of
from tests.naive.nodes import Cluster, jobs_of, simulate_on_nodes
from tests.naive.placements import Placement
from tests.naive.seen_on_nodes import Played
from tests.nodes_drawn import Workload, draw_machine, random_workload
from tests.simulator.nodes.test_engine import log_of, starts_and_nodes

MACHINE = draw_machine("count cores memory gpus / 3 4 10 0 / 2 8 20 2", "p:0-2 q:2-4")
PLACED = ("first-fit", "best-fit", "lowest-weight", "contiguous", "worst-fit", "fewest-switches")

Made = Callable[..., EpisodeLog]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    """Return what makes a log of a workload, whose jobs ask for what stands there."""

    def make(workload: Workload, **options: Any) -> EpisodeLog:
        monkeypatch.setattr(requests, "ask_of", lambda trace, table, **others: workload.asked)
        return EpisodeLog(log_of(workload), **{"machine": workload.table, "heads": "machine"} | options)

    return make


def by_lot(seed: int, most_jobs: int = 20) -> Workload:
    """Return a machine and jobs by lot, each of which requests some time."""
    workload = random_workload(seed, most_jobs=most_jobs)
    return replace(workload, request=[max(request, 1.0) for request in workload.request])


def check_episode(log: EpisodeLog, workload: Workload, seed: int, k: int, choice: str, placement: str) -> int:
    """Play an episode as the slow twin does, and compare all that is seen; return how many decisions there were."""
    jobs, random = jobs_of(workload.asked, workload.submit, workload.run, workload.request), np.random.default_rng(seed)
    chosen = Placement.read(placement)
    jobs = [job for job in jobs if Cluster(workload.table, chosen, "machine").where_now(job)]  # others are left out

    def agent(seen: Any, mask: Any) -> int:  # noqa: ARG001 (as all agents)
        return int(random.choice(np.flatnonzero(mask)))

    rule = Played(jobs, agent, k, choice == "reserve")
    done = simulate_on_nodes(jobs, workload.table, rule, placement=chosen, heads="machine")
    env = SchedulingEnv(log, k=k, jobs=len(log), warm_up=0, choice=choice)
    seen, info = env.reset()
    over = False
    for step, (wanted, mask, action) in enumerate(rule.steps):
        assert not over
        np.testing.assert_allclose(seen, wanted, rtol=1e-6, atol=1e-7, err_msg=f"step {step}")
        assert info["action_mask"].tolist() == mask.tolist(), f"step {step}"
        assert seen in env.observation_space
        seen, _, over, _, info = env.step(action)
    assert over
    assert not seen.any()
    assert info["action_mask"].tolist() == [0] * k + [1]
    told = sorted((job.row, float(job.start or 0.0)) for job in done)
    assert [row[:2] for row in starts_and_nodes(env.episode_schedule())] == told
    return len(rule.steps)


@pytest.mark.parametrize("compiled", [False])
@pytest.mark.parametrize("choice", ["fits", "reserve"])
def test_what_is_seen(made: Made, choice: str, compiled: bool) -> None:
    """On machines by lot, with an agent that takes whatever is allowed."""
    steps = 0
    for seed in range(24):
        workload, placement = by_lot(7000 + seed), PLACED[seed % len(PLACED)]
        if (workload.asked.code == 0).sum() < 2:
            continue
        log = made(workload, placement=placement, compiled=compiled)
        steps += check_episode(log, workload, seed, 3 if choice == "fits" else 40, choice, placement)
    assert steps > 150
