# SPDX-License-Identifier: BSD-3-Clause
"""Days of a log in any format, disturbed in every way at once: the jobs are those of one delivery of all of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.formats.lsf.records import record as lsf_record
from tests.formats.sge.lines import line as sge_line
from tests.pipelines.accounting_logs import FORMAT, step
from tests.pipelines.history.in_memory import Books
from tests.pipelines.history.nights import DAY, HEADER, job

BEGIN = int(datetime(2010, 1, 1, tzinfo=UTC).timestamp())
BAD = {"empty": b"", "notes.txt": b"back on Monday\n", "cut.gz": b"\x1f\x8b\x08\x00", "caf\udce9": b"\xff\xfe\x00\x00"}
"""Files that are no logs; the name of one is no UTF-8."""


class Run(NamedTuple):
    """What a record says: the run of a job, in seconds since the first submission."""

    number: int
    submit: int
    start: int
    end: int
    again: bool = False


def _time(form: str, seconds: int) -> str:
    return datetime.fromtimestamp(BEGIN + seconds, UTC).strftime(form)


def _pbs(run: Run) -> str:
    times = (
        f"ctime={BEGIN + run.submit} qtime={BEGIN + run.submit} etime={BEGIN + run.submit} start={BEGIN + run.start}"
    )
    return (
        f"{_time('%m/%d/%Y %H:%M:%S', run.end)};E;{run.number}.srv;user=ann group=g queue=batch {times} "
        f"exec_host=n1/0+n1/1 Resource_List.walltime=01:00:00 end={BEGIN + run.end} Exit_status=0 "
        "resources_used.walltime=00:10:00\n"
    )


def _slurm(run: Run) -> str:
    times = "|".join(_time("%Y-%m-%dT%H:%M:%S", each) for each in (run.submit, run.start, run.end))
    return f"{run.number}|ann|batch|COMPLETED|{times}|4|600|\n"


def _sge(run: Run) -> str:
    times = {"submission_time": BEGIN + run.submit, "start_time": BEGIN + run.start, "end_time": BEGIN + run.end}
    return sge_line(job_number=run.number, failed=25 * run.again, **times)


def _lsf(run: Run) -> str:
    how = {"status": 32, "exit_info": 10} if run.again else {}
    times = {"submit_time": BEGIN + run.submit, "start_time": BEGIN + run.start, "event_time": BEGIN + run.end}
    return lsf_record(job_id=run.number, **times, **how)


def _swf(run: Run) -> str:
    return job(run.number, run.submit, run.start - run.submit, run.end - run.start)


def _loadleveler(run: Run) -> str:
    return step(run.number, run.submit, start=run.start - run.submit, run=run.end - run.start)


WRITERS: dict[str, tuple[str, str, Callable[[Run], str]]] = {
    "swf": ("swf", HEADER, _swf),
    "pbs:time_zone=UTC": ("pbs", "", _pbs),
    "slurm:time_zone=UTC": ("slurm", "JobID|User|Partition|State|Submit|Start|End|NCPUS|TimelimitRaw|\n", _slurm),
    "sge": ("sge", "", _sge),
    "lsf": ("lsf", "", _lsf),
    FORMAT: ("loadleveler", "", _loadleveler),
}
"""How a format is read, the head of a file, and a record of it."""

BY_DAY = ("swf", "slurm:time_zone=UTC", "sge")
"""Formats of which some days are disturbed by day: the others are disturbed at night."""

REQUEUES = ("sge", "lsf")
"""Formats in which each run of a job is a record."""


@st.composite
def months(draw: st.DrawFn, *, requeues: bool) -> list[list[Run]]:
    """Draw the records of some days, by the day on which each is written."""
    days: list[list[Run]] = [[] for _ in range(5)]
    for number in range(1, draw(st.integers(6, 14)) + 1):
        submit = 3600 * number + draw(st.integers(0, 3000))
        runs = draw(st.integers(1, 3)) if requeues else 1
        start = submit
        for turn in range(runs):
            start += draw(st.integers(5, 30_000))
            end = start + draw(st.integers(60, 40_000))
            days[min(end // DAY, 4)].append(Run(number, submit, start, end, turn < runs - 1))
            start = end
    return days


def deliver(books: Books, days: list[list[Run]], form: str, data: st.DataObject) -> None:
    """Let days arrive in any order, twice, overlapping, cut, between files that are none, over many nights."""
    _, head, write = WRITERS[form]
    order = data.draw(st.permutations(range(len(days))))
    for place, day in enumerate(order):
        runs = list(days[day])
        if day and data.draw(st.booleans()):
            runs = [*days[day - 1], *runs]
        text = (head + "".join(map(write, runs))).encode()
        for copy in range(data.draw(st.sampled_from([1, 1, 2]))):
            path = books.inbox / f"day-{day}-{copy}"
            if len(text) > len(head) + 2:
                for cut in sorted(data.draw(st.lists(st.integers(1, len(text) - 1), max_size=2))):
                    path.write_bytes(text[:cut])
                    for _ in range(data.draw(st.integers(1, 2))):
                        books.night()
            path.write_bytes(text)
        if runs and data.draw(st.booleans()):
            # A run that was told before it was over: the record of its end counts, whichever comes first.
            early = [run._replace(end=max(run.start + 1, run.end - 30)) for run in runs if not run.again]
            (books.inbox / f"early-{place}").write_bytes((head + "".join(map(write, early))).encode())
        name = data.draw(st.sampled_from(list(BAD)))
        (books.inbox / name).write_bytes(BAD[name])
        books.night()
    books.night()


def year_is_one_delivery(form: str, folder: Path, data: st.DataObject) -> None:
    """Compare the jobs of disturbed nights with those of one night in which all is there and nothing else."""
    kind, head, write = WRITERS[form]
    days = data.draw(months(requeues=kind in REQUEUES))
    at_once = Books(folder / "once", form)
    every = sorted((run for runs in days for run in runs), key=lambda run: run.end)
    (at_once.inbox / "all").write_bytes((head + "".join(map(write, every))).encode())
    at_once.night()
    expected = at_once.jobs()
    assert len(expected) == len(every)
    books = Books(folder / "nights", form)
    deliver(books, days, form, data)
    pd.testing.assert_frame_equal(books.jobs(), expected, check_exact=True)
    assert set(books.state.waiting["outcome"]) <= {"unreadable", "empty"}


_SETTINGS = settings(
    max_examples=2,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking takes minutes where each example has many nights
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.mark.parametrize(
    "form", [form if form in BY_DAY else pytest.param(form, marks=pytest.mark.slow) for form in WRITERS]
)
@_SETTINGS
@given(data=st.data())
def test_disturbed_days(form: str, tmp_path: Path, data: st.DataObject) -> None:
    """Some of each format."""
    year_is_one_delivery(form, tmp_path, data)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("form", WRITERS)
@settings(_SETTINGS, max_examples=150)
@given(data=st.data())
def test_many_disturbed_days(form: str, tmp_path: Path, data: st.DataObject) -> None:
    """Many more."""
    year_is_one_delivery(form, tmp_path, data)
