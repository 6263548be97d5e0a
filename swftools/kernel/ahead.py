"""Having kernels ready before they are needed: after an installation, in an image, before many processes start."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable

from swftools.kernel.compiling import WATCH
from swftools.kernel.sources import kernel_modules

Steps = Iterable[tuple[str, Callable[[], object]]]

_REHEARSALS: list[Callable[[], Steps]] = []


def rehearsed(steps: Callable[[], Steps]) -> Callable[[], Steps]:
    """Register what calls kernels the way they are used: a function that returns names and calls."""
    _REHEARSALS.append(steps)
    return steps


def warm_up(progress: Callable[[int, int, str], None] | None = None) -> int:
    """Compile every kernel of swftools that is not in the cache, by calling each once on next to nothing.

    Parameters
    ----------
    progress : callable, optional
        Called before each step and after the last, with the number of steps done, of all steps, and the name of the
        next, which is empty at the end.

    Returns
    -------
    int
        How many kernels were compiled; 0 if all were in the cache.
    """
    for module in kernel_modules():
        importlib.import_module(module)
    before = WATCH.count
    steps = [step for rehearsal in _REHEARSALS for step in rehearsal()]
    for done, (name, call) in enumerate(steps):
        if progress:
            progress(done, len(steps), name)
        call()
    if progress:
        progress(len(steps), len(steps), "")
    return WATCH.count - before
