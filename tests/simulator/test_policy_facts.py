# SPDX-License-Identifier: BSD-3-Clause
"""What a policy's decorator may say: a memory made by parameters, columns by a function, notes; and all at once."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import ParameterError
from swftools.kernel import FloatArray
from swftools.parameters import Parameters, truth, whole
from swftools.simulator import Policy, Simulation, find_policy, first_waiting, fits, now, policy, simulate, start
from swftools.simulator.registry import POLICIES

TRACE = Trace.from_columns(
    machine_processors=4,
    job_number=[7, 8, 9],
    submit_time=[0, 1, 2],
    run_time=[10, 10, 5],
    requested_time=[10, 10, 5],
    requested_processors=[3, 4, 1],
)


class Diary(NamedTuple):
    """Pairs of a job and its start, and how many there are."""

    rows: FloatArray
    count: FloatArray


@dataclass(frozen=True)
class DiaryParameters(Parameters):
    """How many pairs there is room for, and whether queues are asked for."""

    room: int = whole(2, least=1)
    by_queue: bool = truth(False)


def diary_memory(jobs: int, processors: int, parameters: DiaryParameters) -> Diary:
    """Return room as the parameters say."""
    assert jobs >= 1
    assert processors >= 1
    return Diary(np.zeros(2 * parameters.room), np.zeros(1))


def diary_columns(values: Any) -> tuple[str, ...]:
    """Return the column that is needed."""
    return ("priority_rank",) if values["by_queue"] else ()


def diary_notes(memory: Diary, parameters: DiaryParameters) -> dict[str, pd.DataFrame]:
    """Return the pairs, and how many there was room for."""
    pairs = memory.rows.reshape(-1, 2)[: int(memory.count[0])]
    started = pd.DataFrame({"begin": pairs[:, 1], "job": pairs[:, 0].astype(np.int64), "room": parameters.room})
    return {"started": started, "whole": pd.DataFrame({"rows": [len(pairs)]})}


@policy(
    "test-diary",
    parameters=DiaryParameters,
    memory=diary_memory,
    needs_where=diary_columns,
    notes=diary_notes,
    version=1,
)
def diary(machine: Any, memory: Diary) -> None:
    """Start in order of submission, and write it down as long as there is room."""
    while fits(machine, first_waiting(machine)):
        job = first_waiting(machine)
        start(machine, job)
        at = 2 * int(memory.count[0])
        if at < len(memory.rows):
            memory.rows[at], memory.rows[at + 1] = job, now(machine)
            memory.count[0] += 1


@pytest.mark.parametrize("compiled", [True, False, "checked"])
def test_notes(compiled: bool | str) -> None:
    """A memory is made by the parameters, and what stands in it at the end becomes tables, jobs by their keys."""
    schedule = simulate(TRACE, "test-diary", room=5, compiled=compiled)
    assert list(schedule.notes) == ["started", "whole"]
    assert schedule.notes["started"].to_dict("list") == {
        "begin": [0.0, 10.0, 20.0],
        "job_number": [7, 8, 9],
        "job_occurrence": [0, 0, 0],
        "room": [5, 5, 5],
    }
    assert simulate(TRACE, "test-diary", compiled=compiled).notes["whole"]["rows"].tolist() == [2]


def test_notes_so_far() -> None:
    """A simulation that is stopped has the notes so far, and its copy goes on by itself."""
    simulation = Simulation(TRACE, "test-diary", room=5).run(until=10)
    copy = simulation.copy().run()
    assert simulation.notes["started"]["begin"].tolist() == [0.0, 10.0]
    assert copy.notes["started"]["begin"].tolist() == [0.0, 10.0, 20.0]
    assert simulation.schedule().notes["started"]["job_number"].tolist() == [7, 8]


def test_none() -> None:
    """Other policies have no notes."""
    assert simulate(TRACE, "easy").notes == {}
    assert Simulation(TRACE, "easy").notes == {}


def test_columns_by_a_function() -> None:
    """The columns that a policy needs may depend on its parameters in any way."""
    assert find_policy("test-diary").needed({}) == ()
    assert find_policy("test-diary").needed({"by_queue": True}) == ("priority_rank",)
    with pytest.raises(ParameterError, match="policy 'test-diary' needs priority_rank, which the trace lacks"):
        simulate(TRACE, "test-diary", by_queue=True)


FACTS: dict[str, Any] = {
    "when": "If somebody looks.",
    "parameters": DiaryParameters,
    "memory": diary_memory,
    "variants": lambda values: diary,
    "of_memory": lambda memory: diary,
    "rests": True,
    "needs": ("user_id",),
    "needs_where": {("by_queue", True): ("queue_id",)},
    "promises": ("one promise",),
    "promises_where": {"another": {"by_queue": True}},
    "restates": ("pyss",),
    "restated_by": {"pyss": ("fcfs", {})},
    "notes": diary_notes,
    "carry": lambda old, new, jobs: None,
    "restore": lambda old, new, machine: None,
    "shown": lambda memory, jobs, table: {},
    "gone": lambda memory: np.zeros(0),
    "allocates": False,
    "takes_long": "it looks at all",
    "version": 3,
}
"""Another value than the default for everything that the decorator says."""


def test_every_fact_reaches_the_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under its own name, and with the default that the policy has itself."""
    for part in ("known", "_sources"):
        monkeypatch.setattr(POLICIES, part, dict(getattr(POLICIES, part)))
    monkeypatch.setattr(DiaryParameters, "NAME", "test-all-facts")
    taken = inspect.signature(policy).parameters
    assert list(taken) == ["name", *(fact for fact in taken if fact in FACTS or fact == "usual")]
    assert set(FACTS) == set(taken) - {"name", "usual"}
    policy("test-all-facts", **FACTS)(diary)
    made = find_policy("test-all-facts")
    assert {fact: getattr(made, fact) for fact in FACTS} == FACTS
    assert made.decide is diary
    usual = {each.name: each.default for each in fields(Policy)}
    assert {fact for fact in FACTS if taken[fact].default not in (None, usual[fact])} == set()
    policy("test-no-facts")(diary_of_nothing)
    assert find_policy("test-no-facts") == Policy("test-no-facts", diary_of_nothing)


def diary_of_nothing(machine: Any) -> None:
    """Decide nothing."""
