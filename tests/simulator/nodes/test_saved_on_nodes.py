# SPDX-License-Identifier: BSD-3-Clause
"""States of simulations on nodes as bytes: what goes on from them, and bytes that somebody forged."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import simulate
from swftools.errors import StateError
from swftools.machines.node_table import NodeTable
from swftools.machines.table_document import document_of, table_of_document
from swftools.simulator import Stepper
from swftools.simulator.nodes.words import CORE
from swftools.simulator.stepping import packed_arrays
from tests.examples import by_day
from tests.forged import tried
from tests.nodes_drawn import draw_machine
from tests.simulator.nodes.test_going_on import MACHINE, crowd, with_waits
from tests.simulator.stepping.test_forged import forged_of, use

pytestmark = pytest.mark.usefixtures("interpreted_by_day")

REHEARSED = [("easy", "first-fit")]
"""What of it tests compile ahead; all else is interpreted by day, and compiled at night."""

BY_NIGHT = [
    ("conservative", "first-fit"),
    *(("fcfs", "first-fit"), ("easy", "best-fit")),
    *(("sjf-backfill", "worst-fit"), ("easy:reservations=2", "fewest-switches"), ("lxf-backfill", "contiguous")),
    *(
        ("conservative-fixed", "worst-fit"),
        ("conservative", "fewest-switches"),
        ("conservative-replanned", "first-fit"),
    ),
    *(("prio-fifo", "gpu-packing"), ("weighted-priority", "dot-product")),
]

HEADS = ["partition", "machine"]


def check_from_bytes(policy: str, placement: str, heads: str, seed: int) -> None:
    """Check that a simulation that is saved and loaded at every seventh decision ends as one that runs through."""
    trace = with_waits(crowd(seed), seed)
    trace = trace.with_jobs(trace.jobs.assign(priority_rank=pd.array(np.arange(len(trace)) % 3, "Int64")))
    options: dict[str, Any] = {"machine": MACHINE, "placement": placement, "heads": heads}
    stepper, decisions = Stepper(trace, policy, **options), 0
    more = stepper.advance()
    while more:
        if decisions % 7 == 0:
            stepper = Stepper.from_bytes(stepper.to_bytes())
        if decisions == 20:
            stepper = Stepper.from_bytes(stepper.fork(None).to_bytes())
        more, decisions = stepper.skip(), decisions + 1
    ours, whole = stepper.schedule(), simulate(trace, policy, **options)
    assert (ours.options, ours.assumptions) == (whole.options, whole.assumptions)
    ended = ours.segments["job_number"]
    assert 10 < len(ended) < len(trace)  # a fork has no past
    pd.testing.assert_frame_equal(
        ours.segments.reset_index(drop=True),
        whole.segments[whole.segments["job_number"].isin(ended)].reset_index(drop=True),
    )


@pytest.mark.parametrize(("policy", "placement"), REHEARSED)
def test_it_goes_on_from_bytes(policy: str, placement: str) -> None:
    """To the nodes of each run, and what is assumed."""
    for seed, heads in enumerate(HEADS):
        check_from_bytes(policy, placement, heads, seed)


@pytest.mark.usefixtures("simulated_as_python_by_day")
@pytest.mark.parametrize(("policy", "placement"), by_day(BY_NIGHT, 3))
def test_it_goes_on_from_bytes_by_all(policy: str, placement: str) -> None:
    """The same by others, whose kernels are compiled for it at night."""
    for seed, heads in enumerate(HEADS):
        check_from_bytes(policy, placement, heads, seed)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("is_placed", False, ""),
        ("begin", np.nan, "a reservation at a time that is none"),
        ("begin", np.inf, "a reservation at a time that is none"),
        ("begin", 1e6, "a reservation that ends before it begins"),
        ("end", 1e6, "more of a node than there is"),
    ],
)
@pytest.mark.usefixtures("simulated_as_python_by_day")
def test_a_forged_plan(name: str, change: Any, said: str) -> None:
    """Reservations must leave room for one another; one that is missing is made anew."""
    stepper = Stepper.from_bytes(state_of(3))
    getattr(stepper._simulation._driver.decider.memory.plan, name)[stepper.waiting] = change
    state = stepper.to_bytes()
    if said:
        with pytest.raises(StateError, match=said):
            Stepper.from_bytes(state)
    else:
        assert len(Stepper.from_bytes(state).finish()) == 40


@cache
def state_of(kind: int) -> bytes:
    """Return a state under way, one with jobs that were submitted, a fork, or one with a plan."""
    policy = "conservative" if kind == 3 else "easy"
    stepper = Stepper(with_waits(crowd(5), 5), policy, machine=MACHINE, heads=HEADS[kind % 2])
    stepper.advance()
    for _ in range(14):
        stepper.skip()
    if kind == 1:
        stepper.submit(None, 30.0, requested_nodes=2, requested_memory_per_node=7)
        stepper.decide()
    return (stepper.fork(3) if kind == 2 else stepper).to_bytes()


def forged(draw: random.Random) -> bytes:
    """Return such a state, changed in one place or a few; half of them in what is of nodes."""
    state = state_of(draw.randrange(4))
    if draw.random() < 0.5:
        return forged_of(state, draw)
    arrays = packed_arrays.unpack(state)
    name = draw.choice([each for each in arrays if each.startswith("nodes.")])
    changed = arrays[name].copy()
    for _ in range(draw.choice([1, 3])):
        value = draw.choice([0, -1, 1, 6, 7, 8, 2**20, 2**28, 2**31 - 1, draw.randrange(300)])
        changed[draw.randrange(min(len(changed), 40))] = value
    return packed_arrays.pack(arrays | {name: changed})


def test_a_forged_state() -> None:
    """It is a StateError, or as good as any other."""
    assert tried(range(40), forged, use) == []


@pytest.mark.slow
def test_many_forged_states() -> None:
    """In a process of its own, so that one that ends is seen."""
    many = "from tests.simulator.nodes.test_saved_on_nodes import *; main(0, 1500)"
    done = subprocess.run([sys.executable, "-c", many], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr[-2000:]


def main(first: int, last: int) -> None:
    """Try seeds, and print what went wrong."""
    for line in tried(range(first, last), forged, use):
        sys.stdout.write(f"{line}\n")


def _with(name: str, change: Callable[[Any], None]) -> bytes:
    arrays = packed_arrays.unpack(state_of(0))
    changed = arrays[name].copy()
    change(changed)
    return packed_arrays.pack(arrays | {name: changed})


def _set(place: Any, value: int) -> Callable[[Any], None]:
    return lambda column: column.__setitem__(place, value)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("nodes.need", _set(0, -1), "what a job asks for is no amount"),
        ("nodes.need", _set(3, 1 << (CORE + 14)), "what a job asks for is no amount"),
        ("nodes.need", _set(39, 9 << CORE), "a job asks for more than there is"),
        ("nodes.nodes", _set(39, 0), "how many nodes a job asks for is not from 1 to 7"),
        ("nodes.nodes", _set(39, 8), "how many nodes a job asks for is not from 1 to 7"),
        ("nodes.place", _set(39, 1), "a place is not from 0 to 0"),
        ("nodes.first", _set(slice(2), 0), "two jobs have the same room"),
        ("nodes.held", _set(0, 7), "a node is not from 0 to 6"),
        ("nodes.group", _set(0, 9), "a set is not from 0 to"),
        (
            "nodes.held",
            lambda column: column.__setitem__(slice(None), 0),
            "running jobs have more of a node than there is",
        ),
        (
            "nodes.need",
            lambda column: column.__setitem__(slice(None), 1 << CORE),
            "a job has other cores than its nodes",
        ),
    ],
)
def test_one_beyond(name: str, change: Callable[[Any], None], said: str) -> None:
    """Numbers just beyond what there is are told."""
    with pytest.raises(StateError, match=said):
        Stepper.from_bytes(_with(name, change))


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("places",), 3, "places where jobs may run"),
        (("places", 0, 0, 1), [0, 7], "a node is not from 0 to 6"),
        (("places", 0, 0, 1), [1, 0], "nodes where a job may run"),
        (("places", 0, 0, 0), 2, "a partition is not from 0 to 1"),
        (("places", 0), [], "a place without nodes"),
        (("table", "cores"), [4], "the machine's cores are not as many"),
        (("table", "names"), ["n"] * 7, "nodes of one name"),
        (("table", "partitions"), [], "the machine has no partitions"),
        (("told",), [3], "what is assumed is no text"),
    ],
)
def test_a_machine_that_is_none(path: tuple[Any, ...], value: Any, said: str) -> None:
    """What is said of the machine is looked at before it is taken."""
    arrays = packed_arrays.unpack(state_of(0))
    head = json.loads(arrays["head"].tobytes())
    at = head["machine"]
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    arrays["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)
    with pytest.raises(StateError, match=said):
        Stepper.from_bytes(packed_arrays.pack(arrays))


def same(first: NodeTable, second: NodeTable) -> bool:
    """Whether two machines are the same."""
    return document_of(first) == document_of(second)


def test_a_document_of_a_machine() -> None:
    """The machine that is read from it is the one that it was written of."""
    table = draw_machine("count cores memory gpus weight switch / 2 4 64 1 3 0 / 3 8 128 2 1 1", "p:0-1:2:60 q:1-4")
    text = json.dumps(document_of(table))
    again = table_of_document(json.loads(text))
    assert same(again, table)
    assert [each.max_time for each in again.partitions] == [60.0, np.inf]
    assert all(
        getattr(again, name).dtype == getattr(table, name).dtype for name in ("cores", "kind", "switch", "speed")
    )
