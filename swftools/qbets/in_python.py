"""The replay with a bound of somebody's own in Python: an object with ``fit``, ``update`` and ``predict``.

What is compiled lists the waits of each cluster, where a bound would learn from them; the object is shown what is new
when it is asked, or all anew where the cluster was trimmed or the clusters changed.
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, kernel
from swftools.qbets.bounds.binomial import BinomialBound
from swftools.qbets.bounds.registry import Bound
from swftools.qbets.history import cluster_of
from swftools.qbets.queue_state import Answers, QueueState, Rules, Submissions, compiled_steps

COUNT, SHOWN, LIST = range(3)
"""Places in the state: waits, how many of them the object was shown, and where they begin."""


@kernel(allocates=False)
def add_to_list(state: FloatArray, facts: FloatArray, wait: float) -> None:  # noqa: ARG001 (as all bounds)
    """List a wait."""
    state[LIST + int(state[COUNT])] = wait
    state[COUNT] += 1.0


@kernel(allocates=False)
def no_bound(state: FloatArray, facts: FloatArray) -> float:  # noqa: ARG001 (as all bounds)
    """Bound nothing."""
    return np.nan


class ListedWaits(Bound):
    """Waits in a list; in place of a bound in Python where all others are compiled."""

    name: ClassVar[str] = "listed"
    add: ClassVar[Any] = add_to_list
    bound: ClassVar[Any] = no_bound

    def check(self) -> None:
        """Refuse nothing."""

    def facts(self, waits: int) -> tuple[FloatArray, ...]:  # noqa: ARG002 (as all bounds)
        """Return nothing to look up."""
        return (np.zeros(1),)

    def places(self, waits: int) -> int:
        """Return the length of a state."""
        return LIST + waits


def replay_in_python(
    queue: QueueState,
    rules: Rules,
    jobs: Submissions,
    first: int,
    behind: int,
    answers: Answers,
    method: Any,
    copies: dict[int, Any],
) -> None:
    """Submit jobs as ``replay_jobs`` does; ``copies`` has the object of each cluster, and gets new ones.

    Raises
    ------
    ParameterError
        What the object predicts is not a number.
    """
    start_until, submit = compiled_steps()
    add, series = ListedWaits.compiled_add(), BinomialBound.compiled_add()
    for job in range(first, behind):
        start_until(queue, rules, jobs, jobs.submit[job], answers, add, series)
        place = cluster_of(queue.history, jobs.x[job])
        state = queue.history.states[place]
        count, shown = int(state[COUNT]), int(state[SHOWN])
        if count == 0:
            told = np.nan
        else:
            if shown == 0 or place not in copies:
                copies[place] = copy.deepcopy(method)
                copies[place].fit(state[LIST : LIST + count].copy())
            elif count > shown:
                copies[place].update(state[LIST + shown : LIST + count].copy())
            state[SHOWN] = count
            told = _number(copies[place].predict(), method)
        submit(queue, rules, jobs, job, told, answers, add)


def _number(told: Any, method: Any) -> float:
    """Return what was predicted; none is NaN."""
    try:
        return np.nan if told is None else float(told)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{type(method).__name__}.predict() returned {told!r}, which is not a number") from error
