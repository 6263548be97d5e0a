# SPDX-License-Identifier: BSD-3-Clause
"""What parameter classes have in common."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.errors import ParameterError
from swftools.parameters import LARGEST_SEED, Parameters, choice, is_number, is_whole, number, whole


@dataclass(frozen=True)
class Oven(Parameters):
    """Parameters of a model for these tests."""

    NAME: ClassVar[str] = "oven"

    seed: int = whole(0, least=0, most=LARGEST_SEED)
    heat: float = number(1.5, least=0, most=300)
    mode: str = choice("bake", "grill")


def test_names_are_those_of_the_fields() -> None:
    """In order, and without the model's own name."""
    assert ["seed", "heat", "mode"] == Oven.names()


def test_errors_name_model_value_and_domain() -> None:
    """One line that says what is wrong."""
    with pytest.raises(ParameterError) as caught:
        Oven(heat=301)
    assert "oven: heat=301 is not a number from 0 to 300" == str(caught.value)


def test_a_mapping_makes_parameters() -> None:
    """What a file or a command line says; what it leaves out has its default."""
    assert Oven(heat=20, mode="grill") == Oven.from_mapping({"mode": "grill", "heat": 20})
    assert Oven() == Oven.from_mapping({})


@pytest.mark.parametrize("unknown", [{"Heat": 1}, {"": 1}, {"names": 1}, {"NAME": 1}, {3: 1, "z": 2}])
def test_unknown_names_are_told(unknown: dict[Any, int]) -> None:
    """With those that there are; whatever a name is."""
    with pytest.raises(ParameterError) as caught:
        Oven.from_mapping({"heat": 2, **unknown})
    names = sorted(map(str, unknown))
    assert f"oven: unknown parameters {names}; there are: seed, heat, mode" + (
        "; did you mean heat?" if "Heat" in unknown else ""
    ) == str(caught.value)


def test_a_mapping_is_checked() -> None:
    """A mapping's values are checked as any."""
    with pytest.raises(ParameterError, match="oven: heat='hot' is not a number from 0 to 300"):
        Oven.from_mapping({"heat": "hot"})


def test_to_mapping_and_back() -> None:
    """Every parameter by name, in order; they make the same parameters."""
    oven = Oven(7, 20.5, "grill")
    assert [("seed", 7), ("heat", 20.5), ("mode", "grill")] == list(oven.to_mapping().items())
    assert oven == Oven.from_mapping(oven.to_mapping())


def test_parameters_do_not_change() -> None:
    """They are what they were when they were checked."""
    with pytest.raises(FrozenInstanceError):
        Oven().heat = 1000  # type: ignore[misc]


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_seeds(seed: int) -> None:
    """An integer of 64 bits."""
    assert seed == Oven(seed=seed).seed


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, True, "1", None, math.nan, np.int64(3)])
def test_no_seeds(seed: Any) -> None:
    """Nothing else."""
    with pytest.raises(ParameterError, match=r"oven: seed=.* is not an integer from 0 to 2\*\*64 - 1"):
        Oven(seed=seed)


@given(st.integers() | st.floats() | st.booleans() | st.text() | st.none())
def test_whole_numbers_and_numbers(value: object) -> None:
    """A whole number is an int and no truth value; a number also a finite float."""
    assert (isinstance(value, int) and not isinstance(value, bool)) == is_whole(value)
    finite_float = isinstance(value, float) and math.isfinite(value)
    # an integer beyond every float64 is a number too
    assert (is_whole(value) or finite_float) == is_number(value)


@pytest.mark.parametrize(("value", "inside"), [(1, True), (3, True), (0, False), (4, False), (2, True)])
def test_bounds_are_inside(value: int, inside: bool) -> None:
    """Both bounds belong to the domain."""
    assert inside == is_whole(value, 1, 3)
    assert inside == is_number(value, 1, 3)
    assert inside == is_number(float(value), 1, 3)
