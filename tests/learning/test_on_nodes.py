# SPDX-License-Identifier: BSD-3-Clause
"""Episodes on machines of nodes: what is seen, and what comes of it, is what a slow twin says, and ``simulate``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from swftools import Trace, simulate
from swftools.errors import ParameterError
from swftools.learning import EpisodeLog, SchedulingEnv, SchedulingVectorEnv, demonstrate
from swftools.learning.observed_nodes import observe_on_nodes
from swftools.machines import requests
from swftools.simulator import measure_jobs, validate
from swftools.simulator.machine.state import SUBMITTED
from tests.interpreted import all_interpreted
from tests.learning.logs import crowded, part_of
from tests.naive.nodes import Cluster, jobs_of, simulate_on_nodes
from tests.naive.placements import Placement
from tests.naive.seen_on_nodes import Played
from tests.nodes_drawn import Workload, draw_machine, random_workload
from tests.simulator.nodes.test_engine import log_of, starts_and_nodes

MACHINE = draw_machine("count cores memory gpus / 3 4 10 0 / 2 8 20 2", "1:0-2 2:2-4")
ONE = draw_machine("cores memory gpus / 8 20 2", "1:0 2:0")
REASONS = ["reason"]
PLACED = ("first-fit", "best-fit", "lowest-weight", "contiguous", "worst-fit", "fewest-switches")

Made = Callable[..., EpisodeLog]

pytestmark = pytest.mark.usefixtures("interpreted_by_day")


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

    def agent(seen: Any, mask: Any) -> int:
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


def play(env: SchedulingEnv, choose: Any, **options: Any) -> tuple[list[bytes], float, dict[str, Any]]:
    """Play an episode; return all that was seen, the sum of rewards, and what is told at the end."""
    seen, info = env.reset(options=options or None)
    each, total, over = [seen.tobytes() + info["action_mask"].tobytes()], 0.0, False
    while not over:
        seen, reward, over, _, info = env.step(choose(seen, info["action_mask"]))
        each.append(seen.tobytes() + info["action_mask"].tobytes() + np.float64(reward).tobytes())
        total += reward
    return each, total, info


def at_random(seed: int) -> Any:
    """Return an agent that takes any allowed action."""
    random = np.random.default_rng(seed)
    return lambda _, mask: int(random.choice(np.flatnonzero(mask)))


def head_or_wait(seen: Any, mask: Any) -> int:
    """Start the first of the queue if it fits, as FCFS does."""
    return 0 if mask[0] else len(mask) - 1


def mixed(seed: int = 1) -> Trace:
    """Return jobs that ask for cores, memory and GPUs, some of them for whole nodes, in one partition or the other."""
    random, trace = np.random.default_rng(seed), crowded(seed)
    jobs, partition = len(trace), random.integers(1, 3, len(trace))
    asked = {
        "requested_nodes": random.integers(1, 3, jobs),
        "requested_cores_per_node": random.integers(1, 5, jobs).astype(float),
        "requested_memory_per_node": random.integers(0, 10, jobs).astype(float),
        "requested_gpus_per_node": np.where(partition == 2, random.integers(0, 3, jobs), 0).astype(float),
        "is_exclusive": random.random(jobs) < 0.2,
        "partition_id": partition,
    }
    return trace.with_jobs(trace.jobs.assign(**asked))


def log_of_mixed(seed: int = 1, **options: Any) -> EpisodeLog:
    """Return such a log on five nodes of two kinds, one of which is in both partitions; it is interpreted."""
    return EpisodeLog(mixed(seed), **{"machine": MACHINE, "heads": "machine", "compiled": False} | options)


FORMS = [False, pytest.param(True, marks=pytest.mark.slow), pytest.param("checked", marks=pytest.mark.slow)]
"""How compiled episodes are: by night also as users have them, and with a look at each index."""


@pytest.mark.parametrize("compiled", FORMS)
@pytest.mark.parametrize(("policy", "choice"), [("fcfs", "fits"), ("easy", "reserve")])
def test_it_is_the_simulator(policy: str, choice: str, compiled: bool | str) -> None:
    """Always the head is FCFS; if a job may be chosen that does not fit, EASY: starts, and nodes of runs."""
    log = log_of_mixed(compiled=compiled)
    env = SchedulingEnv(log, k=6, jobs=30, warm_up=0, choice=choice)
    for first in (0, 17, len(log) - 30):
        play(env, head_or_wait if choice == "fits" else (lambda *_: 0), first=first)
        ours, part = env.episode_schedule(), part_of(log, first, 30)
        whole = simulate(part, policy, machine=MACHINE, heads="machine", overrun="run-on", compiled=compiled)
        assert starts_and_nodes(ours) == starts_and_nodes(whole)
        assert ours.segments.drop(columns=REASONS, errors="ignore").equals(
            whole.segments.drop(columns=REASONS, errors="ignore")
        )
        assert ours.machine is MACHINE
        assert validate(ours, trace=part).ok


def test_first_jobs_of_partitions() -> None:
    """Who starts the first job of each partition, as the last columns tell them, does what FCFS does."""
    machine = draw_machine("count cores memory gpus / 2 4 10 0 / 3 8 20 2", "1:0-1 2:2-4")

    def first_of_each(seen: Any, mask: Any) -> int:
        closed: set[int] = set()
        for row in np.flatnonzero(seen[: len(mask) - 1, 5]):
            partition = int(seen[row, 12:].argmax())
            if partition not in closed and mask[row]:
                return int(row)
            closed.add(partition)
        return len(mask) - 1

    log = EpisodeLog(mixed(3), machine=machine, compiled=False)
    env = SchedulingEnv(log, k=40, jobs=40, warm_up=0)
    play(env, first_of_each, first=5)
    whole = simulate(part_of(log, 5, 40), "fcfs", machine=machine, overrun="run-on", compiled=False)
    assert starts_and_nodes(env.episode_schedule()) == starts_and_nodes(whole)


@pytest.mark.slow
def test_compiled_is_interpreted() -> None:
    """Every number is the same, to the last bit."""
    for choice, heads in (("fits", "partition"), ("reserve", "machine")):
        told = []
        for compiled in (True, False, "checked"):
            log = log_of_mixed(4, compiled=compiled, heads=heads, reference="sjf")
            env = SchedulingEnv(log, k=3, jobs=40, warm_up=7, choice=choice)
            with all_interpreted(not compiled):
                each, _, info = play(env, at_random(5), first=6)
            told.append((each, info["cost"], info["jobs"], info["reference_cost"]))
        assert told[0] == told[1] == told[2]


@pytest.mark.parametrize("compiled", [False])
@pytest.mark.parametrize("reward", ["wait", "bounded_slowdown"])
def test_rewards_add_up_to_the_mean_cost(reward: str, compiled: bool) -> None:
    """Of the jobs that started after the warm-up, as the schedule's own measures have it."""
    log = log_of_mixed(3, reference="sjf", heads="partition", compiled=compiled)
    env = SchedulingEnv(log, k=6, jobs=30, warm_up=10, reward=reward)
    _, total, info = play(env, at_random(1), first=4)
    schedule, part = env.episode_schedule(), part_of(log, 4, 40)
    counted = schedule.jobs["start_time"].to_numpy() > part.arrays.submit_time[9]
    assert 0 < info["jobs"] == counted.sum() < 40
    cost = measure_jobs(schedule)[reward].to_numpy()[counted].mean()
    assert info["cost"] == pytest.approx(cost, rel=1e-12)
    assert total == pytest.approx(info["reference_cost"] - cost, rel=1e-9)
    env = SchedulingEnv(log_of_mixed(3, reference="sjf", compiled=compiled), k=6, jobs=30, warm_up=0, reward=reward)
    _, _, info = play(env, at_random(1), first=4)
    options = {"machine": MACHINE, "heads": "machine", "overrun": "run-on", "compiled": compiled}
    schedule = simulate(part_of(log, 4, 30), "sjf", **options)
    assert info["reference_cost"] == pytest.approx(measure_jobs(schedule)[reward].mean(), rel=1e-12)


@pytest.mark.parametrize("compiled", [False])
@pytest.mark.parametrize("steps", [9, 1000])
def test_nothing_is_left_of_an_episode(steps: int, compiled: bool) -> None:
    """After a reset, in the middle or at the end, all goes on as in an environment that played nothing."""
    log = log_of_mixed(6, compiled=compiled)
    used, new = (SchedulingEnv(log, k=6, jobs=30, warm_up=4, choice="reserve") for _ in range(2))
    seen, info = used.reset(options={"first": 20})
    choose, over = at_random(1), False
    while not over and steps > 0:
        seen, _, over, _, info = used.step(choose(seen, info["action_mask"]))
        steps -= 1
    if not over:
        used.episode_schedule()  # the policy decides the rest
    assert play(used, at_random(2), first=3)[:2] == play(new, at_random(2), first=3)[:2]
    assert starts_and_nodes(used.episode_schedule()) == starts_and_nodes(new.episode_schedule())


@pytest.mark.parametrize("compiled", [False])
def test_no_look_into_the_future(compiled: bool) -> None:
    """Run times, and all that is to come, may be junk: what is seen and allowed is the same."""
    env = SchedulingEnv(log_of_mixed(2, compiled=compiled), k=6, jobs=40, warm_up=5)
    seen, info = env.reset(seed=2)
    slot, choose, over, looked = env.slot, at_random(4), False, 0
    while not over:
        ahead = int(slot.machine.counts[SUBMITTED])
        given = [slot.coming.run_time, *(column[ahead:] for column in (*slot.requests, *slot.machine.asked))]
        kept = [column.copy() for column in given]
        for column in given:
            column[...] = -7
        env._observation[:] = 0.5
        observe_on_nodes.py_func(slot.machine, slot.episode.seen)
        rows = int(env._seen.counts[0])
        which = [*range(rows), *range(6, len(seen))]
        # Of the machine's row the columns that no machine has are as they were.
        again, before = env._observation[which].copy(), seen[which].copy()
        again[rows][[5, 10, *range(11, seen.shape[1])]] = before[rows][[5, 10, *range(11, seen.shape[1])]] = 0
        again[rows, [5, *range(10, seen.shape[1])]] = 0
        np.testing.assert_array_equal(again, before)
        assert env.action_masks().tolist() == info["action_mask"].astype(bool).tolist()
        for column, old in zip(given, kept, strict=True):
            column[...] = old
        env._observation[:] = seen
        seen, _, over, _, info = env.step(choose(seen, info["action_mask"]))
        looked += 1
    assert looked > 20


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("compiled", [False])
def test_gymnasium_finds_nothing_wrong(compiled: bool) -> None:
    """Its own checker."""
    check_env(SchedulingEnv(log_of_mixed(compiled=compiled), k=4, jobs=15, warm_up=5), skip_render_check=True)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_each_of_many_is_as_it_would_be_alone(compiled: bool) -> None:
    """Step for step, by seeds of their own, on two machines that are seen in one form."""
    other = draw_machine("count cores memory gpus / 2 16 30 1 / 4 4 9 0", "1:0-4 2:3-5")
    logs = [log_of_mixed(1, compiled=compiled), log_of_mixed(2, machine=other, compiled=compiled)]
    rules = {"k": 5, "jobs": 20, "warm_up": 4}
    envs, alone = SchedulingVectorEnv(3, logs, **rules), [SchedulingEnv(logs, **rules) for _ in range(3)]
    seen, info = envs.reset(seed=[5, 6, 7])
    assert seen.shape == (3, 5 + 1 + 4, 14)
    shown = [env.reset(seed=5 + i) for i, env in enumerate(alone)]
    choose = at_random(8)
    for _ in range(60):
        for i, (one, told) in enumerate(shown):
            np.testing.assert_array_equal(one, seen[i])
            assert told["action_mask"].tolist() == info["action_mask"][i].tolist()
        actions = np.array([choose(None, mask) for mask in info["action_mask"]])
        seen, rewards, over, _, info = envs.step(actions)
        for i, env in enumerate(alone):
            one, reward, ends, _, told = env.step(int(actions[i]))
            assert (reward, ends) == (rewards[i], over[i])
            shown[i] = env.reset() if ends else (one, told)
    assert {env.slot.log for env in alone} | {slot.log for slot in envs._playing} == set(logs)


@pytest.mark.parametrize("policy", ["easy", "sjf-backfill", "conservative", "fcfs"])
def test_policies_show_what_they_do(policy: str) -> None:
    """The actions make the policy's schedule, on its nodes."""
    log = log_of_mixed(2, compiled=False, placement="best-fit")
    env = SchedulingEnv(log, k=30, jobs=40, warm_up=0, reward="wait")
    with all_interpreted():
        shown = demonstrate(env, policy, first=7)
    options = {"machine": MACHINE, "heads": "machine", "placement": "best-fit", "overrun": "run-on", "compiled": False}
    whole = simulate(part_of(log, 7, 40), policy, **options)
    assert starts_and_nodes(env.episode_schedule()) == starts_and_nodes(whole)
    assert shown.masks[np.arange(len(shown.actions)), shown.actions].all()
    assert shown.rewards.sum() == pytest.approx(-measure_jobs(whole)["wait"].mean())
    assert (shown.actions < 30).sum() == 40


def test_who_decided_the_warm_up_shows_what_it_does() -> None:
    """On the nodes that it takes then."""
    log = log_of_mixed(2, compiled=False, heads="partition")
    env = SchedulingEnv(log, k=30, jobs=30, warm_up=15)
    with all_interpreted():
        demonstrate(env, "easy", first=3)
    whole = simulate(part_of(log, 3, 45), "easy", machine=MACHINE, overrun="run-on", compiled=False)
    assert starts_and_nodes(env.episode_schedule()) == starts_and_nodes(whole)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"policy": "conservative"}, "policy 'conservative' has a memory"),
        ({"policy": "easy:reservations=2"}, "policy 'easy' has a memory"),
        ({"processors": 4}, "they are two machines; give one"),
    ],
)
def test_bad_input(options: dict[str, Any], words: str) -> None:
    """One clear error each."""
    with pytest.raises(ParameterError, match=words):
        log_of_mixed(**options)


@pytest.mark.parametrize("other", [{"machine": ONE}, {"machine": None, "processors": 9}, {"placement": "best-fit"}])
def test_machines_of_other_forms(other: dict[str, Any]) -> None:
    """One environment cannot show them."""
    pool = {} if other.get("machine", MACHINE) else {"heads": "partition"}
    with pytest.raises(ParameterError, match="are seen in different forms; give logs of pools alone, or of machines"):
        SchedulingEnv([log_of_mixed(), log_of_mixed(**other, **pool)], k=4, jobs=10, warm_up=0)


def test_demonstrations_in_another_order_of_nodes() -> None:
    """Nodes are told by number, whatever the order of the placement; and the next episode is free."""
    machine = draw_machine("count cores memory gpus weight / 3 4 10 0 9 / 2 8 20 2 1", "1:0-2 2:2-4")
    log = log_of_mixed(2, machine=machine, compiled=False, placement="lowest-weight")
    env, new = (SchedulingEnv(log, k=30, jobs=40, warm_up=0) for _ in range(2))
    with all_interpreted():
        demonstrate(env, "easy", first=7)
    options = {"machine": machine, "heads": "machine", "placement": "lowest-weight", "overrun": "run-on"}
    whole = simulate(part_of(log, 7, 40), "easy", compiled=False, **options)
    assert starts_and_nodes(env.episode_schedule()) == starts_and_nodes(whole)
    with all_interpreted():
        assert play(env, at_random(3), first=2)[:2] == play(new, at_random(3), first=2)[:2]


@pytest.mark.parametrize(("requested", "goes_ahead"), [(98, 1.0), (99, 0.0)])
def test_who_ends_when_the_first_job_begins(requested: int, goes_ahead: float) -> None:
    """It does not delay it; a second later it would."""
    trace = Trace.from_columns(
        job_number=[1, 2, 3],
        submit_time=[0, 1, 2],
        run_time=[100, 100, 50],
        requested_time=[100, 100, requested],
        requested_processors=[3, 4, 1],
    )
    log = EpisodeLog(trace, machine=draw_machine("cores / 4", "1:0"), compiled=False)
    env = SchedulingEnv(log, k=3, jobs=3, warm_up=0)
    with all_interpreted():
        env.reset()
        seen = env.step(0)[0]
    assert seen[:3, 3].tolist() == [0, 1, 0]
    assert seen[1, 4] == goes_ahead
