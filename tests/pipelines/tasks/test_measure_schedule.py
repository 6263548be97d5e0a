# SPDX-License-Identifier: BSD-3-Clause
"""Simulating and measuring are two stages; what each depends on, and what of a schedule is measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import swftools
from pipelines.tasks import augmented
from pipelines.tasks.compare import ComparePolicies
from pipelines.tasks.engines.batches import run_task
from pipelines.tasks.measure import MeasureSchedule
from pipelines.tasks.simulate import SimulatePolicy
from swftools.errors import ParameterError
from swftools.simulator import find_policy, registry, simulate
from swftools.simulator.metrics.measures import measure
from tests.pipelines.luigi_runs import SWFTOOLS, run
from tests.pipelines.small_logs import build, small_log

LOG = "lublin-feitelson:jobs=200,processors=64,load=0.9,types=mix,seed=3"


def trace_of_log() -> swftools.Trace:
    """Return the cleaned trace of the log, by the functions."""
    made = swftools.models.lublin_feitelson.generate(200, processors=64, load=0.9, types="mix", seed=3)
    return swftools.clean(made)[0]


def measured(data_root: Path, **parameters: Any) -> MeasureSchedule:
    """Run the task and return it."""
    task = MeasureSchedule(**{"log": LOG, "data_root": str(data_root), "augment": "", **parameters})
    assert build(task)
    return task


def test_other_metrics_do_not_simulate_again(tmp_path: Path) -> None:
    """Another bound, and other queues, are measured of the schedule that is there."""
    first = measured(tmp_path)
    schedules = {path: path.stat().st_mtime_ns for path in (tmp_path / ".work" / "simulated").glob("[!.]*/*")}
    others = [measured(tmp_path, metrics="bound=60"), measured(tmp_path, unmeasured_queues="0")]
    assert schedules == {path: path.stat().st_mtime_ns for path in (tmp_path / ".work" / "simulated").glob("[!.]*/*")}
    assert (
        3 == len({task.key for task in (first, *others)}) == len(list((tmp_path / ".work" / "measured").glob("[!.]*")))
    )
    assert 1 == len({task.simulation.key for task in (first, *others)})


def test_a_schedule_that_is_handed_on_is_measured_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker does not read again what it has just simulated; who comes later reads it."""
    monkeypatch.setattr(augmented, "LONG", 10)
    apart = measured(tmp_path / "a", augment="utility", unmeasured_queues="0")
    at_once = MeasureSchedule(log=LOG, data_root=str(tmp_path / "b"), augment="utility", unmeasured_queues="0")
    read: list[Path] = []
    taken = augmented.taken_on
    monkeypatch.setattr(
        "pipelines.tasks.simulate.taken_on",
        lambda path: read.append(path) or taken(path),  # type: ignore[func-returns-value]
    )
    with augmented.keep_trace():
        run_task(at_once.requires())
        assert list(augmented._kept_schedule) == [at_once.simulation.output().path]
        run_task(at_once)
        assert read == [at_once.simulation.output().path]
        assert not augmented._kept_schedule
    augmented.forget_trace()
    pd.testing.assert_frame_equal(at_once.load_metrics(), apart.load_metrics())
    assert at_once.load_assumptions() == apart.load_assumptions()
    assert (at_once.simulation.output().path / "schedule.parquet").read_bytes() == (
        apart.simulation.output().path / "schedule.parquet"
    ).read_bytes()


def test_a_kept_schedule_is_the_schedule(tmp_path: Path) -> None:
    """What is read back is what the function returns, and is measured alike."""
    task = measured(tmp_path, policy="conservative", metrics="bound=60")
    ours, theirs = task.simulation.load_schedule(), simulate(trace_of_log(), "conservative")
    for table in ("jobs", "segments", "excluded"):
        pd.testing.assert_frame_equal(getattr(ours, table), getattr(theirs, table), check_dtype=False)
    assert (ours.processors, ours.policy) == (theirs.processors, theirs.policy)
    counted = {name: value for name, value in theirs.options.items() if name != "dependencies"}  # of which it has none
    assert ours.options == counted
    pd.testing.assert_frame_equal(task.load_metrics(), pd.DataFrame(measure(theirs, bound=60)))


def test_any_column_of_times_may_be_the_nominal_time(tmp_path: Path) -> None:
    """Also one that is left unread else."""
    log = tmp_path / "log.swf"
    log.write_text(small_log(header="; MaxProcs: 4\n").replace("60 4 -1", "60 4 30"))  # 30 s of CPU in 60 s
    values = []
    for nominal in ("run_time", "average_cpu_time"):
        rows = measured(tmp_path / "data", log=str(log), metrics=f"nominal={nominal}").load_metrics()
        values.append(rows.set_index(["measure", "statistic"])["value"]["expansion_factor", "mean"])
    assert values[1] == 2 * values[0] > 2


def test_queues_left_out_are_simulated_but_not_measured(tmp_path: Path) -> None:
    """The jobs of the others are measured; the machine had all of them."""
    whole, part = measured(tmp_path).load_metrics(), measured(tmp_path, unmeasured_queues="0").load_metrics()
    schedule = simulate(trace_of_log(), "easy")
    batch = schedule.jobs["queue_id"].to_numpy() == 1
    expected = measure(schedule, where=batch)

    def jobs(frame: pd.DataFrame, name: str) -> int:
        return int(frame.loc[frame["measure"] == name, "jobs"].iloc[0])

    assert 0 < batch.sum() < len(batch)
    assert (len(batch), int(batch.sum())) == (jobs(whole, "wait"), jobs(part, "wait"))
    assert len(batch) == jobs(part, "utilization")
    assert np.allclose(expected["value"], part["value"], equal_nan=True)


def test_a_queue_that_no_job_is_of_is_refused(tmp_path: Path) -> None:
    """By name, with the queues there are; after the simulation, which is kept."""
    result = run([*SWFTOOLS, "run", "MeasureSchedule", "--log", LOG, "--unmeasured-queues", "77,0"], tmp_path)
    assert 30 == result.returncode
    assert "error: unmeasured_queues: no job is of queue 77; the queues of" in result.stderr
    assert "are 0, 1" in result.stderr
    assert "Traceback" not in result.stderr
    assert measured(tmp_path / "data").complete()


def test_the_seed_reaches_the_simulation(tmp_path: Path) -> None:
    """What policies are told is drawn by it: another seed, another schedule, and that of the function."""
    starts = []
    for seed in (1, 2):
        task = measured(tmp_path, seed=seed, predictor="virtual:error=0.5")
        starts.append(task.simulation.load_schedule().jobs["start_time"].tolist())
        expected = simulate(trace_of_log(), "easy", seed=seed, predictor="virtual:error=0.5")
        assert expected.jobs["start_time"].tolist() == starts[-1]
        assert seed == task.simulation.load_schedule().options["seed"]
    assert starts[0] != starts[1]


def test_the_version_of_a_policy_is_that_of_its_simulations_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Raising it leaves the simulations of other policies as they are."""
    tasks = [SimulatePolicy(log=LOG, data_root=str(tmp_path), augment="", policy=name) for name in ("easy", "fcfs")]
    before = [task.key for task in tasks]
    monkeypatch.setitem(registry.POLICIES.known, "easy", replace(find_policy("easy"), version=7))
    after = [task.key for task in tasks]
    assert before[0] != after[0]
    assert before[1] == after[1]


def test_a_policy_that_needs_ranks_wants_the_augmentation_that_makes_them(tmp_path: Path) -> None:
    """Said before anything runs, of whatever simulates."""
    where = {"log": LOG, "data_root": str(tmp_path), "augment": ""}
    for task in (SimulatePolicy, MeasureSchedule):
        for policy in ("prio-fifo", "pv-easy:order=rank"):
            name = policy.partition(":")[0]
            with pytest.raises(ParameterError, match=f"'{name}' needs priority_rank, which the augmentation 'utility'"):
                task(**where, policy=policy)
        task(**where, policy="pv-easy")
    with pytest.raises(ParameterError, match="prio-fifo"):
        _ = ComparePolicies(**where, policies="easy,prio-fifo").version


def test_a_policy_of_ranks_is_refused_where_all_jobs_have_one(tmp_path: Path) -> None:
    """Its row in the table would be that of EASY; with ranks given it is a row of its own."""
    log = tmp_path / "log.swf"
    log.write_text(small_log(9).replace(" 3 -1 -1 -1\n", " 5 -1 -1 -1\n", 4))
    command = [*SWFTOOLS, "compare", "--log", str(log), "--policies", "easy,prio-fifo"]
    refused = run(command, tmp_path)
    assert 30 == refused.returncode
    assert "policy 'prio-fifo' needs priority_rank, which is the same for all jobs of" in refused.stderr
    assert '\'{"utility": {"queue_ranks": ' in refused.stderr
    assert "prio-fifo" not in refused.stdout
    ranks = '{"utility": {"queue_ranks": {"5": 1, "3": 0}}}'
    assert 0 == run([*command, "--parameters", ranks], tmp_path).returncode


@pytest.mark.parametrize("model", ["cirne-berman", "simple"])
def test_curves_of_one_kind_are_not_refused(model: str, tmp_path: Path) -> None:
    """All curves are of Downey, or none has his parameters: jobs differ by their widths all the same."""
    (tmp_path / "log.swf").write_text(small_log(9))
    where = {"log": str(tmp_path / "log.swf"), "data_root": str(tmp_path / "data"), "augment": "speedup"}
    task = SimulatePolicy(**where, parameters={"speedup": {"model": model}}, policy="scojo-p")
    assert build(task)
    assert 9 == len(task.load_schedule().jobs)


def test_a_lone_job_is_not_refused(tmp_path: Path) -> None:
    """Of one job nothing can be the same."""
    (tmp_path / "log.swf").write_text(small_log(1))
    where = {"log": str(tmp_path / "log.swf"), "data_root": str(tmp_path / "data")}
    assert build(SimulatePolicy(**where, policy="prio-fifo"))
