# SPDX-License-Identifier: BSD-3-Clause
"""The environment: what is seen, what is allowed, what it costs; and that it is the simulator's own engine."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import swftools.learning  # noqa: F401 (registers the environment)
from swftools import Trace
from swftools.errors import ParameterError
from swftools.learning import EpisodeLog, SchedulingEnv, demonstrate
from swftools.learning.observation import observe
from swftools.simulator import Stepper, measure, measure_jobs, simulate, validate
from swftools.simulator.machine.state import SUBMITTED
from tests.interpreted import all_interpreted
from tests.learning.logs import JOBS, bursts, crowded, part_of, seen_by

SMALL = {"k": 6, "jobs": 30, "warm_up": 0}


def play(env: SchedulingEnv, choose: Any, seed: int = 0, **options: Any) -> tuple[float, dict[str, Any]]:
    """Play an episode; return the sum of rewards, and what is told at the end."""
    seen, info = env.reset(seed=seed, options=options or None)
    total, over = 0.0, False
    while not over:
        seen, reward, over, cut, info = env.step(choose(seen, info["action_mask"]))
        assert not cut
        total += reward
    return total, info


def at_random(seed: int) -> Any:
    """Return an agent that takes any allowed action."""
    random = np.random.default_rng(seed)
    return lambda _, mask: int(random.choice(np.flatnonzero(mask)))


def head_or_wait(seen: Any, mask: Any) -> int:
    """Start the first of the queue if it fits, as FCFS does."""
    return 0 if mask[0] else len(mask) - 1


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gymnasium_finds_nothing_wrong() -> None:
    """Its own checker, on the environment as it is made by its name."""
    env = gymnasium.make("swftools/SchedulingEnv-v1", jobs=20, warm_up=5, k=8)
    check_env(env.unwrapped)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(("policy", "choice"), [("fcfs", "fits"), ("easy", "reserve")])
@pytest.mark.parametrize("overrun", ["run-on", "kill"])
def test_it_is_the_simulator(policy: str, choice: str, overrun: str, compiled: bool) -> None:
    """Always the head is FCFS; if a job may be chosen that does not fit, EASY: bit for bit."""
    log = EpisodeLog(crowded(1), overrun=overrun, compiled=compiled)
    env = SchedulingEnv(log, **SMALL, choice=choice)
    choose = head_or_wait if choice == "fits" else (lambda *_: 0)
    for first in (0, 17, 30):
        play(env, choose, first=first)
        ours = env.episode_schedule()
        whole = simulate(part_of(log, first, 30), policy, overrun=overrun)
        for name in ("job_number", "start_time", "end_time"):
            assert ours.jobs[name].tolist() == whole.jobs[name].tolist()
        assert validate(ours, trace=part_of(log, first, 30)).ok


@pytest.mark.parametrize("choice", ["fits", "reserve"])
@pytest.mark.parametrize("compiled", [True, False])
def test_what_is_seen(choice: str, compiled: bool) -> None:
    """Everything that is shown is what plain Python finds in a simulation that is acted on likewise."""
    log = EpisodeLog(crowded(2), compiled=compiled)
    env = SchedulingEnv(log, k=4, jobs=40, warm_up=0, choice=choice, invalid="raise")
    seen, info = env.reset(seed=1, options={"first": 5})
    stepper = Stepper(part_of(log, 5, 40), "fcfs", overrun="run-on")
    choose, over, decisions, full = at_random(3), False, 0, 0
    assert stepper.advance()
    while not over:
        while not _has_choice(stepper, 4, choice):
            assert stepper.advance()
        to_come = 40 - int((stepper.width >= 0).sum())
        shown, mask = seen_by(stepper, 4, to_come, reserves=choice == "reserve")
        np.testing.assert_allclose(seen, shown, atol=1e-6)
        assert info["action_mask"].tolist() == mask.tolist() == env.action_masks().tolist()
        full += len(stepper.waiting) > 4
        action = choose(seen, mask)
        if action == 4:
            assert stepper.advance()
        else:
            job = stepper.waiting[action]
            is_fitting = stepper.width[job] <= stepper.free
            stepper.start_or_fill(job)
            if not is_fitting:
                stepper.advance()
        seen, _, over, _, info = env.step(action)
        decisions += 1
    assert (decisions, info["decisions"]) == (info["decisions"], decisions)
    assert full > 3
    assert not len(stepper.waiting)


def _has_choice(stepper: Stepper, k: int, choice: str) -> bool:
    """Whether the environment would ask."""
    fits = [stepper.width[job] <= stepper.free for job in stepper.waiting]
    return any(fits[:k] if choice == "fits" else fits)


@pytest.mark.parametrize("reward", ["wait", "turnaround", "bounded_slowdown"])
def test_rewards_add_up_to_the_mean_cost(reward: str) -> None:
    """Of the jobs that started after the warm-up, as the schedule's own measures have it."""
    log = EpisodeLog(crowded(3), reference="sjf")
    for dense in (True, False):
        env = SchedulingEnv(log, k=6, jobs=30, warm_up=10, reward=reward, dense=dense, reference="sjf")
        total, info = play(env, at_random(1), first=4)
        schedule = env.episode_schedule()
        part = part_of(log, 4, 40)
        handed_over = part.arrays.submit_time[9]
        counted = schedule.jobs["start_time"].to_numpy() > handed_over
        assert 0 < info["jobs"] == counted.sum() < 40
        cost = measure_jobs(schedule)[reward].to_numpy()[counted].mean()
        assert info["cost"] == pytest.approx(cost, rel=1e-12)
        assert total == pytest.approx(info["reference_cost"] - cost, rel=1e-9)
        assert info["reference_cost"] != pytest.approx(cost)


def test_cost_of_the_reference() -> None:
    """Without a warm-up it is that of the policy on these jobs; with one, of EASY's after EASY's, the same."""
    log = EpisodeLog(crowded(4), reference="easy")
    env = SchedulingEnv(log, **SMALL, reward="bounded_slowdown")
    _, info = play(env, at_random(2), first=11)
    schedule = simulate(part_of(log, 11, 30), "easy", overrun="run-on")
    assert info["reference_cost"] == pytest.approx(measure_jobs(schedule)["bounded_slowdown"].mean(), rel=1e-12)
    env = SchedulingEnv(log, k=6, jobs=20, warm_up=10, reward="bounded_slowdown", choice="reserve")
    total, info = play(env, lambda *_: 0, first=11)
    assert total == pytest.approx(0.0, abs=1e-9)


def test_rewards_of_whole_schedules() -> None:
    """Any measure is told at the end, as less where less is worse; or a function, where more is better."""
    log = EpisodeLog(crowded(5))
    for reward, sign in (("utilization", 1.0), ("makespan", -1.0)):
        env = SchedulingEnv(log, **SMALL, reward=reward)
        total, info = play(env, at_random(1), first=2)
        found = measure(env.episode_schedule())
        of_it = found[(found["measure"] == reward) & found["statistic"].isin(["time_mean", "value"])]
        assert total == pytest.approx(sign * of_it["value"].iloc[0])
        assert info["cost"] == -total
    env = SchedulingEnv(log, **SMALL, reward=lambda schedule: float(len(schedule.jobs)), reference="fcfs")
    assert play(env, at_random(1))[0] == 30.0
    log = EpisodeLog(crowded(5), reference="easy")
    env = SchedulingEnv(log, **SMALL, reward="makespan", choice="reserve")
    assert play(env, lambda *_: 0, first=2)[0] == 0.0


@pytest.mark.parametrize("junk", [np.nan, -1.0, 1e9])
def test_no_look_into_the_future(junk: float) -> None:
    """Run times, and all that is to come, may be junk: what is seen and allowed is the same."""
    env = SchedulingEnv(crowded(6), k=6, jobs=40, warm_up=5)
    choose = at_random(4)
    seen, info = env.reset(seed=2)
    slot, over, looked = env._slot, False, 0
    assert slot is not None
    while not over:
        kept = slot.coming.run_time.copy(), [column.copy() for column in slot.requests]
        slot.coming.run_time[:] = junk
        for column in slot.requests:
            column[slot.machine.counts[SUBMITTED] :] = junk if column.dtype.kind == "f" else -7
        env._seen.observation[:] = 0.5
        observe.py_func(slot.machine, env._seen)
        again, allowed = env._observation.copy(), env.action_masks()
        rows = int(env._seen.counts[0])
        np.testing.assert_array_equal(again[[*range(rows), -1], :5], seen[[*range(rows), -1], :5])
        assert allowed.tolist() == info["action_mask"].astype(bool).tolist()
        slot.coming.run_time[:] = kept[0]
        for column, old in zip(slot.requests, kept[1], strict=True):
            column[:] = old
        env._observation[:] = seen
        seen, _, over, _, info = env.step(choose(seen, info["action_mask"]))
        looked += 1
    assert looked > 20


def test_run_times_are_told_by_nothing() -> None:
    """Two logs that differ in run times alone look the same until the first job ends."""
    found = []
    for longer in (3000, 9000):
        trace = crowded(7)
        longer_trace = trace.with_jobs(trace.jobs.assign(run_time=trace.jobs["run_time"] + longer))
        env = SchedulingEnv(longer_trace, processors=20, **SMALL)
        seen, info = env.reset(options={"first": 0})
        assert env._slot is not None
        shown, begin = [], env._slot.machine.clock[0]
        while env._slot.machine.clock[0] < begin + 3000:
            shown.append(seen)
            seen, _, _, _, info = env.step(int(info["action_mask"].argmax()))
        found.append(shown)
    assert len(found[0]) == len(found[1]) > 2
    np.testing.assert_array_equal(found[0], found[1])


def test_compiled_is_interpreted() -> None:
    """Every number is the same, to the last bit."""
    told = []
    for compiled in (True, False, "checked"):
        env = SchedulingEnv(crowded(8), k=3, jobs=40, warm_up=7, reference="easy", compiled=compiled)
        choose, over, each = at_random(9), False, []
        with all_interpreted(not compiled):
            seen, info = env.reset(seed=4)
            while not over:
                seen, reward, over, _, info = env.step(choose(seen, info["action_mask"]))
                each.append((seen.tobytes(), reward, over, info["action_mask"].tobytes()))
        told.append((each, {name: info[name] for name in ("cost", "jobs", "reference_cost")}))
    assert told[0] == told[1] == told[2]


def test_seeds_and_options() -> None:
    """The same seed draws the same episodes; a given one is taken."""
    env = SchedulingEnv(crowded(9), **SMALL)
    firsts = []
    for _ in range(2):
        env.reset(seed=5)
        drawn = [env._slot.first if env._slot else -1]
        for _ in range(5):
            env.reset()
            drawn.append(env._slot.first if env._slot else -1)
        firsts.append(drawn)
    assert firsts[0] == firsts[1]
    assert len(set(firsts[0])) > 2
    assert 0 <= min(firsts[0]) <= max(firsts[0]) <= JOBS - 30
    env.reset(options={"first": JOBS - 30})
    assert env._slot is not None
    assert env._slot.first == JOBS - 30


def test_every_part_of_a_log_is_drawn() -> None:
    """Also the first and the last."""
    env = SchedulingEnv(crowded(9), k=2, jobs=JOBS - 2, warm_up=0)
    drawn = set()
    for _ in range(40):
        env.reset(seed=None if drawn else 1)
        drawn.add(env.slot.first)
    assert drawn == {0, 1, 2}


def test_several_logs() -> None:
    """Logs of several machines take turns, by weights that may change; nothing of one is left in the other."""
    logs = [crowded(10), crowded(11, processors=64)]
    env, alone = SchedulingEnv(logs, **SMALL, weights=[1, 0]), SchedulingEnv(logs[1], **SMALL)
    play(env, at_random(1))
    assert env._slot is not None
    assert env._slot.log.processors == 8
    env.reset()
    for _ in range(12):
        env.step(int(env.action_masks().argmax()))
    env.weights = [0, 3]
    seen, info = env.reset(options={"first": 3})
    assert env._slot.log.processors == 64
    expected, told = alone.reset(options={"first": 3})
    np.testing.assert_array_equal(seen, expected)
    assert info["action_mask"].tolist() == told["action_mask"].tolist()
    assert play(env, at_random(5), log=0, first=1)[0] != play(env, at_random(5), log=1, first=1)[0]


def test_actions_that_are_not_allowed() -> None:
    """They wait, and are counted; or they are an error, and nothing has changed."""
    trace = Trace.from_columns(
        machine_processors=2,
        job_number=[1, 2, 3],
        submit_time=[0, 0, 5],
        run_time=[10, 10, 10],
        requested_time=[10, 10, 10],
        requested_processors=[1, 2, 1],
    )
    env = SchedulingEnv(trace, k=2, jobs=3, warm_up=0, reward="wait")
    _, info = env.reset()
    assert info["action_mask"].tolist() == [1, 1, 1]  # to wait is to wait for the third job
    _, _, _, _, info = env.step(1)
    assert info["action_mask"].tolist() == [1, 1, 0]  # at 10, when nothing runs, and none is to come
    strict = SchedulingEnv(trace, k=2, jobs=3, warm_up=0, invalid="raise")
    strict.reset()
    strict.step(0)  # one processor left: the wide job does not fit; at 5 the third one does
    assert strict._mask.tolist() == [0, 1, 1]
    before = strict._observation.copy()
    with pytest.raises(ParameterError, match="action 0 is not allowed: this job does not fit now"):
        strict.step(0)
    np.testing.assert_array_equal(before, strict._observation)
    over = strict.step(1)[2]
    assert not over
    lenient = SchedulingEnv(trace, k=2, jobs=3, warm_up=0, reward="wait")
    lenient.reset()
    lenient.step(0)
    _, _, over, _, info = lenient.step(0)  # waits for the end of the first, at 10: then both fit
    assert (over, info["action_mask"].tolist()) == (False, [1, 1, 0])
    lenient.step(0)
    *_, info = lenient.step(0)
    assert info["invalid_actions"] == 1
    assert lenient.episode_schedule().jobs["start_time"].tolist() == [0.0, 10.0, 20.0]


def test_waiting_for_nothing() -> None:
    """Where nothing runs and none is to come, to wait is not allowed; who does takes the first that is."""
    trace = Trace.from_columns(
        machine_processors=2,
        job_number=[1],
        submit_time=[3],
        run_time=[10],
        requested_time=[10],
        requested_processors=[1],
    )
    env = SchedulingEnv(trace, k=2, jobs=1, warm_up=0, invalid="raise")
    _, info = env.reset()
    assert info["action_mask"].tolist() == [1, 0, 0]
    with pytest.raises(ParameterError, match="nothing runs and no job is to come"):
        env.step(2)
    with pytest.raises(ParameterError, match="no job in this row"):
        env.step(1)
    env = SchedulingEnv(trace, k=2, jobs=1, warm_up=0)
    env.reset()
    seen, reward, over, _, info = env.step(2)
    assert (over, reward, info["invalid_actions"]) == (True, -1.0, 1)
    assert not seen.any()
    assert info["action_mask"].tolist() == [0, 0, 1]


@pytest.mark.parametrize("compiled", [True, False])
def test_where_the_warm_up_ends(compiled: bool) -> None:
    """Behind the submission of its last job: the first decision is on the next one."""
    trace = Trace.from_columns(
        machine_processors=9,
        job_number=[1, 2, 3, 4],
        submit_time=[4, 10, 20, 30],
        run_time=[100, 100, 100, 100],
        requested_time=[100, 100, 100, 100],
        requested_processors=[1, 2, 1, 1],
    )
    for warm_up in range(4):
        env = SchedulingEnv(trace, k=2, jobs=4 - warm_up, warm_up=warm_up, compiled=compiled)
        seen, _ = env.reset()
        assert env.slot.machine.clock[0] == [4.0, 10.0, 20.0, 30.0][warm_up]
        assert seen[-1, 0] == pytest.approx(1.0 - [0, 1, 3, 4][warm_up] / 9)
        assert play(env, head_or_wait)[1]["jobs"] == 4 - warm_up


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("policy", ["fcfs", "easy", "sjf", "lxf", "lxf-backfill", "narrowest"])
def test_where_jobs_come_at_once(policy: str, compiled: bool) -> None:
    """The policy decides the jobs of the warm-up and no other: the agent gets all the rest, at the same instant."""
    log = EpisodeLog(bursts(), policy=policy, reference=policy, compiled=compiled)
    for warm_up in (0, 1, 9, 10, 11):
        env = SchedulingEnv(log, k=4, jobs=12, warm_up=warm_up)
        for first in (0, 7) if compiled else (7,):
            seen, _ = env.reset(options={"first": first})
            machine = env.slot.machine
            assert machine.clock[0] == (first + warm_up) // 10 * 600  # where the agent's first job comes
            assert machine.counts[SUBMITTED] > warm_up
            assert env.slot.replay.log.size[0] == warm_up  # all of them fit
            assert seen[0, 5] == 1
            _, info = play(env, head_or_wait, first=first)
            assert (info["jobs"], len(env.episode_schedule().jobs)) == (12, warm_up + 12)
            assert min(info["cost"], info["reference_cost"]) >= 1.0


def test_what_the_policy_decides_where_jobs_come_at_once() -> None:
    """Under sjf the first two of a burst start, though a shorter one comes with them; one behind the other decides."""
    trace = Trace.from_columns(
        machine_processors=2,
        job_number=[1, 2, 3, 4],
        submit_time=[5, 5, 5, 5],
        run_time=[10, 20, 1, 30],
        requested_time=[10, 20, 1, 30],
        requested_processors=[1, 1, 1, 1],
    )
    env = SchedulingEnv(trace, k=2, jobs=2, warm_up=2, policy="sjf", reward="wait")
    env.reset()
    assert env.episode_schedule().jobs["start_time"].tolist() == [5, 5, 15, 16]
    shown = demonstrate(env, "sjf")
    assert (shown.actions.tolist(), shown.info["cost"], shown.info["jobs"]) == ([0, 0], 10.5, 2)
    env = SchedulingEnv(trace, k=4, jobs=4, warm_up=0, policy="sjf")
    env.reset()
    assert env.episode_schedule().jobs["start_time"].tolist() == [5, 6, 5, 15]


@pytest.mark.parametrize("warm_up", [0, 1, 25])
def test_gymnasium_checks_bursts(warm_up: int) -> None:
    """Its own check finds nothing, whatever the warm-up leaves."""
    check_env(SchedulingEnv(bursts(), k=4, jobs=15, warm_up=warm_up), skip_render_check=True)


@pytest.mark.parametrize("action", [-1, 7, 1.5, np.nan, "start", None])
def test_what_is_no_action(action: Any) -> None:
    """It is an error that says what is one."""
    env = SchedulingEnv(crowded(), **SMALL)
    with pytest.raises(ParameterError, match="has not begun"):
        env.step(0)
    env.reset()
    with pytest.raises(ParameterError, match="not an integer from 0 to 6"):
        env.step(action)
    play(env, at_random(0))
    with pytest.raises(ParameterError, match="is over"):
        env.step(0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": 0}, "k=0 is not an integer of 1 or more"),
        ({"jobs": 2.5}, "jobs=2.5 is not"),
        ({"warm_up": -1}, "warm_up=-1 is not"),
        ({"jobs": 61, "warm_up": 0}, "an episode has 61 jobs with its warm-up, and the log 60"),
        ({"reward": "beauty"}, "reward='beauty' is not one of: wait"),
        ({"reward": "utility"}, "reward='utility'"),
        ({"choice": "any"}, "choice='any' is not one of: fits, reserve"),
        ({"invalid": "skip"}, "invalid='skip' is not one of"),
        ({"policy": "conservative"}, "policy 'conservative' has a memory"),
        ({"reference": "easy:reservations=2"}, "policy 'easy' has a memory"),
        ({"policy": "eazy"}, "eazy"),
        ({"weights": [1, 2]}, "for each of 1 logs"),
        ({"weights": [-1]}, "for each of 1 logs"),
        ({"predictor": "user-average"}, "learns"),
        ({"render_mode": "human"}, "nothing is drawn"),
        ({"log": []}, "give a Trace"),
        ({"log": "a.swf"}, "give a Trace"),
    ],
)
def test_bad_input(options: dict[str, Any], words: str) -> None:
    """One clear error each."""
    with pytest.raises(ParameterError, match=words):
        play(SchedulingEnv(**{"log": crowded(), "jobs": 20, "warm_up": 2, "k": 4} | options), head_or_wait)


def test_logs_without_requests() -> None:
    """Their run times would be told in advance."""
    trace = crowded()
    jobs = trace.jobs.assign(requested_time=trace.jobs["requested_time"].where(trace.jobs["job_number"] > 3))
    with pytest.raises(ParameterError, match="3 of 60 jobs have no requested time"):
        SchedulingEnv(trace.with_jobs(jobs), **SMALL)
    play(SchedulingEnv(trace.with_jobs(jobs), **SMALL, requests="tsafrir"), head_or_wait)


def test_bad_options_of_reset() -> None:
    """What is given there must be there."""
    env = SchedulingEnv(crowded(), **SMALL)
    for options, words in (({"frist": 1}, "frist"), ({"first": 31}, "from 0 to 30"), ({"log": 1}, "from 0 to 0")):
        with pytest.raises(ParameterError, match=words):
            env.reset(options=options)
    with pytest.raises(ParameterError, match="no episode has begun"):
        SchedulingEnv(crowded(), **SMALL).episode_schedule()


@pytest.mark.parametrize("steps", [25, 1000])
@pytest.mark.parametrize("choice", ["fits", "reserve"])
def test_nothing_is_left_of_an_episode(choice: str, steps: int) -> None:
    """After a reset, in the middle or at the end, all arrays are those of an environment that played nothing."""
    log = EpisodeLog(crowded(12))  # a reference would be simulated to its end in between
    used, new = (SchedulingEnv(log, k=6, jobs=30, warm_up=0, choice=choice) for _ in range(2))
    choose, over = at_random(1), False
    seen, info = used.reset(options={"first": 20})
    while not over and steps > 0:
        seen, _, over, _, info = used.step(choose(seen, info["action_mask"]))
        steps -= 1
    if over:
        used.episode_schedule()
    used.reset(options={"first": 3})
    new.reset(options={"first": 3})
    assert used._slot is not None
    assert new._slot is not None
    # Beyond their counts these hold what was written to them last, which nobody looks at.
    scratch = {"held_until", "held", "running", "started", "ended", "requests", "queue", "stops", "predicted"}
    machines, requests = (used._slot.machine, new._slot.machine), (used._slot.requests, new._slot.requests)
    for name in machines[0]._fields:
        if name not in scratch:
            np.testing.assert_array_equal(*(getattr(each, name) for each in machines), err_msg=name)
    for name in requests[0]._fields:
        np.testing.assert_array_equal(*(getattr(each, name) for each in requests), err_msg=name)
    for name in machines[0].queue._fields:
        np.testing.assert_array_equal(*(getattr(each.queue, name) for each in machines), err_msg=name)
    counts = [slot.replay.counts for slot in (used._slot, new._slot)]
    np.testing.assert_array_equal(*counts)
    assert used._slot.replay.until[0] == new._slot.replay.until[0] == np.inf
    assert play(used, at_random(2), first=3)[0] == play(new, at_random(2), first=3)[0]


def test_the_log_is_in_memory_once() -> None:
    """Environments share it, and an episode has of it what its jobs need."""
    log = EpisodeLog(crowded(jobs=500))
    envs = [SchedulingEnv(log, **SMALL) for _ in range(3)]
    for env in envs:
        env.reset()
        slot = env._slot
        assert slot is not None
        assert np.shares_memory(slot.coming.submit_time, log.coming.submit_time)
        assert np.shares_memory(slot.coming.processors, log.coming.processors)
        assert len(slot.coming.run_time) == 30
