# SPDX-License-Identifier: BSD-3-Clause
"""The search against all orders: with visits enough it finds what a look at each of them finds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from tests.examples import examples
from tests.naive.search import Decision, orders, plan_of
from tests.naive.search_objectives import Number, Objective, Term
from tests.simulator.search.compared import (
    MODELS,
    assert_rows_equal,
    crowds,
    fast,
    improvements_of,
    objectives,
    orders_of,
    slow,
)

ENOUGH = 10**6
"""Visits beyond those of a tree of seven jobs: 7 * 7! at most."""

traversals = st.sampled_from(["dds", "lds"])
branchings = st.sampled_from(["lxf", "fcfs", "sjf"])


def assert_best_of_all(trace: Trace, objective: Objective, traversal: str, branching: str) -> None:
    """Hold a search of the whole tree against one that plans each order from nothing and cuts none."""
    schedule = fast(trace, objective, traversal=traversal, branching=branching, nodes=ENOUGH)
    told = slow(trace, objective, traversal=traversal, branching=branching, all_orders=True)
    assert schedule.jobs["start_time"].tolist() == told.starts
    assert_rows_equal(schedule.notes["improvements"].drop(columns="nodes"), without_nodes(improvements_of(told)))
    assert_rows_equal(schedule.notes["orders"], orders_of(told))
    assert schedule.notes["decisions"]["is_exhausted"].all()


def without_nodes(improvements: pd.DataFrame) -> pd.DataFrame:
    """Return improvements without the visits by which they were found."""
    return improvements.drop(columns="nodes", errors="ignore")


@examples(0.5)
@given(trace=crowds(max_jobs=5), objective=objectives(), traversal=traversals, branching=branchings)
def test_beyond_all_orders_it_is_the_best_of_them(
    trace: Trace, objective: Objective, traversal: str, branching: str
) -> None:
    """Order, measures, and each better one on the way, of every model, strict or not."""
    assert_best_of_all(trace, objective, traversal, branching)


SEVEN = """
    submit run width
    0      8   3
    0      4   1
    0      16  2
    1      1   1
    2      8   4
    2      2   1
    3      4   3
    4      1   2
    4      16  1
"""
"""Seven jobs wait when the second is done."""


@pytest.mark.parametrize("waiting", [6, pytest.param(7, marks=pytest.mark.slow)])
@pytest.mark.parametrize("model", MODELS)
def test_the_best_of_seven_jobs_in_all_orders(model: str, waiting: int) -> None:
    """All 5,040 of them; of six jobs 720."""
    rows = [[float(word) for word in line.split()] for line in SEVEN.split("\n")[2 : 4 + waiting]]
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=list(range(1, len(rows) + 1)),
        submit_time=[row[0] for row in rows],
        run_time=[row[1] for row in rows],
        requested_time=[row[1] for row in rows],
        allocated_processors=[int(row[2]) for row in rows],
    )
    objective = Objective(model, (Term("T_w"), Term("avgX")))
    notes = fast(trace, objective, nodes=ENOUGH).notes
    assert notes["decisions"]["waiting"].max() == waiting
    assert_best_of_all(trace, objective, "dds", "lxf")


# What strict objectives are known to find, whatever the order in which they look


def all_values(decision: Decision) -> list[list[Number]]:
    """Return the measures of all orders of a decision."""
    question = decision.question
    return [question.values(order, plan_of(question, order)) for order in permutations(range(len(question.jobs)))]


def found_values(row: pd.Series, count: int) -> list[float]:
    """Return the measures that a decision of the policy found."""
    return [float(row[f"best_{place}"]) for place in range(1, count + 1)]


def weigh(values: Sequence[Number], references: Sequence[Number]) -> float:
    """Return the sum of measures, each as a share of its reference."""
    return float(sum(value / reference for value, reference in zip(values, references, strict=True)))


@examples(0.4)
@given(
    trace=crowds(max_jobs=5),
    objective=objectives(models=["lexical"]),
    traversal=traversals,
    branching=branchings,
)
def test_strict_lexical_finds_the_least_in_the_order_of_words(
    trace: Trace, objective: Objective, traversal: str, branching: str
) -> None:
    """Of all orders, and of those that are equal the first that is visited."""
    strict = Objective(objective.model, objective.terms, is_strict=True)
    notes = fast(trace, strict, traversal=traversal, branching=branching, nodes=ENOUGH).notes
    told = slow(trace, strict, traversal=traversal, branching=branching, all_orders=True)
    for number, decision in enumerate(told.decisions):
        question = decision.question
        found = found_values(notes["decisions"].iloc[number], len(strict.terms))
        assert found == [float(value) for value in min(all_values(decision))]
        visited = (order for _, order in orders(len(question.jobs), traversal))
        first = next(order for order in visited if floats(question.values(order, plan_of(question, order))) == found)
        rows = notes["orders"][notes["orders"]["decision"] == number].sort_values("chosen_place")
        assert rows["heuristic_place"].tolist() == list(first)


def floats(values: Sequence[Number]) -> list[float]:
    """Return numbers as floats."""
    return [float(value) for value in values]


@examples(0.4)
@given(
    trace=crowds(max_jobs=5),
    objective=objectives(models=["tradeoff-b"]),
    traversal=traversals,
    branching=branchings,
)
def test_strict_version_b_finds_the_least_product(
    trace: Trace, objective: Objective, traversal: str, branching: str
) -> None:
    """Section 3.2: version B is the same as minimizing x times y."""
    strict = Objective(objective.model, objective.terms, is_strict=True)
    notes = fast(trace, strict, traversal=traversal, branching=branching, nodes=ENOUGH).notes
    told = slow(trace, strict, traversal=traversal, branching=branching, all_orders=True)
    for number, decision in enumerate(told.decisions):
        least = min(float(math.prod(values)) for values in all_values(decision))
        assert math.prod(found_values(notes["decisions"].iloc[number], 2)) == pytest.approx(least, rel=1e-12)


@examples(0.4)
@given(
    trace=crowds(max_jobs=5),
    objective=objectives(models=["tradeoff-c"]),
    traversal=traversals,
    branching=branchings,
)
def test_strict_version_c_finds_the_least_weighted_sum(
    trace: Trace, objective: Objective, traversal: str, branching: str
) -> None:
    """Section 3.2: the weights are one over the references; where these are nothing, there is no such sum."""
    strict = Objective(objective.model, objective.terms, is_strict=True)
    notes = fast(trace, strict, traversal=traversal, branching=branching, nodes=ENOUGH).notes
    told = slow(trace, strict, traversal=traversal, branching=branching, all_orders=True)
    for number, decision in enumerate(told.decisions):
        references = decision.question.references
        if all(reference > 0 for reference in references):
            least = min(weigh(values, references) for values in all_values(decision))
            found = weigh(found_values(notes["decisions"].iloc[number], 2), floats(references))
            assert found == pytest.approx(least, rel=1e-12)


odd_jobs = st.tuples(st.integers(1, 80), st.integers(1, 300), st.integers(1, 4))
"""Submission and run time in tenths of a second, and width."""


@examples(0.4)
@given(jobs=st.lists(odd_jobs, min_size=1, max_size=5), name=st.sampled_from(["avgX", "avgW", "maxW", "T_w"]))
def test_one_measure_is_the_least_of_all_orders_whatever_the_times(jobs: list[tuple[int, int, int]], name: str) -> None:
    """As near as sums of floats are, for times that are no sums of powers of two, where all wait for the machine."""
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=list(range(len(jobs) + 1)),
        submit_time=[0.0, *(submit / 10 for submit, _, _ in jobs)],
        run_time=[9.0, *(run / 10 for _, run, _ in jobs)],
        requested_time=[9.0, *(run / 10 for _, run, _ in jobs)],
        allocated_processors=[4, *(width for _, _, width in jobs)],
    )
    objective = Objective("lexical", (Term(name),), is_strict=True)
    decisions = fast(trace, objective, nodes=ENOUGH).notes["decisions"]
    # At the second decision; later on the policy may have started others, of orders that cost alike but for rounding.
    row, decision = decisions.iloc[1], slow(trace, objective, nodes=0).decisions[1]
    assert row["time"] == decision.question.now == 9.0
    assert row["waiting"] == len(decision.question.jobs) == len(jobs)
    assert row["best_1"] == pytest.approx(float(min(all_values(decision))[0]), rel=1e-12, abs=1e-12)
