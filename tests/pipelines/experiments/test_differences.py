# SPDX-License-Identifier: BSD-3-Clause
"""Differences from a baseline: by hand, by a naive twin, and how often equal policies are told apart."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from pipelines.experiments import resampling
from pipelines.experiments.differences import compare_with_baseline, holm, least_pairs, rank_policies, sentences
from pipelines.experiments.resampling import ALPHA, intervals, p_values


def table(values: dict[tuple[str, str], list[float]], measure: str = "wait_mean") -> pd.DataFrame:
    """Return values by log and policy, one a shake, as cells give them."""
    rows = [
        {"log": log, "policy": policy, "seed": 0, "shake": shake, "measure": measure, "unit": "s", "value": value}
        for (log, policy), given in values.items()
        for shake, value in enumerate(given)
    ]
    return pd.DataFrame(rows)


def test_pairs_are_of_one_log_seed_and_shake() -> None:
    """By hand; a value that is missing takes its pair out."""
    values = table({("a", "easy"): [10, 20, 30, 40], ("a", "fcfs"): [11, np.nan, 33, 44], ("b", "easy"): [1, 2]})
    found = compare_with_baseline(values.sample(frac=1, random_state=1), ["log"], "easy")
    assert 1 == len(found)
    row = found.iloc[0]
    assert ("a", "fcfs", "easy", "s") == (row["log"], row["policy"], row["baseline"], row["unit"])
    assert 3 == row["pairs"]
    assert (88 / 3, 80 / 3, 8 / 3) == pytest.approx((row["mean"], row["baseline_mean"], row["difference"]))
    assert 0.25 == row["p_value"]
    assert not row["is_told_apart"]


def test_copies_of_a_run_are_no_evidence() -> None:
    """Seeds that draw nothing give the same two values each time: one pair."""
    found = compare_with_baseline(table({("a", "easy"): [10.0] * 20, ("a", "fcfs"): [12.0] * 20}), ["log"], "easy")
    assert (1, 1.0, False) == tuple(found.iloc[0][["pairs", "p_value", "is_told_apart"]])
    assert found[["low", "high"]].isna().all(axis=None)


def test_p_value_is_that_of_all_ways_to_turn_signs() -> None:
    """As the naive twin has it."""
    rng = np.random.default_rng(5)
    for size in (2, 5, 8):
        differences = rng.normal(0.5, 1, size)
        ways = [abs(np.mean(np.array(signs) * differences)) for signs in product([-1, 1], repeat=size)]
        naive = np.mean(np.array(ways) >= abs(differences.mean()) - 1e-12)
        assert p_values([differences]) == pytest.approx(naive)
    assert p_values([np.zeros(9), np.array([3.0])]).tolist() == [1.0, 1.0]
    assert np.isnan(p_values([np.array([])])).all()


def test_together_it_is_what_it_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last digit, of groups of several lengths, however many are resampled at a time; all are counted."""
    monkeypatch.setattr(resampling, "RESAMPLES", 199)
    rng = np.random.default_rng(7)
    groups = [rng.normal(0.5, 1, size) for size in (14, 3, 9, 14, 0, 1, 14, 9, 2, 9)] + [np.ones(5), np.zeros(4)]
    for resample in (p_values, intervals):
        alone = [resample([group])[0] for group in groups]
        for at_once in (1, 199 * 9 * 2, 1 << 23):
            monkeypatch.setattr(resampling, "_AT_ONCE", at_once)
            counts: list[int] = []
            assert np.array_equal(resample(groups, counts.append), alone, equal_nan=True)
            assert sum(counts) == len(groups)


def test_equal_policies_are_told_apart_no_more_often_than_stated() -> None:
    """In 400 experiments of 3 logs x 2 policies equal to the baseline, any of the 6 differences counts."""
    rng = np.random.default_rng(11)
    told = 0
    for _ in range(400):
        bases = [rng.exponential(100, 8) for _ in range(3)]
        told += (holm(p_values([rng.exponential(100, 8) - base for base in bases for _ in range(2)])) <= ALPHA).any()
    assert told / 400 <= ALPHA + 2 * np.sqrt(ALPHA * (1 - ALPHA) / 400)


def test_a_clear_difference_is_told() -> None:
    """Of ten pairs; the sentence names it with its sign and log, and the interval holds it."""
    rng = np.random.default_rng(3)
    base = rng.normal(100, 5, 10)
    values = table({("a", "easy"): base, ("a", "fcfs"): base + rng.normal(20, 2, 10), ("b", "easy"): base,
                    ("b", "fcfs"): base + np.tile([2.0, -2.0], 5)})  # fmt: skip
    found = compare_with_baseline(values, ["log"], "easy")
    assert [True, False] == found["is_told_apart"].tolist()
    assert found["low"].iloc[0] < 20 < found["high"].iloc[0]
    assert found["low"].iloc[1] < 0 < found["high"].iloc[1]
    (line,) = sentences(found, ["log"])
    assert line.startswith("wait_mean: 1 of 2 differences from easy are more than noise: fcfs, a (+")


def test_a_pool_beside_machines_has_a_name() -> None:
    """Its column is empty, as that of a machine that is not changed."""
    rng = np.random.default_rng(3)
    base, slower = rng.normal(100, 5, 10), rng.normal(120, 5, 10)
    rows = {
        "": table({("a", "easy"): base, ("a", "fcfs"): slower}),
        "site": table({("a", "easy"): base, ("a", "fcfs"): base}),
    }
    values = pd.concat([each.assign(machine=name) for name, each in rows.items()], ignore_index=True)
    found = compare_with_baseline(values, ["log", "machine"], "easy")
    (line,) = sentences(found, ["log", "machine"])
    assert "fcfs, a pool of processors (+" in line


def test_few_repetitions_are_said_to_be_few() -> None:
    """Not that nothing differs."""
    found = compare_with_baseline(table({("a", "easy"): [1, 2], ("a", "fcfs"): [5, 9]}), ["log"], "easy")
    assert ["wait_mean: too few different repetitions to tell noise: 6 are needed"] == sentences(found, ["log"])


@pytest.mark.parametrize("logs", [1, 2, 24])
def test_so_many_pairs_it_takes(logs: int) -> None:
    """With one fewer the clearest difference is noise, whatever it is; and that is said, not that nothing differs."""
    needed = least_pairs(logs)
    for pairs in (needed - 1, needed):
        base = np.arange(pairs, dtype=float)
        runs = {(f"log {number}", policy): base for number in range(logs) for policy in ("easy", "fcfs")}
        runs |= {(f"log {number}", "fcfs"): base + 1000 + base**2 for number in range(logs)}
        found = compare_with_baseline(table(runs), ["log"], "easy")
        (line,) = sentences(found, ["log"])
        if pairs < needed:
            assert not found["is_told_apart"].any()
            assert f"too few different repetitions to tell noise: {needed} are needed" in line
            assert line.endswith(f"for {logs} comparisons") == (logs > 1)
        else:
            assert found["is_told_apart"].all()
            assert f"{logs} of {logs} differences" in line


def test_what_is_the_same_is_said_to_be_the_same() -> None:
    """Though copies of a pair count once; not where differences only add up to nothing, or one policy differs."""
    same = {("a", "easy"): [0.0] * 6, ("a", "fcfs"): [0.0] * 6, ("b", "easy"): [1, 2], ("b", "fcfs"): [1, 2]}
    assert ["wait_mean: the same under every policy"] == sentences(
        compare_with_baseline(table(same), ["log"], "easy"), ["log"]
    )
    for other in ([2, 1], [1, 3]):
        found = compare_with_baseline(table({**same, ("b", "fcfs"): other}), ["log"], "easy")
        assert "too few different repetitions" in sentences(found, ["log"])[0]


def test_measures_are_adjusted_each_for_itself() -> None:
    """Holm over the comparisons of one measure; NaN does not count."""
    assert [0.03, 0.06, 0.06] == holm(np.array([0.01, 0.04, 0.03])).round(9).tolist()
    found = holm(np.array([0.5, np.nan, 0.6]))
    assert 1.0 == found[0] == found[2]
    assert np.isnan(found[1])


def test_interval_covers_about_as_stated() -> None:
    """Of means of 30 values in at least 85 of 100 samples; of a constant it is the constant."""
    rng = np.random.default_rng(2)
    ends = intervals([rng.exponential(1.0, 30) - 1.0 for _ in range(100)])
    assert 85 <= sum(low <= 0 <= high for low, high in ends) <= 100
    assert intervals([np.array([2.0, 2.0])]).tolist() == [[2.0, 2.0]]


def test_ranks() -> None:
    """1 is best, whichever way is worse; Demsar's critical difference; none of few logs."""
    values = table({(log, policy): [value] for log in "abcdef" for policy, value in zip("xyz", (1, 2, 3), strict=True)})
    found = rank_policies(values, ["log"], {"wait_mean": 1}).set_index("policy")
    assert [1.0, 2.0, 3.0] == found["mean_rank"].tolist()
    assert found["p_value"].to_numpy() == pytest.approx(np.exp(-6.0))  # chi-square 12 of 2 degrees
    assert found["critical_difference"].to_numpy() == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 6)), rel=1e-3)
    turned = rank_policies(values, ["log"], {"wait_mean": -1}).set_index("policy")
    assert [3.0, 2.0, 1.0] == turned["mean_rank"].tolist()
    few = rank_policies(values[values["log"] < "e"], ["log"], {"wait_mean": 1})
    assert few[["p_value", "critical_difference"]].isna().all(axis=None)
    assert rank_policies(values, ["log"], {}).empty
