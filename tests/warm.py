# SPDX-License-Identifier: BSD-3-Clause
"""The kernels that only tests want, compiled ahead with all others: ``python -m tests.warm``, which ``make test`` does.

They are the checked forms, which look at each index: the engine, the policies that are run so, and what reads logs. Two
processes of tests would each compile them where they meet them first, and wait.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import pytest

from swftools.kernel import rehearsed, warm_up
from swftools.simulator import simulate
from tests.formats.accounting import test_values as values
from tests.formats.loadleveler import test_twin as loadleveler
from tests.formats.lsf import test_lsf_twin as lsf
from tests.formats.pbs import test_generated as pbs
from tests.formats.sge import test_sge_twin as sge
from tests.formats.slurm import test_twin as slurm
from tests.simulator.metrics import test_lean_measures as lean_measures
from tests.simulator.policies.test_pv_easy import with_intervals
from tests.strategies import crowded_trace

POLICIES = ("easy", "search", "pv-easy")
"""Those that tests run checked, the first with the engine, on which the others wait."""


def _policy(name: str) -> None:
    trace = with_intervals(crowded_trace(3))
    for predictor in ("request", "last-model"):
        simulate(trace, name, predictor=predictor, compiled="checked")


def _pbs() -> None:
    with pytest.MonkeyPatch.context() as patch:
        pbs.test_interpreted_as_compiled(patch, pbs.TEXTS[0], "checked")


def _sweep() -> None:
    lean_measures.in_all_forms(simulate(crowded_trace(3), "fcfs"))


@rehearsed
def _steps() -> list[tuple[str, Callable[[], object]]]:
    """Return what is called, by name: where a test does it, the test."""
    return [
        ("checked engine and easy", partial(_policy, "easy")),
        ("checked reading of PBS", _pbs),
        ("checked reading of LoadLeveler", partial(loadleveler.test_interpreted_and_checked, loadleveler.SAMPLES[0])),
        ("checked reading of Slurm's accounting", partial(slurm.test_interpreted_equals_compiled, "")),
        ("checked reading of Slurm's JSON", partial(slurm.find_in_all_forms, b"{}")),
        ("checked reading of Grid Engine", partial(sge.test_interpreted_and_checked, 0)),
        ("checked reading of LSF", partial(lsf.test_interpreted_and_checked, lsf.SAMPLE)),
        *((f"checked numbers {which}", partial(values.fill_in_all_forms, [b"1"], which)) for which in range(3)),
        ("checked heads", _sweep),
        *((f"checked {name}", partial(_policy, name)) for name in POLICIES[1:]),
    ]


if __name__ == "__main__":
    warm_up(workers=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
