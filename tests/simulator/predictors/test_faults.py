# SPDX-License-Identifier: BSD-3-Clause
"""Whose fault it is, of which job: predictors that fail, policies that hold for ever, times that no run comes to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swftools import Trace
from swftools.errors import ParameterError, PolicyError
from swftools.simulator import SUBMISSION, Policy, Predictor, first_waiting, hold, now, predict, simulate
from swftools.simulator.predictors.virtual import VirtualParameters
from tests.simulator.predictors.test_in_python import Listening
from tests.strategies import crowded_trace


def two_jobs(**columns: Any) -> Trace:
    """Return two jobs on a machine of two processors."""
    whole = {"job_number": [7, 8], "submit_time": [0, 5], "run_time": [10, 20], "requested_processors": [2, 2]}
    return Trace.from_columns(machine_processors=2, **(whole | {"requested_time": [30, 30]} | columns))


def never_foretells(run_time: Any, limit: Any) -> Any:
    """Fail."""
    raise RuntimeError("no good")


def fails_at_the_second(event, machine, job):  # type: ignore[no-untyped-def]
    """Fail when the second job is submitted."""
    if event == SUBMISSION and job == 1:
        raise RuntimeError("no good")


def says_nan(event, machine, job):  # type: ignore[no-untyped-def]
    """Predict what is no number."""
    if event == SUBMISSION and job == 1:
        predict(machine, job, np.nan)


class Fails(Listening):
    """Fails at the second job."""

    name = "fails"

    def predict(self, job: dict[str, Any], now: float) -> float:
        """Return 1, or fail."""
        if job["job_number"] == 8:
            raise RuntimeError("no good")
        return 1.0


class IsNotCopied(Fails):
    """Cannot be copied."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        raise RuntimeError("no copy")


def no_memory(jobs: int, processors: int) -> Any:
    """Fail."""
    raise RuntimeError("no room")


@pytest.mark.parametrize(
    ("predictor", "message"),
    [
        (
            Predictor("mine", foretell=never_foretells),
            "predictor 'mine', before the run, of 2 jobs: raised RuntimeErro",
        ),
        (Predictor("mine", fails_at_the_second), r"predictor 'mine', at 5 s, job 8 \(submitted at 5 s\): raised Runt"),
        (Predictor("mine", says_nan), "predictor 'mine', at 5 s: predicted job 1 of the queue .* by NaN"),
        (Predictor("mine", says_nan, memory=no_memory), "predictor 'mine', its memory: RuntimeError: no room"),
        (Fails(), r"predictor 'fails', at 5 s, job 8 \(which is being submitted\): raised RuntimeError: no good"),
        (IsNotCopied(), "predictor 'fails': cannot be copied, and each simulation works on a copy: RuntimeError: no c"),
    ],
)
def test_a_predictor_that_fails_is_named(predictor: Any, message: str, compiled: bool) -> None:
    """With the job and the cause, in one line, as an error that the console prints so."""
    with pytest.raises(PolicyError, match=message) as found:
        simulate(two_jobs(), "easy", predictor=predictor, compiled=compiled)
    assert "\n" not in str(found.value)


def starts_nothing_and_fails(machine):  # type: ignore[no-untyped-def]
    """Fail once the second job is there."""
    if now(machine) >= 5.0:
        raise RuntimeError("no good")


def test_a_policy_that_fails_behind_a_predictor_is_named() -> None:
    """What a predictor observed before, at the same instant, does not make it the culprit."""

    def observes(event, machine, job):  # type: ignore[no-untyped-def]
        predict(machine, job, 5.0)

    with pytest.raises(PolicyError, match="policy 'mine', at 5 s: raised RuntimeError"):
        simulate(two_jobs(), Policy("mine", starts_nothing_and_fails), predictor=Predictor("sound", observes))


def procrastinate(machine):  # type: ignore[no-untyped-def]
    """Put everything off, again and again."""
    job = first_waiting(machine)
    while job >= 0:
        hold(machine, job, now(machine) + 1.0)
        job = first_waiting(machine)


def test_holding_for_ever_is_idling() -> None:
    """Jobs that are held back, and come again, are no progress: it never ended."""
    message = "policy 'mine', at .* s: holds 2 jobs back on and on, while no job comes or ends; job 0 of the queue"
    with pytest.raises(PolicyError, match=message):
        simulate(two_jobs(), Policy("mine", procrastinate))


@pytest.mark.parametrize("policy", ["fcfs", "easy"])
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"run_time": [10, np.inf]}, "job 8: run_time is inf as it is simulated; give finite seconds of 0 or more"),
        ({"run_time": [-1.5, 4]}, "job 7: run_time is -1.5 as"),
        ({"submit_time": [-5, 0]}, "job 7: submit_time is -5 as it is simulated"),
        ({"submit_time": [-5, -4]}, r"job 7: submit_time is -5 .*\(and 1 other alike\)"),
        ({"submit_time": [0, np.inf]}, "job 8: submit_time is inf"),
    ],
)
def test_times_that_no_run_comes_to_are_refused(policy: str, columns: dict[str, Any], message: str) -> None:
    """Before the run, with the job's number; none of them is the policy's fault."""
    with pytest.raises(ParameterError, match=message):
        simulate(two_jobs(**columns), policy)


def test_jobs_that_are_left_out_may_have_any_times() -> None:
    """They are not simulated."""
    trace = two_jobs(run_time=[10, np.inf], requested_processors=[2, 3])
    assert simulate(trace, "easy").jobs["job_number"].tolist() == [7]


def test_an_error_of_minus_nothing_is_none() -> None:
    """It is written as 0, and predicts the run times."""
    assert str(VirtualParameters(error=-0.0).error) == "0.0"
    trace = crowded_trace(50)
    found, exact = (simulate(trace, "easy", predictor=told) for told in ("virtual:error=-0.0", "exact"))
    assert found.jobs.equals(exact.jobs)
    assert found.options["predictor"] == simulate(trace, "easy", predictor="virtual:error=0.0").options["predictor"]
