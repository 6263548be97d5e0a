# SPDX-License-Identifier: BSD-3-Clause
"""Predictors by name: how they are found, given parameters, and refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from swftools.errors import ParameterError
from swftools.parameters import Parameters, number
from swftools.simulator import find_predictor, list_predictors, predictor, simulate
from swftools.simulator.predictors.kinds import Predictor
from swftools.simulator.predictors.registry import text_of
from tests.strategies import crowded_trace


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("request", "request"),
        ("virtual", "virtual:error=0.5"),
        (" virtual: error = 0.25 ", "virtual:error=0.25"),
        ("last-model", "last-model:outlived=limit"),
        ("user-average: jobs = 3", "user-average:jobs=3,outlived=limit"),
    ],
)
def test_what_a_schedule_records_leads_back(text: str, written: str) -> None:
    """Name and every parameter."""
    assert written == simulate(crowded_trace(3), "fcfs", predictor=text).options["predictor"]
    assert written == text_of(written)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("psychic", "no predictor 'psychic'; there are: .*exact.*last-model.*request.*virtual"),
        ("requested", r"no predictor 'requested'; .*; did you mean request\?"),
        ("virtual:eror=1", r"virtual: unknown parameters \['eror'\]; there are: error; did you mean error\?"),
        ("virtual:error=2", "virtual: error=2 is not a number from 0 to 1"),
        ("exact:error=1", r"exact: unknown parameters \['error'\]; there are none"),
        ("factor:factor=2", "about what users request, not a predictor: .*--requests factor:factor=2"),
        ("tsafrir", "about what users request, not a predictor: requests='tsafrir'"),
        ("nowhere:mine", "module 'nowhere' cannot be imported"),
        (5, "predictor=5 is neither a name nor has it name, learn and predict"),
        (None, "predictor=None is neither a name"),
    ],
)
def test_wrong_ones_are_refused(given: Any, complaint: str) -> None:
    """In words that lead on."""
    with pytest.raises(ParameterError, match=complaint):
        simulate(crowded_trace(3), "fcfs", predictor=given)


def test_a_name_is_registered_once() -> None:
    """Two under one name would be one or the other by the order of imports."""

    def mine(event: Any, machine: Any, job: Any) -> None:
        """Observe nothing."""

    before = list_predictors()["last-model"]
    with pytest.raises(ParameterError, match="predictor 'last-model' is registered already, by swftools"):
        predictor("last-model")(mine)
    assert before is list_predictors()["last-model"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"name": "a b"}, "predictor 'a b': a name is of letters"),
        ({"name": "odd", "version": 0}, "predictor 'odd': version=0 is not an integer of 1 or more"),
        ({"name": "odd", "version": "2"}, "version='2' is not an integer"),
    ],
)
def test_wrong_facts_are_refused(arguments: dict[str, Any], complaint: str) -> None:
    """When it is registered."""

    def mine(event: Any, machine: Any, job: Any) -> None:
        """Observe nothing."""

    with pytest.raises(ParameterError, match=complaint):
        predictor(**arguments)(mine)


def test_wrong_arguments_are_refused() -> None:
    """With those that it may have."""
    with pytest.raises(
        ParameterError, match=r"takes \(machine, job\); it must take \(event, machine, job\), and behind"
    ):

        @predictor("odd")
        def _(machine: Any, job: Any) -> None:
            """Observe too little."""


def test_parameters_cannot_be_called_like_options() -> None:
    """On the console they would be taken for these."""

    @dataclass(frozen=True)
    class Odd(Parameters):
        seed: float = number(1.0)

    with pytest.raises(ParameterError, match=r"predictor 'odd': parameters \['seed'\] are called as options"):

        @predictor("odd", parameters=Odd)
        def _(event: Any, machine: Any, job: Any, parameters: Any) -> None:
            """Observe nothing."""


SOURCE = """
from dataclasses import dataclass
from swftools.parameters import Parameters, number
from swftools.simulator import SUBMISSION, predict, predictor


@dataclass(frozen=True)
class Share(Parameters):
    share: float = number(0.5, least=0, most=1)


@predictor("share-of-{module}", parameters=Share, version=3)
def share_of_request(event, machine, job, parameters):
    if event == SUBMISSION:
        predict(machine, job, parameters.share * machine.requests.limit[job])


class Half:
    name = "half"

    def __init__(self, share=0.5):
        if not 0 <= share <= 1:
            raise ValueError("a share is from 0 to 1")
        self.share = share

    def learn(self, ended):
        pass

    def predict(self, job, now):
        return self.share * job["requested_time"]


half = Half()
nothing = 5
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """Write a module with predictors, compiled and in Python, and return its name."""
    name = f"own_predictors_{abs(hash(request.node.name))}"
    (tmp_path / f"{name}.py").write_text(SOURCE.replace("{module}", name))
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_one_of_a_module_compiled_and_in_python(module: str) -> None:
    """All three say the same, so the schedules are equal; each is recorded so that it is found again."""
    trace = crowded_trace(100)
    registered = f"{module}:share-of-{module}:share=0.25"
    compiled = simulate(trace, "easy", predictor=registered)
    assert f"share-of-{module}:share=0.25" == compiled.options["predictor"]
    for text in (f"{module}:Half:share=0.25", f" {module}:Half: share = 0.25"):
        asked = simulate(trace, "easy", predictor=text)
        assert f"{module}:Half:share=0.25" == asked.options["predictor"]
        assert compiled.jobs.equals(asked.jobs)
    halves = [simulate(trace, "easy", predictor=f"{module}:{name}").jobs for name in ("half", "Half")]
    assert halves[0].equals(halves[1])
    assert not halves[0].equals(compiled.jobs)


def test_mistakes_in_what_a_module_has(module: str, tmp_path: Path) -> None:
    """Each is told by what is wrong there."""
    (tmp_path / f"{module}_b.py").write_text("def (")
    for text, complaint in {
        f"{module}:Quarter": "no predictor 'Quarter' in module .*: it registers none by that name, and there is none",
        f"{module}:nothing": "nothing has not name, learn and predict",
        f"{module}:half:share=0.3": "half is an object, not a class, and takes no parameters",
        f"{module}:Half:part=0.3": "TypeError: .*unexpected keyword argument 'part'",
        f"{module}:Half:share=3": "ValueError: a share is from 0 to 1",
        f"{module}:share-of-{module}:share=3": "share=3 is not a number from 0 to 1",
        f"{module}_b:Half": "cannot be imported: invalid syntax",
    }.items():
        with pytest.raises(ParameterError, match=complaint):
            find_predictor(text)


def test_a_class_is_not_an_object_of_it() -> None:
    """It has the methods, but nothing to call them on."""

    class Constant:
        name = "constant"

        def learn(self, ended: Any) -> None:
            """Learn nothing."""

        def predict(self, job: Any, now: float) -> float:
            return 1.0

    with pytest.raises(ParameterError, match="predictor=Constant is a class; pass an object of it"):
        simulate(crowded_trace(3), "fcfs", predictor=Constant)
    assert not isinstance(find_predictor(Constant()), Predictor)
