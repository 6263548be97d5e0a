# SPDX-License-Identifier: BSD-3-Clause
"""What a run assumes is counted of the jobs that are simulated, and stays with its schedule."""

import pytest

from swftools.simulator.entry_points import simulate
from swftools.simulator.stepping.stepper import Stepper
from swftools.simulator.validation.report import validate
from swftools.trace import Trace


def _trace(requested: list[int], run: list[int]) -> Trace:
    jobs = len(run)
    return Trace.from_columns(
        machine_processors=4,
        job_number=list(range(1, jobs + 1)),
        submit_time=list(range(jobs)),
        run_time=run,
        requested_time=requested,
        requested_processors=[1] * (jobs - 1) + [5],
    )


MIXED = _trace([-1, 0, 5, 20, -1, 10], [10, 10, 10, 10, -1, 10])
"""Of five narrow jobs one has no run time, two others no request, one ran longer than requested; the sixth is wide."""


def test_what_is_missing_and_what_is_taken_for_it():
    """What is missing and what is taken for it."""
    told = simulate(MIXED, "fcfs").assumptions
    assert told[0] == "policies plan with the run times that users requested"
    assert "2 of 4 jobs have no requested time: their actual run time is used, as if requests were perfect" in told
    assert any(line.startswith("1 of 4 jobs ran longer than requested: their requests are raised") for line in told)
    left_out = [line for line in told if line.startswith("left out: 1 job, ")]
    assert len(left_out) == 2


@pytest.mark.parametrize(
    ("overrun", "words"), [("kill", "their runs are cut there"), ("run-on", "both stay as they are")]
)
def test_the_overrun_rule_that_was_taken(overrun, words):
    """The overrun rule that was taken."""
    assert any(words in line for line in simulate(MIXED, "fcfs", overrun=overrun).assumptions)


def test_jobs_without_run_time_that_run():
    """Jobs without run time that run."""
    told = simulate(MIXED, "fcfs", cancelled="end-at-once").assumptions
    assert "1 of 5 jobs have no run time: they run 1 s (cancelled=end-at-once)" in told


FOLLOWED = "2 of 4 jobs wait for others: they are eligible when these have ended and their think time is over"
IGNORED = "2 of 4 jobs depend on another: dependencies (preceding_job_number, think_time) are ignored"
LEFT_OUT = "2 dependencies left out: 1 names the job itself, 1 names a job that is not there"
DUMMY = "preceding_job_number is 1 in every row, which says nothing: no job waits for it"


@pytest.mark.parametrize(
    ("preceding", "dependencies", "told"),
    [
        ([-1, 1, 1, -1], "follow", f"{FOLLOWED} (dependencies=follow)"),
        ([-1, 1, 1, -1], "ignore", IGNORED),
        ([-1, -1, 9, 4], "follow", LEFT_OUT),
        ([-1, -1, -1, -1], "follow", None),
        ([1, 1, 1, 1], "follow", DUMMY),  # as a few logs have it, with think times of 1, too
    ],
)
def test_what_is_said_of_dependencies(preceding, dependencies, told):
    """In one line; what they say of one, and of none, is said as well; a saved state says the same."""
    trace = _trace([10] * 4, [10] * 4)
    trace = trace.with_jobs(trace.jobs.assign(preceding_job_number=preceding, requested_processors=1))
    schedule = simulate(trace, "fcfs", dependencies=dependencies)
    words = ("depend", "wait for", "waits for")
    assert [line for line in schedule.assumptions if any(word in line for word in words)] == ([told] if told else [])
    notes = [note for note in validate(schedule, trace=trace).notes if "not followed" in note]
    note = "dependencies not followed: 2 of 2 jobs that wait for others start before these have ended"
    assert notes == ([note] if dependencies == "ignore" else [])
    stepper = Stepper(trace, "fcfs", dependencies=dependencies)
    assert Stepper.from_bytes(stepper.to_bytes()).finish().assumptions == stepper.finish().assumptions


@pytest.mark.parametrize(("requested", "is_void"), [([-1, -1, -1], True), ([-1, 10, -1], False)])
def test_without_any_request_a_comparison_of_predictors_is_void(requested, is_void):
    """Without any request a comparison of predictors is void."""
    trace = _trace([*requested, -1], [10, 10, 10, 10])
    told = simulate(trace, "fcfs", predictor="exact").assumptions
    assert ("no job has a requested time: a comparison of predictors says nothing here" in told) is is_void
    assert told[0] == "policies plan with the actual run times"


@pytest.mark.parametrize(
    ("predictor", "requests", "told"),
    [
        ("request", "factor:factor=2", "policies plan with requested times by requests=factor:factor=2"),
        ("last-model", "logged", "policies plan with run times by predictor=last-model:outlived=limit"),
        (
            "exact",
            "factor:factor=2",
            "policies plan with the actual run times, beside requested times by requests=factor:factor=2",
        ),
    ],
)
def test_what_policies_plan_with(predictor: str, requests: str, told: str) -> None:
    """A predictor other than the request, and requests other than the logged ones, are named."""
    trace = _trace([10, 20], [10, 10])
    assert simulate(trace, "fcfs", predictor=predictor, requests=requests).assumptions[0] == told
