# SPDX-License-Identifier: BSD-3-Clause
"""warm_up: afterwards every kernel is in the cache, another process compiles nothing, and progress counts the steps."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from swftools.kernel import Kernel, ahead, kernel, warm_up
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


def index_of(form: Any) -> dict[Any, str]:
    """Return what the cache has of a kernel in one form."""
    index: dict[Any, str] = form._cache._cache_file._load_index()
    return index


def test_progress(steps: list[tuple[int, int, str]]) -> None:
    """The beginning is told, and each step when it is done, with its name."""
    done, total, names = zip(*steps, strict=True)
    assert list(done) == list(range(len(steps)))
    assert set(total) == {len(steps) - 1}
    assert {"reading", "policy easy", "validation"} < set(names)
    assert names[0] == ""
    assert len(set(names)) == len(names)


def test_every_kernel_is_compiled(steps: list[tuple[int, int, str]]) -> None:
    """A kernel that the rehearsal does not call, nor another kernel, stands here by name."""
    found = kernels()
    kept = {name: any(index_of(form) for form in (one.compiled, one.inner)) for name, one in found.items()}
    assert len(found) > 80
    assert [name for name, is_kept in kept.items() if not is_kept] == []


SECOND = """
from swftools.kernel import warm_up, watch_compiling
names = []
with watch_compiling(lambda count, name: names.append(name)):
    count = warm_up()
import swftools.simulator.engine.calling, swftools.simulator.registry
assert sum(swftools.simulator.engine.calling.engine_kernel().compiled.stats.cache_hits.values()) == 1
assert sum(swftools.simulator.registry.find_policy("easy")._entry.placed.stats.cache_hits.values()) == 1
print(count, names)
"""


def test_a_second_process_compiles_nothing(steps: list[tuple[int, int, str]]) -> None:
    """Engine and policies, reading, models: all are taken from the cache."""
    run = subprocess.run([sys.executable, "-c", SECOND], capture_output=True, text=True, check=True)
    assert run.stdout == "0 []\n"
    assert run.stderr == ""


def test_several_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """They share the steps out, tell how many kernels each compiled, and do nothing in this one."""
    own = kernel(lambda x: x + 1)

    def step(number: int) -> None:
        (tmp_path / str(number)).write_text(str(os.getpid()))
        if number == 3:
            own(1)

    steps = [(f"step {number}", partial(step, number)) for number in range(8)]
    monkeypatch.setattr(ahead, "_REHEARSALS", [lambda: steps])
    told: list[tuple[int, int, str]] = []
    assert warm_up(lambda *each: told.append(each), workers=2) == 1
    assert [(done, total) for done, total, _ in told] == [(done, 8) for done in range(9)]
    assert sorted(name for *_, name in told) == ["", *(name for name, _ in steps)]
    processes = {path.read_text() for path in tmp_path.iterdir()}
    assert len(list(tmp_path.iterdir())) == 8
    assert str(os.getpid()) not in processes


ALL_FORKED = """
from swftools.kernel import warm_up
steps = []
count = warm_up(lambda *step: steps.append(step), workers=2)
print(count, len(steps) == steps[0][1] + 1, [done for done, *_ in steps] == list(range(len(steps))))
"""


@pytest.mark.slow
def test_all_in_several_processes(steps: list[tuple[int, int, str]]) -> None:
    """Every kernel is found by them, and nothing is said."""
    run = subprocess.run([sys.executable, "-c", ALL_FORKED], capture_output=True, text=True, check=True)
    assert run.stdout == "0 True True\n"
    assert run.stderr == ""
