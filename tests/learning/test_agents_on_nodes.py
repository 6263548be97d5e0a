# SPDX-License-Identifier: BSD-3-Clause
"""Agents as policies on machines of nodes: what they decide in an episode they decide in a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swftools import simulate
from swftools.errors import ParameterError, PolicyError
from swftools.learning import (
    Network,
    SchedulingEnv,
    agent_policy,
    compare_schedulers,
    network_policy,
    train,
    what_it_saw,
)
from swftools.learning.agents import Eye
from swftools.learning.observation import GOES_AHEAD
from swftools.machines import requests
from swftools.simulator import Stepper, python_policy
from tests.interpreted import all_interpreted
from tests.learning.agents import by_hash
from tests.learning.logs import crowded, part_of
from tests.learning.test_on_nodes import MACHINE, log_of_mixed, mixed, play
from tests.nodes_drawn import draw_machine, draw_workload
from tests.simulator.nodes.test_engine import log_of, starts_and_nodes

pytestmark = pytest.mark.usefixtures("interpreted_by_day")

USUAL: dict[str, Any] = {"machine": MACHINE, "heads": "machine", "overrun": "run-on", "compiled": False}


@pytest.mark.parametrize("choice", ["fits", "reserve"])
def test_what_agents_decide(choice: str) -> None:
    """The same schedule as in an episode; on another machine it sees that one."""
    agent_policy("mine", by_hash, k=5, choice=choice)
    log = log_of_mixed(5, compiled=False)
    env = SchedulingEnv(log, k=5, jobs=40, warm_up=0, choice=choice)
    with all_interpreted():
        for first in (0, 11):
            play(env, by_hash, first=first)
            found = simulate(part_of(log, first, 40), "mine", **USUAL)
            assert starts_and_nodes(found) == starts_and_nodes(env.episode_schedule())
        assert len(simulate(crowded(1), "mine", 8, compiled=False).jobs) == len(crowded(1))


def test_networks_learn_and_decide() -> None:
    """A network is as wide as what is seen; registered as an agent it decides as in the environment."""
    log = log_of_mixed(5, compiled=False)
    with all_interpreted():
        learnt = train(log, batches=1, episodes=2, trials=2, units=3, jobs=20, warm_up=3, k=6, seed=2)
        assert learnt.network.hidden.shape == (2 * 14 - 1, 3)
        assert np.isfinite(learnt.curve["cost"]).all()
        agent_policy("learnt", learnt.network, k=6)
        env = SchedulingEnv(log, k=6, jobs=40, warm_up=0)
        play(env, learnt.network, first=3)
        found = simulate(part_of(log, 3, 40), "learnt", **USUAL)
    assert starts_and_nodes(found) == starts_and_nodes(env.episode_schedule())
    with pytest.raises(ParameterError, match="made for a machine of nodes; register it by agent_policy"):
        network_policy("other", learnt.network)
    with pytest.raises(ParameterError, match="made for rows of 14 columns, and 6 are seen"):
        learnt.network(np.zeros((7, 6)), np.ones(7))
    network_policy("of-a-pool", Network.random(4))
    with pytest.raises(
        ParameterError, match="'of-a-pool' does not work on a machine of nodes yet: it counts processors"
    ):
        simulate(mixed(5), "of-a-pool", machine=MACHINE)


def test_weights_of_nodes_are_saved(tmp_path: Any) -> None:
    """They are read again, and others than two rows of one width are refused."""
    network = Network.random(3, columns=14)
    network.save(tmp_path / "a.npz")
    assert Network.load(tmp_path / "a.npz").stamp == network.stamp
    network._replace(hidden=network.hidden[1:]).save(tmp_path / "b.npz")
    with pytest.raises(ParameterError, match=r"b.npz: weights of shapes \(26, 3\)"):
        Network.load(tmp_path / "b.npz")


def test_what_a_policy_saw() -> None:
    """What each job asked of nodes stands there; the head's room is that of EASY's reservation."""
    machine = draw_machine("count cores memory gpus / 2 4 10 0 / 1 8 20 2", "1:0-1 2:1-2")
    trace = crowded(1, jobs=4)
    columns = {
        "submit_time": [0, 1, 2, 3],
        "run_time": [100, 100, 100, 50],
        "requested_time": [100, 100, 100, 50],
        "requested_nodes": [1, 2, 1, 1],
        "requested_cores_per_node": [3.0, 4.0, 1.0, 2.0],
        "requested_memory_per_node": [5.0, 4.0, 3.0, 7.0],
        "requested_gpus_per_node": [0.0, 0.0, 0.0, 1.5],
        "is_exclusive": [False, False, True, False],
        "partition_id": [1, 1, 1, 2],
    }
    trace = trace.with_jobs(trace.jobs.assign(**columns))
    options = USUAL | {"machine": machine}
    with all_interpreted():
        saw = what_it_saw(trace, "easy", 4, k=5, **options)
    # Job 1 has three cores of node 0 until 100; job 2 waits for it, and then has nodes 0 and 1, one of which job 3
    # wants alone, until 102.
    assert saw["job_number"].tolist()[:3] == [2, 3, 4]
    told = saw.iloc[2]
    assert told[["nodes", "cores_per_node", "memory_per_node", "gpus_per_node"]].tolist() == [1, 2, 7, 1.5]
    assert (told["partitions"], told["is_exclusive"], told["chosen"], told["goes_ahead"]) == ("2", False, True, True)
    assert (told["free"], told["time_to_head"], told["spare"], told["waiting"]) == (13, 97.0, 8, 3)
    assert saw["fits"].tolist()[:3] == [False, True, True]
    assert saw["goes_ahead"].tolist()[:3] == [False, False, True]
    assert saw["is_exclusive"].tolist()[:3] == [False, True, False]
    assert saw.iloc[3][["nodes", "partitions"]].isna().all()


def test_what_a_policy_saw_has_its_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """C has node 2, which is reserved for B from 10 s on anyway; so node 0 is left to D, who is long."""
    jobs = "job submit run nodes partition / A 0 10 1 p / B 1 5 2 p / C 2 3 1 all / D 2 30 1 all"
    workload = draw_workload("count cores / 3 1", "p:1-2 all:0-2", jobs)
    monkeypatch.setattr(requests, "ask_of", lambda trace, table, **others: workload.asked)
    saw = what_it_saw(log_of(workload), "easy", 3, k=5, **USUAL | {"machine": workload.table})
    assert saw["job_number"].tolist()[:2] == [1, 3]
    assert saw["fits"].tolist()[:2] == [False, True]
    assert saw["goes_ahead"].tolist()[:2] == [False, True]
    assert saw["time_to_head"].tolist()[:2] == [8.0, 8.0]


def test_a_look_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """H is to have three cores of node 1 from 10 s on; B goes ahead beside it after the first look, so C may not."""
    jobs = "job submit run nodes cores / A 0 10 1 4 / H 1 10 2 3 / B 1 100 1 1 / C 2 100 1 1"
    workload = draw_workload("count cores / 2 4", "p:0-1 q:0-1", jobs)
    monkeypatch.setattr(requests, "ask_of", lambda trace, table, **others: workload.asked)
    options = USUAL | {"machine": workload.table, "heads": "partition"}  # under which the policy has plans of its own
    stepper, eye = Stepper(log_of(workload), "easy", **options), Eye(3, reserves=False)
    told = []
    while stepper.advance():
        eye.look(stepper)
        jobs_seen = [stepper.job_number(job) for job in eye.seen.job if job >= 0]
        told.append((stepper.now, jobs_seen, eye.observation[: len(jobs_seen), GOES_AHEAD].tolist()))
        stepper.decide()
    assert told[:3] == [(0.0, [0], [1]), (1.0, [1, 2], [0, 1]), (2.0, [1, 3], [0, 0])]
    assert starts_and_nodes(stepper.schedule()) == [(0, 0, "0"), (1, 10, "0-1"), (2, 1, "1"), (3, 10, "0")]


def test_policies_in_python() -> None:
    """They decide on nodes, too; who starts what does not fit is told what to ask."""

    @python_policy("first-that-fits")
    def first_that_fits(stepper: Any) -> None:
        while len(stepper.fitting):
            stepper.start(int(stepper.fitting[0]))

    @python_policy("whatever-waits")
    def whatever_waits(stepper: Any) -> None:
        for job in stepper.waiting.tolist():
            stepper.start(job)

    with all_interpreted():
        found = simulate(mixed(2), "first-that-fits", **USUAL)
        agent_policy("first", lambda seen, mask: int(mask.argmax()), k=60)
        assert starts_and_nodes(found) == starts_and_nodes(simulate(mixed(2), "first", **USUAL))
        with pytest.raises(PolicyError, match="does not fit on nodes now; ask fits before start"):
            simulate(mixed(2), "whatever-waits", **USUAL)


def test_comparison() -> None:
    """On nodes by options of ``simulate``."""
    with all_interpreted():
        table = compare_schedulers(mixed(1), ["easy"], jobs=10, warm_up=5, episodes=3, **USUAL)
    assert table["policy"].tolist() == ["fcfs", "easy"]
    assert table["episodes"].tolist() == [3, 3]
