"""Calling the compiled engine often, as for a predictor in Python, which is asked at each submission.

numba finds out the types of all arguments anew at each call, and what is compiled of each function among them: 0.3 ms
together, which is nothing for a call that takes 50 ms, and most of the time for one that goes to the next submission.
"""

from __future__ import annotations

from typing import Any


def called_directly(compiled: Any) -> Any:
    """Return what a function compiled for one signature runs, without a look at types; the caller guarantees these."""
    result = _result(compiled)
    return compiled if result is None else result.entry_point


def found_directly(compiled: Any) -> Any:
    """Return a function compiled for one signature that, as an argument, is found without a look at its types."""
    result = _result(compiled)
    if result is not None:
        compiled.get_compile_result = lambda signature: result  # noqa: ARG005 (there is one)
    return compiled


def _result(compiled: Any) -> Any:
    """Return what numba made of a function; None where it compiles nothing (NUMBA_DISABLE_JIT)."""
    return next(iter(getattr(compiled, "overloads", {}).values()), None)
