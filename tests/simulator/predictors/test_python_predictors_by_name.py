# SPDX-License-Identifier: BSD-3-Clause
"""``@python_predictor``: a class of predictors in Python under a plain name, with parameters and a version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from swftools.errors import ParameterError, PolicyError
from swftools.parameters import Parameters, number
from swftools.simulator import Predictor, Simulation, find_predictor, list_predictors, python_predictor, simulate
from swftools.simulator.predictors import registry
from tests.strategies import crowded_trace


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone with it."""
    monkeypatch.setattr(registry.PREDICTORS, "known", dict(registry.PREDICTORS.known))
    monkeypatch.setattr(registry.PREDICTORS, "_sources", dict(registry.PREDICTORS._sources))


@dataclass(frozen=True)
class ShareParameters(Parameters):
    """Parameters of ``share``."""

    share: float = number(0.5, least=0, most=2)
    offset: float = number(0.0)


class Share:
    """Predicts a share of the request."""

    name: str

    def __init__(self, parameters: ShareParameters) -> None:
        if parameters.share == 2:
            raise ValueError("twice is too much")
        self.parameters, self.learned = parameters, 0

    def learn(self, ended: list[dict[str, Any]]) -> None:
        """Count."""
        self.learned += len(ended)

    def predict(self, job: dict[str, Any], now: float) -> float:
        """Return the share."""
        return float(self.parameters.share * job["requested_time"] + self.parameters.offset)


def register() -> None:
    """Register it."""
    python_predictor("share", parameters=ShareParameters, version=3)(Share)


def test_it_is_found_with_its_parameters() -> None:
    """By its text, which the schedule records whole; as one of a compiled kind is."""
    register()
    found = find_predictor("share:share=0.25")
    assert isinstance(found, Predictor)
    assert (3, Share, "share:share=0.25,offset=0.0") == (found.version, found.function, found.to_text())
    assert "share" in list_predictors()
    trace = crowded_trace(100)
    for predictor in ("share:share=0.25", found):
        schedule = simulate(trace, "easy", predictor=predictor)
        assert "share:share=0.25,offset=0.0" == schedule.options["predictor"]
        assert schedule.jobs["estimated_time"].equals(schedule.jobs["requested_time"] / 4)
    assert simulate(trace, "easy", predictor="share", compiled=False).jobs.equals(
        simulate(trace, "easy", predictor="share:share=0.5").jobs
    )


def test_each_simulation_has_one_of_its_own() -> None:
    """What one learned is not known to the next."""
    register()
    trace = crowded_trace(100)
    first, second = Simulation(trace, "easy", predictor="share"), Simulation(trace, "easy", predictor="share")
    first.run()
    assert isinstance(first.predictor, Share)
    assert isinstance(second.predictor, Share)
    assert first.predictor.learned > 0
    assert (0, "share") == (second.predictor.learned, second.predictor.name)
    assert first.predictor_seconds > 0


def test_one_without_parameters() -> None:
    """It is made of nothing."""

    @python_predictor("whole")
    class Whole:
        """Predicts the request."""

        name: str

        def learn(self, ended: list[dict[str, Any]]) -> None:
            """Learn nothing."""

        def predict(self, job: dict[str, Any], now: float) -> float:
            """Return it."""
            return float(job["requested_time"])

    trace = crowded_trace(50)
    assert simulate(trace, "easy", predictor="whole").jobs.equals(simulate(trace, "easy").jobs)
    with pytest.raises(ParameterError, match=r"whole: unknown parameters \['share'\]; there are none"):
        find_predictor("whole:share=1")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("share:share=3", "share: share=3 is not a number from 0 to 2"),
        ("share:shar=1", "did you mean share"),
        ("share:share=2", "predictor 'share:share=2,offset=0.0': ValueError: twice is too much"),
        ("shar", "no predictor 'shar'; .*did you mean share"),
    ],
)
def test_wrong_parameters_are_refused(text: str, complaint: str) -> None:
    """In the words of all others."""
    register()
    with pytest.raises(ParameterError, match=complaint):
        simulate(crowded_trace(3), "fcfs", predictor=text)


@pytest.mark.parametrize(
    ("name", "version", "learner", "complaint"),
    [
        ("last-model", 1, Share, "predictor 'last-model' is registered already"),
        ("a b", 1, Share, "predictor 'a b': a name is of letters"),
        ("odd", 0, Share, "predictor 'odd': version=0 is not an integer of 1 or more"),
        ("odd", 1, dict, r"predictor 'odd': <class 'dict'> is not a class with learn and predict"),
        ("odd", 1, crowded_trace, "is not a class with learn and predict"),
        ("odd", 1, Share(ShareParameters()), "is not a class with learn and predict"),
    ],
)
def test_wrong_facts_are_refused(name: str, version: int, learner: Any, complaint: str) -> None:
    """When it is registered; and then there is none."""
    before = dict(list_predictors())
    with pytest.raises(ParameterError, match=complaint):
        python_predictor(name, version=version)(learner)
    assert before == list_predictors()


def test_parameters_cannot_be_called_like_options() -> None:
    """As of every predictor."""

    @dataclass(frozen=True)
    class Odd(Parameters):
        seed: float = number(1.0)

    with pytest.raises(ParameterError, match=r"parameters \['seed'\] are called as options"):
        python_predictor("odd", parameters=Odd)(Share)


@pytest.mark.parametrize("semantics", ["pyss", "cqsim"])
def test_other_simulators_have_none(semantics: str) -> None:
    """Refused, as of every predictor that may be outlived."""
    register()
    with pytest.raises(ParameterError, match=r"with predictor='share'|not 'share'"):
        simulate(crowded_trace(3), "easy", predictor="share", semantics=semantics)


@pytest.mark.parametrize(("offset", "told"), [(-1e9, 0.0), (1e9, np.inf)])
def test_what_it_says_counts_from_nothing_to_the_limit(offset: float, told: float, compiled: bool) -> None:
    """Less than nothing is nothing, and more than the request is that."""
    register()
    jobs = simulate(crowded_trace(80), "easy", predictor=f"share:offset={offset}", compiled=compiled).jobs
    assert jobs["estimated_time"].tolist() == np.minimum(jobs["requested_time"], told).tolist()


@pytest.mark.parametrize(("answer", "complaint"), [("nan", "predicted NaN"), ("raise", "raised ZeroDivisionError")])
def test_its_mistakes_are_told(answer: str, complaint: str) -> None:
    """By its name and the time."""

    class Wrong(Share):
        def __init__(self) -> None:
            self.learned = 0

        def predict(self, job: dict[str, Any], now: float) -> float:
            return float("nan") if answer == "nan" else 1 / 0

    python_predictor("wrong")(Wrong)
    with pytest.raises(PolicyError, match=rf"predictor 'wrong', at \d+ s, job \d+ .*: {complaint}"):
        simulate(crowded_trace(60), "easy", predictor="wrong")
