# SPDX-License-Identifier: BSD-3-Clause
"""Go's random numbers, and the orders in which the authors' pods come."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from pipelines.papers.weng2023.go_random import GoRandom
from pipelines.papers.weng2023.workloads import SEEDS, authors_order, by_name, machine, own_order
from swftools import read_log
from swftools.simulator.nodes.gpus.workload import asks_of
from tests.pipelines.papers.weng2023.excerpts import pods


def test_known_numbers() -> None:
    """The first numbers below 100 that every program of Go drew from seed 1."""
    draws = GoRandom(1)
    assert [draws.below(100) for _ in range(10)] == [81, 87, 47, 59, 81, 18, 25, 40, 56, 0]


def test_long_streams_and_limits() -> None:
    """Numbers go on over blocks; powers of two take the lowest bits; seeds differ, 0 is a seed."""
    one, other = GoRandom(0), GoRandom(0)
    numbers = [one.number() for _ in range(60_000)]
    assert len(set(numbers)) == len(numbers)
    assert max(numbers) < 1 << 63
    assert [other.below(8) for _ in range(60_000)] == [number >> 32 & 7 for number in numbers]
    assert GoRandom(3).number() != GoRandom(4).number()
    assert sorted(GoRandom(5).permutation(100)) == list(range(100)) != GoRandom(5).permutation(100)
    values = list(range(50))
    GoRandom(5).shuffle(values)
    assert sorted(values) == list(range(50)) != values


def test_orders_of_an_excerpt() -> None:
    """Arrivals end at 130 % of the GPUs; every node is there once; ours are others."""
    trace, table = by_name(pods()), machine()
    asks, _ = asks_of(trace, [])
    each = (asks.number * asks.milli)[asks.which]
    for made in (authors_order, own_order):
        order = made(trace, table, 42)
        assert sorted(order.nodes.tolist()) == list(range(1213))
        assert sorted(order.arrivals[: len(trace)].tolist()) == list(range(len(trace)))
        assert 1.29 < each[order.arrivals].sum() / 6_212_000 < 1.302
        assert made(trace, table, 43).arrivals.tolist() != order.arrivals.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("workload", ["default", "multigpu50", "gpushare100"])
def test_orders_of_the_authors(shared: Path, workload: str) -> None:
    """All pods come as in each of the authors' ten runs."""
    folder = shared / "samples" / "openb"
    expected = json.loads(gzip.decompress((folder / "orders" / f"{workload}.json.gz").read_bytes()))
    trace = by_name(read_log(folder / f"openb_pod_list_{workload}.csv.gz"))
    for seed in SEEDS:
        assert np.array_equal(authors_order(trace, machine(), seed).arrivals, expected[str(seed)])
