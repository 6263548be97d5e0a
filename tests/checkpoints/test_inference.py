# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of jobs, inferred from a survey: equal to a slow twin, whatever the order."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace, clean, read_swf
from swftools.checkpoints import pools
from swftools.checkpoints.inference import CheckpointInference, CheckpointParameters, infer_checkpoints
from swftools.checkpoints.survey import CheckpointSurvey
from swftools.checkpoints.synthetic_survey import CheckpointSurveyParameters, generate_checkpoint_survey
from swftools.errors import ParameterError
from swftools.fields.dictionary import AUGMENTATION_COLUMNS
from swftools.tables import to_arrow
from tests.checkpoints.samples import ANSWERS_ALONE, drawn_trace, survey_of
from tests.examples import examples
from tests.naive.checkpoints import naive_inference, plain, surveyed


def columns_of(inference: CheckpointInference) -> list[tuple[Any, ...]]:
    """Return interval, choice and source of every job."""
    return plain(inference.columns, "checkpoint_interval", "checkpoint_choice", "checkpoint_source")


# By hand


def test_a_hand_drawn_inference() -> None:
    """Answers, an answer drawn from one alike, none for another width, a declined one, unknown widths and users."""
    survey = survey_of("7,4,1,,0,15", "7,8,3,,2,", "8,4,4,,6,")
    expected = [
        (900.0, 0, "survey"),
        (900.0, 0, "inferred"),
        (None, 2, "survey"),
        (None, None, "assumed-none"),
        (None, None, "assumed-none"),
        (None, None, "assumed-none"),
        (None, None, "assumed-none"),
    ]
    inference = infer_checkpoints(drawn_trace(), survey)
    assert expected == columns_of(inference)
    assert [True, True, *[False] * 5] == inference.columns["performs_checkpointing"].tolist()
    assert not inference.columns["is_checkpoint_survey_synthetic"].any()
    alone = infer_checkpoints(drawn_trace(), survey, ANSWERS_ALONE)
    assert [expected[0], expected[3], expected[2], *expected[3:]] == columns_of(alone)


def test_a_declined_answer_is_inferred_like_none() -> None:
    """A job whose user declined gets an answer of the pool; "other" is an answer, and no checkpointing."""
    inference = infer_checkpoints(drawn_trace(), survey_of("8,4,4,,6,", "8,4,5,,5,"))
    assert [(None, 5, "inferred"), (None, 5, "survey")] == columns_of(inference)[3:5]
    assert not inference.columns["performs_checkpointing"].any()


def test_answers_and_what_became_of_them() -> None:
    """A job of the trace, no job of it (pooled), no user of it (not used); what was not told is filled in."""
    survey = survey_of("7,4,,10.5,1,", "7,8,99,,0,30", "9,4,98,,0,30", ",4,97,,0,30", "7,4,,25,3,", ",4,7,,4,")
    inference = infer_checkpoints(drawn_trace(), survey)
    names = ("answer_number", "job_number", "job_occurrence", "submit_time", "outcome")
    assert [
        (1, 2, 0, 10.5, "matched"),
        (2, 99, None, None, "no-such-job"),
        (3, 98, None, None, "no-such-user"),
        (4, 97, None, None, "no-such-user"),
        (5, None, None, 25.0, "no-such-job"),
        (6, 7, 0, 60.0, "matched"),
    ] == plain(inference.answers, *names)
    expected = [(None, 1, "survey"), (1800.0, 0, "inferred"), (None, None, "assumed-none")]
    assert expected == columns_of(inference)[1:4]
    assert columns_of(inference)[0][1:] in [(1, "inferred"), (3, "inferred")]
    assert (None, 4, "survey") == columns_of(inference)[6]


def test_an_answer_without_user_is_pooled_for_the_user_of_its_job() -> None:
    """The job tells whose answer it is; an answer for nobody's job serves that job alone."""
    inference = infer_checkpoints(drawn_trace(), survey_of(",4,1,,3,", ",4,7,,0,5"))
    sources = ["survey", "inferred", *["assumed-none"] * 4, "survey"]
    assert sources == inference.columns["checkpoint_source"].tolist()


def test_a_job_number_that_stands_twice() -> None:
    """User, width and submit_time tell the jobs apart, the nearer time at last."""
    trace = Trace.from_columns(
        job_number=[5, 5, 5, 5],
        submit_time=[0, 100, 100, 101],
        user_id=[1, 1, 2, 2],
        requested_processors=[4, 4, 4, 4],
    )
    survey = survey_of("1,4,5,0,1,", "1,4,5,100,2,", "2,4,5,100,3,", "2,4,5,100.9,4,")
    assert [1, 2, 3, 4] == infer_checkpoints(trace, survey).columns["checkpoint_choice"].tolist()
    assert [0, 1, 2, 3] == infer_checkpoints(trace, survey).answers["job_occurrence"].tolist()


@pytest.mark.parametrize(
    ("time", "job"), [(99, 0), (100, 0), (100.4, 0), (100.6, 1), (102, 1), (98.995, None), (102.005, None)]
)
def test_a_job_is_found_by_its_time(time: float, job: int | None) -> None:
    """The nearest job of the user within a second that is as wide."""
    trace = Trace.from_columns(
        job_number=[1, 2, 3, 4],
        submit_time=[100, 101, 100, 100],
        user_id=[1, 1, 1, 2],
        requested_processors=[4, 4, 8, 4],
    )
    inference = infer_checkpoints(trace, survey_of(f"1,4,,{time},2,"), ANSWERS_ALONE)
    assert [place == job for place in range(4)] == (inference.columns["checkpoint_source"] == "survey").tolist()
    assert ["no-such-job" if job is None else "matched"] == inference.answers["outcome"].tolist()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("8,4,1,,1,", "answer 2: user 8 is not the user (7) of job 1; correct the answer or leave it out"),
        ("9,4,1,,1,", "answer 2: user 9 is not the user (7) of job 1"),
        ("9,4,7,,1,", "answer 2: user 9 is not the user (unknown) of job 7"),
        ("7,5,1,,1,", "answer 2: processors=5 is not the width (4) of job 1"),
        ("7,4,1,2,1,", "answer 2: submit_time=2 is not the submission (0) of job 1"),
        ("7,8,,20,1,", "answer 2: differs from answer 1 for the same job; keep one"),
    ],
)
def test_answers_that_contradict_the_trace_are_refused(line: str, message: str) -> None:
    """The message names the answer and both values."""
    with pytest.raises(ParameterError) as caught:
        infer_checkpoints(drawn_trace(), survey_of("7,8,3,,2,", line))
    assert str(caught.value).startswith("a checkpoint survey:\n  answer 2: ")
    assert message in str(caught.value)


def test_answers_that_fit_several_jobs_are_refused() -> None:
    """Neither numbers nor times are guessed at."""
    trace = Trace.from_columns(
        job_number=[5, 5, 6], user_id=[1, 1, 1], submit_time=[9, 9, 9], requested_processors=[2] * 3
    )
    for line, message in [
        ("1,2,5,,1,", "answer 1: fits 2 jobs of number 5; give job_number, user_id and submit_time"),
        ("1,2,,9,1,", "answer 1: fits 3 jobs of user 1 at 9 s; give job_number"),
        ("2,2,5,,1,", "user 2 is not the user (1) of job 5, and no other of the 2 jobs of that number agrees; correct"),
    ]:
        with pytest.raises(ParameterError) as caught:
            infer_checkpoints(trace, survey_of(line))
        assert message in str(caught.value)


def test_the_same_answer_told_by_number_and_by_time_is_one() -> None:
    """Answers found to be for one job are merged if they are alike, in the summary too."""
    inference = infer_checkpoints(drawn_trace(), survey_of("7,8,3,,2,", "7,8,,20,2,"))
    assert [1] == inference.answers["answer_number"].tolist()
    assert 1 == inference.summary["responses"].sum()


def test_a_survey_of_other_users_is_refused() -> None:
    """No answer by a user of the trace: surely the survey of another system."""
    with pytest.raises(
        ParameterError, match=r"none of the 2 answers is by a user of the trace; users of the survey 17, "
    ):
        infer_checkpoints(drawn_trace(), survey_of("17,4,90,,1,", "18,4,91,,1,"))


def test_summary_has_the_work_of_matched_jobs() -> None:
    """Width x run time of the jobs; unknown ones and answers without a job count 0, and all are responses."""
    lines = ["7,4,1,,0,15", "7,4,2,,0,15", "7,8,3,,2,", "7,1,6,,3,", "7,8,90,,1,", "9,8,91,,1,"]
    summary = infer_checkpoints(drawn_trace(), survey_of(*lines)).summary
    assert [2, 2, 1, 1, 0, 0, 0] == summary["responses"].tolist()
    assert [4, 0, 16, 0, 0, 0, 0] == summary["processor_hours"].tolist()


@pytest.mark.parametrize("jobs", [0, 1, 2])
def test_few_jobs(jobs: int) -> None:
    """No jobs get no rows, in the same dtypes; no answers leave every job without checkpoints."""
    trace = Trace.from_columns(job_number=list(range(jobs)), user_id=[1] * jobs, requested_processors=[4] * jobs)
    many = infer_checkpoints(drawn_trace(), survey_of("7,4,1,,0,15"))
    for survey in (survey_of(), survey_of("1,4,90,,0,15")):
        inference = infer_checkpoints(trace, survey)
        assert jobs == len(inference.columns)
        assert [frame.dtypes.to_dict() for frame in many] == [frame.dtypes.to_dict() for frame in inference]
        assert len(survey) == len(inference.answers)
    expected = ["inferred" if len(survey) else "assumed-none"] * jobs
    assert expected == inference.columns["checkpoint_source"].tolist()


def test_nothing_known() -> None:
    """Jobs without number, user, width, time: no checkpointing, and no crash."""
    trace = Trace.from_columns(run_time=[-1] * 3)
    inference = infer_checkpoints(trace, survey_of())
    assert {"assumed-none"} == set(inference.columns["checkpoint_source"])
    with pytest.raises(ParameterError, match="of the trace unknown: is it the survey of another system"):
        infer_checkpoints(trace, survey_of("1,4,9,,1,"))


# The slow twin


def is_foreign(trace: Trace, lines: list[str]) -> bool:
    """Whether no line of a survey belongs to the trace, which is an error."""
    users = set(trace.jobs["user_id"].dropna())
    return bool(lines) and all(
        line.split(",")[2].startswith("1") and len(line.split(",")[2]) == 3 and int(line.split(",")[0]) not in users
        for line in lines
    )


@examples(0.4)
@given(surveyed(), st.integers(0, 2**64 - 1))
def test_inference_is_the_slow_twins(drawn: tuple[Trace, list[str]], seed: int) -> None:
    """Interval, choice and source of each job are those of a plain Python version, in both workloads."""
    trace, lines = drawn
    survey = survey_of(*lines)
    if len(trace) and is_foreign(trace, lines):
        with pytest.raises(ParameterError, match="is by a user of the trace"):
            infer_checkpoints(trace, survey)
        return
    for workload in ("pooled", "answers"):
        inference = infer_checkpoints(trace, survey, CheckpointParameters(seed=seed, workload=workload))
        assert naive_inference(trace, survey, seed, workload == "pooled") == columns_of(inference)


@examples(0.4)
@given(surveyed(), st.randoms(use_true_random=False))
def test_order_does_not_matter(drawn: tuple[Trace, list[str]], random: Any) -> None:
    """Shuffled jobs and shuffled answers give every job the same, and the same summary but for rounding."""
    trace, lines = drawn
    if len(trace) and is_foreign(trace, lines):
        return
    order = list(range(len(trace)))
    random.shuffle(order)
    first = infer_checkpoints(trace, survey_of(*lines))
    shuffled = infer_checkpoints(trace.with_jobs(trace.jobs.iloc[order]), survey_of(*random.sample(lines, len(lines))))
    pd.testing.assert_frame_equal(first.columns, shuffled.columns.sort_index())
    pd.testing.assert_frame_equal(first.summary, shuffled.summary)
    keys = ["user_id", "job_number", "submit_time", "processors"]
    ours, theirs = (
        frame.drop(columns="answer_number").sort_values(keys, kind="stable").reset_index(drop=True)
        for frame in (first.answers, shuffled.answers)
    )
    pd.testing.assert_frame_equal(ours, theirs)


@examples(0.4)
@given(surveyed())
def test_what_holds_of_every_inference(drawn: tuple[Trace, list[str]]) -> None:
    """Tables fit the column dictionary; sources part the jobs; the answers alone are a part of the pooled."""
    trace, lines = drawn
    if len(trace) and is_foreign(trace, lines):
        return
    pooled = infer_checkpoints(trace, survey_of(*lines))
    alone = infer_checkpoints(trace, survey_of(*lines), ANSWERS_ALONE)
    keys = trace.jobs[["job_number"]].assign(job_occurrence=0)
    for inference in (pooled, alone):
        to_arrow(pd.concat([keys, inference.columns], axis=1), "checkpoints")
        to_arrow(inference.answers, "checkpoint_survey")
        to_arrow(inference.summary, "checkpoint_summary")
        columns = inference.columns
        source, choice = columns["checkpoint_source"], columns["checkpoint_choice"]
        assert ((source == "assumed-none") == choice.isna()).all()
        assert (columns["performs_checkpointing"] == (choice == 0).fillna(False)).all()
        assert (columns["performs_checkpointing"] == columns["checkpoint_interval"].notna()).all()
    answered = pooled.columns["checkpoint_source"] == "survey"
    assert (answered == (alone.columns["checkpoint_source"] == "survey")).all()
    pd.testing.assert_frame_equal(pooled.columns[answered], alone.columns[answered])
    assert not (alone.columns["checkpoint_source"] == "inferred").any()
    matched = pooled.answers[(pooled.answers["outcome"] == "matched") & (pooled.answers["choice"] < 6)]
    assert len(matched) == answered.sum()


def test_interpreted_kernel_is_the_compiled_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel, interpreted, draws the same."""
    trace, survey = many_jobs()
    compiled = infer_checkpoints(trace, survey, CheckpointParameters(seed=5))
    monkeypatch.setattr(pools, "_draw", pools._draw.py_func)
    with np.errstate(over="ignore"):
        interpreted = infer_checkpoints(trace, survey, CheckpointParameters(seed=5))
    pd.testing.assert_frame_equal(compiled.columns, interpreted.columns)


# What a draw depends on


def many_jobs() -> tuple[Trace, CheckpointSurvey]:
    """Return a thousand jobs of one user and width, and ten answers."""
    trace = Trace.from_columns(job_number=list(range(1000)), user_id=[1] * 1000, requested_processors=[4] * 1000)
    return trace, survey_of(*[f"1,4,{number},,0,{number + 1}" for number in range(10)])


def test_draws_are_even() -> None:
    """Each answer of a pool is drawn alike: 990 draws of ten answers."""
    trace, survey = many_jobs()
    inferred = infer_checkpoints(trace, survey).columns.iloc[10:]
    counts = inferred["checkpoint_interval"].value_counts()
    assert 10 == len(counts)
    assert ((counts - 99) ** 2 / 99).sum() < 27.9  # chi-squared with 9 degrees of freedom, 0.1 %


def test_order_of_answers_in_a_pool_does_not_matter() -> None:
    """Answers that differ in the interval only are drawn the same from a survey that is turned round."""
    trace, survey = many_jobs()
    turned = CheckpointSurvey(survey.answers[::-1].reset_index(drop=True))
    ours, theirs = (infer_checkpoints(trace, each).columns for each in (survey, turned))
    pd.testing.assert_frame_equal(ours, theirs)


def test_seeds_and_jobs_draw_apart() -> None:
    """Another seed draws otherwise; jobs of one number draw apart; the seed changes nothing but draws."""
    trace, survey = many_jobs()
    first, second = (infer_checkpoints(trace, survey, CheckpointParameters(seed=seed)).columns for seed in (0, 1))
    share = (first["checkpoint_interval"] == second["checkpoint_interval"]).iloc[10:].mean()
    assert 0.05 < share < 0.15
    pd.testing.assert_series_equal(first["checkpoint_source"], second["checkpoint_source"])
    same = Trace.from_columns(job_number=[500] * 50, user_id=[1] * 50, requested_processors=[4] * 50)
    assert 5 < infer_checkpoints(same, survey).columns["checkpoint_interval"].nunique()


def test_order_of_the_shipped_log_does_not_matter(cleaned: Trace) -> None:
    """Shuffled jobs have the checkpoints they had, from a survey made for the shuffled trace too."""
    shuffled = cleaned.with_jobs(cleaned.jobs.iloc[np.random.default_rng(3).permutation(len(cleaned))])
    ours = infer_checkpoints(cleaned, generate_checkpoint_survey(cleaned))
    theirs = infer_checkpoints(shuffled, generate_checkpoint_survey(shuffled))
    pd.testing.assert_frame_equal(ours.columns, theirs.columns.sort_index())
    pd.testing.assert_frame_equal(ours.answers, theirs.answers)


def test_other_jobs_do_not_matter(cleaned: Trace) -> None:
    """With the same answers, a job has the same checkpoints when others are left out."""
    survey = generate_checkpoint_survey(cleaned)
    some = cleaned.with_jobs(cleaned.jobs.iloc[::3])
    pd.testing.assert_frame_equal(
        infer_checkpoints(cleaned, survey).columns.iloc[::3], infer_checkpoints(some, survey).columns
    )


def test_the_mark_of_a_synthetic_survey_stays(cleaned: Trace) -> None:
    """A job, whatever its source, says that the survey was generated."""
    columns = infer_checkpoints(cleaned, generate_checkpoint_survey(cleaned)).columns
    assert columns["is_checkpoint_survey_synthetic"].all()
    assert [field.name for field in AUGMENTATION_COLUMNS["checkpoints"]] == list(columns)
    assert cleaned.jobs.index.equals(columns.index)


@pytest.mark.parametrize(
    "name", ["SDSC-SP2-1998-4.2-cln", pytest.param("SDSC-BLUE-2000-4.2-cln", marks=pytest.mark.slow)]
)
def test_a_full_log(shared: Path, name: str) -> None:
    """Most jobs of a full log get an answer of a synthetic survey; every table fits the column dictionary."""
    trace = clean(read_swf(shared / "traces" / f"{name}.swf.gz"))[0]
    inference = infer_checkpoints(trace, generate_checkpoint_survey(trace))
    keys = trace.jobs[["job_number", "job_occurrence"]]
    to_arrow(pd.concat([keys, inference.columns], axis=1), "checkpoints")
    to_arrow(inference.answers, "checkpoint_survey")
    shares = inference.columns["checkpoint_source"].value_counts(normalize=True)
    assert shares["inferred"] > 0.6
    assert 1309 == (inference.columns["checkpoint_source"] == "survey").sum()


# Parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"seed": -1}, "checkpoints: seed=-1 is not an integer from 0 to 2**64 - 1"),
        ({"seed": True}, "checkpoints: seed=True is not"),
        ({"workload": "second"}, "checkpoints: workload='second' is not one of answers, pooled"),
        ({"workload": None}, "checkpoints: workload=None is not"),
        ({"pool": 1}, "checkpoints: unknown parameters ['pool']; there are: seed, workload"),
    ],
)
def test_parameters_outside_their_domain_are_refused(parameters: dict[str, Any], message: str) -> None:
    """The message names the parameter, its value and its domain."""
    with pytest.raises(ParameterError) as caught:
        CheckpointParameters.from_mapping(parameters)
    assert message in str(caught.value)


def test_parameters_survive_json() -> None:
    """What the manifest records makes the same parameters again."""
    for parameters in (CheckpointParameters(3, "answers"), CheckpointSurveyParameters(1, 20, 0.5)):
        again = type(parameters).from_mapping(json.loads(json.dumps(parameters.to_mapping())))
        assert parameters == again
        assert {field.name for field in dataclasses.fields(parameters)} == set(parameters.to_mapping())
