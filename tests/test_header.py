# SPDX-License-Identifier: BSD-3-Clause
"""Headers: every label of SWF 2.2, what real logs make of them, and back to the same lines."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import SwfHeader, read_swf
from swftools.errors import SwfFormatError
from swftools.header import KNOWN_LABELS, UTILITY_NOTE, HeaderEntry
from tests.strategies import comment_lines, headers

COMPLETE = """
; Version: 2.2
; Computer: IBM SP2
; Installation: San Diego
; Acknowledge: Ada
; Acknowledge: Bob
; Information: http://x.org/log
;              http://y.org/log
; Conversion: Cyd (cyd@x.org) 01 Jan 2012
; Copyright: The Regents
;   All rights reserved.
; MaxJobs: 120
; MaxRecords: 130
; Preemption: Double
; UnixStartTime: 956700003
; TimeZone: -28800
; TimeZoneString: US/Pacific
; StartTime: Tue Apr 25 15:00:03 PDT 2000
; EndTime:   Wed Jan 01 03:25:42 PST 2003
; MaxNodes: 184  ( 6,  171,   7)
; MaxProcs: 1664 (72, 1368, 224)
; MaxRuntime: 64800 (18 hours)
; MaxMemory: 4194304
; AllowOveruse: No
; MaxQueues: 2
; Queues: by priority
; Queue:  0 interactive
; Queue: 10  batch   (36 hours)
; MaxPartitions: 1
; Partitions: none to speak of
; Partition:  1  all nodes
; Note: first
; Note: second
""".strip().splitlines()


def test_every_label_of_swf() -> None:
    """Each has a property, or its texts by name; repeated and continued lines are kept."""
    header = SwfHeader.from_lines(COMPLETE)
    expected = {
        "version": "2.2",
        "computer": "IBM SP2",
        "installation": "San Diego",
        "acknowledgements": ("Ada", "Bob"),
        "information": ("http://x.org/log\nhttp://y.org/log",),
        "conversion": "Cyd (cyd@x.org) 01 Jan 2012",
        "copyright": "The Regents\nAll rights reserved.",
        "max_jobs": 120,
        "max_records": 130,
        "preemption": "Double",
        "unix_start_time": 956700003,
        "start": datetime(2000, 4, 25, 22, 0, 3, tzinfo=UTC),
        "time_zone": -28800,
        "time_zone_name": "US/Pacific",
        "start_time": "Tue Apr 25 15:00:03 PDT 2000",
        "end_time": "Wed Jan 01 03:25:42 PST 2003",
        "max_nodes": 184,
        "max_procs": 1664,
        "max_runtime": 64800,
        "max_memory": 4194304,
        "allow_overuse": False,
        "queues": {0: "interactive", 10: "batch   (36 hours)"},
        "partitions": {1: "all nodes"},
        "notes": ("first", "second"),
        "has_utility": False,
    }
    assert expected == {name: getattr(header, name) for name in expected}
    assert (2, 1) == (header.integer("MaxQueues"), header.integer("MaxPartitions"))
    assert ("by priority", "none to speak of") == (header.text("Queues"), header.text("Partitions"))
    assert {entry.label for entry in header.entries} == KNOWN_LABELS


def test_an_empty_header_knows_nothing() -> None:
    """Whatever is asked for is None or empty."""
    header = SwfHeader()
    properties = [name for name, value in vars(SwfHeader).items() if isinstance(value, property)]
    assert len(properties) > 20
    assert {None, (), False} == {() if getattr(header, name) == {} else getattr(header, name) for name in properties}
    assert [] == header.to_lines()


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        (";Version:2", "version", "2"),
        (";;; Version : 2 ", "version", "2"),
        (" \t; VERSION: 2", "version", "2"),
        ("; maxprocs: 8", "max_procs", 8),
        ("; MaxProcs: 338 (batch partition; 512 total)", "max_procs", 338),
        ("; MaxProcs: +8", "max_procs", 8),
        ("; MaxProcs: 8.5", "max_procs", None),
        ("; MaxProcs: about 8", "max_procs", None),
        ("; MaxProcs:", "max_procs", None),
        ("; MaxProcs: -1", "max_procs", None),
        ("; MaxProcs: 0", "max_procs", 0),
        ("; MaxProcs: 123456789012345678", "max_procs", 123456789012345678),
        ("; MaxProcs: 1234567890123456789", "max_procs", None),
        ("; MaxProcs: \u0663", "max_procs", None),
        ("; MaxRuntime: -1", "max_runtime", None),
        ("; TimeZone: -1", "time_zone", -1),
        ("; UnixStartTime: 0", "start", None),
        ("; UnixStartTime: -5", "start", None),
        ("; UnixStartTime: 999999999999999", "start", None),
        ("; UnixStartTime: 956700003.0", "unix_start_time", 956700003),
        ("; AllowOveruse: yes (by 10 %)", "allow_overuse", True),
        ("; Queue: normal 3", "queues", {}),
        ("; Queue: 3", "queues", {3: ""}),
        ("; Queue: 3rd one", "queues", {}),
        (f"; Note: {UTILITY_NOTE}", "has_utility", True),
        (f"; Information: {UTILITY_NOTE}", "has_utility", False),
    ],
)
def test_a_line_and_what_it_says(line: str, name: str, value: Any) -> None:
    """Whole numbers, -1 as unknown, labels in any case."""
    assert value == getattr(SwfHeader.from_lines([line]), name)


def test_the_first_of_a_repeated_label_counts() -> None:
    """Where SWF has one value for a label, and a queue one name."""
    header = SwfHeader.from_lines(["; MaxProcs: 8", "; MaxProcs: 9", "; Queue: 1 a", "; Queue: 1 b"])
    assert (8, {1: "a"}, ("8", "9")) == (header.max_procs, header.queues, header.texts("MaxProcs"))


@pytest.mark.parametrize(
    ("lines", "entries"),
    [
        (["; Note: a", ";   b", ";      c"], [("Note", "a\nb\nc")]),
        (["; Note: a", "; b"], [("Note", "a"), (None, "b")]),
        (["; Note: a", ";", ";   b"], [("Note", "a"), (None, ""), (None, "b")]),
        (["; Note: a", ";   Site: b"], [("Note", "a\nSite: b")]),
        (["; Note: a", "; Site: b"], [("Note", "a"), ("Site", "b")]),
        (["; Note: a", ";   MaxProcs: 8"], [("Note", "a"), ("MaxProcs", "8")]),
        (["; Note: a", ";   http://x.org"], [("Note", "a\nhttp://x.org")]),
        (["; http://x.org"], [(None, "http://x.org")]),
        (["; two words: x"], [(None, "two words: x")]),
        (["; 2nd: x"], [(None, "2nd: x")]),
        (["; My-Label_2: x"], [("My-Label_2", "x")]),
        ([";   Site: b"], [("Site", "b")]),
        (["; free", ";   Site: b"], [(None, "free"), ("Site", "b")]),
        (["; free", ";   more"], [(None, "free"), (None, "more")]),
        ([";"], [(None, "")]),
        ([";;; ;x"], [(None, ";x")]),
        (["; Note:"], [("Note", "")]),
        (["; Note:", ";   a"], [("Note", "\na")]),
    ],
)
def test_labels_continuations_and_free_comments(lines: list[str], entries: list[tuple[str | None, str]]) -> None:
    """Which comment is what; nothing is lost, and all of it can be written again."""
    header = SwfHeader.from_lines(lines)
    assert entries == [(entry.label, entry.text) for entry in header.entries]
    assert header == SwfHeader.from_lines(header.to_lines())


@given(headers())
def test_a_header_reads_back_as_it_was_written(header: SwfHeader) -> None:
    """Known and unknown labels, repeated and continued lines, free comments."""
    assert header == SwfHeader.from_lines(header.to_lines())


comments = st.lists(comment_lines.map(lambda line: line.decode("latin-1")) | st.text(max_size=12).map(";{}".format))


@given(comments)
def test_whatever_was_read_can_be_written(lines: list[str]) -> None:
    """Any comments make a header, and unless they hold what no line can, one that reads back."""
    lines = [line.replace("\n", "").replace("\r", "") for line in lines]
    lines = [line.encode("utf-8", "replace").decode() for line in lines]
    header = SwfHeader.from_lines(lines)
    assert header == SwfHeader.from_lines(header.to_lines())


@given(comments, st.integers(0, 5))
def test_a_header_read_in_parts_is_the_whole(lines: list[str], cut: int) -> None:
    """Also where a part begins with a line that continues the last entry of the one before."""
    assert SwfHeader.from_lines(lines) == SwfHeader.from_lines(lines[:cut]).extended(lines[cut:])


def test_entries_that_cannot_be_written_are_named() -> None:
    """The message says which, and what to do."""
    entry = HeaderEntry("Note", "a\nNote: b")
    with pytest.raises(SwfFormatError, match=r"header entry HeaderEntry\(label='Note', text='a\\nNote: b'\) .*reword"):
        SwfHeader((HeaderEntry("Version", "2.2"), entry)).to_lines()


def test_entries_are_added_and_taken_out() -> None:
    """A header is never changed, but copied with an entry more or less."""
    header = SwfHeader.from_lines(["; Version: 2.2"])
    longer = header.with_entry("Note", "a").with_entry("Note", "b")
    assert ((), ("a", "b"), ("b",)) == (header.notes, longer.notes, longer.without_note("a").notes)


def test_long_headers_are_read_in_one_go() -> None:
    """A hundred thousand lines that continue one another are joined once, not one by one."""
    header = SwfHeader.from_lines(["; Note: a", *[";   b"] * 100_000])
    assert "a" + "\nb" * 100_000 == header.notes[0]


def test_the_header_of_the_shipped_log(shipped_log: Path) -> None:
    """A real one, with the notes of the excerpt behind it."""
    header = read_swf(shipped_log).header
    assert (1152, 144, 250440) == (header.max_procs, header.max_nodes, header.max_jobs)
    assert datetime(2000, 4, 25, 22, 0, 3, tzinfo=UTC) == header.start
    assert ("interactive", "legion", 24) == (header.queues[0], header.queues[23], len(header.queues))
    assert ("Travis Earheart and Nancy Wilkins-Diehr",) == header.acknowledgements
    assert header.notes[0].startswith("THIS IS A CLEANED VERSION OF THE LOG!\nThe filters used")


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "procs", "nodes", "jobs", "queues", "copyright_lines"),
    [
        ("SDSC-BLUE-2000-4.2-cln", 1152, 144, 250440, 24, None),
        ("CTC-SP2-1996-3.1-cln", 338, 338, 79302, 4, None),
        ("SDSC-DS-2004-2.1-cln", 1664, 184, 96089, 21, 12),
        ("SDSC-SP2-1998-4.2-cln", 128, 128, 73496, 7, 13),
        ("KTH-SP2-1996-2.1-cln", 100, 100, 28490, 0, None),
    ],
)
def test_the_headers_of_the_five_logs(
    shared: Path, name: str, procs: int, nodes: int, jobs: int, queues: int, copyright_lines: int | None
) -> None:
    """Numbers with remarks behind them, tables of queues, and copyright notices of many lines."""
    header = read_swf(shared / "traces" / f"{name}.swf.gz").header
    lines = header.copyright and header.copyright.count("\n") + 1
    assert (procs, nodes, jobs, queues, copyright_lines) == (
        header.max_procs,
        header.max_nodes,
        header.max_jobs,
        len(header.queues),
        lines,
    )
