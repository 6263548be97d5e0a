# SPDX-License-Identifier: BSD-3-Clause
"""Policies that have a shorter function for some parameters: each decides as the whole one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import pytest

from swftools.errors import ParameterError
from swftools.parameters import Parameters, number
from swftools.simulator import simulate
from swftools.simulator.machine.state import Machine
from swftools.simulator.policies.cirne_berman import by_playing, by_reserving
from swftools.simulator.policies.easy import easy_among_many, easy_by_profile, easy_in_turn
from swftools.simulator.registry import find_policy, list_policies, policy
from tests.every_policy import with_all_columns
from tests.strategies import crowded_trace

BUSY = 2
"""Seed of the crowd."""

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("easy", {}),
    ("easy", {"backfill_order": "widest"}),
    ("sjf-backfill", {}),
    ("easy", {"reservations": 2, "backfill_order": "sjf"}),
    ("cirne-berman", {}),
    ("cirne-berman", {"inner": "conservative", "sizes": "powers-of-two", "tolerance": 0.05}),
]


def test_policies_with_variants_are_compared() -> None:
    """Each function that a policy has for some of its parameters."""
    assert {name for name, made in list_policies().items() if made.variants} == {name for name, _ in VARIANTS}
    made = {find_policy(name).made_for(find_policy(name).chosen(chosen)).decide for name, chosen in VARIANTS}
    assert made == {easy_in_turn, easy_among_many, easy_by_profile, by_playing, by_reserving}


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("predictor", ["request", "last-model"])
@pytest.mark.parametrize(("name", "chosen"), VARIANTS)
def test_a_variant_decides_as_the_whole_policy(
    name: str, chosen: dict[str, Any], predictor: str, compiled: bool
) -> None:
    """Where a policy has a shorter function for some parameters, which is the one that runs then."""
    jobs = 30 if name == "cirne-berman" else 60  # it takes long, interpreted
    trace, whole = with_all_columns(crowded_trace(jobs, seed=BUSY)), replace(find_policy(name), variants=None)
    assert whole.made_for(whole.chosen(chosen)) is whole
    shorter, longer = (
        simulate(trace, policy, predictor=predictor, overrun="run-on", seed=1, compiled=compiled, **chosen)
        for policy in (name, whole)
    )
    pd.testing.assert_frame_equal(longer.jobs, shorter.jobs, check_exact=True)


@dataclass(frozen=True)
class UsualParameters(Parameters):
    """One parameter."""

    patience: float = number(1.0)


def test_a_function_for_the_defaults_alone() -> None:
    """The old way to name one warns, and goes on."""

    def rest(machine: Machine) -> None:
        """Start nobody."""

    def start_all(machine: Machine, parameters: Any) -> None:
        """Start whoever fits."""

    with pytest.warns(DeprecationWarning, match=r"usual=\): use variants=; 2.0 removes it"):
        policy("test-usual", parameters=UsualParameters, usual=rest)(start_all)
    made = find_policy("test-usual")
    assert made.made_for(made.chosen({})).decide is rest
    assert made.made_for(made.chosen({"patience": 2.0})) is made
    with pytest.raises(ParameterError, match="give variants= alone"):
        policy("test-both", parameters=UsualParameters, usual=rest, variants=lambda _: rest)
