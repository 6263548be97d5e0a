# SPDX-License-Identifier: BSD-3-Clause
"""What experiments of papers measured, kept while the tests run: golden values and quick runs ask for the same ones."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from pipelines.logs.tables import Tables
from pipelines.papers.paper import Experiment, Paper
from swftools.trace import Trace

_FOUND: dict[Any, pd.DataFrame] = {}


def remembered(experiment: Experiment) -> Callable[[Trace, Any, int], pd.DataFrame]:
    """Return what measures as an experiment does, but of equal jobs with equal parameters once only."""

    def measure(trace: Trace, parameters: Any, seed: int) -> pd.DataFrame:
        key = experiment.function, parameters, seed, _told(trace)
        if key not in _FOUND:
            _FOUND[key] = experiment.function(trace, parameters, seed)
        return _FOUND[key].copy()

    return measure


def remember(paper: Paper, patch: pytest.MonkeyPatch) -> None:
    """Let the experiments of a paper be remembered ones."""
    for name, experiment in list(paper.experiments.items()):
        patch.setitem(paper.experiments, name, replace(experiment, function=remembered(experiment)))


def _told(trace: Trace | Tables) -> str:
    """Return a hash of all that an experiment may see of a trace, or of tables that are none."""
    if isinstance(trace, Tables):
        return hashlib.sha256(trace.table.to_csv().encode() + repr((trace.name, trace.files)).encode()).hexdigest()
    rows = pd.util.hash_pandas_object(trace.jobs, index=False).to_numpy().tobytes()
    told = (list(trace.jobs.columns), trace.header.to_lines(), trace.processors)
    return hashlib.sha256(rows + repr(told).encode()).hexdigest()
