# SPDX-License-Identifier: BSD-3-Clause
"""Dates with slashes in an inbox: what one file shows of the order of day and month holds for all, and stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipelines.history.in_memory import Books
from tests.pipelines.history.nights import SETTINGS, Site

_HEADER = "JobID|User|Partition|State|Submit|Start|End|NCPUS\n"
_ASKED = "slurm:time_zone=UTC"


def sacct(number: int, day: int, *, month: int = 3, is_day_first: bool = True) -> str:
    """Return the text of sacct of one job, which waits 600 s."""
    date = f"{day:02}/{month:02}/2024" if is_day_first else f"{month:02}/{day:02}/2024"
    return f"{_HEADER}{number}|zoe|batch|COMPLETED|{date} 01:00:00|{date} 01:10:00|{date} 02:10:00|4\n"


def put(inbox: Path, **files: str) -> None:
    """Put files into an inbox."""
    for name, text in files.items():
        (inbox / f"{name}.txt").write_text(text)


def days(books: Books) -> list[str]:
    """Return the day of each submission."""
    return [str(day) for day in books.jobs()["submit_time"].to_numpy().astype("datetime64[s]").astype("datetime64[D]")]


def test_what_one_file_shows_holds_for_all_that_come(tmp_path: Path) -> None:
    """A file of small days waits, with the remedy, until another tells; from then on such files are read at once."""
    books = Books(tmp_path / "site", _ASKED)
    put(books.inbox, a=sacct(1, 4))
    books.night()
    waits = books.state.waiting.iloc[0]
    assert (waits["file"], waits["outcome"]) == ("a.txt", "unreadable")
    assert "04/03/2024 is 4 March 2024 or 3 April 2024" in waits["reason"]
    assert "--format slurm:dates=dmy" in waits["reason"]

    put(books.inbox, b=sacct(2, 25))
    assert books.night().dates == {"slurm": "dmy"}
    assert books.state.waiting.empty
    put(books.inbox, c=sacct(3, 5))
    books.night()
    assert days(books) == ["2024-03-04", "2024-03-05", "2024-03-25"]
    assert books.jobs()["wait_time"].tolist() == [600, 600, 600]

    put(books.inbox, d=sacct(4, 25, is_day_first=False))
    books.night()
    assert len(books.jobs()) == 3
    assert "03/25/2024" in books.state.waiting["reason"].item()
    assert "other files of the same source have the day first" in books.state.waiting["reason"].item()


def test_in_one_night_the_order_of_names_does_not_matter(tmp_path: Path) -> None:
    """A file that shows the order is read behind one that needs it."""
    books = Books(tmp_path / "site", _ASKED)
    put(books.inbox, a=sacct(1, 4, is_day_first=False), b=sacct(2, 25, is_day_first=False))
    books.night()
    assert days(books) == ["2024-03-04", "2024-03-25"]
    assert books.state.waiting.empty


@pytest.mark.parametrize(("order", "day"), [("dmy", "2024-03-04"), ("mdy", "2024-04-03")])
def test_settings_may_say_it(order: str, day: str, tmp_path: Path) -> None:
    """As an option of the format."""
    books = Books(tmp_path / "site", f"{_ASKED},dates={order}")
    put(books.inbox, a=sacct(1, 4))
    assert books.night().dates == {}
    assert days(books) == [day]


@pytest.mark.slow
def test_it_stays_over_nights(tmp_path: Path) -> None:
    """The published version keeps it."""
    site = Site(tmp_path, f"log: {{format: '{_ASKED}'}}\n{SETTINGS}")
    site.put("a.txt", sacct(1, 25), header="")
    site.night()
    assert site.store.manifest(site.name, str(site.store.latest(site.name)))["dates"] == {"slurm": "dmy"}
    site.put("b.txt", sacct(2, 5), header="")
    outcome = site.night()
    assert [(row["file"], row["new"]) for row in outcome.taken] == [("b.txt", 1)]
    assert site.night().is_new is False
