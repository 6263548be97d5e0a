# SPDX-License-Identifier: BSD-3-Clause
"""Inflation: what each rule takes, drawn by hand; against the naive twin; curves, ties, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools.errors import ParameterError
from swftools.simulator.nodes.gpus.choosing import find_gpu_placement
from swftools.simulator.nodes.gpus.fragments import fragment_of
from swftools.simulator.nodes.gpus.inflation import Inflation, inflate
from swftools.simulator.nodes.gpus.state import LACKING
from swftools.simulator.nodes.gpus.workload import Typical, asks_of, gpu_nodes, models_of, typical_of
from swftools.simulator.nodes.placements import find_placement
from tests.interpreted import BY_ITSELF, all_interpreted
from tests.naive import gpu_inflation as naive
from tests.naive.gpu_inflation import Node, Pod
from tests.simulator.nodes.gpus.cases import drawn, table_of, trace_of

SEEDS = range(12)
"""Of drawn cases; by day, when kernels are interpreted, some of them."""


def placed(nodes: list[Node], pods: list[Pod], rule: str, **options: Any) -> list[tuple[int, list[int]]]:
    """Return the node and GPUs of each pod, in their order."""
    found = inflate(trace_of(pods), table_of(nodes), rule, order=np.arange(len(pods)), **options).jobs
    return list(zip(found["node"].tolist(), found["gpus"].tolist(), strict=True))


@pytest.mark.parametrize("interpreted", BY_ITSELF)
@pytest.mark.parametrize("rule", naive.RULES)
def test_as_the_twin(rule: str, interpreted: bool) -> None:
    """Every pod has the node and the GPUs that the words say, and the curves are those of the words."""
    dropped = 0
    for seed in SEEDS[: 2 if interpreted else None]:
        nodes, pods = drawn(seed)
        typical = naive.typical_of(pods)
        expected = naive.inflate(nodes, pods, typical, rule)
        found = inflate(trace_of(pods), table_of(nodes), rule, order=np.arange(len(pods)))
        assert list(zip(found.jobs["node"], map(tuple, found.jobs["gpus"]), strict=True)) == expected
        dropped += sum(node < 0 for node, _ in expected)
        curve = found.curve()
        for percent, (allocated, ratio) in naive.curves(nodes, pods, expected, typical).items():
            assert curve.at[percent, "allocated"] == pytest.approx(allocated, abs=1e-9)
            if found.jobs["allocated"].iloc[-1] < found.total:
                assert curve.at[percent, "fragment_ratio"] == pytest.approx(ratio, abs=1e-9)
    assert dropped > 0


@pytest.fixture
def by_hand() -> Any:
    """Interpret all kernels."""
    with all_interpreted():
        yield


def test_fragments_by_hand(by_hand: None) -> None:
    """Two GPUs with .7 and .2 free and 4 CPUs: by class, what it cannot use."""
    classes = {
        "without GPUs": (0, 0, 1000, 900),
        "half a GPU": (1, 500, 1000, 200),  # the one with .2 is of no use
        "a fifth, which fits both": (1, 200, 1000, 0),
        "a whole one, where there is none": (1, 1000, 1000, 900),
        "half a GPU and too much CPU": (1, 500, 5000, 900),
        "two of half": (2, 500, 1000, 900),
        "of another model": (1, 200, 1000, 900),
    }
    nodes = [Node(4000, 8, (1000, 1000), "A"), Node(8000, 8, (1000,) * 3, "B")]
    for name, (number, milli, cpu, fragment) in classes.items():
        models = 2 if "model" in name else -1
        one = np.array
        typical = Typical(one([1.0]), one([cpu]), one([number]), one([milli]), one([models]))
        gpus = gpu_nodes(table_of(nodes), typical, exact=False, ties=0, seed=0)
        assert gpus.free.tolist() == [1000, 1000, LACKING, 1000, 1000, 1000]
        gpus.free[:2] = 700, 200
        assert fragment_of(gpus, gpus.free, 0, 4000) == fragment, name


def test_typical_workload() -> None:
    """The most frequent classes, 95 % of all pods; of equal ones the larger first; memory does not count."""
    pods = [Pod(1000, 1, 1, 500)] * 12 + [Pod(1000, 9, 1, 500)] * 3 + [Pod(4000, 1, 0, 0)] * 4 + [Pod(2000, 1, 2, 1000)]
    pods += [Pod(3000, 1, 1, 1000), *[Pod(500, 1, 1, 100)] * 2]
    found = typical_of(*asks_of(trace_of(pods), []))
    expected = naive.typical_of(pods)
    assert list(zip(found.share, found.cpu, found.milli, found.number, strict=True)) == [each[:4] for each in expected]
    assert found.cpu.tolist() == [1000, 4000, 500, 3000]
    assert found.share.sum() == pytest.approx(1.0)


RULES_BY_HAND = {
    "weng-best-fit": (1, [1]),
    "weng-dot-product": (1, [1]),
    "gpu-clustering": (0, [0]),
    "weng-gpu-packing": (1, [1]),
}
"""Where a pod of half a GPU goes."""


@pytest.mark.parametrize(("rule", "expected"), RULES_BY_HAND.items())
def test_rules_by_hand(rule: str, expected: tuple[int, list[int]], by_hand: None) -> None:
    """Node 0 has 0.6 free of a GPU, and another; who shares runs there. Node 1 has half a GPU, beside a whole pod."""
    nodes = [Node(8000, 64, (1000, 1000), "A"), Node(8000, 64, (1000, 1000), "B")]
    pods = [Pod(0, 0, 1, 400, "A"), Pod(0, 0, 1, 1000, "B"), Pod(0, 0, 1, 500, "B"), Pod(0, 0, 1, 500)]
    assert placed(nodes, pods, rule) == [(0, [0]), (1, [0]), (1, [1]), expected]


@pytest.mark.parametrize(("cpu", "milli", "expected"), [(9000, 100, 0), (9000, 300, 1), (6000, 300, 0)])
def test_best_fit_weighs_both_alike(cpu: int, milli: int, expected: int, by_hand: None) -> None:
    """Node 0 would keep half its CPU and no GPU: 0.5. Node 1 would keep 0.1 + 0.45, 0.1 + 0.35, or 0.4 + 0.35."""
    nodes = [Node(10000, 64, (1000, 1000), "A"), Node(10000, 64, (1000, 1000), "B")]
    pods = [Pod(5000, 0, 1, 1000, "A"), Pod(cpu, 0, 1, milli, "B"), Pod(0, 0, 1, 1000)]
    assert placed(nodes, pods, "weng-best-fit")[-1] == (expected, [1])


def test_clustering_by_hand(by_hand: None) -> None:
    """Pods of one GPU and of a part are kept apart; who finds no node of its own kind takes an empty one."""
    nodes = [Node(8000, 64, (1000,) * 4, "A")] * 3
    half, one = Pod(0, 0, 1, 500), Pod(0, 0, 1, 1000)
    found = placed(nodes, [half, one, half, one, Pod(0, 0, 2, 1000), half], "gpu-clustering")
    assert found == [(0, [0]), (1, [0]), (0, [0]), (1, [1]), (2, [0, 1]), (0, [1])]


def test_packing_by_hand(by_hand: None) -> None:
    """A begun GPU that suffices, then a begun node, then an idle one; of begun GPUs the fullest."""
    nodes = [Node(8000, 64, (1000,) * 2, "A"), Node(8000, 64, (1000,) * 2, "B")]
    found = placed(
        nodes, [Pod(0, 0, 1, 600, "B"), Pod(0, 0, 1, 300), Pod(0, 0, 1, 500), Pod(0, 0, 2, 1000)], "weng-gpu-packing"
    )
    assert found == [(1, [0]), (1, [0]), (1, [1]), (0, [0, 1])]


def test_ties(by_hand: None) -> None:
    """Of equal nodes the first is taken, any, or the one with the smallest fragment then."""
    nodes = [Node(8000, 64, (1000,) * 2, "A")] * 4
    pods = [Pod(0, 0, 1, 500), Pod(1000, 0, 0, 0)]
    assert [node for node, _ in placed(nodes, pods, "gpu-clustering")] == [0, 0]
    assert [node for node, _ in placed(nodes, pods, "gpu-clustering:ties=fragments")] == [0, 0]
    drawn_nodes = {placed(nodes, pods, f"fgd:ties=random,seed={seed}")[0][0] for seed in range(30)}
    assert drawn_nodes == {0, 1, 2, 3}
    full = [Pod(0, 0, 2, 1000, "B"), Pod(1000, 0, 0, 0)]
    other = [*nodes[:1], nodes[1]._replace(model="B")]
    assert [node for node, _ in placed(other, full, "gpu-clustering")] == [1, 0]
    assert [node for node, _ in placed(other, full, "gpu-clustering:ties=fragments")] == [1, 1]


def test_first_gpu_of_equal_ones(by_hand: None) -> None:
    """Where nobody asks for GPUs all of a node is a fragment anyhow, and the first GPU is as good as another."""
    typical = Typical(np.array([1.0]), np.array([0]), np.array([0]), np.array([0]), np.array([-1]))
    pods = [Pod(0, 0, 1, 200), Pod(0, 0, 1, 300), Pod(0, 0, 1, 600)]
    found = placed([Node(8000, 64, (1000,) * 2, "A")], pods, "fgd", typical=typical)
    assert found == [(0, [0]), (0, [0]), (0, [1])]


def test_exact_scores(by_hand: None) -> None:
    """Scores that differ by less than one are a tie, unless they are compared as they are."""
    nodes = [Node(8000, 64, (1000,), "A"), Node(8000, 64, (1000,), "B"), Node(8000, 64, (1000,), "A")]
    pods = [Pod(0, 0, 1, 20, "B"), Pod(0, 0, 1, 960)]
    typical = Typical(np.array([1.0]), np.array([0]), np.array([1]), np.array([1000]), np.array([-1]))
    assert placed(nodes, pods, "fgd", typical=typical)[1] == (1, [0])
    pods = [Pod(0, 0, 1, 20, "B"), Pod(1000, 0, 1, 1000)]
    assert placed(nodes, pods, "weng-best-fit")[1][0] == 0
    pods = [Pod(0, 0, 0, 0), Pod(10, 0, 1, 5, "B"), Pod(0, 0, 1, 5)]
    assert placed(nodes, pods, "weng-best-fit")[2][0] == 0
    assert placed(nodes, pods, "weng-best-fit:exact=true")[2][0] == 1


def test_random_takes_all(by_hand: None) -> None:
    """Every node that fits, and every GPU of it that does, is taken by some seed; none that does not fit."""
    nodes = [Node(8000, 64, (1000,) * 2, "A"), Node(500, 64, (1000,) * 2, "A"), Node(8000, 64, (1000,) * 3, "B")]
    pods = [Pod(1000, 0, 1, 600)] * 2
    seen = set()
    for seed in range(60):
        first, second = placed(nodes, pods, f"random:seed={seed}")
        assert first != second
        seen |= {(first[0], *first[1]), (second[0], *second[1])}
    assert seen == {(0, 0), (0, 1), (2, 0), (2, 1), (2, 2)}


def test_curve_by_hand() -> None:
    """Means by what is asked for, rounded half to even; a percent without a job has those beside it."""
    jobs = pd.DataFrame(
        {"asked": [0.5, 0.55, 2.5, 4.5], "allocated": [0.5, 0.5, 2.5, 2.5], "fragment": [1.0, 2.0, 3.0, 4.0]}
    )
    found = Inflation(jobs, 100.0).curve()
    assert found.index.tolist() == [0, 1, 2, 3, 4]
    assert found["allocated"].tolist() == [0.5, 0.5, 2.5, 2.5, 2.5]
    assert found.loc[0, "fragment_ratio"] == pytest.approx(100 / 99.5)
    assert found.loc[4, "fragment"] == 4.0
    assert found.loc[3, "fragment"] == 3.5
    gap = Inflation(jobs.assign(asked=[0.0, 0.0, 4.0, 4.0]), 100.0).curve()
    assert math.isnan(gap.loc[2, "allocated"])
    assert Inflation(jobs.head(0), 100.0).curve().empty


def test_a_share_between_two_cents() -> None:
    """45.995 % is stored a bit below, and is printed as 45.99: as the authors' logs do, and pandas does not."""
    jobs = pd.DataFrame({"asked": [91.99], "allocated": [91.99], "fragment": [0.0]})
    assert Inflation(jobs, 200.0).curve().loc[46, "allocated"] == 45.99


def test_bad_input() -> None:
    """What cannot be is told in a sentence."""
    nodes, pods = drawn(1)
    trace, table = trace_of(pods), table_of(nodes)
    with pytest.raises(ParameterError, match="no placement 'fdg'"):
        inflate(trace, table, "fdg", order=np.arange(2))
    with pytest.raises(ParameterError, match="the trace has 30 rows"):
        inflate(trace, table, "fgd", order=np.array([0, 30]))
    with pytest.raises(ParameterError, match=r"asks for 1\.5 GPUs of a node"):
        asks_of(trace_of([Pod(0, 0, 3, 500)]), [])
    with pytest.raises(ParameterError, match="neither a text"):
        find_gpu_placement(3)  # type: ignore[arg-type]
    told = (
        r"^placement 'fgd' looks at each GPU of a node, which this simulation counts together: in Python, "
        r"swftools\.simulator\.simulate_on_gpus\(trace, machine, 'fgd', 'easy'\) does it; here choose one of: best"
    )
    with pytest.raises(ParameterError, match=told):
        find_placement("fgd:ties=random")
    halves = table_of(nodes)
    halves.gpus[0] = 1500
    with pytest.raises(ParameterError, match="a part of a GPU"):
        inflate(trace, halves, "fgd", order=np.arange(2))
    assert models_of(table) == ["A", "B"]
