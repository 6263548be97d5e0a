# SPDX-License-Identifier: BSD-3-Clause
"""Learning by trial: its gradient, that it gets better, that it is the same again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swftools.errors import ParameterError
from swftools.keyed_random import generator
from swftools.learning import EpisodeLog, Network, SchedulingVectorEnv, compare_schedulers, network_policy, train
from swftools.learning.policy_gradient import _climb, _try_out, chances, slopes
from tests.learning.logs import crowded

SMALL = {"k": 6, "jobs": 20, "warm_up": 5, "episodes": 4, "trials": 4}


def seen_at_random(seed: int, count: int = 3, rows: int = 5) -> tuple[Any, Any, Any]:
    """Return what some trials may see, what is allowed, and what each takes."""
    random = np.random.default_rng(seed)
    seen = random.random((count, rows, 6)).astype(np.float32)
    mask = random.random((count, rows)) < 0.7
    mask[:, -1] = True
    taken = np.array([random.choice(np.flatnonzero(row)) for row in mask])
    return seen, mask, taken


@pytest.mark.parametrize("seed", range(3))
def test_slopes_are_differences(seed: int) -> None:
    """Of the logarithm of the chance of what was taken, by every weight."""
    network = Network.random(4, seed)
    network = network._replace(out=4 * network.out, bias=network.bias + 0.1)
    seen, mask, taken = seen_at_random(seed)
    found = slopes(network, seen, chances(network, seen, mask), taken)
    step = 1e-6
    for name, slope in zip(network._fields, found, strict=True):
        weights = getattr(network, name)
        for place in np.ndindex(weights.shape):
            logs = []
            for sign in (1, -1):
                moved = weights.copy()
                moved[place] += sign * step
                chance = chances(network._replace(**{name: moved}), seen, mask)
                logs.append(np.log(chance[np.arange(len(taken)), taken]))
            np.testing.assert_allclose(slope[(slice(None), *place)], (logs[0] - logs[1]) / (2 * step), atol=1e-6)


def test_chances() -> None:
    """They add up to 1 over what is allowed, follow the scores, and large scores are no overflow."""
    network = Network.random(4, 1)
    network = network._replace(out=1e4 * network.out)
    seen, mask, _ = seen_at_random(1)
    chance = chances(network, seen, mask)
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    assert (chance[~mask] == 0.0).all()
    calm = network._replace(out=1e-3 * network.out)
    scores = calm.scores(seen)
    chance = chances(calm, seen, mask)
    first, second = np.flatnonzero(mask[0])[:2]
    assert np.log(chance[0, first] / chance[0, second]) == pytest.approx(scores[0, first] - scores[0, second])


def test_better_trials_become_more_likely() -> None:
    """The gradient is that of the weighted logarithms of chances, as the same trials show, played again."""
    envs = SchedulingVectorEnv(32, EpisodeLog(crowded(1)), k=6, jobs=20, warm_up=5, copies=False)
    network = Network.random(4, 2)
    gradient, costs, _ = _try_out(network, envs, 4, 8, generator(3, "test"))
    assert np.ptp(costs) > 0
    for name, slope in zip(network._fields, gradient, strict=True):
        place, step = np.unravel_index(np.abs(slope).argmax(), slope.shape), 1e-4
        found = []
        for sign in (1, -1):
            moved = getattr(network, name).copy()
            moved[place] += sign * step
            found.append(_weighted_logarithms(network._replace(**{name: moved}), network, envs, 4, 8))
        assert slope[place] == pytest.approx((found[0] - found[1]) / (2 * step), rel=1e-3)


def _weighted_logarithms(scored: Network, played: Network, envs: Any, episodes: int, trials: int) -> float:
    """Play the trials of a network again, with the same draws; weigh the logarithms of another network's chances."""
    random, count = generator(3, "test"), episodes * trials
    drawn = [envs.logs.draw(random, envs.rules.length, {}) for _ in range(episodes)]
    number, first = (np.repeat([each[i] for each in drawn], trials) for i in range(2))
    seen, info = envs.reset(options={"log": number, "first": first})
    costs, total, is_over = np.zeros(count), np.zeros(count), np.zeros(count, bool)
    while not is_over.all():
        mask = info["action_mask"].astype(bool)
        used = [*range(np.flatnonzero(mask[:, :-1].any(axis=0))[-1] + 1), envs.rules.k]
        chance = chances(played, seen[:, used], mask[:, used])
        drawn_numbers = random.random((count, 1)) * chance.sum(axis=1, keepdims=True)
        column = (chance.cumsum(axis=1) > drawn_numbers).argmax(axis=1)
        theirs = np.log(chances(scored, seen[:, used], mask[:, used])[np.arange(count), column])
        total += np.where(is_over, 0.0, theirs)
        seen, _, over, _, info = envs.step(np.array(used)[column])
        for i in np.flatnonzero(over & ~is_over):
            costs[i] = info["final_info"]["cost"][i]
        is_over |= over
    grouped = costs.reshape(episodes, trials)
    weights = (grouped.mean(axis=1, keepdims=True) - grouped) / grouped.std(axis=1, keepdims=True)
    return float((total * weights.ravel()).mean())


def test_a_step_is_adams() -> None:
    """The first goes a rate's length in each weight, whatever the slope; zero stays."""
    network = Network.random(2, 0)
    zeros = [tuple(np.zeros_like(part) for part in network) for _ in range(2)]
    slope = tuple(np.where(part > 0, 5.0, -0.01) for part in network)
    moved, _ = _climb(network, slope, zeros, 0.02, 1)
    for ours, part, by in zip(moved, network, slope, strict=True):
        np.testing.assert_allclose(ours - part, 0.02 * np.sign(by), rtol=1e-5)


def test_it_learns() -> None:
    """On other jobs of the same kind it is better than what it began with, and than first come, first served."""
    learnt = train(crowded(1, jobs=300), batches=25, k=8, jobs=40, warm_up=10, episodes=8, trials=8, seed=1)
    network_policy("before", Network.random(16, 1), k=8)
    network_policy("after", learnt.network, k=8)
    found = compare_schedulers(crowded(2, jobs=400), ["before", "after"], jobs=40, warm_up=10, seed=1)
    means = found.set_index("policy")["mean"]
    assert means["after"] < 0.8 * means["before"]
    assert found.set_index("policy")["verdict"]["after"] == "better"
    assert learnt.curve["cost"].iloc[-5:].mean() < learnt.curve["cost"].iloc[:5].mean()
    assert learnt.curve["batch"].tolist() == list(range(25))


def test_the_same_again() -> None:
    """A seed gives the weights; another one others; progress is told."""
    told: list[tuple[int, int, str]] = []
    first, again, other = (
        train(crowded(3), batches=2, seed=seed, progress=lambda *each: told.append(each), **SMALL) for seed in (5, 5, 6)
    )
    for ours, theirs, others in zip(first.network, again.network, other.network, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert not np.array_equal(ours, others)
    assert [each[:2] for each in told] == [(1, 2), (2, 2)] * 3
    assert told[0][2].startswith("cost ")
    further = train(crowded(3), batches=1, seed=5, network=first.network, **SMALL)
    assert not np.array_equal(further.network.out, first.network.out)
    assert further.network.out.shape == (16,)


def test_any_reward_and_reference() -> None:
    """A measure of the schedule, and a policy that is compared with."""
    learnt = train(crowded(3), batches=2, reward="utilization", reference="easy", **SMALL)
    assert (learnt.curve["cost"] < 0).all()
    assert (learnt.curve["reference_cost"] < 0).all()
    assert np.isfinite(learnt.network.out).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"batches": 0}, "batches=0 is not"),
        ({"episodes": 1.5}, "episodes=1.5 is not"),
        ({"trials": 1}, "trials=1 is not an integer of 2 or more"),
        ({"units": 0}, "units=0 is not"),
        ({"rate": np.nan}, "rate=nan is not a number above 0"),
        ({"rate": 0}, "rate=0 is not"),
        ({"jobs": 100}, "an episode has 105 jobs"),
    ],
)
def test_bad_input(options: dict[str, Any], words: str) -> None:
    """One clear error each."""
    with pytest.raises(ParameterError, match=words):
        train(crowded(), **(SMALL | options))
