# SPDX-License-Identifier: BSD-3-Clause
"""A policy that needs a column is refused, by name, where the trace lacks it: it would silently be another policy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from swftools.errors import ParameterError
from swftools.simulator import find_policy, simulate
from swftools.trace import Trace
from tests.every_policy import OURS


def a_trace() -> Trace:
    """Return three jobs of which the machine can run one at a time."""
    return Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2, 3],
        submit_time=[0, 1, 2],
        run_time=[10, 10, 10],
        requested_time=[10, 10, 10],
        requested_processors=[4, 4, 4],
    )


def with_ranks(ranks: list[int | None]) -> Trace:
    """Return the three jobs with priority ranks."""
    trace = a_trace()
    return trace.with_jobs(trace.jobs.assign(priority_rank=pd.array(ranks, dtype="Int64")))


CURVES = ("speedup_curve", "downey_a", "downey_sigma", "minimum_processors", "maximum_processors")


@pytest.mark.parametrize("compiled", [True, False])
def test_what_is_lacking_is_named_with_the_remedy(compiled: bool) -> None:
    """The policy, the column, and how to come by it."""
    with pytest.raises(
        ParameterError, match=r"policy 'prio-fifo' needs priority_rank.*generate_utility.*another policy"
    ):
        simulate(a_trace(), "prio-fifo", compiled=compiled)


def test_with_ranks_it_runs() -> None:
    """Unknown ranks beside known ones are last, as ever."""
    assert [0.0, 20.0, 10.0] == simulate(with_ranks([None, 1, 0]), "prio-fifo").jobs["start_time"].tolist()
    assert [0.0, 20.0, 10.0] == simulate(with_ranks([0, None, 0]), "prio-fifo").jobs["start_time"].tolist()


def test_ranks_may_be_plain_integers() -> None:
    """Not only the nullable ones of a published table: pandas lends out its own arrays, which cannot be written to."""
    trace = a_trace()
    plain = trace.with_jobs(trace.jobs.assign(priority_rank=np.array([2, 1, 0])))
    assert [0.0, 20.0, 10.0] == simulate(plain, "prio-fifo").jobs["start_time"].tolist()


def test_an_empty_trace_lacks_nothing_but_the_column() -> None:
    """There is no job whose rank could be known."""
    trace = with_ranks([0, 1, 2])
    empty = trace.with_jobs(trace.jobs.iloc[:0])
    assert 0 == len(simulate(empty, "prio-fifo").jobs)
    with pytest.raises(ParameterError, match="needs priority_rank"):
        simulate(a_trace().with_jobs(a_trace().jobs.iloc[:0]), "prio-fifo")


def test_only_these_policies_need_a_column() -> None:
    """All others run on any trace; a weight of ranks that is not 0 is a choice of its user."""
    needs = {name: find_policy(name).needed({}) for name in OURS if find_policy(name).needed({})}
    assert {
        "prio-fifo": ("priority_rank",),
        "genetic": ("utility",),
        "genetic-checkpoint": ("checkpoint_interval", "utility"),
        "scojo-p": CURVES,
        "cirne-berman": CURVES,
    } == needs
    for name in set(OURS) - set(needs):
        assert 3 == len(simulate(a_trace(), name).jobs)


def test_ranks_are_what_makes_it_another_policy() -> None:
    """With one rank for all, or none, it is EASY: which is why that must not pass for a result of its own."""
    expected = simulate(a_trace(), "easy").jobs["start_time"].to_numpy()
    for ranks in ([0, 0, 0], [None, None, None]):
        assert np.array_equal(expected, simulate(with_ranks(ranks), "prio-fifo").jobs["start_time"].to_numpy())
