"""warm_up: afterwards every kernel is in the cache, another process compiles nothing, and progress counts the steps."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from swftools.kernel import Kernel, kernel, warm_up
from swftools.kernel.compiling import _KERNELS
from swftools.kernel.sources import kernel_modules

pytestmark = pytest.mark.skipif(not hasattr(kernel(lambda x: x).compiled, "overloads"), reason="NUMBA_DISABLE_JIT")


@pytest.fixture(scope="module")
def steps() -> list[tuple[int, int, str]]:
    """What warm_up told of its progress."""
    told: list[tuple[int, int, str]] = []
    warm_up(lambda *step: told.append(step))
    return told


def kernels() -> dict[str, Kernel]:
    """Return the kernels of all modules of swftools that have some."""
    found = {
        f"{name}.{value.py_func.__name__}": value
        for name in kernel_modules()
        for value in vars(sys.modules[name]).values()
        if isinstance(value, Kernel) and value.py_func.__module__ == name
    }
    assert {value.py_func for value in found.values()} <= set(_KERNELS)
    return found


def test_progress(steps: list[tuple[int, int, str]]) -> None:
    """Each step is told before it is done, with its name, and the end is told."""
    done, total, names = zip(*steps, strict=True)
    assert list(done) == list(range(len(steps)))
    assert set(total) == {len(steps) - 1}
    assert {"reading", "policy easy", "validation"} < set(names)
    assert names[-1] == ""


def test_every_kernel_is_compiled(steps: list[tuple[int, int, str]]) -> None:
    """A kernel that the rehearsal does not call stands here by name; there are more than eighty."""
    found = kernels()
    kept = {name: bool(one.compiled._cache._cache_file._load_index()) for name, one in found.items()}
    assert len(found) > 80
    assert [name for name, is_kept in kept.items() if not is_kept] == []


def named_tuples(kind: Any) -> Iterator[type]:
    """Yield the named tuples that a numba type is made of."""
    if hasattr(kind, "instance_class"):
        yield kind.instance_class
    for part in getattr(kind, "types", ()):
        yield from named_tuples(part)


def test_named_tuples_stand_in_kernel_files(steps: list[tuple[int, int, str]]) -> None:
    """The order of their fields is compiled in, so that it must be in the key."""
    signatures = [
        signature for one in kernels().values() for signature, *_ in one.compiled._cache._cache_file._load_index()
    ]
    kinds = [kind for signature in signatures for kind in getattr(signature, "args", signature)]
    classes = {value for kind in kinds for value in named_tuples(kind)}
    assert {"Machine", "WaitingQueue", "Requests", "Scan"} < {value.__name__ for value in classes}
    assert {value for value in classes if value.__module__ not in kernel_modules()} == set()


SECOND = """
from swftools.kernel import warm_up, watch_compiling
names = []
with watch_compiling(lambda count, name: names.append(name)):
    count = warm_up()
import swftools.simulator.compiled, swftools.simulator.registry
assert sum(swftools.simulator.compiled.compiled_engine().compiled.stats.cache_hits.values()) == 1
assert sum(swftools.simulator.registry.find_policy("easy").compiled.stats.cache_hits.values()) == 1
print(count, names)
"""


def test_a_second_process_compiles_nothing(steps: list[tuple[int, int, str]]) -> None:
    """Engine and policies, reading, models: all are taken from the cache."""
    run = subprocess.run([sys.executable, "-c", SECOND], capture_output=True, text=True, check=True)
    assert run.stdout == "0 []\n"
    assert run.stderr == ""
