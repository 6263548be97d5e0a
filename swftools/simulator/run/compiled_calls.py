# SPDX-License-Identifier: BSD-3-Clause
"""What a simulation calls: engine, predictor and policy, compiled or interpreted."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from swftools.errors import PolicyError
from swftools.kernel import Kernel, kernel
from swftools.kernel.layout import Layout
from swftools.kernel.pointers import Lent, place_of
from swftools.parameters import Parameters
from swftools.simulator.engine.dependents import follow
from swftools.simulator.engine.loop import simulate_events
from swftools.simulator.policy_abi import POOL, MachineKind
from swftools.simulator.predictors.kinds import Predictor
from swftools.simulator.registry import Policy

CHECKED = "checked"
"""What ``compiled`` is for a look at each index."""


class Called(NamedTuple):
    """The engine, and what it calls of the predictor and of the policy.

    Compiled, ``observe`` and ``decide`` are where these kernels lie, and the engine takes all else by where it lies;
    ``observer_at`` and ``decider_at`` take what these two have of their own.
    """

    engine: Callable[[Any], None]
    observe: Any
    decide: Any
    observer_at: Lent
    decider_at: Lent
    is_checked: bool = False
    kind: MachineKind = POOL

    def depend(self) -> Any:
        """Return where the kernel for jobs that wait for others lies; interpreted the function."""
        if not self.is_compiled:
            return self.kind.of(follow)
        return place_of(follow_kernel(self.kind), checked=self.is_checked)

    @property
    def is_compiled(self) -> bool:
        """Whether it is machine code; it is not where numba cannot compile something, or shall not."""
        return isinstance(self.decide, int)

    def taken(self, some: Kernel[..., Any]) -> Callable[..., Any]:
        """Return a kernel as it is on the machine, compiled where the engine is."""
        found = self.kind.kernel_of(some)
        return found.compiled if self.is_compiled else found.py_func

    def lay_out(self, value: Any, like: Lent) -> tuple[Any, Layout | None]:
        """Return what the engine is handed for a tuple, and what is to be kept meanwhile; ``like`` takes its kind."""
        if not self.is_compiled:
            return value, None
        layout = Layout(value, like.example)
        return layout.address, layout


def called_for(
    policy: Policy, parameters: Parameters, predictor: Predictor, *, compiled: bool | str, kind: MachineKind = POOL
) -> Called:
    """Return what a simulation calls; interpreted where numba cannot compile."""
    policy, predictor = policy.made_for(parameters).on(kind), predictor.on(kind)
    likes = predictor.own_at, policy.own_at
    if compiled:
        form = "checked" if compiled == CHECKED else "compiled"
        observe, decide = getattr(predictor, form), getattr(policy, form)
        if observe is not None and decide is not None:
            return Called(getattr(engine_kernel(kind), form), observe, decide, *likes, compiled == CHECKED, kind)
    observe, decide = predictor.interpreted(), policy.interpreted(parameters)
    return Called(kind.of(simulate_events), observe, _without_answer(policy.name, decide), *likes, kind=kind)


def remembered_by(policy: Policy, parameters: Parameters) -> tuple[str, ...]:
    """Return which of memory and draws a policy has, as it is carried out."""
    return tuple(name for name in policy.made_for(parameters).own if name != "parameters")


@cache
def engine_kernel(kind: MachineKind = POOL) -> Any:
    """Return the event loop as a kernel: compiled at its first use, from then on taken from the cache on disk."""
    from numba import types  # noqa: PLC0415 (takes half a second, and is needed from here on)

    return kernel(types.void(types.int64), allocates=False)(kind.of(simulate_events))


@cache
def follow_kernel(kind: MachineKind = POOL) -> Any:
    """Return ``follow`` as a kernel, likewise."""
    from numba import types  # noqa: PLC0415 (as above)

    return kernel(types.void(*[types.int64] * 4), allocates=False)(kind.of(follow))


def _without_answer(name: str, entry: Callable[..., Any]) -> Callable[..., None]:
    """Return a policy as it is interpreted; it must return nothing."""

    def decide(*arguments: Any) -> None:
        answer = entry(*arguments)
        if answer is not None:
            raise PolicyError(f"policy {name!r} returned {answer!r}; a policy acts by start(), and returns nothing")

    return decide
