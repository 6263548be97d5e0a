# SPDX-License-Identifier: BSD-3-Clause
"""Memory does not grow from run to run: no policy, predictor or kernel keeps arrays that nobody frees.

Kernels made by ``@kernel(allocates=False)`` count no references, so an array that one of them came to own would stay
for ever. numba counts what its arrays take; that it sees a leak is shown by one made on purpose.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import resource
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import KernelError, PolicyError
from swftools.kernel import Kernel, kernel
from swftools.kernel.pointers import Lent, Outside
from swftools.kernel.sources import kernel_modules
from swftools.models import lublin_feitelson
from swftools.simulator import (
    Policy,
    Simulation,
    first_waiting,
    fits,
    list_predictors,
    next_waiting,
    policy_abi,
    simulate,
    start,
    waiting_jobs,
)
from swftools.simulator.machine.state import Machine
from tests.every_policy import OURS, light, with_all_columns

RUNS = 3
JOBS = 40

pytestmark = pytest.mark.skipif(not hasattr(kernel(lambda x: x).compiled, "overloads"), reason="NUMBA_DISABLE_JIT")


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Jobs that queue, with all that policies need."""
    made = lublin_feitelson.generate(JOBS, processors=16, load=0.95, seed=3)
    users = pd.array(np.arange(JOBS) % 5, dtype="Int64")
    ranks = pd.array(np.arange(JOBS) % 3, dtype="Int64")
    return with_all_columns(made.with_jobs(made.jobs.assign(priority_rank=ranks, user_id=users)))


@pytest.fixture
def counting() -> Iterator[None]:
    """Let numba count its allocations."""
    from numba.core.runtime import _nrt_python  # noqa: PLC0415

    was_counting = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    yield
    if not was_counting:
        _nrt_python.memsys_disable_stats()


def in_use() -> int:
    """Return how many arrays, and references to objects of Python, numba holds."""
    from numba.core.runtime import rtsys  # noqa: PLC0415

    stats = rtsys.get_allocation_stats()
    return int(stats.alloc - stats.free) + int(stats.mi_alloc - stats.mi_free)


def kept(trace: Trace, policy: str | Policy, **options: Any) -> int:
    """Return how much more numba holds after a number of runs than after the first."""
    simulate(trace, policy, **options)
    before = in_use()
    for _ in range(RUNS):
        simulate(trace, policy, **options)
    return in_use() - before


@pytest.mark.parametrize("policy", [light(name) for name in OURS])
def test_policies_keep_nothing(counting: None, trace: Trace, policy: str) -> None:
    """Each policy, several times."""
    assert kept(trace, policy) == 0


@pytest.mark.parametrize("predictor", sorted(list_predictors()))
def test_predictors_keep_nothing(counting: None, trace: Trace, predictor: str) -> None:
    """Each predictor, several times, under a policy that asks what is expected."""
    assert kept(trace, "easy", predictor=predictor, overrun="run-on") == 0


def size() -> int:
    """Return what the process takes, bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system tells otherwise")
def test_memory_of_the_process() -> None:
    """What the process takes stays as it is, within what numpy and pandas need to breathe."""
    large = lublin_feitelson.generate(5_000, processors=16, load=0.9, seed=3)
    for _ in range(3):
        simulate(large, "easy")
    before = size()
    for _ in range(20):
        simulate(large, "easy")
    # The arrays of one run take 1 MB.
    assert size() - before < 10_000_000


def test_stretches_keep_nothing(counting: None, trace: Trace) -> None:
    """The engine is called two hundred times, with what was laid out for it once."""
    simulate(trace, "easy")
    before = in_use()
    simulation = Simulation(trace, "easy")
    for time in np.linspace(0.0, trace.arrays.submit_time.max(), 200):
        simulation.run(until=time)
    del simulation
    assert in_use() - before == 0


def raises_with_an_array(machine: Machine) -> None:
    """Start jobs in order, and make a mistake with an array in hand."""
    jobs = waiting_jobs(machine)
    for job in jobs:
        if not fits(machine, job):
            break
        start(machine, job)
    start(machine, jobs[0])


def test_mistakes_keep_little(counting: None, trace: Trace) -> None:
    """Numba frees nothing on the way out of an error: no more stays than the arrays that were in hand."""
    policy = Policy("mistaken", raises_with_an_array)
    for runs in (1, RUNS):
        before = in_use()
        for _ in range(runs):
            with pytest.raises(PolicyError, match="not waiting"):
                simulate(trace, policy)
        held = in_use() - before
    assert held <= 2 * 100 * RUNS


def test_a_leak_is_seen(counting: None, trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The measure of these tests, on a policy compiled so that it leaks an array a decision."""
    from numba import njit  # noqa: PLC0415

    copied = njit(lambda n: np.zeros(n + 1))  # not by kernel, which refuses the rest

    def leaks(machine: Machine) -> None:
        copied(3)
        job = first_waiting(machine)
        while fits(machine, job):
            start(machine, job)
            job = next_waiting(machine, job)

    def uncounted(signature: Any = None, **options: Any) -> Any:
        return lambda source: njit(_nrt=False)(leaks) if source is leaks else kernel(signature, **options)(source)

    assert kept(trace, Policy("counted", leaks)) == 0
    monkeypatch.setattr(policy_abi, "kernel", uncounted)
    assert kept(trace, Policy("uncounted", leaks)) >= RUNS * JOBS


@kernel(allocates=False)
def owns_an_array(n: int) -> float:
    """Own an array that another kernel made, with no reference counted."""
    return makes_one(n)[0]


@kernel
def makes_one(n: int) -> Any:
    """Return a new array."""
    return np.zeros(n)


@kernel(allocates=False)
def owns_in_a_tuple(n: int) -> float:
    """The same, within a tuple."""
    return makes_a_pair(n)[1][0]


@kernel
def makes_a_pair(n: int) -> Any:
    """Return a new array in a tuple."""
    return n, np.zeros(n)


@kernel(allocates=False)
def owns_a_view(array: Any) -> float:
    """Own a reference to what it was given: that would stay counted for ever."""
    return hands_back(array)[0]


@kernel
def hands_back(array: Any) -> Any:
    """Return what is not new."""
    return array[1:]


@kernel(allocates=False)
def owns_by_another(n: int) -> float:
    """Call a kernel that does."""
    return owns_an_array(n)


@pytest.mark.parametrize(
    ("leak", "argument"), [(owns_an_array, 3), (owns_in_a_tuple, 3), (owns_a_view, np.zeros(3)), (owns_by_another, 3)]
)
@pytest.mark.parametrize("form", ["compiled", "checked"])
def test_a_leak_cannot_be_written(leak: Kernel[..., Any], argument: Any, form: str) -> None:
    """A kernel that counts no references and calls one that returns an array is refused, with the remedy."""
    with pytest.raises(KernelError, match=r"owns_\w+, made by @kernel\(allocates=False\), calls .*by @kernel too"):
        getattr(leak, form)(argument)


@kernel
def doubled(value: Any) -> Any:
    """Return a number or an array, as it gets."""
    return 2.0 * value


@kernel(allocates=False)
def doubles_a_number(value: float) -> float:
    """Call a kernel that returns a number then."""
    return doubled(value)


@kernel(allocates=False)
def doubles_an_array(values: Any) -> float:
    """Call the same kernel, which returns an array then."""
    return doubled(values)[0]


def test_what_a_kernel_returns_elsewhere_does_not_count() -> None:
    """Nor when it was compiled for arrays first; nor does it help that it was compiled for numbers first."""
    assert doubled(np.ones(3)).tolist() == [2.0, 2.0, 2.0]
    assert doubles_a_number(1.5) == 3.0
    with pytest.raises(KernelError, match="doubles_an_array"):
        doubles_an_array(np.ones(3))


@kernel
def total(n: int) -> float:
    """Make an array, and free it."""
    return makes_one(n).sum()


@kernel(allocates=False)
def only_asks(n: int) -> float:
    """Call a kernel that makes an array, and returns none."""
    return total(n)


def test_numbers_may_be_taken(counting: None) -> None:
    """A kernel that counts may be called for numbers: it frees what it made itself."""
    assert only_asks(3) == 0.0
    before = in_use()
    for _ in range(RUNS):
        only_asks(3)
    assert in_use() - before == 0


SCALARS = {
    *("abs", "bool", "float", "int", "len", "max", "min", "range", "round", "ValueError"),
    *("ceil", "cos", "exp", "floor", "isnan", "isfinite", "log", "log1p", "log2", "rint", "signbit", "sqrt", "tanh"),
    *("float64", "int64", "uint64"),
    "random",
}
"""Functions that kernels may call beside kernels, none of which makes an array; ``random`` is a Generator's."""


def calls_in(function: Any) -> set[str]:
    """Return the names that a function calls, of ``np.floor`` and the like the last."""
    tree = ast.parse(getattr(function, "text", None) or textwrap.dedent(inspect.getsource(function)))
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call) and node.func is not None]
    names = {one.attr if isinstance(one, ast.Attribute) else ast.unparse(one) for one in called}
    decorators = {ast.unparse(one.func) for one in tree.body[0].decorator_list if isinstance(one, ast.Call)}  # type: ignore[attr-defined]
    return names - decorators


def uncounted_kernels() -> dict[str, Kernel[..., Any]]:
    """Return the kernels of swftools that count no references."""
    modules = [importlib.import_module(name) for name in kernel_modules()]
    return {
        f"{one.py_func.__module__}.{one.py_func.__qualname__}": one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, Kernel) and not one.allocates
    }


def is_tuple(value: object) -> bool:
    """Whether a value is a class of named tuples, which hold arrays and make none."""
    return isinstance(value, type) and issubclass(value, tuple)


def makers(one: Kernel[..., Any]) -> set[str]:
    """Return what a kernel calls that is neither a kernel nor known to make no array.

    numba refuses most of them without counting, but not sorts that it has compiled before with it.
    """
    source = one.py_func
    known = dict(source.__globals__)
    for value in source.__globals__.values():
        known |= vars(value) if inspect.ismodule(value) and value.__name__.startswith("swftools.") else {}
    # What stands outside kernels returns a number, or lends what somebody else has.
    kernels = {name for name, value in known.items() if isinstance(value, Kernel | Outside | Lent) or is_tuple(value)}
    own = set(inspect.signature(source).parameters)  # the engine's policy and predictor
    return calls_in(source) - kernels - SCALARS - own


def test_kernels_that_count_nothing_make_no_array() -> None:
    """They call kernels, which are looked at when they are compiled, and what makes numbers; nothing else."""
    found = uncounted_kernels()
    assert len(found) > 30
    assert {name: makers(one) for name, one in found.items() if makers(one)} == {}


@kernel(allocates=False)
def sorts(array: Any) -> float:
    """Make an array by a function that numba may not refuse."""
    return array[np.argsort(array, kind="mergesort")[0]]


def test_a_sort_is_found() -> None:
    """What the test above is for."""
    assert makers(sorts) == {"argsort"}


@pytest.mark.parametrize("make", [lambda a: np.empty(3)[0], lambda a: a.copy()[0], lambda a: (a + 1.0)[0]])
def test_numba_refuses_new_arrays(make: Any) -> None:
    """The plain ways to an array are not compiled without counting."""
    from numba.core.errors import NumbaError  # noqa: PLC0415

    with pytest.raises((NumbaError, RuntimeError, NotImplementedError)):
        kernel(allocates=False)(make)(np.ones(3))
