# SPDX-License-Identifier: BSD-3-Clause
"""The schedulers of Barsanti and Sodan beside their slow twins, on crowds, compiled and interpreted."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.simulator.entry_points import simulate
from swftools.simulator.validation.report import validate
from tests.every_policy import with_all_columns
from tests.examples import examples
from tests.interpreted import all_interpreted
from tests.naive.moldable import CirneBerman, Rules, Scojo, fixed
from tests.naive.simulator import Policy
from tests.simulator.policies.moldable_crowds import dense_crowds, rigid
from tests.simulator.twin import naive_runs, shown, shown_naive
from tests.strategies import crowded_trace

CLASSES = {
    "short": st.sampled_from([0.0, 2.0, 60.0]),
    "long": st.sampled_from([0.0, 4.0, 3600.0]),
    "aging": st.sampled_from([0.0, 0.5, 5.0]),
}
RULES = {
    **CLASSES,
    "target": st.sampled_from(["load", "load", "optimum"]),
    "ideal_load": st.sampled_from([0.25, 0.9, 1.0, 4.0]),
    "delta": st.sampled_from([0.0, 0.02, 0.5]),
    "bad_modifiers": st.integers(1, 3),
    "prediction": st.booleans(),
    "early_start": st.booleans(),
    "guarantee": st.booleans(),
    "adaptive_backfilling": st.sampled_from(["shrink", "resize", "none"]),
    "resize": st.booleans(),
    "resize_every": st.sampled_from([0.0, 2.0, 8.0]),
}
RUNS = {
    "predictor": st.sampled_from(["request", "exact", "last-model"]),
    "overrun": st.sampled_from(["extend", "kill", "run-on"]),
}


def assert_same(trace: Trace, name: str, policy: Policy, rules: dict[str, Any], run: dict[str, Any]) -> None:
    """Hold the runs of a policy, with their widths, against those of its twin."""
    work, jobs, runs = naive_runs(trace, policy, **run)
    schedule = simulate(trace, name, **rules, **run, seed=3)
    assert sorted(shown_naive(trace, jobs, runs, work)) == sorted(shown(trace, schedule))
    if run["overrun"] != "run-on":
        report = validate(schedule, trace=trace)
        assert report.ok, str(report)


@examples(0.4)
@given(trace=dense_crowds, rules=st.fixed_dictionaries(CLASSES), run=st.fixed_dictionaries(RUNS))
def test_fixed(trace: Trace, rules: dict[str, Any], run: dict[str, Any]) -> None:
    """Each job starts when the twin starts it, on its own width."""
    assert_same(trace, "fixed", fixed(Rules(**rules)), rules, run)


@examples(0.7)
@given(trace=dense_crowds, rules=st.fixed_dictionaries(RULES), run=st.fixed_dictionaries(RUNS))
def test_scojo_p(trace: Trace, rules: dict[str, Any], run: dict[str, Any]) -> None:
    """Each job starts when the twin starts it, on the twin's width, whatever rules are switched off."""
    assert_same(trace, "scojo-p", Scojo(Rules(**rules)), rules, run)


@examples(0.4)
@given(trace=dense_crowds, rules=st.fixed_dictionaries(RULES), run=st.fixed_dictionaries(RUNS))
def test_without_moldable_jobs_it_is_fixed(trace: Trace, rules: dict[str, Any], run: dict[str, Any]) -> None:
    """Start by start, whatever the rules that change widths say."""
    classes = {name: rules[name] for name in CLASSES}
    found = simulate(rigid(trace), "scojo-p", **rules, **run).jobs["start_time"]
    assert simulate(rigid(trace), "fixed", **classes, **run).jobs["start_time"].tolist() == found.tolist()


WAYS = {
    "sizes": st.sampled_from(["all", "powers-of-two"]),
    "tolerance": st.sampled_from([0.0, 0.0, 0.25, 1.0]),
    "inner": st.sampled_from(["easy", "easy", "conservative"]),
}


@examples(0.6)
@given(
    trace=dense_crowds,
    rules=st.fixed_dictionaries(CLASSES),
    ways=st.fixed_dictionaries(WAYS),
    run=st.fixed_dictionaries(RUNS),
)
def test_cirne_berman(trace: Trace, rules: dict[str, Any], ways: dict[str, Any], run: dict[str, Any]) -> None:
    """Each job has the width of the twin, and starts with it."""
    assert_same(trace, "cirne-berman", CirneBerman(Rules(**rules), **ways), {**rules, **ways}, run)


@examples(0.3)
@given(trace=dense_crowds, rules=st.fixed_dictionaries(CLASSES), run=st.fixed_dictionaries(RUNS))
def test_without_moldable_jobs_cirne_berman_is_fixed(trace: Trace, rules: dict[str, Any], run: dict[str, Any]) -> None:
    """Start by start."""
    found = simulate(rigid(trace), "cirne-berman", **rules, **run).jobs["start_time"]
    assert simulate(rigid(trace), "fixed", **rules, **run).jobs["start_time"].tolist() == found.tolist()


INTERPRETED = [
    "fixed",
    "scojo-p",
    "scojo-p:profiles=model,short=20,long=200",
    "scojo-p:resize=true,resize_every=2",
    "cirne-berman",
    "cirne-berman:inner=conservative,tolerance=0.05",
]


@pytest.mark.parametrize("name", INTERPRETED)
def test_interpreted(name: str) -> None:
    """It is the compiled schedule, bit for bit, with curves that bend."""
    trace = with_all_columns(crowded_trace(25, seed=2))
    plain = simulate(trace, name)
    with all_interpreted():
        other = simulate(trace, name, compiled=False)
    pd.testing.assert_frame_equal(plain.jobs, other.jobs, check_exact=True)
    pd.testing.assert_frame_equal(plain.segments, other.segments, check_exact=True)
