# SPDX-License-Identifier: BSD-3-Clause
"""Parameters declared with a domain: what is admitted, how it is refused, and what policies get of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from swftools.errors import ParameterError
from swftools.parameters import Parameters, choice, number, truth, whole


@dataclass(frozen=True)
class Oven(Parameters):
    """Parameters of each kind."""

    heat: float = number(180.0, above=0, most=300, unit="degrees")
    shelves: int = whole(2, least=1)
    most_people: int | None = whole(None, least=1, most=12, optional=True)
    mode: str = choice("bake", "grill", "defrost", default="grill")
    fan: bool = truth(False)


THERE_ARE = "there are: heat, shelves, most_people, mode, fan"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"heat": 0}, "heat=0 is not a number above 0, at most 300 (degrees)"),
        ({"heat": 300.5}, "heat=300.5 is not a number above 0, at most 300 (degrees)"),
        ({"heat": float("nan")}, "heat=nan is not a number above 0"),
        ({"heat": "hot"}, "heat='hot' is not a number above 0"),
        ({"heat": None}, "heat=None is not a number above 0"),
        ({"heat": True}, "heat=True is not a number above 0"),
        ({"shelves": 0}, "shelves=0 is not an integer of 1 or more"),
        ({"shelves": 2.0}, "shelves=2.0 is not an integer of 1 or more"),
        ({"shelves": True}, "shelves=True is not an integer"),
        ({"most_people": 13}, "most_people=13 is not an integer from 1 to 12, or none"),
        ({"mode": "fry"}, "mode='fry' is not one of bake, grill, defrost"),
        ({"mode": 1}, "mode=1 is not one of bake, grill, defrost"),
        ({"mode": ["bake"]}, "mode=['bake'] is not one of bake, grill, defrost"),
        ({"fan": 1}, "fan=1 is not true or false"),
        ({"fans": True}, f"unknown parameters ['fans']; {THERE_ARE}; did you mean fan?"),
        ({"zz": 1}, f"unknown parameters ['zz']; {THERE_ARE}"),
    ],
)
def test_wrong_values_are_refused_in_one_wording(wrong: dict[str, Any], message: str) -> None:
    """Name, parameter, value and domain."""
    with pytest.raises(ParameterError) as caught:
        Oven.from_mapping(wrong)
    assert f"parameters: {message}" in str(caught.value)
    assert ("did you mean" in message) == ("did you mean" in str(caught.value))


@pytest.mark.parametrize("right", [{"heat": 300}, {"heat": 1e-9}, {"shelves": 1}, {"most_people": None}, {"fan": True}])
def test_the_ends_of_domains_belong_to_them(right: dict[str, Any]) -> None:
    """Whole numbers are numbers; None is what is optional."""
    assert {**Oven().to_mapping(), **right} == Oven.from_mapping(right).to_mapping()


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        (number(), "a number"),
        (number(1, least=1), "a number of 1 or more"),
        (number(1, most=1e9), "a number of at most 1e9"),
        (number(1, above=1e-9), "a number above 1e-9"),
        (whole(0, least=0, most=2**64 - 1), "an integer from 0 to 2**64 - 1"),
        (whole(0, least=-5, most=2**40), "an integer from -5 to 2**40"),
        (whole(0, least=0, most=10**9), "an integer from 0 to 1,000,000,000"),
        (whole(0, least=0, most=1024), "an integer from 0 to 1024"),
    ],
)
def test_bounds_are_written_as_people_write_them(declared: Any, words: str) -> None:
    """Powers of two, thousands and exponents."""
    assert words == declared.metadata["domain"].words


def test_a_default_outside_its_domain_is_refused() -> None:
    """Where it is declared."""
    with pytest.raises(ParameterError, match="default 0 of a parameter is not an integer of 1 or more"):
        whole(0, least=1)
    with pytest.raises(ParameterError, match="default 'fry' of a parameter is not one of bake"):
        choice("bake", default="fry")


def test_a_parameter_without_default_must_be_given() -> None:
    """As of any dataclass."""

    @dataclass(frozen=True)
    class Pan(Parameters):
        width: float = number(least=0)

    assert 3 == Pan(3).width
    with pytest.raises(TypeError):
        Pan()


def test_numbers_for_compiled_code() -> None:
    """By name, in the order of the fields: words as the position of the choice, all else as what it is."""

    @dataclass(frozen=True)
    class Pan(Parameters):
        width: int = whole(28)
        mode: str = choice("fry", "boil", "stew")
        lid: bool = truth(False)

    values = Pan(mode="stew", lid=True).values()
    assert (28, 2, True) == values == (values.width, values.mode, values.lid)
    assert [int, int, bool] == list(map(type, values))


def test_a_class_takes_one_name() -> None:
    """That of the first who names it; a subclass takes one of its own."""

    @dataclass(frozen=True)
    class Pan(Parameters):
        width: int = whole(28, least=1)

    class Wok(Pan):
        pass

    assert Pan.named("pan") is Pan
    assert Wok.named("wok")(30).to_text() == "wok:width=30"
    with pytest.raises(ParameterError, match="pan: width=0"):
        Pan(0)
    with pytest.raises(ParameterError, match="Pan are parameters of 'pan'; give 'pot' a class of its own"):
        Pan.named("pot")


def test_no_parameters_are_told_as_none() -> None:
    """The base class itself has none."""
    with pytest.raises(ParameterError, match=r"parameters: unknown parameters \['x'\]; there are none$"):
        Parameters.from_mapping({"x": 1})
