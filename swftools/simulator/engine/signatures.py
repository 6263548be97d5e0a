"""The types by which engine, policies and predictors call each other.

They are explicit, so that these are compiled apart, and each is kept in numba's cache.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from swftools.simulator.engine.entry import Call, pack
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
    """Return the signature of a compiled policy: where the machine lies, and what is its own."""
    from numba import types  # noqa: PLC0415 (as above)

    return types.void(types.int64, types.int64)


@cache
def observe_signature() -> Any:
    """Return the signature of a compiled predictor: event, where the machine lies, job, and where its own does."""
    from numba import types  # noqa: PLC0415 (as above)

    return types.void(types.int64, types.int64, types.int64, types.int64)


def call_by(signature: Any) -> Call:
    """Return how the engine calls what has a signature."""
    return Call(signature, _takes(), " ".join(_described(kind) for kind in (machine_type(), own_type())))


@cache
def _takes() -> dict[str, Callable[[Any], Any]]:
    """Return what takes the machine, and what a policy has of its own, from where they lie, by name."""
    from numba import config  # noqa: PLC0415 (as above)

    from swftools.kernel.intrinsics import borrower  # noqa: PLC0415 (imports numba)

    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return dict.fromkeys(("machine_at", "own_at"), lambda lent: lent)
    return {"machine_at": borrower(machine_type()), "own_at": borrower(own_type())}


def _described(kind: Any) -> str:
    """Return a numba type in words, with the fields of named tuples in their order."""
    if hasattr(kind, "instance_class"):
        parts = zip(kind.instance_class._fields, kind.types, strict=True)
        return f"{kind.instance_class.__name__}({', '.join(f'{name}: {_described(part)}' for name, part in parts)})"
    return str(kind)
