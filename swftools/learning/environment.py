# SPDX-License-Identifier: BSD-3-Clause
"""``swftools/SchedulingEnv-v1``: one machine, decided job by job, as Gymnasium asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.learning.episode import COUNTED, DECISIONS, INVALID, IS_OVER, LACKS_ROOM, OVER, REFERENCE, REWARD, TOTAL
from swftools.learning.observation import empty_seen
from swftools.learning.options import EnvOptions, Given, rules_and_logs
from swftools.learning.registration import need_gymnasium
from swftools.learning.slot import Slot
from swftools.simulator.schedule import Schedule

need_gymnasium()
import gymnasium  # noqa: E402
from gymnasium import spaces  # noqa: E402

Observation = npt.NDArray[np.float32]

INVALID_ACTIONS = ("wait", "raise")


class SchedulingEnv(gymnasium.Env[Observation, np.int64]):
    """A machine with its queue: at each step one waiting job is started, or all of them wait for the next event.

    An episode is a part of a log, drawn anew at each ``reset``: a policy schedules ``warm_up`` jobs, the agent ``jobs``
    more. It ends when all have started. The engine is that of ``simulate``.

    **Action** ``i`` below ``k`` starts the job of row ``i``; action ``k`` waits until a job ends or is submitted
    and some job fits. ``info["action_mask"]`` and ``action_masks()`` say which actions are allowed.

    **Observation**, shape (k + 1, 6), of float32 between 0 and 1: a row for each of the first ``k`` waiting jobs: width
    as a share of the machine, estimated time, time waited, whether it fits now, whether it fits and by EASY's rule
    does not delay the head, and 1; rows without a job are 0. The last row has the share of free processors, the time
    until the first job of the queue can start, the length of the queue as q / (q + k), the share of extra processors
    at that time, the time until the next job is expected to end, and 0. A time of t seconds is t / (t + 3600). Run
    times and future jobs are not seen.

    **Reward**: minus the cost of each job when it starts, divided by the number of jobs that count. So the rewards of
    an episode add up to minus the mean cost; with a ``reference``, to the cost of the reference minus the agent's.

    Parameters
    ----------
    log : Trace, EpisodeLog or sequence of them, optional
        One log, or several that are drawn by ``weights``. By default 5,000 jobs of a model.
    k : int
        How many waiting jobs are seen; 128 by default.
    jobs, warm_up : int
        Jobs of an episode, and of its warm-up; 256 and 64 by default.
    choice : {"fits", "reserve"}
        Whether only a job that fits may be chosen, or also one that does not; that job then gets the next reservation,
        and jobs that do not delay it go ahead.
    reward : str or callable
        ``bounded_slowdown`` by default; ``wait`` (s), ``turnaround`` (s); or another measure of
        ``swftools.simulator.measure``, or a function of the schedule (more is better), which come at the end.
    dense : bool
        False: one reward, at the end.
    reference : str, optional
        A policy whose cost on the same jobs is the baseline of the reward.
    policy : str
        The policy that decides the warm-up; easy by default.
    invalid : {"wait", "raise"}
        What happens if an action is not allowed. ``wait``: all jobs wait (if that is not possible, the first allowed
        action is taken), and ``info["invalid_actions"]`` counts it. ``raise``: an error, which changes nothing.
    weights : sequence of float, optional
        How often each log is drawn; ``env.unwrapped.weights`` may be set between episodes, for a curriculum.
    **options
        Options of ``EpisodeLog``: ``processors``, ``compiled``, and those of a run that ``EnvOptions`` names.

    Raises
    ------
    ParameterError
        An option has an unknown value; a log has fewer jobs than an episode, or jobs without requested time.

    Examples
    --------
    >>> import gymnasium
    >>> import swftools.learning
    >>> env = gymnasium.make("swftools/SchedulingEnv-v1", jobs=50, warm_up=10, k=16)
    >>> seen, info = env.reset(seed=0)
    >>> seen.shape, int(info["action_mask"].argmax())
    ((17, 6), 0)
    >>> over = False
    >>> while not over:
    ...     seen, reward, over, _, info = env.step(int(info["action_mask"].argmax()))
    >>> sorted(info)
    ['action_mask', 'cost', 'decisions', 'invalid_actions', 'jobs', 'reference_cost']
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (as Gymnasium declares it)

    def __init__(
        self, log: Given = None, *, invalid: str = "wait", render_mode: str | None = None, **options: Unpack[EnvOptions]
    ) -> None:
        if invalid not in INVALID_ACTIONS:
            raise ParameterError(f"invalid={invalid!r} is not one of: {', '.join(INVALID_ACTIONS)}")
        if render_mode is not None:
            raise ParameterError(
                f"render_mode={render_mode!r}: nothing is drawn; episode_schedule() is what pictures take"
            )
        self.rules, self.logs = rules_and_logs(log, options)
        k = self.rules.k
        self.render_mode, self._raises = None, invalid == "raise"
        columns, further = self.logs.form
        shape = k + 1 + further, columns
        self.observation_space = spaces.Box(0.0, 1.0, shape, np.float32)
        self.action_space = spaces.Discrete(k + 1)
        self._seen = empty_seen(k, reserves=self.rules.reserves, form=self.logs.form)
        self._observation, self._mask = self._seen.observation.reshape(shape), self._seen.mask
        self._slots: dict[int, Slot] = {}
        self._slot: Slot | None = None
        self._is_over = True

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """How often each log is drawn."""
        return self.logs.weights

    @weights.setter
    def weights(self, weights: Sequence[float]) -> None:
        self.logs.weigh(weights)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode.

        Parameters
        ----------
        seed : int, optional
            For the draws of this and all later episodes.
        options : mapping, optional
            ``log``: which log, by number; ``first``: its first job, by number in order of submission.

        Returns
        -------
        ndarray of float32, dict
            What is seen, and ``action_mask``.
        """
        super().reset(seed=seed)
        number, first = self.logs.draw(self.np_random, self.rules.length, options or {})
        if number not in self._slots:
            self._slots[number] = Slot(self.logs[number], self.rules, self._seen)
        slot = self._slot = self._slots[number]
        slot.begin(first)
        self._is_over = False
        self._play = slot.play
        self._counts, self._numbers = slot.episode.counts, slot.episode.numbers
        return self._observation.copy(), {"action_mask": self._mask.copy()}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out an action, and go on to the next decision.

        Returns
        -------
        ndarray, float, bool, bool, dict
            What is seen; the reward; whether the episode is over; False; and ``action_mask``, at the end also the mean
            ``cost`` of the ``jobs`` that count, ``reference_cost``, and how many ``decisions`` and
            ``invalid_actions`` there were.

        Raises
        ------
        ParameterError
            The action is not an integer from 0 to k; it is not allowed, and ``invalid="raise"``; or the episode is
            over, or has not begun.
        """
        if self._is_over:
            raise ParameterError("the episode is over, or has not begun: call reset()")
        try:
            chosen = index(action)
        except TypeError:
            raise ParameterError(f"action {action!r} is not an integer from 0 to {self.rules.k}") from None
        if not 0 <= chosen <= self.rules.k:
            raise ParameterError(f"action {action!r} is not an integer from 0 to {self.rules.k}")
        if self._raises and not self._mask[chosen]:
            raise ParameterError(f"action {chosen} is not allowed: {self._why_not(chosen)}")
        slot = self.slot  # which is at another place where it got more room
        self._play(slot.place, chosen)
        if self._counts[OVER] == LACKS_ROOM:
            slot.play_on()
        info = {"action_mask": self._mask.copy()}
        reward, over = float(self._numbers[REWARD]), bool(self._counts[OVER] == IS_OVER)
        if over:
            self._is_over = True
            reward += slot.ended()
            info |= summary_of(slot)
        return self._observation.copy(), reward, over, False, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are allowed, in the form that maskable PPO of sb3-contrib expects."""
        return self._mask.astype(np.bool_)

    def episode_schedule(self) -> Schedule:
        """Return the schedule of the episode, with its warm-up; if it is not over, the policy decides the rest.

        Raises
        ------
        ParameterError
            No episode has begun.
        """
        slot, self._is_over = self.slot, True
        return slot.schedule()

    @property
    def slot(self) -> Slot:
        """The machine of the present episode; an error if none has begun."""
        if self._slot is None:
            raise ParameterError("no episode has begun: call reset()")
        return self._slot

    def _why_not(self, action: int) -> str:
        """Return why an action is not allowed."""
        if action == self.rules.k:
            return "nothing runs and no job is to come, so nothing would ever happen"
        return "there is no job in this row" if self._seen.job[action] < 0 else "this job does not fit now"


def summary_of(slot: Slot) -> dict[str, Any]:
    """Return what is told of an episode at its end."""
    numbers, counts = slot.episode.numbers, slot.episode.counts
    return {
        "cost": float(numbers[TOTAL]),
        "jobs": int(counts[COUNTED]),
        "decisions": int(counts[DECISIONS]),
        "invalid_actions": int(counts[INVALID]),
        "reference_cost": float(numbers[REFERENCE]) if slot.log.reference else np.nan,
    }
