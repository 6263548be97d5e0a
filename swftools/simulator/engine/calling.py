"""What a simulation calls: engine, predictor and policy, compiled or interpreted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swftools.errors import PolicyError
from swftools.parameters import Parameters
from swftools.simulator.engine.entry import Memory
from swftools.simulator.engine.loop import simulate_events
from swftools.simulator.predictors.registry import Predictor
from swftools.simulator.registry import Policy

CHECKED = "checked"
"""What ``compiled`` is for a look at each index."""


def called_for(
    policy: Policy,
    parameters: Parameters,
    memory: Memory,
    predictor: Predictor,
    remembered: Memory,
    *,
    compiled: bool | str,
    often: bool,
) -> tuple[Any, Any, Any]:
    """Return the engine, and what it calls of the predictor and of the policy; interpreted where numba cannot compile.

    ``often`` says that the engine is called at each submission.
    """
    policy = policy.made_for(parameters)
    if compiled:
        found = _compiled(policy, predictor, "checked" if compiled == CHECKED else "compiled", often)
        if found:
            return found
    observe, decide = predictor.interpreted(remembered), policy.interpreted(parameters, memory)
    return simulate_events, observe, _without_answer(policy.name, decide)


def _compiled(policy: Policy, predictor: Predictor, form: str, often: bool) -> tuple[Any, Any, Any] | None:
    """Return engine, predictor and policy in a compiled form; None where numba cannot compile one."""
    from swftools.simulator.engine.compiled import compiled_engine  # noqa: PLC0415 (imports numba)

    observe, decide = getattr(predictor, form), getattr(policy, form)
    if not (observe and decide):
        return None
    engine = getattr(compiled_engine(), form)
    return (
        (_called_directly(engine), _found_directly(observe), _found_directly(decide))
        if often
        else (engine, observe, decide)
    )


def _without_answer(name: str, entry: Callable[..., Any]) -> Callable[..., None]:
    """Return a policy as it is interpreted; it must return nothing."""

    def decide(*arguments: Any) -> None:
        answer = entry(*arguments)
        if answer is not None:
            raise PolicyError(f"policy {name!r} returned {answer!r}; a policy acts by start(), it returns nothing")

    return decide


# numba finds out the types of all arguments anew at each call, and what is compiled of each function among them: 0.3 ms
# together, nothing for a call that takes seconds, and most of the time for one that goes to the next submission.


def _called_directly(compiled: Any) -> Any:
    """Return what a function compiled for one signature runs, without a look at types; the caller guarantees these."""
    result = _result(compiled)
    return compiled if result is None else result.entry_point


def _found_directly(compiled: Any) -> Any:
    """Return a function compiled for one signature that, as an argument, is found without a look at its types."""
    result = _result(compiled)
    if result is not None:
        compiled.get_compile_result = lambda signature: result  # noqa: ARG005 (there is one)
    return compiled


def _result(compiled: Any) -> Any:
    """Return what numba made of a function; None where it compiles nothing (NUMBA_DISABLE_JIT)."""
    return next(iter(getattr(compiled, "overloads", {}).values()), None)
