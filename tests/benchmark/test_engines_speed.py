# SPDX-License-Identifier: BSD-3-Clause
"""What engines take a cell beside its own work; how two workers do beside one; how fast finished cells are found."""

from __future__ import annotations

import json
import resource
import time
from pathlib import Path
from typing import Any

import luigi
import pytest

from pipelines.tasks.engines.dask_cluster import Dask
from pipelines.tasks.engines.pool import Pool
from pipelines.tasks.publish_experiment import PublishExperiment
from tests.pipelines.dask_processes import cluster
from tests.pipelines.trial_cells import trial_cells


@pytest.mark.benchmark(group="engines")
@pytest.mark.parametrize("processes", [1, 2])
def test_a_second_each(benchmark: Any, tmp_path: Path, processes: int) -> None:
    """200 cells that sleep for one second each: what is more than 200 s by the workers is overhead."""
    cells = trial_cells(tmp_path, 200, 1.0)
    begun = time.perf_counter()
    benchmark.pedantic(lambda: Pool(processes).run(cells, lambda _: None), rounds=1)
    seconds = time.perf_counter() - begun
    benchmark.extra_info["overhead_a_cell_ms"] = round(1000 * (seconds * processes - 200) / 200, 2)


@pytest.mark.benchmark(group="engines")
def test_cells_that_compute(benchmark: Any, tmp_path: Path) -> None:
    """40 cells that compute for one second each, two workers: CPU of all processes, to which others at work add little.

    On two free cores the workers need half of it: so many times as fast they are as one without overhead.
    """
    cells = trial_cells(tmp_path, 40, 1.0, **{f"n{number}": "burns" for number in range(40)})
    before = _cpu_seconds()
    benchmark.pedantic(lambda: Pool(2).run(cells, lambda _: None), rounds=1)
    seconds = _cpu_seconds() - before
    benchmark.extra_info |= {"CPU s": round(seconds, 2), "times_one": round(2 * 40 / seconds, 3)}


def _cpu_seconds() -> float:
    """Return what this process and those that it waited for took of CPUs."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


@pytest.mark.benchmark(group="engines")
@pytest.mark.parametrize("engine", ["pool", "dask"])
def test_overhead(benchmark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """400 cells without work, two workers: all of it is overhead, also the two files that each writes."""
    monkeypatch.chdir(tmp_path)
    cells = trial_cells(tmp_path / "data", 400)
    if engine == "pool":
        benchmark.pedantic(lambda: Pool(2).run(cells, lambda _: None), rounds=1)
        return
    with cluster(tmp_path / "dask", 2) as made:
        Dask(made.address).run(trial_cells(tmp_path / "before", 8), lambda _: None)  # workers import the package
        benchmark.pedantic(lambda: Dask(made.address).run(cells, lambda _: None), rounds=1)


@pytest.mark.benchmark(group="engines")
def test_finished_cells_are_found(benchmark: Any, tmp_path: Path) -> None:
    """1,000 cells that are there: the task is made, and found complete."""
    experiment = json.dumps(
        {
            "name": "many",
            "logs": ["lublin-feitelson:jobs=20,processors=8,seed=1"],
            "policies": ["easy", "fcfs"],
            "shakes": list(range(500)),
            "augment": "none",
        }
    )
    task = PublishExperiment(data_root=str(tmp_path), experiment=experiment, processes=2)
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")

    def again() -> None:
        luigi.Task.clear_instance_cache()
        made = PublishExperiment(data_root=str(tmp_path), experiment=experiment)
        assert all(cell.is_done() for cell in made.cells[:1])
        assert made.complete()

    benchmark.pedantic(again, rounds=3)
