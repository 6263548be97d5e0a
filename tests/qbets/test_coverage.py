# SPDX-License-Identifier: BSD-3-Clause
"""Coverage in counts that add up."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from swftools.errors import ParameterError
from swftools.qbets import evaluate
from swftools.qbets.evaluation import NEEDED, add_coverage, count_coverage
from swftools.tables import to_arrow, to_pandas
from swftools.trace import Trace
from tests.examples import examples

ASKED = {"quantile": 0.9, "chance": 0.01}


def told(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    """Return predictions: method, queue, wait, bound, reason."""
    table = pd.DataFrame(rows, columns=["method", "queue", "wait_time", "wait_bound", "no_prediction"])
    table["submit_time"] = np.arange(len(table), dtype=float)
    types = {"method": "str", "queue": "str", "no_prediction": "str", "wait_time": float, "wait_bound": float}
    return table.astype(types)[list(NEEDED)]


def test_by_hand() -> None:
    """Two queues of one method: jobs of the training, told nothing, covered, not covered, still waiting."""
    table = count_coverage(
        told(
            [
                ("m", "1", 5, None, "training"),
                ("m", "1", 5, None, "unavailable"),
                ("m", "1", 10, 20, None),
                ("m", "1", 30, 20, None),
                ("m", "1", None, 20, None),
                ("m", "2", 0, 8, None),
                ("m", "2", 8, 8, None),
            ]
        ),
        "2001-03",
        **ASKED,
    )
    names = ["period", "method", "queue", "jobs", "told", "known", "covered"]
    assert table[names].values.tolist() == [
        ["2001-03", "m", "all", 6, 5, 4, 3],
        ["2001-03", "m", "1", 4, 3, 2, 1],
        ["2001-03", "m", "2", 2, 2, 2, 2],
    ]
    assert table["coverage"].tolist() == [0.75, 0.5, 1.0]
    assert table["rms_over"].tolist() == pytest.approx([math.sqrt((100 + 64) / 3), 10.0, math.sqrt(64 / 2)])
    assert table["tightness"].tolist() == pytest.approx([(2 * 2 / 3 * 8) ** 0.25, (2 * 2 / 3) ** 0.5, 8**0.5])
    assert table["least_coverage"].tolist() == [binom.ppf(0.01, n, 0.9) / n for n in (4, 2, 2)]
    assert table["is_below"].tolist() == [False, False, False]
    to_arrow(table, "wait_coverage")


def test_below_its_tolerance() -> None:
    """The limit is the least number of covered waits that a right bound reaches with the chance asked for."""
    waits = 1000
    least = int(binom.ppf(0.01, waits, 0.9))
    assert binom.cdf(least - 1, waits, 0.9) < 0.01 <= binom.cdf(least, waits, 0.9)
    for covered, is_below in ((least, False), (least - 1, True)):
        rows = [("m", "1", 1, 5, None)] * covered + [("m", "1", 9, 5, None)] * (waits - covered)
        table = count_coverage(told(rows), "x", **ASKED)
        assert table["is_below"].tolist() == [is_below, is_below]


def test_nothing_was_told() -> None:
    """No coverage, and none that is below."""
    table = count_coverage(told([("m", "1", 5, None, "too-few-waits")]), "x", **ASKED)
    assert table["coverage"].isna().all()
    assert table["is_below"].isna().all()
    assert table["jobs"].tolist() == [1, 1]
    assert count_coverage(told([]), "x", **ASKED).empty


rows = st.lists(
    st.tuples(
        st.sampled_from(["m", "n"]),
        st.sampled_from(["1", "2", "10"]),
        st.none() | st.integers(0, 50),
        st.none() | st.integers(0, 50),
        st.none() | st.just("training"),
    ),
    max_size=30,
)


@examples(0.4)
@given(st.lists(rows, min_size=1, max_size=4))
def test_months_add_up(months: list[list[tuple[Any, ...]]]) -> None:
    """What is counted of months together is what is counted of all their jobs."""
    parts = [count_coverage(told(month), f"{place}", **ASKED) for place, month in enumerate(months)]
    added = add_coverage(parts, "all", **ASKED)
    whole = count_coverage(told([row for month in months for row in month]), "all", **ASKED)
    key = ["method", "queue"]
    added, whole = (table.sort_values(key, ignore_index=True) for table in (added, whole))
    pd.testing.assert_frame_equal(added, whole, rtol=1e-9)


def test_nothing_to_add_up() -> None:
    """It is a mistake."""
    with pytest.raises(ParameterError, match="give at least one table"):
        add_coverage([], "all", **ASKED)


def test_coverage_is_correctness(shipped: Trace) -> None:
    """Of a real log it is what ``evaluate`` calls correctness, by queue and of all."""
    from swftools import clean  # noqa: PLC0415
    from swftools.qbets import replay  # noqa: PLC0415

    predictions = replay(clean(shipped)[0], "lognormal", training=300)
    found = count_coverage(predictions, "all", quantile=0.95, chance=0.01).set_index("queue")
    expected = evaluate(predictions, compare_with="lognormal", grouped_by=["all", "queue"]).set_index("group")
    for queue in found.index:
        one, other = found.loc[queue], expected.loc[queue]
        assert (one["jobs"], one["known"]) == (other["jobs"], other["predicted"])
        assert one["coverage"] == pytest.approx(other["correctness"])
        assert one["rms_over"] == pytest.approx(other["rms_over"])
    stored = to_pandas(to_arrow(found.reset_index(), "wait_coverage"), "wait_coverage")
    assert len(stored) == len(found)
