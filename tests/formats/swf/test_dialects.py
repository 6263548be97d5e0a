# SPDX-License-Identifier: BSD-3-Clause
"""Dialects of SWF: lines of 21 fields, submit times since 1970, files of machines. Logs in, tables out, and back."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from swftools import iter_log, read_log, read_swf
from swftools.errors import LogFormatError, ParameterError, SwfFormatError, UnreadableLogError
from swftools.formats import read_machines, read_parquet, write_parquet
from swftools.formats.swf import dialects
from swftools.formats.swf.reader import iter_swf
from swftools.formats.swf.writer import write_swf
from swftools.trace import Trace
from tests.examples import pairs
from tests.formats.swf.tables import JOB, drawn, jobs, read, rejected, table

REST = "-1 -1 {wanted} 7200 -1 1 62 1 1 -1 1 -1 -1"


def _line(number: int, submit: int, given: int, wanted: int, tail: str) -> str:
    return f"{number} {submit} 10 100 {given} {REST.format(wanted=wanted)} {tail}".rstrip()


def _at(seconds: int) -> int:
    return 1_700_000_000 + seconds


FRONTIER = "\n".join(
    (
        f"0 {_at(60)} 5 100 2500 {REST.format(wanted=280000)} 20000 3600 frontier:excl:2500x112",
        f"1 {_at(0)} 5 100 224 {REST.format(wanted=2)} -1 -1 frontier:excl:2x112",
        f"2 {_at(90)} -1 -1 0 {REST.format(wanted=-1)} 0 1800.5 frontier:share:1x8",
        f"3 {_at(95)} 5 100 -1 {REST.format(wanted=8)} 0 -1 frontier:excl:0x112",
    )
)
CERIT = "\n".join(
    (
        f"7 {_at(5)} 0 10 3 {REST.format(wanted=3)} {{1241,1241,1129}} q_1d 1:ppn=2+1:ppn=1:cl_zegox#excl",
        f"8 {_at(5)} 0 10 1 {REST.format(wanted=1)} {{12}} q_2h 1",
        f"9 {_at(6)} 0 10 1 {REST.format(wanted=1)} some other words",
    )
)


def _written(trace: Trace, **options: bool) -> str:
    file = io.BytesIO()
    write_swf(trace, file, **options)
    return file.getvalue().decode()


def _fields(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if not line.startswith(";")]


# ---------------------------------------------------------------- 21 fields


def test_frontier_jobs_are_as_wide_as_nodes_times_cores() -> None:
    """Whatever fields 5 and 8 say; but who was given nothing did not start, and a width of 0 is none."""
    trace = read(FRONTIER)
    columns = ("job_number", "allocated_processors", "requested_processors", "allocated_nodes", "requested_nodes")
    expected = """
        0 280000 280000 2500 2500
        1 224 224 2 2
        2 0 8 - 1
        3 - 8 - -
    """
    assert drawn(expected) == table(trace.jobs, *columns)
    logged = ("logged_allocated_processors", "logged_requested_processors", "allocated_gpus", "soft_requested_time")
    assert drawn("2500 - 20000 3600\n- 2 - -\n- 0 0 1800.5\n- - - -") == table(trace.jobs, *logged)
    assert ["frontier:excl:2500x112", "frontier:excl:2x112", "frontier:share:1x8"] == trace.jobs[
        "resource_request"
    ].dropna().tolist()
    assert ["0 -1 frontier:excl:0x112"] == trace.jobs["extra_fields"].dropna().tolist()
    assert {
        dialects.FRONTIER: 3,
        "a descriptor of nodes x cores that gives no width: left in extra_fields": 1,
        "fields 5 and 8 that are not the cores of the descriptor, which count": 3,
        "submit times since 1970 with no UnixStartTime: taken so (epoch=false refuses)": 4,
    } == trace.provenance["anomalies"]


@pytest.mark.parametrize(("width", "widths"), [("nodes", [2500, 2, 1, 8]), ("fields", [2500, 224, -1, 8])])
def test_another_width(width: dialects.Width, widths: list[int]) -> None:
    """The nodes alone, or what the fields say."""
    trace = read(FRONTIER, width=width)
    given = trace.arrays.allocated_processors
    assert widths == np.where(given > 0, given, trace.arrays.requested_processors).tolist()
    with pytest.raises(ParameterError, match="width='cpus' is not one of cores, nodes, fields"):
        read(FRONTIER, width="cpus")


def test_a_width_beyond_what_a_field_may_hold_is_none() -> None:
    """2^31 - 1 processors at most, as of any job."""
    trace = read(_line(1, 0, 4, 4, "0 -1 f:excl:33554431x64") + "\n" + _line(2, 0, 4, 4, "0 -1 f:excl:33554432x64"))
    assert [33554431 * 64, 4] == trace.jobs["requested_processors"].tolist()
    assert [False, True] == trace.jobs["extra_fields"].notna().tolist()


def test_cerit_jobs_have_nodes_queue_and_request() -> None:
    """Nodes are counted once each; the words are as they stand; other words stay behind the 18th field."""
    trace = read(CERIT)
    assert [3, 1, 1] == trace.jobs["allocated_processors"].tolist()
    assert "2\n1\n-" == table(trace.jobs, "allocated_nodes")
    assert ["{1241,1241,1129}", "{12}"] == trace.jobs["node_list"].dropna().tolist()
    assert ["q_1d", "q_2h"] == trace.jobs["queue_name"].dropna().tolist()
    assert ["1:ppn=2+1:ppn=1:cl_zegox#excl", "1"] == trace.jobs["resource_request"].dropna().tolist()
    assert ["some other words"] == trace.jobs["extra_fields"].dropna().tolist()
    assert 2 == trace.provenance["anomalies"][dialects.CERIT]
    assert "extra_fields" not in read(CERIT.rpartition("\n")[0]).jobs


def test_queues_of_cerit_have_names() -> None:
    """Numbers that were given by name have it, in chunks too; not where names are withheld."""
    assert read(CERIT).known_names == {"queue": {1: "q_1d", 2: "q_2h"}}
    assert [chunk.known_names for chunk in iter_log(io.BytesIO(CERIT.encode()), "swf")][-1] == read(CERIT).known_names
    assert read_log(io.BytesIO(CERIT.encode()), "swf", anonymise="numbers").known_names == {}
    numbered = read(CERIT.replace("62 1 1 -1", "62 1 1 7"))
    assert (numbered.jobs["queue_id"].tolist(), numbered.known_names) == ([7, 7, 7], {})


def test_both_dialects_in_one_log() -> None:
    """Each line is read by itself, so a merged log reads too."""
    trace = read(f"{FRONTIER}\n{CERIT}")
    assert "2500\n2\n-\n-\n2\n1\n-" == table(trace.jobs, "allocated_nodes")
    assert 5 == trace.jobs["resource_request"].notna().sum()


@pytest.mark.parametrize(
    "tail", ["1 2", "1 2 3", "1 2 a:b:c", "x 2 a:b:1x2", "1 2 a:b:1x2 9", "{} q 1:ppn=1", "{1} q x"]
)
def test_other_fields_stay_as_they_stand(tail: str) -> None:
    """What is no dialect is text behind the 18th field."""
    trace = read(_line(1, 0, 4, 4, tail))
    assert [tail] == trace.jobs["extra_fields"].tolist()
    assert "anomalies" not in trace.provenance


# ---------------------------------------------------------------- times since 1970


@pytest.mark.parametrize("header", ["", "; UnixStartTime: 0\n", "; MaxProcs: 9\n; UnixStartTime: -1\n; Note: x\n"])
def test_times_since_1970_count_from_the_first(header: str) -> None:
    """The earliest submission of the whole log is second 0, wherever it stands."""
    trace = read(f"{header}{_line(1, _at(60), 4, 4, '')}\n{_line(2, _at(0), 4, 4, '')}\n")
    assert [60.0, 0.0] == trace.jobs["submit_time"].tolist()
    assert _at(0) == trace.header.unix_start_time
    said = header.rsplit("UnixStartTime: ", maxsplit=1)[-1].split("\n", maxsplit=1)[0]
    note = f"Submit times were seconds since 1970 though UnixStartTime was {said}: that is assumed."
    assert (note if said else dialects.EPOCH_NOTE) == dialects.epoch_note(trace.header)
    assert 1 == len(trace.header.texts("UnixStartTime"))
    assert (
        2
        == trace.provenance["anomalies"][
            "submit times since 1970 with no UnixStartTime: taken so (epoch=false refuses)"
        ]
    )


@pytest.mark.parametrize("first", [631_151_999, 4_102_444_800])
def test_the_years_1990_to_2100_are_times(first: int) -> None:
    """The bounds, from outside."""
    assert [first] == read(_line(1, first, 4, 4, "")).jobs["submit_time"].tolist()


@pytest.mark.parametrize("first", [631_152_000, 4_102_444_799])
def test_the_first_and_last_such_second(first: int) -> None:
    """The bounds, from inside."""
    trace = read(_line(1, first, 4, 4, ""))
    assert ([0.0], first) == (trace.jobs["submit_time"].tolist(), trace.header.unix_start_time)


def test_what_is_refused_stays() -> None:
    """``epoch=False``, or a header that says when the log begins."""
    line = _line(1, _at(0), 4, 4, "")
    assert [_at(0)] == read(line, epoch=False).jobs["submit_time"].tolist()
    assert [_at(0)] == read(f"; UnixStartTime: 5\n{line}").jobs["submit_time"].tolist()
    assert [_at(0)] == read_log(io.BytesIO(line.encode()), "swf:epoch=false").jobs["submit_time"].tolist()


def test_a_time_that_is_none_goes_to_quarantine() -> None:
    """A job at second 7 of 1970 among jobs of 2023; a job without a time is kept."""
    text = "\n".join((_line(1, _at(0), 4, 4, ""), _line(2, 7, 4, 4, ""), _line(3, -1, 4, 4, ""), "bad"))
    trace = read(text)
    why = "field 2 (submit_time): 7 is no second of the years 1990 to 2100, as those of other jobs are"
    assert [(2, why), (4, "1 field instead of 18")] == rejected(trace)
    assert text.splitlines()[1] == trace.quarantine["text"].iloc[0]
    assert "1 1 0\n3 3 -" == jobs(trace, "job_number", "submit_time")
    with pytest.raises(SwfFormatError, match="line 2: field 2"):
        read(text.rpartition("\n")[0], strict=True)


@pytest.mark.parametrize("chunk_bytes", [1, 90, 200, 10_000])
def test_chunks_have_the_whole_logs_second_0(chunk_bytes: int, tmp_path: Path) -> None:
    """From a path and from a stream that can go back; together they are what is read at once."""
    text = f"; UnixStartTime: 0\n\n{FRONTIER}\n; late\n{_line(9, 3, 1, 1, '')}\n{CERIT}\n; end\n"
    path = tmp_path / "a.swf"
    path.write_text(text)
    whole = read(text)
    for source in (path, io.BytesIO(text.encode())):
        chunks = list(iter_swf(source, chunk_bytes=chunk_bytes))
        for name in ("submit_time", "allocated_processors", "line_number", "queue_id"):
            together = pd.concat([chunk.jobs[name] for chunk in chunks], ignore_index=True)
            assert whole.jobs[name].equals(together)
        assert {_at(0)} == {chunk.header.unix_start_time for chunk in chunks}
        assert whole.header == chunks[-1].header
        assert rejected(whole) == [row for chunk in chunks for row in rejected(chunk)]


def test_a_stream_that_is_read_once_is_refused() -> None:
    """Nothing can be said of the first submission before the end."""

    class Once(io.BytesIO):
        def seekable(self) -> bool:
            return False

    with pytest.raises(LogFormatError, match="read twice, and this stream only once; save it as a file"):
        list(iter_swf(Once(FRONTIER.encode())))
    assert 4 == sum(map(len, iter_swf(Once(FRONTIER.encode()), epoch=False)))
    assert 4 == len(read_swf(Once(FRONTIER.encode())))


def test_queues_that_have_only_names_get_numbers() -> None:
    """By first appearance, and over all chunks; a log that numbers them itself keeps its numbers, and no Note."""
    names = ["q_1w", "q_1d", "q_1w", "a", "q_1d"]
    lines = [_line(number, number, 4, 4, f"{{1,2}} {name} 1:ppn=2") for number, name in enumerate(names, 1)]
    trace = read("\n".join(lines))
    assert trace.jobs["queue_id"].tolist() == [1, 2, 1, 3, 2]
    assert trace.header.notes == (dialects.QUEUES_NOTE,)
    chunks = list(iter_swf(io.BytesIO("\n".join(lines).encode()), chunk_bytes=1))
    assert [job for chunk in chunks for job in chunk.jobs["queue_id"]] == [1, 2, 1, 3, 2]
    assert [line.split()[14] for line in _written(trace, as_read=True).splitlines()] == ["-1"] * 5
    fields = lines[0].split()
    fields[14] = "7"
    mixed = read("\n".join([" ".join(fields), *lines[1:]]))
    assert mixed.jobs["queue_id"].tolist()[0] == 7
    assert mixed.jobs["queue_id"].tolist()[1:] == [pd.NA] * 4
    assert mixed.header.notes == ()


# ---------------------------------------------------------------- back again


@pytest.mark.parametrize(
    ("header", "width"),
    pairs(
        ["", "; unixstarttime: -1\n; MaxNodes: 4\n", "; Note: a\n", "; UnixStartTime: 0\n;   or so\n"],
        list(dialects.WIDTHS),
        each=1,
    ),
)
def test_a_log_is_written_back_as_it_came(header: str, width: dialects.Width, tmp_path: Path) -> None:
    """Field by field, also through Parquet, and what is written reads as the same trace."""
    text = f"{header}{FRONTIER}\n{CERIT}\n"
    trace = read(text, width=width)
    write_parquet(trace, tmp_path / "a.parquet")
    for each in (trace, read_parquet(tmp_path / "a.parquet")):
        back = _written(each, as_read=True)
        assert _fields(text) == _fields(back)
        assert header == "".join(line + "\n" for line in back.splitlines() if line.startswith(";"))
        assert trace.equals(read(back, width=width))


def test_else_swf_2_2_is_written() -> None:
    """18 fields, from second 0, with the date in the header; what was assumed stays told."""
    trace = read(FRONTIER.rpartition("\n")[0])
    back = read(_written(trace))
    assert {18} == {len(line) for line in _fields(_written(trace))}
    assert trace.jobs["submit_time"].equals(back.jobs["submit_time"])
    assert (_at(0), (dialects.EPOCH_NOTE,)) == (back.header.unix_start_time, back.header.notes)
    assert _fields(_written(trace, as_read=True))[0][1] == str(_at(60))


def test_late_times_that_are_none_since_1970_read_back() -> None:
    """A model of 30 years without a date: its header says that times count from its start."""
    trace = Trace.from_columns(job_number=[1], submit_time=[1e9], run_time=[5])
    assert dialects.RELATIVE_NOTE in _written(trace)
    assert trace.equals(read(_written(trace)))
    assert dialects.RELATIVE_NOTE not in _written(read(JOB))


def test_a_note_without_its_time_is_refused() -> None:
    """Someone took UnixStartTime from the header: what the times were cannot be known."""
    trace = read(f"; Note: {dialects.EPOCH_NOTE}\n{JOB}")
    with pytest.raises(SwfFormatError, match="has no UnixStartTime; give it back"):
        _written(trace, as_read=True)


# ---------------------------------------------------------------- machines, and names


def test_machines_are_the_size(tmp_path: Path) -> None:
    """Nodes times processors, summed over the lines; told where the log comes from."""
    path = tmp_path / "wagap.machines"
    path.write_text("# number name ...\n0\tzewura\t20\t80\t1\t529426432\n\n1 zegox 48 12 1.5 94035968\n")
    source = f"swf:machines={path}"
    trace = read_log(io.BytesIO(CERIT.encode()), source)
    assert (20 * 80 + 48 * 12, "zewura 20 x 80, zegox 48 x 12") == (trace.processors, trace.provenance["machines"])
    assert {2176} == {chunk.processors for chunk in iter_log(io.BytesIO(CERIT.encode()), source)}
    assert [1.0, 1.5] == read_machines(path)["speed"].tolist()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0 a 2 4 1\n", "line 1: '0 a 2 4 1' is not number, name, nodes"),
        ("0 a 2 4 1 5\n0 b 2 4 1 5\n", "line 2: machine 0 appears twice"),
        ("0 a 2 0 1 5\n", "line 1: '0 a 2 0 1 5': nodes, processors and speed must be above 0"),
        ("0 a 2147483647 2 1 5\n", "more than 2,147,483,647 processors"),
        ("\n", "it names no machine"),
    ],
)
def test_machines_that_are_none(text: str, told: str, tmp_path: Path) -> None:
    """File, line and remedy."""
    path = tmp_path / "x.machines"
    path.write_text(text)
    with pytest.raises(LogFormatError, match=told):
        read_machines(path)
    with pytest.raises(UnreadableLogError, match=r"y\.machines: the file of machines cannot be read"):
        read_machines(tmp_path / "y.machines")


def test_names_are_withheld() -> None:
    """No queue, host or request, also not in the texts of lines."""
    trace = read_log(io.BytesIO(f"{CERIT}\n7 8 cl_zegox\n".encode()), anonymise="numbers")
    assert {"node_list", "queue_name", "resource_request"}.isdisjoint(trace.jobs)
    assert (True, None) == (bool(trace.quarantine["text"].isna().all()), trace.source)
    assert "allocated_nodes" in trace.jobs
