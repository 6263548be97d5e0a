# SPDX-License-Identifier: BSD-3-Clause
"""The reader of Grid Engine against the slow one, on generated and damaged files, piece by piece and interpreted."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.formats.read_log import read_log
from swftools.formats.sge import kernel
from swftools.kernel import Kernel
from tests.examples import by_day, examples
from tests.formats.accounting_checks import check_same, read_in_pieces, survives
from tests.formats.mutations import mutations
from tests.formats.sge.lines import line, log
from tests.interpreted import FORMS, all_interpreted
from tests.naive import sge as slow
from tests.naive.accounting_log import check
from tests.strategies import choices

words = st.sampled_from(["run", "a:b", "7:8", "NONE", "x y", "Zoë", "", ":", "none", "1e5", "a,b=c"])
counts = st.sampled_from([0, 1, 2, 16, 999_999_999])
numbers = st.sampled_from(["0", "0.000000", "1.5", "-1", "1e3", "12345678901234567890", "1.2.3", "60.130000"])
categories = st.sampled_from(
    [
        *(
            "NONE",
            "",
            "-l h_rt=3600",
            "-l h_rt=1:00:00",
            "-u ann -l s_rt=0:59:00,h_rt=1:0:0 -pe mpi 4-8",
            "-l h_rt=INFINITY",
        ),
        *(
            "-pe mpi 2,4",
            "-l gpu=2,h_vmem=1.5G",
            "-l gpu=true",
            "-l h_rt=soon",
            "-l h_vmem=2k -pe x 4-",
            "-q a:b",
            "-pe x -3",
        ),
    ]
)
moments = st.integers(1_300_000_000, 1_300_004_000)
plain_words = words.filter(lambda word: ":" not in word)


@st.composite
def jobs(draw: Any) -> str:
    """Draw a line: mostly of a job that ran, with times in order."""
    submit, start, end = sorted(draw(st.tuples(moments, moments, moments)))
    if draw(st.booleans()) and draw(st.booleans()):
        submit, start, end = draw(st.tuples(*[st.sampled_from([0, submit, start, end, end * 10**9])] * 3))
    factor = draw(choices(1, 1, 1000))
    more = draw(choices((), (), ("NONE", "NONE", "0"), ("NONE", "ann@host", "0"), ("c", "x", "y:z:" * 9)))
    return line(
        *more,
        qname=draw(choices("all.q", "interactive", "long")),
        group=draw(plain_words),
        job_name=draw(words),
        job_number=draw(choices(1, 2, 3, 77, 9999999999, "x")),
        account=draw(choices("sge", "120", "a:b")),
        priority=draw(choices(0, -10, 1024)),
        submission_time=submit * factor,
        start_time=start * factor,
        end_time=end * factor,
        failed=draw(choices(0, 0, 0, 100, 25, 37)),
        exit_status=draw(choices(0, 0, 1, 99, 137, 143, 138, 1234567)),
        ru_wallclock=draw(choices(None, 0, "10.5")),
        project=draw(plain_words),
        slots=draw(counts),
        task_number=draw(counts),
        cpu=draw(numbers),
        category=draw(categories),
        pe_taskid=draw(choices("NONE", "NONE", "none", "1.node2", "2.node3")),
        maxvmem=draw(numbers),
        ar=draw(choices("0:0", "3:1300000000")) if more else draw(choices(None, "0:0", "0")),
    )


logs = st.lists(st.one_of(jobs(), choices("# comment\n", "\n", "x\n", "a:b\n")), max_size=12).map(
    lambda lines: log(*lines)
)


@examples(0.5)
@given(logs, choices("elapsed", "wallclock"), choices("cancelled", "failed"))
def test_as_the_slow_reader(text: bytes, run_time: str, killed: str) -> None:
    """Every job, every line that is none, and every line that is part of one."""
    options = {"run_time": run_time, "killed": killed, "group": "group", "requested_time": "soft"}
    check(slow.read(text, options), read_log(io.BytesIO(text), "sge", **options))


@examples(0.4)
@given(logs, st.integers(1, 700))
def test_in_pieces(text: bytes, chunk_bytes: int) -> None:
    """Wherever a file is cut, the same is read."""
    check_same(read_log(io.BytesIO(text), "sge"), read_in_pieces(text, "sge", chunk_bytes))


times = st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 4096))


@examples(0.5)
@given(st.lists(times, min_size=1, max_size=20))
def test_read_back(drawn: list[tuple[int, int, int, int]]) -> None:
    """What was written is what is read."""
    lines = []
    for number, (submit, wait, run, slots) in enumerate(drawn, start=1):
        when = {"submission_time": 1_300_000_000 + submit, "start_time": 1_300_000_000 + submit + wait}
        lines.append(line(**when, end_time=when["start_time"] + run, slots=slots, job_number=number))
    jobs = read_log(io.BytesIO(log(*lines)), "sge").jobs.sort_values("line_number")
    columns = ["submit_time", "wait_time", "run_time", "allocated_processors"]
    expected = np.array(drawn, float)
    expected[:, 0] -= expected[:, 0].min()
    assert expected.tolist() == jobs[columns].to_numpy(float).tolist()


SAMPLE = log(
    "# Version: 6.2u5\n",
    *(
        line(
            job_number=number,
            task_number=number % 3,
            slots=4,
            job_name="a:b" if number % 5 == 0 else "run",
            category="-l h_rt=1:00:00 -pe mpi 4" if number % 4 else "-l h_rt=3600",
            pe_taskid="1.node2" if number % 7 == 3 else "NONE",
            failed=25 if number % 9 == 0 else 0,
            owner="Zoë",
        )
        for number in [*range(1, 40), 9, 18]
    ),
)


def records_of(text: bytes) -> list[int]:
    """Return the lines that are records."""
    lines = enumerate(text.split(b"\n"), start=1)
    return [
        place
        for place, line in lines
        if len(line.rstrip(b"\r")) > 1 and not line.startswith(b"#") and slow.first_field(line.split(b":")) is not None
    ]


def test_sample() -> None:
    """The one that is damaged below is sound."""
    trace = read_log(io.BytesIO(SAMPLE))
    check(slow.read(SAMPLE), trace)
    assert len(trace.jobs) > 30


@pytest.mark.parametrize("seed", by_day(range(200), 15))
def test_damage(seed: int) -> None:
    """No record is lost, and the slow reader says the same."""
    survives(SAMPLE, "sge", seed, records_of, slow.read)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", by_day(range(10), 4))
def test_interpreted_and_checked(seed: int, form: str) -> None:
    """The scanner finds the same interpreted, compiled and with its indices checked."""
    text = mutations(SAMPLE, 1000 + seed)
    found = []
    for run in (kernel.scan, getattr(kernel.scan, form)):
        lines, *_ = kernel.find_lines(text, 1)
        for array in lines:
            array[...] = -1
        with all_interpreted(run is kernel.scan.py_func):
            count = run(text, 1, np.empty(kernel.COLONS, np.int64), lines)
        found.append([count, *(array.tolist() for array in lines)])
    assert isinstance(kernel.scan, Kernel)
    assert found[0] == found[1]


def test_more_colons_than_are_looked_at() -> None:
    """The command of Univa Grid Engine may have any number; what stands before them is read."""
    text = log(line("NONE", "ann@login", ":" * 5000, failed=1))
    assert [5] == read_log(io.BytesIO(text), "sge").jobs["status"].tolist()
    trace = read_log(io.BytesIO(log(line(job_name=":" * 5000))), "sge")
    assert ["no numbers where a line of accounting has them"] == trace.quarantine["reason"].tolist()
