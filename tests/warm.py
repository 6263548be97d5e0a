# SPDX-License-Identifier: BSD-3-Clause
"""The kernels that only tests want, compiled ahead with all others: ``python -m tests.warm``, which ``make test`` does.

They are the engine and EASY in the form that looks at each index. Two processes of tests would each compile them where
they meet them first, and wait.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from swftools.kernel import rehearsed, warm_up
from swftools.simulator import simulate
from tests.strategies import crowded_trace


@rehearsed
def _steps() -> list[tuple[str, Callable[[], object]]]:
    """Return what is called, by name."""
    return [("checked engine and easy", partial(simulate, crowded_trace(3), "easy", compiled="checked"))]


if __name__ == "__main__":
    warm_up(workers=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
