# SPDX-License-Identifier: BSD-3-Clause
"""What schedules on nodes tell of partitions; and who says that it knows no nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from swftools import MachineDescription, Schedule, Trace, simulate
from swftools.errors import ParameterError
from swftools.machines import requests
from swftools.reservations import simulate_reservations
from swftools.simulator.machine.events import SUBMISSION
from swftools.simulator.machine.state import Machine
from swftools.simulator.machine.verbs import predict
from swftools.simulator.predictors.registry import predictor
from swftools.simulator.questions.fit_semantics import fit_semantics
from swftools.simulator.questions.policy_watch import watch_policies
from swftools.simulator.validation.report import validate
from tests.nodes_drawn import draw_machine, draw_workload
from tests.simulator.nodes.test_away import outages_by_lot
from tests.simulator.nodes.test_engine import log_of

ONE = draw_machine("cores / 4", "p:0")
AWAY = replace(ONE, outages=outages_by_lot(1, len(ONE)))


def log(widths: tuple[int, int, int] = (3, 4, 1)) -> Trace:
    """Return three jobs, the last of which may go ahead of the second."""
    return Trace.from_columns(
        job_number=[1, 2, 3],
        submit_time=[0, 1, 2],
        run_time=[10, 10, 5],
        requested_time=[10, 10, 5],
        requested_processors=widths,
    )


# ---------------------------------------------------------------- what is not simulated


def test_what_is_not_simulated_is_assumed(tmp_path: Path) -> None:
    """However the machine is given; a pool has nothing of it."""
    content = {"nodes": [{"names": "n[1-4]", "cores": 1}], "licences": {"matlab": 3}, "notes": ["made up"]}
    machine = MachineDescription.from_mapping(content)
    (tmp_path / "m.yaml").write_text(machine.to_yaml())
    for given in (machine, machine.table(), tmp_path / "m.yaml"):
        told = [text for text in simulate(log(), "fcfs", machine=given).assumptions if text.startswith("machine: ")]
        assert told == [
            "machine: memory is not known, and never lacks (n[1-4])",
            "machine: licences: not modelled (matlab 3)",
            "machine: made up",
        ]
    assert not any(text.startswith("machine") for text in simulate(log(), "fcfs", 4).assumptions)


# ---------------------------------------------------------------- run times that are predicted anew


@predictor("shorter-by-and-by", events=(SUBMISSION,))
def shorter_by_and_by(event: int, machine: Machine, job: int) -> None:
    """Predict the second job to take a second, as soon as the fifth is there."""
    if job == 4:
        predict(machine, 1, 1.0)


def test_a_reservation_of_another_length() -> None:
    """B, which has a reservation, is then to end sooner, so that the reservation of C is too early for E."""
    jobs = (
        "job submit run cores nodes partition / A 0 10 1 1 p / B 1 5 1 1 p / C 2 5 1 2 q / D 2 40 1 1 q / E 3 10 1 1 q"
    )
    workload = draw_workload("count / 2", "p:0 q:0-1", jobs)
    schedules = {}
    for told in ("request", "shorter-by-and-by"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(requests, "ask_of", lambda trace, table, **others: workload.asked)
            schedules[told] = (
                simulate(log_of(workload), "easy", machine=workload.table, predictor=told, compiled=False)
                .jobs["start_time"]
                .tolist()
            )
    assert schedules == {"request": [0, 10, 15, 20, 3], "shorter-by-and-by": [0, 10, 15, 20, 20]}


# ---------------------------------------------------------------- partitions


@pytest.mark.parametrize(
    ("partitions", "want"),
    [
        ("p:0-1 q:1-3", ["p", "q", "p"]),
        ("p:0-1 q:0-3", ["q", "q", "q"]),
        ("p:0-3", ["p", "p", "p"]),
    ],
)
def test_partition_of_jobs_that_name_none(partitions: str, want: list[str]) -> None:
    """It is the one that has all nodes; where there is none the first in which they fit."""
    trace = log()
    schedule = simulate(trace, "fcfs", machine=draw_machine("count cores / 4 2", partitions))
    assert schedule.segments["partition"].tolist() == want
    assert validate(schedule, trace=trace).ok


@pytest.mark.parametrize("placement", ["first-fit", "lowest-weight"])
def test_partition_in_another_order_of_nodes(placement: str) -> None:
    """Partitions are told by the numbers of nodes, whatever the order in which the placement looks at them."""
    table = draw_machine("cores weight / 2 9 / 2 5 / 2 1", "1:0-1 2:1-2")
    trace = log((2, 2, 2))
    named = trace.jobs.assign(partition_id=pd.array([1, 2, 2], dtype="Int64"))
    schedule = simulate(trace.with_jobs(named), "fcfs", machine=table, placement=placement, compiled=False)
    assert schedule.segments["partition"].tolist() == ["1", "2", "2"]


# ---------------------------------------------------------------- what knows no nodes


def on_one(trace: Trace, policy: str = "easy") -> Schedule:
    """Return a schedule on one node."""
    return simulate(trace, policy, machine=ONE)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (
            lambda trace: simulate_reservations(trace, "easy", options={"machine": ONE}),
            "reservations are of a pool of processors; give processors= in place of machine=",
        ),
        (
            lambda trace: fit_semantics(on_one(trace), trace),
            "the schedule is one on nodes, of which other simulators' rules are not known yet",
        ),
        (
            lambda trace: simulate(trace, "easy", machine=ONE, semantics="pyss"),
            "semantics='pyss' is of a pool of processors; leave it out, or give processors= (--processors)",
        ),
        (
            lambda trace: simulate(trace, "easy", 4, machine=ONE),
            "processors= (--processors) and machine= (--machine) are both given: they are two machines; give one",
        ),
        (
            lambda trace: simulate(trace, "easy", 4, heads="machine"),
            "heads='machine' is of a machine of nodes; give machine= (--machine) too",
        ),
        (
            lambda trace: simulate(trace, "easy", 4, placement="best-fit"),
            "placement='best-fit:sparing=true' is of a machine of nodes; give machine= (--machine) too",
        ),
        (
            lambda trace: simulate(trace, "easy", machine=7),
            "machine of type int: give the path of a file, a MachineDescription, or a NodeTable",
        ),
    ],
)
def test_who_knows_no_nodes_says_so(what: Callable[[Trace], object], said: str) -> None:
    """In one sentence that says what to do."""
    with pytest.raises(ParameterError) as caught:
        what(log())
    assert str(caught.value) == said


@pytest.mark.parametrize("policy", ["search", "pv-easy"])
def test_policies_that_count_processors(policy: str) -> None:
    """They say which ones work."""
    trace = log()
    ranked = trace.with_jobs(
        trace.jobs.assign(priority_rank=pd.array([0, 1, 1], dtype="Int64"), checkpoint_interval=5.0)
    )
    with pytest.raises(
        ParameterError,
        match=rf"{policy}.*does not work on a machine of nodes yet.*these do: conservative, .*easy, fcfs, ljf",
    ):
        simulate(ranked, policy, machine=ONE)


def test_policies_are_watched_on_nodes() -> None:
    """What simulates and measures, and no more, takes a machine of nodes as it is."""
    found = watch_policies(log(), ["easy", "fcfs"], machine=ONE, seeds=2, warm_up_days=0.0)
    waits = found[(found["measure"] == "wait") & (found["statistic"] == "mean")].set_index("policy")["value"]
    assert waits["fcfs"] > waits["easy"] > 0
