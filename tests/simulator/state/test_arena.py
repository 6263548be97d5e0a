# SPDX-License-Identifier: BSD-3-Clause
"""Room for arrays of any kind that a state may come to have: of nodes, and of the parts of jobs on them."""

from __future__ import annotations

import weakref
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from swftools.kernel.layout import Layout
from swftools.simulator.state import arena as arenas
from swftools.simulator.state.arena import Arena
from swftools.simulator.state.columns import (
    PER_JOB,
    PER_NODE,
    PER_PART,
    REAL,
    SHORT,
    WHOLE,
    StateColumn,
    StateSizes,
    columns_of,
    sizes_of,
)

Array = npt.NDArray[Any]


class Two(NamedTuple):
    """One number a job, and two."""

    one: Annotated[Array, StateColumn(WHOLE, PER_JOB)]
    pair: Annotated[Array, StateColumn(WHOLE, PER_JOB, times=2)]


class Nodes(NamedTuple):
    """What nodes have, and which part of which job is on them."""

    memory: Annotated[Array, StateColumn(REAL, PER_NODE, empty=np.nan)]
    gpus: Annotated[Array, StateColumn(SHORT, PER_NODE, further=(4,), empty=-1)]
    first: Annotated[Array, StateColumn(SHORT, PER_JOB, empty=-1)]
    node: Annotated[Array, StateColumn(SHORT, PER_PART, times=2, empty=-1)]


@pytest.mark.parametrize("most", [arenas.MOST, 0], ids=["in blocks", "each by itself"])
def test_arrays_of_nodes_and_parts(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are made, copied and grow as all others do; what is not there is empty."""
    monkeypatch.setattr(arenas, "MOST", most)
    sizes = StateSizes(jobs=3, nodes=5, parts=7)
    arena: Arena[Nodes] = Arena(Nodes, sizes, {}, lambda nodes: nodes)
    assert {path: getattr(arena.state, path).shape for path in columns_of(Nodes)} == {
        "memory": (5,),
        "gpus": (5, 4),
        "first": (3,),
        "node": (14,),
    }
    assert sizes_of(arena.state) == sizes
    arena.state.gpus[4, 3], arena.state.node[13], arena.state.memory[:] = 8, 6, 2.5
    other = arena.sibling()
    other.copy_from(arena)
    larger = other.resized(sizes._replace(nodes=6, parts=9))
    arena.state.memory[:] = 0.0
    assert larger.state.memory[:5].tolist() == [2.5] * 5
    assert np.isnan(larger.state.memory[5])
    assert (larger.state.gpus[4, 3], larger.state.gpus[5].tolist()) == (8, [-1] * 4)
    assert larger.state.node[13:].tolist() == [6, -1, -1, -1, -1]
    assert larger.state.first is other.state.first


def test_columns_that_do_not_go_together() -> None:
    """Arrays of other lengths than the others of their kind are refused by name."""
    nodes = Arena(Nodes, StateSizes(jobs=3, nodes=5, parts=7), {}, lambda nodes: nodes).state
    with pytest.raises(ValueError, match=r"^gpus: a column of 4 numbers, others have nodes=5"):
        sizes_of(nodes._replace(gpus=nodes.gpus[:4]))
    with pytest.raises(ValueError, match=r"^node: a column of 13 numbers"):
        sizes_of(nodes._replace(node=nodes.node[:13], first=nodes.first))


def test_the_next_state_of_a_shape_is_laid_out_as_the_first() -> None:
    """What is remembered of the first has none of its memory; of other sizes, or where arrays are given, it is new."""
    like = Arena(Nodes, StateSizes(), {}, lambda nodes: nodes).state
    for sizes in (
        StateSizes(jobs=3, nodes=5, parts=7),
        StateSizes(jobs=3, nodes=6, parts=7),
        StateSizes(jobs=3, nodes=5, parts=7),
    ):
        for given in ({}, {"first": np.arange(3, dtype=np.int32)}, {"first": np.arange(9, dtype=np.int32)}):
            for _ in range(2):
                arena: Arena[Nodes] = Arena(Nodes, sizes, given, lambda nodes: nodes)
                memory = weakref.ref(arena.blocks[0].bytes)
                assert arena.layout(like)._words.tolist() == Layout(arena.state, like)._words.tolist()
                del arena
                assert memory() is None
    with pytest.raises(TypeError, match="laid out"):
        Arena(Nodes, sizes, {"first": np.zeros(3)}, lambda nodes: nodes).layout(like)


def test_several_numbers_a_job_are_all_copied() -> None:
    """What has several for each job is copied whole, also where only what is known of few jobs is."""
    first: Arena[Two] = Arena(Two, StateSizes(jobs=20), {}, lambda state: state)
    second = first.sibling()
    second.copy_from(first)
    first.state.one[:], first.state.pair[:] = 7, 8
    second.copy_from(first, {PER_JOB: 8})
    assert second.state.one.tolist() == [7] * 8 + [0] * 12
    assert second.state.pair.tolist() == [8] * 40
