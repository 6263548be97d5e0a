# SPDX-License-Identifier: BSD-3-Clause
"""What backfilling makes of an order, against the slow twin's plans: also where much happens at one instant."""

from __future__ import annotations

import numpy as np
import pytest

from swftools.simulator.policy_abi import pack
from swftools.simulator.search.easy_builder import (
    COMPETITORS,
    GOING,
    HORIZON,
    PRESENT,
    ROOM,
    WORTHY,
    Ground,
    empty_ground,
    play_easy,
)
from swftools.simulator.search.notes import empty_notes
from swftools.simulator.search.population import DECIDED, EASY, BreedingRules, empty_population, known_worth
from swftools.simulator.search.problem import room_for
from swftools.simulator.search.state import PATHS
from tests.examples import by_day
from tests.naive import genetic as naive
from tests.naive.simulator import Job

pytestmark = pytest.mark.usefixtures("interpreted_by_day")

PROCESSORS = 6
TIMES = ("at_once", "later", "worth_now", "begins", "own_ends", "submitted", "delay")
NUMBERS = ("need", "point", "is_worthy", "rest", "is_now", "own_ending", "job")
"""Fields of a ground that are made anew, to be written to."""


def drawn(rng: np.random.Generator) -> tuple[Ground, naive.Ground, list[naive.Competitor]]:
    """Draw who runs and who competes, in times so few that many events fall together, for both plans."""
    count = int(rng.integers(1, 9))
    going: dict[int, int] = {}
    held = 0
    while held < PROCESSORS and rng.random() < 0.8:
        width = int(rng.integers(1, PROCESSORS - held + 1))
        end = int(rng.integers(0, 6))
        going[end] = going.get(end, 0) + width
        held += width
    ground = empty_ground(20, 20)._replace(
        **{
            name: np.zeros(21) for name in ("at_once", "later", "worth_now", "begins", "own_ends", "submitted", "delay")
        },
        **{
            name: np.zeros(21, np.int64)
            for name in ("need", "point", "is_worthy", "rest", "is_now", "own_ending", "job")
        },
        ends=np.array([float(end) for end in sorted(going)] + [0.0]),
        ending=np.array([going[end] for end in sorted(going)] + [0]),
    )
    ground.counts[[COMPETITORS, WORTHY, GOING, ROOM]] = count, count, len(going), PROCESSORS - held
    ground.clock[[PRESENT, HORIZON]] = 0.0, np.inf
    competitors = []
    for place in range(count):
        width, time = int(rng.integers(1, PROCESSORS + 1)), float(rng.integers(0, 6))
        later = time + float(rng.integers(0, 3)) * (rng.random() < 0.3)
        ground.need[place], ground.at_once[place], ground.later[place] = width, time, later
        ground.worth_now[place], ground.point[place], ground.is_worthy[place] = 2.0**place, -1, 1
        job = Job(0.0, width, time, time, time)
        competitors.append(naive.Competitor(job, width, time, later, 2.0**place, lambda start: 0.0))
    return (
        ground,
        naive.Ground(0.0, PROCESSORS - held, [(float(end), width) for end, width in going.items()]),
        competitors,
    )


@pytest.mark.parametrize("seed", by_day(range(40), 10))
def test_plans_of_easy(seed: int) -> None:
    """When each job begins, who begins at once, and what that is worth, of a thousand orders."""
    rng = np.random.default_rng(seed)
    for _ in range(25):
        ground, slow, competitors = drawn(rng)
        order = rng.permutation(len(competitors))
        plan = naive.play_easy([competitors[place] for place in order], slow)
        worth = play_easy.py_func(ground, np.zeros((0, 0, 2)), order, 0, True)
        assert ground.begins[: len(order)].tolist() == [plan.starts[id(each)] for each in competitors]
        assert [bool(now) for now in ground.is_now[: len(order)]] == [each in plan.at_once for each in competitors]
        assert worth == plan.worth


def test_what_is_known_is_of_the_order_itself() -> None:
    """Hundreds of orders, many of which fall on the same place: each is worth what its own plan is, again and again."""
    rng = np.random.default_rng(1)
    ground, _, competitors = next(made for made in iter(lambda: drawn(rng), None) if len(made[2]) == 8)
    search = room_for(None, 20, 20, empty_notes(20, False, False))
    utility, rules = np.zeros((0, 0, 2)), BreedingRules(2, 1, 0.0, EASY, 0)
    ground, search, population = pack((), (ground, search, empty_population(20, 2)), rng).memory
    population.turns[DECIDED] = 1
    orders = np.array([rng.permutation(8) for _ in range(300)])
    for order in (*orders, *orders[::-1]):
        known = population._replace(orders=order)
        own = play_easy.py_func(ground, utility, order, 0, False)
        assert known_worth.py_func(known, search, ground, utility, rules, 0) == own
    assert search.counts[PATHS] < 600  # some were known
    ground.worth_now[: len(competitors)] *= 3.0
    population.turns[DECIDED] = 2
    known = population._replace(orders=orders[0])
    own = play_easy.py_func(ground, utility, orders[0], 0, False)
    assert known_worth.py_func(known, search, ground, utility, rules, 0) == own  # not that of the last decision
