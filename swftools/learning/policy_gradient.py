# SPDX-License-Identifier: BSD-3-Clause
"""A scheduler learns by trial: a policy gradient in numpy, small enough to be read.

References
----------
Williams 1992, "Simple statistical gradient-following algorithms for connectionist reinforcement learning", Machine
Learning 8. Baselines are made as by Shao et al. 2024 ("DeepSeekMath", section 4.1): several trials of the same episode,
each compared with their mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray
from swftools.keyed_random import generator
from swftools.learning.network import Network
from swftools.learning.registration import need_gymnasium
from swftools.parameters import is_whole

if TYPE_CHECKING:
    from swftools.learning.vector_environment import SchedulingVectorEnv

_DECAYS, _TINY = (0.9, 0.999), 1e-8


class Trained(NamedTuple):
    """A network, and how it came to be: a row for each batch, with the mean cost of its trials and of the reference."""

    network: Network
    curve: pd.DataFrame


def train(
    log: Any = None,
    *,
    batches: int = 60,
    episodes: int = 8,
    trials: int = 8,
    units: int = 16,
    rate: float = 0.02,
    seed: int = 0,
    network: Network | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    **options: Any,
) -> Trained:
    """Train a network on parts of a log.

    A batch has ``trials`` trials of each of ``episodes`` episodes. The actions of a trial become more likely if its
    cost is below the mean of that episode's trials, and less likely if it is above.

    Parameters
    ----------
    log : Trace, EpisodeLog or sequence of them, optional
        The log to learn on; keep another part of it for the test.
    batches, episodes, trials : int
        How long to learn.
    units : int
        Units of the hidden layer.
    rate : float
        Learning rate (Adam).
    seed : int
        Seed of the initial weights, of the episodes, and of the actions that are tried.
    network : Network, optional
        Network to continue with.
    progress : callable, optional
        Called with the batches done, all batches, and the mean cost of the last one in words; ``progress_bar`` makes
        one.
    **options
        Options of ``SchedulingVectorEnv``: ``k`` (32 here), ``jobs``, ``warm_up``, ``reward``, ``reference``.

    Raises
    ------
    ParameterError
        A number is outside its domain.
    MissingLibraryError
        Gymnasium is not installed.
    """
    sizes = {"batches": (batches, 1), "episodes": (episodes, 1), "trials": (trials, 2), "units": (units, 1)}
    for name, (value, least) in sizes.items():
        if not is_whole(value, least):
            raise ParameterError(f"{name}={value!r} is not an integer of {least} or more")
    if not 0.0 < rate < np.inf:
        raise ParameterError(f"rate={rate!r} is not a number above 0")
    need_gymnasium()
    from swftools.learning.vector_environment import SchedulingVectorEnv  # noqa: PLC0415 (imports Gymnasium, an extra)

    envs = SchedulingVectorEnv(episodes * trials, log, **({"k": 32} | options), copies=False)
    learner = network or Network.random(units, seed, envs.logs.form.columns)
    random = generator(seed, "learning/train")
    moments = [tuple(np.zeros_like(part) for part in learner) for _ in range(2)]
    rows = []
    for batch in range(batches):
        gradient, costs, compared = _try_out(learner, envs, episodes, trials, random)
        learner, moments = _climb(learner, gradient, moments, rate, batch + 1)
        rows.append({"batch": batch, "cost": costs.mean(), "reference_cost": compared})
        if progress:
            progress(batch + 1, batches, f"cost {costs.mean():.4g}")
    return Trained(learner, pd.DataFrame(rows))


def _try_out(
    learner: Network, envs: SchedulingVectorEnv, episodes: int, trials: int, random: np.random.Generator
) -> tuple[tuple[FloatArray, ...], FloatArray, float]:
    """Play a batch; return what makes its better trials more likely, each trial's cost, and the reference's mean."""
    drawn = [envs.logs.draw(random, envs.rules.length, {}) for _ in range(episodes)]
    number, first = (np.repeat([each[i] for each in drawn], trials) for i in range(2))
    seen, info = envs.reset(options={"log": number, "first": first})
    count = episodes * trials
    costs, compared, is_over = np.zeros(count), np.zeros(count), np.zeros(count, bool)
    summed = [np.zeros((count, *part.shape)) for part in learner]  # of each trial
    while not is_over.all():
        # Where a trial is over another episode has begun, which nobody asked for. Nothing may depend on it, not even
        # the last digit of the others, which changes with the number of rows.
        mask = np.where(is_over[:, None], 0, info["action_mask"])
        mask[is_over, -1] = 1
        used = _used(mask)
        shown, mask = np.where(is_over[:, None, None], 0.0, seen)[:, used], mask[:, used]
        chance = chances(learner, shown, mask)
        column = (chance.cumsum(axis=1) > random.random((count, 1)) * chance.sum(axis=1, keepdims=True)).argmax(axis=1)
        for whole, part in zip(summed, slopes(learner, shown, chance, column), strict=True):
            whole[~is_over] += part[~is_over]
        actions = np.where(column == shown.shape[1] - 1, envs.rules.k, column)
        seen, _, over, _, info = envs.step(actions)
        ends = over & ~is_over
        if ends.any():
            told = info["final_info"]
            costs[ends], compared[ends] = told["cost"][ends], told["reference_cost"][ends]
            is_over |= over
    of_episode = costs.reshape(episodes, trials)
    better = of_episode.mean(axis=1, keepdims=True) - of_episode
    weight = (better / (of_episode.std(axis=1, keepdims=True) + _TINY)).ravel() / count
    return tuple(np.tensordot(weight, part, 1) for part in summed), costs, float(compared.mean())


def chances(learner: Network, seen: Any, mask: Any) -> FloatArray:
    """Return how likely a network takes each allowed action when it tries: by the exponential of its score."""
    scores = np.where(mask, learner.scores(seen), -np.inf)
    chance = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(chance / chance.sum(axis=1, keepdims=True))


def slopes(learner: Network, seen: Any, chance: FloatArray, taken: IntArray) -> tuple[FloatArray, ...]:
    """Return of each trial the slope of the logarithm of the chance of what it took, by each weight."""
    inputs = learner.inputs(seen)
    active = np.tanh(inputs @ learner.hidden + learner.bias)
    slope = -chance
    slope[np.arange(len(taken)), taken] += 1.0
    inner = slope[:, :, None] * learner.out * (1.0 - active**2)
    return np.swapaxes(inputs, 1, 2) @ inner, inner.sum(axis=1), (slope[:, None, :] @ active)[:, 0]


def _used(mask: Any) -> IntArray:
    """Return the rows in which any environment may choose a job, up to the last, and the one that waits."""
    rows = np.flatnonzero(mask[:, :-1].any(axis=0))
    return np.append(np.arange(rows[-1] + 1 if len(rows) else 0), mask.shape[1] - 1)


def _climb(
    learner: Network, gradient: tuple[FloatArray, ...], moments: Any, rate: float, step: int
) -> tuple[Network, Any]:
    """Return the network a step further, by Adam, and the moments that it remembers."""
    made = []
    for which, power in ((0, 1), (1, 2)):
        decay = _DECAYS[which]
        made.append(
            tuple(decay * old + (1 - decay) * g**power for old, g in zip(moments[which], gradient, strict=True))
        )
    corrected = [[part / (1 - _DECAYS[i] ** step) for part in made[i]] for i in range(2)]
    steps = (rate * mean / (np.sqrt(square) + _TINY) for mean, square in zip(*corrected, strict=True))
    return Network(*(part + step for part, step in zip(learner, steps, strict=True))), made
