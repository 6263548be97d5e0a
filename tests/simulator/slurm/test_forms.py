# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's rules without what a run does not use: what is left out, and that the rest decides as the whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import swftools
from swftools.kernel.twins import reached_from
from swftools.simulator import run_setup
from swftools.simulator.policies.slurm import SlurmParameters, for_site, remembered, slurm
from swftools.simulator.registry import POLICIES, Policy, find_policy
from swftools.simulator.slurm import begin
from swftools.simulator.slurm.backfill import go_on
from swftools.simulator.slurm.cycle import take_locks
from swftools.simulator.slurm.following import follow, start_what_is_logged
from swftools.simulator.slurm.hopeless import give_up
from swftools.simulator.slurm.rooms import list_rooms
from swftools.simulator.slurm.state import FOLLOWS, KEEPS_USAGE, SUSPENDS, TEST_TIME
from swftools.simulator.slurm.suspending import choose_by_suspending, let_stand, resume
from tests.nodes_drawn import draw_machine
from tests.simulator.slurm.test_policy import check
from tests.slurm_drawn import draw_site

RARE = (let_stand, resume, choose_by_suspending, go_on, take_locks, give_up)
PLACES = {"follows": FOLLOWS, "keeps_usage": KEEPS_USAGE, "suspends": SUSPENDS, "test_time": TEST_TIME}


def rules_with(**numbers: float) -> Callable[..., None]:
    """Return the function for a run that uses nothing rare, but for some numbers."""
    memory = remembered(2, 1, SlurmParameters())
    for name, place in PLACES.items():
        memory.given.number[place] = numbers.get(name, 0.0)
    return for_site(memory)


@pytest.mark.parametrize("name", PLACES)
def test_what_is_used_is_there(name: str) -> None:
    """Each number that says that something rare is used brings all that is rare; a real run brings what follows it."""
    reached = reached_from(rules_with(**{name: 1.0}))
    assert all((id(each) in reached) == (name != "follows") for each in RARE)
    assert (id(start_what_is_logged) in reached) == (name == "follows")


def test_what_is_not_used_is_left_out() -> None:
    """Nothing rare is reached; what does not lead to it is the same kernel as in the whole."""
    whole, usual = reached_from(slurm), reached_from(rules_with())
    assert all(id(each) in whole and id(each) not in usual for each in (*RARE, follow, start_what_is_logged))
    assert id(list_rooms) in whole & usual
    assert rules_with(follows=1.0, suspends=1.0) is slurm
    assert rules_with() is rules_with() is not rules_with(suspends=1.0) is not rules_with(follows=1.0)


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize("seed", [0, 3, 26])
def test_decides_as_the_slow_twin(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """The shortest form, interpreted."""
    monkeypatch.setitem(POLICIES.known, "slurm", replace(find_policy("slurm"), decide=rules_with(), of_memory=None))
    check(monkeypatch, seed, 40, compiled=False)


@pytest.mark.parametrize("compiled", [False, True, "checked"])
def test_the_whole_is_interpreted_and_a_form_compiled(monkeypatch: pytest.MonkeyPatch, compiled: bool | str) -> None:
    """What a simulation calls; of the run itself nothing is tried here."""
    called = []

    def stop(policy: Policy, *_: Any, **__: Any) -> None:
        called.append(policy.decide)
        raise InterruptedError

    monkeypatch.setattr(run_setup, "called_for", stop)
    table = draw_machine("cores / 8 / 1", "p:0")
    trace = swftools.Trace.from_columns(submit_time=[0], run_time=[1], requested_time=[1], requested_processors=[1])
    monkeypatch.setattr(begin, "as_simulated", lambda trace, jobs, *_, **__: jobs)  # which would compile its own
    with pytest.raises(InterruptedError):
        swftools.simulate(trace, "slurm", machine=replace(table, slurm=draw_site(table)), compiled=compiled)
    assert called == [rules_with(keeps_usage=1.0) if compiled else slurm]  # usage does not decay on such a site
