# SPDX-License-Identifier: BSD-3-Clause
"""Tasks on machines of nodes: what is in their keys, what is stored of the machine, and experiments over machines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from pipelines.store.data_root import DataRoot
from pipelines.store.schedules import read_schedule
from pipelines.tasks.compare import ComparePolicies
from pipelines.tasks.measure import MeasureSchedule
from pipelines.tasks.publish_experiment import PublishExperiment
from pipelines.tasks.publish_schedule import PublishSchedule
from pipelines.tasks.reserve import SimulateReservations
from pipelines.tasks.simulate import SimulatePolicy
from swftools import read_machine, simulate
from swftools.errors import ParameterError
from swftools.simulator import sum_wait_reasons
from tests.pipelines.small_logs import build, small_log

MACHINE = "nodes: [{kind: a, count: 2, cores: 2}, {kind: b, count: 1, cores: 1}]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a log of twelve jobs of 4 processors, and two machines."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.swf").write_text(small_log(12))
    (tmp_path / "site.yaml").write_text(MACHINE)
    (tmp_path / "large.yaml").write_text(MACHINE.replace("count: 2", "count: 4"))
    return tmp_path


def task(kind: Any = SimulatePolicy, **parameters: Any) -> Any:
    """Return a task of the log."""
    return kind(**{"log": "small.swf", "data_root": "data", "augment": "", **parameters})


def test_what_is_in_the_key(folder: Path) -> None:
    """The machine as it is simulated: not its path, name or form, nor by which changes it came to be."""
    keys = {
        "pool": task().key,
        "site": task(machine="site.yaml").key,
        "changed": task(machine="site.yaml", changes="nodes.a.count+=2").key,
        "policy": task(machine="site.yaml", changes="priority.reservations=2").key,
        "heads": task(machine="site.yaml", heads="machine").key,
    }
    assert len({*keys.values()}) == len(keys)
    assert task(machine="large.yaml").key == keys["changed"]  # whatever the file is called
    assert task(machine="pool", changes="[]").key == keys["pool"]
    (folder / "other").mkdir()
    (folder / "other/site.yaml").write_text(f"# the same\n{MACHINE}")
    assert task(machine="other/site.yaml").key == keys["site"]
    named = f"name: another\nnotes: [as it was in May]\n{MACHINE.replace('count: 2', 'count: 4')}"
    (folder / "named.yaml").write_text(named)
    assert task(machine="named.yaml").key == keys["changed"]


def test_a_file_that_is_edited_changes_no_task(folder: Path) -> None:
    """A task has the machine as it was when the task was made."""
    before = task(machine="site.yaml")
    key = before.key
    (folder / "site.yaml").write_text(MACHINE.replace("cores: 2", "cores: 8"))
    assert before.key == key != task(machine="site.yaml").key
    assert before.clone().key == key


def test_a_stored_schedule_knows_its_machine(folder: Path) -> None:
    """Read again it is what the function returns: nodes, options, assumptions."""
    published = task(PublishSchedule, machine="site.yaml", changes='["nodes.a.count+=2"]', placement="best-fit")
    assert build(published)
    machine = read_machine("site.yaml").changed(["nodes.a.count+=2"])
    wanted = simulate(published.simulation.simulated_trace(), "easy", machine=machine, placement="best-fit")
    root = DataRoot.open("data")
    for found in (read_schedule(root, "small-schedules"), published.simulation.load_schedule()):
        assert found.machine is not None
        assert (found.machine.names, found.machine.processors) == (machine.table().names, found.processors)
        assert found.segments["nodes"].tolist() == wanted.segments["nodes"].tolist()
        assert {**found.options, "dependencies": "follow"} == dict(wanted.options)
        assert found.assumptions == wanted.assumptions
        assert "machine: memory is not known, and never lacks (a, b)" in found.assumptions
    manifest = root.manifest("small-schedules")
    assert manifest["parameters"]["machine"] == manifest["run"]["machine"] == machine.to_mapping()


def test_nothing_is_stored_of_a_pool(folder: Path) -> None:
    """Neither machine nor options of nodes."""
    published = task(PublishSchedule, placement="first-fit:sparing=true")
    assert build(published)
    manifest = DataRoot.open("data").manifest("small-schedules")
    assert "machine" not in {**manifest["run"], **manifest["parameters"]}
    assert not {"placement", "heads", "machine"} & {*manifest["run"]["options"], *manifest["parameters"]["options"]}
    assert read_schedule(DataRoot.open("data"), "small-schedules").machine is None


def test_the_load_is_that_of_the_machine(folder: Path) -> None:
    """An offered load of 0.5 on twice the cores is twice the jobs a second."""
    spans = [task(machine=name, load=0.5) for name in ("site.yaml", "large.yaml")]
    assert build(task())
    first, second = (each.simulated_trace().jobs["submit_time"].max() for each in spans)
    assert first / second == pytest.approx(9 / 5, rel=0.05)


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        (SimulatePolicy, {"machine": "site.yaml", "processors": 3}, "they are two machines; give one"),
        (ComparePolicies, {"machine": "site.yaml", "changes": "away: nodes=z1"}, "z1"),
        (ComparePolicies, {"changes": "nodes.a.count+=1"}, "a pool of processors has no nodes"),
        (SimulatePolicy, {"changes": "priority.patience=1"}, "easy: unknown parameters"),
        (SimulatePolicy, {"machine": "site.yaml", "policy": "pv-easy"}, "does not work on a machine of nodes yet"),
        (
            ComparePolicies,
            {"machine": "site.yaml", "policies": "easy,search"},
            "'search' does not work on a machine of",
        ),
        (SimulatePolicy, {"machine": "site.yaml", "semantics": "pyss"}, "semantics='pyss' is of a pool of processors"),
        (SimulatePolicy, {"placement": "best-fit"}, "placement='best-fit:sparing=true' is of a machine of nodes"),
        (SimulatePolicy, {"heads": "machine"}, "heads='machine' is of a machine of nodes"),
        (SimulateReservations, {"machine": "site.yaml"}, "not simulated on machines of nodes yet"),
    ],
)
def test_mistakes_show_before_anything_runs(folder: Path, kind: Any, parameters: dict[str, Any], message: str) -> None:
    """The task is never made."""
    with pytest.raises(ParameterError, match=message):
        task(kind, **parameters)


EXPERIMENT: dict[str, Any] = {
    "name": "nodes",
    "logs": "small.swf",
    "policies": ["fcfs", "easy"],
    "machines": ["pool", "site.yaml"],
    "changes": ["", ["nodes.a.count+=2", "nodes.b.count+=1"]],
    "exclude": [{"machines": "pool", "changes": [["nodes.a.count+=2", "nodes.b.count+=1"]]}],
    "augment": "none",
}


def test_machines_are_an_axis_of_experiments(folder: Path) -> None:
    """Each is a setting; tables have its name and what is changed, and those of pools have neither column."""
    made = PublishExperiment(data_root="data", experiment=json.dumps(EXPERIMENT), processes=1)
    assert build(made)
    found = pd.read_parquet(f"{made.output().path}/experiment")
    settings = found[["machine", "changes", "policy"]].drop_duplicates().to_numpy().tolist()
    changed = "nodes.a.count+=2; nodes.b.count+=1"
    assert settings == [
        [*of, policy] for of in (["", ""], ["site", ""], ["site", changed]) for policy in ("fcfs", "easy")
    ]
    waits = found[(found["measure"] == "wait") & (found["statistic"] == "mean") & (found["job_class"] == "all")]
    by_setting = waits.groupby(["machine", "changes"])["value"].first().to_dict()
    assert by_setting["", ""] == by_setting["site", changed] < by_setting["site", ""]
    page = Path(f"{made.output().path}/experiment.md").read_text()
    assert f"small, site, {changed}" in page
    assert "small, a pool of processors, unchanged" in page
    of_pool = {name: value for name, value in EXPERIMENT.items() if name not in ("machines", "changes", "exclude")}
    plain = PublishExperiment(data_root="data", experiment=json.dumps({**of_pool, "name": "plain"}), processes=1)
    assert build(plain)
    columns = {*pd.read_parquet(f"{plain.output().path}/experiment")}
    assert not {"machine", "changes", "placement", "heads"} & columns


def test_machines_of_one_name_are_refused(folder: Path) -> None:
    """Nobody could tell them apart in the tables."""
    (folder / "other").mkdir()
    (folder / "other/site.yaml").write_text(MACHINE.replace("cores: 2", "cores: 8"))
    experiment = {**EXPERIMENT, "machines": ["site.yaml", "other/site.yaml"], "exclude": [], "changes": ""}
    with pytest.raises(ParameterError, match="two machines are called 'site'; give each a name of its own"):
        PublishExperiment(data_root="data", experiment=json.dumps(experiment))
    with pytest.raises(ParameterError, match="changes: 3 is not a text or a list of texts"):
        PublishExperiment(data_root="data", experiment=json.dumps({**EXPERIMENT, "changes": 3}))


def test_a_comparison_says_who_waits_for_what(folder: Path) -> None:
    """Job-hours by reason, as schedules have them, also of the jobs that are measured alone; of a pool nothing."""
    lines = small_log(40).splitlines()
    lines[2::2] = [line.removesuffix("3 -1 -1 -1") + "1 -1 -1 -1" for line in lines[2::2]]  # of queue 1
    (folder / "small.swf").write_text("\n".join(lines) + "\n")
    compared = task(ComparePolicies, machine="site.yaml", policies="fcfs,easy", changes="nodes.a.count+=2")
    assert build(compared)
    table = DataRoot.open("data").read_table("small-policies", "comparison").to_pandas()
    found = table[table["measure"] == "waited_for"]
    for cell, policy in zip(compared.cells, ("fcfs", "easy"), strict=True):
        sums = sum_wait_reasons(cell.simulation.load_schedule()).iloc[0]
        own = found[found["policy"] == policy].set_index("statistic")["value"]
        assert own.to_dict() == pytest.approx({name: sums[name] for name in own.index})
        assert own.sum() == pytest.approx(sums["waited"])
    assert set(found["unit"]) == {"job-hours"}
    printed = compared.heading(lambda: DataRoot.open("data").read_table("small-policies", "comparison"))
    first, second = printed.split("| job-hours waited |")
    assert "| wait_mean " in first
    assert second.splitlines()[0].split("|")[:2] == [f" {name:>{len(name)}} " for name in ("fcfs", "easy")]
    pool = task(ComparePolicies, policies="fcfs,easy")
    assert [cell.key for cell in pool.cells] == [
        pool.clone(MeasureSchedule, policy=cell.policy, seed=0).key for cell in pool.cells
    ]
    assert build(pool)
    assert "waited_for" not in set(pool.cells[0].load_metrics()["measure"])
    fewer = task(MeasureSchedule, machine="site.yaml", changes="nodes.a.count+=2", reasons=True, unmeasured_queues="1")
    whole = task(MeasureSchedule, machine="site.yaml", changes="nodes.a.count+=2", reasons=True)
    assert build(fewer)
    assert build(whole)
    hours = [each.load_metrics().query("measure == 'waited_for'")["value"].sum() for each in (fewer, whole)]
    assert 0 < hours[0] < hours[1]


@pytest.mark.usefixtures("simulated_as_python_by_day")
def test_outages_are_stretched_with_the_load(folder: Path) -> None:
    """They are where they were among the submissions, also in what is stored, and that is told; dates count too."""
    (folder / "small.swf").write_text(small_log(12, first=7))
    outages = "[{nodes: a1, begin: 30, end: 60, known: 20}, {nodes: b, begin: '2000-04-25T22:00:33Z'}]"
    (folder / "away.yaml").write_text(f"{MACHINE}outages: {outages}\n")
    plain = task(PublishSchedule, machine="away.yaml")
    loaded = task(PublishSchedule, machine="away.yaml", load=0.5)
    assert build(plain)
    assert build(loaded)
    times = [each.simulation.simulated_trace().views.submit_time for each in (plain, loaded)]
    factor = (times[1][-1] - times[1][0]) / (times[0][-1] - times[0][0])
    assert factor > 1.5
    first = float(times[0][0])
    for published, by in ((plain, 1.0), (loaded, factor)):
        machine = published.simulation.load_schedule().machine
        assert machine is not None
        found = machine.outages
        begin = 956700033 - 956700003
        assert found.begin.tolist() == pytest.approx([first + (time - first) * by for time in (30, begin)])
        assert found.end.tolist() == pytest.approx([first + (60 - first) * by, float("inf")])
        assert found.known.tolist() == pytest.approx([first + (20 - first) * by, float("inf")])
    site = task(machine="site.yaml", load=0.5)
    assert build(site)
    assert site.load_schedule().machine.outages.begin.tolist() == []
    words = "outages are stretched as the times between submissions are"
    compared = task(ComparePolicies, machine="away.yaml", load=0.5, policies="easy")
    assert build(compared)
    assert words in DataRoot.open("data").manifest("small-policies")["assumptions"]
    simulated = ["simulate", "small.swf", "--policy", "easy", "--machine", "away.yaml"]
    for load, is_told in ((["--load", "0.5"], True), ([], False)):
        printed = CliRunner().invoke(main, [*simulated, *load])
        assert printed.exit_code == 0, printed.output
        assert (words in printed.output) == is_told
    told = CliRunner().invoke(main, [*simulated, "--load", "0.5", "--json"])
    schedule = loaded.simulation.load_schedule()
    values = {(each["measure"], each["statistic"]): each["value"] for each in json.loads(told.stdout)["measures"]}
    assert values["wait", "mean"] == pytest.approx(float(schedule.jobs["wait_time"].mean()))
