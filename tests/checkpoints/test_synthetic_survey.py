# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic checkpoint surveys: the published totals, the users' habits, and the same in any order of jobs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace, clean, read_swf
from swftools.checkpoints import exchanges
from swftools.checkpoints import synthetic_survey as module
from swftools.checkpoints.inference import CLOCK_TOLERANCE, infer_checkpoints
from swftools.checkpoints.survey import CheckpointSurvey, read_checkpoint_survey, write_checkpoint_survey
from swftools.checkpoints.synthetic_survey import (
    CheckpointSurveyParameters,
    generate_checkpoint_survey,
    largest_remainder,
)
from swftools.errors import ParameterError
from tests.examples import by_day, examples
from tests.folders import REFERENCES
from tests.strategies import traces

PUBLISHED = json.loads((REFERENCES / "lee2009_checkpoint_survey.json").read_text(encoding="utf-8"))
RESPONSES = list(PUBLISHED["responses"].values())
LOGS = [
    "CTC-SP2-1996-3.1-cln",
    "KTH-SP2-1996-2.1-cln",
    "SDSC-BLUE-2000-4.2-cln",
    "SDSC-DS-2004-2.1-cln",
    "SDSC-SP2-1998-4.2-cln",
]


def counts_of(survey: CheckpointSurvey) -> list[int]:
    """Return the number of answers by choice."""
    return np.bincount(survey.answers["choice"].to_numpy(np.int64), minlength=7).tolist()


def with_work(trace: Trace, survey: CheckpointSurvey) -> pd.DataFrame:
    """Return the answers with run_time and processor hours of their jobs, whose numbers are unique."""
    jobs = pd.DataFrame({"run_time": trace.arrays.run_time, "hours": trace.arrays.width * trace.arrays.run_time / 3600})
    jobs.index = pd.Index(trace.jobs["job_number"])
    return survey.answers.join(jobs, on="job_number")


def consistency_of(survey: CheckpointSurvey) -> float:
    """Return the share of answers, declined ones aside, that are the most frequent of their user and width."""
    answers = survey.answers[survey.answers["choice"] < 6]
    most = answers.groupby(["user_id", "processors"])["choice"].agg(lambda choices: choices.value_counts().iloc[0])
    return float(most.sum() / len(answers))


def naive_shares(total: int, weights: list[float]) -> list[int]:
    """Return the largest-remainder shares, one left-over unit at a time."""
    exact = [total * weight / sum(weights) for weight in weights]
    shares = [math.floor(value) for value in exact]
    while sum(shares) < total:
        behind = [
            value - share if share == math.floor(value) else -1 for value, share in zip(exact, shares, strict=True)
        ]
        shares[behind.index(max(behind))] += 1
    return shares


# The published figures


def test_constants_are_the_published_ones() -> None:
    """Tables 6.1 and 6.2, the intervals and the ratios are held as printed."""
    assert tuple(RESPONSES) == module.RESPONSES
    assert PUBLISHED["responses_total_of_the_table"] == sum(module.RESPONSES)
    assert tuple(PUBLISHED["node_hours"].values()) == module.NODE_HOURS
    assert PUBLISHED["node_hours_total"] == pytest.approx(sum(module.NODE_HOURS), abs=1e-6)
    assert (PUBLISHED["jobs_answered"], PUBLISHED["jobs_submitted"]) == (module.ANSWERED_JOBS, module.SUBMITTED_JOBS)
    for part in ("interval_counts", "interval_counts_made_up"):
        assert PUBLISHED[part] == {str(minutes): module.INTERVALS[int(minutes)] for minutes in PUBLISHED[part]}
    assert len(PUBLISHED["interval_counts"]) + len(PUBLISHED["interval_counts_made_up"]) == len(module.INTERVALS)
    known = PUBLISHED["ratio_intervals"]
    assert (PUBLISHED["ratio_at_most_one_fiftieth"] / known, 50) == (module.FINE_SHARE, module.FINE_RATIO)
    assert (PUBLISHED["ratio_less_than_a_quarter"] / known, 4) == (module.COARSE_SHARE, module.COARSE_RATIO)
    made_up = (module.NOISE, exchanges.MOST_EXCHANGES, exchanges.NEAR_ENOUGH, exchanges.LEAST_GAIN)
    assert list(PUBLISHED["made_up"].values()) == [*made_up, CLOCK_TOLERANCE]
    defaults = CheckpointSurveyParameters()
    assert (1365, 1010 / 4203) == (defaults.answers, defaults.response_share)


def test_made_up_intervals_keep_the_published_facts() -> None:
    """There are 219, half of them 15 minutes or less, and none is as frequent as the three named."""
    minutes = np.repeat(list(module.INTERVALS), list(module.INTERVALS.values()))
    assert PUBLISHED["interval_responses"] == len(minutes) == module.RESPONSES[0]
    assert PUBLISHED["interval_median_minutes"] == np.median(minutes)
    named = PUBLISHED["interval_counts"]
    assert min(named.values()) > max(PUBLISHED["interval_counts_made_up"].values())


def test_printed_percentages_are_those_of_the_tables() -> None:
    """The percentages that the tables print follow from their counts and hours."""
    for counts, percents in (("responses", "response_percent"), ("node_hours", "node_hours_percent")):
        shares = {choice: 100 * count / sum(PUBLISHED[counts].values()) for choice, count in PUBLISHED[counts].items()}
        assert PUBLISHED[percents] == pytest.approx(shares, abs=0.5)


@pytest.mark.parametrize("seed", by_day(range(8), 2))
def test_the_shipped_log_meets_the_tables(cleaned: Trace, seed: int) -> None:
    """Responses are those of Table 6.1 to the answer, shares of hours those of Table 6.2 within 1.2 points."""
    survey = generate_checkpoint_survey(cleaned, CheckpointSurveyParameters(seed=seed))
    total = round(5000 * 1010 / 4203 * 1365 / 1309)
    assert naive_shares(total, RESPONSES) == counts_of(survey)
    hours = with_work(cleaned, survey).groupby("choice")["hours"].sum()
    target = pd.Series(list(PUBLISHED["node_hours"].values()))
    assert (100 * hours / hours.sum()).tolist() == pytest.approx((100 * target / target.sum()).tolist(), abs=1.2)
    assert consistency_of(survey) > 0.9


@pytest.mark.parametrize("seed", by_day(range(8), 2))
def test_intervals_of_the_shipped_log(cleaned: Trace, seed: int) -> None:
    """The intervals are those of the published distribution; their ratios come as near as short runs allow."""
    survey = generate_checkpoint_survey(cleaned, CheckpointSurveyParameters(seed=seed))
    yes = with_work(cleaned, survey).query("choice == 0")
    minutes = yes["interval"] / 60
    shares = naive_shares(len(yes), list(module.INTERVALS.values()))
    assert dict(zip(module.INTERVALS, shares, strict=True)) == minutes.value_counts().to_dict()
    assert 15 == minutes.median()
    ratio = (yes["interval"] / yes["run_time"])[yes["run_time"] > 0]
    assert 0.1 < (ratio <= 1 / 50).mean() < 67 / 120
    assert 0.6 < (ratio < 1 / 4).mean() < 115 / 120


@pytest.mark.slow  # by day the shipped log, above
@pytest.mark.parametrize(("name", "seed"), [(name, seed) for name in LOGS for seed in range(2)])
def test_full_logs_meet_the_tables(shared: Path, name: str, seed: int) -> None:
    """Table 6.1 exactly, Table 6.2 within two points, the median interval, ratios and habits."""
    trace = clean(read_swf(shared / "traces" / f"{name}.swf.gz"))[0]
    survey = generate_checkpoint_survey(trace, CheckpointSurveyParameters(seed=seed))
    assert RESPONSES == counts_of(survey)
    summary = infer_checkpoints(trace, survey).summary
    target = np.array(list(PUBLISHED["node_hours"].values()))
    assert summary["processor_hours_share"].tolist() == pytest.approx((target / target.sum()).tolist(), abs=0.02)
    minutes = survey.answers["interval"] / 60
    counts = minutes.value_counts().to_dict()
    assert {float(minute): count for minute, count in PUBLISHED["interval_counts"].items()} == {
        minute: counts[minute] for minute in (5.0, 10.0, 30.0)
    }
    assert 15 == minutes.median()
    assert consistency_of(survey) > 0.9


def test_long_runs_meet_the_ratios() -> None:
    """Where jobs run long enough, 67 of 120 intervals are at most 1/50 of the run, 115 of 120 less than 1/4."""
    run = np.random.default_rng(1).lognormal(10.7, 1, 1200)  # a median of 12 hours
    minutes = module._intervals(run, np.random.default_rng(2))
    ratio = 60 * minutes / run
    assert 67 / 120 == pytest.approx((ratio <= 1 / 50).mean(), abs=0.02)
    assert 115 / 120 == pytest.approx((ratio < 1 / 4).mean(), abs=0.02)


def test_run_times_of_a_day_meet_the_coarse_ratio() -> None:
    """When every need can be met it is, and unknown run times have intervals all the same."""
    run = np.r_[np.full(200, 1e7), np.zeros(19)]
    minutes = module._intervals(run, np.random.default_rng(0))
    assert sorted(minutes) == np.repeat(list(module.INTERVALS), list(module.INTERVALS.values())).tolist()


@given(st.lists(st.integers(1, 30), min_size=1, max_size=5), st.lists(st.integers(1, 3000), min_size=5, max_size=5))
def test_as_many_intervals_as_can_be_are_within_their_bound(minutes: list[int], minutes_run: list[int]) -> None:
    """No other way of giving out the intervals has more of them less than a quarter of the run time."""
    own, run = np.sort(np.array(minutes, float)), 60.0 * np.sort(minutes_run[: len(minutes)])
    given_out = module._given_out(own, run, 0)
    assert own.tolist() == sorted(given_out)
    best, left = 0, sorted(minutes)
    for seconds in run:  # each run time takes the shortest interval left, if that is short enough
        if 4 * 60 * left[best] < seconds:
            best += 1
    assert best == (60 * given_out < run / 4).sum()


# Which jobs, whose answers


@pytest.mark.parametrize("seed", by_day(range(4), 1))
def test_a_user_declines_once_and_last(cleaned: Trace, seed: int) -> None:
    """Nobody who declined has an answer after that."""
    answers = generate_checkpoint_survey(cleaned, CheckpointSurveyParameters(seed=seed)).answers
    declined = answers[answers["choice"] == 6]
    assert declined["user_id"].is_unique
    last = answers.groupby("user_id")["submit_time"].max()
    assert last[declined["user_id"]].tolist() == declined["submit_time"].tolist()
    assert answers["submit_time"].is_monotonic_increasing


def test_answers_tell_their_jobs(cleaned: Trace) -> None:
    """User, width and submission are those of the job; every answer finds its job; no job has two."""
    survey = generate_checkpoint_survey(cleaned)
    assert survey.answers["job_number"].is_unique
    inference = infer_checkpoints(cleaned, survey)
    assert {"matched"} == set(inference.answers["outcome"])
    assert len(survey) == len(inference.answers)


def test_a_survey_can_be_written_and_read(cleaned: Trace, tmp_path: Path) -> None:
    """What is generated is a survey file like any other, marked as synthetic."""
    survey = generate_checkpoint_survey(cleaned, CheckpointSurveyParameters(seed=3))
    write_checkpoint_survey(survey, tmp_path / "s.csv")
    again = read_checkpoint_survey(tmp_path / "s.csv")
    pd.testing.assert_frame_equal(survey.answers, again.answers)
    assert "(seed 3)" in str(again.synthetic_note)
    assert "says nothing about the users of this log" in str(again.synthetic_note)


def test_seeds_ask_about_other_jobs(cleaned: Trace) -> None:
    """The same seed gives the same survey, another one another."""
    first, same, other = (generate_checkpoint_survey(cleaned, CheckpointSurveyParameters(seed=s)) for s in (1, 1, 2))
    pd.testing.assert_frame_equal(first.answers, same.answers)
    common = set(first.answers["job_number"]) & set(other.answers["job_number"])
    assert len(common) < 0.35 * len(first)


SURVEYS = 20


def test_jobs_are_drawn_alike(cleaned: Trace) -> None:
    """Every job is asked about in its share of surveys, a quarter: early and late, wide and narrow."""
    asked = np.zeros(len(cleaned))
    for seed in range(SURVEYS):
        numbers = generate_checkpoint_survey(cleaned, CheckpointSurveyParameters(seed=seed)).answers["job_number"]
        asked += cleaned.jobs["job_number"].isin(numbers).to_numpy()
    share = 1253 / 5000
    for part in np.array_split(np.arange(5000), 10):
        assert share == pytest.approx((asked[part] / SURVEYS).mean(), abs=5 * math.sqrt(share / SURVEYS / len(part)))
    wide = cleaned.arrays.width > 64
    assert share == pytest.approx((asked[wide] / SURVEYS).mean(), abs=5 * math.sqrt(share / SURVEYS / wide.sum()))


# Totals


@given(st.integers(0, 5000), st.lists(st.integers(1, 1000), min_size=1, max_size=8))
def test_largest_remainder_is_the_slow_one(total: int, weights: list[int]) -> None:
    """The shares are whole, sum up to the total, and are those of the plain version."""
    exact = [total * weight / sum(weights) for weight in weights]
    shares = largest_remainder(total, weights).tolist()
    assert total == sum(shares)
    assert naive_shares(total, [float(weight) for weight in weights]) == shares
    assert all(abs(share - value) < 1 for share, value in zip(shares, exact, strict=True))


@pytest.mark.parametrize("answers", [0, 1, 2, 7, 100, 1252, 1253, 1365, 10**9])
def test_any_number_of_answers(cleaned: Trace, answers: int) -> None:
    """As many answers as asked for, and no more than the share of jobs; by choice as in Table 6.1."""
    survey = generate_checkpoint_survey(cleaned, CheckpointSurveyParameters(answers=answers))
    assert naive_shares(min(answers, 1253), RESPONSES) == counts_of(survey)


def test_no_more_decline_than_there_are_users(cleaned: Trace) -> None:
    """When more answers are declined than there are users, all decline and the others are as many more."""
    parameters = CheckpointSurveyParameters(answers=4000, response_share=1.0)
    survey = generate_checkpoint_survey(cleaned, parameters)
    users = cleaned.jobs["user_id"].nunique()
    assert [*naive_shares(4000 - users, RESPONSES[:6]), users] == counts_of(survey)


# What a trace may lack


def small_trace(jobs: int, **columns: Any) -> Trace:
    """Return a trace of some jobs of two users."""
    defaults: dict[str, Any] = {
        "job_number": list(range(1, jobs + 1)),
        "submit_time": list(range(jobs)),
        "user_id": [place % 2 for place in range(jobs)],
        "requested_processors": [4] * jobs,
        "run_time": [3600 * (place % 7) for place in range(jobs)],
    }
    return Trace.from_columns(**(defaults | columns))


ALL = CheckpointSurveyParameters(response_share=1.0)


@pytest.mark.parametrize(("jobs", "expected"), [(0, []), (1, [1]), (2, [1, 2]), (3, [0, 1, 2])])
def test_few_jobs(jobs: int, expected: list[int]) -> None:
    """As many answers as jobs, by largest remainder; by default those of a quarter of the jobs."""
    survey = generate_checkpoint_survey(small_trace(jobs), ALL)
    assert expected == sorted(survey.answers["choice"])
    assert round(jobs * 0.2506) == len(generate_checkpoint_survey(small_trace(jobs)))


@pytest.mark.parametrize(
    "columns",
    [{"user_id": [-1] * 40}, {"requested_processors": [-1] * 40}, {"job_number": [-1] * 40}, {"job_number": [3] * 40}],
)
def test_jobs_nobody_can_be_asked_about(columns: dict[str, list[int]]) -> None:
    """Without users, widths or numbers of their own, jobs have no answers: a survey without answers."""
    trace = small_trace(40, **columns)
    survey = generate_checkpoint_survey(trace, ALL)
    assert (0, True) == (len(survey), survey.is_synthetic)
    assert {"assumed-none"} == set(infer_checkpoints(trace, survey).columns["checkpoint_source"])


@pytest.mark.parametrize("columns", [{"run_time": [-1] * 400}, {"run_time": [0] * 400}, {"submit_time": [-1] * 400}])
def test_missing_times(columns: dict[str, list[int]]) -> None:
    """Without run times the shares cannot be met, the numbers are; without submissions the number tells the order."""
    survey = generate_checkpoint_survey(small_trace(400, **columns), ALL)
    assert [*naive_shares(398, RESPONSES[:6]), 2] == counts_of(survey)


def test_one_job_heavier_than_all_others() -> None:
    """The heaviest job alone is more than any share: it checkpoints, and the others come as near as they can."""
    trace = small_trace(400, run_time=[3600] * 200 + [10**7] + [3600] * 199)
    summary = infer_checkpoints(trace, generate_checkpoint_survey(trace, ALL)).summary
    assert summary["processor_hours_share"][0] > 0.85


@examples(0.25)
@given(traces(utility=False), st.integers(0, 2**64 - 1))
def test_any_trace_gets_a_survey_that_fits(trace: Trace, seed: int) -> None:
    """Whatever a log says, its synthetic survey can be used for it."""
    survey = generate_checkpoint_survey(trace, CheckpointSurveyParameters(seed=seed, response_share=1.0))
    inference = infer_checkpoints(trace, survey)
    assert set(inference.answers["outcome"]) <= {"matched"}
    assert len(survey) == len(inference.answers)


@examples(0.25)
@given(st.permutations(range(60)), st.integers(0, 100))
def test_order_does_not_matter(order: list[int], seed: int) -> None:
    """Any order of jobs gives the same survey, many submissions being equal."""
    trace = small_trace(60, submit_time=[place // 9 for place in range(60)], user_id=[place % 5 for place in range(60)])
    shuffled = trace.with_jobs(trace.jobs.iloc[order])
    parameters = CheckpointSurveyParameters(seed=seed, response_share=0.8)
    ours, theirs = (generate_checkpoint_survey(each, parameters).answers for each in (trace, shuffled))
    pd.testing.assert_frame_equal(ours, theirs)


# The exchange of answers


@given(st.data())
def test_exchanges_keep_numbers_and_come_nearer(data: st.DataObject) -> None:
    """The numbers of the choices stay, and work is never farther from its target than before."""
    size = data.draw(st.integers(1, 30))
    work = np.array(data.draw(st.lists(st.floats(0, 100), min_size=size, max_size=size)))
    before = np.array(data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
    target = work.sum() * np.array([0.6, 0.3, 0.1])
    after = before.copy()
    exchanges.exchange(work, after, target)
    assert np.bincount(before, minlength=3).tolist() == np.bincount(after, minlength=3).tolist()
    distances = [abs(np.bincount(choice, work, 3) - target).sum() for choice in (before, after)]
    assert distances[1] <= distances[0]


@given(st.data())
def test_an_exchange_is_the_best_of_all(data: st.DataObject) -> None:
    """The pair found gains as much as the best of all pairs tried one by one."""
    size = data.draw(st.integers(2, 12))
    work = np.sort(data.draw(st.lists(st.integers(0, 50), min_size=size, max_size=size))).astype(float)
    choice = np.array(data.draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)))
    excess = np.array([data.draw(st.integers(1, 40)), -data.draw(st.integers(1, 40))], float)
    gains = [0.0] if len(set(choice)) < 2 else [
        abs(excess).sum() - abs(excess[0] - work[i] + work[j]) - abs(excess[1] + work[i] - work[j])
        for i in np.flatnonzero(choice == 0)
        for j in np.flatnonzero(choice == 1)
    ]  # fmt: skip
    assert max(gains) == pytest.approx(exchanges._pair(work, choice, (0, 1), excess)[0])


# Parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"seed": -1}, "seed=-1 is not an integer from 0 to 2**64 - 1"),
        ({"answers": -1}, "answers=-1 is not an integer from 0 to 2**63 - 1"),
        ({"answers": 10.0}, "answers=10.0 is not an integer from 0 to 2**63 - 1"),
        ({"answers": None}, "answers=None is not an integer from 0 to 2**63 - 1"),
        ({"response_share": -0.1}, "response_share=-0.1 is not a number from 0 to 1"),
        ({"response_share": 1.1}, "response_share=1.1 is not a number from 0 to 1"),
        ({"response_share": math.nan}, "response_share=nan is not a number from 0 to 1"),
        ({"response_share": "all"}, "response_share='all' is not a number from 0 to 1"),
        ({"declines": 5}, "unknown parameters ['declines']; there are: seed, answers, response_share"),
    ],
)
def test_parameters_outside_their_domain_are_refused(parameters: dict[str, Any], message: str) -> None:
    """The message names the parameter, its value and its domain."""
    with pytest.raises(ParameterError) as caught:
        CheckpointSurveyParameters.from_mapping(parameters)
    assert f"checkpoint survey: {message}" in str(caught.value)
