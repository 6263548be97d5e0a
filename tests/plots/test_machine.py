# SPDX-License-Identifier: BSD-3-Clause
"""The picture of a machine: its table, its bars, its words."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from swftools import MachineDescription
from swftools.plots import caption, data, plot


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Three kinds in three partitions that overlap."""
    content: dict[str, Any] = {
        "nodes": [
            {"kind": "a", "count": 6, "cores": 4, "memory": "1G"},
            {"kind": "b", "count": 2, "cores": 16, "memory": "4G", "gpus": 3},
            {"kind": "c", "count": 1, "cores": 8},
        ],
        "partitions": [
            {"name": "few", "nodes": "b"},
            {"name": "all"},
            {"name": "some", "nodes": ["a", "c"]},
        ],
    }
    return MachineDescription.from_mapping(content).by_partition()


def test_amounts(rows: pd.DataFrame) -> None:
    """Of what is asked for, a row a partition and kind; memory that is not known is none."""
    found = data(rows, "machine", count="cores")
    assert found[["partition", "kind", "amount"]].values.tolist() == [
        ["few", "b", 32],
        ["all", "a", 24],
        ["all", "b", 32],
        ["all", "c", 8],
        ["some", "a", 24],
        ["some", "c", 8],
    ]
    assert data(rows, "machine", count="gpus")["amount"].tolist() == [6, 6]
    assert data(rows, "machine", count="memory").set_index(["partition", "kind"])["amount"]["all", "b"] == 8192
    assert set(found["left_out"]) == {0}


def test_the_largest_are_shown(rows: pd.DataFrame) -> None:
    """The others are counted; small kinds are one, unless it would be of one kind."""
    found = data(rows, "machine", partitions=2)
    assert found["partition"].drop_duplicates().tolist() == ["all", "some"]
    assert set(found["left_out"]) == {1}
    assert caption(rows, "machine", partitions=2) == (
        "Machine: 3 partitions; all has most: 9 nodes; 1 smaller ones are not shown"
    )
    one = data(rows, "machine", kinds=1).set_index(["partition", "kind"])["amount"]
    assert one.to_dict() == {
        ("few", "other kinds"): 2,
        ("all", "a"): 6,
        ("all", "other kinds"): 3,
        ("some", "a"): 6,
        ("some", "other kinds"): 1,
    }
    assert "other kinds" not in set(data(rows, "machine", kinds=2)["kind"])


def test_bars(rows: pd.DataFrame) -> None:
    """One each for partition and kind, side by side, and names beside them."""
    axes = plot(rows, "machine")
    ends = [(round(bar.get_y() + bar.get_height() / 2), bar.get_x(), bar.get_width()) for bar in axes.patches]
    assert [each for each in ends if each[2]] == [(0, 0, 2), (1, 0, 2), (1, 2, 6), (2, 0, 6), (1, 8, 1), (2, 6, 1)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["few", "all", "some"]


@pytest.mark.parametrize(
    ("count", "said"),
    [
        ("nodes", "all has most: 9 nodes"),
        ("cores", "all has most: 64 cores"),
        ("memory", "all has most: 14G of memory"),
        ("gpus", "few has most: 6 GPUs"),
    ],
)
def test_words(rows: pd.DataFrame, count: str, said: str) -> None:
    """Which partition has most."""
    assert said in caption(rows, "machine", count=count)
    assert caption(rows.iloc[:0], "machine", count=count) == "Machine: no partition has any"
