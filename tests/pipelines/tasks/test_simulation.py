# SPDX-License-Identifier: BSD-3-Clause
"""SimulatePolicy and ComparePolicies, and their commands: what is published, kept, and refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import luigi
import pandas as pd
import pytest

import swftools
from pipelines.logs.find import SHIPPED_LOG
from pipelines.tasks.compare import ComparePolicies, as_markdown
from pipelines.tasks.measure import MeasureSchedule
from pipelines.tasks.simulate import label_of
from swftools.errors import ParameterError
from swftools.simulator import registry as policy_registry
from swftools.simulator import simulate, validate
from swftools.simulator.metrics.measures import measure
from swftools.simulator.registry import find_policy
from tests.every_policy import OURS, light, with_all_columns
from tests.pipelines.luigi_runs import LUIGI, SWFTOOLS, run

LOG = "lublin-feitelson:jobs=300,processors=64,load=0.9,seed=3"


def compare(data_root: Path, **parameters: Any) -> ComparePolicies:
    """Build in this process and return the finished task."""
    task = ComparePolicies(data_root=str(data_root), **{"log": LOG, **parameters})
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    assert task.complete()
    return task


def table_of(task: ComparePolicies) -> pd.DataFrame:
    """Read the published table."""
    return pd.read_parquet(f"{task.output().path}/comparison")


def test_one_command_prints_the_table_and_says_how_to_read_it(tmp_path: Path) -> None:
    """On the shipped log, by luigi; a second run finds it complete and prints the table again."""
    first = run([*LUIGI, "ComparePolicies"], tmp_path)
    assert 0 == first.returncode, first.stderr
    lines = first.stdout.splitlines()
    assert ["measure", "logged", "fcfs", "easy"] == lines[0].replace("|", " ").split()
    assert lines[2].split()[:2] == ["|", "wait_mean"]
    assert not any("utility" in line for line in lines[: lines.index("")])
    assert max(map(len, lines[: lines.index("")])) <= 80
    assert first.stdout.count("published: data set") == 1
    names: dict[str, Any] = {}
    exec("\n".join(line.strip() for line in lines[-2:]), names)
    assert {"logged", "fcfs", "easy", "conservative"} == set(names["comparison"]["policy"])
    second = run([*LUIGI, "ComparePolicies"], tmp_path)
    assert (0, 1) == (second.returncode, second.stdout.count("already complete"))
    assert lines[:5] == second.stdout.splitlines()[:5]


def test_what_is_made_up_is_shown_when_asked_for(tmp_path: Path) -> None:
    """By a name that says so; the published table has it anyhow."""
    asked, not_asked = (compare(tmp_path, policies="fcfs", synthetic=synthetic) for synthetic in (True, False))
    assert asked.version != not_asked.version
    pages = [Path(task.output().path, "comparison.md").read_text() for task in (asked, not_asked)]
    assert ["| synthetic utility_total " in page for page in pages] == [True, False]
    assert "utility" not in pages[1]
    pd.testing.assert_frame_equal(table_of(asked), table_of(not_asked))


def test_the_table_is_what_the_functions_return(tmp_path: Path) -> None:
    """The same simulations, by the functions."""
    task = compare(tmp_path, policies="fcfs,easy", augment="")
    trace, _ = swftools.clean(swftools.models.lublin_feitelson.generate(300, processors=64, load=0.9, seed=3))
    expected = pd.concat([measure(simulate(trace, policy)) for policy in ("fcfs", "easy")], ignore_index=True)
    published = table_of(task)
    assert expected["measure"].tolist() == published["measure"].tolist()
    assert expected["value"].tolist() == pytest.approx(published["value"].tolist(), nan_ok=True)
    as_csv = pd.read_csv(Path(task.output().path) / "comparison.csv")
    assert published["value"].tolist() == pytest.approx(as_csv["value"].tolist(), nan_ok=True)
    assert as_markdown(published) == (Path(task.output().path) / "comparison.md").read_text(encoding="utf-8")


def test_many_policies_stand_in_several_tables(tmp_path: Path) -> None:
    """None of which is wider than 80 columns; each begins with the measures, and long names stand below."""
    policies = [f"easy:reservations={n}" for n in range(1, 8)] + ["easy:reservations=9,backfill_order=sjf"]
    task = compare(tmp_path, policies=",".join(policies[:7]) + "," + policies[7])
    page = Path(task.output().path, "comparison.md").read_text()
    blocks = [block.splitlines() for block in page.strip().split("\n\n")]
    tables = [block for block in blocks if block[0].startswith("| measure ")]
    assert len(tables) > 2
    assert max(len(line) for table in tables for line in table if line.startswith("|")) <= 80
    firsts = {tuple(line.split("|")[1].strip() for line in table if line.startswith("|")) for table in tables}
    assert len(firsts) == 1
    heads = [cell.strip() for table in tables for cell in table[0].split("|")[2:-1]]
    assert [*(f"easy(reservations={n})" for n in range(1, 8)), "policy 8"] == heads
    assert page.endswith("policy 8: `easy(backfill_order=sjf, reservations=9)`\n")
    values = [cell.strip() for table in tables for cell in table[2].split("|")[2:-1]]
    waits = table_of(task).query("measure == 'wait' and statistic == 'mean'")["value"]
    assert [f"{wait:,.0f}" if wait >= 1000 else f"{wait:.4g}" for wait in waits] == values


def test_what_is_finished_is_not_computed_again(tmp_path: Path) -> None:
    """A further policy adds one simulation; the others' outputs are left as they are."""
    compare(tmp_path, policies="fcfs,easy")
    simulated = tmp_path / ".work" / "simulated"
    before = {path.name: path.stat().st_mtime_ns for path in simulated.glob("[!.]*")}
    assert 2 == len(before)
    compare(tmp_path, policies="fcfs,easy,conservative", seeds="0")
    after = {path.name: path.stat().st_mtime_ns for path in simulated.glob("[!.]*")}
    assert before.items() <= after.items()
    assert 3 == len(after)


def test_seeds_and_parameters_are_cells(tmp_path: Path) -> None:
    """Every policy with every seed, each under its label; several seeds have a spread."""
    policies = json.dumps(["fcfs", {"policy": "easy", "backfill_order": "sjf"}])
    task = compare(tmp_path, policies=policies, seeds="1,0", predictor="virtual:error=0.5")
    published = table_of(task)
    labels = [("fcfs", 0), ("fcfs", 1), ("easy(backfill_order=sjf)", 0), ("easy(backfill_order=sjf)", 1)]
    assert labels == list(published[["policy", "seed"]].drop_duplicates().itertuples(index=False, name=None))
    assert "±" in as_markdown(published)
    manifest = json.loads((Path(task.output().path) / "manifest.json").read_text(encoding="utf-8"))
    assert [0, 1] == manifest["seeds"]
    assert {"fcfs": None, "easy": None} == manifest["parameters"]["own_policies"]
    assert "virtual:error=0.5" == manifest["parameters"]["options"]["predictor"]


@pytest.mark.parametrize(
    "change",
    [
        {"policy": "fcfs"},
        {"policy": '{"policy": "easy", "backfill_order": "sjf"}'},
        {"seed": 1},
        {"processors": 100},
        {"load": 0.5},
        {"overrun": "kill"},
        {"cancelled": "end-at-once"},
        {"predictor": "exact"},
        {"predictor": "virtual:error=0.3"},
        {"requests": "factor:factor=2"},
        {"restart_overhead": "5"},
        {"semantics": "pyss"},
        {"metrics": "bound=60"},
        {"unmeasured_queues": "1"},
        {"augment": ""},
        {"rules": "duplicates"},
    ],
    ids=str,
)
def test_whatever_matters_is_in_the_key(tmp_path: Path, change: dict[str, Any]) -> None:
    """Another option is another output."""
    task = MeasureSchedule(log=LOG, data_root=str(tmp_path))
    assert task.key != MeasureSchedule(**{"log": LOG, "data_root": str(tmp_path), **change}).key


def test_another_simulators_rule_counts_by_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """EASY under RAPS's semantics is easy-in-time: a change of that is another output, and of no other."""
    keys = []
    for version in (1, 2):
        changed = replace(find_policy("easy-in-time"), version=version)
        monkeypatch.setitem(policy_registry.POLICIES.known, "easy-in-time", changed)
        root = str(tmp_path / str(version))  # else it would be the same task
        keys.append([MeasureSchedule(log=LOG, data_root=root, semantics=name).key for name in ("instant", "raps")])
    assert keys[0][0] == keys[1][0]
    assert keys[0][1] != keys[1][1]


def test_a_policy_of_the_users_own_counts_by_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs by module:name, and a change of the module is another version."""
    source = (
        "from swftools.simulator import first_waiting, fits, policy, start\n"
        '@policy("one-by-one")\n'
        "def one_by_one(machine):\n"
        "    job = first_waiting(machine)\n"
        "    if fits(machine, job):\n"
        "        start(machine, job)\n"
    )
    (tmp_path / "own_policy.py").write_text(source)
    command = [*SWFTOOLS, "compare", "--log", LOG, "--policies", "own_policy:one-by-one"]
    versions = []
    for text in (source, source + "# changed\n"):
        (tmp_path / "own_policy.py").write_text(text)
        done = run(command, tmp_path, PYTHONPATH=str(tmp_path))
        assert 0 == done.returncode, done.stderr
        versions.append(done.stdout.split("version ")[1].split()[0])
    assert versions[0] != versions[1]


@pytest.mark.parametrize(
    ("task", "parameters", "complaint"),
    [
        (ComparePolicies, {"policies": "sjfx"}, "no policy 'sjfx'; there are: "),
        (ComparePolicies, {"policies": "[]"}, "give at least one"),
        (ComparePolicies, {"policies": "[5]"}, "5 is neither a name nor a mapping"),
        (ComparePolicies, {"policies": "["}, "is not JSON"),
        (ComparePolicies, {"policies": '[{"policy": "easy", "depth": 2}]'}, r"unknown parameters \['depth'\]"),
        (ComparePolicies, {"policies": "nowhere:mine"}, "module 'nowhere' cannot be imported"),
        (ComparePolicies, {"metrics": "bound=-1"}, "bound=-1 is not"),
        (ComparePolicies, {"metrics": "bound"}, "is not KEY=VALUE"),
        (ComparePolicies, {"metrics": "{"}, "is not JSON"),
    ],
)
def test_mistakes_show_before_anything_runs(
    task: type[ComparePolicies], parameters: dict[str, Any], complaint: str, tmp_path: Path
) -> None:
    """A wrong parameter is an error when the task is made."""
    with pytest.raises(ParameterError, match=complaint):
        task(data_root=str(tmp_path), **parameters)


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"overrun": "cut"}, "overrun='cut' is not one of extend, kill, run-on"),
        ({"predictor": "psychic"}, "no predictor 'psychic'"),
        ({"processors": -1}, "a machine has at least 1"),
        ({"seeds": "a"}, "seeds='a'"),
        ({"unmeasured_queues": "a"}, "unmeasured_queues='a'"),
    ],
)
def test_options_are_checked_before_anything_runs(parameters: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    """A wrong option shows when the version is asked for, before the first simulation."""
    with pytest.raises(ParameterError, match=complaint):
        _ = ComparePolicies(data_root=str(tmp_path), log=LOG, **parameters).version


def test_a_missing_log_is_exit_status_20(tmp_path: Path) -> None:
    """As everywhere."""
    done = run([*SWFTOOLS, "compare", "--log", "none.swf"], tmp_path)
    assert 20 == done.returncode
    assert "none.swf" in done.stderr


def test_labels_are_short() -> None:
    """A policy by its name, and the parameters given."""
    assert "easy" == label_of({"policy": "easy"})
    assert "easy(a=1, b=x)" == label_of({"policy": "easy", "b": "x", "a": 1})


def test_simulate_and_check_on_the_console(tmp_path: Path) -> None:
    """A schedule is written, found valid, and not valid after a job was moved before its submission."""
    for output in ("easy.csv", "easy.parquet"):
        done = run([*SWFTOOLS, "simulate", SHIPPED_LOG, "--policy", "easy", "--output", output], tmp_path)
        assert 0 == done.returncode, done.stderr
        assert "4,784 jobs" in done.stdout
        assert "left out: 216 jobs, no run_time (cancelled=drop)" in done.stdout
        command = [*SWFTOOLS, "check-schedule", output, "--log", SHIPPED_LOG, "--clean", "--policy", "easy"]
        checked = run(command, tmp_path)
        assert 0 == checked.returncode, checked.stdout
    schedule = pd.read_csv(tmp_path / "easy.csv")
    schedule.loc[7, "start_time"] = 0
    schedule.to_csv(tmp_path / "wrong.csv", index=False)
    wrong = run([*SWFTOOLS, "check-schedule", "wrong.csv", "--log", SHIPPED_LOG, "--clean"], tmp_path)
    assert 1 == wrong.returncode
    assert "submission" in wrong.stdout


def test_simulate_takes_every_option(tmp_path: Path) -> None:
    """Options and parameters reach the simulation."""
    command = [*SWFTOOLS, "simulate", LOG, "--policy", '{"policy": "easy", "backfill_order": "sjf"}']
    command += ["--processors", "128", "--load", "0.5", "--requests", "factor:factor=2", "--overrun", "kill", "--raw"]
    command += ["--predictor", "last-model", "--restart-overhead", "uniform:seconds=5,per_processor=1"]
    done = run(command, tmp_path)
    assert 0 == done.returncode, done.stderr
    assert "easy(backfill_order=sjf) on 128 processors: 300 jobs" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "complaint"),
    [
        (["simulate", LOG, "--policy", "none"], 2, "no policy 'none'"),
        (["simulate", LOG, "--output", "x.txt"], 2, "the suffix names no format"),
        (["simulate", "none.swf"], 20, "none.swf"),
        (["check-schedule", "none.csv", "--log", LOG], 20, "none.csv"),
    ],
)
def test_mistakes_on_the_console(tmp_path: Path, arguments: list[str], status: int, complaint: str) -> None:
    """One line, and a status that tells."""
    done = run([*SWFTOOLS, *arguments], tmp_path)
    assert status == done.returncode, done.stderr
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize("policy", OURS)
def test_a_whole_log(shared: Path, policy: str) -> None:
    """Under every policy each job of a whole log is simulated or excluded, and the schedule can be."""
    trace, _ = swftools.clean(swftools.read_swf(shared / "traces" / "KTH-SP2-1996-2.1-cln.swf.gz"))
    trace = with_all_columns(trace.with_jobs(trace.jobs.assign(priority_rank=trace.jobs["queue_id"])))
    schedule = simulate(trace, light(policy), 100)
    assert len(trace) == len(schedule.jobs) + len(schedule.excluded)
    report = validate(schedule, trace=trace)
    assert report.ok, str(report)
