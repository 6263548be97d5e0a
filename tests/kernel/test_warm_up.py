# SPDX-License-Identifier: BSD-3-Clause
"""warm_up: afterwards every kernel is in the cache, another process compiles nothing, and progress counts the steps."""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from swftools.kernel import Kernel, kernel, rehearsals, warm_up
from swftools.kernel.compiling import _KERNELS
from swftools.kernel.sources import kernel_modules
from tests.folders import ROOT
from tests.forked import NUMBA

pytestmark = pytest.mark.skipif(not hasattr(kernel(lambda x: x).compiled, "overloads"), reason="NUMBA_DISABLE_JIT")


ONCE = """
import importlib
import json
from swftools.kernel import warm_up, watch_compiling
names, steps = [], []
with watch_compiling(lambda count, name: names.append(name)):
    count = warm_up(lambda *step: steps.append(step))
import swftools.simulator.run.compiled_calls, swftools.simulator.registry
assert sum(swftools.simulator.run.compiled_calls.engine_kernel().compiled.stats.cache_hits.values()) == 1 or count
assert sum(swftools.simulator.registry.find_policy("fcfs")._entry.placed.stats.cache_hits.values()) == 1 or count
from tests.kernel.test_warm_up import are_kept
print(json.dumps([count, names, steps, are_kept()]))
"""


OF_FEW = re.compile(
    r"swftools\.simulator\.nodes\."
    r"((choosing|placements\.(contiguous|dot_product|fewest_switches|gpu_packing|worst_fit))\..*|"
    r"(gpus|placements\.(fgd|gpu_clustering|random|weng_\w+))\..*|"
    r"words\.(memory_in|gpus_in|without_gpus)|easy\.fill_before_on_nodes|(acts|forking|away\.\w+)\..*)|"
    r"swftools\.learning\.(episode_on_nodes|observed_nodes|episode_away|observed_away)\..*|swftools\.simulator\.slurm\..*"
)
"""Kernels that few use, made when one is first used: those of placements, each of which would take EASY 7 s, of shared
GPUs, of nodes that are away, of steppers and episodes on nodes, of Slurm's rules."""


class Warmed(NamedTuple):
    """What warm_up says in a process of its own: how many kernels it compiled, which, and its progress."""

    count: int
    names: list[str]
    steps: list[tuple[int, int, str]]
    kept: dict[str, bool]


def warm_up_elsewhere() -> Warmed:
    """Warm up in another process, which says nothing else."""
    run = NUMBA.run([sys.executable, "-c", ONCE], ROOT, dict(os.environ))
    assert (run.returncode, run.stderr) == (0, "")
    count, names, steps, kept = json.loads(run.stdout)
    return Warmed(count, names, [tuple(step) for step in steps], kept)


@pytest.fixture(scope="module")
def warmed() -> Warmed:
    """What warm_up says where another process did it before: ``make test``, or else this one."""
    first = warm_up_elsewhere()
    return warm_up_elsewhere() if first.count else first


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
    """Return what the cache has of a kernel in one form: nothing if its index names a class that is gone."""
    try:
        index: dict[Any, str] = form._cache._cache_file._load_index()
    except AttributeError:  # kernels begin anew then; this only looks
        return {}
    return index


def are_kept() -> dict[str, bool]:
    """Return whether the cache has each kernel in some form, where all of them have run."""
    return {name: any(index_of(form) for form in (one.compiled, one.inner)) for name, one in kernels().items()}


def test_progress(warmed: Warmed) -> None:
    """The beginning is told, and each step when it is done, with its name."""
    steps = warmed.steps
    done, total, names = zip(*steps, strict=True)
    assert list(done) == list(range(len(steps)))
    assert set(total) == {len(steps) - 1}
    assert {"reading", "policy easy", "validation"} < set(names)
    assert names[0] == ""
    assert len(set(names)) == len(names)


def test_every_kernel_is_compiled(warmed: Warmed) -> None:
    """A kernel that the rehearsal does not call, nor another kernel, stands here by name."""
    assert len(warmed.kept) > 80
    assert [name for name, is_kept in warmed.kept.items() if not is_kept and not OF_FEW.fullmatch(name)] == []


def test_a_second_process_compiles_nothing(warmed: Warmed) -> None:
    """Engine and policies, reading, models: all are taken from the cache."""
    assert (warmed.count, warmed.names) == (0, [])


def test_several_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """They share the steps out, tell how many kernels each compiled, and do nothing in this one."""
    own = kernel(lambda x: x + 1)

    def step(number: int) -> None:
        (tmp_path / str(number)).write_text(str(os.getpid()))
        if number == 3:
            own(1)

    steps = [(f"step {number}", partial(step, number)) for number in range(8)]
    for module in kernel_modules():
        importlib.import_module(module)  # some have rehearsals of their own
    monkeypatch.setattr(rehearsals, "_REHEARSALS", [lambda: steps])
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
def test_all_in_several_processes(warmed: Warmed) -> None:
    """Every kernel is found by them, and nothing is said."""
    run = NUMBA.run([sys.executable, "-c", ALL_FORKED], ROOT, dict(os.environ))
    assert (run.stdout, run.stderr) == ("0 True True\n", "")
