# SPDX-License-Identifier: BSD-3-Clause
"""Hand-drawn E records of PBS, a variation each: what the values mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import ParameterError
from swftools.formats.pbs.jobs import KEYS
from swftools.machines.requests import ask_of
from tests.examples import pairs
from tests.formats.pbs.compared import read
from tests.machines.tables import machine

BEGIN = 1688634000
NEEDED = ("ctime", "start", "end", "exec_host")


def record(more: str = "", job_id: str = "1.srv", **given: Any) -> bytes:
    """Return the E record of a job that waited for 60 s and ran for 100 s, with more at its end."""
    values = {"user": "u", "ctime": BEGIN, "start": BEGIN + 60, "end": BEGIN + 160, "Exit_status": 0} | given
    words = " ".join(f"{key}={value}" for key, value in values.items() if value is not None)
    return f"07/06/2023 09:02:40;E;{job_id};{words} {more}\n".encode()


def job(*arguments: Any, options: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    """Return the one job that is read of a record."""
    trace = read(record(*arguments, **given), **(options or {}))
    assert len(trace) == 1, trace.quarantine["reason"].tolist()
    row: dict[str, Any] = trace.jobs.iloc[0].to_dict()
    return row | {"trace": trace}


def named(row: dict[str, Any], kind: str) -> str | None:
    """Return the name that a job has of a kind."""
    names = row["trace"].names
    found = names.loc[(names["kind"] == kind) & (names["number"] == row[f"{kind}_id"]), "name"].tolist()
    return found[0] if found else None


def reason(*arguments: Any, **given: Any) -> str:
    """Return why a record is no job."""
    trace: Trace = read(record(*arguments, **given))
    assert len(trace) == 0
    told: str = trace.quarantine["reason"].item()
    return told


@pytest.mark.parametrize(
    ("hosts", "processors", "nodes"),
    [
        ("h/0+h/1", 2, 1),
        ("h/0-3", 4, 1),
        ("h/0-1,5", 3, 1),
        ("h/0*13", 13, 1),
        ("h/0*13+g/1*2", 15, 2),
        ("a/0+b/0+a/1", 3, 2),
        ("node", 1, 1),
        ("n1/0-3+n2/0-3", 8, 2),
        ("a/7-7", 1, 1),
        ("n1,n2", 2, 2),
        ("n1/0-1,5,n2/3", 4, 2),
        ("n[01-04,7]", 5, 5),
        ("r[1-2]n[1-4]/0-3", 32, 8),
        ("n[01-04]ib,m", 5, 5),
        ("0-4,6-7", 7, 7),
        ("5", 1, 1),
        ("n1:ppn=4+n2:ppn=4:fast", 8, 2),
        ("n1:fast:ncpus=2", 2, 1),
        ("n1:15002/0*4+n2:15002/0*4", 8, 2),
        ("10.0.0.1/0-3", 4, 1),
        ("R10-M0-N03", 1, 1),
        ("n[1-x]", 1, 1),
        ("n[4-1]", 1, 1),
        ("9-3", 1, 1),
    ],
)
def test_exec_host(hosts: str, processors: int, nodes: int) -> None:
    """Slots one by one, in ranges, in lists, and counted; a host counts once wherever it stands."""
    row = job(exec_host=hosts, **{"resources_used.cput": "00:10:00", "resources_used.mem": f"{processors}mb"})
    assert (row["allocated_processors"], row["allocated_nodes"]) == (processors, nodes)
    assert row["average_cpu_time"] == pytest.approx(600 / processors)
    assert row["used_memory"] == 1024


@pytest.mark.parametrize(
    "hosts", ["h/", "h/3-1", "h/a", "h,", ",h", "h:ppn=x", "h/0,", "+h/0", "h/0+", "h/0*", "h/0-", "h/9999999999"]
)
def test_exec_host_that_cannot_be_read(hosts: str) -> None:
    """Nothing is guessed."""
    assert reason(exec_host=hosts) == f"exec_host cannot be read: {hosts!r}"


def test_without_exec_host() -> None:
    """What there is counts: exec_vnode, resources_used.ncpus, total_execution_slots; else nothing is known."""
    vnodes = {"exec_vnode": "(n1:ncpus=8:ngpus=2:mem=1gb)+(n2:ncpus=8+n2[1]:ncpus=1)"}
    row = job(**vnodes, **{"resources_used.ncpus": 3})
    assert (row["allocated_processors"], row["allocated_gpus"]) == (17, 2)
    assert job(**{"resources_used.ncpus": 3, "total_execution_slots": 4})["allocated_processors"] == 3
    assert job(total_execution_slots=4)["allocated_processors"] == 4
    row = job()
    assert pd.isna(row["allocated_processors"])
    assert row["trace"].provenance["anomalies"] == {"started, and nothing says on how many processors": 1}


SHORT = "exec_host names fewer processors than nodect, ncpus or procs: the larger count was taken"


@pytest.mark.parametrize(
    ("given", "processors", "nodes"),
    [
        ({"exec_host": "h/0*2", "resources_used.ncpus": 8}, 8, 1),
        ({"exec_host": "h/0*2", "Resource_List.ncpus": 8}, 8, 1),
        ({"exec_host": "h/0*2", "Resource_List.procs": 8}, 8, 1),
        ({"exec_host": "h/0*2", "Resource_List.mppwidth": 4, "Resource_List.mppdepth": 2}, 8, 1),
        ({"exec_host": "h/0*2", "Resource_List.size": 8}, 8, 1),
        ({"exec_host": "R10-M0", "Resource_List.nodect": 512}, 512, 512),
        ({"exec_host": "n1", "Resource_List.nodect": 2, "Resource_List.ncpus": 16}, 16, 2),
    ],
)
def test_hosts_that_do_not_expand(given: dict[str, Any], processors: int, nodes: int) -> None:
    """The larger count wins, and that is told; not of one that is no count."""
    row = job(**given)
    assert (row["allocated_processors"], row["allocated_nodes"]) == (processors, nodes)
    assert row["trace"].provenance["anomalies"] == {SHORT: 1}
    sound = job(exec_host="h/0*8", **{"Resource_List.nodect": -1, "resources_used.ncpus": 8, "Resource_List.procs": 8})
    assert sound["allocated_processors"] == 8
    assert "anomalies" not in sound["trace"].provenance


def test_vnodes() -> None:
    """The first of several vnodes has no slots in exec_host; exec_vnode says all, and nothing is odd."""
    vnodes = {"exec_vnode": "(n[0]:ncpus=4+n[1]:ncpus=4)"}
    for hosts, processors in (("n/0*0", 8), ("n/0*0+m/0*4", 8), ("n/0*9", 9)):
        row = job(exec_host=hosts, **vnodes)
        assert row["allocated_processors"] == processors
        assert "anomalies" not in row["trace"].provenance
    assert job(exec_host="n/0*0", **{"Resource_List.ncpus": 72})["allocated_processors"] == 72
    assert pd.isna(job(exec_host="n/0*0")["allocated_processors"])


def test_allocation() -> None:
    """The most that hosts and ncpus say, or ncpus; that they differ is told."""
    given = {"exec_host": "h/0*2", "exec_vnode": "(h:ncpus=4)", "resources_used.ncpus": 8}
    row = job(**given)
    assert row["allocated_processors"] == 8
    assert row["trace"].provenance["anomalies"] == {SHORT: 1}
    assert job(options={"allocation": "ncpus"}, **given)["allocated_processors"] == 4
    del given["exec_vnode"]
    assert job(options={"allocation": "ncpus"}, **given)["allocated_processors"] == 8
    row = job(exec_host="h/0*9", **{"resources_used.ncpus": 8})
    assert row["allocated_processors"] == 9
    assert row["trace"].provenance["anomalies"] == {"the slots of exec_host are not as many as resources_used.ncpus": 1}


@pytest.mark.parametrize(
    ("given", "processors", "nodes", "gpus"),
    [
        ({"select": "2:ncpus=4:mpiprocs=4:ngpus=1+1:ncpus=1", "place": "scatter"}, 9, 3, 2),
        ({"select": "2:ncpus=4", "ncpus": 8, "nodect": 1, "place": "vscatter:excl"}, 8, 1, None),
        ({"select": "ncpus=4:mem=2gb"}, 4, 1, None),
        ({"select": "3", "ncpus": 6, "ngpus": 1}, 6, None, 1),
        ({"nodes": "2:ppn=4", "ncpus": 1}, 8, 2, None),
        ({"nodes": "1:ppn=8+2:ppn=4"}, 16, 3, None),
        ({"nodes": "n1+n2"}, 2, 2, None),
        ({"nodes": "n1:ppn=3+2:ppn=2:gpus=2#shared", "nodect": 3}, 7, 3, 4),
        ({"procs": 12, "ncpus": 1}, 12, None, None),
        ({"ncpus": 5}, 5, None, None),
        ({"nodes": "1", "nodect": 1, "procs": 16}, 16, 1, None),
        ({"nodes": "1", "nodect": 1, "ncpus": 16}, 16, 1, None),
        ({"nodes": "2:ppn=4", "procs": 16}, 16, 2, None),
        ({"nodes": "2:ppn=4", "procs": 3}, 8, 2, None),
        ({"nodes": "2:ppn=4", "mppwidth": 32, "mppdepth": 2}, 64, 2, None),
        ({"select": "1", "ncpus": 1, "mppwidth": 128}, 128, 1, None),
        ({"size": 24, "ncpus": 1}, 24, None, None),
    ],
)
def test_requests(given: dict[str, Any], processors: int, nodes: int | None, gpus: int | None) -> None:
    """What is asked for, in the words of PBS Professional and of Torque."""
    row = job(**{f"Resource_List.{key}": value for key, value in given.items()})
    told = (row["requested_processors"], row.get("requested_nodes"), row.get("requested_gpus"))
    assert [None if pd.isna(value) else value for value in told] == [processors, nodes, gpus]


@pytest.mark.parametrize(
    ("place", "nodes", "cores", "memory"),
    [
        (None, None, None, None),
        ("free", None, None, None),
        ("excl", None, None, None),
        ("free:group=scatterer", None, None, None),
        ("pack", 1, 12, None),
        ("pack:exclhost", 1, 12, None),
        ("scatter", 3, 4, 2048),
        ("vscatter:excl", 3, 4, 2048),
    ],
)
def test_chunks_are_nodes_where_they_are_scattered(
    place: str | None, nodes: int | None, cores: int | None, memory: int | None
) -> None:
    """Else a job asks for so much in all: on one node if packed, on any number of them if not."""
    given = {"Resource_List.select": "3:ncpus=4:mem=2gb:ngpus=1", "Resource_List.nodect": 3, "exec_host": "a/0*12"}
    row = job(**given, **({"Resource_List.place": place} if place else {}))
    names = ("requested_nodes", "requested_cores_per_node", "requested_memory_per_node", "requested_gpus_per_node")
    told = [None if pd.isna(row.get(name)) else row[name] for name in names]
    assert told == [nodes, cores, memory, 1 if memory else None]
    assert (row["requested_processors"], row["requested_gpus"]) == (12, 3)
    if not memory:
        assert row["requested_memory"] == 3 * 2 * 2**20 / 12
    assert job(**given | {"Resource_List.mem": "12gb"})["requested_memory"] == 2**20


def test_one_chunk_is_a_node() -> None:
    """Wherever it is placed; chunks that differ are told of only where they are nodes."""
    row = job(**{"Resource_List.select": "1:ncpus=4", "Resource_List.place": "free"})
    assert (row["requested_nodes"], row["requested_cores_per_node"]) == (1, 4)
    for place, count in (("free", 0), ("pack", 0), ("scatter", 1)):
        given = {"Resource_List.select": "1:ncpus=4+2:ncpus=1", "Resource_List.place": place}
        told = job(exec_host="a/0*6", **given)["trace"].provenance.get("anomalies", {})
        assert sum("nodes of several kinds" in each for each in told) == count


def test_chunks_on_a_machine() -> None:
    """As few nodes as hold them, although each chunk counts as a node in PBS's own words."""
    select = {"Resource_List.select": "32:ncpus=1:mem=1gb", "Resource_List.nodect": 32, "exec_host": "a/0*32"}
    lines = [
        record(job_id=f"{at}.s", **select, **{"Resource_List.place": place})
        for at, place in enumerate(("free", "pack", "scatter", "free:excl"))
    ]
    asked = ask_of(read(b"".join(lines)), machine("small 4 8 16384 0"))
    assert asked.nodes.tolist() == [4, 0, 0, 4]
    assert asked.cores.tolist() == [8, 0, 0, 8]
    assert asked.memory.tolist() == [8192, 0, 0, 8192]
    assert [asked.reasons[code] for code in asked.code[1:3]] == [
        "asks for more cores on a node than any node of its partition has",
        "asks for more nodes than its partition has that are large enough",
    ]
    large = ask_of(read(b"".join(lines)), machine("large 32 64 65536 0"))
    assert large.nodes.tolist() == [1, 1, 32, 1]
    assert large.cores.tolist() == [32, 32, 1, 32]


def test_nodes_and_procs_together() -> None:
    """Torque gives both where a job asks for both, which its hosts show."""
    given = {"Resource_List.nodes": "2:ppn=4", "Resource_List.procs": 3}
    assert job(exec_host="a/0-3+b/0-3+c/0-2", **given)["requested_processors"] == 11
    assert job(exec_host="a/0-3+b/0-3", **given)["requested_processors"] == 8


def test_request_that_cannot_be_read() -> None:
    """A job is a job though its request is odd, and that is told."""
    row = job(**{"Resource_List.select": "2:ncpus=x"})
    assert pd.isna(row["requested_processors"])
    assert row["trace"].provenance["anomalies"]["Resource_List.select cannot be read"] == 1


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
