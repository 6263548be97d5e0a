# SPDX-License-Identifier: BSD-3-Clause
"""The synthetic listings and what is expected of each, value by value."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest

from swftools import Trace, read_log
from swftools.errors import LogFormatError

SAMPLES = Path(__file__).parent / "samples"
EXPECTED = pd.read_csv(SAMPLES / "expected.tsv", sep="\t")
ZONES = {"ctime": "UTC", "enUS": "America/New_York", "dates_de": "Europe/Berlin", "dates_fr": "Europe/Paris"}


def zone_of(name: str) -> str:
    """Return the zone that a sample was made in."""
    return next((zone for word, zone in ZONES.items() if word in name), "America/Los_Angeles")


def read(name: str, **options: object) -> Trace:
    """Read a sample."""
    return read_log(SAMPLES / name, **{"time_zone": zone_of(name), "processors_per_node": 8} | options)


def values(trace: Trace) -> pd.DataFrame:
    """Return what is expected of each step, by its id, with -1 for missing, as the table of expected values has it."""
    jobs = trace.jobs.set_index("log_id")
    columns = {
        "submit": jobs["submit_time"] + (trace.header.unix_start_time or 0),
        "wait": jobs["wait_time"],
        "run": jobs["run_time"],
        "procs": jobs["allocated_processors"],
        "req_time": jobs["requested_time"],
        "status": jobs["status"],
    }
    return pd.DataFrame(columns).astype("float64").fillna(-1)


@pytest.mark.parametrize("name", sorted(set(EXPECTED["sample"])))
def test_expected_values(name: str) -> None:
    """Every step of a sample has the values that are expected, and there is no other."""
    wanted = EXPECTED[EXPECTED["sample"] == name].set_index("step_id")
    found = values(read(name, requested_time="hard"))
    renamed = {"procs_if_8_per_node": "procs", "req_time_hard": "req_time", "suggested_swf_status": "status"}
    wanted = wanted.rename(columns=renamed)[list(found.columns)].astype("float64")
    pd.testing.assert_frame_equal(found.sort_index(), wanted.sort_index(), check_names=False)


def test_a_month_of_two_kinds_of_nodes() -> None:
    """Processors by the beginning of the hosts' names; users, accounts, classes and kinds of nodes as numbers."""
    trace = read(
        "llsummary-l_datastar-like_60steps.txt.gz", processors_per_node={"p655": 8, "p690": 32}, group="account"
    )
    wanted = pd.read_csv(SAMPLES / "datastar-like.expected.tsv", sep="\t").set_index("step_id")
    found = values(trace)
    pd.testing.assert_frame_equal(
        found.sort_index(), wanted[list(found.columns)].astype("float64").sort_index(), check_names=False
    )
    names = trace.names.set_index(["kind", "number"])["name"]
    jobs = trace.jobs.set_index("log_id")
    for kind, column in (("user", "user"), ("group", "account"), ("queue", "class")):
        told = [names[kind, number] for number in jobs[f"{kind}_id"]]
        assert told == wanted.loc[jobs.index, column].tolist()
    ran = jobs["run_time"].notna()
    kinds = [names["partition", number] for number in jobs["partition_id"][ran]]
    assert kinds == wanted.loc[jobs.index[ran], "node_type"].tolist()
    assert trace.header.queues[0] == "interactive"


def test_the_hour_repeated_is_told_apart_by_order_or_flagged() -> None:
    """Without a word on summer time the first 01:30 is taken, unless the times of the step say otherwise."""
    trace = read("llsummary-l_dst_nozone_ambiguous.txt")
    first, second = trace.jobs.set_index("log_id").sort_index()[["run_time", "is_time_ambiguous"]].to_numpy().tolist()
    assert first == [1800, True], "it ends at 01:01, which before 01:31 must be the second one"
    assert second == [5400, True], "nothing tells; it may be an hour too long, and is flagged"
    assert any("repeats" in told for told in trace.provenance["anomalies"])


def test_steps_that_have_not_ended_are_told_of() -> None:
    """Those in the queue are no jobs, and nothing of them is lost."""
    trace = read("llq-l_states_multinode.txt")
    assert trace.quarantine["reason"].tolist() == [
        *("not ended: 'Running'", "not ended: 'Idle'", "not ended: 'User & System Hold'", "not ended: 'Preempted'"),
    ]
    assert trace.quarantine["line_number"].tolist() == [2, 71, 133, 175]
    assert "a3::" in trace.quarantine["text"][0]
    assert not len(trace)


def test_a_broken_listing() -> None:
    """CR LF, Latin-1, a message, times in the wrong order, a step twice, and a tail that is cut off."""
    trace = read("llsummary-l_broken_latin1_crlf.txt")
    reasons = trace.quarantine[["line_number", "reason"]].to_numpy().tolist()
    assert reasons == [
        [87, "a message, not a record"],
        [98, "start before submit"],
        [350, "the log is cut off within this record"],
    ]
    assert trace.jobs["log_id"].tolist() == ["sched01.site.example.4001.0", "sched01.site.example.4004.0"]
    assert trace.merged[["line_number", "into_line_number"]].to_numpy().tolist() == [[182, 13]]


@pytest.mark.parametrize(
    ("name", "command"), [("llq_short.txt", "llq -l"), ("llsummary_standard-report.txt", "llsummary -l")]
)
def test_short_reports_are_refused(name: str, command: str) -> None:
    """They are recognised, and the command to run instead is named."""
    with pytest.raises(LogFormatError, match=rf"{name}: this is .*; run {command} and read what that prints"):
        read(name)


def test_a_zone_is_asked_for() -> None:
    """Where none is printed, and none is given."""
    with pytest.raises(LogFormatError, match="time_zone=America/Chicago"):
        read_log(SAMPLES / "llsummary-l_dates_ctime_nozone.txt", processors_per_node=8)


def test_processors_of_a_node_are_asked_for() -> None:
    """Where steps have nodes and nothing counts their tasks."""
    with pytest.raises(LogFormatError, match=r"line 12: .* processors_per_node=8"):
        read_log(SAMPLES / "llsummary-l_mixed_aix.txt")


def test_details_do_not_overrule_the_step() -> None:
    """Use by machine and event stands in blocks of its own, which are counted."""
    trace = read("llsummary-l-x_detail.txt")
    assert trace.jobs["average_cpu_time"].tolist() == [(2.5 * 3600 + 40) / 16]
    assert trace.provenance["anomalies"] == {"blocks of use by machine and event (-x) not read": 2}


@pytest.mark.parametrize("name", ["llq_short.txt", "llsummary_standard-report.txt"])
def test_a_long_listing_behind_a_short_report_is_read(name: str) -> None:
    """What printed both has all that is needed: the short report is no reason to refuse it."""
    short, long = ((SAMPLES / each).read_bytes() for each in (name, "llsummary-l_mixed_aix.txt"))
    options = {"processors_per_node": 8, "time_zone": zone_of("llsummary-l_mixed_aix.txt")}
    both = read_log(io.BytesIO(short + long), format="loadleveler", **options)
    alone = read_log(io.BytesIO(long), format="loadleveler", **options)
    assert both.jobs["log_id"].tolist() == alone.jobs["log_id"].tolist() != []
    assert both.jobs["run_time"].equals(alone.jobs["run_time"])
