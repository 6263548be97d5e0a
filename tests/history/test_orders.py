# SPDX-License-Identifier: BSD-3-Clause
"""Files of any format with corrections, in any order, some of which grow: one key for each job, and the same jobs."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.logs.how_read import HowRead
from swftools.history.records import NUMBERED, file_records
from tests.examples import examples
from tests.history.test_book import QUICKLY
from tests.history.test_provisional import History
from tests.pipelines.history.test_disturbed_year import WRITERS, Run

USERS = {
    "swf": (" 1200 ", (" 1300 ", " 1400 ")),
    "pbs": ("user=ann", ("user=bob", "user=cid")),
    "slurm": ("|ann|", ("|bob|", "|cid|")),
    "sge": (":ann:", (":bob:", ":cid:")),
    "lsf": ('"ann"', ('"bob"', '"cid"')),
    "loadleveler": ("Owner: zebulon", ("Owner: bob", "Owner: cid")),
}
"""Of each format a word in every record, and what may stand in its place."""

Record = tuple[Run, int]
"""What a record says, and which other word it has: 0 for none."""


@st.composite
def deliveries(draw: st.DrawFn) -> list[list[Record]]:
    """Draw files that tell of some of the same few jobs, not all of them the same."""
    runs = [Run(n, 3600 * (n % 3), 3600 * (n % 3) + 60, 20_000 + 60 * n) for n in range(1, draw(st.integers(2, 4)) + 1)]
    chosen = st.tuples(st.sampled_from(runs), st.integers(0, 30), st.integers(0, 2))
    files = draw(
        st.lists(st.lists(chosen, min_size=1, max_size=3, unique_by=lambda one: one[0]), min_size=2, max_size=4)
    )
    return [[(run._replace(end=run.end + more // 10), word) for run, more, word in file] for file in files]


def text_of(form: str, records: Sequence[Record]) -> bytes:
    """Return a file."""
    kind, head, write = WRITERS[form]
    plain, others = USERS[kind]
    lines = [write(run) for run, _ in records]
    assert all(plain in line for line in lines)
    changed = [line.replace(plain, (plain, *others)[word], 1) for line, (_, word) in zip(lines, records, strict=True)]
    return (head + "".join(changed)).encode()


def take(history: History, form: str, records: Sequence[Record], *, continues: int = 0, is_open: bool = False) -> None:
    """Let a file be taken; of one that is open the last record may change when it goes on."""
    file = file_records(HowRead(form).read(io.BytesIO(text_of(form, records))))
    assert len(file.records) == len(records)
    known = {} if not history.months else keys_of(history)
    last = int(file.records["line_number"].max()) - 1 if is_open else 99_999
    told = history.take(file, resumes_lines=last, continues=continues)
    history.jobs_counted += told.new - told.gone
    assert told.new + told.merged == told.records == len(records)
    found = keys_of(history)
    assert len(set(found.values())) == len(found) == history.jobs_counted
    assert all(found[job] == key for job, key in known.items() if job in found)


def keys_of(history: History) -> dict[tuple[float, int], tuple[int, int]]:
    """Return the key of each job."""
    every = pd.concat(history.months.values()) if history.months else pd.DataFrame()
    runs = zip(every["submit_time"], every["record_key"], strict=True)
    return dict(zip(runs, zip(every["job_number"], every["job_occurrence"], strict=True), strict=True))


def said_of(history: History) -> list[tuple[str, ...]]:
    """Return what is said of all jobs, with names, but for the numbers that follow from the order of arrival."""
    every = pd.concat(history.months.values()).drop(
        columns=["job_number", "job_occurrence", "file_number", "line_number"]
    )
    for kind, column in NUMBERED.items():
        here = history.names[history.names["kind"] == kind]
        if len(here):
            every[column] = every[column].map(dict(zip(here["number"], here["name"], strict=True)))
    return sorted(tuple(map(str, row)) for row in every.astype(object).to_numpy())


class Counted(History):
    """A history that counts its jobs by what each file adds."""

    jobs_counted = 0


def delivered_in_any_order(form: str, files: list[list[Record]], data: st.DataObject) -> None:
    """Deliver files in order, and again in another order with some in two parts, and compare."""
    once = Counted()
    for file in files:
        take(once, form, file)
    other = Counted()
    begun: dict[int, tuple[int, int]] = {}
    order = data.draw(st.permutations([place for place in range(len(files)) for _ in range(2)]))
    for place in order:
        file = files[place]
        cut = data.draw(st.integers(1, len(file)))
        if place in begun:
            number, done = begun.pop(place)
            take(other, form, file[done - 1 :], continues=number)
        elif order.count(place) == 2:
            run, word = file[cut - 1]
            shorter = (run._replace(end=run.end - 30), word)
            take(other, form, [*file[: cut - 1], shorter], is_open=True)
            begun[place] = len(other.resumes), cut
    assert said_of(other) == said_of(once)


@pytest.mark.parametrize("form", WRITERS)
@settings(max_examples=1, deadline=None, phases=QUICKLY)
@given(files=deliveries(), data=st.data())
def test_any_delivery_with_corrections(form: str, files: list[list[Record]], data: st.DataObject) -> None:
    """Each job has a key of its own, which stays; new jobs come to all of them; and all orders agree."""
    delivered_in_any_order(form, files, data)


@pytest.mark.slow
@pytest.mark.parametrize("form", WRITERS)
@settings(examples(0.7), phases=QUICKLY)
@given(files=deliveries(), data=st.data())
def test_many_deliveries_with_corrections(form: str, files: list[list[Record]], data: st.DataObject) -> None:
    """Many more."""
    delivered_in_any_order(form, files, data)


def test_number_that_a_correction_freed() -> None:
    """A job that is corrected twice keeps its number, and a new one behind it gets the next, not that of another."""
    history = Counted()
    one, other, third, last = (Run(n, 60 * n, 60 * n + 60, 900) for n in (1, 2, 3, 4))
    take(history, "slurm:time_zone=UTC", [(one, 0), (other, 0)])
    take(history, "slurm:time_zone=UTC", [(third, 0), (one._replace(end=910), 0)], is_open=True)
    take(history, "slurm:time_zone=UTC", [(one._replace(end=920), 0), (last, 0)])
    assert history.jobs("log_id", "job_number") == [("1", 1), ("2", 2), ("3", 3), ("4", 4)]


def test_occurrence_that_is_free() -> None:
    """Of jobs of one number in SWF the first goes, and a further one does not get what another has."""
    history = Counted()
    one, other, third = (Run(7, submit, submit + 60, submit + 900) for submit in (0, 60, 120))
    take(history, "swf", [(one, 0)], is_open=True)
    take(history, "swf", [(other, 0)])
    take(history, "swf", [(third, 0)], continues=1)
    assert history.jobs("submit_time", "job_occurrence") == [(946_684_860.0, 1), (946_684_920.0, 2)]
