# SPDX-License-Identifier: BSD-3-Clause
"""Many environments that step in one compiled call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.learning.environment import Observation, summary_of
from swftools.learning.episode import IS_OVER, LACKS_ROOM, OVER, REWARD, play_all_kernel
from swftools.learning.observation import empty_seen
from swftools.learning.options import EnvOptions, Given, rules_and_logs
from swftools.learning.registration import need_gymnasium
from swftools.learning.slot import Slot
from swftools.parameters import is_whole

need_gymnasium()
from gymnasium import spaces  # noqa: E402
from gymnasium.utils.seeding import np_random  # noqa: E402
from gymnasium.vector import AutoresetMode, VectorEnv  # noqa: E402
from gymnasium.vector.utils import batch_space  # noqa: E402


class SchedulingVectorEnv(VectorEnv[Observation, npt.NDArray[np.int64], npt.NDArray[Any]]):
    """Many ``SchedulingEnv`` in one: all step in one compiled call, on one log in memory.

    An environment whose episode ends begins the next one in the same step (``AutoresetMode.SAME_STEP``). Its last
    observation and the ``info`` of the episode are in ``info["final_obs"]`` and ``info["final_info"]``.

    Parameters
    ----------
    num_envs : int
        Number of environments.
    copies : bool
        Whether to return copies. Without, a step is quicker, but the next step overwrites what was returned.
    log, **options
        As for ``SchedulingEnv``. An action that is not allowed waits.

    Examples
    --------
    >>> envs = SchedulingVectorEnv(4, jobs=50, k=8)
    >>> seen, info = envs.reset(seed=0)
    >>> seen, rewards, over, _, info = envs.step(info["action_mask"].argmax(axis=1))
    >>> seen.shape, rewards.shape
    ((4, 9, 6), (4,))
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 (as Gymnasium declares it)

    def __init__(
        self, num_envs: int = 1, log: Given = None, *, copies: bool = True, **options: Unpack[EnvOptions]
    ) -> None:
        if not is_whole(num_envs, 1, 2**20):
            raise ParameterError(f"num_envs={num_envs!r} is not an integer of 1 or more")
        self.rules, self.logs = rules_and_logs(log, options)
        k = self.rules.k
        self.num_envs, self._copies = num_envs, copies
        columns, further = self.logs.form
        shape = k + 1 + further, columns
        self.single_observation_space = spaces.Box(0.0, 1.0, shape, np.float32)
        self.single_action_space = spaces.Discrete(k + 1)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._seen = np.zeros((num_envs, *shape), np.float32)
        self._masks = np.zeros((num_envs, k + 1), np.int8)
        self._parts = [
            empty_seen(k, reserves=self.rules.reserves)._replace(observation=seen.reshape(-1), mask=mask)
            for seen, mask in zip(self._seen, self._masks, strict=True)
        ]
        self._slots: list[dict[int, Slot]] = [{} for _ in range(num_envs)]
        self._playing: list[Slot] = []
        self._places: Any = np.zeros(num_envs, np.int64)
        self._rewards, self._over = np.zeros(num_envs), np.zeros(num_envs, np.int64)
        self._own_random: dict[int, np.random.Generator] = {}

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode in each.

        Parameters
        ----------
        seed : int or sequence of (int or None), optional
            One integer: the episodes of all environments are drawn from it together. A sequence has one for each, which
            then plays the episodes that ``SchedulingEnv`` plays with this seed; None: it goes on as it did.
        options : mapping, optional
            As for ``SchedulingEnv.reset``; ``log`` and ``first`` are each one value for all, or one for each.

        Raises
        ------
        ParameterError
            There is not one seed for each, or one is not an integer of 0 or more.
        """
        if np.ndim(seed) > 0:  # type: ignore[arg-type]
            self._seed_each(np.asarray(seed).tolist())
        else:
            one = _checked_seed(seed)
            super().reset(seed=one)
            self._own_random = self._own_random if one is None else {}
        given = {name: self._for_each(name, value) for name, value in (options or {}).items()}
        each = [{name: values[i] for name, values in given.items()} for i in range(self.num_envs)]
        self._playing = [self._begin(i, each[i]) for i in range(self.num_envs)]
        return self._shown(self._seen), {"action_mask": self._shown(self._masks)}

    def step(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[Observation, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]:
        """Carry out an action in each environment, and go on to the next decision of each; see ``SchedulingEnv.step``.

        Raises
        ------
        ParameterError
            There is not one integer from 0 to k for each; or no episode has begun.
        """
        chosen = np.ascontiguousarray(actions)
        if chosen.shape != (self.num_envs,) or chosen.dtype.kind not in "iu":
            raise ParameterError(f"actions of shape {chosen.shape}, {chosen.dtype}: give {self.num_envs} integers")
        if not self._playing:
            raise ParameterError("no episode has begun: call reset()")
        ended = self._play_all(chosen.astype(np.int64, copy=False))
        if ended < 0:
            raise ParameterError(f"actions from {chosen.min()} to {chosen.max()} are not all from 0 to {self.rules.k}")
        for i in np.flatnonzero(self._over == LACKS_ROOM).tolist() if ended else ():
            self._play_on(i)
        rewards, over = self._rewards.copy(), self._over == IS_OVER
        info: dict[str, Any] = self._begin_again(over, rewards) if over.any() else {}
        info["action_mask"] = self._shown(self._masks)
        return self._shown(self._seen), rewards, over, np.zeros(self.num_envs, np.bool_), info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are allowed, a row for each environment."""
        return self._masks.astype(np.bool_)

    def _play_all(self, actions: npt.NDArray[np.int64]) -> int:
        """Step all; return in how many nobody is asked next, or -1, and nothing is done, if an action is none."""
        kernel = play_all_kernel(self.logs[0].kind)
        play = kernel.compiled if self._playing[0].is_compiled else kernel.py_func
        return int(play(self._places, actions, self.rules.k, self._rewards, self._over))

    def _play_on(self, which: int) -> None:
        """Go on in one of them that needs more room."""
        slot = self._playing[which]
        slot.play_on()
        self._places[which] = slot.place
        self._rewards[which], self._over[which] = slot.episode.numbers[REWARD], slot.episode.counts[OVER]

    def _for_each(self, name: str, value: Any) -> list[Any]:
        """Return an option for each environment."""
        if np.ndim(value) == 0:
            return [value] * self.num_envs
        if len(value) != self.num_envs:
            raise ParameterError(f"options: {name} has {len(value)} values; give one, or {self.num_envs}")
        return np.asarray(value).tolist()

    def _seed_each(self, seeds: list[int | None]) -> None:
        """Let environments draw from seeds of their own, those that have one."""
        if len(seeds) != self.num_envs:
            raise ParameterError(f"seed has {len(seeds)} values; give one, or {self.num_envs}")
        own = {i: np_random(seed)[0] for i, seed in enumerate(map(_checked_seed, seeds)) if seed is not None}
        super().reset(seed=None)
        self._own_random = {**self._own_random, **own}

    def _begin(self, which: int, options: Mapping[str, Any]) -> Slot:
        """Begin an episode in one of them."""
        random = self._own_random.get(which) or self.np_random
        number, first = self.logs.draw(random, self.rules.length, options)
        slots = self._slots[which]
        if number not in slots:
            slots[number] = Slot(self.logs[number], self.rules, self._parts[which])
        slot = slots[number]
        slot.begin(first)
        if not slot.is_compiled and self._places.dtype != object:
            self._places = np.empty(self.num_envs, object)
        self._places[which] = slot.place
        return slot

    def _begin_again(self, over: npt.NDArray[np.bool_], rewards: npt.NDArray[np.float64]) -> dict[str, Any]:
        """Begin the next episode where one is over; return what is told of those that are."""
        last = np.full(self.num_envs, None, object)
        told: dict[str, Any] = {}
        for i in np.flatnonzero(over):
            slot = self._playing[i]
            rewards[i] += slot.ended()
            last[i] = self._seen[i].copy()
            for name, value in summary_of(slot).items():
                told.setdefault(name, np.zeros(self.num_envs))[i] = value
            self._playing[i] = self._begin(int(i), {})
        return {"final_obs": last, "_final_obs": over.copy(), "final_info": told, "_final_info": over.copy()}

    def _shown(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return an array as it is handed out."""
        return array.copy() if self._copies else array


def _checked_seed(seed: object) -> int | None:
    """Return what draws begin from; refuse what none do."""
    if seed is None:
        return None
    try:
        number = -1 if isinstance(seed, bool) else index(seed)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if number < 0:
        raise ParameterError(f"seed={seed!r} is not an integer of 0 or more")
    return number
