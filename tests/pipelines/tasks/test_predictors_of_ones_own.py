# SPDX-License-Identifier: BSD-3-Clause
"""Options of what users ask for and what policies are told, in tasks and on the console; predictors of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import luigi
import pytest
from click.testing import CliRunner

from pipelines import ComparePolicies, SimulatePolicy
from pipelines.cli.main import main
from pipelines.logs.find import SHIPPED_LOG
from swftools.errors import ParameterError

COMPILED = """
from swftools.simulator import SUBMISSION, predict, predictor


@predictor("half-of-{module}", version={version})
def half(event, machine, job):
    if event == SUBMISSION:
        predict(machine, job, machine.requests.limit[job] / 2)
"""

IN_PYTHON = """
class Share:
    name = "share"

    def __init__(self, share=0.5):
        self.share = share

    def learn(self, ended):
        pass

    def predict(self, job, now):
        return self.share * job["requested_time"]
"""


def write_module(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, *, version: int = 1) -> Path:
    """Write a module with a compiled predictor and one in Python."""
    monkeypatch.syspath_prepend(folder)
    path = folder / f"{name}.py"
    path.write_text(COMPILED.replace("{module}", name).replace("{version}", str(version)) + IN_PYTHON)
    return path


def key_of(folder: Path, **options: Any) -> str:
    """Return the key of a simulation's output."""
    return SimulatePolicy(log=SHIPPED_LOG, data_root=str(folder), augment="", **options).key


@pytest.mark.parametrize("kind", ["half-of-{module}", "Share:share=0.25"])
def test_its_source_is_in_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """A change of the module is another output; nothing else is."""
    module = f"own_source_{kind[0].lower()}"
    path = write_module(tmp_path, monkeypatch, module)
    predictor = f"{module}:{kind.replace('{module}', module)}"
    before = key_of(tmp_path, predictor=predictor)
    assert before == key_of(tmp_path, predictor=predictor)
    assert before != key_of(tmp_path)
    path.write_text(path.read_text() + "# changed\n")
    assert before != key_of(tmp_path, predictor=predictor)


def test_equal_meanings_are_equal_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blanks and order do not matter; another parameter does."""
    write_module(tmp_path, monkeypatch, "own_meaning")
    key = key_of(tmp_path, predictor="own_meaning:Share:share=0.25", restart_overhead="60")
    assert key == key_of(tmp_path, predictor=" own_meaning:Share: share = 0.25", restart_overhead=" 60.0")
    assert key != key_of(tmp_path, predictor="own_meaning:Share:share=0.5", restart_overhead="60")
    assert key != key_of(tmp_path, predictor="own_meaning:Share:share=0.25", restart_overhead="61")
    assert key_of(tmp_path, requests="factor") == key_of(tmp_path, requests="factor:factor=2.0")


@pytest.mark.parametrize(
    ("option", "value", "complaint"),
    [
        ("predictor", "factor:factor=2", "--requests factor:factor=2"),
        ("predictor", "virtul", "no predictor 'virtul'; .*did you mean virtual"),
        ("predictor", "nowhere:mine", "module 'nowhere' cannot be imported"),
        ("requests", "last-model", "no requests 'last-model'; there are: logged, factor, tsafrir"),
        ("restart_overhead", "-5", "seconds=-5.0 is not a number of 0 or more"),
        ("restart_overhead", "colum:name=x", "did you mean column"),
    ],
)
def test_a_slip_is_told_before_anything_runs(tmp_path: Path, option: str, value: str, complaint: str) -> None:
    """By the tasks and by the console alike, in one line."""
    for task in (SimulatePolicy, ComparePolicies):
        with pytest.raises(ParameterError, match=complaint):
            task(log=SHIPPED_LOG, data_root=str(tmp_path), **{option: value})
    flag = f"--{option.replace('_', '-')}"
    result = CliRunner().invoke(main, ["simulate", SHIPPED_LOG, flag, value])
    assert 2 == result.exit_code
    assert result.output.startswith("error: ")
    assert 1 == len(result.output.splitlines())


def test_the_console_finds_one_in_python_and_says_what_it_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The schedule is that of the compiled one that says the same."""
    write_module(tmp_path, monkeypatch, "own_console")
    schedules = []
    for predictor in ("own_console:Share", "own_console:half-of-own_console"):
        output = tmp_path / "schedule.csv"
        arguments = ["simulate", SHIPPED_LOG, "--predictor", predictor, "--output", str(output)]
        result = CliRunner().invoke(main, arguments)
        assert 0 == result.exit_code, result.output
        assert ("the predictor in Python took" in result.output) == predictor.endswith("Share")
        schedules.append(output.read_bytes())
    assert schedules[0] == schedules[1]


def test_what_is_published_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The options, the version that it declares, and the hash of its source."""
    write_module(tmp_path, monkeypatch, "own_published", version=4)
    task = ComparePolicies(
        log=SHIPPED_LOG,
        data_root=str(tmp_path / "data"),
        augment="",
        policies="fcfs",
        predictor="own_published:half-of-own_published",
        requests="factor:factor=2",
        restart_overhead="60",
    )
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    parameters = json.loads((Path(task.output().path) / "manifest.json").read_text())["parameters"]
    assert "own_published:half-of-own_published" == parameters["options"]["predictor"]
    assert "factor:factor=2" == parameters["options"]["requests"]
    assert "uniform:seconds=60.0,per_processor=0.0" == parameters["options"]["restart_overhead"]
    assert 4 == parameters["predictor"]["version"]
    assert 64 == len(parameters["predictor"]["own"])


def test_cqsim_on_the_console_is_valid(tmp_path: Path) -> None:
    """Its promises are made by other times than those that validation knows: none is taken for broken."""
    arguments = ["simulate", SHIPPED_LOG, "--semantics", "cqsim", "--predictor", "exact", "--overrun", "kill"]
    result = CliRunner().invoke(main, arguments)
    assert 0 == result.exit_code, result.output
