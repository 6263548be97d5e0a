# SPDX-License-Identifier: BSD-3-Clause
"""Having kernels ready before they are needed: after an installation, in an image, before many processes start."""

from __future__ import annotations

import importlib
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed

from swftools.kernel.compiling import WATCH
from swftools.kernel.sources import kernel_modules

Steps = Iterable[tuple[str, Callable[[], object]]]

_REHEARSALS: list[Callable[[], Steps]] = []


def rehearsed(steps: Callable[[], Steps]) -> Callable[[], Steps]:
    """Register what calls kernels the way they are used: a function that returns names and calls."""
    _REHEARSALS.append(steps)
    return steps


def warm_up(progress: Callable[[int, int, str], None] | None = None, *, workers: int = 1) -> int:
    """Compile every kernel of swftools that is not in the cache, by calling each once on next to nothing.

    Parameters
    ----------
    progress : callable, optional
        Called before the first step and after each, with the number of steps done, of all steps, and the name of the
        one that was done last, which is empty at the beginning.
    workers : int
        Processes that compile, where the system can fork; what two need at the same time is compiled by both.

    Returns
    -------
    int
        How many kernels were compiled; 0 if all were in the cache.
    """
    for module in kernel_modules():
        importlib.import_module(module)
    steps = [step for rehearsal in _REHEARSALS for step in rehearsal()]
    compiled = 0
    if progress:
        progress(0, len(steps), "")
    for done, (name, count) in enumerate(_carried_out(steps, workers), 1):
        compiled += count
        if progress:
            progress(done, len(steps), name)
    return compiled


def _carried_out(steps: list[tuple[str, Callable[[], object]]], workers: int) -> Iterator[tuple[str, int]]:
    """Take steps and yield of each, as it is done, its name and how many kernels it compiled."""
    if workers == 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(_carry_out, steps)
        return
    _FORKED[:] = steps  # a process that is forked has them; they could not be sent to it
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
        for found in as_completed([pool.submit(_carry_out_forked, number) for number in range(len(steps))]):
            yield found.result()


_FORKED: list[tuple[str, Callable[[], object]]] = []


def _carry_out_forked(number: int) -> tuple[str, int]:
    return _carry_out(_FORKED[number])


def _carry_out(step: tuple[str, Callable[[], object]]) -> tuple[str, int]:
    """Take a step; return its name and how many kernels it compiled."""
    name, call = step
    before = WATCH.count
    call()
    return name, WATCH.count - before
