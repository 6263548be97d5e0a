# SPDX-License-Identifier: BSD-3-Clause
"""Episodes on machines whose nodes go away: what is seen and comes of it is what a slow twin and ``simulate`` say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from gymnasium.utils.env_checker import check_env

from swftools import MachineDescription, Schedule, Trace, simulate
from swftools.errors import ParameterError
from swftools.learning import EpisodeLog, SchedulingEnv, SchedulingVectorEnv, agent_policy, demonstrate
from swftools.machines import requests
from swftools.machines.outages import DOWN, DRAIN, RESERVATION
from swftools.simulator import measure_jobs, validate
from tests.interpreted import all_interpreted
from tests.learning.agents import by_hash
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
    if not played.steps:  # nobody could ever start, so that it was over before anything was asked
        assert info["action_mask"].tolist() == [0] * k + [1]
        _, _, over, _, _ = env.step(k)
    assert over
    told = sorted((run.row, run.start, run.end, ranges_of(run.where), run.is_stopped) for run in runs)
    rows = pd.Series(np.arange(len(log.trace.jobs)), log.trace.jobs["job_number"])
    found = [(int(rows[number]), *rest) for number, *rest in runs_of(env.episode_schedule())]
    assert sorted(found) == told
    return len(played.steps), sum(run.is_stopped for run in runs)


BY_LOT = (9000, 9001, 9007, 9016, 9017, 9031, 9033, 9047, 9062, 9064, 9075, 9078, 9096, 9104, 9215, 9232)
"""Some in which runs are stopped, in all ways."""


@pytest.mark.parametrize("compiled", [False])
@pytest.mark.parametrize("choice", ["fits", "reserve"])
def test_what_is_seen(monkeypatch: pytest.MonkeyPatch, choice: str, compiled: bool) -> None:
    """On machines by lot, with an agent that takes whatever is allowed."""
    done = np.array([check_episode(monkeypatch, seed, choice, compiled) for seed in BY_LOT])
    assert (done.sum(axis=0) > [150, 15]).all()


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True, "checked"])
@pytest.mark.parametrize("choice", ["fits", "reserve"])
def test_what_is_seen_on_many_machines(monkeypatch: pytest.MonkeyPatch, choice: str, compiled: bool | str) -> None:
    """So it is on 200 machines, compiled too on some of them."""
    seeds = range(9300, 9500 if compiled is False else 9340)
    assert sum(check_episode(monkeypatch, seed, choice, compiled)[1] for seed in seeds) > 5


def failing(*, by_node: int = 6, most: int = 3000, known: bool = False) -> Any:
    """Return a machine of five nodes each of which goes down for some time, or is drained, again and again."""
    random, rows = np.random.default_rng(by_node), []
    for node in range(len(MACHINE)):
        begins = np.sort(random.integers(0, 40_000, by_node))
        for begin, lasts in zip(begins.tolist(), random.integers(20, most, by_node).tolist(), strict=True):
            kind = DRAIN if random.random() < 0.2 else DOWN
            rows.append((node, begin, begin + lasts, kind, ALWAYS if known else SURPRISE, -1))
    return replace(MACHINE, outages=outages_of(*rows))


FAILING = failing()


def with_checkpoints(trace: Trace) -> Trace:
    """Return jobs that write checkpoints, most of them."""
    intervals = np.where(np.arange(len(trace)) % 5 > 0, 300.0, np.nan)
    return trace.with_jobs(trace.jobs.assign(checkpoint_interval=pd.array(intervals, dtype="Float64")))


def log_of_failing(seed: int = 1, **options: Any) -> EpisodeLog:
    """Return a log of jobs of all kinds on a machine whose nodes fail; it is interpreted."""
    given = {"machine": FAILING, "heads": "machine", "compiled": False} | options
    return EpisodeLog(with_checkpoints(mixed(seed)), **given)


def simulated(log: EpisodeLog, first: int, jobs: int, policy: str, **options: Any) -> Schedule:
    """Return what a policy makes of the jobs of an episode."""
    given = {"machine": log.nodes, "heads": "machine", "overrun": "run-on", "compiled": False} | options
    return simulate(part_of(log, first, jobs), policy, **given)


def assert_same_runs(ours: Schedule, others: Schedule) -> int:
    """Check that two schedules have the same runs and the same jobs; return how many runs were stopped."""
    assert runs_of(ours) == runs_of(others)
    pd.testing.assert_frame_equal(ours.segments, others.segments)
    pd.testing.assert_frame_equal(ours.jobs, others.jobs)
    pd.testing.assert_frame_equal(ours.excluded, others.excluded)
    return int((ours.segments["ended_by"] == "outage").sum())


RULES_OF_RUNS: list[dict[str, Any]] = [
    {"on_outage": "requeue"},
    {"on_outage": "requeue:delay=500"},
    {"on_outage": "checkpoint", "restart_overhead": 20.0},
    {"on_outage": "lost"},
]


@pytest.mark.parametrize("options", RULES_OF_RUNS, ids=lambda options: options["on_outage"])
@pytest.mark.parametrize(("policy", "choice"), [("fcfs", "fits"), ("easy", "reserve")])
def test_it_is_the_simulator(policy: str, choice: str, options: dict[str, Any]) -> None:
    """Always the head is FCFS; if a job may be chosen that does not fit, EASY: also of who was stopped."""
    log, stopped = log_of_failing(**options), 0
    env = SchedulingEnv(log, k=6, jobs=30, warm_up=0, choice=choice)
    for first in (0, 17, len(log) - 30):
        play(env, head_or_wait if choice == "fits" else (lambda *_: 0), first=first)
        ours = env.episode_schedule()
        stopped += assert_same_runs(ours, simulated(log, first, 30, policy, **options))
        assert validate(ours, trace=part_of(log, first, 30)).ok
    assert stopped >= 3


@pytest.mark.parametrize("options", [*RULES_OF_RUNS[:3], {"on_outage": "requeue", "dense": False}], ids=str)
@pytest.mark.parametrize("reward", ["wait", "turnaround", "bounded_slowdown"])
def test_rewards_add_up_to_the_mean_cost(reward: str, options: dict[str, Any]) -> None:
    """As the schedule's own measures have it; a job that starts again costs what it does by its last start."""
    of_run = {name: value for name, value in options.items() if name != "dense"}
    log = log_of_failing(3, reference="sjf", **of_run)
    env = SchedulingEnv(log, k=6, jobs=40, warm_up=0, reward=reward, dense=options.get("dense", True))
    _, total, info = play(env, at_random(1), first=4)
    schedule = env.episode_schedule()
    assert (schedule.jobs["preemptions"] > 0).sum() > 1
    cost = measure_jobs(schedule)[reward].mean()
    assert info["jobs"] == 40
    assert info["cost"] == pytest.approx(cost, rel=1e-12)
    assert total == pytest.approx(info["reference_cost"] - cost, rel=1e-9)
    reference = measure_jobs(simulated(log, 4, 40, "sjf", **of_run))[reward].mean()
    assert info["reference_cost"] == pytest.approx(reference, rel=1e-12)


def test_jobs_of_the_warm_up_do_not_count() -> None:
    """Also not when they start again, which the agent decides."""
    log = log_of_failing(3)
    env = SchedulingEnv(log, k=6, jobs=25, warm_up=15, reward="wait")
    _, total, info = play(env, at_random(1), first=4)
    schedule, part = env.episode_schedule(), part_of(log, 4, 40)
    begun = env.slot._begun
    segments = schedule.segments.sort_values("start_time", kind="stable")
    early = set(segments["job_number"].iloc[:begun])
    assert (segments["job_number"].iloc[begun:].isin(early)).any()  # of some it is a second run
    counted = ~schedule.jobs["job_number"].isin(early).to_numpy()
    assert len(part) - len(early) == info["jobs"] == counted.sum()
    assert info["cost"] == pytest.approx(measure_jobs(schedule)["wait"].to_numpy()[counted].mean(), rel=1e-12)
    assert total == pytest.approx(-info["cost"], rel=1e-9)


def three_jobs(*, submit: list[int], run: list[int], nodes: list[int], cores: list[float]) -> Trace:
    """Return jobs that run as long as they request."""
    trace = Trace.from_columns(job_number=[1, 2, 3], submit_time=submit, run_time=run, requested_time=run)
    asked = {"requested_nodes": nodes, "requested_cores_per_node": cores}
    return trace.with_jobs(trace.jobs.assign(**asked))


def test_who_can_never_start() -> None:
    """It leaves when nothing else is to happen, costs as if it started then, and is not in the schedule."""
    machine = replace(draw_machine("count cores / 2 4", "1:0-1"), outages=outages_of((1, 50, INF, DOWN, SURPRISE, -1)))
    trace = three_jobs(submit=[0, 1, 60], run=[100, 10, 30], nodes=[1, 2, 1], cores=[4.0, 4.0, 4.0])
    log = EpisodeLog(trace, machine=machine, compiled=False, reference="easy")
    env = SchedulingEnv(log, k=3, jobs=3, warm_up=0, reward="wait")
    with all_interpreted():
        _, total, info = play(env, lambda _, mask: int(mask.argmax()))
    schedule = env.episode_schedule()
    assert schedule.jobs["job_number"].tolist() == [1, 3]
    assert schedule.excluded["reason"].tolist() == ["needs nodes that never come back"]
    assert info["cost"] == (0 + 129 + 40) / 3  # it left at 130 s, when the last job ended
    assert info["reference_cost"] == info["cost"]
    assert total == 0.0


def test_a_node_that_comes_back_wakes_the_agent() -> None:
    """By hand: two nodes of 4 cores; one is drained from 0 to 100 s, the other down from 20 to 30 s."""
    rows = ((0, 0, 100, DRAIN, ALWAYS, -1), (1, 20, 30, DOWN, SURPRISE, -1), (1, 400, 500, RESERVATION, ALWAYS, 0))
    machine = replace(draw_machine("count cores / 2 4", "1:0-1"), outages=outages_of(*rows))
    trace = three_jobs(submit=[10, 11, 12], run=[50, 40, 370], nodes=[1, 1, 1], cores=[4.0, 2.0, 1.0])
    env = SchedulingEnv(EpisodeLog(trace, machine=machine, compiled=False), k=3, jobs=3, warm_up=0, reward="wait")
    with all_interpreted():
        seen, info = env.reset()
        assert (env.slot.machine.clock[0], info["action_mask"].tolist()) == (10, [1, 0, 0, 1])
        # Four of eight cores are free: those of the node that is drained are not. So is one of two nodes.
        assert [seen[3, at].item() for at in (0, 6, 7)] == [0.5, 0.5, 0.5]
        assert seen[4].tolist()[:5] == [0.5, 0.0, 0.0, 0.5, 1.0]
        seen, _, _, _, info = env.step(0)
        # It runs until the node goes down; nobody is asked then, for no node is there, but at 30 s, when it is back.
        assert (env.slot.machine.clock[0], info["action_mask"].tolist()) == (30, [1, 1, 1, 1])
        assert env.slot.episode.seen.job.tolist() == [0, 1, 2]
        seen, _, _, _, info = env.step(1)
        assert (env.slot.machine.clock[0], info["action_mask"].tolist()) == (30, [0, 1, 0, 1])
        seen, _, _, _, info = env.step(3)
        # The third may not: it would run into what is reserved for others from 400 s on. The first has no room.
        assert (env.slot.machine.clock[0], info["action_mask"].tolist()) == (70, [1, 0, 0, 1])
        seen, _, _, _, info = env.step(3)
        assert (env.slot.machine.clock[0], info["action_mask"].tolist()) == (100, [1, 1, 0, 1])


def test_surprises_are_no_surprise_before_they_come() -> None:
    """What is seen is the same up to an outage that nobody knew of, and other than of one that was known."""
    rows = ((0, 9000, 12_000, DOWN), (1, 9000, 15_000, DOWN), (3, 9000, 9500, DRAIN))
    told = []
    for known in (None, SURPRISE, ALWAYS):
        harmless = (4, 1e9, 1e9 + 1, DOWN, SURPRISE, -1)
        given = [(*row, known, -1) for row in rows] if known is not None else []
        outages = outages_of(*given, harmless)
        env = SchedulingEnv(log_of_failing(2, machine=replace(MACHINE, outages=outages)), k=6, jobs=50, warm_up=0)
        seen, info = env.reset(options={"first": 0})
        steps, over, choose = [], False, at_random(4)
        with all_interpreted():
            while not over and env.slot.machine.clock[0] < 9000:
                steps.append(seen.tobytes() + info["action_mask"].tobytes())
                seen, _, over, _, info = env.step(choose(seen, info["action_mask"]))
        told.append(steps)
    assert len(told[0]) > 15
    assert told[0] == told[1] != told[2]


def test_there_is_room_for_many_more_runs() -> None:
    """Where nodes go down so often that jobs start again more often than there is room for at first."""
    machine = failing(by_node=60, most=60)
    log = log_of_failing(2, machine=machine, reference="fcfs")
    rules = {"k": 6, "jobs": 12, "warm_up": 2, "reward": "turnaround"}
    env = SchedulingEnv(log, **rules)
    first, total, info = play(env, head_or_wait, first=10)
    sizes = env.slot._arena.sizes
    assert sizes.kept > 64
    assert sizes.runs > 14 + 2 * 15
    stopped = (env.episode_schedule().segments["ended_by"] == "outage").sum()
    assert stopped > 14 + 2 * 15
    again, _, _ = play(env, head_or_wait, first=10)  # with room from the beginning
    assert again == first
    envs = SchedulingVectorEnv(2, log, **rules)
    _, told = envs.reset(options={"first": 10})
    rewards, over = np.zeros(2), np.zeros(2, np.bool_)
    while not over.any():
        _, more, over, _, told = envs.step(np.array([head_or_wait(None, mask) for mask in told["action_mask"]]))
        rewards += more
    assert over.all()
    assert rewards.tolist() == [total, total]
    assert told["final_info"]["cost"].tolist() == [info["cost"]] * 2
    new = SchedulingEnv(log_of_failing(2, machine=machine), **rules)
    new.reset(options={"first": 10})
    assert_same_runs(new.episode_schedule(), simulated(log, 10, 14, "easy"))  # the policy decides the rest


def test_there_is_room_at_first_and_for_who_is_compared_with() -> None:
    """Also where the warm-up needs more, and the policy of the reference."""
    machine = failing(by_node=60, most=60)
    env = SchedulingEnv(log_of_failing(2, machine=machine), k=6, jobs=2, warm_up=18)
    env.reset(options={"first": 10})
    assert env.slot._arena.sizes.kept > 64
    assert_same_runs(env.episode_schedule(), simulated(env.slot.log, 10, 20, "easy"))
    log = log_of_failing(2, machine=machine, reference="fcfs")
    env = SchedulingEnv(log, k=6, jobs=16, warm_up=0, reward="wait")
    _, _, info = play(env, head_or_wait, first=10)
    wait = measure_jobs(simulated(log, 10, 16, "fcfs"))["wait"].mean()
    assert info["reference_cost"] == pytest.approx(wait, rel=1e-12)


def test_there_is_room_at_the_end() -> None:
    """Where all that runs is lost at once, and so the episode ends: with the reward of its end, in vectors too."""
    machine = replace(
        draw_machine("count cores / 30 1", "1:0-29"),
        outages=outages_of(*((node, 10, 20, DOWN, SURPRISE, -1) for node in range(30))),
    )
    jobs = np.arange(30)
    trace = Trace.from_columns(
        job_number=jobs + 1, submit_time=jobs // 15, run_time=0 * jobs + 50, requested_time=0 * jobs + 50
    )
    asked = {"requested_nodes": 1, "requested_cores_per_node": 1.0}
    log = EpisodeLog(
        trace.with_jobs(trace.jobs.assign(**asked)), machine=machine, on_outage="lost", heads="machine", compiled=False
    )
    rules: dict[str, Any] = {"k": 30, "jobs": 30, "warm_up": 0, "reward": "turnaround", "dense": False}
    env = SchedulingEnv(log, **rules)
    _, total, _ = play(env, lambda _, mask: int(mask.argmax()))
    assert env.slot._arena.sizes.kept > 64
    assert total == pytest.approx(-50.0, rel=1e-12)
    envs = SchedulingVectorEnv(1, log, **rules)
    _, told = envs.reset()
    over, rewards = np.zeros(1, np.bool_), np.zeros(1)
    while not over[0]:
        _, rewards, over, _, told = envs.step(told["action_mask"].argmax(axis=1))
    assert rewards.tolist() == [total]


def test_it_is_not_over_while_a_node_may_go_down() -> None:
    """All have started, but one is stopped, and starts again."""
    machine = replace(draw_machine("cores / 4", "1:0"), outages=outages_of((0, 90, 170, DOWN, SURPRISE, -1)))
    trace = three_jobs(submit=[0, 1, 2], run=[80, 50, 100], nodes=[1, 1, 1], cores=[1.0, 1.0, 1.0])
    env = SchedulingEnv(EpisodeLog(trace, machine=machine, compiled=False), k=3, jobs=3, warm_up=0, reward="wait")
    with all_interpreted():
        env.reset()
        env.step(0)
        env.step(0)
        assert not env.step(0)[2]
        assert env.slot.machine.clock[0] == 170
        _, reward, over, _, info = env.step(0)
    assert (over, reward, info["cost"]) == (True, -168 / 3, 168 / 3)


def test_who_needs_nodes_that_are_not_known_to_be_back() -> None:
    """It has no reservation: all others go ahead that fit, and the time until it can start is seen as endless."""
    machine = replace(draw_machine("count cores / 2 4", "1:0-1"), outages=outages_of((1, 5, 5000, DOWN, SURPRISE, -1)))
    trace = three_jobs(submit=[6, 7, 8], run=[10, 20, 4000], nodes=[1, 2, 1], cores=[4.0, 4.0, 4.0])
    env = SchedulingEnv(EpisodeLog(trace, machine=machine, compiled=False), k=3, jobs=3, warm_up=0)
    with all_interpreted():
        env.reset()
        seen, _, _, _, info = env.step(0)
    assert (env.slot.machine.clock[0], info["action_mask"].tolist()) == (16, [0, 1, 0, 1])
    assert seen[:2, 3:5].tolist() == [[0, 0], [1, 1]]
    assert seen[3, [0, 1, 3]].tolist() == [0.5, 1.0, 0.0]


@pytest.mark.parametrize("steps", [9, 1000])
def test_nothing_is_left_of_an_episode(steps: int) -> None:
    """After a reset, in the middle or at the end, all goes on as in an environment that played nothing."""
    used, new = (SchedulingEnv(log_of_failing(6), k=6, jobs=30, warm_up=4, choice="reserve") for _ in range(2))
    seen, info = used.reset(options={"first": 20})
    choose, over = at_random(1), False
    while not over and steps > 0:
        seen, _, over, _, info = used.step(choose(seen, info["action_mask"]))
        steps -= 1
    if not over:
        used.episode_schedule()
    assert play(used, at_random(2), first=3)[:2] == play(new, at_random(2), first=3)[:2]
    assert_same_runs(used.episode_schedule(), new.episode_schedule())


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gymnasium_finds_nothing_wrong() -> None:
    """Its own checker."""
    check_env(SchedulingEnv(log_of_failing(), k=4, jobs=15, warm_up=5), skip_render_check=True)


def test_failures_by_a_model_are_drawn_by_their_seed() -> None:
    """The same seed gives the same episodes, another one others; several may be drawn in one environment."""
    kinds = [
        {"names": "thin[1-3]", "cores": 4, "memory": 10},
        {"names": "fat[1-2]", "cores": 8, "memory": 20, "gpus": 2},
    ]
    site = {"nodes": kinds, "partitions": [{"name": "1", "nodes": "thin[1-3]"}, {"name": "2", "nodes": "fat[1-2]"}]}
    machine = MachineDescription.from_mapping(site)
    changes = [f"failures: mtbf=3h,repair=30m,for=2d,seed={seed}" for seed in (1, 1, 2)]
    logs = [EpisodeLog(mixed(2), machine=machine.changed([change]), compiled=False) for change in changes]
    told = [play(SchedulingEnv(log, k=6, jobs=40, warm_up=0), at_random(3), first=5)[:2] for log in logs]
    assert told[0] == told[1] != told[2]
    env = SchedulingEnv(logs, k=6, jobs=40, warm_up=0)
    env.reset(seed=1, options={"log": 2, "first": 5})
    assert play(env, at_random(3), log=2, first=5)[:2] == told[2]


@pytest.mark.parametrize("policy", ["easy", "fcfs", "conservative"])
def test_policies_show_what_they_do(policy: str) -> None:
    """The actions make the policy's schedule, on its nodes; whoever was stopped is started again."""
    log = log_of_failing(2, machine=failing(known=policy == "conservative"), placement="best-fit")
    env = SchedulingEnv(log, k=30, jobs=40, warm_up=0, reward="wait")
    with all_interpreted():
        shown = demonstrate(env, policy, first=7)
    whole = simulated(log, 7, 40, policy, placement="best-fit")
    stopped = assert_same_runs(env.episode_schedule(), whole)
    assert stopped > 0
    assert (shown.actions < 30).sum() == 40 + stopped
    assert shown.masks[np.arange(len(shown.actions)), shown.actions].all()
    assert shown.rewards.sum() == pytest.approx(-measure_jobs(whole)["wait"].mean())


def test_who_decided_the_warm_up_shows_what_it_does() -> None:
    """On the nodes that it takes then, also where these were others before."""
    log = log_of_failing(2, heads="partition")
    env = SchedulingEnv(log, k=30, jobs=30, warm_up=15)
    with all_interpreted():
        demonstrate(env, "easy", first=3)
    assert assert_same_runs(env.episode_schedule(), simulated(log, 3, 45, "easy", heads="partition")) > 0


@pytest.mark.parametrize("choice", ["fits", "reserve"])
def test_what_agents_decide(choice: str) -> None:
    """As a policy an agent makes the same schedule as in an episode."""
    agent_policy(f"away-{choice}", by_hash, k=5, choice=choice)
    log = log_of_failing(5)
    env = SchedulingEnv(log, k=5, jobs=40, warm_up=0, choice=choice)
    with all_interpreted():
        play(env, by_hash, first=11)
        assert assert_same_runs(env.episode_schedule(), simulated(log, 11, 40, f"away-{choice}")) > 0


def test_machines_with_and_without_outages() -> None:
    """One environment cannot show them."""
    with pytest.raises(ParameterError, match="one placement, all of them with outages, or none"):
        SchedulingEnv([log_of_failing(), log_of_failing(machine=MACHINE)], k=4, jobs=10, warm_up=0)


@pytest.mark.slow
def test_compiled_is_interpreted() -> None:
    """Every number is the same, to the last bit."""
    for choice, options in (("fits", {}), ("reserve", {"on_outage": "checkpoint", "restart_overhead": 20.0})):
        told = []
        for compiled in (True, False, "checked"):
            log = log_of_failing(4, compiled=compiled, machine=failing(by_node=60, most=60), reference="sjf", **options)
            env = SchedulingEnv(log, k=3, jobs=40, warm_up=7, choice=choice)
            with all_interpreted(not compiled):
                each, _, info = play(env, at_random(5), first=6)
            told.append((each, info["cost"], info["jobs"], info["reference_cost"]))
        assert told[0] == told[1] == told[2]
