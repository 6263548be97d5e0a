# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of policies and predictors: how they are declared, given, refused, and recorded."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from pipelines.tasks.simulation_parameters import MetricsParameter, PoliciesParameter
from swftools.errors import ParameterError, PolicyError
from swftools.parameters import Parameters, choice, number, truth, whole
from swftools.simulator import registry
from swftools.simulator.entry_points import simulate
from swftools.simulator.machine.faults import FAULTS
from swftools.simulator.machine.verbs import start_on
from swftools.simulator.machine.views import first_waiting
from swftools.simulator.predictors.registry import find_predictor, list_predictors
from swftools.simulator.registry import OPTIONS, Policy, find_policy, list_policies, policy, read_policy
from swftools.simulator.requested_times import Factor, Logged, Tsafrir, find_requests
from swftools.simulator.simulation import Simulation
from tests.drawn import draw_trace
from tests.simulator.test_moldable import moldable_trace
from tests.strategies import crowded_trace


@pytest.fixture(autouse=True)
def registry_of_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone with it."""
    for part in ("known", "_sources"):
        monkeypatch.setattr(registry.POLICIES, part, dict(getattr(registry.POLICIES, part)))


def idle(machine):  # type: ignore[no-untyped-def]
    """Do nothing."""


# Declared


def test_options_of_simulate_are_known() -> None:
    """The names that no parameter can have are those of ``simulate``."""
    named = {*inspect.signature(simulate).parameters, *inspect.signature(Simulation).parameters}
    assert OPTIONS == named - {"options", "parameters"}


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_a_parameter_is_not_called_like_an_option(name: str) -> None:
    """Else it could not be given."""
    kind = dataclass(frozen=True)(type("Clash", (Parameters,), {"__annotations__": {name: "int"}, name: whole(1)}))
    with pytest.raises(ParameterError, match=rf"policy 'clash': parameters \['{name}'\] are called as options of"):
        policy("clash", parameters=kind)(idle)
    assert "clash" not in list_policies()


@dataclass(frozen=True)
class Vague(Parameters):
    """Parameters that cannot be a policy's."""

    required: float = number()
    fine: float = number(1.0)
    optional: int | None = whole(None, optional=True)
    free: float = 3.0


class OfTwo(Parameters):
    """Parameters that two policies want."""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"parameters": Vague},
            r"'wrong': parameters \['required', 'optional', 'free'\]: declare each by number",
        ),
        ({"parameters": OfTwo}, "OfTwo are parameters of 'first'; give 'wrong' a class of its own"),
        ({"version": 0}, "'wrong': version=0 is not an integer of 1 or more"),
        ({"version": 1.5}, "'wrong': version=1.5 is not an integer of 1 or more"),
        ({"version": True}, "'wrong': version=True is not an integer of 1 or more"),
    ],
)
def test_wrong_declarations_are_refused(arguments: dict[str, Any], message: str) -> None:
    """At registration, and nothing is registered."""
    policy("first", parameters=OfTwo)(idle)
    with pytest.raises(ParameterError, match=message):
        policy("wrong", **arguments)(idle)
    assert "wrong" not in list_policies()


@pytest.mark.parametrize("name", ["", "a:b", "a,b", "a=b", "-a", "a b"])
def test_a_name_must_be_readable_as_text(name: str) -> None:
    """A colon, comma or equals sign in it could not be told from the form's own."""
    with pytest.raises(ParameterError, match=r"a name is of letters, digits and -\._"):
        policy(name)(idle)


def test_a_policy_has_its_version() -> None:
    """One unless another is declared."""
    policy("of-two", version=2)(idle)
    policy("of-one")(idle)
    assert (2, 1) == (find_policy("of-two").version, find_policy("of-one").version)


# Given


@dataclass(frozen=True)
class EveryKind(Parameters):
    """A parameter of each kind."""

    patience: float = number(60.0, least=0, unit="s")
    depth: int = whole(1, least=1, most=9)
    order: str = choice("fcfs", "sjf")
    strict: bool = truth(True)


@pytest.mark.parametrize("text", ["every-kind:patience=5,order=sjf", f"{__name__}:every-kind:patience=5,order=sjf"])
def test_text_and_keywords_mean_the_same(text: str) -> None:
    """Also in part: what is not in the text may stand beside it."""
    policy("every-kind", parameters=EveryKind)(idle)
    chosen, given = read_policy(text)
    assert ("every-kind", {"patience": 5, "order": "sjf"}) == (chosen.name, given)
    assert (5.0, 1, 1, True) == chosen.chosen(given).values()
    assert read_policy("every-kind", given) == read_policy("every-kind:order=sjf", {"patience": 5}) == (chosen, given)


def test_simulate_takes_the_text() -> None:
    """The schedule is that of the keywords, and tells every parameter."""
    trace = crowded_trace(60)
    by_text = simulate(trace, "easy:backfill_order=sjf,reservations=2")
    by_keywords = simulate(trace, "easy", backfill_order="sjf", reservations=2)
    plain = simulate(trace, "easy")
    assert by_keywords.jobs.equals(by_text.jobs)
    assert not plain.jobs.equals(by_text.jobs)
    assert by_keywords.options == by_text.options
    assert ("easy", "sjf", 2) == (by_text.policy, by_text.options["backfill_order"], by_text.options["reservations"])
    assert ("fcfs", 1) == (plain.options["backfill_order"], plain.options["reservations"])


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        ("easy", {"reservations": -1}, "^easy: reservations=-1 is not an integer of 1 or more$"),
        ("easy", {"reservations": 0}, "^easy: reservations=0 is not an integer of 1 or more$"),
        ("easy:reservations=2.5", {}, "^easy: reservations=2.5 is not an integer of 1 or more$"),
        ("easy:backfill_order=edf", {}, "^easy: backfill_order='edf' is not one of fcfs, sjf, lxf, widest"),
        ("easy:reservation=2", {}, r"^easy: unknown parameters \['reservation'\]; .*; did you mean reservations\?$"),
        ("fcfs:depth=1", {}, r"^fcfs: unknown parameters \['depth'\]; there are none$"),
        (
            "easy:reservations=2",
            {"reservations": 2},
            "^easy: reservations is given twice, in 'easy:reservations=2'",
        ),
        ("easy:2", {}, "'2' is not KEY=VALUE, such as easy:KEY=VALUE"),
        ("esay", {}, r"^no policy 'esay'; there are: .*; did you mean easy\?$"),
        ("weighted-priority:wait_weight=heavy", {}, "^weighted-priority: wait_weight='heavy' is not a number$"),
        ("easy,fcfs", {}, "'easy,fcfs' is not one NAME or NAME:KEY=VALUE,KEY=VALUE but 2"),
    ],
)
def test_mistakes_are_told_in_one_wording(text: str, given: dict[str, Any], message: str) -> None:
    """By ``simulate``, and by the tasks before anything runs."""
    for use in (lambda: simulate(crowded_trace(3), text, **given), lambda: read_policy(text, given)):
        with pytest.raises(ParameterError, match=message):
            use()
    if "given twice" not in message:
        with pytest.raises(ParameterError, match=message):
            PoliciesParameter().normalize([{"policy": text, **given}])


def test_lists_of_policies() -> None:
    """As text, as a JSON list of texts, of mappings, or of both: the same canonical JSON."""
    expected = [
        {"policy": "fcfs"},
        {"policy": "easy", "reservations": 2, "backfill_order": "sjf"},
        {"policy": "conservative"},
    ]
    for value in (
        "fcfs,easy:reservations=2,backfill_order=sjf,conservative",
        json.dumps(["fcfs", "easy:reservations=2,backfill_order=sjf", "conservative"]),
        json.dumps(expected),
        expected,
        ["fcfs", {"policy": "easy:reservations=2", "backfill_order": "sjf"}, "conservative"],
    ):
        assert expected == json.loads(PoliciesParameter().normalize(value))
    assert PoliciesParameter().normalize('{"policy": "easy"}') == PoliciesParameter().normalize("easy")


def test_metrics_take_the_text() -> None:
    """And a mapping means the same."""
    text = MetricsParameter().normalize("bound=60, trimmed=true")
    assert text == MetricsParameter().normalize('{"bound": 60, "trimmed": true}')
    assert (60, True) == (json.loads(text)["bound"], json.loads(text)["trimmed"])


# Predictors


@pytest.mark.parametrize(
    ("text", "name", "given"),
    [
        ("request", "request", {}),
        ("virtual", "virtual", {"error": 0.5}),
        ("virtual:error=0.25", "virtual", {"error": 0.25}),
        (find_predictor("virtual:error=0.25"), "virtual", {"error": 0.25}),
        ("last-model", "last-model", {"outlived": "limit"}),
    ],
)
def test_predictors_by_text(text: Any, name: str, given: dict[str, Any]) -> None:
    """The text that a schedule records leads back to the predictor."""
    predictor = find_predictor(text)
    assert (name, given) == (predictor.name, predictor.given.to_mapping())
    assert predictor == find_predictor(predictor.to_text())
    assert predictor.to_text() == simulate(crowded_trace(3), "fcfs", predictor=text).options["predictor"]


@pytest.mark.parametrize(
    ("text", "requests"),
    [
        ("logged", Logged()),
        ("factor", Factor(2.0)),
        ("factor:factor=3", Factor(3)),
        (Factor(3.5), Factor(3.5)),
        ("tsafrir", Tsafrir()),
    ],
)
def test_requests_by_text(text: Any, requests: Any) -> None:
    """The text that a schedule records leads back to what users asked for."""
    assert requests == find_requests(text)
    assert requests == find_requests(requests.to_text())
    assert requests.to_text() == simulate(crowded_trace(20), "fcfs", requests=text).options["requests"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("psychic", r"no predictor 'psychic'; there are: .*\bexact, .*\brequest, .*\bvirtual\b"),
        ("requested", r"no predictor 'requested'; .*; did you mean request\?"),
        ("virtual:0.3", "'0.3' is not KEY=VALUE, such as virtual:KEY=VALUE"),
        ("virtual:error=2", "^virtual: error=2 is not a number from 0 to 1$"),
        ("exact:error=0", r"^exact: unknown parameters \['error'\]; there are none$"),
        (5, "predictor=5 is neither a name nor has it name, learn and predict"),
        ("no.such.module:mine", "predictor 'no.such.module:mine': module 'no.such.module' cannot be imported"),
    ],
)
def test_wrong_predictors_are_refused(text: Any, message: str) -> None:
    """In the same words as everything that takes parameters."""
    with pytest.raises(ParameterError, match=message):
        simulate(crowded_trace(3), "fcfs", predictor=text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("guessed", "^no requests 'guessed'; there are: logged, factor, tsafrir$"),
        ("loged", r"^no requests 'loged'; .*; did you mean logged\?$"),
        ("factor:factor=0", "^factor: factor=0 is not a number from 1e-6 to 1e6$"),
        ("factor:error=1", r"^factor: unknown parameters \['error'\]; there are: factor"),
        ("logged:error=1", r"^logged: unknown parameters \['error'\]; there are none$"),
        (5, "requests=5 is neither a name nor one of logged, factor, tsafrir"),
    ],
)
def test_wrong_requests_are_refused(text: Any, message: str) -> None:
    """In the same words."""
    with pytest.raises(ParameterError, match=message):
        simulate(crowded_trace(3), "fcfs", requests=text)


def test_every_predictor_is_known_by_its_name() -> None:
    """Its text begins with it, and leads back to it."""
    assert {name: made.name for name, made in list_predictors().items()} == {name: name for name in list_predictors()}
    for name, made in list_predictors().items():
        assert name == made.to_text().partition(":")[0]


# Faults


def test_every_fault_has_words() -> None:
    """The numbers run from 1, since 0 is no fault."""
    assert list(range(1, len(FAULTS) + 1)) == sorted(FAULTS)


def starts_too_narrow(machine):  # type: ignore[no-untyped-def]
    """Start the first job on a processor less than the half of its width."""
    job = first_waiting(machine)
    if job >= 0:
        start_on(machine, job, (machine.requests.processors[job] - 1) // 2)


def test_a_width_below_the_simple_curve_is_a_fault(compiled: bool) -> None:
    """The simple curve says nothing below half a job's width: there it would run for ever."""
    trace = moldable_trace()
    jobs = trace.jobs.iloc[[1]].reset_index(drop=True).assign(minimum_processors=[1])
    simple = trace.with_jobs(jobs.assign(allocated_processors=[8], maximum_processors=[8]).astype(trace.jobs.dtypes))
    with pytest.raises(
        PolicyError, match=r"at 50 s: started or resized job 0 .* to a width that its speedup curve does not allow"
    ):
        simulate(simple, Policy("too-narrow", starts_too_narrow), 8, compiled=compiled)


def test_no_width_at_all_is_a_fault(compiled: bool) -> None:
    """Of a job whose least width is missing, too: Downey's curve is 0 there, and its time would be endless."""
    trace = draw_trace("submit run width / 0 40 2")
    curve = {"speedup_curve": ["downey"], "downey_a": [4.0], "downey_sigma": [0.0], "maximum_processors": [4]}
    curved = trace.with_jobs(trace.jobs.assign(**curve, minimum_processors=[np.nan]))
    with pytest.raises(PolicyError, match="to a width that its speedup curve does not"):
        simulate(curved, Policy("too-narrow", starts_too_narrow), 8, compiled=compiled)
