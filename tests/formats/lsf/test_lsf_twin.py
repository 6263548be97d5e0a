# SPDX-License-Identifier: BSD-3-Clause
"""The reader of lsb.acct against the slow one, on generated and damaged files, piece by piece and interpreted."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.formats.lsf import kernel
from swftools.formats.read_log import read_log
from tests.examples import by_day, examples
from tests.formats.accounting_checks import check_same, read_in_pieces, survives
from tests.formats.lsf.records import RESERVATION, log, record, resize
from tests.formats.mutations import mutations
from tests.interpreted import FORMS, all_interpreted
from tests.naive import lsf as slow
from tests.naive.accounting_log import check
from tests.strategies import choices

words = st.sampled_from(["run", 'a"b', '""', "", " ", "Zoë", "x y", '"', "5"])
hosts = st.lists(st.sampled_from(["host1", "16*host1", "16*host2", "host2", "", "*x", "0*y", "3*"]), max_size=4)
moments = st.integers(1_400_000_000, 1_400_000_900)
usages = st.sampled_from(
    [None, [], ["host1 1 0 2 3 0"], ["h 1 0 2 3 1 7 x", "i 1 0 2 3 0"], ["h 1 0 2 3", "i 1 0 2 3"]]
)
pairs = st.lists(st.tuples(st.integers(1, 2000), words), max_size=2)


@st.composite
def jobs(draw: Any) -> str:
    """Draw a record: mostly of a job that ran, with times in order."""
    submit, start, end = sorted(draw(st.tuples(moments, moments, moments)))
    if draw(st.booleans()) and draw(st.booleans()):
        submit, start, end = draw(st.tuples(*[st.sampled_from([0, submit, start, end, -5, 10**11])] * 3))
    return record(
        version=draw(choices("5.1", "9.11", "10.108")),
        asked=draw(hosts),
        hosts=draw(hosts),
        usage=draw(usages),
        pairs=draw(pairs),
        run_limit=draw(choices(-1, 0, 60, 43200)),
        later=draw(choices(True, True, False)),
        submit_time=submit,
        start_time=start,
        event_time=end,
        begin_time=draw(choices(0, 0, 1_400_000_300)),
        job_id=draw(choices(1, 2, 3, 77, 10**12)),
        idx=draw(choices(0, 0, 1, 5)),
        num_processors=draw(choices(0, 1, 4)),
        max_processors=draw(choices(0, 4, 8)),
        user=draw(words),
        command=draw(words),
        depend_cond=draw(choices("", "", "done(1)", "2", 'done("x")')),
        status=draw(choices(64, 64, 32, 32, 192, 16)),
        exit_info=draw(choices(0, 0, 1, 5, 8, 10, 14, 27, 30, 31, -1)),
        exit_status=draw(choices(0, 9, 65280, -1, 70000)),
        utime=draw(choices(-1.0, 0.0, 17.25)),
        max_rmem=draw(choices(-1, 0, 2048)),
    )


resizes = st.builds(resize, choices(1, 2, 3), choices(0, 1))
logs = st.lists(st.one_of(jobs(), resizes, choices(RESERVATION, "\n", "x\n")), max_size=10).map(
    lambda records: log(*records)
)


@examples(0.5)
@given(logs, choices("project", "charged-account"), choices("command", "app", "job-name"))
def test_as_the_slow_reader(text: bytes, group: str, executable: str) -> None:
    """Every job, every line that is none, and every line that is part of one."""
    options = {"group": group, "executable": executable}
    check(slow.read(text, options), read_log(io.BytesIO(text), "lsf", **options))


@examples(0.4)
@given(logs, st.integers(1, 1500))
def test_in_pieces(text: bytes, chunk_bytes: int) -> None:
    """Wherever a file is cut, the same is read."""
    check_same(read_log(io.BytesIO(text), "lsf"), read_in_pieces(text, "lsf", chunk_bytes))


times = st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 4096))


@examples(0.5)
@given(st.lists(times, min_size=1, max_size=15))
def test_read_back(drawn: list[tuple[int, int, int, int]]) -> None:
    """What was written is what is read."""
    records = []
    for number, (submit, wait, run, slots) in enumerate(drawn, start=1):
        start = 1_400_000_000 + submit + wait
        when = {"submit_time": 1_400_000_000 + submit, "start_time": start, "event_time": start + run}
        records.append(record(**when, hosts=[f"{slots}*host1"], job_id=number))
    found = read_log(io.BytesIO(log(*records)), "lsf").jobs.sort_values("line_number")
    columns = ["submit_time", "wait_time", "run_time", "allocated_processors"]
    expected = np.array(drawn, float)
    expected[:, 0] -= expected[:, 0].min()
    assert expected.tolist() == found[columns].to_numpy(float).tolist()


SAMPLE = log(
    *(
        record(
            job_id=number,
            idx=number % 3,
            asked=["host9"] * (number % 2),
            hosts=["host1"] * number if number % 4 else ["16*host1", "16*host2"],
            status=32 if number % 5 == 0 else 64,
            exit_info=10 if number % 10 == 0 else 0,
            command='echo "x"',
            user="Zoë",
            later=number % 6 != 0,
        )
        + (resize(number + 1, (number + 1) % 3) if number % 7 == 0 else "")
        + (RESERVATION if number % 8 == 0 else "")
        for number in [*range(1, 30), 10, 20]
    )
)


def records_of(text: bytes) -> list[int]:
    """Return the lines that are not empty."""
    return [place for place, line in enumerate(text.split(b"\n"), start=1) if line.strip(b" \t\r")]


def test_sample() -> None:
    """The one that is damaged below is sound."""
    trace = read_log(io.BytesIO(SAMPLE))
    check(slow.read(SAMPLE), trace)
    assert (29, 6, 3) == (len(trace.jobs), len(trace.merged), len(trace.quarantine))


@pytest.mark.parametrize("seed", by_day(range(200), 15))
def test_damage(seed: int) -> None:
    """No record is lost, and the slow reader says the same."""
    survives(SAMPLE, "lsf", seed, records_of, slow.read)


ENDS = [b'"', b'"JOB_FINISH"', b'"JOB_FINISH" "', b'"JOB_FINISH" ""', b'"JOB_FINISH" "a""', b"\n", b" ", b""]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", [*by_day([mutations(SAMPLE, seed) for seed in range(1000, 1010)], 3), *ENDS], ids=len)
def test_interpreted_and_checked(text: bytes, form: str) -> None:
    """The scanner finds the same interpreted, compiled and with its indices checked."""
    found = []
    for run in (kernel.scan, getattr(kernel.scan, form)):
        lines, _ = kernel.find_lines(text, 1)
        for array in lines:
            array[...] = -1
        lines.slots[:], lines.hosts[:] = 0, 0
        with all_interpreted(run is kernel.scan.py_func):
            count = run(text, 1, kernel.COLUMN_OF_FIELD, kernel.IS_STRING, lines)
        found.append([count, *(array.tolist() for array in lines)])
    assert found[0] == found[1]


@pytest.mark.parametrize("text", [b'"' * 3000, b'"" ' * 3000, b" " * 3000, b'"JOB_FINISH" ' + b"9999999999 " * 3000])
def test_text_without_end(text: bytes) -> None:
    """Any bytes are read in one pass."""
    assert len(read_log(io.BytesIO(text), "lsf").jobs) == 0
