# SPDX-License-Identifier: BSD-3-Clause
"""Generated logs are read back as they were written, the slow reader agrees, pieces of any size are as good as one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.formats.accounting.records import Records, Stretch
from swftools.formats.slurm import Slurm, documents, kernel, lines
from tests.examples import by_day, examples
from tests.formats.slurm.told import HEADER, assert_same, in_chunks, read, row, told
from tests.formats.slurm.written import NEEDED, OPTIONAL, ZONE, Drawn, logs, sacct_json, sacct_text, truth
from tests.interpreted import FORMS, all_interpreted
from tests.naive.slurm import jobs_in_documents, read_sacct

SAMPLE = (Path(__file__).parent / "sacct.txt").read_bytes()
CHUNKS = [1, 2, 3, 7, 60, 200, 1000]
columns_in_any_order = st.lists(st.sampled_from(OPTIONAL), unique=True).flatmap(
    lambda some: st.permutations([*NEEDED, *some])
)


@pytest.fixture(autouse=True, scope="module")
def _without_host_lists() -> Iterator[None]:
    """The slow reader counts no hosts, and the library that does need not be there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "hostlist", None)
        yield


def without(jobs: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    """Return jobs without some of what is said of them."""
    return [{name: value for name, value in job.items() if name not in names} for job in jobs]


@examples(0.5)
@given(logs(), st.sampled_from(["", "|"]), st.sampled_from(["\n", "\r\n"]), st.randoms())
def test_text_is_read_back(log: list[Drawn], tail: str, end: str, random: Any) -> None:
    """With all columns, in any order; each line of the text is a job, part of one, or in the quarantine."""
    columns = [*NEEDED, *OPTIONAL, "JobName"]
    random.shuffle(columns)
    text = sacct_text(log, columns, tail=tail, end=end)
    trace = read(text, time_zone=ZONE)
    assert without(told(trace), "line_number") == [truth(job) for job in log if job.is_job]
    lines = [*trace.jobs["line_number"], *trace.merged["line_number"], *trace.quarantine["line_number"]]
    assert sorted(lines) == list(range(2, 1 + len(text.splitlines())))


@examples(0.5)
@given(logs(), st.sampled_from([None, 0, 3]))
def test_json_is_read_back(log: list[Drawn], indent: int | None) -> None:
    """The same jobs as JSON say the same."""
    trace = read(sacct_json(log, indent), time_zone=None)
    found = sorted(without(told(trace), "line_number"), key=lambda job: str(job["log_id"]))
    assert found == [truth(job) for job in log if job.is_job]
    assert len(trace.quarantine) == sum(not job.is_job for job in log)


@examples(0.5)
@given(logs(), columns_in_any_order, st.booleans())
def test_naive_reader_agrees(log: list[Drawn], columns: list[str], has_name: bool) -> None:
    """On any set of columns."""
    data = sacct_text(log, [*columns, "JobName"] if has_name else columns).encode()
    trace = read(data, time_zone=ZONE)
    jobs, bad, merged = read_sacct(data, ZONE)
    assert told(trace) == jobs
    assert trace.quarantine["line_number"].tolist() == bad
    assert trace.merged["line_number"].tolist() == merged


def test_naive_reader_agrees_on_the_sample() -> None:
    """Which has what generated logs have not."""
    trace = read(SAMPLE, time_zone="America/Los_Angeles")
    jobs, bad, merged = read_sacct(SAMPLE, "America/Los_Angeles")
    assert told(trace) == jobs
    assert (trace.quarantine["line_number"].tolist(), trace.merged["line_number"].tolist()) == (bad, merged)


@examples(0.15)
@given(logs(), columns_in_any_order, columns_in_any_order, st.sampled_from(CHUNKS))
def test_chunks_of_text(
    tmp_path_factory: pytest.TempPathFactory, log: list[Drawn], one: list[str], other: list[str], chunk_bytes: int
) -> None:
    """Two files joined, with other columns each, and lines that belong to nothing."""
    tmp_path = tmp_path_factory.mktemp("chunks")
    text = sacct_text(log, one) + "sacct: a message\n" + sacct_text(log[::-1], other)
    data = f"{text}\n{text}".encode()
    assert_same(read(data, time_zone=ZONE), in_chunks(data, tmp_path, chunk_bytes, time_zone=ZONE))


@pytest.mark.parametrize("chunk_bytes", by_day(CHUNKS[::-1], 1))
def test_chunks_of_the_sample(tmp_path: Path, chunk_bytes: int) -> None:
    """Also where the option says what stands in it, and without a newline at the end."""
    zone = "America/Los_Angeles"
    for data, columns in (
        (SAMPLE, None),
        (SAMPLE.rstrip(), None),
        (SAMPLE.partition(b"\n")[2], SAMPLE.splitlines()[0]),
    ):
        options = {"time_zone": zone, "columns": columns.decode() if columns else None}
        assert_same(read(data, **options), in_chunks(data, tmp_path, chunk_bytes, **options))


def test_a_job_stays_with_its_steps() -> None:
    """Texts are parted in front of a job or a header, also where the id is not the first column."""
    columns = "User|JobID|State|Submit|Start|End|NCPUS\n"
    lines = [columns, *(f"u|{each}|COMPLETED|a|b|c|1\n" for each in ("1", "1.batch", "2.5", "3_1", "3_1.0", "3_1.1"))]
    ends = np.cumsum([len(line) for line in lines])
    part = Slurm().parting()
    assert [part("".join(lines[:count]).encode()) for count in range(1, 8)] == [
        *(0, ends[0], ends[0], ends[0], ends[3], ends[3], ends[3])
    ]
    # What the header said is known behind it, and a later header counts anew.
    assert part("".join(lines[4:]).encode()) == 0
    again = "".join([*lines[4:], "JobID|State\n", "9|5\n", "9.1|5\n"])
    assert part(again.encode()) == again.index("9|5")


documents_like = st.lists(
    st.sampled_from(
        ["{", '{"jobs": [', '"jobs"', "{", "}", "[", "]", '"', ",", ":", "\\", "\n", " ", "x", '{"a": "b"}', "]}"]
    ),
    max_size=30,
).map(lambda words: "".join(words).encode())


def fully(scan: Any, text: bytes, layout: Any) -> list[Any]:
    """Return all that a scanner finds in a text behind its header."""
    from swftools.formats.slurm.columns import COLUMNS, NONE_TABLE, OF_LOOSE, TAKES_NONE  # noqa: PLC0415

    rows = kernel.room_for(text.count(b"\n") + 1, len(COLUMNS), len(OF_LOOSE))
    place = kernel.Place(*(np.array([value], np.int64) for value in (text.index(b"\n") + 1, 2, 0, 0, 0, 0)))
    scan(text, *layout, TAKES_NONE, NONE_TABLE, OF_LOOSE, np.empty(layout.fields + 1, np.int64), rows, place)
    counts = {"stray": place.strays[0], "step": place.steps[0], "rss": place.steps[0], "cpu": place.steps[0]}
    counts["loose"] = place.loose[0]
    found = [
        each[..., : counts.get(name.split("_")[0], place.jobs[0])].tolist() for name, each in rows._asdict().items()
    ]
    return [*found, [each.tolist() for each in place]]


_OF_SEVERAL_LINES = [
    *("7|sbatch a|C|s|s|e|1|x", "7.0|srun a|C|s|s|e|1|x", "goes on", "8.0|srun a|C|s|s|e|1|x", "12 goes on", ""),
    *("8|sbatch", "a|C|s|s|e|1|x", "9|sbatch", "10|sbatch|C|s|s|e|1|x", "sacct: error", "11|x", "b"),
]
_TABLES = [
    'JobID,State,Submit,Start,End,NCPUS,TRES\n7,"a,""b",s,s,e,1,"c"\n7.0,"a,s,s,e,1,cpu=1,mem=2,n[1,2]\n8,a,s,s,e,1,x=1,x=2',
    "JobID;State;Submit;Start;End;NCPUS;\n7;a;s;s;e;1;\n7.0;a;s;s;e;1\n8;a;s;s;e;1;;;\n",
    "JobID\tState\tSubmit\tStart\tEnd\tNCPUS\tJobName\n7\ta\ts\ts\te\t1\t\n7.1\t\t\t\t\t\t\r",
    "State||Submit||JobID||Start||End||NCPUS\na||s||7||s||e||1\na||s||7.0||s||e|1\n|||||||||\n",
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("end", ["\n", ""])
def test_interpreted_equals_compiled(end: str, form: str) -> None:
    """And neither reads outside of the text."""
    from swftools.formats.slurm.columns import layout_of_header  # noqa: PLC0415

    ids = ("7", "7.0", "8.0", "9_[1-3]", "9_1x", "9_", "9_12", "9_1+2", "9_1+x", "+1", "x", "")
    rows = [HEADER, *(row(JobID=each) for each in ids)]
    plain = "\n".join([*rows, "1|2", "|", "7", row(JobID=7), HEADER, "7"]) + end
    free = "\n".join(["JobID|SubmitLine|State|Submit|Start|End|NCPUS|Comment", *_OF_SEVERAL_LINES]) + end
    for text in (SAMPLE, plain.encode(), free.encode(), *(table.encode() + end.encode() for table in _TABLES)):
        layout = layout_of_header(text.splitlines()[0], "")
        compiled = fully(kernel.scan, text, layout)
        with all_interpreted(form == "py_func"):
            assert compiled == fully(getattr(kernel.scan, form), text, layout)
        for cut in range(0, len(text), 13):
            for known in ((-1, b"|", False), (0, b"|", False), (0, b",", True)):
                given = (text[:cut], 0, *known, np.empty(known[0] + 2, np.int64))
                found = lines.last_start(*given)
                with all_interpreted(form == "py_func"):
                    assert found == getattr(lines.last_start, form)(*given)


def assert_same_found(data: bytes, form: str) -> None:
    """Assert that the scanner of JSON finds the same compiled and in another form."""
    found = []
    for find in (documents._find.compiled, getattr(documents._find, form)):
        state = documents.new_state()
        out = [np.zeros(data.count(b"{") + 1, np.int64) for _ in range(2)]
        out += [np.zeros(data.count(b"\n") + 1, np.int64) for _ in range(2)]
        found.append(([*map(int, find(data, state, *out))], [each.tolist() for each in out], state.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("form", FORMS)
@given(st.binary(max_size=80) | documents_like, st.integers(0, 80))
def test_documents_interpreted_equal_compiled(form: str, data: bytes, place: int) -> None:
    """On any bytes, in one piece and in two."""
    assert_same_found(data, form)
    whole = [data[begin:end] for begin, end in zip(*documents.find_jobs(data, documents.new_state())[:2], strict=True)]
    state = documents.new_state()
    left_open = documents.find_jobs(data, state).open_at
    assert [*whole, *([data[left_open:]] if left_open >= 0 else [])] == jobs_in_documents(data)
    state = documents.new_state()
    first = documents.find_jobs(data[:place], state)
    rest = first.open_at if first.open_at >= 0 else min(place, len(data))
    second = documents.find_jobs(data[rest:], state)
    parts = [data[begin:end] for begin, end in zip(first.begin, first.end, strict=True)]
    parts += [data[rest:][begin:end] for begin, end in zip(second.begin, second.end, strict=True)]
    assert parts == whole


@given(st.binary(max_size=300))
def test_any_bytes_end(data: bytes) -> None:
    """The scanner reads any bytes to the end, and every line that is not blank is accounted for."""
    records = list(
        Slurm(columns=HEADER.replace("JobName", "Comment"), time_zone="UTC").records([Stretch(data, 1, True)])
    )
    assert len(records) == 1
    found: Records = records[0]
    lines = [*found.line.tolist(), *found.merged_line.tolist(), *(each.line for each in found.rejects)]
    blank = {
        number
        for number, line in enumerate(data.split(b"\n"), 1)
        if not line.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r")
    }
    assert sorted(lines) == [number for number in range(1, data.count(b"\n") + 2) if number not in blank]


def test_repeats_in_another_chunk(tmp_path: Path) -> None:
    """A record that repeats one of an earlier piece is merged into its job, with its steps."""
    lines = [HEADER, row(JobID=8), row(), row(JobID="7.0"), row(), row(JobID="7.0"), ""]
    trace = in_chunks("\n".join(lines).encode(), tmp_path, 1)
    assert trace.merged[["line_number", "job_number", "into_line_number"]].to_numpy().tolist() == [
        *([4, 2, 3], [5, 2, 3], [6, 2, 3])
    ]
