"""The types by which engine, policies and predictors call each other.

They are explicit, so that these are compiled apart, and each is kept in numba's cache.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from swftools.simulator.entry import pack
from swftools.simulator.machine.state import empty_machine, no_requests


@cache
def machine_type() -> Any:
    """Return numba's type of the machine."""
    from numba import typeof  # noqa: PLC0415 (takes half a second, which is time enough when something is compiled)

    return typeof(empty_machine(no_requests(1), 1, np.zeros(2)))


@cache
def own_type() -> Any:
    """Return numba's type of what a policy or predictor has of its own."""
    from numba import typeof  # noqa: PLC0415 (as above)

    return typeof(pack([], (), np.random.default_rng(0)))


@cache
def policy_signature() -> Any:
    """Return the signature of a compiled policy."""
    from numba import types  # noqa: PLC0415 (as above)

    return types.void(machine_type(), own_type())


@cache
def observe_signature() -> Any:
    """Return the signature of a compiled predictor: event, machine, job and what is its own."""
    from numba import types  # noqa: PLC0415 (as above)

    return types.void(types.int64, machine_type(), types.int64, own_type())
