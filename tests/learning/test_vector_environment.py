# SPDX-License-Identifier: BSD-3-Clause
"""Many environments in one call: each is as it would be alone."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import swftools.learning  # noqa: F401 (registers the environment)
from swftools.errors import ParameterError
from swftools.learning import EpisodeLog, SchedulingEnv, SchedulingVectorEnv, default_log
from swftools.learning.costs import find_cost
from tests.learning.logs import bursts, crowded

SMALL = {"k": 5, "jobs": 20, "warm_up": 4}


@pytest.mark.parametrize("compiled", [True, False])
def test_each_is_as_it_would_be_alone(compiled: bool) -> None:
    """Step for step, through several ends; what was seen last, and what is told then, is handed on."""
    logs = [
        EpisodeLog(crowded(seed, processors=8 * (seed + 1)), reference="sjf", compiled=compiled) for seed in range(2)
    ]
    envs, random = SchedulingVectorEnv(5, logs, **SMALL), np.random.default_rng(1)
    seen, info = envs.reset(seed=3)
    alone: list[Any] = []
    for i in range(5):
        env = SchedulingEnv(logs, **SMALL)
        alone.append(env)
        shown, told = env.reset(options=_where(envs, i))
        np.testing.assert_array_equal(shown, seen[i])
        assert told["action_mask"].tolist() == info["action_mask"][i].tolist()
    ended = 0
    for _ in range(60):
        actions = np.array([random.choice(np.flatnonzero(mask)) for mask in info["action_mask"]])
        seen, rewards, over, cut, info = envs.step(actions)
        assert not cut.any()
        assert ("final_obs" in info) == over.any()
        for i, env in enumerate(alone):
            shown, reward, ends, _, told = env.step(int(actions[i]))
            assert (rewards[i], over[i]) == (reward, ends)
            if ends:
                ended += 1
                np.testing.assert_array_equal(info["final_obs"][i], shown)
                assert info["_final_obs"][i]
                assert info["final_info"]["cost"][i] == told["cost"]
                assert info["final_info"]["reference_cost"][i] == told["reference_cost"]
                shown, told = env.reset(options=_where(envs, i))
            np.testing.assert_array_equal(shown, seen[i])
            assert told["action_mask"].tolist() == info["action_mask"][i].tolist()
            assert envs.action_masks()[i].tolist() == env.action_masks().tolist()
    assert ended > 5


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("reward", ["utilization", "wait"])
def test_rewards_at_the_end(reward: str, dense: bool) -> None:
    """What the schedule tells is told by the last step; an episode's rewards add up to what they do alone."""
    log = EpisodeLog(crowded(4), reference="fcfs")
    envs, alone = (
        make(reward=reward, dense=dense)
        for make in (partial(SchedulingVectorEnv, 2, log, **SMALL), partial(SchedulingEnv, log, **SMALL))
    )
    firsts = np.array([3, 17])
    _, info = envs.reset(options={"first": firsts})
    totals, is_over, told = np.zeros(2), np.zeros(2, bool), np.zeros(2)
    while not is_over.all():
        _, rewards, over, _, info = envs.step(info["action_mask"].argmax(axis=1))
        totals[~is_over] += rewards[~is_over]
        ended = over & ~is_over
        if ended.any():
            told[ended] = info["final_info"]["cost"][ended]
        is_over |= over
    for i, first in enumerate(firsts):
        _, info = alone.reset(options={"first": int(first)})
        total, over_alone = 0.0, False
        while not over_alone:
            _, reward_of_step, over_alone, _, info = alone.step(int(info["action_mask"].argmax()))
            total += reward_of_step
        assert totals[i] == pytest.approx(total, rel=1e-12)
        assert told[i] == info["cost"]
        assert total == pytest.approx(info["reference_cost"] - info["cost"])


def _where(envs: SchedulingVectorEnv, i: int) -> dict[str, int]:
    """Return which episode one of them plays."""
    slot = envs._playing[i]
    return {"log": [envs.logs[n] for n in range(len(envs.logs))].index(slot.log), "first": slot.first}


def test_by_its_name() -> None:
    """Gymnasium makes it, and knows how it begins again."""
    envs = gymnasium.make_vec(
        "swftools/SchedulingEnv-v1", num_envs=3, vectorization_mode="vector_entry_point", jobs=20, warm_up=0, k=4
    )
    assert isinstance(envs.unwrapped, SchedulingVectorEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    seen, _ = envs.reset(seed=1)
    assert seen in envs.observation_space
    actions = envs.action_space.sample()
    assert envs.step(actions)[0] in envs.observation_space


def test_what_is_handed_out_stays() -> None:
    """With copies, at the next step; without, it is what is seen now."""
    for copies in (True, False):
        envs = SchedulingVectorEnv(2, crowded(1), **SMALL, copies=copies)
        seen, info = envs.reset(seed=1)
        before = seen.copy(), info["action_mask"].copy()
        for _ in range(5):
            envs.step(envs.action_masks().argmax(axis=1))
        assert (seen == before[0]).all() == copies


def test_given_episodes() -> None:
    """One for all, or one for each."""
    envs = SchedulingVectorEnv(3, crowded(1), **SMALL)
    envs.reset(options={"first": 4})
    assert [slot.first for slot in envs._playing] == [4, 4, 4]
    envs.reset(options={"first": np.array([1, 5, 9]), "log": 0})
    assert [slot.first for slot in envs._playing] == [1, 5, 9]
    with pytest.raises(ParameterError, match="first has 2 values; give one, or 3"):
        envs.reset(options={"first": [1, 2]})


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        (np.array([0]), "give 2 integers"),
        (np.array([[0, 1]]), "give 2 integers"),
        (np.array([0.0, np.nan]), "give 2 integers"),
        (np.array([0, 6]), "not all from 0 to 5"),
        (np.array([-1, 0]), "not all from 0 to 5"),
    ],
)
def test_what_are_no_actions(actions: Any, words: str) -> None:
    """One clear error each."""
    envs = SchedulingVectorEnv(2, crowded(1), **SMALL)
    envs.reset()
    with pytest.raises(ParameterError, match=words):
        envs.step(actions)


def test_bad_input() -> None:
    """Likewise."""
    for given, words in (({"num_envs": 0}, "num_envs=0"), ({"num_envs": 2.0}, "num_envs=2.0"), ({"k": -1}, "k=-1")):
        with pytest.raises(ParameterError, match=words):
            SchedulingVectorEnv(**{"num_envs": 2, "log": crowded(1), **SMALL, **given})
    envs = SchedulingVectorEnv(2, crowded(1), **SMALL)
    with pytest.raises(ParameterError, match="no episode has begun"):
        envs.step(np.array([0, 0]))
    for seed, words in (
        ([1], "seed has 1 values; give one, or 2"),
        ([1, -1], "seed=-1 is not"),
        ([1.5, 1], "seed=1.5 is not"),
        (-1, "seed=-1 is not"),
        (True, "seed=True is not"),
        ("5", "seed='5' is not"),
    ):
        with pytest.raises(ParameterError, match=words):
            envs.reset(seed=seed)


def test_a_seed_for_each() -> None:
    """Each plays the episodes that it plays alone with this seed; without one it goes on as it did."""
    alone = [SchedulingEnv(bursts(), **SMALL) for _ in range(3)]
    envs = SchedulingVectorEnv(3, bursts(), **SMALL)
    seen, info = envs.reset(seed=[4, 5, 4])
    for env, seed, shown in zip(alone, (4, 5, 4), seen, strict=True):
        np.testing.assert_array_equal(env.reset(seed=seed)[0], shown)
    for _ in range(60):
        actions = info["action_mask"].argmax(axis=1)
        seen, _, over, _, info = envs.step(actions)
        for i, env in enumerate(alone):
            shown = env.step(int(actions[i]))[0]
            np.testing.assert_array_equal(env.reset()[0] if over[i] else shown, seen[i])
    firsts = []
    for given in ([4, 5, 6], np.array([4, 5, 6]), (None, np.int64(5), None), 9, None, np.int64(9)):
        envs.reset(seed=given)
        firsts.append([slot.first for slot in envs._playing])
    assert firsts[0] == firsts[1]
    assert firsts[2][1] == firsts[0][1]
    assert firsts[2][0] != firsts[0][0]
    assert firsts[3] == firsts[5] != firsts[4]


def test_bursts_leave_each_its_jobs() -> None:
    """Where jobs come at once nobody's warm-up takes those of the agent."""
    envs = SchedulingVectorEnv(4, bursts(), **SMALL, policy="sjf")
    _, info = envs.reset(seed=1)
    ended = 0
    for _ in range(60):
        _, _, over, _, info = envs.step(info["action_mask"].argmax(axis=1))
        if over.any():
            ended += over.sum()
            assert (info["final_info"]["jobs"][over] >= SMALL["jobs"]).all()
            assert (info["final_info"]["cost"][over] >= 1.0).all()
    assert ended > 4


@pytest.mark.parametrize("kind", [SchedulingEnv, SchedulingVectorEnv])
def test_an_option_that_is_misspelt(kind: type) -> None:
    """It is named, with what there is, also where the log is made ready already, which would take no options."""
    for log in (None, EpisodeLog(crowded(1))):
        with pytest.raises(ParameterError, match=r"unknown parameters \['warmup'\].*did you mean warm_up\?"):
            kind(log=log, warmup=5)


@pytest.mark.parametrize("kind", [SchedulingEnv, SchedulingVectorEnv])
def test_what_is_not_given(kind: type) -> None:
    """Is the same of one environment and of many; what is given is taken."""
    log = EpisodeLog(default_log())
    rules = kind(log=log).rules
    assert (rules.k, rules.jobs, rules.warm_up, rules.choice, rules.dense) == (128, 256, 64, "fits", True)
    assert rules.cost == find_cost("bounded_slowdown")
    given = {"k": 3, "jobs": 9, "warm_up": 2, "choice": "reserve", "dense": False}
    rules = kind(log=log, **given, reward="wait").rules
    assert {name: getattr(rules, name) for name in given} == given
    assert rules.cost == find_cost("wait")


def test_one_reward_or_one_a_start() -> None:
    """Without ``dense`` all of it comes at the end; it is the same in all."""
    sums = []
    for dense in (True, False):
        env = SchedulingEnv(EpisodeLog(crowded(1)), **SMALL, dense=dense)
        _, info = env.reset(seed=1)
        rewards, over = [], False
        while not over:
            _, reward, over, _, info = env.step(int(info["action_mask"].argmax()))
            rewards.append(reward)
        assert any(rewards[:-1]) == dense
        sums.append(sum(rewards))
    assert sums[0] == pytest.approx(sums[1])
    assert sums[0] < 0
