"""The compiled engine, which gives back the Generators that it is handed.

numba takes a reference to each Generator that a compiled function is called with. Only a function that counts
references would give it back, and the engine counts none; were it called through one that does, policies would count
the references to all arrays of the machine, which takes half as long again. This module imports numba, and is imported
when the engine is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import config, typeof, types
from numba.extending import intrinsic

from swftools.kernel import kernel
from swftools.simulator.engine import Options, events, simulate_events
from swftools.simulator.entry import Own
from swftools.simulator.machine.state import Machine, no_requests
from swftools.simulator.replay import Coming, Replay, begin_replay
from swftools.simulator.signatures import machine_type, observe_signature, own_type, policy_signature


@intrinsic
def _release(typing_context: Any, generator: Any) -> Any:  # noqa: ARG001 (numba's form)
    """Give up a reference."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        context.nrt.decref(builder, signature.args[0], arguments[0])
        return context.get_dummy_value()

    return types.void(generator), build


@kernel
def give_back(generator: np.random.Generator) -> None:
    """Give up the reference that was taken when Python handed a Generator to a kernel that counts none."""
    _release(generator)  # type: ignore[call-arg]  # numba hands the first on itself


def run(
    coming: Coming,
    machine: Machine,
    replay: Replay,
    options: Options,
    observe: Callable[[int, Machine, int, Own], None],
    observer: Own,
    decide: Callable[[Machine, Own], None],
    decider: Own,
) -> None:
    """Run ``simulate_events`` as Python calls it; where it raises, the two Generators stay."""
    events(coming, machine, replay, options, observe, observer, decide, decider)
    give_back(observer.rng)
    give_back(decider.rng)


@cache
def compiled_engine() -> Any:
    """Return the compiled event loop; made at its first use, from then on taken from the cache on disk."""
    floats, integers = np.zeros(1), np.zeros(1, np.int64)
    coming = Coming(
        *(integers, floats, floats, floats, floats, integers, integers, integers, integers, floats),
        *(np.zeros((1, 5)), np.zeros((1, 1, 2)), floats),
    )
    signature = types.void(
        typeof(coming),
        machine_type(),
        typeof(begin_replay(no_requests(1), 1)),
        typeof(Options(0, 0, 0, 0)),
        types.FunctionType(observe_signature()),
        own_type(),
        types.FunctionType(policy_signature()),
        own_type(),
    )
    # Without compilation (NUMBA_DISABLE_JIT) no reference is taken.
    return kernel(signature, allocates=False)(simulate_events if config.DISABLE_JIT else run)  # type: ignore[attr-defined]
