# SPDX-License-Identifier: BSD-3-Clause
"""The reference values of version C: what FCFS-backfill and LXF-backfill would make of the waiting jobs."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from swftools import Trace
from swftools.simulator import Simulation, simulate
from swftools.simulator.search.state import MEASURES, REFERENCE, TERMS
from tests.examples import examples
from tests.naive.search_objectives import MEASURES as NAIVE
from tests.naive.search_objectives import Objective, Term
from tests.simulator.search.compared import crowds, slow

PAIRS = [("T_w", "avgX"), ("maxW", "avgW"), ("avgX", "maxE")]


def references_at(trace: Trace, objective: Objective, time: float, waiting: int) -> list[float]:
    """Return the references of the last decision by a time; means as means."""
    simulation = Simulation(trace, "search", branching="fcfs", nodes=0, objective=objective.to_text(), seed=3)
    simulation.run(until=time)
    memory = simulation._driver.decider.memory
    assert memory.counts[MEASURES] == len(objective.terms)
    sums = memory.aim[REFERENCE * TERMS :][: len(objective.terms)]
    return [
        float(value) / (waiting if NAIVE[term.name].fold == "mean" else 1)
        for value, term in zip(sums, objective.terms, strict=True)
    ]


@examples(0.3)
@given(trace=crowds(least_jobs=2, max_jobs=9, processors=6), pair=st.sampled_from(PAIRS))
def test_references_are_those_of_the_twin(trace: Trace, pair: tuple[str, str]) -> None:
    """At every decision; of several at one instant at the last."""
    objective = Objective("tradeoff-c", tuple(Term(name) for name in pair))
    decisions = slow(trace, objective, branching="fcfs", nodes=0).decisions
    for question in {decision.question.now: decision.question for decision in decisions}.values():
        expected = [float(reference) for reference in question.references]
        assert references_at(trace, objective, question.now, len(question.jobs)) == expected


widths = st.integers(1, 6)
times = st.sampled_from([1.0, 2.0, 4.0, 8.0])


# The second ends before the first can start, and so takes nothing of the two processors that are left over then.
@example(jobs=[(1, 4, 8.0), (1, 1, 2.0), (1, 2, 8.0)], longer=3)
@examples(0.4)
@given(jobs=st.lists(st.tuples(st.integers(1, 7), widths, times), min_size=2, max_size=8), longer=st.integers(1, 5))
def test_references_are_what_backfilling_makes_of_the_jobs(jobs: list[tuple[int, int, float]], longer: int) -> None:
    """Of jobs that all wait when the first processors become free: as the policies of these names schedule them."""
    trace = Trace.from_columns(
        machine_processors=6,
        job_number=list(range(len(jobs) + 2)),
        submit_time=[0.0, 0.0, *(float(submit) for submit, _, _ in jobs)],
        run_time=[8.0, 12.0, *(time for *_, time in jobs)],
        requested_time=[8.0, 12.0, *(time for *_, time in jobs)],
        allocated_processors=[6 - longer, longer, *(width for _, width, _ in jobs)],
    )
    if min(width for _, width, _ in jobs) > 6 - longer:
        return  # nobody fits at 8 s
    threshold = 8.0 - min(submit for submit, _, _ in jobs)
    waits = {policy: simulate(trace, policy).jobs["wait_time"].to_numpy()[2:] for policy in ("easy", "lxf-backfill")}
    last = [time for *_, time in jobs]
    expected = {
        "T_w": (waits["easy"] - threshold).clip(min=0).sum(),
        "maxW": waits["easy"].max(),
        "maxE": max(waits["easy"].max() - threshold, 0.0),
        "avgW": waits["lxf-backfill"].mean(),
        "avgX": ((waits["lxf-backfill"] + last) / last).mean(),
    }
    for pair in PAIRS:
        objective = Objective("tradeoff-c", tuple(Term(name) for name in pair))
        assert references_at(trace, objective, 8.0, len(jobs)) == [expected[name] for name in pair]
