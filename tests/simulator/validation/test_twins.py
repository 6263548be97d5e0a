# SPDX-License-Identifier: BSD-3-Clause
"""The validator's kernels are equal to slow twins, to themselves interpreted, and independent of the engine."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.simulator.entry_points import simulate
from swftools.simulator.schedule import Schedule
from swftools.simulator.validation import promises, reservations
from swftools.simulator.validation.in_use import most_in_use, processors_in_use
from swftools.simulator.validation.promises import find_broken_reservations, find_delayed_heads, find_idle_heads
from swftools.simulator.validation.reservations import PlanningManner, Starts
from tests.examples import examples
from tests.naive.validation import naive_delayed_heads, naive_idle_heads, naive_promises
from tests.simulator.validation.strategies import workloads


def starts_of(schedule: Schedule) -> Starts:
    """Return the jobs of a schedule in order of submission, in arrays for which ``validate`` has kernels compiled."""
    jobs = schedule.jobs.assign(turn=np.arange(len(schedule)))
    runs = schedule.segments.reset_index()[["index", "job_number"]]
    jobs = jobs.merge(runs, on="job_number").sort_values(["submit_time", "job_number"], kind="stable")
    floats = [np.array(jobs[name], np.float64) for name in ("submit_time", "start_time", "end_time", "estimated_time")]
    whole = [np.array(jobs[name], np.int64) for name in ("allocated_processors", "index")]
    return Starts(*floats[:3], whole[0], floats[3], whole[1])


@examples(0.5)
@given(
    trace=workloads(), policy=st.sampled_from(["easy", "conservative", "narrowest", "sjf"]), one_decision=st.booleans()
)
def test_head_reservations_equal_the_slow_twin(trace: Trace, policy: str, one_decision: bool) -> None:
    """The same heads are delayed, in schedules that break the promise often."""
    starts = starts_of(simulate(trace, policy))
    found = find_delayed_heads(starts, trace.processors, 1e-6, one_decision=one_decision, at_every_start=False)
    assert naive_delayed_heads(starts, trace.processors, one_decision) == found.job.tolist()


@pytest.mark.parametrize("policy", ["conservative", "conservative-fixed"])
@given(trace=workloads())
@examples(0.25)
def test_reservations_equal_the_slow_twin(policy: str, trace: Trace) -> None:
    """Every promise is that of a plan kept as a list of intervals, and it is kept."""
    longer = trace.with_jobs(trace.jobs.assign(run_time=trace.jobs["run_time"] + 1, requested_time=30.0))
    starts = starts_of(simulate(longer, policy))
    manner = PlanningManner(trace.processors, submissions_first=False, compresses=policy == "conservative")
    promised = reservations.promised_starts(starts, manner)
    assert naive_promises(starts, trace.processors, manner.compresses) == promised.tolist()
    assert not len(find_broken_reservations(starts, manner, 1e-6).job)


@given(trace=workloads(), policy=st.sampled_from(["easy", "narrowest"]))
@examples(0.3)
def test_use_of_processors_equals_counting(trace: Trace, policy: str) -> None:
    """At each time, the processors in use are those of the jobs that run."""
    starts = starts_of(simulate(trace, policy))
    times, used = processors_in_use(starts.start_time, starts.end_time, starts.processors)
    counted = [int(starts.processors[(starts.start_time <= t) & (starts.end_time > t)].sum()) for t in times]
    assert counted == used.tolist()


@given(trace=workloads(), policy=st.sampled_from(["easy", "narrowest"]), wider=st.integers(0, 2))
@examples(0.3)
def test_most_in_use_is_the_most_of_all(trace: Trace, policy: str, wider: int) -> None:
    """Of runs in any order, some of them of no length."""
    starts = starts_of(simulate(trace, policy))
    end, width = np.maximum(starts.end_time - wider, starts.start_time), starts.processors + wider
    expected = int(processors_in_use(starts.start_time, end, width)[1].max(initial=0))
    for order in (slice(None), np.argsort(end, kind="stable"), np.argsort(-starts.start_time, kind="stable")):
        assert expected == most_in_use(starts.start_time[order], end[order], width[order])


@examples(0.5)
@given(trace=workloads(), policy=st.sampled_from(["fcfs", "easy", "widest", "ljf"]), more=st.integers(0, 3))
def test_idle_heads_equal_the_slow_twin(trace: Trace, policy: str, more: int) -> None:
    """The same heads waited though they fitted, from the same moment on; on a larger machine many do."""
    starts = starts_of(simulate(trace, policy))
    found = find_idle_heads(starts, trace.processors + more, 1e-6)
    expected = naive_idle_heads(starts, trace.processors + more)
    assert expected == dict(zip(found.job.tolist(), found.latest.tolist(), strict=True))


def test_a_gap_within_the_tolerance_is_none() -> None:
    """A head that fits for a moment only, as times are rounded, did not wait in vain; one that fits for longer did."""
    for pause, late in ((1e-9, []), (1.0, [1])):
        start, end = np.array([0.0, 12.0, 5.0 + pause]), np.array([5.0, 15.0, 12.0])
        starts = Starts(np.array([0.0, 1.0, 2.0]), start, end, np.array([4, 4, 4]), end - start, np.array([0, 2, 1]))
        found = find_idle_heads(starts, 4, 1e-6)
        assert late == found.job.tolist()
        assert [5.0] * len(late) == found.latest.tolist()


def test_kernels_are_the_same_interpreted(shipped: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled and interpreted, the kernels find the same."""
    few = shipped.with_jobs(shipped.jobs.iloc[:400])
    starts = starts_of(simulate(few, "conservative", 300))
    manners = [PlanningManner(300, first, compresses) for first in (False, True) for compresses in (False, True)]
    compiled = [reservations.promised_starts(starts, manner).tolist() for manner in manners]
    head = find_delayed_heads(starts, 300, 1e-6, one_decision=True, at_every_start=True)
    for module in (promises, reservations):
        for name, value in list(vars(module).items()):
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
    assert compiled == [reservations.promised_starts(starts, manner).tolist() for manner in manners]
    again = find_delayed_heads(starts, 300, 1e-6, one_decision=True, at_every_start=True)
    assert head.job.tolist() == again.job.tolist()
    assert head.latest.tolist() == again.latest.tolist()


ALLOWED = {"validation", "schedule", "option_checks", "instants", "requested_times"}
"""When two times are equal, and what users ask for under an option, is one rule for all; neither decides anything."""

WHAT_JOBS_ASK = r"from swftools\.simulator\.slurm\.(asked|requests|alone) import [\w, ]+"
"""What jobs ask of Slurm is read from the trace, and is no rule of the policy. Who could never start is tried anew, by
the rules themselves (``alone``): the naive twin is what holds them."""


def test_nothing_of_the_engine_is_imported() -> None:
    """What checks the engine does not use it, nor its interface, profile or policies; names are looked up."""
    folder = Path(promises.__file__).parent
    files = sorted(folder.glob("*.py"))
    assert len(files) > 4
    for path in files:
        text = re.sub(WHAT_JOBS_ASK, "", path.read_text(encoding="utf-8"))
        used = set(re.findall(r"(?:from|import) swftools\.simulator\.(\w+)", text))
        by_name = {"registry", "assumptions"} if path.stem in ("report", "promise_checks", "foreign_nodes") else set()
        assert used - by_name - ({"nodes"} if path.stem == "nodes" else set()) <= ALLOWED
    text = (folder / "nodes.py").read_text(encoding="utf-8")
    assert re.findall(r"swftools\.simulator\.nodes\S* import .*", text) == [
        "swftools.simulator.nodes.placements import find_placement"
    ]
