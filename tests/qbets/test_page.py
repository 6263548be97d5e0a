# SPDX-License-Identifier: BSD-3-Clause
"""The page of bounds: its table has every bound, with the figures of the shipped log."""

from __future__ import annotations

import math

import pytest

from swftools import Trace
from swftools.qbets.bounds import find_bound, list_bounds
from tests.pages import table_on_page

TABLE = table_on_page("wait_predictors.md", "bound")


def test_every_bound_is_on_the_page() -> None:
    """One that is registered stands in the table."""
    assert list(TABLE) == list(list_bounds())


@pytest.mark.parametrize("name", TABLE)
def test_figures(name: str, cleaned: Trace) -> None:
    """Each bound of the first 2000 waits, and the share of the others within, are as they stand there."""
    waits = cleaned.jobs["wait_time"]
    bound = find_bound(name).fit(waits[:2000]).predict()
    share = (waits[2000:] <= bound).mean()
    assert TABLE[name][-1] == f"{bound:,.0f} s, {share:.3f}".replace("0.", ".")


@pytest.mark.parametrize("name", TABLE)
def test_least_waits(name: str, cleaned: Trace) -> None:
    """So many waits bound something, and one less does not."""
    least = int(TABLE[name][2].removesuffix(" waits"))
    waits = cleaned.jobs["wait_time"].to_numpy()
    assert math.isnan(find_bound(name).fit(waits[: least - 1]).predict())
    assert find_bound(name).fit(waits[:least]).predict() > 0.0
