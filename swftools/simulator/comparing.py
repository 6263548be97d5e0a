# SPDX-License-Identifier: BSD-3-Clause
"""compare(): replay one trace under several policies, in one call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pandas as pd

from swftools.errors import ParameterError
from swftools.formats.as_trace import as_trace
from swftools.simulator.measures_table import Measures
from swftools.simulator.metrics.measures import measure
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.one_call import simulate
from swftools.simulator.registry import Policy
from swftools.trace import Trace


def compare(
    trace: Trace | str | os.PathLike[str],
    policies: Sequence[str | Policy],
    parameters: MetricParameters | None = None,
    **options: Any,
) -> Measures:
    """Simulate a trace under each of several policies, and measure the schedules.

    Parameters
    ----------
    trace : Trace, or path
        As ``simulate`` takes it.
    policies : sequence of str or Policy
        At least one, each once: ``["fcfs", "easy:reservations=2"]``.
    parameters : MetricParameters, optional
        How it is measured; defaults if not given.
    **options
        Of ``simulate``, the same for all policies: processors, predictor, seed.

    Returns
    -------
    Measures
        The rows of ``measure`` of each policy, one below the other, the column policy as they were given;
        ``compare(...).summary()`` shows the dozen most important numbers side by side.

    Raises
    ------
    ParameterError, PolicyError
        As ``simulate`` raises them; also without policies, or if one stands twice.

    Examples
    --------
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2, 3], submit_time=[0, 1, 2],
    ...     run_time=[10, 10, 5], requested_time=[10, 10, 5], requested_processors=[3, 4, 1])
    >>> compare(trace, ["fcfs", "easy"]).summary().loc["mean wait", ["fcfs", "easy"]].tolist()
    [9.0, 3.0]
    """
    if isinstance(policies, str | Policy):
        raise ParameterError(f"policies={policies!r}: give a list, such as ['fcfs', 'easy']")
    labels = [policy if isinstance(policy, str) else policy.name for policy in policies]
    if not labels or len(set(labels)) < len(labels):
        raise ParameterError(f"policies={labels}: give at least one policy, and each only once")
    read = as_trace(trace)
    tables = [
        measure(simulate(read, policy, **options), parameters, label=label)
        for policy, label in zip(policies, labels, strict=True)
    ]
    return Measures(pd.concat(tables, ignore_index=True))
