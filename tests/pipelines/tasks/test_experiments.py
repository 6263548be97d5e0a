# SPDX-License-Identifier: BSD-3-Clause
"""PublishExperiment and its command: what is published, that engines agree, and faults."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import luigi
import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from pipelines.experiments.file import read_experiment
from pipelines.tasks import simulate
from pipelines.tasks.compare import ComparePolicies
from pipelines.tasks.engines import CellOutcome
from pipelines.tasks.engines.pool import Pool
from pipelines.tasks.measure import MeasureSchedule
from pipelines.tasks.publish_experiment import PublishExperiment
from swftools.errors import ParameterError, SwfToolsError
from swftools.fields import dictionary
from swftools.parameters.run_option_table import RUN_OPTIONS, WHERE_SET
from swftools.simulator.registry import read_policy
from tests.folders import ROOT
from tests.pipelines.luigi_runs import SWFTOOLS, run

EXAMPLES = ROOT / "examples"
LOG = "lublin-feitelson:jobs=60,processors=64,load=0.9,seed={}"
SMALL: dict[str, Any] = {
    "name": "small",
    "logs": [LOG.format(1), LOG.format(2)],
    "policies": ["easy", {"policy": "easy", "reservations": 2}],
    "shakes": [0, 3],
    "augment": "none",
}


def publish(root: Path, experiment: dict[str, Any], **parameters: Any) -> PublishExperiment:
    """Build in this process and return the finished task."""
    task = PublishExperiment(data_root=str(root), experiment=json.dumps(experiment), **parameters)
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    assert task.complete()
    return task


def table_of(task: PublishExperiment, table: str = "experiment") -> pd.DataFrame:
    """Read a published table."""
    return pd.read_parquet(f"{task.output().path}/{table}")


def test_a_row_a_cell_and_measure(tmp_path: Path) -> None:
    """Every cell is there once, with what MeasureSchedule says of it; files and facts are beside."""
    task = publish(tmp_path, SMALL, cell_lines=str(tmp_path / "lines.jsonl"))
    found = table_of(task)
    keys = ["log", "policy", "shake", "seed", "classed_by", "job_class", "measure", "statistic", "parameter"]
    assert not found.duplicated(keys).any()
    assert 8 == len(task.cells) == len(found.drop_duplicates(["log", "policy", "shake"]))
    for cell in task.cells:
        mine = found.query("log == @cell.found.name and shake == @cell.shake")
        label = cell.load_metrics()["policy"].iloc[0]
        assert mine[mine["policy"] == label]["value"].tolist() == pytest.approx(
            cell.load_metrics()["value"].astype(float).tolist(), nan_ok=True
        )
    differences = table_of(task, "experiment_differences")
    assert {"easy"} == set(differences["baseline"])
    assert {"easy(reservations=2)"} == set(differences["policy"])
    lines = [json.loads(line) for line in (tmp_path / "lines.jsonl").read_text().splitlines()]
    assert 8 == len(lines)
    assert {None} == {line["error"] for line in lines}
    page = (Path(task.output().path) / "experiment.md").read_text()
    assert "What the statistics take for granted" in page


@pytest.mark.parametrize(("overrun", "is_there"), [(["extend"], False), (["extend", "kill"], True)])
def test_an_option_that_came_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overrun: list[str], is_there: bool
) -> None:
    """Its column is in the files where it counts in some cell; without it, means and differences are told as before."""
    monkeypatch.setitem(simulate.SETTINGS, "overrun", replace(RUN_OPTIONS["overrun"], in_key=WHERE_SET))
    for table in ("experiment", "experiment_differences", "experiment_ranks"):
        fields = [replace(each, optional=each.optional or each.name == "overrun") for each in dictionary.TABLES[table]]
        monkeypatch.setitem(dictionary.TABLES, table, tuple(fields))
    small = {**SMALL, "logs": LOG.format(1), "policies": "easy", "shakes": [0], "overrun": overrun}
    task = publish(tmp_path, small)
    for table in ("experiment", "experiment_differences"):
        assert is_there == ("overrun" in table_of(task, table)), table
    told = task.heading(lambda: pq.read_table(f"{task.output().path}/experiment_differences"))
    assert ("overrun kill" in told) == is_there
    assert "| wait_mean" in told


def test_cells_are_those_of_a_comparison(tmp_path: Path) -> None:
    """One machinery: what a comparison has measured is there already."""
    task = PublishExperiment(data_root=str(tmp_path), experiment=json.dumps({**SMALL, "shakes": [0]}))
    other = ComparePolicies(
        data_root=str(tmp_path), log=LOG.format(1), policies="easy,easy:reservations=2", augment="none"
    )
    assert [cell.key for cell in other.cells] == [cell.key for cell in task.cells[:2]]


@pytest.mark.slow
def test_workers_change_nothing(tmp_path: Path) -> None:
    """A pool's version is that of one process, file by file."""
    one, two = (publish(tmp_path / str(n), SMALL, processes=n) for n in (1, 2))
    assert one.version == two.version
    names = sorted(p.relative_to(one.output().path) for p in Path(one.output().path).rglob("*") if p.is_file())
    assert len(names) > 6
    for name in names:
        assert (Path(one.output().path) / name).read_bytes() == (Path(two.output().path) / name).read_bytes()


def test_a_window_is_simulated_with_its_warm_up_and_measured_without(tmp_path: Path) -> None:
    """As select_jobs says; other windows are other cells."""
    window = {"lines": [20, 39], "warm_up": 1e9}
    task = publish(tmp_path, {**SMALL, "logs": LOG.format(1), "shakes": [0], "windows": [window]})
    found = table_of(task)
    assert {20} == set(found.query("measure == 'wait' and statistic == 'mean' and job_class == 'all'")["jobs"])
    assert 40 == len(task.cells[0].simulation.load_schedule().jobs)
    with pytest.raises(ParameterError, match="no condition 'line'"):
        PublishExperiment(data_root="data", experiment=json.dumps({**SMALL, "windows": ["line=3"]}))


def test_a_shake_is_another_run_and_none_is_the_log_itself(tmp_path: Path) -> None:
    """And shake 0 keeps the key that it had before there were shakes."""
    cells = [MeasureSchedule(data_root=str(tmp_path), log=LOG.format(1), shake=n) for n in (0, 1, 2)]
    assert 3 == len({cell.key for cell in cells})
    assert cells[0].key == MeasureSchedule(data_root=str(tmp_path), log=LOG.format(1), shake_seconds=9).key
    assert cells[1].key != cells[1].clone(shake_seconds=9).key
    for name in ("shake", "shake_seconds"):
        with pytest.raises(ParameterError, match=f"{name}=-1 is not"):
            MeasureSchedule(data_root="data", log=LOG.format(1), **{name: -1})


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_cell_that_fails_leaves_the_others(processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told with its cell, also as a line; nothing is published; mended, only it is run."""
    run_of = MeasureSchedule.run

    def fails(cell: MeasureSchedule) -> None:
        if cell.shake and "seed=2" in cell.log:
            raise ValueError("planted")
        run_of(cell)

    root = tmp_path / str(processes)
    task = PublishExperiment(
        data_root=str(root),
        experiment=json.dumps(SMALL),
        processes=processes,
        cell_lines=str(tmp_path / f"{processes}.jsonl"),
    )
    with monkeypatch.context() as patch:
        patch.setattr(MeasureSchedule, "run", fails)
        assert not luigi.build([task], local_scheduler=True, log_level="CRITICAL")
        with pytest.raises(SwfToolsError, match=r"2 of 8 cells failed.*seed=2.*ValueError: planted"):
            task.run()
    assert not task.complete()
    assert [True] * 4 + [True, False] * 2 == [cell.is_done() for cell in task.cells]
    lines = [json.loads(line) for line in (tmp_path / f"{processes}.jsonl").read_text().splitlines()]
    assert {"ValueError: planted", None} == {line["error"] for line in lines}
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")


def test_a_worker_that_is_killed_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a cell: the others and it are finished by a new pool, each counted once."""
    run_of, mark = MeasureSchedule.run, tmp_path / "killed"

    def dies_once(cell: MeasureSchedule) -> None:
        if cell.shake and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        run_of(cell)

    monkeypatch.setattr(MeasureSchedule, "run", dies_once)
    lines = tmp_path / "lines.jsonl"
    task = publish(tmp_path / "data", SMALL, processes=2, cell_lines=str(lines))
    assert mark.exists()
    assert 8 == len(lines.read_text().splitlines())
    assert 8 == len(table_of(task).drop_duplicates(["log", "policy", "shake"]))


@pytest.mark.slow
def test_workers_that_always_die_end_in_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After three pools without a cell finished, and no earlier."""
    task = PublishExperiment(data_root=str(tmp_path), experiment=json.dumps(SMALL), processes=2)
    assert luigi.build(task.stages(), local_scheduler=True)
    monkeypatch.setattr(MeasureSchedule, "run", lambda _: os.kill(os.getpid(), signal.SIGKILL))
    told: list[CellOutcome] = []
    failed = Pool(2).run(task.cells, told.append)
    assert list(range(8)) == sorted(each.number for each in failed) == sorted(each.number for each in told)
    assert all("a worker died each of 3 times" in each.error for each in failed)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policies": ["easi"]}, "easi"),
        ({"policies": ["easy", {"policy": "easy"}]}, "stands there twice, written in two ways"),
        ({"policies": ["prio-fifo"]}, "add it to --augment"),
        ({"logs": ["lublin-feitelson:job=3"]}, "job"),
        ({"predictors": ["magic"]}, "magic"),
        ({"overrun": ["maybe"]}, "maybe"),
    ],
)
def test_slips_are_told_before_any_work(change: dict[str, Any], message: str) -> None:
    """When the task is made."""
    with pytest.raises(SwfToolsError, match=message):
        PublishExperiment(data_root="data", experiment=json.dumps({**SMALL, **change}))


def test_a_plan_of_a_log_that_is_not_there(tmp_path: Path) -> None:
    """What could not be run is not planned either: status 20, as of the run."""
    (tmp_path / "gone.yaml").write_text(json.dumps({**SMALL, "logs": ["gone.swf"]}))
    planned = run([*SWFTOOLS, "experiment", "gone.yaml", "--dry-run"], tmp_path)
    assert (planned.returncode, planned.stdout) == (20, "")
    assert planned.stderr.startswith("error: log 'gone.swf' is neither a file nor a card of the catalogue")


def test_the_command(tmp_path: Path) -> None:
    """Says how many cells there are, runs them, prints what differs; again finds all done."""
    (tmp_path / "small.yaml").write_text(json.dumps({**SMALL, "subsets": {"one": {"shakes": [3]}}}))
    command = [*SWFTOOLS, "experiment", "small.yaml"]
    planned = run([*command, "--dry-run", "--only", "one"], tmp_path)
    *counted, guessed, memory, few, advice = planned.stdout.splitlines()
    assert ["experiment small: 4 cells on 2 logs", "  done: 0; to do: 4"] == counted
    assert guessed.startswith("  about ")
    assert guessed.endswith("(guessed from numbers of jobs; --trial measures it)")
    assert memory.startswith("  memory: ")
    assert "  1 repetition a setting: too few to tell a policy from the baseline" == few
    assert "  with so many; give 7 seeds or shakes at least" == advice
    first = run([*command, "--workers", "1", "--report"], tmp_path)
    assert 0 == first.returncode, first.stderr
    assert first.stdout.startswith("lublin-feitelson-jobs60-processors64-seed1-load0.9:\n\n| measure ")
    assert "\nwait_mean, wait_p98, " in first.stdout
    assert ": the same under every policy\n" in first.stdout
    (report,) = (tmp_path / "data/small").glob("*.html")
    assert f"  report: {report}\n" in first.stdout
    assert "<h2>Which differences are more than noise</h2>" in report.read_text()
    again = run([*command, "--dry-run", "--json"], tmp_path)
    found = json.loads(again.stdout)
    assert {"experiment": "small", "cells": 8, "logs": 2, "done": 8} == {name: found[name] for name in list(found)[:4]}
    assert (0, False) == (found["seconds_of_one_worker"], found["is_tried"])
    wrong = run([*SWFTOOLS, "experiment", "none.yaml"], tmp_path)
    assert wrong.returncode
    assert "No such file" in wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_repetitions_that_it_takes(tmp_path: Path) -> None:
    """By the settings and policies that are compared: seeds and shakes are repetitions, one policy is not compared."""

    def asked(**changes: Any) -> tuple[int, int]:
        experiment = json.dumps({**SMALL, "shakes": [1, 2, 3], "seeds": [1, 2], **changes})
        return PublishExperiment(data_root=str(tmp_path), experiment=experiment).repetitions

    assert asked(policies=["easy"]) == (6, 0)
    assert asked(policies=["easy", "fcfs"]) == (6, 7)  # on two logs
    assert asked(policies=["easy", "fcfs", "sjf"], loads=[0.6, 0.7, 0.8]) == (6, 9)  # 12 comparisons
    assert asked(policies=["easy", "fcfs"], exclude=[{"logs": LOG.format(2), "policies": "fcfs"}]) == (6, 6)


def test_help_fits() -> None:
    """The page of the command is there and is no wider than a terminal."""
    result = CliRunner().invoke(main, ["experiment", "--help"], terminal_width=80)
    assert 0 == result.exit_code
    assert max(map(len, result.output.splitlines())) <= 80


@pytest.mark.parametrize(("name", "cells"), [("load", 150), ("policies", 1200), ("reservations", 300)])
def test_examples_are_experiments(name: str, cells: int) -> None:
    """Each of its size; their policies are tried by name."""
    experiment = read_experiment(EXAMPLES / "experiments" / f"{name}.yaml")
    assert cells == len(experiment.cells())
    for policy in experiment.axes["policies"]:
        read_policy(policy)


@pytest.mark.parametrize(
    ("name", "only", "said"),
    [
        pytest.param("load", "", "Sensitivity: mean bounded slowdown along load", marks=pytest.mark.slow),
        pytest.param("policies", "backfilling", "Differences between policies", marks=pytest.mark.slow),
        pytest.param("reservations", "", "against easy(reservations=1)", marks=pytest.mark.slow),
    ],
)
def test_examples_end_in_a_picture(tmp_path: Path, name: str, only: str, said: str) -> None:
    """In their quick form; the picture stands beside the version, and what it shows is said."""
    words = [str(EXAMPLES / "experiments" / f"{name}.yaml"), "--quick", "--only", only]
    done = run([sys.executable, str(EXAMPLES / "draw_experiment.py"), *words], tmp_path)
    assert 0 == done.returncode, done.stderr
    assert said in done.stdout
    drawn = sorted((tmp_path / "data").glob("*/*.png"))
    assert (2 if name == "reservations" else 1) == len(drawn)
    for path in drawn:
        assert path.read_bytes().startswith(b"\x89PNG")
        assert str(path.relative_to(tmp_path)) in done.stdout


def test_a_data_set_that_is_no_experiment_is_left_alone(tmp_path: Path) -> None:
    """Before any work."""
    task = ComparePolicies(
        data_root=str(tmp_path), log=LOG.format(1), policies="easy,fcfs", augment="none", data_set="small", processes=1
    )
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    other = PublishExperiment(data_root=str(tmp_path), experiment=json.dumps(SMALL))
    with pytest.raises(SwfToolsError, match="'small' was made by ComparePolicies, and is no experiment"):
        other.requires()


def test_a_comparison_by_a_pool_is_that_by_luigi(tmp_path: Path) -> None:
    """File by file."""
    found = []
    for processes in (0, 2):
        task = ComparePolicies(
            data_root=str(tmp_path / str(processes)),
            log=LOG.format(1),
            policies="easy,fcfs",
            seeds="0,1",
            augment="none",
            processes=processes,
        )
        assert luigi.build([task], local_scheduler=True, log_level="WARNING")
        version = Path(task.output().path)
        found.append({path.relative_to(version): path.read_bytes() for path in version.rglob("*") if path.is_file()})
    assert found[0] == found[1]


def test_what_failed_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its cell, in a file that the error names and that is gone when all is well."""
    task = PublishExperiment(data_root=str(tmp_path), experiment=json.dumps(SMALL))
    assert luigi.build(task.stages(), local_scheduler=True)
    with monkeypatch.context() as patch:
        patch.setattr(MeasureSchedule, "run", lambda cell: 1 / 0 if cell.shake else None)
        with pytest.raises(SwfToolsError, match=r"8 of 8|4 of 8 cells failed.*a row each: .*failed/small.csv"):
            task.run()
    rows = pd.read_csv(tmp_path / ".work" / "failed" / "small.csv")
    assert {3} == set(rows["shake"])
    assert {"ZeroDivisionError: division by zero"} == set(rows["error"])
    assert {LOG.format(1), LOG.format(2)} == set(rows["log"])
    task.run()
    assert not (tmp_path / ".work" / "failed" / "small.csv").exists()


def test_a_full_disk_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Lines stop, which is said once, and cells go on; that they cannot be listed is said beside what failed."""

    def fails(cell: MeasureSchedule) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    task = PublishExperiment(data_root=str(tmp_path), experiment=json.dumps(SMALL), processes=1, cell_lines="/dev/full")
    assert luigi.build(task.stages(), local_scheduler=True, log_level="CRITICAL")
    monkeypatch.setattr(MeasureSchedule, "run", fails)
    (tmp_path / ".work" / "failed" / "small.csv").mkdir(parents=True)  # so that nothing can be written there
    with pytest.raises(SwfToolsError, match=r"8 of 8 cells failed.*No space left.*They are not listed: .*small\.csv"):
        task.run()
    told = [record.getMessage() for record in caplog.records if "cell_lines" in record.getMessage()]
    assert ["cell_lines=/dev/full: No space left on device; no more lines are added"] == told
