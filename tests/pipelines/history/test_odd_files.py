# SPDX-License-Identifier: BSD-3-Clause
"""Files that are odd, wrong, too large or another machine's: each is taken or told, and none keeps the others out."""

from __future__ import annotations

import gc
import gzip
import os
import weakref
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pipelines.cli.history import status_of
from pipelines.history import monthly_files
from pipelines.history.horizon import Horizon, Month, horizon_of
from pipelines.history.inbox import Arrival, Inbox, NewPart, shown
from pipelines.history.settings import read_settings
from swftools import read_log
from swftools.errors import ParameterError
from swftools.formats.swf.format import Swf
from swftools.history.copies import without_copies
from swftools.history.records import file_records
from tests.pipelines.history.in_memory import Books
from tests.pipelines.history.nights import DAY, HEADER, SETTINGS, Site, days, job

_SACCT = "JobID|User|Partition|State|Submit|Start|End|NCPUS|TimelimitRaw\n"
_PBS = (
    "{end};E;{number}.host;user=zoe group=g jobname=j queue=q ctime=1704067200 qtime=1704067200 etime=1704067200 "
    "start=1704067210 exec_host=n1/0 Resource_List.walltime=01:00:00 session=1 end=1704067300 Exit_status=0 "
    "resources_used.walltime=00:01:30\n"
)


def sacct(number: int, end: str = "2024-01-01T01:30:00", width: int = 4) -> str:
    """Return a line of sacct."""
    return f"{number}|zoe|batch|COMPLETED|2024-01-01T01:00:00|2024-01-01T01:10:00|{end}|{width}|60\n"


def test_name_that_is_not_utf_8(tmp_path: Path) -> None:
    """The jobs of a good log are taken, and its name is told escaped; of a bad one too."""
    site = Site(tmp_path)
    text = (HEADER + days(1)[0]).encode()
    for name, content in ((b"caf\xe9.swf", text), (b"b\xe4d.txt", b"nothing of a log\n"), (b"\xc2\xb2.swf", b"")):
        Path(os.fsdecode(os.fsencode(site.inbox) + b"/" + name)).write_bytes(content)
    outcome = site.night()
    assert [(row["file"], row["new"]) for row in outcome.taken] == [("caf\\xe9.swf", 12)]
    assert [row["file"] for row in outcome.waiting] == ["b\\xe4d.txt", "².swf"]
    assert status_of(outcome) == 4
    assert "caf\\\\xe9.swf" in (site.version() / "summary.md").read_text()
    assert site.night().is_new is False


def test_names_as_they_are_shown() -> None:
    """What could move a cursor or begin a line is escaped."""
    assert shown("a b é.swf") == "a b é.swf"
    assert shown("x\nfinding: y\x1b[2J\udce9") == "x\\nfinding: y\\x1b[2J\\xe9"


@pytest.mark.parametrize("zone", ["America/Chicago", "Europe/Berlin", "UTC"])
def test_year_9999(zone: str, tmp_path: Path) -> None:
    """A date that is no date: its line is rejected with the reason, by the reader and by a history."""
    slurm = (_SACCT + sacct(1, "9999-12-31T23:59:59") + sacct(2)).encode()
    pbs = (_PBS.format(end="12/31/9999 23:59:59", number=1) + _PBS.format(end="01/01/2024 00:01:40", number=2)).encode()
    for kind, text in (("slurm", slurm), ("pbs", pbs)):
        path = tmp_path / f"{kind}.log"
        path.write_bytes(text)
        trace = read_log(path, kind, time_zone=zone)
        assert "2" in trace.jobs["log_id"].iloc[-1]
        books = Books(tmp_path / kind, f"{kind}:time_zone={zone}")
        (books.inbox / "log").write_bytes(text)
        books.night()
        assert len(books.jobs()) == len(trace.jobs) >= 1
        assert books.state.waiting.empty
    assert "End is no time" in read_log(tmp_path / "slurm.log", "slurm", time_zone=zone).quarantine["reason"].item()


@pytest.mark.parametrize("start", ["10000000001", "250000000000"])
def test_start_behind_the_last_year(start: str, tmp_path: Path) -> None:
    """A file that begins in the year 2286 or later is left with the reason; the others are taken."""
    books = Books(tmp_path)
    (books.inbox / "far.swf").write_text(f"; UnixStartTime: {start}\n" + job(1, 0) + job(2, 50))
    (books.inbox / "good.swf").write_text(HEADER + job(3, 0))
    night = books.night()
    assert [row["file"] for row in night.taken] == ["good.swf"]
    (row,) = night.waiting
    assert (row["file"], row["outcome"]) == ("far.swf", "unreadable")
    assert "line 2: submitted after the year 2286" in row["reason"]


def test_whatever_a_file_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is left with what was raised, and taken once it can be read; a full memory is no file's fault."""
    read = Swf.read

    def raising(self: Swf, files: Any, how: Any) -> Any:
        if files.name == "bad.swf":
            raise raised
        return read(self, files, how)

    raised: BaseException = ZeroDivisionError("what\nnobody thought of")
    books = Books(tmp_path)
    for name in ("bad.swf", "good.swf"):
        (books.inbox / name).write_text(HEADER + job(len(name), 0))
    with monkeypatch.context() as patch:
        patch.setattr(Swf, "read", raising)
        night = books.night()
        assert [row["file"] for row in night.taken] == ["good.swf"]
        (row,) = night.waiting
        assert row["outcome"] == "unreadable"
        assert row["reason"].startswith("ZeroDivisionError: what nobody thought of (at reading it)")
        for raised in (MemoryError(), KeyboardInterrupt()):
            with pytest.raises(type(raised)):
                books.night()
    assert [row["file"] for row in books.night().taken] == ["bad.swf"]


def test_files_that_would_fill_the_memory(tmp_path: Path) -> None:
    """A file of more new text than the limit is left, and says how to allow more; one that grows counts what is new."""
    books = Books(tmp_path)
    books.most_bytes = 40_000
    (books.inbox / "bomb.swf.gz").write_bytes(gzip.compress(HEADER.encode() + bytes(10_000_000)))
    log = books.inbox / "log.swf"
    for count in (30, 60):
        log.write_text(HEADER + "".join(days(count)))
        night = books.night()
        assert [row["file"] for row in night.taken] == ["log.swf"]
        (row,) = night.waiting
        assert (row["file"], row["outcome"]) == ("bomb.swf.gz", "unreadable")
        assert "more than 40,000 bytes of new text; if it is sound, allow more by log: most_bytes:" in row["reason"]
    assert log.stat().st_size > 40_000
    books.most_bytes = 1 << 29
    (books.inbox / "bomb.swf.gz").unlink()
    (books.inbox / "more.swf").write_text(HEADER + "".join(days(60, first=60)))
    assert [row["new"] for row in books.night().taken] == [720]


def test_copies_within_a_file(tmp_path: Path) -> None:
    """Lines that repeat others are counted as merged, and none is a job; jobs that only look alike stay."""
    books = Books(tmp_path / "swf")
    (books.inbox / "log.swf").write_text(HEADER + 5 * days(1)[0] + job(1, 0, run=7))
    (row,) = books.night().taken
    assert [row[name] for name in ("records", "new", "merged", "quarantined")] == [61, 13, 48, 0]
    books = Books(tmp_path / "slurm", "slurm:time_zone=UTC")
    (books.inbox / "log").write_text(_SACCT + sacct(1) + sacct(2) + sacct(1))
    (row,) = books.night().taken
    assert (row["new"], row["records"]) == (2, 3)
    withheld = read_log(books.inbox / "log", "slurm", time_zone="UTC", anonymise="hash", key="secret")
    assert without_copies(file_records(withheld))[1] == 0


def found(site: Site, kind: str) -> list[str]:
    """Return the findings of a kind after a night."""
    return [each.message for each in site.night().findings if each.kind == kind]


def test_another_machine(tmp_path: Path) -> None:
    """A file that says another size or computer is told, as long as it is of late; so are jobs that are too wide."""
    site = Site(tmp_path / "a")
    site.put("a.swf", "".join(days(5)), header=HEADER + "; Computer: IBM SP2\n")
    assert found(site, "machine") == []
    other = HEADER.replace("64", "1024") + "; Computer: Cray T3E\n"
    site.put("b.swf", days(1, first=5)[0], header=other)
    says = "is it of another machine?"
    assert found(site, "machine") == [
        f"b.swf: says 1,024 processors, and the files of most jobs say 64; {says}",
        f"b.swf: says Cray T3E as the machine, and the files of most jobs say IBM SP2; {says}",
    ]
    site.put("c.swf", "".join(days(5, first=41)), header=HEADER + "; Computer: IBM SP2\n")
    assert found(site, "machine") == []
    given = Site(tmp_path / "b", SETTINGS + "log: {processors: 64}\n")
    given.put("a.swf", days(1)[0] + job(99, 80_000).replace(" 4 -1 -1 4 ", " 128 -1 -1 128 "), header=other)
    assert found(given, "machine") == [
        f"a.swf: says 1,024 processors, and the settings say 64; {says}",
        f"a.swf: a job of 128 processors, and the machine has 64; {says}",
    ]


@pytest.mark.slow
def test_job_of_another_century(tmp_path: Path) -> None:
    """It is told, and the last days stay those of the other jobs; a longer gap may be allowed."""
    site = Site(tmp_path)
    site.put("a.swf", "".join(days(40)))
    site.night()
    before = pd.read_parquet(site.version() / "wait_coverage")
    site.put("far.swf", job(999, 99 * 365 * DAY))
    assert found(site, "date") == [
        "far.swf: a job of 2098-12-07, and no other within 365 days of 2000-02-09, where the history is taken to end; "
        "if the date is right, allow a longer gap by longest_gap: in the settings"
    ]
    after = pd.read_parquet(site.version() / "wait_coverage")
    lately = ["last 1 day", "last 30 days"]
    for period in lately:
        same = [table[table["period"] == period].reset_index(drop=True) for table in (before, after)]
        pd.testing.assert_frame_equal(*same, check_exact=True)
    assert "until 2000-02-09 22:00:00 UTC" in (site.version() / "summary.md").read_text()
    site.settings.write_text(site.settings.read_text() + "longest_gap: 36500\n")
    assert found(site, "date") == []
    assert "until 2098-12-07" in (site.version() / "summary.md").read_text()


def test_where_a_history_ends() -> None:
    """Behind few jobs only if a gap is longer than the limit and those behind it are fewer than one in a hundred."""
    many, gap = Month(0.0, 10 * DAY, 1000), 365 * DAY
    assert horizon_of([], gap) == Horizon(0.0)
    assert horizon_of([many], gap) == Horizon(10 * DAY)
    far = Month(375 * DAY + 1, 376 * DAY, 9)
    assert horizon_of([many, far], gap) == Horizon(10 * DAY, 9, 375 * DAY + 1)
    assert horizon_of([many, far._replace(first=375 * DAY)], gap) == Horizon(376 * DAY)
    assert horizon_of([many, far._replace(jobs=10)], gap) == Horizon(376 * DAY)
    farther = Month(9e8, 9e8, 1)
    assert horizon_of([many, far, farther], gap) == Horizon(376 * DAY, 1, 9e8)
    assert horizon_of([many, far._replace(jobs=8), farther], gap) == Horizon(10 * DAY, 9, 375 * DAY + 1)
    with pytest.raises(ParameterError, match="longest_gap"):
        read_settings(None, {"inbox": "x", "longest_gap": 30})


def test_one_text_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a file is read, nothing of the text of those before it is held."""
    new_part, parts = Inbox.new_part, []

    def watched(self: Inbox, arrival: Arrival, context: int) -> NewPart | None:
        gc.collect()
        assert [part for part in parts if part() is not None] == []
        found = new_part(self, arrival, context)
        parts.append(weakref.ref(found))
        return found

    monkeypatch.setattr(Inbox, "new_part", watched)
    books = Books(tmp_path)
    for number, text in enumerate(days(3)):
        (books.inbox / f"{number}.swf").write_text(HEADER + text)
    gc.freeze()  # what other tests left need not be gone through for each file
    assert len(books.night().taken) == len(parts) == 3


def test_months_that_wait_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as are allowed are held in memory, whichever was used last; the others come back as they were."""
    found = []
    for most in (10**6, 30):
        monkeypatch.setattr(monthly_files, "MOST_ROWS", most)
        books = Books(tmp_path / str(most))
        texts = days(90, jobs=4)
        for number in range(6):
            (books.inbox / f"{number * 5 % 6}.swf").write_text(HEADER + "".join(texts[15 * number : 15 * number + 15]))
        night = books.night()
        found.append(books.state.table("records"))
        held = list(night.book._months._held)  # type: ignore[attr-defined]
        assert len(held) == (3 if most > 30 else 1)
        late = days(1, first=90)[0] + job(5000, 5) + job(5001, 32 * DAY)
        (books.inbox / "late.swf").write_text(HEADER + late)
        books.night()
        found.append(books.state.table("records"))
    pd.testing.assert_frame_equal(found[0], found[2], check_exact=True)
    pd.testing.assert_frame_equal(found[1], found[3], check_exact=True)
    assert len(found[1]) == len(found[0]) + 14
