# SPDX-License-Identifier: BSD-3-Clause
"""The options of a run are declared once: whoever takes them takes exactly those, with their types and defaults."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import runpy
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

import pipelines
from pipelines.cli.main import main
from pipelines.experiments import axes
from pipelines.experiments.file import KEYS
from pipelines.tasks.simulate import SimulationTask
from swftools.errors import ParameterError, StateError
from swftools.fields.dictionary import table_fields
from swftools.learning.options import EnvOptions
from swftools.machines.description import MachineDescription
from swftools.parameters.run_option_table import ALWAYS, NEEDED, RUN_OPTIONS, RunOptions
from swftools.simulator import Simulation, Stepper, run_options, simulate
from swftools.simulator.registry import OPTIONS
from swftools.simulator.stepping import serialize
from tests.folders import ROOT
from tests.strategies import crowded_trace

MAKE = runpy.run_path(str(ROOT / "docs" / "make_run_options.py"))
NAMES = list(RUN_OPTIONS)
SETTINGS = [name for name, option in RUN_OPTIONS.items() if not option.is_repetition]
ALWAYS_THERE = [name for name, option in RUN_OPTIONS.items() if option.in_key == ALWAYS]
OF_POOL = [name for name, option in RUN_OPTIONS.items() if not option.on_nodes]
SIMULATING = ("simulate", "compare", "energy", "price", "explain", "reservations")
EIGHT = {"nodes": [{"kind": "cpu", "count": 1, "cores": 8}]}


def test_names_of_the_table() -> None:
    """Each option is known by its field, with what a reader needs; of settings and repetitions there are some."""
    assert NAMES == RunOptions.names() == [each.name for each in RUN_OPTIONS.values()]
    assert {"seed"} == {*NAMES} - {*SETTINGS}
    for option in RUN_OPTIONS.values():
        assert option.column.endswith("."), option.name
        assert option.help.endswith(".") != bool(option.forms), option.name
    assert len({option.axis for option in RUN_OPTIONS.values()}) == len(NAMES)


@pytest.mark.parametrize(
    ("takes", "beside"), [(simulate, {"compiled", "machine", "progress"}), (Simulation, {"compiled", "machine"})]
)
def test_signatures(takes: Any, beside: set[str]) -> None:
    """Names, types and defaults can be read from each."""
    keywords = [each for each in inspect.signature(takes).parameters.values() if each.kind is each.KEYWORD_ONLY]
    found = {each.name: (each.annotation, each.default) for each in keywords if each.name not in beside}
    declared = {name: (MAKE["annotation"](option), option.default) for name, option in RUN_OPTIONS.items()}
    assert list(found.items()) == list(declared.items())
    assert beside == {each.name for each in keywords} - {*NAMES}


def test_docstring_and_pages() -> None:
    """Help tells each option, and the page of options has a row for it."""
    told = re.findall(r"^    (\w+) : ", str(simulate.__doc__), re.MULTILINE)
    assert NAMES == [name for name in told if name in RUN_OPTIONS]
    page = (ROOT / "docs" / "simulator.md").read_text(encoding="utf-8").partition("## What the options decide")[2]
    assert NAMES == [name for name in re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) if name in RUN_OPTIONS]


def test_what_is_written_is_as_it_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Run ``make run-options`` after a change of the table; a file that differs is named, and mended."""
    assert MAKE["main"](["--check"]) == 0
    for name in {path for path, *_ in MAKE["PLACES"]}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    changed = tmp_path / "swftools/simulator/simulation.py"
    before = changed.read_text(encoding="utf-8")
    changed.write_text(before.replace('semantics: str = "instant"', 'semantics: str = "pyss"'), encoding="utf-8")
    assert MAKE["main"](["--check", "--root", str(tmp_path)]) == 1
    assert capsys.readouterr().out == "swftools/simulator/simulation.py: differs; run make run-options\n"
    assert MAKE["main"](["--root", str(tmp_path)]) == 0
    assert changed.read_text(encoding="utf-8") == before


def test_names_that_no_policy_can_use() -> None:
    """The registry's list follows."""
    assert OPTIONS == {"trace", "policy", "processors", "compiled", "machine", "progress", *NAMES}


def test_what_a_schedule_tells() -> None:
    """Every option that counts there, and the policy's parameters; those that are read as text with every parameter."""
    trace = crowded_trace(5, seed=1)
    options = Simulation(trace, "easy", predictor="virtual", restart_overhead=3, seed=4).options
    assert OF_POOL == [name for name in options if name in NAMES] == list(options)[: len(OF_POOL)]
    usual = {name: run_options.options_in_words(RunOptions())[name] for name in NAMES}
    told = {name: usual[name] for name in OF_POOL}
    assert told == {name: value for name, value in Simulation(trace, "easy").options.items() if name in NAMES}
    machine = MachineDescription.from_mapping(EIGHT)
    away = machine.changed(["away: nodes=ALL,in=9,for=1"])
    on_nodes = Simulation(trace, "easy", machine=away, compiled=False).options
    assert usual == {name: value for name, value in on_nodes.items() if name in NAMES}
    assert {**on_nodes, **Simulation(trace, "easy", machine=machine).options} == on_nodes
    assert "on_outage" not in Simulation(trace, "easy", machine=machine).options
    usual = told
    changed = {"predictor": "virtual:error=0.5", "restart_overhead": "uniform:seconds=3.0,per_processor=0.0", "seed": 4}
    assert usual | changed == {name: options[name] for name in OF_POOL}


@pytest.mark.parametrize("name", [each for each in dir(pipelines) if isinstance(getattr(pipelines, each), type)])
def test_parameters_of_tasks(name: str) -> None:
    """A task that simulates has all settings, one of a single run also what makes repetitions; with their defaults."""
    task = getattr(pipelines, name)
    found = dict(task.get_params())
    if not issubclass(task, SimulationTask):
        assert not {*found} & {*SETTINGS}
        return
    wanted = NAMES if "policy" in found and "seeds" not in found else SETTINGS
    assert {*wanted} == {*found} & {*NAMES}
    for option in (RUN_OPTIONS[each] for each in wanted):
        parameter = found[option.name]
        value = parameter.normalize(parameter._default)
        text = option.usual if option.on_nodes else run_options.options_in_words(RunOptions())[option.name]
        assert (value, type(value)) == ((text, str) if option.forms else (option.default, option.type))
        assert option.sentence() in parameter.description


def test_options_of_commands() -> None:
    """A command that simulates has all settings, and nobody has some of them only."""
    for name in SIMULATING:
        there = {each.name: each for each in main.commands[name].params}
        wanted = [each for each in NAMES if each in SETTINGS or "seeds" not in there]
        assert {*wanted} == {*there} & {*NAMES}, name
        for option in (RUN_OPTIONS[each] for each in wanted):
            shown = there[option.name]
            assert isinstance(shown, click.Option)
            assert (shown.default, shown.help) == (option.usual, option.sentence()), (name, option.name)
            assert getattr(shown.type, "choices", ()) == option.choices
    others = [command for name, command in main.commands.items() if name not in SIMULATING]
    assert not [each for command in others for each in command.params if each.name in {"cancelled", "restart_overhead"}]


def test_a_command_refuses_what_is_out_of_bounds() -> None:
    """By the words of the domain, before anything is loaded."""
    seed = next(each for each in main.commands["simulate"].params if each.name == "seed")
    assert seed.type.convert("7", seed, None) == 7
    with pytest.raises(click.BadParameter, match=re.escape("'-1' is not an integer from 0 to 2**64 - 1")):
        seed.type.convert("-1", seed, None)


def test_axes_and_columns_of_experiments() -> None:
    """Each option is an axis, a key of the file, and a column of each table of settings."""
    assert [option.axis for option in RUN_OPTIONS.values()] == [axis for axis in axes.AXES if axes.AXES[axis] in NAMES]
    assert {option.axis: name for name, option in RUN_OPTIONS.items()}.items() <= axes.AXES.items()
    assert {*axes.AXES} <= {*KEYS}
    assert SETTINGS == [name for name in axes.OPTIONS if name in NAMES] == [n for n in axes.SETTING if n in NAMES]
    assert axes.REPETITIONS == ("seed", "shake")
    for table in ("experiment", "experiment_differences", "experiment_ranks"):
        assert SETTINGS == [name for name in table_fields(table) if name in SETTINGS]
        for name in SETTINGS:
            assert table_fields(table)[name].meaning == RUN_OPTIONS[name].column
            assert table_fields(table)[name].optional == (RUN_OPTIONS[name].in_key != ALWAYS)


def test_order_of_cells() -> None:
    """Published rows are in it: logs first; a policy before its repetitions; an option that came later between."""
    published = [
        *("logs", "loads", "windows", "processors", "predictors", "requests", "overrun", "cancelled"),
        *("restart_overhead", "semantics", "policies", "seeds", "shakes"),
    ]
    assert published == [axis for axis in axes.AXES if axis in published]


def test_options_of_environments() -> None:
    """Those that the table gives them, and no other of a run."""
    taken = [name for name, option in RUN_OPTIONS.items() if option.in_environments]
    assert taken == [name for name in EnvOptions.__annotations__ if name in NAMES]


def test_what_reads_options() -> None:
    """Each option with forms is read by one function, which takes the forms; the others are checked by their domain."""
    assert [name for name, option in RUN_OPTIONS.items() if option.forms] == list(run_options.FIND)
    for name, find in run_options.FIND.items():
        for form in re.findall(r"`([^`]+)`", " ".join(RUN_OPTIONS[name].forms)):
            assert form == "module:name" or find(form)
        find(RUN_OPTIONS[name].default)
        find(RUN_OPTIONS[name].usual)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"overrun": "Extend"}, "overrun='Extend' is not one of extend, kill, run-on"),
        ({"cancelled": None}, "cancelled=None is not one of drop, end-at-once, full-request"),
        ({"semantics": "slurm"}, "semantics='slurm' is not one of instant, pyss, cqsim, dr_evt, raps"),
        ({"seed": -1}, "seed=-1 is not an integer from 0 to 2**64 - 1"),
        ({"seed": 2**64}, f"seed={2**64} is not an integer from 0 to 2**64 - 1"),
        ({"seed": True}, "seed=True is not an integer from 0 to 2**64 - 1"),
        ({"requests": "loged"}, "no requests 'loged'; there are: logged, factor, tsafrir; did you mean logged?"),
        ({"predictor": 3}, "predictor=3 is neither a name nor has it name, learn and predict"),
        ({"restart_overhead": -1}, "uniform: seconds=-1.0 is not a number of 0 or more (s)"),
        ({"overun": "kill"}, "easy: unknown parameters ['overun']"),
    ],
)
def test_values_that_are_refused(options: dict[str, Any], message: str) -> None:
    """In the words of the domain, in Python as by whoever checks them before."""
    trace = crowded_trace(3, seed=1)
    for takes in (simulate, Simulation):
        with pytest.raises(ParameterError, match=f"^{re.escape(message)}"):
            takes(trace, "easy", **options)
    if "overun" in options:
        with pytest.raises(ParameterError, match="did you mean overrun"):
            run_options.check_options(**options)
    else:
        with pytest.raises(ParameterError, match=f"^{re.escape(message)}"):
            run_options.check_options(**options)


@pytest.mark.parametrize(
    "options",
    [
        *({"overrun": "kill"}, {"cancelled": "full-request"}, {"requests": "factor:factor=3"}, {"predictor": "exact"}),
        *({"restart_overhead": 60}, {"semantics": "pyss"}, {"predictor": "virtual", "seed": 3}),
    ],
    ids=str,
)
def test_each_reaches_its_use(options: dict[str, Any]) -> None:
    """Another value simulates other jobs, or in another order."""
    trace = crowded_trace(20, seed=1)
    trace = trace.with_jobs(trace.jobs.assign(run_time=trace.jobs["run_time"].mask(trace.jobs.index == 3)))
    first, second = ({**options, **dict.fromkeys([*options][-1:], usual)} for usual in _usual(options))
    assert _prepared(Simulation(trace, "easy", **first)) == _prepared(Simulation(trace, "easy", **second))
    assert _prepared(Simulation(trace, "easy", **options)) != _prepared(Simulation(trace, "easy", **first))


def _usual(options: dict[str, Any]) -> tuple[Any, Any]:
    """Return the default of the last option, in Python and on a command line."""
    option = RUN_OPTIONS[[*options][-1]]
    return option.default, option.usual


def _prepared(simulation: Simulation) -> tuple[Any, ...]:
    """Return what is simulated: jobs, what a restart takes, and the order of events."""
    workload = simulation._workload
    columns = [column.tolist() for column in (*workload.coming[:4], workload.restart)]
    return columns, workload.is_cut.tolist(), simulation._driver.options


def state_with(stepper: Stepper, changed: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Return the state of a stepper with other options in it; None takes one out."""
    dumps = json.dumps

    def write(what: Any) -> str:
        if isinstance(what, dict) and "options" in what:
            options = {key: value for key, value in (what["options"] | changed).items() if value is not None}
            what = {**what, "options": options}
        return dumps(what)

    with monkeypatch.context() as patched:
        patched.setattr(serialize.json, "dumps", write)
        return stepper.to_bytes()


@pytest.mark.parametrize("name", OF_POOL)
def test_a_saved_state_has_every_option(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one it is none, unless the option came later: then it is what it was before there was the option."""
    stepper = Stepper(crowded_trace(4, seed=1), "easy")
    assert {*OF_POOL} <= {*stepper._simulation.options}
    state = state_with(stepper, {name: None}, monkeypatch)
    if (older := RUN_OPTIONS[name].in_old_states) is NEEDED:
        with pytest.raises(StateError, match="not those of a simulation"):
            Stepper.from_bytes(state)
    else:
        assert Stepper.from_bytes(state)._simulation.options[name] == older
    with pytest.raises(StateError, match="not those of a simulation"):
        Stepper.from_bytes(state_with(stepper, {"patience": 3}, monkeypatch))
    was = stepper._simulation.options[name]
    monkeypatch.setitem(RUN_OPTIONS, name, replace(RUN_OPTIONS[name], in_old_states=was))
    again = Stepper.from_bytes(state)
    assert again._simulation.options == stepper._simulation.options
    assert Stepper.from_bytes(stepper.to_bytes())._simulation.options == stepper._simulation.options


@pytest.mark.parametrize(("name", "value"), [("seed", -1), ("overrun", "x"), ("requests", "x"), ("semantics", [])])
def test_a_saved_state_is_checked(name: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its options as those of a call."""
    stepper = Stepper(crowded_trace(4, seed=1), "easy")
    with pytest.raises(StateError, match=f"the state cannot be continued here: (no )?{name}"):
        Stepper.from_bytes(state_with(stepper, {name: value}, monkeypatch))


def test_the_table_is_light() -> None:
    """Commands show their options before anything heavy is loaded."""
    code = "import sys, swftools.parameters.run_option_table\nprint({'numba', 'pandas', 'numpy'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "set()\n"


def test_options_cannot_be_changed() -> None:
    """What was checked stays so."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        RunOptions().seed = 3  # type: ignore[misc]
    assert RunOptions.among({"seed": 3, "trace": None}) == RunOptions(seed=3)
    assert RunOptions.in_old_states().keys() == {*NAMES} - {*ALWAYS_THERE}
