# SPDX-License-Identifier: BSD-3-Clause
"""Nights of a history: whatever arrives when, its bytes follow from the files alone."""

from __future__ import annotations

import gzip
import itertools
import os
from pathlib import Path

import pandas as pd
import pytest

from pipelines.history.ingest import UNFINISHED
from swftools.errors import HistoryError
from tests.pipelines.accounting_logs import step
from tests.pipelines.history.in_memory import Books
from tests.pipelines.history.nights import DAY, HEADER, SETTINGS, Site, copy_of, days, job

DAYS = days(40)
FILES = ["".join(DAYS[:3]), DAYS[3], "".join(DAYS[4:30]), "".join(DAYS[30:32]), "".join(DAYS[32:])]
"""Forty days: those about the end of the month in a file of their own."""


@pytest.fixture(scope="module")
def at_once(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Return a history of forty days, whose files came all at once."""
    return history_at_once(tmp_path_factory.mktemp("at-once"), FILES)


RUNS, ENDED = job(9001, 34 * DAY, run=-1).replace(" 1200 -1 1 ", " 1200 -1 -1 "), job(9001, 34 * DAY, run=50)
"""A job while it runs, and when it has ended."""
BEGUN = "".join(DAYS[:35]) + RUNS


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Return a history of thirty-five days, at whose end a job runs, to be copied."""
    site = Site(tmp_path_factory.mktemp("begun"))
    site.put("a.swf", BEGUN)
    site.night()
    return site


def history_at_once(folder: Path, files: list[str]) -> Site:
    """Return a history whose files came all at once."""
    site = Site(folder)
    for number, text in enumerate(files):
        site.put(f"file-{number:02d}.swf", text)
    outcome = site.night()
    assert outcome.is_new
    assert len(outcome.taken) == len(files)
    return site


def assert_same_jobs(one: Site, other: Site) -> None:
    """Assert that jobs, predictions and states are the same bytes, and coverage the same rows."""
    here, there = one.hashes(), other.hashes()
    same = [name for name in there if name.startswith(("jobs/", "wait_predictions/", "wait-state"))]
    assert len(same) == 6
    assert [name for name in same if here[name] != there[name]] == []
    coverage, expected = (pd.read_parquet(site.version() / "wait_coverage") for site in (one, other))
    pd.testing.assert_frame_equal(coverage, expected, check_exact=True)


def assert_nights_are_one(at_once: Site, folder: Path, nights: list[list[str]]) -> None:
    """Run nights of some files each, and assert that the version is, file by file, as if all had come at once."""
    site = Site(folder)
    names = (f"file-{number:02d}.swf" for number in itertools.count())
    for files in nights:
        for text in files:
            site.put(next(names), text)
        assert site.night().is_new
    assert site.hashes() == at_once.hashes()
    assert site.night().is_new is False


def test_three_nights_are_one(at_once: Site, tmp_path: Path) -> None:
    """Byte for byte: jobs, predictions, states, tables, manifest."""
    assert_nights_are_one(at_once, tmp_path, [FILES[:1], FILES[1:4], FILES[4:]])


@pytest.mark.slow
def test_a_night_for_each_file_is_one_of_all(at_once: Site, tmp_path: Path) -> None:
    """With a night for each file."""
    assert_nights_are_one(at_once, tmp_path, [[text] for text in FILES])


@pytest.mark.slow
def test_forty_nights_are_one(tmp_path: Path) -> None:
    """With a night for each day."""
    assert_nights_are_one(history_at_once(tmp_path / "at-once", DAYS), tmp_path / "nights", [[text] for text in DAYS])


def test_whole_log_has_the_same_jobs(at_once: Site, tmp_path: Path) -> None:
    """One file with all days: other provenance, the same jobs and predictions."""
    site = Site(tmp_path)
    site.put("all.swf", "".join(days(40)))
    site.night()
    assert_same_jobs(site, at_once)


def test_growing_file_is_read_on(at_once: Site, tmp_path: Path) -> None:
    """A log to which a day is added each night contributes that day."""
    site = Site(tmp_path)
    for night in (30, 40):
        site.put("log.swf", "".join(days(night)))
        outcome = site.night()
        assert [row["records"] for row in outcome.taken] == [outcome.taken[0]["new"]]
    assert [row["continues"] for row in outcome.taken] == [1]
    assert outcome.taken[0]["new"] == 10 * 12
    assert_same_jobs(site, at_once)


def test_jobs_of_a_version(at_once: Site) -> None:
    """What a user reads: all jobs in order, months in parts, times from the start of the year."""
    version = at_once.version()
    jobs = pd.read_parquet(version / "jobs")
    assert jobs["job_number"].tolist() == list(range(1, 481))
    assert jobs["submit_time"].is_monotonic_increasing
    assert jobs["submit_timestamp"].iloc[0] == pd.Timestamp("2000-01-01", tz="UTC")
    assert sorted(path.name for path in (version / "jobs").iterdir()) == [
        "part-2000-01.parquet",
        "part-2000-02.parquet",
    ]
    assert jobs["line_number"].isna().all()
    ingested = pd.read_parquet(version / "ingested")
    assert ingested["new"].tolist() == [text.count("\n") for text in FILES]
    assert at_once.store.verify("site") == []
    coverage = pd.read_parquet(version / "wait_coverage")
    of_all = coverage[coverage["queue"] == "all"].set_index("period")["jobs"]
    assert of_all["last 1 day"] == 12  # later than a day before the last submission
    assert of_all["last 30 days"] == 360
    assert of_all["all"] == of_all["2000-01"] + of_all["2000-02"]
    page = (version / "summary.md").read_text()
    assert "480 jobs of 5 files, in 2 months, until 2000-02-09 22:00:00 UTC" in page


def test_old_months_are_the_same_files(begun: Site, tmp_path: Path) -> None:
    """A night writes the month that it touches; the others are links to those of the version before.

    A job that ran, and has ended, is one, and has the later state.
    """
    site = copy_of(begun, tmp_path)
    before = site.version()
    site.put("second.swf", DAYS[35] + ENDED)
    site.night()
    tables = [pd.read_parquet(version / "jobs") for version in (before, site.version())]
    states = [table.set_index("job_number")["run_time"] for table in tables]
    assert [runs.loc[[9001]].fillna(-1).tolist() for runs in states] == [[-1], [50]]
    assert pd.read_parquet(site.version() / "ingested")["replaced"].tolist() == [0, 1]
    for table in ("jobs", "records", "quarantine", "repairs"):
        old, new = (version / table / "part-2000-01.parquet" for version in (before, site.version()))
        assert old.samefile(new)
        old, new = (version / table / "part-2000-02.parquet" for version in (before, site.version()))
        assert not old.samefile(new)
    state = "wait-state.binomial.2000-01"
    assert (before / state).samefile(site.version() / state)


def test_late_file(at_once: Site, tmp_path: Path) -> None:
    """A day of the first month comes at last: jobs and predictions are as if it had come in time."""
    site = Site(tmp_path)
    for number, text in enumerate(FILES):
        if number != 1:
            site.put(f"file-{number:02d}.swf", text)
    site.night()
    site.put("file-01.swf", FILES[1])
    outcome = site.night()
    assert [row["new"] for row in outcome.taken] == [12]
    assert_same_jobs(site, at_once)


def test_same_text_under_other_names(tmp_path: Path) -> None:
    """A copy, a compressed copy and a file that was touched are nothing new."""
    site = Site(tmp_path)
    text = "".join(days(3))
    path = site.put("log.swf", text)
    version = site.night().version
    site.put("copy.swf", text)
    (site.inbox / "log.swf.gz").write_bytes(gzip.compress(path.read_bytes()))
    os.utime(path)
    outcome = site.night()
    assert (outcome.version, outcome.is_new) == (version, False)


def test_two_files_of_one_text_in_one_night(tmp_path: Path) -> None:
    """They are one."""
    books = Books(tmp_path)
    for name in ("one.swf", "two.swf"):
        books.put(name, HEADER + "".join(days(3)))
    assert [row["new"] for row in books.night().taken] == [36]


def test_overlapping_files(tmp_path: Path) -> None:
    """Records of both are merged, and counted."""
    books = Books(tmp_path)
    books.put("a.swf", HEADER + "".join(days(3)))
    books.put("b.swf", HEADER + "".join(days(3, first=1)))
    taken = books.night().taken
    assert [(row["new"], row["merged"], row["replaced"]) for row in taken] == [(36, 0, 0), (12, 24, 0)]
    assert len(books.jobs()) == 48


def test_running_job_that_ends(tmp_path: Path) -> None:
    """The job is one, and has the later state, whichever file comes first."""
    states = [job(1, 100, run=-1).replace(" 1200 -1 1 ", " 1200 -1 -1 "), job(1, 100, run=50)]
    for order, replaced in (((0, 1), [0, 1]), ((1, 0), [0, 0])):
        books = Books(tmp_path / str(order))
        for place in order:
            books.put(f"{place}.swf", HEADER + states[place] + job(2 + place, 200))
            books.night()
        assert books.jobs()["run_time"].tolist() == [50, 600, 600]
        assert books.state.ingested["replaced"].tolist() == replaced


def test_last_line_without_an_end(tmp_path: Path) -> None:
    """It is left and told; when it has its end, it is taken; when the file stays as it is, too."""
    books = Books(tmp_path)
    text = HEADER + "".join(days(2))
    books.put("log.swf", text[:-20])
    night = books.night()
    assert [row["new"] for row in night.taken] == [23]
    assert [row["outcome"] for row in night.waiting] == [UNFINISHED]
    assert "its last line has no end" in night.waiting[0]["reason"]
    books.put("log.swf", text)
    night = books.night()
    assert [row["new"] for row in night.taken] == [1]
    assert night.waiting == []
    books.put("log.swf", text + job(99, 2 * DAY).rstrip("\n"))
    assert books.night().taken == []
    night = books.night()
    assert [row["new"] for row in night.taken] == [1]
    assert night.waiting == []
    assert books.night().taken == []


def test_bad_files_do_not_stop_the_others(tmp_path: Path) -> None:
    """Empty, foreign, broken, locked, and of another kind of clock: told, and left; the others are taken."""
    books = Books(tmp_path)
    books.put("good.swf", HEADER + "".join(days(2)))
    books.put("empty.swf", b"")
    books.put("notes.txt", b"nothing of a log\n")
    books.put("cut.swf.gz", gzip.compress((HEADER + "".join(days(5))).encode())[:-30])
    books.put("relative.swf", "; MaxProcs: 64\n" + days(1, first=9)[0])
    books.put(".hidden.swf", HEADER + "".join(days(1, first=7)))
    (books.inbox / "folder").mkdir()
    night = books.night()
    assert [row["file"] for row in night.taken] == ["good.swf"]
    told = {row["file"]: (row["outcome"], row["reason"]) for row in night.waiting}
    assert set(told) == {"empty.swf", "notes.txt", "cut.swf.gz", "relative.swf"}
    assert told["empty.swf"][0] == "empty"
    assert "looks like none of the known formats" in told["notes.txt"][1]
    assert "truncated or corrupt" in told["cut.swf.gz"][1]
    assert "does not say when it begins" in told["relative.swf"][1]
    again = books.night()
    assert (again.taken, again.waiting) == ([], night.waiting)
    for name in ("empty.swf", "notes.txt", "cut.swf.gz", "relative.swf"):
        (books.inbox / name).unlink()
    night = books.night()
    assert (night.taken, night.waiting) == ([], [])


def test_rejected_lines_and_what_is_cleaned_away(tmp_path: Path) -> None:
    """Lines that are no jobs are kept with file and line; what cleaning removes as SWF, in seconds of the history."""
    site = Site(tmp_path)
    site.put("a.swf", days(1)[0] + "no job\n")
    wide = job(50, 2 * DAY - 10).replace(" 4 -1 -1 4 ", " 128 -1 -1 128 ")
    site.put("b.swf", days(1, first=1)[0] + "no job either\n" + wide)
    site.night()
    rejected = pd.read_parquet(site.version() / "rejected")
    assert rejected[["file_number", "line_number", "text"]].values.tolist() == [
        [1, 16, "no job"],
        [2, 16, "no job either"],
    ]
    (row,) = pd.read_parquet(site.version() / "quarantine").to_dict("records")
    assert row["rule"] == "wider-than-machine"
    assert row["text"].startswith("50 172790 5 600 128 ")


def test_jobs_before_the_history_begins(tmp_path: Path) -> None:
    """They are left, with the remedy; which works."""
    site = Site(tmp_path)
    site.put("a.swf", days(1)[0])
    site.night()
    site.put("old.swf", job(900, 100), header="; MaxProcs: 64\n; UnixStartTime: 915148800\n")
    outcome = site.night()
    assert "its first job is of 1999-01-01" in outcome.waiting[0]["reason"]
    assert "begins: 1999-01-01" in outcome.waiting[0]["reason"]
    site.settings.write_text(site.settings.read_text() + "begins: 1999-01-01\n")
    outcome = site.night()
    assert outcome.waiting == []
    jobs = pd.read_parquet(site.version() / "jobs")
    assert jobs["submit_time"].iloc[:2].tolist() == [100.0, 365.0 * DAY]


def test_other_settings_make_all_anew(begun: Site, tmp_path: Path) -> None:
    """Rules change: months are made anew from the records, without the files."""
    site = copy_of(begun, tmp_path)
    (site.inbox / "a.swf").unlink()
    site.settings.write_text(site.settings.read_text() + "augment: {speedup: {}}\n")
    assert site.night().is_new
    jobs = pd.read_parquet(site.version() / "jobs")
    assert len(jobs) == 35 * 12 + 1
    assert "minimum_processors" in jobs


def test_other_options_of_the_replay(begun: Site, tmp_path: Path) -> None:
    """All months are replayed again; the jobs stay the same files."""
    site, fresh = copy_of(begun, tmp_path), Site(tmp_path / "b", SETTINGS.replace("training: 5", "training: 9"))
    fresh.put("a.swf", BEGUN)
    before = site.version()
    site.settings.write_text(fresh.settings.read_text())
    assert site.night().is_new
    fresh.night()
    assert site.hashes() == fresh.hashes()
    part = "jobs/part-2000-01.parquet"
    assert (before / part).samefile(site.version() / part)


def test_accounting_logs(tmp_path: Path) -> None:
    """Daily exports of sacct that overlap, with jobs that run at midnight: each job once, names with their numbers."""
    head = "JobID|User|Partition|State|Submit|Start|End|NCPUS|TimelimitRaw\n"

    def line(number: int, user: str, state: str, hour: int) -> str:
        end = f"2024-01-0{1 + (hour + 2) // 24}T{(hour + 2) % 24:02d}:00:00" if state == "COMPLETED" else "Unknown"
        return f"{number}|{user}|batch|{state}|2024-01-01T{hour:02d}:00:00|2024-01-01T{hour:02d}:30:00|{end}|4|600\n"

    site = Site(tmp_path, "log: {format: 'slurm:time_zone=UTC', processors: 64}\n")
    site.put("1.txt", (head + line(1, "zoe", "COMPLETED", 1) + line(2, "anna", "RUNNING", 23)).encode())
    site.night()
    ended = [line(3, "ben", "COMPLETED", 5), line(1, "zoe", "COMPLETED", 1), line(2, "anna", "COMPLETED", 23)]
    site.put("2.txt", (head + "".join(ended)).encode())
    outcome = site.night()
    ingested = pd.read_parquet(site.version() / "ingested")
    assert ingested[["records", "new", "merged", "not_ended"]].values.tolist() == [[2, 1, 0, 1], [3, 2, 1, 0]]
    jobs = pd.read_parquet(site.version() / "jobs")
    assert jobs["log_id"].tolist() == ["1", "3", "2"]
    names = pd.read_parquet(site.version() / "names")
    assert names[names["kind"] == "user"]["name"].tolist() == ["zoe", "ben", "anna"]
    assert jobs["user_id"].tolist() == [1, 2, 3]
    assert jobs["job_number"].tolist() == [1, 2, 3]
    assert outcome.waiting == []


def test_record_that_is_half_there(tmp_path: Path) -> None:
    """A record of several lines that is cut off is rejected, and read again when the file has grown."""
    books = Books(tmp_path, "loadleveler:time_zone=UTC,processors_per_node=1")
    whole = (step(1, 100) + step(2, 200)).encode()
    cut = whole.index(b"Completion Date", whole.rindex(b"=== Job Step"))
    books.put("log.txt", whole[: whole.rindex(b"\n", 0, cut) + 1])
    (row,) = books.night().taken
    assert (row["new"], row["quarantined"]) == (1, 1)
    assert len(books.state.tables["rejected"]) == 1
    books.put("log.txt", whole)
    (row,) = books.night().taken
    assert (row["new"], row["merged"], row["quarantined"]) == (1, 0, 0)
    assert len(books.jobs()) == 2
    assert books.state.tables["rejected"].empty


def test_names_that_are_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user is the same in all files, no id is kept, and overlapping exports are merged; another key is refused."""
    monkeypatch.setenv("SWFTOOLS_ANONYMISE_KEY", "a secret")
    head = "JobID|User|Partition|State|Submit|Start|End|NCPUS|TimelimitRaw\n"
    lines = [
        f"{number}|{user}|batch|COMPLETED|2024-01-01T0{number}:00:00|2024-01-01T0{number}:10:00|2024-01-01T0{number}:30:00|4|60\n"
        for number, user in enumerate(["zoe", "anna", "zoe", "ben"], start=1)
    ]
    settings = "log: {format: 'slurm:time_zone=UTC', processors: 64, anonymise: hash}\n"
    site = Site(tmp_path, settings)
    site.put("1.txt", (head + "".join(lines[:2])).encode())
    site.night()
    site.put("2.txt", (head + lines[3] + "".join(lines[1:3])).encode())
    site.night()
    jobs = pd.read_parquet(site.version() / "jobs")
    assert len(jobs) == 4
    assert jobs["log_id"].isna().all()
    assert jobs["user_id"].tolist() == [1, 2, 1, 3]
    text = b"".join(path.read_bytes() for path in site.version().rglob("*") if path.is_file())
    assert not any(name in text for name in (b"zoe", b"anna", b"ben", b"a secret"))
    monkeypatch.setenv("SWFTOOLS_ANONYMISE_KEY", "another secret")
    site.put("3.txt", (head + lines[0]).encode())
    with pytest.raises(HistoryError, match="not what it was when the history was begun"):
        site.night()


@pytest.mark.parametrize("method", ["binomial", pytest.param("gradient-boosting", marks=pytest.mark.slow)])
def test_month_of_which_no_job_started(tmp_path: Path, method: str) -> None:
    """A month that begins with a cancelled job is a month, also as the first one; what is known goes on behind it."""
    cancelled = job(9000, 31 * DAY + 50, wait=-1, run=-1).replace(" -1 1 0 ", " -1 5 0 ")
    settings = SETTINGS.replace("waits:", f"waits:\n  methods: [{method}]") + "policies: {names: [easy], seeds: 1}\n"
    site, at_once = Site(tmp_path / "a", settings), Site(tmp_path / "b", settings)
    for each in (site, at_once):
        each.put("a.swf", cancelled)
    site.night()
    assert (pd.read_parquet(site.version() / "wait_coverage")["known"] == 0).all()
    later = "".join(days(2, first=31))
    for each in (site, at_once):
        each.put("b.swf", "".join(days(31)))
        each.put("c.swf", later)
    site.night()
    at_once.night()
    kept = ("jobs/", "wait_predictions/", "wait-state")
    here, there = ({n: h for n, h in each.hashes().items() if n.startswith(kept)} for each in (site, at_once))
    assert here == there


def test_another_chance(begun: Site, tmp_path: Path) -> None:
    """Limits of all months are those of the settings, also of months that did not change."""
    site, fresh = copy_of(begun, tmp_path), Site(tmp_path / "b", SETTINGS + "  chance: 0.2\n")
    fresh.put("a.swf", BEGUN)
    site.settings.write_text(fresh.settings.read_text())
    site.night()
    fresh.night()
    assert site.hashes() == fresh.hashes()
