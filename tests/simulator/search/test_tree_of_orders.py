# SPDX-License-Identifier: BSD-3-Clause
"""In which order a search visits the orders of the waiting jobs, and how it counts: beside figure 1 of its authors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations

import pytest

from swftools import Trace
from swftools.simulator import simulate
from swftools.simulator.schedule import Schedule
from tests.naive.search import discrepancies, leads_on, orders
from tests.simulator.search.compared import registered

FOUR = {
    "lds": """
        1234
        1243 1324 1423 2134 3124 4123
        1342 1432 2143 2314 2413 3142 3214 3412 4132 4213 4312
        2341 2431 3241 3421 4231 4321
    """,
    "dds": """
        1234
        2134 3124 4123
        1324 1423 2314 2413 3214 3412 4213 4312
        1243 1342 1432 2143 2341 2431 3142 3241 3421 4132 4231 4321
    """,
}
"""The paths of four jobs; a line is an iteration. The first three of each are drawn in figure 1."""

FIVE = {"lds": [1, 10, 35, 50, 24], "dds": [1, 4, 15, 40, 60]}
"""How many paths of five jobs each iteration has."""


def told(traversal: str) -> list[tuple[int, str]]:
    """Return iteration and path of the tree of four, as they are visited."""
    lines = [line.split() for line in FOUR[traversal].splitlines() if line.strip()]
    return [(iteration, path) for iteration, paths in enumerate(lines) for path in paths]


def nodes_by_path(traversal: str) -> list[int]:
    """Return how many nodes are visited by the end of each path.

    A path has the nodes that it does not share with the one before it, which the first of an iteration does with none.
    """
    nodes, total, before = [], 0, (-1, "")
    for iteration, path in told(traversal):
        shared = 0
        while before[0] == iteration and path[shared] == before[1][shared]:
            shared += 1
        total += len(path) - shared
        nodes.append(total)
        before = (iteration, path)
    return nodes


# The twin


@pytest.mark.parametrize("traversal", FOUR)
def test_the_twin_visits_four_jobs_as_drawn(traversal: str) -> None:
    """Path by path."""
    ours = [(iteration, "".join(str(job + 1) for job in path)) for iteration, path in orders(4, traversal)]
    assert ours == told(traversal)


@pytest.mark.parametrize("traversal", FIVE)
def test_the_twin_visits_every_path_of_five_jobs_once(traversal: str) -> None:
    """As many in each iteration as are known."""
    counts = Counter(iteration for iteration, _ in orders(5, traversal))
    assert [counts[iteration] for iteration in range(5)] == FIVE[traversal]
    assert sorted(path for _, path in orders(5, traversal)) == sorted(permutations(range(5)))


@pytest.mark.parametrize("traversal", FOUR)
@pytest.mark.parametrize("jobs", [1, 2, 3, 4, 5])
def test_the_twin_enters_what_leads_to_a_path(traversal: str, jobs: int) -> None:
    """A beginning is entered in an iteration just if one of its paths begins so."""
    paths = list(orders(jobs, traversal))
    for iteration in range(jobs):
        begun = {path[:depth] for own, path in paths if own == iteration for depth in range(jobs + 1)}
        for depth in range(jobs + 1):
            for prefix in permutations(range(jobs), depth):
                rest = [job for job in range(jobs) if job not in prefix]
                assert leads_on(traversal, iteration, prefix, rest) == (prefix in begun)


def test_discrepancies_are_counted_by_depth() -> None:
    """By convention that of the first job is at depth one."""
    assert discrepancies((0, 1, 2, 3)) == []
    assert discrepancies((1, 0, 2, 3)) == [1]
    assert discrepancies((0, 3, 1, 2)) == [2]
    assert discrepancies((3, 2, 1, 0)) == [1, 2, 3]


# The policy


def misplaced(wait, queue):  # type: ignore[no-untyped-def]
    """Cost 1 unless a job waits, from 5 s on, as many seconds as its queue says."""
    return 0.0 if wait - 4.0 == queue else 1.0


def only_the_last(wait):  # type: ignore[no-untyped-def]
    """Cost 1 if a job is the last of four."""
    return 1.0 if wait == 7.0 else 0.0


@pytest.fixture(autouse=True, scope="module")
def own_measures() -> Iterator[None]:
    """Have them by their names."""
    with registered({"misplaced": (misplaced, {}), "only-the-last": (only_the_last, {})}):
        yield


def one_after_the_other(queues: list[int]) -> Trace:
    """Return jobs of 1 s on a machine of one processor that is taken until 5 s; they came at 1 s."""
    count = len(queues)
    return Trace.from_columns(
        machine_processors=1,
        job_number=list(range(count + 1)),
        submit_time=[0.0] + [1.0] * count,
        run_time=[5.0] + [1.0] * count,
        requested_time=[5.0] + [1.0] * count,
        allocated_processors=[1] * (count + 1),
        queue_id=[9, *queues],
    )


def searched(queues: list[int], objective: str, traversal: str, nodes: int, *, distinct: bool = False) -> Schedule:
    """Return the schedule and notes of jobs whose heuristic order is that of their submission."""
    trace = one_after_the_other(queues)
    return simulate(
        trace,
        "search",
        traversal=traversal,
        branching="fcfs",
        objective=objective,
        nodes=nodes,
        distinct=distinct,
        explain=True,
    )


@pytest.mark.parametrize("distinct", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("traversal", FOUR)
def test_each_path_is_found_in_its_iteration(traversal: str, distinct: bool) -> None:
    """Of each of the 24 paths: it is chosen if all others cost more, and was found in the iteration that has it.

    The jobs cost unlike however equal they are otherwise, so none is left out as another's equal.
    """
    for iteration, path in told(traversal):
        places = [path.index(job) for job in "1234"]
        notes = searched(places, "strict-lexical(misplaced)", traversal, 1000, distinct=distinct).notes
        last = notes["improvements"].query("decision == 1").iloc[-1]
        assert last["iteration"] == iteration
        assert last["value_1"] == 0.0
        rows = notes["orders"].query("decision == 1").sort_values("chosen_place")
        assert "".join(str(number) for number in rows["job_number"]) == path
        assert rows["planned_start"].tolist() == [5.0, 6.0, 7.0, 8.0]


@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in (1, 2))])
@pytest.mark.parametrize("traversal", FOUR)
def test_nodes_are_counted_path_by_path(traversal: str, first: int) -> None:
    """Where nothing is cut before its last job, so many nodes are visited by the end of each path, and no fewer do."""
    nodes = nodes_by_path(traversal)
    for limit in range(first, nodes[-1] + 2, 3):
        notes = searched([0, 0, 0, 0], "lexical(only-the-last)", traversal, limit).notes
        decision = notes["decisions"].iloc[1]
        assert decision["nodes"] == min(max(limit, 4), nodes[-1])
        assert decision["paths"] == max(sum(done <= limit for done in nodes), 1)
        assert decision["improvements"] == 0
        assert decision["is_exhausted"] == (limit >= nodes[-1])
