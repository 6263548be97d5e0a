# SPDX-License-Identifier: BSD-3-Clause
"""What utility functions print, and what a notebook shows of them."""

from __future__ import annotations

from swftools import UtilityFunctions


def test_functions() -> None:
    """How many, their values and deadlines, how many are missing; the first ones by their points."""
    functions = UtilityFunctions.from_points([[(0, 8), (60, 2)], [], [(0, 5), (90, 1)]])
    assert repr(functions) == (
        "UtilityFunctions: 3 functions, 4 points\n"
        "values at submission 5 to 8, deadlines 60 to 90 s\n"
        "missing: 1 function"
    )
    page = functions._repr_html_()
    assert ">(0, 8), (60, 2)</td>" in page
    assert page.count("<tr>") == 4


def test_none() -> None:
    """No function, or missing ones only, have no values."""
    assert repr(UtilityFunctions.from_points([])) == (
        "UtilityFunctions: no functions, no points\nmissing: no functions"
    )
    assert "values" not in repr(UtilityFunctions.from_points([[]]))
