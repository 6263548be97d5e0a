# SPDX-License-Identifier: BSD-3-Clause
"""The report "our centre": figures by hand, months that are not whole, and the command that writes it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from pipelines.exit_statuses import WRONG_COMMAND
from pipelines.reports.centre import PARTS, parts_of_centre
from pipelines.reports.page import word_of, words_of
from pipelines.reports.report import NumberCell, ReportTable, Section
from pipelines.reports.table_files import write_tables
from swftools import Trace
from swftools.plots.picture import find_picture
from swftools.simulator import logged_schedule
from swftools.simulator.schedule import Schedule
from tests.on_nodes import draw_machine, draw_on_nodes

DAY = 86_400.0


def section(parts: list[Section], heading: str) -> Section:
    """Return the part of a heading."""
    return next(part for part in parts if part.heading == heading)


def rows(table: ReportTable) -> list[list[object]]:
    """Return the rows of a table, numbers as such."""
    return [[cell.value if isinstance(cell, NumberCell) else cell for cell in row] for row in table.rows]


def over_new_year() -> Schedule:
    """Return a log of three jobs on four processors: from December 31 at noon on."""
    trace = Trace.from_columns(
        machine_processors=4,
        submit_time=[0, 0, DAY],
        wait_time=[0, DAY, DAY],
        run_time=[DAY, DAY / 2, DAY],
        requested_processors=[2, 4, 1],
        requested_time=[2 * DAY, 2 * DAY, 2 * DAY],
    )
    return replace(logged_schedule(trace), origin=datetime(2023, 12, 31, 12, tzinfo=UTC))


def test_months() -> None:
    """In December 4 processor-days were submitted and 1 used, of 2 that there were until New Year."""
    table = section(parts_of_centre(over_new_year()), "By month").tables[0]
    assert table.columns[:4] == ["month", "jobs", "load, %", "utilization, %"]
    december, january = rows(table)
    assert december[:4] == ["2023-12", 2, 200.0, 50.0]
    assert january[:4] == ["2024-01", 1, pytest.approx(100 * 1 / 10), pytest.approx(100 * (1 + 2 + 1) / 10)]
    assert december[5:8] == [DAY / 2, 0.9 * DAY, DAY / 2]
    assert december[8] == 4 * 24  # the second waits for a day with all four


def test_a_log_that_does_not_say_when_it_begins() -> None:
    """It has no months and no hours; all of it stands in their place."""
    parts = parts_of_centre(replace(over_new_year(), origin=None))
    assert rows(section(parts, "By month").tables[0])[0][:2] == ["all", 3]
    assert section(parts, "When").tables == []


def test_what_is_said_first() -> None:
    """How busy, how long, for what, and whose."""
    machine = draw_machine("kind count cores / thin 2 4 / fat 1 8", {"thin": "0-1", "fat": "2"})
    table = """
        job submit start run   nodes cores partition
        A   0      0     7200  0-1   4     thin
        B   0      7200  3600  0     4     thin
        C   0      0     7200  2     8     fat
    """
    parts = parts_of_centre(replace(draw_on_nodes(table, machine), policy="logged"))
    told = section(parts, "In short").sentences
    assert told[0] == "3 jobs ran; 75.0 % of the processor time of the machine was used."
    assert told[1].startswith("33 % of the jobs waited: half of all no longer than 0 s, nine tenths no longer than 96")
    assert told[2] == "Of 2 node-hours that were waited: cores 100 %."
    assert told[3] == "By partition, thin waited most: 100 %, median 60 min."
    why = section(parts, "Why users wait")
    assert rows(why.tables[0]) == [["cores", 1, 2.0, 2.0, 100.0, "cores lack in sum"]]
    who = section(parts, "Who waits").tables
    assert [table.caption for table in who] == ["By partition", "By processors", "By time limit"]
    assert {row[0] for row in section(parts, "What the words mean").tables[0].rows} > {"wait", "fragmented", "limits"}


def in_two_partitions() -> Schedule:
    """Return a log of four jobs in two partitions that share no node."""
    machine = draw_machine("kind count cores / thin 2 4 / fat 1 8", {"thin": "0-1", "fat": "2"})
    table = """
        job submit start run   nodes cores partition
        A   0      0     7200  0-1   4     thin
        B   0      7200  3600  0     4     thin
        C   0      0     7200  2     8     fat
        D   3600   7200  3600  2     8     fat
    """
    logged = replace(draw_on_nodes(table, machine), policy="logged", origin=datetime(2024, 1, 1, tzinfo=UTC))
    return replace(logged, jobs=logged.jobs.assign(account=pd.array(["a", "b", "a", "b"], dtype="str")))


def test_every_heading_and_picture_is_explained() -> None:
    """One click from it, but for headings that are no words of the report."""
    parts = parts_of_centre(in_two_partitions())
    words = words_of(parts)
    plain = {"", "logged", "word", "meaning", "that is, at that moment"}
    for part in parts:
        for table in part.tables:
            assert {word_of(head) for head in table.columns} - set(words) <= plain, table.caption
        for picture in part.pictures:
            assert find_picture(picture.subject, picture.name).title.lower() in words
    places = [*words.values()]
    assert len({*places}) == len(places)


def test_a_partition_by_itself() -> None:
    """Its jobs only, of its own eight cores; what they waited for is what they waited for in the whole."""
    parts = parts_of_centre(in_two_partitions())
    assert [part.only for part in parts if part.only] == ["partition thin", "partition fat"]
    fat = section(parts, "Partition fat")
    assert fat.sentences[0] == "2 jobs ran."
    by_month, why, by_account, *_ = fat.tables
    assert rows(by_month)[0][:4] == ["2024-01", 2, 100.0, 100.0]
    assert rows(why) == [["cores", 1, 1.0, 1.0, 100.0, "cores lack in sum"]]
    assert [row[:2] for row in rows(by_account)] == [["b", 1], ["a", 1]]
    assert len(fat.pictures[0].subject.segments) == 2
    assert [part.only for part in parts_of_centre(over_new_year()) if part.only] == []


def test_many_partitions() -> None:
    """Those that waited most stand by themselves, in the order of the machine."""
    names = [f"p{place}" for place in range(PARTS + 2)]
    machine = draw_machine(f"kind count cores / thin {len(names)} 1", {name: str(n) for n, name in enumerate(names)})
    heads = "job submit start run nodes cores partition"
    lines = [f"{chr(65 + n)} 0 {60 * (n + 1) * (n not in (0, 4))} 60 {n} 1 {name}" for n, name in enumerate(names)]
    parts = parts_of_centre(replace(draw_on_nodes("\n".join([heads, *lines]), machine), policy="logged"))
    shown = [part.only.partition(" ")[2] for part in parts if part.only]
    assert shown == [name for n, name in enumerate(names) if n not in (0, 4)]


def test_queues_where_there_are_no_partitions() -> None:
    """Of a pool: load and utilization are of all its processors."""
    schedule = over_new_year()
    jobs = schedule.jobs.assign(queue_id=pd.array([1, 2, 1], dtype="Int64"))
    parts = parts_of_centre(replace(schedule, jobs=jobs, known_names={"queue": {1: "short"}}))
    assert [part.only for part in parts if part.only] == ["queue short", "queue 2"]
    december = rows(section(parts, "Queue short").tables[0])[0]
    assert december[:4] == ["2023-12", 1, 100.0, 50.0]


def test_tables_as_csv(tmp_path: Path) -> None:
    """A file each, in the order of the report, with times in seconds and nothing rounded."""
    parts = parts_of_centre(over_new_year())
    written = write_tables(parts, tmp_path / "tables")
    assert written == sorted((tmp_path / "tables").iterdir())
    assert len(written) == sum(len(part.tables) for part in parts)
    assert written[0].name == "01-by-month.csv"
    found = pd.read_csv(written[0])
    assert found["median wait, s"].tolist() == [DAY / 2, DAY]
    assert found["mean wait, s"].tolist() == [DAY / 2, DAY]
    assert found["load, %"].tolist() == [200.0, pytest.approx(10.0)]
    assert found["processor-hours waited"].tolist() == [96.0, 24.0]


def test_nobody_ran() -> None:
    """One sentence."""
    schedule = over_new_year()
    parts = parts_of_centre(replace(schedule, jobs=schedule.jobs[:0], segments=schedule.segments[:0]))
    assert section(parts, "In short").sentences[0] == "No job of the log ran."


def test_the_command(tmp_path: Path) -> None:
    """--machine without --policy is your centre; its file is small, and needs no network."""
    (tmp_path / "site.yaml").write_text("nodes:\n  - {kind: n, names: 'n[1-2]', cores: 4}\n")
    log = tmp_path / "log.swf"
    jobs = "\n".join(f"{n} {60 * n} {30 * n} 600 4 -1 -1 4 900 -1 1 {n % 2} 1 -1 1 1 -1 -1" for n in range(1, 9))
    log.write_text(f"; UnixStartTime: 1700000000\n; MaxProcs: 8\n{jobs}\n")
    words_given = ["report", str(log), "-o", str(tmp_path / "centre.html")]
    refused = CliRunner().invoke(main, [*words_given, "--machine", str(tmp_path / "site.yaml")])
    assert refused.exit_code == WRONG_COMMAND
    assert "does not say on which nodes jobs ran" in refused.output
    done = CliRunner().invoke(main, [*words_given, "--machine", "pool"])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "centre.html").read_text()
    assert len(page) < 1_000_000
    for words in ("Why users wait", "By user", "What the words mean", "processor-hours waited"):
        assert words in page
    linked = set(re.findall(r'class="what" href="#([^"]*)"', page))
    assert {"word-load", "word-median-wait", "word-utilization", "word-in-short"} <= linked
    assert linked <= set(re.findall(r'<tr id="([^"]*)"', page))
    csv = CliRunner().invoke(main, [*words_given, "--machine", "pool", "--tables", str(tmp_path / "tables")])
    assert csv.exit_code == 0, csv.output
    assert (tmp_path / "tables" / "01-by-month.csv").exists()
    for others in ([], ["--machine", "pool", "--policy", "fcfs"]):
        refused = CliRunner().invoke(main, [*words_given, *others, "--tables", str(tmp_path / "tables")])
        assert refused.exit_code == WRONG_COMMAND
        assert "give --machine, and no --policy" in refused.output
    wrong = CliRunner().invoke(main, [*words_given, "--machine", "pool", "--placement", "best-fit"])
    assert wrong.exit_code == WRONG_COMMAND
    assert "give --policy too" in wrong.output
