# SPDX-License-Identifier: BSD-3-Clause
"""Hand-drawn E records of PBS, a variation each: what the values mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools.errors import ParameterError
from swftools.formats.pbs.jobs import KEYS
from tests.examples import pairs
from tests.formats.pbs.compared import read
from tests.formats.pbs.records import BEGIN, NEEDED, job, named, reason, record


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("01:00:00", 3600),
        ("2:01:02:03", 176523),
        ("3605", 3605),
        ("100:00:00", 360000),
        ("05:10", 310),
        ("1:00:00:00", 86400),
    ],
)
def test_durations(text: str, seconds: int) -> None:
    """Days, hours, minutes and seconds, or seconds, mixed."""
    row = job(**{"Resource_List.walltime": text, "resources_used.cput": text, "resources_used.ncpus": 1})
    assert (row["requested_time"], row["average_cpu_time"]) == (seconds, seconds)


@pytest.mark.parametrize("text", ["1:2:3:4:5", "x", "1:60:00", "1:", ":1", "1+2:3:4:5"])
def test_durations_that_are_none(text: str) -> None:
    """The job has none, and it is counted by the key."""
    trace = read(record(**{"Resource_List.walltime": text}))
    assert trace.jobs["requested_time"].isna().all()
    assert trace.provenance["anomalies"]["Resource_List.walltime is no duration: taken for missing"] == 1


def test_no_limit() -> None:
    """No requested time is one that is missing."""
    assert np.isnan(job(**{"Resource_List.walltime": "UNLIMITED"})["requested_time"])


@pytest.mark.parametrize(
    ("text", "kilobytes"),
    [
        *(("1024kb", 1024), ("2mb", 2048), ("12.5gb", 13107200), ("3M", 3072), ("2048b", 2), ("2048", 2), ("512w", 4)),
        *(("2kw", 16), ("1TB", 2**30), ("1GW", 2**23)),
    ],
)
def test_sizes(text: str, kilobytes: float) -> None:
    """Bytes, words of eight, and powers of 1024."""
    sizes = {"resources_used.mem": text, "Resource_List.mem": text, "resources_used.ncpus": 1, "Resource_List.ncpus": 2}
    row = job(**sizes)
    assert (row["used_memory"], row["requested_memory"]) == (kilobytes, kilobytes / 2)
    assert job(**sizes, **{"Resource_List.pmem": "7kb"})["requested_memory"] == 7


def test_sizes_that_are_none() -> None:
    """A letter that is no unit is not passed over; no memory at all was not measured."""
    for size in ("5kx", "many"):
        trace = read(record(**{"resources_used.mem": size}))
        assert trace.jobs["used_memory"].isna().all()
        assert trace.provenance["anomalies"]["resources_used.mem is no size: taken for missing"] == 1
    assert np.isnan(job(**{"resources_used.mem": "0kb", "resources_used.ncpus": 1})["used_memory"])


@pytest.mark.parametrize(
    ("status", "told", "code", "signal"),
    [(0, 1, 0, 0), (1, 0, 1, 0), (255, 0, 255, 0), (137, 0, 137, 9), (271, 0, 0, 15), (265, 0, 0, 9), (-11, 0, -11, 0),
     (-29, 0, -29, 0)],
)  # fmt: skip
def test_exit_status(status: int, told: int, code: int, signal: int) -> None:
    """Codes of the shell, of PBS itself (negative), and signals."""
    row = job(Exit_status=status)
    assert (row["status"], row["exit_code"], row["exit_signal"]) == (told, code, signal)


def test_no_exit_status() -> None:
    """It is not known how the job ended."""
    row = job(Exit_status=None)
    assert pd.isna(row["status"])
    assert pd.isna(row.get("exit_code"))


def test_restarts_of_pbs_professional() -> None:
    """run_count counts runs."""
    assert job(run_count=3)["restarts"] == 2
    assert job(run_count=1)["restarts"] == job()["restarts"] == 0


@pytest.mark.parametrize(
    ("job_id", "number", "index"), [("3[7].srv", 3, 7), ("3[7]", 3, 7), ("12-4.srv.dom", 12, 4), ("5.srv", None, None)]
)
def test_ids(job_id: str, number: int | None, index: int | None) -> None:
    """With a server or without, and elements of arrays, which old versions of Torque wrote with a hyphen."""
    row = job("", job_id)
    assert row["log_id"] == job_id
    told = (row.get("array_number"), row.get("array_index"))
    assert [None if pd.isna(value) else value for value in told] == [number, index]


NAMES = [
    (
        "user=u group=domain users jobname=my job queue=q",
        {"group": "domain users", "executable": "my job", "queue": "q"},
    ),
    ("user=u jobname=a=1 b=2 queue=q", {"executable": "a=1 b=2", "queue": "q"}),
    ("user=u jobname= two  queue=q", {"executable": "two", "queue": "q"}),
    ("user=u group=g odd=1 queue=q", {"group": "g", "queue": "q"}),
    ('user=u jobname="my queue=x job" queue=q', {"executable": "my queue=x job", "queue": "q"}),
    ("user=u jobname='x y' queue=q", {"executable": "x y", "queue": "q"}),
    ('user=u jobname="x queue=q', {"executable": '"x', "queue": "q"}),
    ('user=u Variable_List="A=1 user=evil",B="queue=z" C queue=q', {"user": "u", "queue": "q"}),
    ("user=u Resource_List.select=1:ncpus=2:user=evil queue=q", {"user": "u", "queue": "q"}),
    ("user=u jobname=a Resource_List.own=b c queue=q", {"executable": "a", "queue": "q"}),
    ("user=u\tjobname=a\tqueue=q", {"user": "u", "executable": "a", "queue": "q"}),
]


@pytest.mark.parametrize(("words", "names"), NAMES, ids=range(len(NAMES)))
def test_names(words: str, names: dict[str, str]) -> None:
    """Blanks in names, keys in names, quotation marks, and keys that nobody knows."""
    row = job(words, user=None)
    assert {kind: named(row, kind) for kind in names} == names


def test_a_key_with_two_values() -> None:
    """One of them would be wrong; the same twice is nothing."""
    assert reason("user=other") == "a key stands twice, with two values"
    assert named(job("user=u"), "user") == "u"


def test_groups() -> None:
    """What the group is, is a choice."""
    words = 'group=g account="a 1" project=p'
    for group, name in (("group", "g"), ("account", "a 1"), ("project", "p")):
        assert named(job(words, options={"group": group}), "group") == name
    with pytest.raises(ParameterError, match="group='user' is not one of group, account, project"):
        read(record(), group="user")


def test_submissions() -> None:
    """Created, queued or eligible; what is missing is taken from the others."""
    times = {"ctime": BEGIN, "qtime": BEGIN + 10, "etime": BEGIN + 20}
    for submit, wait in (("created", 60), ("queued", 50), ("eligible", 40)):
        assert job(options={"submit": submit}, **times)["wait_time"] == wait
    assert job(**times | {"ctime": None})["wait_time"] == 50
    assert job(options={"submit": "eligible"}, **times | {"etime": 0})["wait_time"] == 60
    assert job(**times)["eligible_time"] == 20
    assert reason(ctime=None) == "no ctime, qtime or etime"


def test_run_times() -> None:
    """From start to end, or without what the job was suspended for."""
    assert job(**{"resources_used.walltime": "00:01:00"})["run_time"] == 100
    assert job(options={"run_time": "walltime"}, **{"resources_used.walltime": "00:01:00"})["run_time"] == 60
    assert job(options={"run_time": "walltime"})["run_time"] == 100


@pytest.mark.parametrize(
    "used",
    [
        {"Exit_status": 0},
        {"resources_used.walltime": "01:00:00"},
        {"resources_used.cput": "1"},
        {"resources_used.mem": "1kb"},
    ],
)
def test_jobs_whose_start_is_lost(used: dict[str, Any]) -> None:
    """One that completed, or used anything, ran; when it started nobody knows."""
    for start in (None, 0):
        assert reason(**{"start": start, "Exit_status": 1} | used) == "no start, and yet it ran"
    assert job(**{"Exit_status": 1} | used)["run_time"] == 100


def test_jobs_that_did_not_start() -> None:
    """Some versions write an E record of jobs that were deleted in the queue: no start, or 0."""
    for start in (None, 0):
        row = job(start=start, Exit_status=271, exec_host="h/0", **{"resources_used.cput": "0"})
        assert np.isnan(row["wait_time"])
        assert np.isnan(row["run_time"])
        assert pd.isna(row["allocated_processors"])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"end": None}, "no end"),
        ({"start": "x"}, "start is no number: 'x'"),
        ({"start": BEGIN - 1}, "start before submit"),
        ({"end": BEGIN + 59}, "end before start"),
        ({"ctime": "x", "qtime": BEGIN}, "ctime is no number: 'x'"),
        ({"user": "a\0b"}, "a byte of zero within the record"),
        ({"resources_used.ncpus": "-2"}, "negative allocated_processors"),
    ],
)
def test_records_that_are_no_jobs(given: dict[str, Any], told: str) -> None:
    """Each with its reason."""
    assert reason(**given) == told


@pytest.mark.parametrize(
    ("key", "value"),
    pairs([key for key in KEYS if key not in NEEDED], ["1:ppn=24:gpu=4", "x=y", "??", "1e400"], each=1),
)
def test_what_a_job_need_not_have(key: str, value: str) -> None:
    """A job with sound hosts and times is one, whatever stands in its other values."""
    trace = read(record(**{"exec_host": "n1/0-23", key: value}))
    assert (len(trace), len(trace.quarantine)) == (1, 0)
    assert trace.jobs[["run_time", "allocated_processors"]].to_numpy().tolist() == [[100, 24]]


def test_nodes_that_are_a_selection() -> None:
    """As some sites have it: what is no number is counted, and told."""
    trace = read(record(**{"exec_host": "n1/0-23", "Resource_List.nodect": "1:ppn=24:gpu=4"}))
    assert (len(trace), "requested_nodes" in trace.jobs) == (1, False)
    assert trace.provenance["anomalies"] == {"Resource_List.nodect is no number: taken for missing": 1}


@pytest.mark.parametrize("job_id", ["3073070.[hostname_1]", "7.srv[1", "7[2].[x]"])
def test_brackets_behind_the_first_dot(job_id: str) -> None:
    """They are of the server's name, and make no array of a job."""
    trace = read(record(job_id=job_id))
    assert trace.jobs["log_id"].tolist() == [job_id]
    assert read(record(job_id="7[].srv")).quarantine["reason"].item().startswith("a record of an array")


def test_dependencies() -> None:
    """The jobs that one waited for the end of: with the server of the waiting job where none is given."""
    words = (
        "afterok:1.srv",
        "afterany:1",
        "afterok:1.srv@srv",
        "afterok:1:2",
        "beforeok:1.srv",
        "afterok:99.srv",
        "after:1.srv",
        "afterany:2.srv,after:3.srv,afternotok:1.srv@srv:99.srv",
    )
    later = [
        record(f"depend={word}", f"{number}.srv", ctime=BEGIN + 170, start=BEGIN + 180, end=BEGIN + 190)
        for number, word in enumerate(words, start=2)
    ]
    jobs = read(record() + b"".join(later)).jobs
    told = jobs["preceding_job_number"].iloc[1:].astype("float").tolist()
    np.testing.assert_array_equal(told, [1, 1, 1, *[np.nan] * 5])
    several = jobs["preceding_job_numbers"]
    assert several.dropna().to_dict() == {4: [1, 2], 8: [1, 2]}
    assert jobs["dependency"].tolist()[1:] == list(words)
    assert jobs["think_time"].tolist()[1:4] == [10.0] * 3


def test_many_hosts() -> None:
    """Each counts once, wherever it stands again."""
    hosts = [f"node{number}/0" for number in range(300)]
    row = job(exec_host="+".join(hosts + hosts[::-1]))
    assert (row["allocated_processors"], row["allocated_nodes"]) == (600, 300)
