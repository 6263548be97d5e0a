# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a comparison of policies: means over seeds, differences in pairs, and their intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import simulate
from swftools.errors import ParameterError
from swftools.plots import caption, data, find_picture, look_of, plot
from swftools.plots.over_seeds import interval, worse_of
from swftools.simulator.metrics.measures import measure
from tests.examples import pairs
from tests.strategies import crowded_trace


def comparison(values: dict[tuple[str, str], list[float]], measured: str = "wait", unit: str = "s") -> pd.DataFrame:
    """Return a table of the values of each log and policy, one a seed."""
    rows = [
        (log, policy, "all", measured, "mean", value, unit, seed)
        for (log, policy), each in values.items()
        for seed, value in enumerate(each)
    ]
    return pd.DataFrame(rows, columns=["log", "policy", "job_class", "measure", "statistic", "value", "unit", "seed"])


TWO = comparison(
    {
        ("KTH", "fcfs"): [100.0, 200.0],
        ("KTH", "easy"): [50.0, 120.0],
        ("CTC", "fcfs"): [300.0, 300.0],
        ("CTC", "easy"): [600.0, 300.0],
    }
)


def test_policies_by_hand() -> None:
    """Mean 150 and Student's t of one degree, 12.706, by 70.7 / sqrt(2)."""
    table = data(TWO, "policies", metric="wait_mean")
    assert table[["log", "policy", "seeds", "mean"]].to_numpy().tolist() == [
        *(["KTH", "fcfs", 2, 150.0], ["KTH", "easy", 2, 85.0], ["CTC", "fcfs", 2, 300.0], ["CTC", "easy", 2, 450.0])
    ]
    assert table.loc[0, ["low", "high"]].tolist() == pytest.approx([150 - 635.3, 150 + 635.3])
    assert table.loc[2, ["low", "high"]].tolist() == [300, 300]
    assert caption(TWO, "policies", metric="wait_mean") == (
        "Policies: mean wait on KTH from easy (85 s) to fcfs (2.5 min); on CTC from fcfs (5 min) to easy (7.5 min), "
        "means of 2 seeds; lower is better"
    )
    assert "seed" not in caption(TWO[TWO["seed"] == TWO["seed"].iloc[0]], "policies", metric="wait_mean")


def test_differences_by_hand() -> None:
    """KTH by pairs -50 and -80, of 100 and 200: -50 and -40 %; CTC +100 % and 0."""
    table = data(TWO, "differences", metric="wait_mean")
    assert table[["log", "policy", "baseline", "pairs", "unit"]].to_numpy().tolist() == [
        *(["KTH", "easy", "fcfs", 2, "1"], ["CTC", "easy", "fcfs", 2, "1"])
    ]
    assert table["mean"].tolist() == pytest.approx([-0.45, 0.5])
    assert table["low"].iloc[0] == pytest.approx(-0.45 - 12.706 * 0.05)
    absolute = data(TWO, "differences", metric="wait_mean", relative=False)
    assert absolute["mean"].tolist() == [-65, 150]
    assert absolute["unit"].tolist() == ["s", "s"]
    assert caption(TWO, "differences", metric="wait_mean", relative=False) == (
        "Differences between policies: mean wait against fcfs: easy 42.5 s on average over 2 logs (interval below 0 on "
        "0, above 0 on 0)"
    )
    other = data(TWO, "differences", metric="wait_mean", baseline="easy", relative=False)
    assert other["mean"].tolist() == [65, -150]
    assert other["policy"].tolist() == ["fcfs", "fcfs"]


def test_pairs_are_of_one_seed_and_log() -> None:
    """Whatever the order of the rows; a seed that one of the two lacks makes no pair, nor does a baseline of 0."""
    shuffled = TWO.sample(frac=1.0, random_state=3)
    expected = data(TWO, "differences", metric="wait_mean").set_index("log")["mean"]
    found = data(shuffled, "differences", metric="wait_mean", baseline="fcfs").set_index("log")["mean"]
    assert found.to_dict() == pytest.approx(expected.to_dict())
    lacking = TWO[~((TWO["policy"] == "easy") & (TWO["seed"] == 1) & (TWO["log"] == "KTH"))]
    assert data(lacking, "differences", metric="wait_mean")["pairs"].tolist() == [1, 2]
    zero = TWO.assign(value=TWO["value"].where(TWO["value"] != 100, 0.0))
    assert data(zero, "differences", metric="wait_mean")["pairs"].tolist() == [1, 2]
    assert data(zero, "differences", metric="wait_mean", relative=False)["pairs"].tolist() == [2, 2]


def test_what_seeds_do_to_both_drops_out() -> None:
    """Values that spread widely and differ by one amount have a difference without spread."""
    table = data(
        comparison({("", "fcfs"): [100.0, 500.0, 900.0], ("", "easy"): [90.0, 490.0, 890.0]}),
        "differences",
        metric="wait_mean",
        relative=False,
    )
    assert table[["mean", "low", "high"]].iloc[0].tolist() == [-10, -10, -10]


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=45))
def test_intervals_hold_their_mean(values: list[float]) -> None:
    """And lie around it; by the normal distribution's 1.96 where there are very many."""
    mean, low, high = interval(np.array(values))
    assert low <= mean <= high
    assert high - mean == pytest.approx(mean - low, abs=1e-6)
    if np.std(values) > 1e-3:
        assert 1.96 < (high - mean) / (np.std(values, ddof=1) / np.sqrt(len(values))) < 12.71


def test_intervals_of_one_and_of_many() -> None:
    """One value has none; 32 and more take the t distribution by three terms: 2.040 of 31, 1.984 of 100."""
    assert np.isnan(interval(np.array([1.0]))[1])
    for count, quantile in ((31, 2.042), (32, 2.040), (101, 1.984)):
        values = np.arange(count, dtype=float)
        mean, _, high = interval(values)
        assert (high - mean) / (values.std(ddof=1) / np.sqrt(count)) == pytest.approx(quantile, abs=6e-4)


def test_of_a_real_comparison() -> None:
    """The table that ComparePolicies publishes, without logs; metrics by the names of its summary."""
    trace = crowded_trace()
    table = pd.concat([measure(simulate(trace, name)).assign(seed=0) for name in ("fcfs", "easy")], ignore_index=True)
    for metric in ("bounded_slowdown_mean", "wait_p98", "utilization_time_mean", "makespan", "lost_work_total"):
        found = data(table, "policies", metric=metric)
        assert found["policy"].tolist() == ["fcfs", "easy"]
        assert found["low"].isna().all()
        assert plot(table, "policies", metric=metric).get_yticklabels()[1].get_text() == "easy"
        assert caption(table, "differences", metric=metric)
    assert "lower is better" in caption(table, "policies")
    assert "higher is better" in caption(table, "policies", metric="utilization_time_mean")
    with pytest.raises(ParameterError, match=r"no metric 'wait_maen' in the table.* wait_mean"):
        data(table, "policies", metric="wait_maen")
    with pytest.raises(ParameterError, match=r"no policy 'esy' in the table.* easy"):
        data(table, "differences", baseline="esy")
    with pytest.raises(ParameterError, match="the table lacks the columns unit"):
        find_picture(table.drop(columns="unit"), "policies")


@pytest.mark.parametrize(
    ("metric", "worse"),
    [
        *(("wait_p98", "higher"), ("useful_load", "lower"), ("requested_expansion_factor_mean", "higher")),
        *(("is_blocked_mean", ""), ("of_ones_own_mean", "")),
    ],
)
def test_which_way_is_worse(metric: str, worse: str) -> None:
    """As the measures say."""
    assert worse_of(metric) == worse


@pytest.mark.parametrize(("metric", "size"), pairs(["bounded_slowdown_mean", "wait_mean"], ["screen", "column"], 1))
def test_drawn_at_both_sizes(metric: str, size: str) -> None:
    """With odd names, with one seed and with none; each policy has the look that it has everywhere."""
    measured, unit = (metric.removesuffix("_mean"), "s" if metric == "wait_mean" else "1")
    names = ["fcfs", "<script>", "$x^2$", "\u202eabc", "easy:reservations=2"]
    values = {(log, name): [1e5, 3e5 + len(name), 2e5] for log in ("$a$", "<b>") for name in names}
    for table in (comparison(values, measured, unit), comparison({("", "easy"): [5.0]}, measured, unit)):
        for name in ("policies", "differences"):
            axes = plot(table, name, size=size, metric=metric)
            assert axes.figure is not None
            axes.figure.canvas.draw()
            texts = [each.get_text() for each in (*axes.get_xticklabels(), *axes.get_yticklabels(), *axes.texts)]
            assert not any("\u202e" in each or "e+" in each or "10^" in each for each in texts)
            assert caption(table, name, metric=metric)
        assert caption(table.iloc[:0], "policies", metric=metric) == "Policies: no value of this metric"
        assert "no two policies" in caption(table[table["policy"].str[:4] == "easy"], "differences", metric=metric)


def test_times_are_labelled_by_round_ones() -> None:
    """Not by 27.8 h."""
    table = comparison({("", "fcfs"): [417_000.0], ("", "easy"): [7000.0]})
    axes = plot(table, "policies", metric="wait_mean")
    assert axes.figure is not None
    axes.figure.canvas.draw()
    assert [each.get_text() for each in axes.get_xticklabels()][:4] == ["-2 d", "0 s", "2 d", "4 d"]


@pytest.mark.parametrize(("values", "begins_at_0"), [((1.0, 4.0), True), ((0.70, 0.71), False)])
def test_where_the_axis_begins(values: tuple[float, float], begins_at_0: bool) -> None:
    """At 0, unless all would lie on one spot; and every point is inside."""
    columns = {"policy": ["fcfs", "easy"], "job_class": "all", "measure": "bounded_slowdown", "statistic": "mean"}
    table = pd.DataFrame({**columns, "value": values, "unit": "1", "seed": 0})
    low, high = plot(table, "policies").get_xlim()
    assert (low == 0) == begins_at_0
    assert low <= values[0]
    assert values[1] < high


def loads() -> pd.DataFrame:
    """Two policies at two loads with two seeds each, on one log."""
    rows = [
        {"log": "a", "policy": policy, "load": load, "seed": seed, "value": value + 2.0 * seed}
        for policy, load, value in (("easy", 0.9, 30.0), ("easy", 0.5, 10.0), ("fcfs", 0.5, 40.0), ("fcfs", 0.9, 50.0))
        for seed in (0, 1)
    ]
    same = {"job_class": "all", "measure": "wait", "statistic": "mean", "unit": "s"}
    return pd.DataFrame(rows).assign(**same)


def test_sensitivity_by_hand() -> None:
    """Means over seeds, by load from low to high; a line a policy."""
    table = data(loads(), "sensitivity", metric="wait_mean")
    assert [0.5, 0.5, 0.9, 0.9] == table["at"].tolist()
    found = {(row.policy, row.at): (row.runs, row.mean) for row in table.itertuples()}
    assert {("easy", 0.5): (2, 11), ("fcfs", 0.5): (2, 41), ("easy", 0.9): (2, 31), ("fcfs", 0.9): (2, 51)} == found
    first = table.iloc[0]
    assert (first["low"], first["high"]) == pytest.approx((11 - 12.706, 11 + 12.706))
    told = caption(loads(), "sensitivity", metric="wait_mean")
    assert told == "Sensitivity: mean wait along load: easy 11 s at 0.5, 31 s at 0.9; fcfs 41 s at 0.5, 51 s at 0.9"
    figure = plot(loads(), "sensitivity", metric="wait_mean").figure
    assert [[11, 31], [41, 51]] == [list(line.get_ydata()) for line in figure.axes[0].lines]
    assert ["easy", "fcfs"] == [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    backwards = plot(loads().iloc[::-1], "sensitivity", metric="wait_mean")
    for axes in (figure.axes[0], backwards):
        colors = {line.get_label(): line.get_color() for line in axes.lines}
        assert colors == {name: look_of(name)["color"] for name in ("easy", "fcfs")}


def test_sensitivity_tells_lines_apart_by_log_too() -> None:
    """Where there are several; and what is no number is no axis."""
    two = pd.concat([loads(), loads().assign(log="b")])
    assert "a, easy 11 s at 0.5" in caption(two, "sensitivity", metric="wait_mean")
    lines = plot(two, "sensitivity", metric="wait_mean").lines
    assert len({line.get_color() for line in lines}) == 2  # those of the policies
    assert len({(line.get_color(), line.get_linestyle(), line.get_marker()) for line in lines}) == 4
    easy = two[two["policy"] == "easy"]
    assert "along load: a 11 s at 0.5, 31 s at 0.9; b 11 s" in caption(easy, "sensitivity", metric="wait_mean")
    with pytest.raises(ParameterError, match=r"no column 'lod' in the table.*load"):
        data(two, "sensitivity", metric="wait_mean", along="lod")
    with pytest.raises(ParameterError, match="has no numbers"):
        data(two, "sensitivity", metric="wait_mean", along="policy")
