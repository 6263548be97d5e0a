# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that are submitted to a simulation on nodes while it runs are as jobs of its log."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace, simulate
from swftools.errors import ParameterError, PolicyError
from swftools.simulator import Stepper
from tests.interpreted import all_interpreted
from tests.nodes_drawn import draw_machine, random_workload
from tests.simulator.nodes.test_engine import log_of
from tests.simulator.nodes.test_stepping_on_nodes import runs_of

RUNS = [
    *(("easy", "first-fit"), ("fcfs", "best-fit"), ("conservative", "fewest-switches"), ("sjf", "worst-fit")),
    *(("conservative-replanned", "first-fit"), ("easy:reservations=2", "lowest-weight")),
]

ASKED = (
    *("requested_nodes", "requested_cores_per_node", "requested_memory_per_node", "requested_gpus_per_node"),
    *("is_exclusive", "partition_id", "priority_rank"),
)


def told_log(seed: int) -> tuple[Trace, Any]:
    """Return jobs by lot whose columns tell what they ask for, and the machine."""
    workload = random_workload(seed, is_plain=True, most_jobs=30)
    asked, trace = workload.asked, log_of(workload)
    columns = {
        "requested_nodes": asked.nodes,
        "requested_cores_per_node": asked.cores.astype(float),
        "requested_memory_per_node": asked.memory.astype(float),
        "requested_gpus_per_node": asked.gpus / 1000,
        "is_exclusive": asked.is_exclusive,
        "partition_id": np.array([asked.places[place].partitions[0] if place >= 0 else -1 for place in asked.place]),
    }
    jobs = trace.jobs.assign(**columns)[asked.code == 0].reset_index(drop=True)
    partitions = [partition.name for partition in workload.table.partitions]
    names = pd.DataFrame({"kind": "partition", "number": np.arange(len(partitions)), "name": partitions})
    return replace(trace.with_jobs(jobs), names=names), workload.table


def check_submitted(seed: int, compiled: bool) -> None:
    """Check that jobs that are submitted one after the other start when and where those of a log do."""
    trace, machine = told_log(seed)
    policy, placement = RUNS[seed % len(RUNS)]
    options = {"machine": machine, "placement": placement, "heads": ("partition", "machine")[seed % 2]}
    every = 2 if seed % 4 else len(trace)  # that come with the log: each second, or the first alone
    stepper = Stepper(
        trace.with_jobs(trace.jobs.iloc[::every].reset_index(drop=True)), policy, **options, compiled=compiled
    )
    for job in trace.jobs.drop(index=trace.jobs.index[::every]).to_dict("records"):
        known = {name: None if pd.isna(value) else value for name, value in job.items()}
        stepper.run(before=known["submit_time"])
        stepper.submit(
            *(known[name] for name in ("requested_processors", "requested_time", "run_time")),
            at=known["submit_time"],
            job_number=known["job_number"],
            **{name: known[name] for name in ASKED},
        )
    assert runs_of(stepper.finish()) == runs_of(simulate(trace, policy, **options, compiled=compiled))


@pytest.mark.parametrize("seed", range(7000, 7012))
def test_as_jobs_of_the_log(seed: int) -> None:
    """Whatever they ask for, wherever no other job was yet, and however much room must be made."""
    with all_interpreted():
        check_submitted(seed, compiled=False)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_as_jobs_of_the_log_compiled(part: int) -> None:
    """The same on 200 machines."""
    for seed in range(7100 + part, 7300, 5):
        check_submitted(seed, compiled=True)


MACHINE = draw_machine("count cores memory gpus / 2 4 64 0 / 2 8 128 2", "p:0-1 q:1-3")


def stepper_at_5() -> Stepper:
    """Return a simulation with a job on each node, of a log that tells widths only."""
    trace = Trace.from_columns(
        job_number=[1, 2, 3], submit_time=[0, 0, 40], run_time=[30, 9, 5], requested_processors=[12, 3, 1]
    )
    return Stepper(trace, "easy", machine=MACHINE, compiled=False).run(until=5)


def test_what_a_log_does_not_tell_may_be_asked_for() -> None:
    """Nodes, cores, memory, GPUs of nodes, and whole nodes, also where no job of the log has such a column."""
    with all_interpreted():
        stepper = stepper_at_5()
        assert [stepper.nodes_of(job).tolist() for job in stepper.running] == [[0], [2, 3]]
        gpus = stepper.submit(None, 10, requested_nodes=1, requested_gpus_per_node=2.0)
        whole = stepper.submit(None, 10, requested_nodes=1, is_exclusive=True)
        room = stepper.submit(None, 10, requested_nodes=2, requested_cores_per_node=1.0, requested_memory_per_node=100)
        assert stepper.would_start(1, 5.0) == 5.0
        assert stepper.would_start(16, 5.0) == 30.0
        nodes = runs_of(stepper.finish())
    told = stepper.schedule().segments.set_index("job_number")
    numbers = [stepper.job_number(job) for job in (gpus, whole, room)]
    assert [nodes[number][2] for number in numbers] == [[2, 2], [1, 1], [2, 3]]
    assert told["gpus_per_node"].loc[numbers].tolist() == [2.0, 0.0, 0.0]
    assert told["is_exclusive"].loc[numbers].tolist() == [False, True, False]
    assert told["memory_per_node"].loc[numbers].tolist()[2] == 100


def test_a_place_where_no_job_was_yet() -> None:
    """A job that waits for nodes of a partition of which no other job is starts when they are free."""
    trace = Trace.from_columns(
        job_number=[1, 2], submit_time=[0, 0], run_time=[30, 9], requested_processors=[8, 4], partition_id=[0, 0]
    )
    names = pd.DataFrame({"kind": "partition", "number": [0, 1], "name": ["q", "p"]})
    with all_interpreted():
        stepper = Stepper(replace(trace, names=names), "easy", machine=MACHINE, compiled=False).run(until=5)
        whole = {job: stepper.nodes_of(job).tolist() for job in stepper.running.tolist()}
        assert whole == {0: [2], 1: [1]}
        new = stepper.submit(8, 10, requested_nodes=2, requested_cores_per_node=4.0, partition_id=1)
        assert stepper.run(until=8).waiting.tolist() == [new]
        assert runs_of(stepper.finish())[stepper.job_number(new)] == (9, 19, [0, 1])


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ({"processors": 0}, "processors=0 is not a whole number from 1 on"),
        ({"requested_nodes": 5}, "no such job can be simulated: asks for more nodes"),
        ({"processors": 1, "requested_gpus_per_node": 3.0}, "no such job can be simulated: asks for more GPUs"),
        ({"processors": 1, "colour": 3}, "the jobs of this simulation have no column colour"),
    ],
)
def test_jobs_that_cannot_be(job: dict[str, Any], said: str) -> None:
    """They are refused in one sentence, and the simulation goes on."""
    with all_interpreted():
        stepper = stepper_at_5()
        with pytest.raises(ParameterError, match=said):
            stepper.submit(**job, requested_time=10)
        assert len(stepper.finish()) == 3


def test_what_counts_processors_is_refused() -> None:
    """With what to do in place of it."""
    with all_interpreted():
        stepper = stepper_at_5()
        with pytest.raises(
            PolicyError,
            match=r"take_away\(\) counts processors of a pool, and this is a machine of nodes; describe out",
        ):
            stepper.take_away(3)


def test_ends_and_cancellations() -> None:
    """A job that ends early, or leaves, gives its nodes back, and others start there."""
    with all_interpreted():
        stepper = stepper_at_5()
        wide = stepper.submit(None, 10, requested_nodes=2, requested_cores_per_node=8.0)
        also = stepper.submit(None, 10, requested_nodes=2, requested_cores_per_node=8.0)
        stepper.run(until=7)
        first = int(stepper.running[-1])
        stepper.end(first, at=8.0).run(until=8)
        assert stepper.nodes_of(wide).tolist() == [2, 3]
        stepper.cancel(wide).run(until=9)
        assert stepper.nodes_of(also).tolist() == [2, 3]
        assert stepper.first_start(also) == 8.0
