# SPDX-License-Identifier: BSD-3-Clause
"""Cleaning carries decisions out and keeps the books, whatever rules are applied in whatever order."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from swftools import SwfHeader, Trace, clean, generate_utility, read_swf
from swftools.cleaning import FLAGS, list_rules
from swftools.cleaning import apply as cleaning_module
from swftools.errors import BalanceError
from swftools.tables import to_arrow
from tests.cleaning.known_counts import COUNTS, FLAGGED
from tests.drawn import draw_trace, rows_of, table_of
from tests.folders import ROOT
from tests.frames import assert_same
from tests.strategies import choices, lists_of, traces

CARDS = yaml.safe_load((ROOT / "data_catalog.yaml").read_text(encoding="utf-8"))["logs"]

half = settings(max_examples=settings.default.max_examples // 2)
"""Half of the usual examples, since each is cleaned several times."""

RULES = st.sampled_from(
    [
        *list_rules(),
        "default",
        *({"rule": name, "action": "quarantine"} for name in ("cancelled", "never-started", "missing-run-time")),
        {"rule": "wider-than-machine", "action": "clip"},
        {"rule": "run-over-request", "action": "raise-request"},
        {"rule": "run-over-request", "action": "cut-run"},
        {"rule": "unrepresentative-start", "days": 0.5, "last_job": 2},
        {"rule": "flurries", "ranges": [{"user": 1, "first_job": 0, "last_job": 3}]},
    ]
)


FEW = dict.fromkeys(("job_number", "user_id", "allocated_processors", "requested_processors"), (-1, 1, 2, 3))
FEW |= dict.fromkeys(("submit_time", "wait_time", "run_time", "requested_time"), (-1, 0, 5, 90000))
FEW |= {"status": (-1, 0, 1, 2, 2, 3, 4, 5, 9), "average_cpu_time": (-1, 0.5)}
"""The values of columns that have much in common."""


@st.composite
def crowded_traces(draw: st.DrawFn) -> Trace:
    """Draw jobs that have much in common, so that every rule finds something to do."""
    count = draw(st.integers(0, 9))
    columns = {name: draw(lists_of(choices(*values), count)) for name, values in FEW.items()}
    machine = draw(choices(None, 1, 2))
    trace = Trace.from_columns(machine_processors=machine, **columns)
    if not draw(st.booleans()):
        return trace
    lines = draw(st.permutations(range(1, count + 1)))
    quarantine = pd.DataFrame({"line_number": [count + 1], "rule": "read", "reason": "no job", "text": "x"})
    return trace.with_jobs(trace.jobs.assign(line_number=pd.array(lines, "Int64")), quarantine)


# The books


@half
@given(crowded_traces() | traces(), st.lists(RULES, max_size=6))
def test_the_books_always_balance(trace: Trace, chosen: list[Any]) -> None:
    """Job lines read are jobs kept + quarantined + merged, for every rule list, in total and at every step."""
    cleaned, report = clean(trace, chosen)
    balance, steps = report.balance, report.steps
    assert len(trace) + len(trace.quarantine) == balance["job_lines"]
    assert balance["job_lines"] == balance["kept"] + balance["quarantined"] + balance["merged"]
    assert (len(cleaned), len(cleaned.quarantine), len(report.merged)) == (
        balance["kept"],
        balance["quarantined"],
        balance["merged"],
    )
    assert (steps["jobs_in"] == steps["jobs_out"] + steps["quarantined"] + steps["merged"]).all()
    assert steps["jobs_out"][:-1].tolist() == steps["jobs_in"][1:].tolist()
    assert list(range(len(steps))) == steps["step"].tolist()
    per_rule = steps.groupby("rule")["quarantined"].sum()
    counted = cleaned.quarantine["rule"].value_counts()
    assert per_rule[per_rule > 0].sort_index().to_dict() == counted.sort_index().to_dict()
    for name, frame in {"jobs": cleaned.jobs, "quarantine": cleaned.quarantine, "merged": report.merged}.items():
        to_arrow(frame, name)
    to_arrow(report.steps, "cleaning_report")
    to_arrow(report.repairs, "repairs")


@half
@given(crowded_traces(), st.lists(RULES, max_size=6))
def test_no_line_is_lost_or_doubled(trace: Trace, chosen: list[Any]) -> None:
    """Each line of the log is in exactly one of jobs, quarantine and merged."""
    if trace.jobs["line_number"].isna().any():
        trace = trace.with_jobs(trace.jobs.assign(line_number=pd.array(range(1, len(trace) + 1), "Int64")))
    cleaned, report = clean(trace, chosen)
    lines = [frame["line_number"] for frame in (cleaned.jobs, cleaned.quarantine, report.merged)]
    expected = [*trace.jobs["line_number"], *trace.quarantine["line_number"]]
    assert sorted(expected) == sorted(line for part in lines for line in part)
    assert set(report.merged["into_line_number"]) <= set(trace.jobs["line_number"])


@half
@given(crowded_traces(), st.lists(RULES, max_size=6))
def test_repairs_explain_every_change(trace: Trace, chosen: list[Any]) -> None:
    """Undoing the repairs, last first, gives every kept job the values it had; a job changed is marked."""
    trace = trace.with_jobs(trace.jobs.assign(line_number=pd.array(range(1, len(trace) + 1), "Int64")))
    cleaned, report = clean(trace, chosen)
    restored = cleaned.jobs.set_index("line_number")
    for repair in report.repairs[::-1].to_dict("records"):
        if repair["line_number"] in restored.index:
            now = restored.loc[repair["line_number"], repair["column"]]
            assert (pd.isna(now) and pd.isna(repair["new_value"])) or now == repair["new_value"]
            restored.loc[repair["line_number"], repair["column"]] = repair["old_value"]
    original = trace.jobs.set_index("line_number").loc[restored.index]
    pd.testing.assert_frame_equal(original, restored[original.columns])
    changed = set(report.repairs["line_number"]) & set(restored.index)
    assert changed == set(restored.index[cleaned.jobs["is_repaired"]])


@half
@given(crowded_traces() | traces())
@example(draw_trace("job submit status asked\n1 0 8 4\n1 0 9 4"))
def test_cleaning_twice_is_cleaning_once(trace: Trace) -> None:
    """A trace cleaned by the default rules, cleaned by them again, is the same trace."""
    once, _ = clean(trace)
    twice, report = clean(once)
    for name in ("jobs", "quarantine", "merged"):
        assert_same(getattr(twice, name), getattr(once, name))
    assert [0, 0] == report.steps[["merged", "repaired"]].iloc[1:].sum().tolist(), "step 0 tells of the lines before"


@half
@given(crowded_traces(), st.lists(RULES, max_size=6))
def test_the_trace_given_is_not_changed(trace: Trace, chosen: list[Any]) -> None:
    """Cleaning leaves the trace it was given as it was."""
    jobs, quarantine = trace.jobs.copy(deep=True), trace.quarantine.copy(deep=True)
    clean(trace, chosen)
    assert_same(trace.jobs, jobs)
    assert_same(trace.quarantine, quarantine)


def test_books_that_do_not_balance_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should cleaning itself ever lose a job, it raises instead of returning."""
    derived = cleaning_module._with_derived
    monkeypatch.setattr(cleaning_module, "_with_derived", lambda trace: derived(trace).iloc[1:])
    with pytest.raises(BalanceError, match=r"cleaning does not balance: {'job_lines': 2, .*}, 1 jobs"):
        clean(Trace.from_columns(job_number=[1, 2]), [])


# What a cleaned trace holds


def test_quarantine_holds_line_and_text() -> None:
    """A removed job, like a line that was none, has its line number, rule, reason and text as they stood."""
    text = b"; MaxProcs: 4\n1 0 -1 5 2 -1 -1 2 9 -1 1\n 2  7 -1 5 64 -1 -1 2 9 -1 1 1 1 1 1 1 -1 -1 \r\n\n"
    text += b"3 9 -1 5 2 -1 -1 2 9 -1 1 1 1 1 1 1 -1 -1 more \xc3\xa9\n3 9 -1 5 2 -1 -1 2 9 -1 1 1 1 1 1 1 -1 -1"
    cleaned, report = clean(read_swf(io.BytesIO(text)))
    expected = [
        [2, "read", "11 fields instead of 18", "1 0 -1 5 2 -1 -1 2 9 -1 1"],
        [6, "duplicates", "equal in all 18 fields to an earlier line", "3 9 -1 5 2 -1 -1 2 9 -1 1 1 1 1 1 1 -1 -1"],
        [
            3,
            "wider-than-machine",
            "64 processors on a machine of 4",
            " 2  7 -1 5 64 -1 -1 2 9 -1 1 1 1 1 1 1 -1 -1 ",
        ],
    ]
    assert expected == cleaned.quarantine.values.tolist()
    assert [5] == cleaned.jobs["line_number"].tolist()
    assert {"job_lines": 4, "kept": 1, "quarantined": 3, "merged": 0} == report.balance


def test_a_trace_from_no_file_has_neither_line_nor_text() -> None:
    """Line number and text are missing where a trace comes from no file, the rest of the account is there."""
    trace = Trace.from_columns(
        job_number=[1, 2, 1, 1], submit_time=[0, -1, 0, -1], status=[2, 1, 3, 1], run_time=[1, 2, 3, 4]
    )
    without_lines = trace.with_jobs(trace.jobs.drop(columns="line_number"))
    for given_trace in (trace, without_lines):
        cleaned, report = clean(given_trace)
        assert ["missing-submit-time"] * 2 + ["missing-processors"] == cleaned.quarantine["rule"].tolist()
        assert cleaned.quarantine[["line_number", "text"]].isna().all(axis=None)
        assert report.merged[["line_number", "text", "into_line_number"]].isna().all(axis=None)
        assert [1] == report.merged["job_number"].tolist()


def test_derived_columns() -> None:
    """A cleaned job has its flags, occurrence, width, and submission in UTC to the millisecond."""
    trace = draw_trace("job submit given asked\n1 0 4 8\n2 1.2345 . 8\n2 . 0 0", header="UnixStartTime: 956865642")
    cleaned, _ = clean(trace, [])
    assert [4, 8, pd.NA] == cleaned.jobs["width"].tolist()
    assert [0, 0, 1] == cleaned.jobs["job_occurrence"].tolist()
    expected = ["2000-04-27T20:00:42.000+00:00", "2000-04-27T20:00:43.234+00:00", "NaT"]
    stamps = cleaned.jobs["submit_timestamp"]
    assert expected == [str(pd.NaT) if pd.isna(stamp) else stamp.isoformat(timespec="milliseconds") for stamp in stamps]
    assert "datetime64[ms, UTC]" == str(stamps.dtype)
    assert set(FLAGS) < set(cleaned.jobs)
    assert not cleaned.jobs[list(FLAGS)].any(axis=None)


@pytest.mark.parametrize("header", ["", "UnixStartTime: -1", "UnixStartTime: 0", "UnixStartTime: 253402300790"])
def test_no_timestamp_where_there_is_none(header: str) -> None:
    """Without a start in the header, or beyond the calendar, there is no absolute time."""
    cleaned, _ = clean(draw_trace("job submit\n1 20", header=header), [])
    assert [True] == cleaned.jobs["submit_timestamp"].isna().tolist()


def test_the_last_timestamp_of_the_calendar() -> None:
    """The last second of the year 9999 is one."""
    cleaned, _ = clean(draw_trace("job submit\n1 9\n2 10", header="UnixStartTime: 253402300790"), [])
    assert [False, True] == cleaned.jobs["submit_timestamp"].isna().tolist()


def test_columns_are_in_the_order_of_the_dictionary() -> None:
    """Columns come as declared; those that nobody declared are kept, last."""
    trace = Trace.from_columns(job_number=[1, 2], submit_time=[0, 1], requested_processors=[1, 1])
    cleaned, _ = clean(trace.with_jobs(trace.jobs.assign(mine=[5, 6])[["mine", *trace.jobs]]))
    names = to_arrow(cleaned.jobs.drop(columns="mine"), "jobs").column_names
    assert [*names, "mine"] == list(cleaned.jobs)
    assert [5, 6] == cleaned.jobs["mine"].tolist()


def test_job_occurrence_does_not_depend_on_the_rules() -> None:
    """Occurrences count lines of the log, also those a rule takes away: so draws of the others do not change."""
    trace = draw_trace(
        """
        job submit run asked user status
        1   0      5   4     7    1
        1   0      5   4     7    1
        1   0      6   4     7    1
        2   0      5   4     7    1
        1   9      5   4     7    1
        """
    )
    kept_all, _ = clean(trace, [])
    kept_some, _ = clean(trace, ["duplicates"])
    assert [0, 1, 2, 0, 3] == kept_all.jobs["job_occurrence"].tolist()
    assert [0, 2, 0, 3] == kept_some.jobs["job_occurrence"].tolist()
    drawn_all = generate_utility(kept_all).drop(index=1).reset_index(drop=True)
    pd.testing.assert_frame_equal(drawn_all, generate_utility(kept_some))


def test_job_occurrence_is_by_line() -> None:
    """Sorting does not change occurrences, whatever the order of the jobs."""
    table = "job submit\n1 9\n1 5\n1 7"
    forwards, _ = clean(draw_trace(table), ["submission-order"])
    trace = draw_trace(table)
    backwards, _ = clean(trace.with_jobs(trace.jobs[::-1]), ["submission-order"])
    for cleaned in (forwards, backwards):
        assert rows_of("submit occurrence line\n5 1 2\n7 2 3\n9 0 1") == table_of(cleaned, "submit occurrence line")


def test_header_and_the_rest_stay() -> None:
    """Cleaning changes jobs and quarantine only."""
    header = SwfHeader.from_lines(["; MaxProcs: 64"])
    trace = Trace.from_columns(header, machine_processors=48, job_number=[1], requested_processors=[50])
    cleaned, _ = clean(trace)
    assert (header, 48, 0) == (cleaned.header, cleaned.machine_processors, len(cleaned))
    assert ["50 processors on a machine of 48"] == clean(trace, ["wider-than-machine"])[0].quarantine["reason"].tolist()


def test_flags_that_jobs_carry_stay() -> None:
    """A mark from an earlier cleaning is kept, and a rule adds to it."""
    trace = Trace.from_columns(job_number=[1, 2], status=[5, 1])
    trace = trace.with_jobs(trace.jobs.assign(is_cancelled=[False, True]))
    assert [True, True] == clean(trace, ["cancelled"])[0].jobs["is_cancelled"].tolist()


def test_repairs_of_several_rules_add_up() -> None:
    """A job that one rule repaired stays marked when another rule repairs others."""
    trace = draw_trace("job run request status\n1 50 60 9\n2 70 60 1\n3 70 60 9\n4 50 60 1")
    rules_in_order = [
        "unknown-status",
        *({"rule": "run-over-request", "action": a} for a in ("raise-request", "cut-run")),
    ]
    cleaned, report = clean(trace, rules_in_order)
    assert [True, True, True, False] == cleaned.jobs["is_repaired"].tolist()
    assert [0, 2, 2, 0] == report.steps["repaired"].tolist()


def test_an_index_does_not_matter() -> None:
    """Jobs with any index are cleaned by their rows, and have an index from 0 afterwards."""
    trace = draw_trace("job submit status\n1 5 5\n2 3 1")
    odd = trace.with_jobs(trace.jobs.set_index(pd.Index([7, 7])))
    for chosen in ([], ["cancelled"], ["submission-order", "cancelled"]):
        pd.testing.assert_frame_equal(clean(trace, chosen)[0].jobs, clean(odd, chosen)[0].jobs)


# Real logs


def check_counts(path: Path, name: str) -> None:
    """Clean a log under its card's machine size, and hold the counts."""
    trace = read_swf(path)
    machine = Trace(
        trace.header, trace.jobs, trace.quarantine, CARDS[name.removesuffix("-5000-9999")]["machine"]["processors"]
    )
    cleaned, report = clean(machine)
    kept, removed, flagged = COUNTS[name]
    assert {"job_lines": kept + removed, "kept": kept, "quarantined": removed, "merged": 0} == report.balance
    steps = report.steps.set_index("rule")
    assert flagged == tuple(steps.loc[list(FLAGGED), "flagged"])
    assert removed == steps.loc["missing-processors", "quarantined"]
    assert 0 == steps["repaired"].sum() == len(report.repairs)
    assert sum(flagged) == steps["flagged"].sum()
    to_arrow(cleaned.jobs, "jobs")


def test_counts_of_the_shipped_log(shipped_log: Path) -> None:
    """The shipped log has the cancelled, never started and overrunning jobs that its card tells of."""
    check_counts(shipped_log, "SDSC-BLUE-2000-4.2-cln-5000-9999")


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in COUNTS if not name.endswith("9999")])
def test_counts_of_the_five_logs(shared: Path, name: str) -> None:
    """The five logs have the numbers of odd jobs that the rules' docstrings say, and nothing else that is odd."""
    check_counts(shared / "traces" / f"{name}.swf.gz", name)


@pytest.mark.parametrize(
    ("rule", "names"), [(rule, ("SDSC-BLUE", "SDSC-DS", "CTC", "SDSC-SP2", "KTH")) for rule in FLAGGED]
)
def test_docstrings_tell_the_counts(rule: str, names: tuple[str, ...]) -> None:
    """The counts in the docstrings are those of the tests."""
    text = " ".join((list_rules()[rule].__doc__ or "").split())
    for name, (_, _, counts) in COUNTS.items():
        short = next(short for short in names if name.startswith(short))
        count = counts[FLAGGED.index(rule)]
        if count and not name.endswith("9999"):
            assert f"{short}: {count:,}" in text


def test_steps_are_plain_values(shipped_log: Path) -> None:
    """The report goes to JSON as it is."""
    _, report = clean(read_swf(shipped_log))
    rows = json.loads(report.steps.to_json(orient="records"))
    assert 12 == len(rows)
    assert {"step": 0, "rule": "read", "parameters": "{}", "jobs_in": 5000, "jobs_out": 5000} == {
        name: rows[0][name] for name in ("step", "rule", "parameters", "jobs_in", "jobs_out")
    }
