# SPDX-License-Identifier: BSD-3-Clause
"""Options of a run that come later: when they enter keys, and what has them at once."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import luigi
import pandas as pd
import pytest

from pipelines.experiments import axes
from pipelines.experiments.file import read_experiment
from pipelines.tasks import simulate as tasks
from pipelines.tasks.publish_schedule import simulation_facts
from pipelines.tasks.simulate import SimulatePolicy
from swftools.errors import ParameterError
from swftools.fields import dictionary
from swftools.fields.dictionary import required_columns, table_fields
from swftools.parameters.run_option_table import ALWAYS, RUN_OPTIONS, WHERE_SET
from swftools.simulator import simulate
from tests.folders import ROOT
from tests.forked import NUMBA
from tests.pipelines.small_logs import small_log
from tests.strategies import crowded_trace
from tests.test_run_options import ALWAYS_THERE, EIGHT, MAKE, NAMES, SETTINGS

EXPERIMENT = {"name": "small", "logs": ["small.swf"], "policies": ["easy"]}


@pytest.fixture
def task(tmp_path: Path) -> SimulatePolicy:
    """A task that simulates three jobs."""
    path = tmp_path / "small.swf"
    path.write_text(small_log())
    return SimulatePolicy(log=str(path), data_root=str(tmp_path / "data"), augment="")


def test_when_an_option_enters_keys() -> None:
    """Always; where it is not at its default; or where the log has what it needs."""
    option = RUN_OPTIONS["overrun"]
    assert option.in_key == ALWAYS
    assert option.enters_key("extend", None)
    later = replace(option, in_key=WHERE_SET)
    assert (later.enters_key("kill", None), later.enters_key("extend", None)) == (True, False)
    number = replace(RUN_OPTIONS["seed"], in_key=WHERE_SET)
    assert (number.enters_key(1, None), number.enters_key(0, None)) == (True, False)
    depends = replace(option, in_key=lambda value, log: value == "extend" and log == "with dependencies")
    cases = [("extend", "with dependencies"), ("extend", "plain"), ("kill", "with dependencies")]
    assert [depends.enters_key(*case) for case in cases] == [True, False, False]


def test_keys_have_every_option(task: SimulatePolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key, and what is published beside it, has all options that count."""
    monkeypatch.setattr(tasks, "content_key", lambda *words: json.dumps(words[-1]))

    def said(task: SimulatePolicy) -> set[str]:
        return {*json.loads(task.key)} & {*ALWAYS_THERE}

    later = replace(RUN_OPTIONS["overrun"], in_key=WHERE_SET)
    asked: list[tuple[Any, Any]] = []
    depends = replace(RUN_OPTIONS["semantics"], in_key=lambda *about: asked.append(about) is not None)
    assert {*ALWAYS_THERE} == said(task)
    monkeypatch.setitem(tasks.SETTINGS, "overrun", later)
    assert {*ALWAYS_THERE} - {"overrun"} == said(task)
    assert {*ALWAYS_THERE} == said(task.clone(overrun="kill"))
    monkeypatch.setitem(tasks.SETTINGS, "semantics", depends)
    assert {*ALWAYS_THERE} - {"overrun", "semantics"} == said(task)
    assert asked[-1] == ("instant", task.found)
    assert [*task.options] == SETTINGS


@pytest.mark.parametrize("text", ["first-fit", "first-fit:sparing=true", "First-Fit: sparing=true"])
def test_the_usual_placement_enters_no_key(task: SimulatePolicy, text: str) -> None:
    """However it is written; another one does, in its one form."""
    same = task.clone(placement=text, heads="partition")
    assert (task.key, task.options) == (same.key, same.options)
    assert not {"placement", "heads"} & {*same.counted_options}
    given = {"placement": "first-fit: sparing=false", "heads": "machine"}
    on_nodes = task.clone(machine=json.dumps(EIGHT))
    other = on_nodes.clone(**given)
    assert other.counted_options == same.counted_options | given | {"placement": "first-fit:sparing=false"}
    keys = {other.key, *(on_nodes.clone(**{name: value}).key for name, value in given.items())}
    assert len({task.key, on_nodes.key, *keys}) == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"placement": "best-fit"}, "placement='best-fit:sparing=true' is of a machine of nodes; give machine="),
        ({"placement": "first-fit:sparing=false"}, "placement='first-fit:sparing=false' is of a machine of nodes"),
        ({"heads": "machine"}, "heads='machine' is of a machine of nodes; give machine= (--machine) too"),
    ],
)
def test_what_is_of_nodes_needs_a_machine(options: dict[str, Any], message: str) -> None:
    """The default may be said in each of its forms."""
    trace = crowded_trace(3, seed=1)
    assert len(simulate(trace, "easy", placement="first-fit:sparing=true", heads="partition")) == 3
    with pytest.raises(ParameterError, match=f"^{re.escape(message)}"):
        simulate(trace, "easy", **options)


def test_what_is_published_has_the_options_that_count(
    task: SimulatePolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Facts, and the options of the schedule beside its tables."""
    monkeypatch.setitem(tasks.SETTINGS, "overrun", replace(RUN_OPTIONS["overrun"], in_key=WHERE_SET))
    monkeypatch.setattr(SimulatePolicy, "key", "key")
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    (path,) = tmp_path.rglob("simulated/key/schedule.json")
    assert {*ALWAYS_THERE} - {"overrun"} == {*json.loads(path.read_text())["options"]} & {*NAMES}
    facts = simulation_facts(task, [], [task.entry])
    assert {*ALWAYS_THERE} - {"overrun", "seed"} == {*facts["parameters"]["options"]} & {*NAMES}


def test_a_column_that_came_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file must have it; a table without it has the default everywhere."""
    fields = [
        replace(field, optional=True) if field.name == "overrun" else field for field in dictionary.TABLES["experiment"]
    ]
    assert "overrun" in required_columns("experiment")
    monkeypatch.setitem(dictionary.TABLES, "experiment", tuple(fields))
    later = {*NAMES} - {*ALWAYS_THERE} | {"overrun", *axes.OF_MACHINES}
    assert later == {*table_fields("experiment")} - {*required_columns("experiment")}
    table = pd.DataFrame({name: ["x"] for name in SETTINGS if name != "overrun"})
    assert axes.with_options(table)["overrun"].tolist() == ["extend"]
    assert axes.with_options(table)["semantics"].tolist() == ["x"]


@pytest.mark.parametrize(
    ("axis", "wrong", "message"),
    [("seeds", -1, "a whole number >= 0"), ("overrun", 3, "a text"), ("restart_overhead", [[1]], "seconds or a text")],
)
def test_values_of_an_axis(axis: str, wrong: Any, message: str) -> None:
    """By the type of the option."""
    with pytest.raises(ParameterError, match=f"{axis}: .* is not {message}"):
        read_experiment({**EXPERIMENT, axis: wrong})


ONE_MORE = '''
import importlib.util, sys
from pathlib import Path
import swftools.parameters

name = "swftools.parameters.run_option_table"
spec = importlib.util.find_spec(name)
row = """    grace: int = run_option(
        whole(0, least=0, most=3600, unit="s"), help="Seconds.", column="Seconds.",
        in_environments=True, in_key=WHERE_SET, in_old_states=0,
    )
    seed: int = run_option("""
source = Path(spec.origin).read_text()
assert source.count("    seed: int = run_option(") == 1
table = sys.modules[name] = importlib.util.module_from_spec(spec)
exec(compile(source.replace("    seed: int = run_option(", row), spec.origin, "exec"), table.__dict__)

import runpy
import pipelines
from pipelines.cli.main import main
from pipelines.experiments.axes import AXES, SETTING
from pipelines.experiments.file import read_experiment
from swftools.errors import ParameterError
from swftools.fields.dictionary import required_columns, table_fields
from swftools.simulator import Simulation, Stepper
from swftools.simulator.registry import OPTIONS
from swftools.trace import Trace

common = {"log": sys.argv[1], "augment": "", "data_root": sys.argv[4]}
task, grace = pipelines.SimulatePolicy(**common), pipelines.SimulatePolicy(**common, grace=60)
assert task.key == sys.argv[2] != grace.key, (task.key, sys.argv[2])
assert "grace" not in task.counted_options and grace.counted_options["grace"] == 60
for wrong in (-1, 3601):
    try:
        pipelines.SimulatePolicy(**common, grace=wrong)
    except ParameterError as error:
        assert f"grace={wrong} is not an integer from 0 to 3600 (s)" == str(error), error
    else:
        raise AssertionError(wrong)
(shown,) = [each for each in main.commands["simulate"].params if each.name == "grace"]
assert shown.type.convert("60", shown, None) == 60 and "--grace" in shown.opts
assert AXES["grace"] == "grace" and "grace" in SETTING and "grace" in OPTIONS
read_experiment({"name": "x", "logs": ["x"], "policies": ["easy"], "grace": [0, 60]})
try:
    read_experiment({"name": "x", "logs": ["x"], "policies": ["easy"], "grace": [3601]})
except ParameterError as error:
    assert "grace: 3601 is not an integer from 0 to 3600 (s)" in str(error), error
assert str(table_fields("experiment")["grace"].type) == "int64" and "grace" not in required_columns("experiment")
trace = Trace.from_columns(machine_processors=4, job_number=[1], submit_time=[0], run_time=[1], requested_time=[1])
assert Simulation(trace, "easy").options["grace"] == 0
assert Stepper.from_bytes(Stepper(trace, "easy").to_bytes())._simulation.options["grace"] == 0
written = runpy.run_path(sys.argv[3])
raise SystemExit(written["main"](["--check"]))
'''


@pytest.mark.slow  # loads the pipeline anew
def test_one_row_more_is_an_option_everywhere(task: SimulatePolicy, tmp_path: Path) -> None:
    """Tasks, commands, axes, columns and states have it, keys stay; signatures and pages are named to be written."""
    (tmp_path / "one_more.py").write_text(ONE_MORE)
    command = ["one_more.py", task.log, task.key, str(ROOT / "docs" / "make_run_options.py"), str(tmp_path / "data")]
    done = NUMBA.run([sys.executable, *command], tmp_path, {**os.environ, "PYTHONPATH": str(ROOT)})
    assert (done.returncode, done.stderr) == (1, "")
    places = {path for path, *_ in MAKE["PLACES"]}
    assert {f"{path}: differs; run make run-options" for path in places} == {*done.stdout.splitlines()}
