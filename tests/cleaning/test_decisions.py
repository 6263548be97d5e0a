# SPDX-License-Identifier: BSD-3-Clause
"""Rules of anybody's, right and wrong: what they decide is carried out whole, or refused whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace, clean, cleaning_rule
from swftools.cleaning import Decision, list_rules, registry
from swftools.errors import ParameterError, RuleError
from tests.drawn import draw_trace, rows_of, table_of


def test_a_rule_of_ones_own() -> None:
    """``module:function`` names a function of any importable module, with parameters."""
    trace = draw_trace("job submit run\n1 0 3600\n2 0 7201\n3 0 90000\n4 0 .")
    name = "tests.cleaning.rules_of_others:long_runs"
    cleaned, report = clean(trace, [name, {"rule": name, "hours": 2}])
    assert [1, 4] == cleaned.jobs["job_number"].tolist()
    assert [["longer than 24 hours", 3], ["longer than 2 hours", 2]] == cleaned.quarantine[
        ["reason", "line_number"]
    ].values.tolist()
    assert ["read", name, name] == report.steps["rule"].tolist()
    assert ["{}", '{"hours": 24}', '{"hours": 2}'] == report.steps["parameters"].tolist()


def test_a_rule_of_any_keywords() -> None:
    """A rule that takes any keyword gets and records those given."""
    _, report = clean(
        Trace.from_columns(job_number=[1]), [{"rule": "tests.cleaning.rules_of_others:anything", "a": 1, "b": [2]}]
    )
    assert '{"a": 1, "b": [2]}' == report.steps["parameters"][1]
    assert "{'a': 1, 'b': [2]}" == report.steps["remark"][1]


def test_registering() -> None:
    """A registered rule goes by its name; the same function may be defined again, another may not take its name."""
    try:

        @cleaning_rule("test-nothing")
        def nothing(trace: Trace) -> Decision:
            return Decision(remark="first")

        assert ["first"] == clean(Trace.from_columns(), ["test-nothing"])[1].steps["remark"][1:].tolist()

        @cleaning_rule("test-nothing")  # as a notebook does
        def nothing(trace: Trace) -> Decision:  # noqa: F811
            return Decision(remark="second")

        assert ["second"] == clean(Trace.from_columns(), ["test-nothing"])[1].steps["remark"][1:].tolist()
        with pytest.raises(ParameterError, match=r"'test-nothing' is registered already, as .*nothing"):
            cleaning_rule("test-nothing")(lambda trace: Decision())
        assert nothing is list_rules()["test-nothing"]
    finally:
        del registry._RULES["test-nothing"]
    with pytest.raises(ParameterError, match="'cancelled' is registered already"):
        cleaning_rule("cancelled")(nothing)


@pytest.mark.parametrize("name", ["", "read", "default", "a,b", "a:b", "[a", "two words", "-x"])
def test_names_that_no_rule_can_have(name: str) -> None:
    """A name must be fit for a list on the command line, and mean nothing else."""
    with pytest.raises(ParameterError, match="a name is of letters, digits and"):
        cleaning_rule(name)(lambda trace: Decision())
    assert name not in list_rules()


JOBS = "job submit run asked status\n1 0 5 4 1\n2 5 6 4 5\n3 9 7 4 1"


def decide(decision: Any) -> Any:
    """Clean three drawn jobs by a rule that returns this, or does this with its trace, on a trace with jobs."""

    def rule(trace: Trace) -> Any:
        if not len(trace):
            return Decision()
        return decision(trace) if callable(decision) else decision

    cleaning_rule("test-rule")(rule)
    try:
        return clean(draw_trace(JOBS), ["test-rule"])
    finally:
        del registry._RULES["test-rule"]


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (None, "it returned NoneType, not a Decision"),
        ((True, False), "it returned tuple, not a Decision"),
        (Decision(quarantine=[True]), "its quarantine has the shape (1,); 3 jobs need (3,)"),
        (Decision(quarantine=True), "its quarantine has the shape (); 3 jobs need (3,)"),
        (Decision(quarantine=[0, 1, 1]), "its quarantine is of int64; it must be of bool, one for each job"),
        (Decision(quarantine=[0.0, np.nan, 1.0]), "its quarantine is of float64; it must be of bool"),
        (Decision(quarantine=[[True, False, True]]), "its quarantine has the shape (1, 3)"),
        (
            Decision(quarantine=pd.Series([True, False, True], index=[1, 2, 3])),
            "the index of its quarantine is not that",
        ),
        (
            Decision(quarantine=pd.Series([True, False, True], index=[0, 0, 1])),
            "the index of its quarantine is not that",
        ),
        (Decision(flags={"is_odd": [True] * 3}), "it sets 'is_odd'; the flags that a rule may set are is_cancelled"),
        (Decision(flags={"is_repaired": [True] * 3}), "it sets 'is_repaired'; the flags that a rule may set"),
        (Decision(flags={"is_cancelled": [True] * 2}), "its is_cancelled has the shape (2,)"),
        (Decision(flags={"is_cancelled": ["a"] * 3}), "its is_cancelled is of str; it must be of bool"),
        (
            Decision(repairs={"speed": [1, 2, 3]}),
            "it repairs 'speed'; the columns that a rule may repair are submit_time",
        ),
        (Decision(repairs={"job_number": [1, 2, 3]}), "it repairs 'job_number'"),
        (Decision(repairs={"line_number": [1, 2, 3]}), "it repairs 'line_number'"),
        (Decision(repairs={"run_time": [1, 2]}), "its run_time has the shape (2,)"),
        (Decision(repairs={"run_time": ["a", "b", "c"]}), "its run_time is not of double"),
        (Decision(repairs={"run_time": [1, -7, 3]}), "its run_time -7.0 is outside 0..1e+10"),
        (Decision(repairs={"run_time": [1, np.inf, 3]}), "its run_time inf is outside 0..1e+10"),
        (Decision(repairs={"user_id": [1, 1.5, 3]}), "its user_id is not of int64"),
        (Decision(repairs={"user_id": [1, 2, -3]}), "its user_id -3 is outside 0"),
        (Decision(merge_into=[-1, 3, -1]), "its merge_into names position 3 among 3 jobs"),
        (Decision(merge_into=[-1, 1, -1]), "it merges a job into one that does not stay"),
        (Decision(merge_into=[-1, 0, 1]), "it merges a job into one that does not stay"),
        (Decision(merge_into=[1, 0, -1]), "it merges a job into one that does not stay"),
        (Decision(merge_into=[-1, 0, -1], quarantine=[True, False, False]), "it merges a job into one that does not"),
        (Decision(merge_into=[-1, 0, -1], quarantine=[False, True, False]), "it both removes and merges a job"),
        (Decision(merge_into=[0.5, -1, -1]), "its merge_into is of float64; it must be of int"),
        (Decision(order=[0, 1]), "its order has the shape (2,)"),
        (Decision(order=[0, 1, 1]), "its order is not one of all jobs"),
        (Decision(order=[0, 1, -1]), "its order is not one of all jobs"),
        (Decision(order=[1, 2, 3]), "its order names position 3 among 3 jobs"),
        (Decision(quarantine=[True] * 3, reason=["a"]), "its reason has the shape (1,)"),
        (Decision(quarantine=[True] * 3, reason=["a", None, "c"]), "its reason is not a text for each job"),
        (Decision(quarantine=[True] * 3, reason=7), "its reason has the shape ()"),
        (Decision(remark=7), "its remark is int, not text"),
        (lambda trace: trace.jobs["no_such_column"], "failed: KeyError: 'no_such_column'"),
        (lambda trace: 1 / 0, "failed: ZeroDivisionError: division by zero ("),
        (lambda trace: trace.arrays.run_time[7], "failed: IndexError: index 7 is out of bounds"),
    ],
)
def test_rules_that_fail_are_told(decision: Any, message: str) -> None:
    """A rule that raises, or whose decision cannot be carried out, is named with what is wrong."""
    with pytest.raises(RuleError) as caught:
        decide(decision)
    assert "cleaning rule 'test-rule'" in str(caught.value)
    assert message in str(caught.value)


def test_a_failing_rule_is_told_with_its_place() -> None:
    """The message of a failing rule has file and line, and the cause has the traceback."""
    with pytest.raises(RuleError, match=r"rules_of_others.py, line \d+\)$") as caught:
        clean(draw_trace(JOBS), ["tests.cleaning.rules_of_others:fails"])
    assert isinstance(caught.value.__cause__, KeyError)


def test_errors_that_a_rule_means_pass() -> None:
    """An error of this package that a rule raises on its jobs is passed on as it is."""
    with pytest.raises(ParameterError, match=r"^give me more jobs$"):
        clean(draw_trace(JOBS), ["tests.cleaning.rules_of_others:refuses"])


def meddle(trace: Trace) -> Decision:
    """Do to the trace whatever a careless rule might do, and then mark the second job."""
    trace.jobs.loc[0, "run_time"] = 1e9
    trace.jobs["status"] = 0
    trace.jobs["user_id"] = trace.jobs["user_id"].fillna(7)
    trace.arrays.submit_time[:] = 77
    trace.arrays.width[:] = 99
    trace.jobs.loc[3] = trace.jobs.loc[0]
    trace.quarantine.loc[0] = [1, "x", "y", "z"]
    trace.provenance["name"] = "mine"  # type: ignore[index]
    return Decision(flags={"is_cancelled": np.array([False, True, False])})


def test_a_rule_that_meddles_changes_nothing() -> None:
    """What a rule does to the trace it was given stays with the rule: jobs, arrays and books are not touched."""
    trace = draw_trace(JOBS)
    before = trace.jobs.copy(deep=True)
    plain, _ = clean(trace, [])
    cleaned, report = decide(meddle)
    expected = plain.jobs.assign(is_cancelled=[False, True, False])
    pd.testing.assert_frame_equal(expected, cleaned.jobs)
    pd.testing.assert_frame_equal(before, trace.jobs)
    assert {"job_lines": 3, "kept": 3, "quarantined": 0, "merged": 0} == report.balance
    assert 0 == len(cleaned.quarantine)
    assert trace.provenance == cleaned.provenance


def test_series_are_matched_by_index() -> None:
    """A Series says what it says of the jobs of its index, in whatever order; a missing value says no."""
    by_run = lambda trace: trace.jobs.sort_values("run_time", ascending=False)["run_time"] > 6.5  # noqa: E731
    cleaned, _ = decide(lambda trace: Decision(quarantine=by_run(trace), reason="long"))
    assert [1, 2] == cleaned.jobs["job_number"].tolist()
    cleaned, _ = decide(Decision(quarantine=pd.array([None, True, False], "boolean")))
    assert [1, 3] == cleaned.jobs["job_number"].tolist()
    cleaned, _ = decide(
        lambda trace: Decision(repairs={"run_time": trace.jobs["run_time"].sort_values(ascending=False) * 2})
    )
    assert [10.0, 12.0, 14.0] == cleaned.jobs["run_time"].tolist()


def test_repairs_record_only_what_changes() -> None:
    """Values that are as they were are no repairs; -1, NaN and NA all mean missing; removed jobs are not repaired."""
    decision = Decision(
        repairs={"run_time": [5, -1, np.nan], "user_id": [-1, -1, 7], "status": pd.array([1, None, 0], "Int64")},
        quarantine=[False, False, True],
    )
    cleaned, report = decide(decision)
    assert [["run_time", 6.0], ["status", 5.0]] == report.repairs[["column", "old_value"]].values.tolist()
    assert [2, 2] == report.repairs["job_number"].tolist()
    assert [False, True] == cleaned.jobs["is_repaired"].tolist()
    assert [5.0, True] == [cleaned.jobs["run_time"][0], bool(pd.isna(cleaned.jobs["run_time"][1]))]
    step = report.steps.iloc[-1]
    assert (1, 1, 0) == (step["quarantined"], step["repaired"], step["flagged"])


def test_values_that_stood_wrong_are_no_fault_of_a_rule() -> None:
    """A column with an impossible value may be repaired elsewhere; the value is refused on writing, not here."""
    trace = Trace.from_columns(job_number=[1, 2], run_time=[-5.0, 90.0], requested_time=[60, 60])
    cleaned, report = clean(trace, [{"rule": "run-over-request", "action": "cut-run"}])
    assert [-5.0, 60.0] == cleaned.jobs["run_time"].tolist()
    assert 1 == len(report.repairs)


def test_a_job_repaired_and_marked_counts_once() -> None:
    """In the report a job is repaired or flagged or neither, never both."""
    decision = Decision(flags={"is_cancelled": [True, True, False]}, repairs={"run_time": [9, 6, 9]})
    step = decide(decision)[1].steps.iloc[-1]
    assert (2, 1) == (step["repaired"], step["flagged"])


def test_one_decision_may_do_everything() -> None:
    """A rule may remove, merge, repair, mark, sort and remark at once."""
    decision = Decision(
        quarantine=[True, False, False],
        reason=["first", "", ""],
        merge_into=[-1, 2, -1],
        repairs={"run_time": [1, 1, 13]},
        flags={"is_cancelled": [True, True, True]},
        order=[2, 1, 0],
        remark="all done",
    )
    cleaned, report = decide(decision)
    assert rows_of("job run flags\n3 13 cancelled,repaired") == table_of(cleaned, "job run flags")
    assert [["test-rule", "first", 1]] == cleaned.quarantine[["rule", "reason", "line_number"]].values.tolist()
    assert [[2, 2, 3]] == report.merged[["line_number", "job_number", "into_line_number"]].values.tolist()
    step = report.steps.iloc[-1]
    assert (3, 1, 1, 1, 1, 0, "all done") == tuple(
        step[name] for name in ("jobs_in", "jobs_out", "quarantined", "merged", "repaired", "flagged", "remark")
    )
