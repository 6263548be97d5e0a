# SPDX-License-Identifier: BSD-3-Clause
"""Every other cleaning rule on traces drawn by hand: what stays, what goes, what is marked, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from swftools import MachineDescription, clean, simulate
from swftools.cleaning import DEFAULT_RULES, list_rules
from swftools.errors import ParameterError
from swftools.trace import Trace
from tests.cleaning.one_rule import apply, check
from tests.drawn import draw_trace, rows_of, table_of

MACHINE = "MaxProcs: 8"


# Duplicates


def test_duplicates_go() -> None:
    """A line that repeats an earlier one in all 18 fields is removed, wherever it stands; the first stays."""
    result = apply(
        "job submit run status user\n1 0 9 1 7\n2 5 . 1 7\n1 0 9 1 7\n1 0 9 1 7\n2 5 . 1 7",
        "duplicates",
    )
    check(result, "job occurrence line flags\n1 0 1 -\n2 0 2 -", quarantined=3)
    assert {"equal in all 18 fields to an earlier line"} == set(result[0].quarantine["reason"])


def test_equal_numbers_are_marked() -> None:
    """Jobs that share only their number stay, and are marked."""
    check(
        apply("job submit run user\n1 0 9 7\n2 0 9 7\n1 0 8 7\n1 0 9 7", "duplicates"),
        "job line occurrence flags\n1 1 0 duplicate_number\n2 2 0 -\n1 3 1 duplicate_number",
        quarantined=1,
        flagged=2,
    )


def test_text_behind_the_fields_is_not_compared() -> None:
    """Lines that differ only behind the 18th field say the same of the same job."""
    result = apply("job submit extra\n1 0 a\n1 0 b", "duplicates")
    check(result, "job line extra flags\n1 1 a -", quarantined=1)
    assert result[0].quarantine["text"][0].endswith(" b")


def test_jobs_without_number_are_no_duplicates() -> None:
    """Without a number alike jobs may be different ones: they stay, unmarked."""
    check(apply("job submit run\n. 0 9\n. 0 9", "duplicates"), "job line flags\n. 1 -\n. 2 -")


# Submission


def test_jobs_without_submission_go() -> None:
    """A job that cannot be placed in time is removed."""
    result = apply("job submit\n1 5\n2 .\n3 0", "missing-submit-time")
    check(result, "job submit\n1 5\n3 0", quarantined=1)
    assert ["no submission time"] == result[0].quarantine["reason"].tolist()


def test_jobs_are_sorted_by_submission() -> None:
    """Jobs behind a later submission are moved to their place and marked; equal times keep their order."""
    check(
        apply("job submit\n1 5\n2 9\n3 5\n4 9\n5 7\n6 9", "submission-order"),
        "job submit flags\n1 5 -\n3 5 out_of_order\n5 7 out_of_order\n2 9 -\n4 9 -\n6 9 -",
        flagged=2,
    )


def test_jobs_without_submission_go_last_unmarked() -> None:
    """A missing submission time puts a job last and no other job out of order."""
    check(
        apply("job submit\n1 .\n2 5\n3 .\n4 9\n5 7", "submission-order"),
        "job submit flags\n2 5 -\n5 7 out_of_order\n4 9 -\n1 . -\n3 . -",
        flagged=1,
    )
    check(apply("job submit\n1 .\n2 5", "submission-order"), "job flags\n2 -\n1 -")


def test_order_stays() -> None:
    """Jobs in order stay as they are."""
    check(apply("job submit\n1 0\n2 0\n3 7", "submission-order"), "job flags\n1 -\n2 -\n3 -")


# Unrepresentative start

START = "job submit\n1 0\n4 86399\n3 86400\n. 200000\n2 .\n6 300000"


@pytest.mark.parametrize(
    ("parameters", "kept", "removed"),
    [
        ({"last_job": 3}, "job\n4\n.\n6", 3),
        ({"last_job": 0}, "job\n1\n4\n3\n.\n2\n6", 0),
        ({"days": 1}, "job\n3\n.\n2\n6", 2),
        ({"days": 1.5, "last_job": 2}, "job\n.\n6", 4),
        ({"days": 1000}, "job\n2", 5),
    ],
)
def test_unrepresentative_start(parameters: dict[str, Any], kept: str, removed: int) -> None:
    """Jobs up to a number, or submitted in the first days, are removed; missing numbers and times are not."""
    result = apply(START, "unrepresentative-start", **parameters)
    check(result, kept, quarantined=removed)
    assert {"unrepresentative start of the log"} >= set(result[0].quarantine["reason"])


def test_unrepresentative_start_asks_for_a_parameter() -> None:
    """Without a parameter the rule does nothing, and says so."""
    check(
        apply("job submit\n1 0", "unrepresentative-start"),
        "job\n1",
        remark="nothing asked for: give last_job or days",
    )


# Flurries

FLURRY = "job submit user\n1 0 7\n2 1 9\n3 2 7\n4 3 7\n5 4 .\n. 5 7\n6 6 7"


def test_flurries_are_removed_by_user_and_range() -> None:
    """Jobs of a user in a range of numbers go, both ends included; others in the range and of the user stay."""
    result = apply(FLURRY, "flurries", ranges=[{"user": 7, "first_job": 1, "last_job": 4}])
    check(result, "job\n2\n5\n.\n6", quarantined=3)
    assert {"flurry of user 7, jobs 1-4"} == set(result[0].quarantine["reason"])
    assert [1, 3, 4] == result[0].quarantine["line_number"].tolist()


def test_flurries_of_several_ranges() -> None:
    """Each job goes under its own range; a range without a job is remarked on."""
    ranges = [{"user": u, "first_job": f, "last_job": t} for u, f, t in ((7, 6, 6), (9, 1, 9), (8, 1, 9), (7, 8, 9))]
    result = apply(FLURRY, "flurries", ranges=ranges)
    check(
        result,
        "job\n1\n3\n4\n5\n.",
        quarantined=2,
        remark="no job in: user 8, jobs 1-9; user 7, jobs 8-9",
    )
    assert ["flurry of user 9, jobs 1-9", "flurry of user 7, jobs 6-6"] == result[0].quarantine["reason"].tolist()


def test_flurries_without_ranges() -> None:
    """Without ranges nothing is done, and the report says so."""
    check(apply(FLURRY, "flurries"), "job\n1\n2\n3\n4\n5\n.\n6", remark="no ranges given")


# Processors


def test_jobs_of_unknown_width_go() -> None:
    """A job with neither allocated nor requested processors is removed; zero is as good as missing."""
    result = apply("job given asked\n1 4 .\n2 . 4\n3 . .\n4 0 4\n5 0 0\n6 . 0\n7 0 .", "missing-processors")
    check(result, "job width\n1 4\n2 4\n4 4", quarantined=4)
    assert {"neither allocated nor requested processors are known"} == set(result[0].quarantine["reason"])


def test_jobs_that_ask_for_cores_of_a_node_stay() -> None:
    """Where the width counts GPUs, a job without GPUs has none, and can run on nodes."""
    trace = Trace.from_columns(
        job_number=[1, 2, 3, 4], submit_time=[0, 0, 0, 0], run_time=[5, 5, 5, 5], requested_processors=[-1, -1, -1, 2]
    )
    trace = trace.with_jobs(trace.jobs.assign(requested_cores_per_node=[0.5, 0.0, float("nan"), float("nan")]))
    cleaned, _ = clean(trace, ["missing-processors"])
    assert cleaned.jobs["job_number"].tolist() == [1, 4]
    machine = MachineDescription.from_mapping({"nodes": [{"kind": "a", "count": 2, "cores": 2}]})
    assert simulate(cleaned, "fcfs", machine=machine).jobs["job_number"].tolist() == [1, 4]
    pool = simulate(cleaned, "fcfs", processors=4)
    assert (pool.jobs["job_number"].tolist(), pool.excluded["job_number"].tolist()) == ([4], [1])


WIDE = "job given asked\n1 8 8\n2 9 4\n3 . 16\n4 4 16\n5 . ."


def test_jobs_wider_than_the_machine_go() -> None:
    """A job is as wide as its allocated, else its requested processors; as wide as the machine is not too wide."""
    result = apply(WIDE, "wider-than-machine", header=MACHINE)
    check(result, "job given asked\n1 8 8\n4 4 16\n5 . .", quarantined=2)
    assert ["9 processors on a machine of 8", "16 processors on a machine of 8"] == result[0].quarantine[
        "reason"
    ].tolist()


def test_jobs_wider_than_the_machine_are_cut() -> None:
    """By action clip both counts of a wide job are cut to the machine's; of others neither."""
    result = apply(WIDE, "wider-than-machine", header=MACHINE, action="clip")
    check(
        result,
        "job given asked width flags\n1 8 8 8 -\n2 8 4 8 repaired\n3 . 8 8 repaired\n4 4 16 4 -\n5 . . . -",
        repaired=2,
    )
    assert [[2, 9.0, 8.0], [3, 16.0, 8.0]] == result[1].repairs[
        ["job_number", "old_value", "new_value"]
    ].values.tolist()


def test_a_machine_of_unknown_size_is_not_narrow() -> None:
    """Where nobody tells the machine's size no job is too wide, and the report says why."""
    check(
        apply(WIDE, "wider-than-machine"),
        "job\n1\n2\n3\n4\n5",
        remark="machine size unknown: neither given nor in the header",
    )


# Status and run time

STATUSES = "job run status\n1 5 0\n2 5 1\n3 5 5\n4 . 0\n5 . 1\n6 . 5\n7 . .\n8 5 .\n9 0 5"


def test_statuses_outside_the_list_become_missing() -> None:
    """A status that the format does not know is set to missing; the old one is recorded."""
    result = apply("job status\n1 0\n2 5\n3 6\n4 -2\n5 .\n6 3", "unknown-status")
    check(result, "job status flags\n1 0 -\n2 5 -\n3 . repaired\n4 . repaired\n5 . -\n6 3 -", repaired=2)
    assert [6.0, -2.0] == result[1].repairs["old_value"].tolist()
    assert result[1].repairs["new_value"].isna().all()


@pytest.mark.parametrize(
    ("rule", "flag", "jobs"),
    [
        ("cancelled", "cancelled", {"3", "6", "9"}),
        ("never-started", "never_started", {"4", "6"}),
        ("missing-run-time", "run_time_missing", {"5", "7"}),
    ],
)
def test_jobs_are_marked_or_removed(rule: str, flag: str, jobs: set[str]) -> None:
    """Cancelled, never started and run time missing are marked, or removed if asked to."""
    names = [str(job) for job in range(1, 10)]
    marked = "job flags\n" + "\n".join(f"{job} {flag if job in jobs else '-'}" for job in names)
    check(apply(STATUSES, rule), marked, flagged=len(jobs))
    check(apply(STATUSES, rule, action="flag"), marked, flagged=len(jobs))
    left = "job\n" + "\n".join(job for job in names if job not in jobs)
    check(apply(STATUSES, rule, action="quarantine"), left, quarantined=len(jobs))


OVER = "job run request\n1 50 60\n2 60 60\n3 61 60\n4 5 .\n5 5 0\n6 . 60\n7 60.5 60"


@pytest.mark.parametrize(
    ("action", "expected", "counts"),
    [
        ("flag", "job run request flags\n3 61 60 over_request\n7 60.5 60 over_request", {"flagged": 2}),
        (
            "raise-request",
            "job run request flags\n3 61 61 over_request,repaired\n7 60.5 60.5 over_request,repaired",
            {"repaired": 2},
        ),
        (
            "cut-run",
            "job run request flags\n3 60 60 over_request,repaired\n7 60 60 over_request,repaired",
            {"repaired": 2},
        ),
    ],
)
def test_runs_over_their_request(action: str, expected: str, counts: dict[str, int]) -> None:
    """A longer run than requested is marked; by choice the request is raised or the run cut. Others stay."""
    untouched = ["1 50 60 -", "2 60 60 -", "4 5 . -", "5 5 0 -", "6 . 60 -"]
    heading, third, seventh = expected.splitlines()
    rows = [heading, *untouched[:2], third, *untouched[2:], seventh]
    check(apply(OVER, "run-over-request", action=action), "\n".join(rows), **counts)


# All rules


@pytest.mark.parametrize(
    ("rule", "parameters", "message"),
    [
        ("wider-than-machine", {"action": "cut"}, "wider-than-machine: action='cut' is not one of quarantine, clip"),
        ("cancelled", {"action": "drop"}, "cancelled: action='drop' is not one of flag, quarantine"),
        ("never-started", {"action": "clip"}, "never-started: action='clip' is not one of flag, quarantine"),
        ("missing-run-time", {"action": 1}, "missing-run-time: action=1 is not one of flag, quarantine"),
        ("run-over-request", {"action": "kill"}, "action='kill' is not one of flag, raise-request, cut-run"),
        ("unrepresentative-start", {"days": -1}, "days=-1 is not a number of 0 or more (days)"),
        ("unrepresentative-start", {"days": "1"}, "days='1' is not a number of 0 or more (days)"),
        ("unrepresentative-start", {"days": True}, "days=True is not a number of 0 or more (days)"),
        ("unrepresentative-start", {"last_job": -1}, "last_job=-1 is not an integer of 0 or more"),
        ("unrepresentative-start", {"last_job": 1.5}, "last_job=1.5 is not an integer of 0 or more"),
        ("flurries", {"ranges": {"user": 1}}, "ranges={'user': 1} is not a list"),
        (
            "flurries",
            {"ranges": [{"user": 1, "first_job": 1}]},
            "is not a list of mappings of exactly the keys user, first_job, last_job",
        ),
        ("flurries", {"ranges": [7]}, "flurries: ranges=[7] is not a list of mappings of exactly the keys"),
        ("flurries", {"ranges": [{"user": 1, "first_job": 5, "last_job": 4}]}, "first_job not beyond last_job"),
        ("flurries", {"ranges": [{"user": "7", "first_job": 1, "last_job": 4}]}, "is not of whole numbers"),
        ("flurries", {"ranges": [{"user": 1, "first_job": 1, "last_job": None}]}, "is not of whole numbers"),
        (
            "cancelled",
            {"actoin": "flag"},
            "cancelled: unknown parameters ['actoin']; there are: action; did you mean action?",
        ),
        ("duplicates", {"keep": "last"}, "duplicates: unknown parameters ['keep']; there are none"),
    ],
)
@pytest.mark.parametrize("table", ["job\n1", "job run request\n" + "1 5 4\n" * 9])
def test_wrong_parameters_are_refused(rule: str, parameters: dict[str, Any], message: str, table: str) -> None:
    """Every rule refuses unknown parameters and values outside their domain, whatever the trace."""
    with pytest.raises(ParameterError) as caught:
        apply(table, rule, **parameters)
    assert message in str(caught.value)


@pytest.mark.parametrize("rule", list_rules())
def test_every_rule_takes_a_trace_of_no_jobs_and_of_one(rule: str) -> None:
    """No rule stumbles over an empty trace, or one job without any value."""
    for count in (0, 1):
        cleaned, report = clean(Trace.from_columns(job_number=[-1] * count), [rule])
        assert count == len(cleaned) + len(cleaned.quarantine)
        assert count == report.balance["job_lines"]


@pytest.mark.parametrize("rule", list_rules())
def test_every_rule_says_what_it_is(rule: str) -> None:
    """A rule has a docstring whose first line is a sentence."""
    assert (list_rules()[rule].__doc__ or "").partition("\n")[0].endswith(".")


def test_default_rules_in_their_order() -> None:
    """The default merges and repairs before it looks for duplicates, and sorts when all jobs have a time."""
    expected = (
        *("partial-executions", "unknown-status", "duplicates", "missing-submit-time", "submission-order"),
        *("missing-processors", "wider-than-machine", "cancelled", "never-started", "missing-run-time"),
        "run-over-request",
    )
    assert expected == DEFAULT_RULES
    assert {"flurries", "unrepresentative-start"} == set(list_rules()) - set(DEFAULT_RULES)


def test_default_rules_together() -> None:
    """A log with one fault of every kind."""
    trace = draw_trace(
        """
        job submit wait run given asked request status user
        1   0      0    50  4     4     60      1      7
        2   9      0    50  4     4     60      1      7
        3   5      0    50  4     4     60      1      7
        3   5      0    50  4     4     60      1      7
        4   .      0    50  4     4     60      1      7
        5   20     0    50  .     .     60      1      7
        6   20     0    50  16    16    60      1      7
        7   21     0    50  4     4     60      9      7
        8   22     0    50  4     4     60      5      7
        9   23     30   .   .     4     60      5      7
        10  24     0    .   4     4     60      .      7
        11  25     0    99  4     4     60      1      7
        12  26     0    40  4     4     60      2      7
        12  .      5    30  4     4     60      4      7
        13  27     0    10  4     4     60      1      7
        13  27     0    11  4     4     60      1      7
        """,
        header=MACHINE,
    )
    cleaned, report = clean(trace)
    expected = """
        job submit run width status flags
        1   0      50  4     1      -
        3   5      50  4     1      out_of_order
        2   9      50  4     1      -
        7   21     50  4     .      repaired
        8   22     50  4     5      cancelled
        9   23     .   4     5      cancelled,never_started
        10  24     .   4     .      run_time_missing
        11  25     99  4     1      over_request
        12  26     70  4     0      over_request,repaired
        13  27     10  4     1      duplicate_number
        13  27     11  4     1      duplicate_number
        """
    assert rows_of(expected) == table_of(cleaned, expected)
    assert {"job_lines": 16, "kept": 11, "quarantined": 4, "merged": 1} == report.balance
    removed = cleaned.quarantine[["line_number", "rule"]].values.tolist()
    assert [
        [5, "duplicates"],
        [6, "missing-submit-time"],
        [7, "missing-processors"],
        [8, "wider-than-machine"],
    ] == removed
