# SPDX-License-Identifier: BSD-3-Clause
"""Sizes of episodes: the least and the greatest that are taken, and those beyond."""

from __future__ import annotations

import pytest

from swftools.errors import ParameterError
from swftools.learning.rules import check_sizes

MOST = 2**31 - 1


@pytest.mark.parametrize("sizes", [{"jobs": 1, "warm_up": 0, "k": 1}, {"jobs": MOST, "warm_up": MOST, "k": MOST}])
def test_the_ends_are_taken(sizes: dict[str, int]) -> None:
    """An int32 holds them."""
    check_sizes(**sizes)


@pytest.mark.parametrize(
    ("name", "value", "least"),
    [
        ("k", 0, 1),
        ("jobs", 0, 1),
        ("warm_up", -1, 0),
        *((name, value, least) for name, least in (("k", 1), ("jobs", 1), ("warm_up", 0)) for value in (MOST + 1, 2.5)),
    ],
)
def test_beyond_them_a_size_is_refused(name: str, value: object, least: int) -> None:
    """By its name, with the least that is taken."""
    with pytest.raises(ParameterError, match=rf"{name}={value!r} is not an integer of {least} or more"):
        check_sizes(**({"jobs": 1, "warm_up": 0, "k": 1} | {name: value}))  # type: ignore[arg-type]
