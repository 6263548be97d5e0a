# SPDX-License-Identifier: BSD-3-Clause
"""A rule may remove jobs, sort them, or do both at once: the jobs that stay are the right ones, in the right order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace, clean, cleaning_rule
from swftools.cleaning import Decision, registry
from swftools.cleaning.registry import RuleSpec
from tests.examples import examples


@pytest.fixture(autouse=True)
def _rules_of_ones_own() -> Iterator[None]:
    """Register a rule that removes without an order, and one that does both; remove them again."""
    before = dict(registry._RULES)

    @cleaning_rule("test-remove")
    def remove(trace: Trace, below: float = 0.0) -> Decision:
        return Decision(quarantine=trace.jobs["submit_time"] < below, reason="early")

    @cleaning_rule("test-sort-and-remove")
    def sort_and_remove(trace: Trace, below: float = 0.0) -> Decision:
        """Sort by submission, latest first, and remove the early ones and those without a submission."""
        submit = trace.jobs["submit_time"].to_numpy()
        gone = np.isnan(submit) | (submit < below)
        return Decision(quarantine=gone, reason="early or missing", order=np.argsort(-submit, kind="stable"))

    yield
    registry._RULES.clear()
    registry._RULES.update(before)


def jobs_at(*times: float) -> Trace:
    """Make jobs with these submissions, -1 for none, numbered from 1 and read from the lines of these numbers."""
    numbers = list(range(1, len(times) + 1))
    trace = Trace.from_columns(job_number=numbers, submit_time=times, requested_processors=[1] * len(times))
    return trace.with_jobs(trace.jobs.assign(line_number=trace.jobs["job_number"]))


def cleaned(trace: Trace, *rules: RuleSpec) -> tuple[list[int], list[int]]:
    """Return the numbers of the jobs that stay, in their order, and the lines in the quarantine; the books balance."""
    result, report = clean(trace, rules)
    assert len(trace) == report.balance["kept"] + report.balance["quarantined"]
    assert list(range(len(result))) == result.jobs.index.tolist()
    kept = result.jobs["job_number"].tolist()
    submit = dict(zip(trace.jobs["job_number"], trace.jobs["submit_time"], strict=True))
    assert [submit[job] for job in kept] == pytest.approx(result.jobs["submit_time"].tolist(), nan_ok=True)
    return kept, result.quarantine["line_number"].tolist()


def test_a_removal_without_order() -> None:
    """The others stay as they stood, those without a submission time among them, though they were never sorted."""
    trace = jobs_at(50, -1, 10, 40, -1, 20)
    assert ([1, 2, 4, 5], [3, 6]) == cleaned(trace, {"rule": "test-remove", "below": 30})
    assert ([1, 3, 4, 6], [2, 5]) == cleaned(trace, "missing-submit-time")
    assert ([1, 2, 3, 4, 5, 6], []) == cleaned(trace, "test-remove")


def test_a_removal_with_an_order() -> None:
    """The order counts all jobs, also those that go: by place before the removal, not after it."""
    trace = jobs_at(50, -1, 10, 40, -1, 20)
    assert ([1, 4, 6, 3], [2, 5]) == cleaned(trace, "test-sort-and-remove")
    assert ([1, 4], [2, 3, 5, 6]) == cleaned(trace, {"rule": "test-sort-and-remove", "below": 30})
    assert ([], [1, 2, 3, 4, 5, 6]) == cleaned(trace, {"rule": "test-sort-and-remove", "below": 60})


def test_an_order_and_then_a_removal() -> None:
    """Those without a submission time go last, and leave the sorted ones in their order when they are removed."""
    trace = jobs_at(50, -1, 10, 40, -1, 20)
    assert ([3, 6, 4, 1, 2, 5], []) == cleaned(trace, "submission-order")
    assert ([3, 6, 4, 1], [2, 5]) == cleaned(trace, "submission-order", "missing-submit-time")
    assert ([3, 6, 4, 1], [2, 5]) == cleaned(trace, "missing-submit-time", "submission-order")
    assert ([4, 1, 2, 5], [3, 6]) == cleaned(trace, "submission-order", {"rule": "test-remove", "below": 30})


@examples(0.5)
@given(st.lists(st.integers(-1, 9), max_size=12), st.integers(0, 10))
def test_both_at_once_are_one_after_the_other(times: list[int], below: int) -> None:
    """Removing and sorting in one rule keeps the jobs, in the order, of a plain sort of those that stay."""
    trace = jobs_at(*times)
    known = [(-time, number) for number, time in enumerate(times, start=1) if time >= max(below, 0)]
    gone = [number for number, time in enumerate(times, start=1) if time < max(below, 0)]
    assert ([number for _, number in sorted(known)], gone) == cleaned(
        trace, {"rule": "test-sort-and-remove", "below": below}
    )
