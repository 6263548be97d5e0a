# SPDX-License-Identifier: BSD-3-Clause
"""The random state of a policy or predictor in plain words and numbers, and back, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from swftools.errors import StateError
from swftools.parameters import is_whole
from swftools.simulator.stepping.state_checks import refuse

_DRAWS = "Philox"


def draws_of(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a generator in plain words and numbers."""
    state: Any = rng.bit_generator.state
    if state["bit_generator"] != _DRAWS:
        raise StateError(f"draws by {state['bit_generator']} are not saved, only by {_DRAWS}")
    inner = {name: values.tolist() for name, values in state["state"].items()}
    rest = {name: int(state[name]) for name in ("buffer_pos", "has_uint32", "uinteger")}
    return {"state": inner, "buffer": state["buffer"].tolist(), **rest}


def generator_of(draws: dict[str, Any]) -> np.random.Generator:
    """Return the generator of a state."""
    for name, least, most in (("buffer_pos", 0, 4), ("has_uint32", 0, 1), ("uinteger", 0, 2**32 - 1)):
        if not is_whole(draws[name], least, most):
            refuse("draws", f"{name} is not from {least} to {most}")
    lengths = [len(draws["state"]["counter"]), len(draws["state"]["key"]), len(draws["buffer"])]
    if lengths != [4, 2, 4] or set(draws) != {"state", "buffer", "buffer_pos", "has_uint32", "uinteger"}:
        refuse("draws", "they are of another kind")
    bits = np.random.Philox(0)
    inner = {name: np.array(values, np.uint64) for name, values in draws["state"].items()}
    state = {**draws, "bit_generator": _DRAWS, "state": inner, "buffer": np.array(draws["buffer"], np.uint64)}
    bits.state = state  # type: ignore[assignment]
    return np.random.Generator(bits)
