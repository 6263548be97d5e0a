# SPDX-License-Identifier: BSD-3-Clause
"""Machines with outages: batch, stepped, copied, forked and saved simulations are the same, to the nodes of runs."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Schedule, Trace
from swftools.errors import StateError
from swftools.machines.outages import DOWN, RESERVATION, NodeOutages
from swftools.simulator import Stepper
from swftools.simulator.stepping import packed_arrays, serialize
from tests.forged import changed_array, changed_words, tried
from tests.interpreted import all_interpreted
from tests.naive.node_plans import PLANS
from tests.naive.nodes import DECISIONS
from tests.naive.nodes_away import Rule
from tests.nodes_drawn import Workload
from tests.simulator.nodes.test_away import (
    ALWAYS,
    COMPILED,
    HEADS,
    PLACEMENTS,
    SURPRISE,
    TWO,
    AwayCase,
    Engine,
    case_by_lot,
    engine,  # noqa: F401 (a fixture)
    outages_of,
    runs_of,
    trace_of,
)
from tests.simulator.stepping.test_forged import use

POLICIES = list(DECISIONS)


def stepper_of(engine: Engine, workload: Workload, policy: str, rule: Rule, **options: Any) -> Stepper:  # noqa: F811
    """Return a stepper before its first event."""
    engine.asks(workload)
    on_outage = rule.on_outage + (f":delay={rule.delay:g}" if rule.delay else "")
    given: dict[str, Any] = {"overrun": "run-on", "restart_overhead": rule.overhead, "on_outage": on_outage}
    return Stepper(trace_of(workload, rule), policy, machine=workload.table, **given, **options)


def saved(stepper: Stepper) -> Stepper:
    """Return what goes on from the state of one."""
    return Stepper.from_bytes(stepper.to_bytes())


@pytest.fixture
def loaded_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is loaded go on interpreted, so that nothing is compiled for it."""
    monkeypatch.setattr(serialize, "called_for", partial(_interpreted, serialize.called_for))


def _interpreted(called_for: Callable[..., Any], *given: Any, compiled: bool, **options: Any) -> Any:
    assert compiled
    return called_for(*given, compiled=False, **options)


def check_same(ours: Schedule, whole: Schedule) -> None:
    """Check that two schedules are the same, with their machine and what is assumed."""
    pd.testing.assert_frame_equal(ours.segments, whole.segments)
    pd.testing.assert_frame_equal(ours.jobs, whole.jobs)
    pd.testing.assert_frame_equal(ours.excluded, whole.excluded)
    assert (ours.options, ours.assumptions) == (whole.options, whole.assumptions)


def check_by_lot(engine: Engine, seed: int, policy: str, placement: str, **options: Any) -> int:  # noqa: F811
    """Go on from bytes at every third decision, and from forks at some; return how many runs were stopped."""
    workload, rule = case_by_lot(seed)
    given = {"placement": placement, "heads": HEADS[seed % 2], **options}
    whole = engine.schedule(workload, policy, rule, **given)
    stepper, decisions = stepper_of(engine, workload, policy, rule, **given), 0
    forks: list[tuple[float, set[int], Stepper]] = []
    stepper = saved(stepper)
    more = stepper.advance()
    while more:
        if decisions % 3 == 0:
            stepper = saved(stepper)
        if decisions % 10 == 2:
            left = set(whole.jobs["job_number"]) - set(stepper.schedule().jobs["job_number"])
            forks += [(stepper.now, left, each) for each in (stepper.fork(None), saved(stepper.fork(None)))]
        more, decisions = stepper.skip(), decisions + 1
    check_same(saved(stepper).schedule(), whole)
    for time, left, each in forks:
        to_come = [run for run in runs_of(whole) if run[0] in left and not (run[-1] and run[2] <= time)]
        assert runs_of(each.finish()) == to_come, (seed, time)
    return int((whole.segments["ended_by"] == "outage").sum())


def test_saved_and_forked_as_batch_interpreted(engine: Engine, loaded_interpreted: None) -> None:  # noqa: F811
    """On machines by lot, in turn under policies and two placements."""
    with all_interpreted():
        stopped = 0
        for seed in (6, 12, 27, 34):
            policy, placement = POLICIES[seed % len(POLICIES)], PLACEMENTS[seed % 2]
            stopped += check_by_lot(engine, seed, policy, placement, compiled=False)
        assert stopped > 6


@pytest.mark.parametrize("policy", PLANS)
def test_plans_go_on_as_in_batch_interpreted(policy: str, engine: Engine, loaded_interpreted: None) -> None:  # noqa: F811
    """Reservations are saved, and what becomes known at an instant is followed, also from bytes."""
    with all_interpreted():
        assert sum(check_by_lot(engine, seed, policy, "first-fit", compiled=False) for seed in (6, 27)) > 3


@pytest.mark.slow
@pytest.mark.parametrize("policy", PLANS)
def test_plans_go_on_as_in_batch_on_many_machines(policy: str, engine: Engine) -> None:  # noqa: F811
    """So it is compiled, on 300 machines."""
    first = 100 * list(PLANS).index(policy)
    assert sum(check_by_lot(engine, seed, policy, PLACEMENTS[seed % 2]) for seed in range(first, first + 100)) > 20


@pytest.mark.slow
@pytest.mark.parametrize("placement", ["first-fit", "best-fit", "contiguous"])
@pytest.mark.parametrize("policy", COMPILED)
def test_saved_and_forked_as_batch_on_many_machines(policy: str, placement: str, engine: Engine) -> None:  # noqa: F811
    """So it is compiled, on 504 machines."""
    first = 42 * COMPILED.index(policy)
    assert sum(check_by_lot(engine, seed, policy, placement) for seed in range(first, first + 42)) > 5


HAND = AwayCase(
    "",
    TWO,
    ((0, 5, 8, DOWN, SURPRISE, -1), (1, 6, 9, RESERVATION, ALWAYS, 0), (0, 12, 14, DOWN, 7, -1)),
    "job submit run / A 0 10 / B 0 4 / C 5 3 / D 5 2 / E 6 9 / F 6 2",
    "A 0 5 0 x / B 0 4 1 / F 6 8 1 / C 8 11 0 / A 9 19 1 / D 14 16 0 / E 16 25 0",
)
"""Only F, of user 1, may use node 1 from 6 s to 9 s. At 7 s it becomes known that node 0 will be down from 12 s on."""


@cache
def state_at(time: float) -> bytes:
    """Return the state at a time: before or after a job was stopped, and what is known changes."""
    with pytest.MonkeyPatch.context() as patch:
        stepper = stepper_of(Engine(patch), HAND.workload(), "easy", Rule(), compiled=False)
        with all_interpreted():
            return stepper.run(until=time).to_bytes()


@pytest.mark.usefixtures("loaded_interpreted")
def test_by_hand() -> None:
    """From before the first event, while a node is away, when it has become known that it will be, and at the end."""
    with all_interpreted():
        for time in (-1.0, 0.0, 5.0, 6.0, 7.0, 13.0, 30.0):
            stepper = Stepper.from_bytes(state_at(time))
            assert runs_of(stepper.finish()) == HAND.expected(), time


def forged(draw: random.Random) -> bytes:
    """Return a state of which something of outages is changed."""
    arrays = packed_arrays.unpack(state_at(draw.choice([0.0, 5.0, 7.0])))
    if draw.random() < 0.3:
        head = json.loads(arrays["head"].tobytes())
        head["machine"]["holders"] = changed_words(head["machine"]["holders"], draw)
        arrays["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)
        return packed_arrays.pack(arrays)
    name = draw.choice([each for each in arrays if each.startswith("outages.")])
    return packed_arrays.pack({**arrays, name: changed_array(arrays[name], draw)})


@pytest.mark.usefixtures("loaded_interpreted")
def test_a_forged_state() -> None:
    """It is a StateError, or as good as any other."""
    with all_interpreted():
        assert tried(range(40), forged, use) == []


@pytest.mark.slow
def test_many_forged_states() -> None:
    """Compiled, so that what is read beyond an array would be noticed by what comes of it."""
    assert tried(range(1000, 2500), forged, use) == []


@pytest.mark.parametrize(
    ("name", "at", "value", "said"),
    [
        ("node", 0, 2, "a node is not from 0 to 1"),
        ("kind", 1, 3, "a kind is not from 0 to 2"),
        ("who", 0, 2, "for whom a node is reserved is not from -1 to 1"),
        ("begin", 0, np.nan, "a time"),
        ("may", 0, 2, "whether jobs may use what is reserved is not from 0 to 1"),
        ("kept", 0, 7, "a run that was stopped is not from 0 to"),
        ("kept", 0, 1, "a run was stopped otherwise than its job says"),
        ("kept", 1, 9, "the set of its nodes is not from 0 to"),
        ("kept", 2, 2, "a run was stopped otherwise than its job says"),
        ("kept", 3, 2, "its nodes is not from 0 to 1"),
        ("comebacks", 0, -1, "how often jobs came back is not from 0 to 1"),
        ("comebacks", 0, 2, "how often jobs came back is not from 0 to 1"),
    ],
)
def test_one_beyond(name: str, at: int, value: float, said: str) -> None:
    """Numbers just beyond what there is are told."""
    arrays = packed_arrays.unpack(state_at(7.0))
    arrays[f"outages.{name}"][at] = value
    with pytest.raises(StateError, match=said):
        Stepper.from_bytes(packed_arrays.pack(arrays))


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("may", lambda each: each[:-1], "who may use what is reserved is not told for each place"),
        ("end", lambda each: each[:-1], "some of what is told of an outage is missing"),
        ("kept", lambda each: each[:-1], "a run was stopped twice, or is told in part"),
        ("kept", lambda each: each[:2], "a run that was stopped is told in part"),
        ("kept", lambda each: np.append(each, each), "a run was stopped twice, or is told in part"),
        ("kept", lambda each: each.astype(np.int64), "an array of int64"),
        ("comebacks", lambda each: each[:0], "how often jobs came back is not one number"),
    ],
)
def test_parts_that_do_not_fit(name: str, change: Callable[[Any], Any], said: str) -> None:
    """What is missing, or told twice, is told."""
    arrays = packed_arrays.unpack(state_at(7.0))
    arrays[f"outages.{name}"] = change(arrays[f"outages.{name}"])
    with pytest.raises(StateError, match=said):
        Stepper.from_bytes(packed_arrays.pack(arrays))


def test_without_outages_nothing_more_is_saved() -> None:
    """So that states are what they were."""
    workload = HAND.workload()
    table = replace(workload.table, outages=NodeOutages())
    with pytest.MonkeyPatch.context() as patch:
        stepper = stepper_of(Engine(patch), replace(workload, table=table), "easy", Rule(), compiled=False)
        arrays = packed_arrays.unpack(stepper.to_bytes())
    assert not any(name.startswith("outages") for name in arrays)
    assert "holders" not in json.loads(arrays["head"].tobytes())["machine"]


@pytest.mark.usefixtures("loaded_interpreted")
@pytest.mark.parametrize("is_saved", [False, True])
def test_jobs_that_are_submitted_have_users(is_saved: bool) -> None:
    """Who may use what is reserved is known of them, also where no job of such a user was there."""
    names = pd.DataFrame({"kind": "user", "number": [7], "name": ["2"]})
    trace = Trace.from_columns(job_number=[1], submit_time=[0], run_time=[3], requested_processors=[2], user_id=[3])
    table = replace(HAND.workload().table, outages=outages_of((0, 0, 50, RESERVATION, ALWAYS, 1)))
    with all_interpreted():
        stepper = Stepper(replace(trace, names=names), "easy", machine=table, compiled=False).run(until=1.0)
        stepper = saved(stepper) if is_saved else stepper
        assert stepper.waiting.tolist() == [0]
        for user in (3, 7, 1, 8):  # 7 is called 2, and 1 has no name
            stepper.submit(1, 10.0, user=user)
        runs = runs_of(stepper.finish())
    assert [(start, nodes) for _, start, _, nodes, _ in runs] == [
        *((50.0, "0-1"), (1.0, "1"), (1.0, "0"), (11.0, "0"), (11.0, "1")),
    ]


@pytest.mark.parametrize(
    "names", [[["user", "7", "2"]], [["user", -1, "2"]], [[3, 7, "2"]], [["user", 7, None]], [[1]], 3]
)
def test_names_that_are_none(names: Any) -> None:
    """Words behind numbers, or an error."""
    arrays = packed_arrays.unpack(state_at(0.0))
    head = json.loads(arrays["head"].tobytes()) | {"names": names}
    arrays["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)
    with pytest.raises(StateError):
        Stepper.from_bytes(packed_arrays.pack(arrays))
