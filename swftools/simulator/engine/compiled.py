"""The compiled engine. This module imports numba, and is imported when the engine is compiled."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import typeof, types

from swftools.kernel import kernel
from swftools.simulator.engine.loop import Options, simulate_events
from swftools.simulator.engine.replay import Coming, begin_replay
from swftools.simulator.engine.signatures import machine_type, observe_signature, own_type, policy_signature
from swftools.simulator.machine.state import no_requests


@cache
def compiled_engine() -> Any:
    """Return the compiled event loop; made at its first use, from then on taken from the cache on disk."""
    floats, integers, short = np.zeros(1), np.zeros(1, np.int64), np.zeros(1, np.int32)
    coming = Coming(
        *(short, floats, floats, floats, floats, integers, short, integers, integers, floats),
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
    return kernel(signature, allocates=False)(simulate_events)
