# SPDX-License-Identifier: BSD-3-Clause
"""Polls of a queue: what each row becomes, what goes to the quarantine, and the real thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from swftools.errors import LogFormatError, UnreadableLogError
from swftools.formats import read_queue_polls

HEADER = (
    "n,job_unique_id,submit_time,partition_id_x,account_id,req_cpus,state,start_time,time_limit_sec,run_time_sec,"
    "poll_time,poll_wait_sec,q_jobs_above,r_cores_above,norm_share_poll,other,q_p_a_core_run_hours,r_later"
)
SOUND = (
    "0,58123542,2021-05-03 00:10:39,46,1717,4,FAILED,2021-05-03 12:52:46,9000,25,2021-05-03 12:00:00,3166,7,9,0.5,x,"
    "1.5,8"
)


def _read(tmp_path: Path, *lines: str, header: str = HEADER):
    path = tmp_path / "polls.csv"
    path.write_text("\n".join([header, *lines]) + "\n")
    return read_queue_polls(path)


def test_a_row(tmp_path: Path) -> None:
    """Times as differences, names as text, the state under its own names; what is none of these is left out."""
    polls = _read(tmp_path, SOUND)
    row = polls.rows.iloc[0]
    assert (42561.0, 3166.0, 9000.0, 25.0, 4.0) == tuple(
        row[name] for name in ("waited", "wait_ahead", "requested_time", "run_time", "processors")
    )
    assert ("58123542", "46", "1717", "FAILED") == tuple(row[["log_id", "partition", "group", "logged_state"]])
    assert [
        "requested_time",
        "processors",
        "waited",
        "q_jobs_above",
        "r_cores_above",
        "norm_share_poll",
    ] == polls.features
    assert "other" not in polls.rows
    assert 1.5 == row["q_p_a_core_run_hours"]  # it is there; nobody knew it at the poll
    assert 0 == len(polls.quarantine)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("2021-05-03 12:00:00", "noon", "poll_time is no time"),
        ("2021-05-03 00:10:39", "", "submit_time is no time"),
        ("2021-05-03 12:52:46", "Unknown", "start_time is no time"),
        (",3166,", ",many,", "poll_wait_sec is no number"),
        ("2021-05-03 00:10:39", "2021-05-03 12:00:01", "the poll is before the submission"),
        ("2021-05-03 12:52:46", "2021-05-03 11:52:46", "the start is before the poll"),
        (",3166,", ",3168,", "poll_wait_sec is not the time from poll to start"),
    ],
)
def test_rows_that_cannot_be(old: str, new: str, told: str, tmp_path: Path) -> None:
    """Each goes to the quarantine with its line, and the others stay."""
    polls = _read(tmp_path, SOUND, SOUND.replace(old, new), SOUND)
    assert ([3], [told], 2) == (
        polls.quarantine["line_number"].tolist(),
        polls.quarantine["reason"].tolist(),
        len(polls.rows),
    )


def test_several_files(tmp_path: Path) -> None:
    """Rows one behind the other; what goes to the quarantine names its file."""
    wrong = SOUND.replace("2021-05-03 12:00:00", "noon")
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    paths[0].write_text(f"{HEADER}\n{SOUND}\n{wrong}\n")
    paths[1].write_text(f"{HEADER}\n{wrong}\n{SOUND.replace('58123542', '7')}\n")
    polls = read_queue_polls(paths)
    assert polls.rows["log_id"].tolist() == ["58123542", "7"]
    assert polls.quarantine["line_number"].tolist() == [3, 2]
    assert polls.quarantine["file"].tolist() == [str(path) for path in paths]
    assert polls.features == read_queue_polls(paths[0]).features
    with pytest.raises(UnreadableLogError, match="no file of polls is given; name at least one"):
        read_queue_polls([])


def test_all_columns(tmp_path: Path) -> None:
    """Every other column under its own name, of the rows that are sound; what is known at a poll stays the same."""
    path = tmp_path / "polls.csv"
    wrong = SOUND.replace("2021-05-03 12:00:00", "noon").replace(",x,", ",y,")
    path.write_text(f"{HEADER.replace('n,', ',', 1)}\n{wrong}\n{SOUND}\n")
    plain, polls = read_queue_polls(path), read_queue_polls(path, all_columns=True)
    assert polls.rows["other"].tolist() == ["x"]
    assert set(polls.rows) - set(plain.rows) == {"other"}
    assert polls.features == plain.features
    assert polls.rows[list(plain.rows)].equals(plain.rows)


def test_a_table_that_is_none(tmp_path: Path) -> None:
    """Columns by name; a file that is not there."""
    with pytest.raises(LogFormatError, match="no column poll_wait_sec; a table of polls has poll_time"):
        _read(tmp_path, SOUND, header=HEADER.replace("poll_wait_sec", "wait"))
    with pytest.raises(UnreadableLogError, match=r"none\.csv: cannot be read as a table of polls"):
        read_queue_polls(tmp_path / "none.csv")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(UnreadableLogError, match=r"empty\.csv: cannot be read"):
        read_queue_polls(tmp_path / "empty.csv")


def test_cedar(shared: Path) -> None:
    """The first thousand rows of Cedar: all are sound, and each waited at noon of one day."""
    polls = read_queue_polls(shared / "samples" / "modern" / "cedar_snapshot_1000.csv")
    assert (1000, 0, 1, 57) == (
        len(polls.rows),
        len(polls.quarantine),
        polls.rows["poll_time"].nunique(),
        len(polls.features),
    )
    assert not [name for name in polls.features if "run" in name or name not in polls.rows]
    assert (45727.0, 3166.0) == (
        polls.rows.loc[0, ["waited", "wait_ahead"]].sum(),
        polls.rows.loc[0, "wait_ahead"],
    )
