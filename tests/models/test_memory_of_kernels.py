# SPDX-License-Identifier: BSD-3-Clause
"""What the kernels of models take of memory is given back, also by those that count no references."""

from __future__ import annotations

import gc
import io

import pytest
from numba import config
from numba.core.runtime import _nrt_python, rtsys

from swftools import generate_utility
from swftools.checkpoints.inference import infer_checkpoints
from swftools.checkpoints.survey import read_checkpoint_survey
from swftools.models import cirne_berman, lublin_feitelson
from swftools.models.moldability import SpeedupParameters, generate_speedup


def run_all() -> None:
    """Run each model once."""
    trace = lublin_feitelson.generate(300, processors=128, seed=1)
    cirne_berman.generate(300, processors=128, seed=1)
    generate_utility(trace)
    for model in ("cirne-berman", "simple", "downey"):
        generate_speedup(trace, SpeedupParameters(model=model, moldable_share=0.5))  # type: ignore[arg-type]
    trace = trace.with_jobs(trace.jobs.assign(user_id=trace.jobs["job_number"] % 3))
    survey = "user_id,processors,job_number,choice,interval_minutes\n1,1,9001,0,15\n1,2,9002,1,\n2,1,9003,0,5"
    infer_checkpoints(trace, read_checkpoint_survey(io.StringIO(survey)))


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="interpreted, they are Python's")
def test_nothing_leaks() -> None:
    """As many arrays are freed as were made, beyond those that the first runs keep."""
    run_all()
    _nrt_python.memsys_enable_stats()
    try:
        gc.collect()
        before = rtsys.get_allocation_stats()
        for _ in range(3):
            run_all()
        gc.collect()
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    made, freed = after.mi_alloc - before.mi_alloc, after.mi_free - before.mi_free
    assert made > 100
    assert made == freed
    assert after.alloc - before.alloc == after.free - before.free
