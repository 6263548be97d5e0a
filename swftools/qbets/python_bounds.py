# SPDX-License-Identifier: BSD-3-Clause
"""The replay with a bound of somebody's own in Python: an object with ``fit``, ``update`` and ``predict``.

What is compiled lists the waits of each cluster, where a bound would learn from them, and calls back at each
submission. The object is shown what is new when it is asked, or all anew where the cluster was trimmed or the clusters
changed.
"""

from __future__ import annotations

import copy
import ctypes
from functools import cache
from typing import Any, ClassVar

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, kernel
from swftools.qbets.bounds.binomial import BinomialBound
from swftools.qbets.bounds.registry import Bound, check_count
from swftools.qbets.queue_state import OVER, Answers, QueueState, ReplayRules, Submissions, compiled_asking

COUNT, SHOWN, LIST = range(3)
"""Places in the state: waits, how many of them the object was shown, and where they begin."""


@kernel(allocates=False)
def add_to_list(state: FloatArray, facts: FloatArray, wait: float) -> None:  # noqa: ARG001 (as all bounds)
    """List a wait."""
    state[LIST + int(state[COUNT])] = wait
    state[COUNT] += 1.0


class ListedWaits(Bound):
    """Waits in a list; in place of a bound in Python where all others are compiled."""

    name: ClassVar[str] = "listed"
    add: ClassVar[Any] = add_to_list

    def check(self) -> None:
        """Refuse nothing."""

    def facts(self, waits: int) -> tuple[FloatArray, ...]:  # noqa: ARG002 (as all bounds)
        """Return nothing to look up."""
        return (np.zeros(1),)

    def places(self, waits: int) -> int:
        """Return the length of a state."""
        return LIST + waits

    def check_state(self, state: FloatArray, waits: int) -> None:
        """Refuse a state of another number of waits, or of what is no number."""
        super().check_state(state, waits)
        check_count(state, waits)

    def settled(self, state: FloatArray, waits: int) -> FloatArray:
        """Return a state of which no object was shown anything: objects do not outlive a replay."""
        other = super().settled(state, waits)
        other[SHOWN] = 0.0
        return other


class PythonBounds:
    """Bounds in Python beside the replay of a queue: a copy of an object for each cluster.

    Parameters
    ----------
    method : object
        What is copied, before it is shown any wait.
    queue : QueueState
        Whose clusters list their waits.
    """

    def __init__(self, method: Any, queue: QueueState) -> None:
        self.method = method
        self.queue = queue
        self.is_over = False
        self._copies: dict[int, Any] = {}
        self._error: BaseException | None = None

    def replay(self, rules: ReplayRules, jobs: Submissions, first: int, behind: int, answers: Answers) -> None:
        """Submit jobs as ``replay_jobs`` does.

        Raises
        ------
        ParameterError
            What the object predicts is not a number; what else it raises is raised as it is.
        """
        add, series = ListedWaits.compiled_add(), BinomialBound.compiled_add()
        ask = _callable_by_kernels()(self._answer)
        compiled_asking()(self.queue, rules, jobs, first, behind, answers, add, series, ask)
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Let the replay end at the next job."""
        self.is_over = True

    def _answer(self, place: int) -> float:
        """Return what is predicted for a cluster; an error is kept, since what is compiled passes none on."""
        if self.is_over:
            return OVER
        try:
            return self._predict(place)
        except BaseException as error:  # noqa: BLE001 (all of it is raised behind the compiled code)
            self._error = error
            return OVER

    def _predict(self, place: int) -> float:
        """Show the object of a cluster the waits that are new, and ask it."""
        state = self.queue.history.states[place]
        count, shown = int(state[COUNT]), int(state[SHOWN])
        if count == 0:
            return np.nan
        if shown == 0 or place not in self._copies:
            self._copies[place] = copy.deepcopy(self.method)
            self._copies[place].fit(state[LIST : LIST + count].copy())
        elif count > shown:
            self._copies[place].update(state[LIST + shown : LIST + count].copy())
        state[SHOWN] = count
        return _number(self._copies[place].predict(), self.method)


@cache
def _callable_by_kernels() -> Any:
    """Return the class of functions in Python that what is compiled calls, with the interpreter's lock."""
    from numba import types  # noqa: PLC0415 (takes half a second)

    form = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)

    class CallableByKernels(types.WrapperAddressProtocol):
        def __init__(self, function: Any) -> None:
            self.function = function
            self.pointer = form(function)

        def __call__(self, place: int) -> float:  # where nothing is compiled
            return float(self.function(place))

        def __wrapper_address__(self) -> Any:
            return ctypes.cast(self.pointer, ctypes.c_void_p).value

        def signature(self) -> Any:
            return types.float64(types.int64)

    return CallableByKernels


def _number(told: Any, method: Any) -> float:
    """Return what was predicted; none is NaN."""
    try:
        number = np.nan if told is None else float(told)
    except (TypeError, ValueError):
        number = OVER
    if number == OVER:
        raise ParameterError(f"{type(method).__name__}.predict() returned {told!r}, which is not a number of seconds")
    return number
