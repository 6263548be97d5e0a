# SPDX-License-Identifier: BSD-3-Clause
"""Reading SWF: logs drawn by hand, what real logs contain, one test for each.

A log is text in; the table expected is text out: line number and columns of each job, ``-`` for missing.
"""

from __future__ import annotations

import gzip
import hashlib
import io
from pathlib import Path

import pandas as pd
import pytest

from swftools import read_swf
from swftools.errors import SwfFormatError
from swftools.fields.dictionary import SWF_NAMES, arrow_schema
from swftools.formats.swf.reader import read_lines
from swftools.header import UTILITY_NOTE, HeaderEntry
from swftools.tables import to_arrow
from tests.formats.swf.tables import JOB, REST, drawn, jobs, read, rejected

# ---------------------------------------------------------------- what every log has


def test_each_field_has_its_column() -> None:
    """The 18 fields in order, whole numbers as Int64 and times as float64, -1 as missing."""
    trace = read("1 2 3 4 5 6 7 8 9 10 4 12 13 14 15 16 17 18\n" + " ".join(["-1"] * 18))
    assert drawn(
        """
        1 1 2 3 4 5 6 7 8 9 10 4 12 13 14 15 16 17 18
        2 - - - - - - - - - - - - - - - - - -
        """
    ) == jobs(trace, *SWF_NAMES)
    whole = ["Int64", *["float64"] * 3, "Int64", *["float64"] * 2, "Int64", *["float64"] * 2, *["Int64"] * 7, "float64"]
    assert whole == [str(trace.jobs[name].dtype) for name in SWF_NAMES]
    assert arrow_schema("jobs", trace.jobs.columns) == to_arrow(trace.jobs, "jobs").schema


def test_header_jobs_and_quarantine() -> None:
    """A small log with one of each: comments, jobs, and a line that is none."""
    trace = read(f"; Version: 2.2\n; MaxProcs: 8\n{JOB}\nthis is no job\n2 10 0 30 {REST}\n")
    assert "3 1 0 5 60\n5 2 10 0 30" == jobs(trace)
    assert [(4, "4 fields instead of 18")] == rejected(trace)
    assert ["this is no job"] == trace.quarantine["text"].tolist()
    assert ["read"] == trace.quarantine["rule"].tolist()
    assert ("2.2", 8) == (trace.header.version, trace.header.max_procs)


def test_provenance_says_what_was_read(tmp_path: Path) -> None:
    """Name, size and sha256 of the decompressed text."""
    path = tmp_path / "log.swf"
    with gzip.open(path, "wb") as file:
        file.write(b"; x\n")
    digest = hashlib.sha256(b"; x\n").hexdigest()
    assert {"name": "log.swf", "bytes": 4, "sha256": digest} == read_swf(path).provenance
    assert {"name": "<stream>", "bytes": 4, "sha256": digest} == read("; x\n").provenance


def test_source_lines_can_be_quoted() -> None:
    """``Trace.source`` holds every line, and ``read_lines`` finds the same ones."""
    text = b"\xef\xbb\xbf; a\r\n\n" + JOB.encode() + b"\nbad \xff"
    trace = read(text)
    expected = [b"; a\r\n", b"\n", f"{JOB}\n".encode(), b"bad \xff"]
    assert trace.source is not None
    assert expected == trace.source.to_pylist() == read_lines(io.BytesIO(text)).to_pylist()
    lines = pd.Series([4, None, 1], dtype="Int64")
    assert ["bad \\xff", None, "; a"] == [t if isinstance(t, str) else None for t in trace.line_texts(lines)]


# ---------------------------------------------------------------- what real logs contain


def test_the_shortest_lines() -> None:
    """As many jobs as a text can hold."""
    line = " ".join("0" * 18)
    for count in (1, 2, 35, 36, 37, 10_000):
        for text in (f"{line}\n" * count, f"{line}\n" * (count - 1) + line, f"{line}\n" * count + "1 2"):
            trace = read(text)
            assert (count, count) == (len(trace), (trace.arrays.status == 0).sum())


def test_tabs() -> None:
    """Fields are parted by any number of tabs and blanks, also at the ends of a line."""
    trace = read("\t" + JOB.replace(" ", "\t") + "\t \n" + JOB.replace(" ", " \t ") + "\n")
    assert "1 1 0 5 60\n2 1 0 5 60" == jobs(trace)


def test_line_ends_of_windows() -> None:
    """CR LF ends a line, also where some lines end in LF, and where CR stands twice."""
    trace = read(f"; Version: 2.2\r\n{JOB}\r\n\r\n{JOB}\n{JOB} x\r\r\n\r\r\n{JOB}\r")
    assert "2 1 0 5 60\n4 1 0 5 60\n5 1 0 5 60\n7 1 0 5 60" == jobs(trace)
    assert "2.2" == trace.header.version
    assert [None, None, "x", None] == [t if isinstance(t, str) else None for t in trace.jobs["extra_fields"]]
    assert [] == rejected(trace)


def test_blank_lines() -> None:
    """They are passed over, and counted in line numbers."""
    trace = read(f"\n{JOB}\n   \n\t\n{JOB}\n\n")
    assert "2 1 0 5 60\n5 1 0 5 60" == jobs(trace)
    assert [] == rejected(trace)


@pytest.mark.parametrize("last", [JOB, f"{JOB} 19", f"{JOB} ", "; Note: end", "bad", ""])
def test_no_last_newline(last: str) -> None:
    """The last line may end with the file, whatever it is."""
    with_newline, without = read(f"{JOB}\n{last}\n"), read(f"{JOB}\n{last}")
    assert with_newline.equals(without)
    assert with_newline.quarantine.to_dict() == without.quarantine.to_dict()


@pytest.mark.parametrize("count", [19, 20, 28, 32])
def test_more_than_18_fields(count: int) -> None:
    """The 18 fields are a job; what follows is kept as it stands."""
    extra = "  ".join(str(field) for field in range(19, count + 1))
    trace = read(f"{JOB}\n{JOB} {extra} \n")
    assert "1 1 0 5 60\n2 1 0 5 60" == jobs(trace)
    assert [None, extra] == [t if isinstance(t, str) else None for t in trace.jobs["extra_fields"]]


def test_text_behind_the_18th_field_may_be_anything_readable() -> None:
    """Words, punctuation and other alphabets; not what is no UTF-8."""
    text = f"{JOB} ; a, \tb\u00fc\u2003c\n".encode() + f"{JOB} ".encode() + b"\xfc\n"
    trace = read(text)
    assert ["; a, \tb\u00fc\u2003c"] == trace.jobs["extra_fields"].tolist()
    assert [(2, "the text behind the 18th field is not UTF-8")] == rejected(trace)


def test_two_lines_run_together() -> None:
    """More than 32 fields are two lines whose newline is lost: neither may be taken for a job."""
    trace = read(f"{JOB} {JOB}\n{JOB}{JOB}\n{JOB} +1 {'x ' * 14}\n{JOB}\n")
    assert "4 1 0 5 60" == jobs(trace)
    end = "fields; more than 32 are taken for two lines run together"
    glued = "field 18 (think_time): '-11' is negative (only -1, missing, may be)"
    assert [(1, f"36 {end}"), (2, glued), (3, f"33 {end}")] == rejected(trace)
    assert "extra_fields" not in trace.jobs


@pytest.mark.parametrize("count", [1, 2, 17])
def test_fewer_than_18_fields(count: int) -> None:
    """A line cut short is no job."""
    line = " ".join(JOB.split()[:count])
    trace = read(f"{JOB}\n{line}\n")
    assert "1 1 0 5 60" == jobs(trace)
    assert [(2, f"{count} field{'s' * (count > 1)} instead of 18")] == rejected(trace)
    assert [line] == trace.quarantine["text"].tolist()


def test_floats_in_integer_fields() -> None:
    """Whole numbers written as floats are read as whole; half a processor is no job."""
    trace = read(f"1.0 0.5 5 60 4.00 0.75 1.5 {REST[8:]}\n1 0 5 60 4.5 {REST[2:]}\n")
    columns = ("job_number", "submit_time", "allocated_processors", "average_cpu_time", "used_memory")
    assert "1 1 0.5 4 0.75 1.5" == jobs(trace, *columns)
    assert [(2, "field 5 (allocated_processors): '4.5' is not a whole number")] == rejected(trace)


def test_unsorted_submit_times() -> None:
    """Jobs stay in the order of the file; to sort them is for cleaning."""
    assert "1 1 50 5 60\n2 2 20 5 60\n3 3 70 5 60" == jobs(
        read(f"1 50 5 60 {REST}\n2 20 5 60 {REST}\n3 70 5 60 {REST}\n")
    )


def test_missing_submit_times() -> None:
    """A job without submit time is a job."""
    assert "1 1 - 5 60" == jobs(read(f"1 -1 5 60 {REST}\n"))


def test_duplicate_and_missing_job_numbers() -> None:
    """Numbers need not be unique, and may be missing."""
    assert "1 7 0 5 60\n2 7 9 5 60\n3 - 9 5 60" == jobs(read(f"7 0 5 60 {REST}\n7 9 5 60 {REST}\n-1 9 5 60 {REST}\n"))


def test_statuses_outside_the_list() -> None:
    """Any whole number is kept: real logs have states of their own."""
    text = "".join(f"1 0 5 60 4 -1 -1 4 90 -1 {status} 7 3 2 1 1 -1 -1\n" for status in (6, -2, 99, -1, -300, "5.0"))
    assert "1 6\n2 -2\n3 99\n4 -\n5 -300\n6 5" == jobs(read(text), "status")


def test_partial_executions() -> None:
    """The summary line of a checkpointed job and its parts are lines like others; to merge them is for cleaning."""
    lines = [(10, 0, 5, 300, 1), (10, 0, 5, 100, 2), (10, -1, 20, 150, 2), (10, -1, 9, 50, 3)]
    text = "".join(
        f"{n} {submit} {wait} {run} 4 -1 -1 4 90 -1 {s} 7 3 2 1 1 -1 -1\n" for n, submit, wait, run, s in lines
    )
    assert drawn(
        """
        1 10 0 5 300 1
        2 10 0 5 100 2
        3 10 - 20 150 2
        4 10 - 9 50 3
        """
    ) == jobs(read(text), *SWF_NAMES[:4], "status")


def test_undecodable_bytes() -> None:
    """Bytes that are no UTF-8 make a line no job, and are kept as escapes."""
    text = JOB.replace(" 60 ", " 6\xff ").encode("latin-1")
    trace = read(text + b"\n" + JOB.encode() + b"\n\xfe\xfd\n")
    assert "2 1 0 5 60" == jobs(trace)
    assert [(1, "field 4 (run_time): '6\\\\xff' is not a number"), (3, "1 field instead of 18")] == rejected(trace)
    assert [JOB.replace(" 60 ", " 6\\xff "), "\\xfe\\xfd"] == trace.quarantine["text"].tolist()


def test_headers_in_latin_1() -> None:
    """A comment that is no UTF-8 is read as Latin-1, as older logs have it; one that is, as UTF-8."""
    trace = read("; Installation: Universit\xe9\n".encode("latin-1") + "; Note: \u00fc\u4e2d\n".encode())
    assert ("Universit\xe9", ("\u00fc\u4e2d",)) == (trace.header.installation, trace.header.notes)


def test_labels_without_a_blank_and_with_parentheses() -> None:
    """``;Version:`` without a space, ``338 (batch partition; 512 total)``, ``1664 (72, 1368, 224)``."""
    header = read(
        ";Version: 2.2\n; MaxNodes: 338 (batch partition; 512 total)\n; MaxProcs: 1664 (72, 1368, 224)\n"
    ).header
    assert ("2.2", 338, 1664) == (header.version, header.max_nodes, header.max_procs)
    assert "338 (batch partition; 512 total)" == header.text("MaxNodes")


def test_comments_between_jobs() -> None:
    """They join the header in order."""
    trace = read(f"; Version: 2.2\n{JOB}\n; Note: here\n ;  the clock jumped\n{JOB}\n; odd\n")
    assert "2 1 0 5 60\n5 1 0 5 60" == jobs(trace)
    assert [("Version", "2.2"), ("Note", "here\nthe clock jumped"), (None, "odd")] == [
        (entry.label, entry.text) for entry in trace.header.entries
    ]


@pytest.mark.parametrize("text", ["", "\n", " \n\t", "\ufeff", "\r\n"])
def test_empty_files(text: str) -> None:
    """No line at all, or blank ones: no job, no header, and no error."""
    trace = read(text)
    assert (0, 0, ()) == (len(trace), len(trace.quarantine), trace.header.entries)
    assert [*SWF_NAMES, "line_number"] == list(trace.jobs)
    assert "Int64" == str(trace.jobs["job_number"].dtype)


def test_header_alone() -> None:
    """A log without jobs has a header."""
    trace = read("; Version: 2.2\n; MaxProcs: 8")
    assert (0, 0, 8) == (len(trace), len(trace.quarantine), trace.header.max_procs)


def test_byte_order_mark() -> None:
    """It is passed over, before a comment or a job; anywhere else it is damage."""
    trace = read(f"\ufeff; Version: 2.2\n{JOB}\n")
    assert ("2.2", "2 1 0 5 60") == (trace.header.version, jobs(trace))
    assert "1 1 0 5 60" == jobs(read(f"\ufeff{JOB}\n"))
    assert [(2, "field 1 (job_number): '\\ufeff1' is not a number")] == rejected(read(f"{JOB}\n\ufeff{JOB}\n"))


# ---------------------------------------------------------------- extended SWF


def test_utility_tuples() -> None:
    """Behind the Note, lines end in times and values; a line without has no function."""
    trace = read(f"; Note: {UTILITY_NOTE}\n{JOB} 0 8 60 2.5\n{JOB}\n{JOB}\t0  1e3 0.5 7 1e6 0 \r\n")
    assert [[(0, 8), (60, 2.5)], None, [(0, 1000), (0.5, 7), (1e6, 0)]] == [
        function and [(point["time"], point["value"]) for point in function]
        for function in trace.jobs["utility"].array._pa_array.to_pylist()
    ]
    assert ((), "2 1 0 5 60\n3 1 0 5 60\n4 1 0 5 60") == (trace.header.entries, jobs(trace))
    assert "extra_fields" not in trace.jobs


def test_utility_tuples_without_a_note() -> None:
    """They are text of unknown meaning, unless the caller knows better; the Note yields to the caller too."""
    text = f"{JOB} 0 8 60 2\n"
    assert ["0 8 60 2"] == read(text).jobs["extra_fields"].tolist()
    assert [2] == read(text, utility=True).jobs["utility"].list.len().tolist()
    note = HeaderEntry("Note", UTILITY_NOTE)
    assert ["0 8 60 2"] == read(f"; Note: {note.text}\n{text}", utility=False).jobs["extra_fields"].tolist()


def test_long_utility_functions() -> None:
    """Extended lines may have any number of fields."""
    points = " ".join(f"{time} {100 - time}" for time in range(100))
    trace = read(f"{JOB} {points}\n", utility=True)
    assert [100] == trace.jobs["utility"].list.len().tolist()
    assert [] == rejected(trace)


@pytest.mark.parametrize(
    ("tuples", "why"),
    [
        ("0", "has a time without a value"),
        ("0 8 60", "has a time without a value"),
        ("0 8", "has only one point; at least two are needed"),
        ("1 8 60 2", "does not begin at time 0"),
        ("0 8 0 2", "has times that do not increase"),
        ("0 8 60 5 60 2", "has times that do not increase"),
        ("0 2 60 8", "has values that increase"),
        ("0 8 60 -2", "has a negative value"),
        ("0 8 nan 2", "has a time or value that is not a finite number"),
        ("0 8 inf 2", "has a time or value that is not a finite number"),
        ("0 1e999 60 2", "has a time or value that is not a finite number"),
        ("0 8 60 x", "has a time or value that is not a finite number"),
    ],
)
def test_wrong_utility_tuples(tuples: str, why: str) -> None:
    """A line whose function breaks the form is no job; its neighbours are."""
    text = f"{JOB} 0 8 60 2\n2 0 5 60 {REST} {tuples}\n{JOB} 0 4 60 1\n{JOB}\n"
    trace = read(text, utility=True)
    assert "1 1 0 5 60\n3 1 0 5 60\n4 1 0 5 60" == jobs(trace)
    assert [(2, f"fields behind the 18th: the utility function {why}")] == rejected(trace)
    assert [f"2 0 5 60 {REST} {tuples}"] == trace.quarantine["text"].tolist()
    assert [[8.0, 2.0], [4.0, 1.0], None] == [
        function and [point["value"] for point in function]
        for function in trace.jobs["utility"].array._pa_array.to_pylist()
    ]
    with pytest.raises(SwfFormatError, match="line 2: fields behind the 18th"):
        read(text, utility=True, strict=True)


def test_rejected_lines_stand_in_the_order_of_the_file() -> None:
    """Whether a line's fields or its function are wrong."""
    trace = read(f"bad\n{JOB} 0\n{JOB}\nbad\n{JOB} 0 1 2\n", utility=True)
    assert [1, 2, 4, 5] == trace.quarantine["line_number"].tolist()
