# SPDX-License-Identifier: BSD-3-Clause
"""What ``sacct -P`` prints, record by record: each variation drawn by hand, with what it means."""

from __future__ import annotations

from pathlib import Path

import pytest

from swftools.errors import LogFormatError, ParameterError
from swftools.formats.slurm import Slurm
from tests.formats.slurm.told import HEADER, one, read, reasons, row, table, told

SAMPLE = (Path(__file__).parent / "sacct.txt").read_bytes()
ZONE = "America/Los_Angeles"


def test_sample() -> None:
    """Every job of the sample, across the beginning of daylight saving; the unfinished ones in the quarantine."""
    trace = read(SAMPLE, time_zone=ZONE)
    wanted = ("log_id", "wait_time", "run_time", "allocated_processors", "requested_time", "status", "average_cpu_time")
    assert [
        ("100", 9000.0, 7200.0, 256.0, 86400.0, 1.0, 1731723 / 256),
        ("101", None, None, None, None, 5.0, None),
        ("102", 60.0, 1080.0, 512.0, None, 0.0, None),
        ("102", 600.0, 600.0, 512.0, None, 1.0, None),
        ("103_1", 180.0, 3627.0, 8.0, 3600.0, 0.0, 3450.0),
        ("103_2", 180.0, 60.0, 8.0, 3600.0, 0.0, 52.5),
    ] == [tuple(job[name] for name in wanted) for job in told(trace)]
    assert reasons(trace) == [(11, "not ended: 'PENDING'"), (12, "not ended: 'RUNNING'")]
    assert trace.merged["line_number"].tolist() == [3, 4, 5]
    assert trace.merged["into_line_number"].tolist() == [2, 2, 2]
    first = told(trace)[0]
    assert first["used_memory"] == 2.5 * 1024**2  # of step 100.0, whose name holds a bar
    assert first["requested_memory"] == 400 * 1024**2 / 256
    assert told(trace)[4]["requested_memory"] == 3000 * 1024  # the high bit: 3000 M for each CPU
    assert [job["exit_signal"] for job in told(trace)][-1] == 125
    told_of = "elements of arrays that had not started, of which a line stands for several"
    assert trace.provenance["anomalies"][told_of] == 7


def test_names_become_numbers() -> None:
    """User, account, job name, partition and cluster, or by options Unix group and QOS."""
    text = table({"Group": "g1", "QOS": "high", "Cluster": "c1"})
    job = one(text)
    assert [job[name] for name in ("user", "group", "executable", "queue", "partition")] == [
        *("u1", "a1", "name", "batch", "c1")
    ]
    job = one(text, group="group", queue="qos", partition="partition")
    assert [job[name] for name in ("group", "queue", "partition")] == ["g1", "high", "batch"]
    assert one(text, partition="qos")["partition"] == "high"


def test_column_names_compare_without_case() -> None:
    """JOBID is JobID."""
    assert one(HEADER.upper() + "\n" + row())["run_time"] == 600


def test_parsable_with_a_bar_behind_the_last_field() -> None:
    """``sacct -p`` ends each line with a separator, which belongs to no name; a line without it was cut off."""
    trace = read(f"{HEADER}|\n{row()}|\n{row(JobID=8, JobName='a|b')}|\n{row(JobID=9)}\n")
    assert [job["executable"] for job in told(trace)] == ["name", "a|b"]
    assert reasons(trace) == [(4, "fewer fields than the header names")]


def test_job_name_may_hold_a_bar_where_it_is_last() -> None:
    """Elsewhere the row has too many fields."""
    assert one(f"{HEADER}\n{row(JobName='a|b|')}")["executable"] == "a|b|"
    turned = "JobName|JobID|State|Submit|Start|End|NCPUS\n"
    line = "|7|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:01:00|2024-01-01T00:11:00|4"
    assert one(turned + "a" + line)["executable"] == "a"
    # There the id is no id either, since all fields are moved.
    assert reasons(read(turned + "a|b" + line)) == [(2, "no job id")]
    behind = "JobID|JobName|State|Submit|Start|End|NCPUS\n7|a|b|COMPLETED" + line[12:]
    assert [why.split(":")[0] for _, why in reasons(read(behind))] == ["more fields than the header names"]


def test_a_line_with_too_few_fields() -> None:
    """It is in the quarantine, and so are its steps, which have no job then."""
    trace = read(f"{HEADER}\n{row()}\n8|u1|a1\n8.0|{row().partition('|')[2]}\n")
    assert reasons(trace) == [
        (3, "fewer fields than the header names"),
        (4, "a step that follows no line of its job"),
    ]


@pytest.mark.parametrize(
    "columns", [HEADER.replace("|", ","), HEADER.replace("|", "+"), HEADER, HEADER.replace("JobName", "JobName%50")]
)
def test_text_without_a_header(columns: str) -> None:
    """The option says what stands in it, as ``--format`` was told."""
    assert one(row(JobName="a|b"), columns=columns)["executable"] == "a|b"
    # In a text of sacct -p the first row shows it.
    text = f"\n{row()}|\n{row(JobID=8, JobName='a|b')}|\n"
    assert [job["executable"] for job in told(read(text, columns=columns))] == ["name", "a|b"]


def test_header_over_the_option() -> None:
    """Where there is a header too, it counts from there on."""
    text = f"{row(JobID=1)}\nState|JobID|{HEADER.partition('|')[2].replace('State', 'Other')}\nCOMPLETED|2" + row()[1:]
    assert [job["log_id"] for job in told(read(text, columns=HEADER))] == ["1", "2"]


def test_no_header_and_no_option() -> None:
    """The reader cannot know what stands where, and says what to do."""
    with pytest.raises(LogFormatError, match=r"no header line of sacct -P.*columns=JobID\+User"):
        read(row())


def test_rows_before_the_first_header() -> None:
    """They are in the quarantine, so that nothing is lost in silence."""
    trace = read(f"sacct: warning\n{row(JobID=1)}\n{HEADER}\n{row()}")
    assert [line for line, _ in reasons(trace)] == [1, 2]
    assert all("before the first header" in why for _, why in reasons(trace))


def test_joined_files_repeat_headers_with_other_columns() -> None:
    """Each header counts until the next one; what repeats a record is merged with it."""
    other = "State|JobID|Submit|Start|End|AllocTRES\n"
    line = "FAILED|9|2024-01-02T00:00:00|2024-01-02T00:01:00|2024-01-02T00:02:00|cpu=16,node=2\n"
    trace = read(f"{HEADER}\n{row()}\n{HEADER}\n{row(JobID=8)}\n{other}{line}{HEADER}\n{row()}\n")
    assert [(job["log_id"], job["allocated_processors"]) for job in told(trace)] == [("7", 4), ("8", 4), ("9", 16)]
    assert trace.merged["into_line_number"].tolist() == [2]


@pytest.mark.parametrize("missing", ["JobID", "State", "Submit", "Start", "End", "NCPUS"])
def test_missing_columns_are_named(missing: str) -> None:
    """In a header and in the option; a header without JobID or State is none."""
    columns = "|".join(name for name in HEADER.split("|") if name != missing)
    name = "column of processors .NCPUS" if missing == "NCPUS" else missing
    with pytest.raises(ParameterError, match=f"names no {name}.*needed"):
        Slurm(columns=columns)
    with pytest.raises(LogFormatError, match="no header" if missing in ("JobID", "State") else f"line 1.*no {name}"):
        read(columns + "\n" + row())


def test_a_listing_cut_to_width_is_refused() -> None:
    """Sacct without -P cuts values off."""
    text = "JobID           JobName  Partition\n------------ ---------- ----------\n7   name  batch\n"
    assert Slurm.recognise(text.encode()).fits
    with pytest.raises(LogFormatError, match="without -P"):
        read(text)


def test_id_without_steps_and_array_in_jobidraw() -> None:
    """JobIDRaw stands in for JobID where that was not asked for."""
    assert one(f"{HEADER.replace('JobID', 'JobIDRaw')}\n{row()}")["log_id"] == "7"


def test_times_need_a_zone() -> None:
    """Unless they are in seconds since 1970, or have offsets."""
    with pytest.raises(LogFormatError, match="time_zone="):
        read(f"{HEADER}\n{row()}", time_zone=None)
    epoch = row(Submit=1704067200, Start=1704067260, End=1704067860)
    assert one(f"{HEADER}\n{epoch}", time_zone=None)["submit"] == 1704067200
    offset = row(Submit="2024-01-01T00:00:00+0100", Start="2024-01-01T00:01:00+01:00", End="2023-12-31T23:11:00Z")
    job = one(f"{HEADER}\n{offset}", time_zone=None)
    assert (job["submit"], job["wait_time"], job["run_time"]) == (1704063600, 60, 600)


def test_short_numbers_are_no_times() -> None:
    """20240101 is no second of 1970."""
    assert reasons(read(f"{HEADER}\n{row(Submit=20240101)}")) == [(2, "Submit is no time: '20240101'")]


def test_repeated_hour() -> None:
    """A time in it is flagged; what follows another time is not before it."""
    text = f"{HEADER}\n" + row(Submit="2024-11-03T01:50:00", Start="2024-11-03T01:10:00", End="2024-11-03T03:00:00")
    job = one(text, time_zone=ZONE)
    assert job["wait_time"] == 1200
    assert job["run_time"] == 6600
    assert job["row"]["is_time_ambiguous"]


def test_elapsed_leaves_out_suspension() -> None:
    """The run time is Elapsed where it is given, else from Start to End; suspension is counted."""
    assert one(table({"Elapsed": "00:05:00"}))["run_time"] == 300
    assert one(table({"Elapsed": "1-00:05:00", "ElapsedRaw": "400"}))["run_time"] == 400
    assert one(table({"Elapsed": "INVALID"}))["run_time"] == 600
    trace = read(table({"ElapsedRaw": 500, "Suspended": "00:01:40"}))
    assert trace.provenance["anomalies"]["suspended for a while, which the run time leaves out"] == 1
    trace = read(table({"ElapsedRaw": 602}))
    assert trace.provenance["anomalies"]["Elapsed is longer than from Start to End"] == 1
    assert "anomalies" not in read(table({"ElapsedRaw": 601, "Suspended": "00:00:00"})).provenance


@pytest.mark.parametrize(
    ("columns", "limit"),
    [
        ({"Timelimit": "1-02:00:00"}, 93600),
        ({"Timelimit": "00:30:00", "TimelimitRaw": "60"}, 1800),
        ({"TimelimitRaw": "60"}, 3600),
        ({"Timelimit": "UNLIMITED", "TimelimitRaw": "UNLIMITED"}, None),
        ({"Timelimit": "Partition_Limit"}, None),
        ({"TimelimitRaw": "4294967295"}, None),
        ({"TimelimitRaw": "4294967294"}, None),
        ({"TimelimitRaw": "18446744073709551614"}, None),
        ({"Timelimit": ""}, None),
        ({}, None),
    ],
)
def test_time_limit(columns: dict[str, object], limit: float | None) -> None:
    """``[D-]HH:MM:SS``, or whole minutes in TimelimitRaw; some words and numbers say that there is none."""
    assert one(table(columns))["requested_time"] == limit


@pytest.mark.parametrize(
    ("state", "status"),
    [
        *((word, 0) for word in ("FAILED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY", "OOM")),
        *(("COMPLETED", 1), ("completed", 1), ("CD", 1), ("CANCELLED", 5), ("CANCELLED by 1000", 5), ("CANCELLED+", 5)),
        *(("PREEMPTED", 5), ("REQUEUED", 5), ("REVOKED", 5), ("LAUNCH_FAILED", 0)),
    ],
)
def test_status(state: str, status: float) -> None:
    """What each state is in SWF; it stays beside it in the words of the log."""
    job = one(f"{HEADER}\n{row(State=state)}")
    assert job["status"] == status
    assert job["row"]["logged_state"] == state


@pytest.mark.parametrize(("choice", "status"), [("cancelled", 5), ("failed", 0), ("partial", 2)])
def test_preempted(choice: str, status: float) -> None:
    """What was displaced is one of three, by option; other states do not change with it."""
    for state, wanted in (("PREEMPTED", status), ("REQUEUED", status), ("CANCELLED", 5), ("FAILED", 0)):
        assert one(f"{HEADER}\n{row(State=state)}", preempted=choice)["status"] == wanted


def test_revoked_never_ran() -> None:
    """A sibling in another cluster did, whatever stands in its line."""
    job = one(f"{HEADER}\n{row(State='REVOKED')}")
    assert (job["wait_time"], job["run_time"], job["allocated_processors"]) == (None, None, None)


@pytest.mark.parametrize("state", ["PENDING", "RUNNING", "SUSPENDED", "RESIZING", "COMPLETING", "PD", "R"])
def test_unfinished(state: str) -> None:
    """They are in the quarantine, with the state."""
    trace = read(f"{HEADER}\n{row(State=state, End='Unknown')}")
    assert reasons(trace) == [(2, f"not ended: {state!r}")]
    assert reasons(read(f"{HEADER}\n{row(State='REQUEUED', End='Unknown')}")) == [(2, "not ended: 'REQUEUED'")]


def test_unfinished_are_kept_if_asked_for() -> None:
    """One that runs has a start and no run time, one that waits neither; who gave up has when; a run that ended not."""
    text = "\n".join(
        [
            "JobID|State|Submit|Start|End|NCPUS",
            "1|COMPLETED|2024-03-01T09:00:00|2024-03-01T09:00:10|2024-03-01T09:00:30|4",
            "2|RUNNING|2024-03-01T09:00:01|2024-03-01T09:00:11|Unknown|4",
            "3|PENDING|2024-03-01T09:00:02|Unknown|Unknown|0",
            "4|CANCELLED by 7|2024-03-01T09:00:03|None|2024-03-01T09:00:40|0",
        ]
    )
    jobs = read(text, unended="kept").jobs
    wanted = ["log_id", "wait_time", "run_time", "left_time"]
    assert jobs[wanted].astype(object).where(jobs[wanted].notna(), None).to_numpy().tolist() == [
        ["1", 10, 20, None],
        ["2", 10, None, None],
        ["3", None, None, None],
        ["4", None, None, 40],
    ]
    assert "left_time" not in read(text).jobs
    assert len(read(text).jobs) == 2
    cut = read(
        "JobID|State|Submit|Start|End|NCPUS\n1|RUNNING|2024-03-01T09:00:00|2024-03-01T09:00:10|2024-03-01T10:00:00|4",
        unended="kept",
    )
    assert reasons(cut) == [(2, "not ended: 'RUNNING'")]  # sacct -T cuts what still runs


@pytest.mark.parametrize("state", ["FINISHED", "", "COMPLETE D", "by"])
def test_unknown_states(state: str) -> None:
    """What Slurm does not say is not guessed at."""
    assert reasons(read(f"{HEADER}\n{row(State=state)}"))[0][1].startswith("a state that Slurm does not have")


def test_ended_without_an_end() -> None:
    """A runaway job: the state says that it ended, and nothing says when."""
    assert reasons(read(f"{HEADER}\n{row(End='Unknown')}")) == [(2, "no End")]
    assert reasons(read(f"{HEADER}\n{row(Submit='None')}")) == [(2, "no Submit")]


def test_cancelled_while_it_waited() -> None:
    """Without a start it never ran; so it is where start and end are one, and sacct names no nodes."""
    never = {"State": "CANCELLED by 5", "Start": "None", "NCPUS": 0}
    job = one(table({"NodeList": "None assigned", "ReqCPUS": 4, "Elapsed": "00:00:00"}, **never))
    assert (job["wait_time"], job["run_time"], job["allocated_processors"]) == (None, None, None)
    assert (job["requested_processors"], job["status"]) == (4, 5)
    same = {"State": "CANCELLED by 5", "Start": "2024-01-01T00:11:00"}
    assert one(table({"NodeList": "None assigned"}, **same))["wait_time"] is None
    assert one(table({"AllocTRES": ""}, **same))["wait_time"] is None
    assert one(table({"NodeList": "None assigned"}, **same | {"State": "DEADLINE"}))["wait_time"] is None
    assert one(table({"ReqCPUS": 4}, **same, NCPUS=0))["wait_time"] is None
    # Nodes, or a state that takes a run, say otherwise.
    assert one(table({"NodeList": "n1"}, **same))["run_time"] == 0
    assert one(table({"NodeList": "None assigned", "AllocTRES": "cpu=4"}, **same))["run_time"] == 0
    assert one(table({"NodeList": "None assigned"}, **same | {"State": "COMPLETED"}))["run_time"] == 0


def test_processors() -> None:
    """From the plain columns, and where they say nothing from those of TRES."""
    job = one(table({"ReqCPUS": 100}, NCPUS=108))
    assert (job["allocated_processors"], job["requested_processors"]) == (108, 100)
    tres = {"AllocTRES": "billing=8,cpu=6,mem=4G,node=2", "ReqTRES": "cpu=5,node=3"}
    job = one(table(tres, NCPUS=""))
    assert (job["allocated_processors"], job["requested_processors"], job["allocated_nodes"]) == (6, 5, 2)
    assert job["row"]["requested_nodes"] == 3
    assert one(table(tres, NCPUS=0))["allocated_processors"] == 6
    assert one(table({"AllocCPUS": 3}, NCPUS=""))["allocated_processors"] == 3
    trace = read(table({"AllocTRES": ""}, NCPUS=0))
    assert reasons(trace) == [(2, "no processors of a job that ran")]


def test_gpus() -> None:
    """All GPUs of TRES, or else the sum over their types."""
    for text, gpus in (("gres/gpu=4,gres/gpu:a100=4", 4), ("gres/gpu:a100=1,gres/gpu:v100=2", 3), ("cpu=1", None)):
        row = one(table({"AllocTRES": text, "ReqTRES": text}))["row"]
        found = [row.get(name) for name in ("allocated_gpus", "requested_gpus")]
        assert found == [gpus, gpus]


@pytest.mark.parametrize(
    "tres", ["cpu=6,fs/disk=3,fs/lustre=5,gres/gpu=2", "cpu=6,gres/gpu:a100=1,gres/gpu:a200=1", "cpu=6,gres/gpu=2"]
)
def test_tres_in_csv(tres: str) -> None:
    """A list of TRES is one field though its commas stand between fields too, and the next list is another."""
    names = "JobID,State,Submit,Start,End,AllocTRES,ReqTRES,Partition"
    times = "2024-01-01T00:00:00,2024-01-01T00:01:00,2024-01-01T01:00:00"
    job = one(f"{names}\n7,COMPLETED,{times},{tres},cpu=5,gres/gpu=1,batch\n")
    assert [job[name] for name in ("allocated_processors", "requested_processors", "queue")] == [6, 5, "batch"]
    assert [job["row"][name] for name in ("allocated_gpus", "requested_gpus")] == [2, 1]


@pytest.mark.parametrize(
    ("memory", "kilobytes"),
    [
        ("4G", 4 * 1024**2 / 4),
        ("4000Mc", 4000 * 1024),
        ("4Gn", 4 * 1024**2 * 2 / 4),
        ("512", 512 * 1024 / 4),
        ("1.5G", 1.5 * 1024**2 / 4),
        ("2147486648Mn", 3000 * 1024),
        ("2147486648M", 3000 * 1024),
        ("2147483648Mc", None),
        ("9223372036854779808M", 4000 * 1024),
        ("9223372036854775808n", None),
        ("0", None),
        ("0n", None),
        ("", 8 * 1024**2 / 4),
    ],
)
def test_requested_memory(memory: str, kilobytes: float | None) -> None:
    """Of the job, of each CPU (c), of each node (n); a high bit left set means of each CPU; 0 is nothing said."""
    tres = "" if kilobytes is None else "cpu=4,mem=8G,node=2"
    job = one(table({"ReqMem": memory, "ReqTRES": tres, "NNodes": 2, "ReqCPUS": 4}))
    assert job["requested_memory"] == kilobytes


def test_sizes_that_are_none() -> None:
    """A letter that means nothing is not passed over: the size is missing, and told."""
    for size in ("4Gx", "much"):
        trace = read(table({"ReqMem": size}))
        assert trace.jobs["requested_memory"].isna().all()
        assert trace.provenance["anomalies"]["ReqMem is no size: taken for missing"] == 1


def test_steps_are_folded_into_their_job() -> None:
    """The largest MaxRSS; CPU time is the job's own, or the sum over the steps."""
    steps = ({"MaxRSS": "100K", "TotalCPU": "01:00.500"}, {"MaxRSS": "2M", "TotalCPU": "00:01:00"}, {"MaxRSS": ""})
    job = one(table({"MaxRSS": "", "TotalCPU": "00:04:00"}, *steps))
    assert (job["used_memory"], job["average_cpu_time"]) == (2048, 60)
    job = one(table({"MaxRSS": "3M", "TotalCPU": "00:00:00"}, *steps))
    assert (job["used_memory"], job["average_cpu_time"]) == (3072, 120.5 / 4)
    assert one(table({"MaxRSS": "", "TotalCPU": ""}, {"MaxRSS": "0"}))["used_memory"] is None
    assert one(table({"MaxRSS": "4096"}))["used_memory"] == 4
    odd = read(table({"MaxRSS": "", "TotalCPU": ""}, {"MaxRSS": "9Tx", "TotalCPU": "y"}, *steps))
    assert odd.provenance["anomalies"] == {
        "MaxRSS of a step that is no size": 1,
        "TotalCPU of a step that is no duration": 1,
    }
    assert told(odd)[0]["used_memory"] == 2048


def test_no_cpu_time_in_a_long_run() -> None:
    """It was not recorded; in a short run it may be so."""
    assert one(table({"TotalCPU": "00:00:00"}))["average_cpu_time"] is None
    assert one(table({"TotalCPU": "00:00:00"}, End="2024-01-01T00:01:09"))["average_cpu_time"] == 0


def test_steps_follow_their_own_job() -> None:
    """Of ids that begin alike, arrays and components, wherever it stands; a step of no job of the log is a stray."""
    lines = [
        *("1.0", "10", "10.batch", "1.0", "10.0", "10_1", "10_1.extern", "10.1", "10+0", "10+0.0", "10+1.0"),
    ]
    trace = read("\n".join([HEADER, *(row(JobID=each) for each in lines)]))
    assert trace.merged["line_number"].tolist() == [4, 6, 8, 9, 11]
    assert trace.merged["into_line_number"].tolist() == [3, 3, 7, 3, 10]
    assert reasons(trace) == [(line, "a step that follows no line of its job") for line in (2, 5, 12)]


def test_steps_reach_over_a_header() -> None:
    """A header begins another file, as where daily files were joined."""
    trace = read(f"{HEADER}\n{row()}\n{HEADER}\n{row(JobID='7.0')}")
    assert trace.merged[["line_number", "into_line_number"]].to_numpy().tolist() == [[4, 2]]


def test_steps_of_a_job_in_quarantine() -> None:
    """They are there too, and say which line they belong to; the text holds all of them."""
    trace = read(f"{HEADER}\n{row(State='RUNNING')}\n{row(JobID='7.0')}\n")
    assert reasons(trace) == [
        (2, "not ended: 'RUNNING'"),
        (3, "belongs to the record of line 2, which is no job"),
    ]
    assert trace.quarantine["text"][0] == f"{row(State='RUNNING')}\n{row(JobID='7.0')}"


def test_arrays() -> None:
    """Number and index of an element; a line for several elements that are pending, or were cancelled."""
    job = one(f"{HEADER}\n{row(JobID='103_17')}")
    assert (job["array_number"], job["array_index"], job["log_id"]) == (103, 17, "103_17")
    job = one(f"{HEADER}\n{row(JobID='105+1')}")
    assert (job["array_number"], job["array_index"], job["log_id"]) == (None, None, "105+1")
    trace = read(f"{HEADER}\n{row(JobID='103_[1-3,9%2]', State='PENDING', Start='Unknown', End='Unknown', NCPUS=0)}")
    assert reasons(trace) == [(2, "not ended: 'PENDING'")]
    told_of = "elements of arrays that had not started, of which a line stands for several"
    assert trace.provenance["anomalies"] == {told_of: 4}
    job = one(f"{HEADER}\n{row(JobID='103_[1-3]', State='CANCELLED by 5', Start='None', NCPUS=0)}")
    assert (job["array_number"], job["array_index"], job["status"]) == (103, None, 5)


def test_lives_of_a_requeued_job() -> None:
    """Each is a record; the restarts stand beside them, and nobody says that the wait holds earlier runs."""
    header = HEADER.replace("NCPUS", "NCPUS|Restarts")
    first = row(State="NODE_FAIL", NCPUS="4|0")
    second = row(Submit="2024-01-01T00:11:00", Start="2024-01-01T00:12:00", End="2024-01-01T00:13:00", NCPUS="4|1")
    trace = read(f"{header}\n{first}\n{second}")
    assert [(job["log_id"], job["run_time"], job["status"]) for job in told(trace)] == [("7", 600, 0), ("7", 60, 1)]
    assert trace.jobs["restarts"].tolist() == [0, 1]
    assert "anomalies" not in trace.provenance


def test_exit_codes() -> None:
    """``code:signal``."""
    job = one(table({"ExitCode": "2:9"}))
    assert (job["exit_code"], job["exit_signal"]) == (2, 9)
    assert one(table({"ExitCode": ""}))["exit_code"] is None
    assert one(table({"ExitCode": "2"}))["exit_code"] is None


def test_dependencies() -> None:
    """The words stay; the one job that another waited for is the preceding job."""
    header = HEADER.replace("NCPUS", "NCPUS|Dependency")
    rows = [row(JobID=1, NCPUS="4|")]
    for number, word in enumerate(["afterok:1", "afterany:1(unfulfilled)", "afterok:1:2", "afterok:99"], start=2):
        rows.append(row(JobID=number, NCPUS=f"4|{word}"))
    jobs = read("\n".join([header, *rows])).jobs
    assert jobs["preceding_job_number"].fillna(0).tolist() == [0, 1, 1, 0, 0]
    assert jobs["dependency"].fillna("").tolist() == [
        *("", "afterok:1", "afterany:1(unfulfilled)", "afterok:1:2", "afterok:99")
    ]


def test_submission_by_eligibility() -> None:
    """By option, where it is told."""
    text = table({"Eligible": "2024-01-01T00:00:30"})
    assert (one(text)["wait_time"], one(text)["row"]["eligible_time"]) == (60, 30)
    assert one(text, submit="eligible")["wait_time"] == 30
    assert one(table({"Eligible": "Unknown"}), submit="eligible")["wait_time"] == 60


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("TotalCPU", "x", "TotalCPU is no duration"),
        ("Elapsed", "00:99:00", "Elapsed is no duration"),
        ("Timelimit", "soon", "Timelimit is no duration"),
        ("Restarts", "two", "Restarts is no number"),
        ("MaxRSS", "5Y", "MaxRSS is no size"),
        ("ExitCode", "one", "ExitCode is not of the form 0:0"),
        ("NNodes", "few", "NNodes is no number"),
        ("Eligible", "soon", "Eligible is no time"),
    ],
)
def test_what_a_job_need_not_have(column: str, value: str, reason: str) -> None:
    """A value that cannot be read is missing, and counted; the row is a job."""
    trace = read(table({column: value}))
    assert (len(trace), len(trace.quarantine)) == (1, 0)
    assert trace.provenance["anomalies"][f"{reason}: taken for missing"] == 1


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("Start", "soon", "Start is no time: 'soon'"),
        ("End", "2024-13-01T00:00:00", "End is no time: '2024-13-01T00:00:00'"),
        ("User", "a\0b", "a byte of zero within the record"),
    ],
)
def test_damaged_values(column: str, value: str, reason: str) -> None:
    """They are not guessed at: the record is in the quarantine, with the value."""
    trace = read(table({column: value}))
    assert reasons(trace) == [(2, reason)]
    withheld = read(table({column: value}), anonymise="numbers")
    assert reasons(withheld) == [(2, reason.partition(": ")[0])]


def test_line_ends_blanks_and_a_mark_of_utf_8() -> None:
    """Windows' line ends, blank lines, blanks around values and a byte order mark mean nothing."""
    padded = " | ".join(row().split("|"))
    for text in (f"\ufeff{HEADER}\r\n\r\n{row()}\r\n", f"\n \n{HEADER}\n{padded}  \n\n"):
        job = one(text)
        assert (job["log_id"], job["user"], job["executable"], job["run_time"]) == ("7", "u1", "name", 600)
    assert one(f"\ufeff{row()}", columns=HEADER)["log_id"] == "7"


def test_names_that_look_like_nothing() -> None:
    """None and Unknown are nothing in numbers and times, and may be names."""
    job = one(f"{HEADER}\n{row(User='None', JobName='Unknown', Account='')}")
    assert (job["user"], job["executable"], job["group"]) == ("None", "Unknown", None)


def test_host_lists() -> None:
    """They are counted where nothing else says how many nodes, by a library that need not be there."""
    pytest.importorskip("hostlist")
    assert one(table({"NodeList": "n[001-003,7],login1"}))["allocated_nodes"] == 5
    assert one(table({"NodeList": "n[001-003]", "NNodes": 2}))["allocated_nodes"] == 2
    assert one(table({"NodeList": "n[001-003]", "AllocTRES": "node=1"}))["allocated_nodes"] == 1
    assert one(table({"NodeList": "n[3-"}))["allocated_nodes"] is None


def test_host_lists_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of nodes is missing then, and nothing else."""
    monkeypatch.setitem(__import__("sys").modules, "hostlist", None)
    job = one(table({"NodeList": "n[001-003]"}))
    assert (job["allocated_nodes"], job["run_time"]) == (None, 600)


def test_recognised() -> None:
    """By a header line, wherever it stands; other texts are told what is missing."""
    assert Slurm.recognise(f"sacct: hello\n{HEADER}\n".encode()).fits
    assert Slurm.recognise(b'\xef\xbb\xbf{\n "meta": {}, "jobs": [').fits
    for text in (b"1 0 5 60 4\n", b"JobID State\n", row().encode(), b'{"nodes": []}'):
        assert not Slurm.recognise(text).fits
    assert "header" in Slurm.recognise(b"x").why


def test_unknown_options_are_refused() -> None:
    """In one wording, as everywhere."""
    with pytest.raises(ParameterError, match="preempted='killed' is not one of cancelled, failed, partial"):
        Slurm(preempted="killed")
