# SPDX-License-Identifier: BSD-3-Clause
"""Tables as they should not be: each becomes a job, a reasoned line of the quarantine, or one clear error."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from swftools import Trace, iter_log, read_log
from swftools.errors import LogFormatError, ParameterError, UnreadableLogError
from swftools.formats.tables.heads import least_value
from tests.formats.tables.made import JOB_A, PAI, as_typed_parquet, example, parquet, write_pai

HELIOS = example("helios").decode()
HEADER, ONE, TWO, THREE = HELIOS.splitlines()
SUPERCLOUD = "id_job,id_user,time_submit,time_start,time_end,state,tres_alloc\n"


def read(text: str | bytes, name: str = "helios", **options: Any) -> Trace:
    """Read a table."""
    return read_log(io.BytesIO(text.encode() if isinstance(text, str) else text), name, **options)


def refusal(text: str | bytes, name: str | None = "helios", **options: Any) -> str:
    """Return what a table is refused with."""
    with pytest.raises((LogFormatError, UnreadableLogError)) as caught:
        read_log(io.BytesIO(text.encode() if isinstance(text, str) else text), name, **options)
    return str(caught.value)


def reasons(trace: Trace) -> dict[int, str]:
    """Return why each line is no job."""
    return dict(zip(trace.quarantine["line_number"].tolist(), trace.quarantine["reason"].tolist(), strict=True))


def test_a_column_that_is_needed_and_missing() -> None:
    """The error names it, and what there is; a renamed one is guessed at."""
    told = refusal(HELIOS.replace("submit_time", "submitted_time"))
    assert "no column 'submit_time'" in told
    assert "did you mean submitted_time?" in told.replace("'", "")
    assert "propose" in told


def test_a_column_that_is_there_twice() -> None:
    """Which one counts cannot be known; one that nobody asks for may be there twice."""
    assert "'user' twice" in refusal(HELIOS.replace("cpu_num", "user"))
    assert len(read(HELIOS.replace("duration,queue", "queue,queue"))) == 3


def test_names_of_columns_without_case_and_in_any_order() -> None:
    """Case and blanks do not count, nor does the order."""
    words = [line.split(",") for line in HELIOS.splitlines()]
    turned = "\n".join(", ".join(reversed(line)) for line in words).replace("submit_time", "SUBMIT_TIME") + "\n"
    assert read(turned).jobs["run_time"].tolist() == read(HELIOS).jobs["run_time"].tolist()


@pytest.mark.parametrize(
    ("column", "values", "told"),
    [
        ("submit_time", [1, 2, 3], "column 'submit_time' is of the type int64, where dates are expected"),
        ("gpu_num", [[1], [2], [3]], "column 'gpu_num' is of the type list<"),
        ("user", [{"a": 1}] * 3, "column 'user' is of the type struct<"),
    ],
)
def test_parquet_of_another_type(column: str, values: list[Any], told: str) -> None:
    """A column that cannot be what it should be is one error."""
    rows = [dict(zip(HEADER.split(","), line.split(","), strict=True)) for line in (ONE, TWO, THREE)]
    table = pa.Table.from_pylist(rows)
    table = table.set_column(table.column_names.index(column), column, pa.array(values))
    assert told in refusal(parquet(table))


def test_parquet_of_times_with_and_without_a_zone() -> None:
    """Both, dates of days, and texts mean the same time."""
    rows = [dict(zip(HEADER.split(","), line.split(","), strict=True)) for line in (ONE, TWO, THREE)]
    table = pa.Table.from_pylist(rows)
    expected = read(HELIOS)
    for zone in (None, "Asia/Shanghai"):
        plain = pa.array(table["submit_time"].to_pylist()).cast(pa.timestamp("us"))
        stamps = pa.compute.assume_timezone(plain, zone) if zone else plain
        told = table.set_column(table.column_names.index("submit_time"), "submit_time", stamps)
        assert read(parquet(told)).jobs["wait_time"].tolist() == expected.jobs["wait_time"].tolist()


def test_tables_that_were_put_behind_each_other() -> None:
    """The header within is counted, and is no row; the rows around it are what they were."""
    trace = read("\n".join([HEADER, ONE, HEADER, TWO, THREE, HEADER, ""]))
    expected = read(HELIOS)
    assert not len(trace.quarantine)
    assert trace.jobs["line_number"].tolist() == [2, 4, 5]
    for name in ("submit_time", "run_time", "requested_processors", "log_id"):
        assert trace.jobs[name].tolist() == expected.jobs[name].tolist()
    told = {"the header again, as in files that were put behind each other": 2}
    assert trace.provenance["anomalies"] == told


def test_dates_in_two_notations() -> None:
    """Both are read, and counted; what is no date in the order that is said is quarantined."""
    third = THREE.replace("2020-06-09 18:41:28", "06/09/2020 18:41:28", 1)
    trace = read("\n".join([HEADER, ONE, TWO, third, ONE.replace("2020-06-09", "31/12/2020", 1), ""]), dates="mdy")
    assert trace.jobs["submit_time"].tolist() == [0, 26, 27]
    told = trace.provenance["anomalies"]
    assert told["dates in another notation than the first one of the log: submit"] == 1
    assert reasons(trace) == {5: "submit is no time: '31/12/2020 18:41:01'"}


def test_milliseconds_where_seconds_are_declared() -> None:
    """1,000 times too late: one error that names the column, not a quarantine of all; and the other way round."""
    late = f"{SUPERCLOUD}1,2,1610000000000,1610000060000,1610000070000,3,1=4\n"
    told = refusal(late, "supercloud")
    assert "column 'time_submit': read in s, most times are beyond the year 2286: 1,000 times too late?" in told
    early = example("opendc").decode().replace("000,", ",")
    assert "read in ms, most times are before 1980" in refusal(early, "opendc")


def test_one_wrong_time_among_many_is_quarantined() -> None:
    """It says nothing of the unit of the others."""
    rows = "".join(f"{row},2,{1610000000 + row},{1610000100 + row},{1610000200 + row},3,1=4\n" for row in range(9))
    text = f"{SUPERCLOUD}{rows}9,2,1610000000000,1610000060000,1610000070000,3,1=4\n"
    trace = read(text, "supercloud")
    assert (len(trace), reasons(trace)) == (9, {11: "submit beyond the year 2286"})


def test_the_least_submission_of_a_parquet_file() -> None:
    """Of all its row groups, as its footer tells them; of dates as of numbers."""
    times = [1_600_000_500, 1_600_000_100, 1_600_000_900, 1_600_000_300]
    for kind in (pa.int64(), pa.timestamp("s", "UTC")):
        head = parquet(pa.table({"a": [1, 2, 3, 4], "submit": pa.array(times).cast(kind)}), row_group_size=1)
        assert least_value(head, 1) == min(times)
        assert least_value(head, -1) is None
    assert least_value(parquet(pa.table({"submit": ["a"]})), 0) is None


@pytest.mark.parametrize("share", [0.2, 0.6, 0.99])
def test_parquet_that_is_cut_off(share: float) -> None:
    """It has no footer, and is refused; so is one whose footer is damaged, and what is called Parquet and is none."""
    sound = as_typed_parquet("helios")
    assert "a Parquet file that is cut off" in refusal(sound[: int(len(sound) * share)], None)
    broken = sound[:-60] + b"\xff" * 40 + sound[-20:]
    assert "fetch it again" in refusal(broken, None)
    assert "cut off" in refusal(b"PAR1", None)


def test_parquet_with_a_damaged_page(tmp_path: Path) -> None:
    """What cannot be decoded is one error, whole and in chunks."""
    rows = [dict(zip(HEADER.split(","), line.split(","), strict=True)) for line in (ONE, TWO, THREE)] * 300
    sound = parquet(pa.Table.from_pylist(rows), compression="zstd")
    path = tmp_path / "broken.parquet"
    path.write_bytes(sound[:60] + b"\x00" * 200 + sound[260:])
    with pytest.raises(UnreadableLogError, match=r"broken\.parquet: a Parquet file that is damaged"):
        read_log(path, "helios")
    with pytest.raises(UnreadableLogError, match="damaged"):
        list(iter_log(path, "helios"))


def test_a_list_of_many_objects_on_one_line() -> None:
    """It is read in pieces; rows are counted, since there are no lines."""
    rows = [dict(zip(HEADER.split(","), [str(number), *ONE.split(",")[1:]], strict=True)) for number in range(3000)]
    rows[1234]["state"] = "PENDING"
    text = json.dumps(rows)
    trace = read(text)
    assert (len(trace), reasons(trace)) == (2999, {1235: "not ended: 'PENDING'"})
    assert trace.jobs["line_number"].tolist()[-1] == 3000


def test_json_that_ends_within_an_object_or_is_none() -> None:
    """The objects before it are read; what is no object is told of."""
    good = json.dumps(dict(zip(HEADER.split(","), ONE.split(","), strict=True)))
    trace = read(f"[{good}, {good[:-30]}")
    assert (len(trace), reasons(trace)) == (1, {2: "the list ends within this object"})
    trace = read(f"{good}\n{good[:40]}\n[1, 2]\n\n{good[:-1]},}}\n")
    assert reasons(trace) == dict.fromkeys([2, 3, 5], "no sound JSON")
    assert "no column 'submit_time'" in refusal('{"a": 1, "b": 2}\n')


def test_csv_with_line_ends_and_marks_in_values() -> None:
    """A value in quotation marks may hold them; lines are counted through it."""
    user = '"u,X\ny ""z"""'
    text = "\n".join([HEADER, ONE.replace("uXBbc", user), TWO, ""])
    trace = read(text)
    assert trace.jobs["line_number"].tolist() == [2, 4]
    assert trace.names[trace.names["kind"] == "user"]["name"].tolist() == ['u,X\ny "z"', "uVMrF"]


def test_a_mark_that_is_not_closed_costs_its_line() -> None:
    """What follows is read."""
    trace = read("\n".join([HEADER, ONE.replace("uXBbc", '"uXBbc'), TWO, THREE, ""]))
    assert (len(trace), reasons(trace)) == (2, {2: "a quotation mark that is not closed"})
    trace = read("\n".join([HEADER, ONE.replace("uXBbc", '"u"X'), TWO, ""]))
    assert (len(trace), reasons(trace)) == (1, {2: "a quotation mark that is not closed"})


def test_rows_of_another_length_and_a_last_row_that_is_cut() -> None:
    """Each is told of; a last row without a line end that has all values is whole."""
    trace = read("\n".join([HEADER, ONE + ",7", TWO, THREE[:-20]]))
    assert (len(trace), set(reasons(trace))) == (1, {2, 4})
    assert reasons(trace)[4] == "the log is cut off within this record"
    assert len(read("\n".join([HEADER, ONE, TWO]))) == 2


def test_whole_numbers_as_floats() -> None:
    """4.0 is 4; 4.5 processors are none."""
    trace = read(HELIOS.replace(",4,16,1,", ",4.0,16.0,1.0,"))
    assert trace.jobs["requested_processors"].tolist() == [1, 4, 1]
    trace = read(HELIOS.replace(",4,16,1,", ",4.5,16,1,"))
    assert reasons(trace) == {3: "requested_processors is not a whole number"}


def test_states_that_are_not_known_and_jobs_that_have_not_ended() -> None:
    """Neither is guessed."""
    trace = read(HELIOS.replace("FAILED", "EXPLODED").replace("CANCELLED", "running"))
    assert reasons(trace) == {3: "a state that helios does not have: 'EXPLODED'", 4: "not ended: 'running'"}
    hidden = read(HELIOS.replace("FAILED", "EXPLODED"), anonymise="numbers")
    assert reasons(hidden) == {3: "a state that helios does not have"}


def test_starts_and_ends_that_contradict() -> None:
    """A completed job without a start, a start without an end."""
    lines = [
        ONE.replace("2020-06-09 18:41:01,2020-06-09 18:41:01", "2020-06-09 18:41:01,"),
        TWO.replace("2020-06-09 18:45:36,249", "None,"),
        THREE.replace("2020-06-09 18:41:28,2020-06-09 18:41:28,2020-06-17 14:15:21,675233", "2020-06-09 18:41:28,,,"),
        THREE.replace("2020-06-09 18:41:28,", "None,", 1),
        TWO.replace("18:45:36,249", "18:40:36,-51"),
    ]
    trace = read("\n".join([HEADER, *lines, ""]))
    assert reasons(trace) == {
        2: "completed without a start",
        3: "not ended: it started, and has no end",
        5: "no time of submission",
        6: "end before start",
    }
    assert trace.jobs[["status", "line_number"]].values.tolist() == [[5, 4]]


def test_demand_above_the_machine() -> None:
    """A job wider than the machine is counted, and so it is when jobs together are."""
    wide = HELIOS.replace(",4,16,1,", ",64,16,1,")
    told = read(wide, processors=8).provenance["anomalies"]
    assert told["wider than the machine, by what was told of it"] == 1
    assert told["up to 66 processors in use at once, of a machine of 8: jobs that overbook it"] == 2
    assert "anomalies" not in read(HELIOS, processors=6).provenance
    told = read(HELIOS, processors=5).provenance["anomalies"]
    assert told == {"up to 6 processors in use at once, of a machine of 5: jobs that overbook it": 1}


def test_a_width_that_is_none_of_the_table() -> None:
    """The error lists those that it has."""
    with pytest.raises(ParameterError, match="helios: width='tpus' is not one of gpus, cpus, nodes"):
        read(HELIOS, width="tpus")
    with pytest.raises(ParameterError, match="wta: width='gpus' is not one of none: this table tells one only"):
        read(example("wta"), "wta", width="gpus")
    assert read(HELIOS, width="cpus").jobs["requested_processors"].tolist() == [1, 16, 1]


def test_a_header_that_stands_again() -> None:
    """Files that were put behind each other: it is no row, and counted."""
    trace = read(HELIOS + HELIOS.replace("14255", "24255"))
    assert len(trace) == 6
    assert trace.provenance["anomalies"] == {"the header again, as in files that were put behind each other": 1}


def test_a_table_that_nobody_knows() -> None:
    """The error lists its columns, and says what to do."""
    told = refusal("when,who,what,how_long\n1,2,3,4\n", None)
    assert "a table that no format knows, with the columns when, who, what, how_long" in told
    assert "swftools formats propose" in told


def test_times_without_a_zone_that_nobody_told() -> None:
    """A format that has no zone asks for one."""
    assert "--format alcf:time_zone=America/Chicago" in refusal(example("alcf"), "alcf")


def test_only_tables_without_jobs(tmp_path: Path) -> None:
    """The table of jobs has to be there too."""
    (tmp_path / "nodes.csv").write_text("sn,cpu_milli,memory_mib,gpu,model\nn0,32000,262144,0,\n")
    with pytest.raises(LogFormatError, match="only tables without jobs: a table of nodes"):
        read_log(tmp_path)
    (tmp_path / "pods.csv").write_bytes(example("openb"))
    trace = read_log(tmp_path, "openb")
    assert trace.provenance["anomalies"]["a table of nodes, which has no jobs: passed over"] == 1


def test_pai_joins_its_tables(tmp_path: Path) -> None:
    """Tasks and tags become part of their job; those of no job are told of."""
    folder = write_pai(tmp_path / "pai")
    trace = read_log(folder)
    jobs = trace.jobs
    assert jobs["wait_time"].tolist()[0] == 4550885 - 4550879
    assert jobs["run_time"].tolist()[0] == 4551416 - 4550885
    assert jobs["exact_processors"].tolist()[0] == 1.5
    assert jobs["requested_processors"].tolist()[0] == 2
    assert jobs["requested_memory"].tolist()[0] == (10.0 + 2 * 29.0) / 2 * 2**20
    assert jobs["status"].tolist() == [1, 0]
    assert trace.names.query("kind == 'partition'")["name"].tolist() == ["V100", "T4"]
    assert trace.names.query("kind == 'executable'")["name"].tolist() == ["bert"]
    assert len(trace.merged) == 4
    told = trace.quarantine["reason"].tolist()
    assert [reason.partition(": ")[2] for reason in told] == [
        "not ended: 'Running'",
        "a task of no job in the job table",
        f"belongs to the record of line {trace.quarantine['line_number'].tolist()[0]}, which is no job",
    ]
    assert told[0].startswith("pai_job_table.csv, line 3: ")
    cpus = read_log(folder, width="cpus").jobs
    assert cpus["exact_processors"].tolist() == [14.0, 4.5]
    assert cpus["requested_processors"].tolist() == [14, 5]
    assert cpus["requested_gpus"].tolist() == [2, 0]


@pytest.mark.parametrize("last", ["", "z"])
def test_pai_has_the_bytes_of_its_tables(tmp_path: Path, last: str) -> None:
    """Also of the one that is passed over, whether it is the last file or not, and lacks its last line end."""
    for name, text in PAI.items():
        (tmp_path / (f"{last}{name}" if "instance" in name else name)).write_text(text.rstrip())
    provenance = read_log(tmp_path, "pai").provenance
    assert provenance is not None
    texts = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    assert (last == "z") == texts[-1].startswith(f"{JOB_A},ps,{'ab' * 30}".encode())
    whole = b"\n".join(texts)
    assert (provenance["bytes"], provenance["sha256"]) == (len(whole), hashlib.sha256(whole).hexdigest())


def test_pai_says_which_line_is_part_of_which_job(tmp_path: Path) -> None:
    """Tags and tasks, of jobs in whatever order; a completed job without a task, or without a start, is none."""
    lines = PAI["pai_job_table.csv"].splitlines(keepends=True)
    rows = [lines[1], lines[0], lines[0].replace(JOB_A, "ab" * 12), lines[0].replace(JOB_A, "cd" * 12)]
    tasks = PAI["pai_task_table.csv"].splitlines(keepends=True)[:3]
    tasks.append(f"{'cd' * 12},w,1.0,Terminated,,,400.0,9,,T4\n")
    folder = write_pai(tmp_path / "pai", pai_job_table="".join(rows), pai_task_table="".join(tasks))
    trace = read_log(folder)
    assert trace.jobs[["job_number", "line_number"]].to_numpy().tolist() == [[1, 3], [2, 2]]
    told = dict(zip(trace.merged["line_number"].tolist(), trace.merged["into_line_number"].tolist(), strict=True))
    assert told == {1: 3, 6: 3, 7: 3, 8: 2}
    told = dict(zip(trace.quarantine["line_number"].tolist(), trace.quarantine["reason"].tolist(), strict=True))
    assert told == {
        4: "pai_job_table.csv, line 3: completed without a task",
        5: "pai_job_table.csv, line 4: completed without a start",
        9: "pai_task_table.csv, line 4: belongs to the record of line 5, which is no job",
    }


def test_pai_without_its_tasks(tmp_path: Path) -> None:
    """The error names the table that is missing."""
    (tmp_path / "pai_job_table.csv").write_text(PAI["pai_job_table.csv"])
    with pytest.raises(LogFormatError, match=r"there is no pai_task_table\.csv"):
        read_log(tmp_path)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(LogFormatError, match=r"other\.csv is none of PAI's tables"):
        read_log(tmp_path, "pai")


def test_what_ends_makes_room_for_what_starts_at_the_same_time() -> None:
    """So two jobs as wide as the machine, one behind the other, do not overbook it."""
    rows = [
        "1,u,v,4,4,1,COMPLETED,2020-06-09 10:00:00,2020-06-09 10:00:00,2020-06-09 11:00:00,3600,0",
        "2,u,v,4,4,1,COMPLETED,2020-06-09 10:00:00,2020-06-09 11:00:00,2020-06-09 12:00:00,3600,3600",
    ]
    assert "anomalies" not in read("\n".join([HEADER, *rows, ""]), processors=4).provenance
