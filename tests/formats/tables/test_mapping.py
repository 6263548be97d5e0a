# SPDX-License-Identifier: BSD-3-Clause
"""A table of the user's own: mappings that are read, proposed, and refused."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from pipelines.logs.how_read import HowRead
from swftools import Trace, iter_log, read_log
from swftools.errors import LogFormatError, ParameterError, UnreadableLogError
from swftools.formats.tables.columns import Column, column
from swftools.formats.tables.mapping_proposal import propose_mapping
from tests.formats.tables.made import WITH_HEADER, as_dicts, as_json_lines, as_typed_parquet, example, parquet

ROWS = (
    "Id|Who|Queued|Begun|Over|Minutes|Nodes|Each|Share|Mem GB|How\n"
    "# a note\n"
    "1|anna|1700000000000|1700000060000||2.5|2|64|150|8|ok\n"
    "2|bo|1700000001500||1700000002000|||64||-1|dropped\n"
    "3|bo|1700000002000|1700000062000|1700000122000|||16|25|-1|going\n"
)
MAPPING = """
title: Quarry
columns:
  log_id: Id
  user: [Nobody, Who]
  submit: {column: Queued, unit: ms}
  start: {column: Begun, unit: ms}
  end: {column: Over, unit: ms}
  run_time: {column: Minutes, unit: min}
  allocated_nodes: Nodes
  allocated_processors: {column: Nodes, times: [Each]}
  requested_gpus: {column: Share, unit: percent, round_up: true}
  requested_memory: {column: Mem GB, unit: GB, of: job}
  state: How
states: {ok: 1, Dropped: 5, going: not ended}
missing: [-1]
separator: "|"
comment: "#"
notes: [made for a test]
"""


def read(folder: Path, mapping: str, rows: str | bytes = ROWS) -> Trace:
    """Read rows by a mapping."""
    path = folder / "mine.yaml"
    path.write_text(mapping, encoding="utf-8")
    text = rows if isinstance(rows, bytes) else rows.encode()
    return read_log(io.BytesIO(text), "table", mapping=str(path))


def test_a_mapping(tmp_path: Path) -> None:
    """Units, products, shares, missing values, states and notes are as it says."""
    trace = read(tmp_path, MAPPING)
    jobs = trace.jobs
    assert jobs["submit_time"].tolist() == [0, 1.5]
    assert jobs["wait_time"].tolist()[0] == 60
    assert jobs["run_time"].tolist()[0] == 150
    assert jobs["allocated_processors"].tolist()[0] == 128
    assert jobs["requested_gpus"].tolist()[0] == 2
    assert jobs["exact_gpus"].tolist()[0] == 1.5
    assert jobs["requested_memory"].tolist()[0] == 8 * 2**20 / 128
    assert jobs["status"].tolist() == [1, 5]
    assert jobs["logged_state"].tolist() == ["ok", "dropped"]
    assert trace.quarantine["reason"].tolist() == ["not ended: 'going'"]
    assert trace.quarantine["line_number"].tolist() == [5]
    assert "from Quarry (table:mapping=" in "\n".join(trace.header.to_lines())
    assert "made for a test" in trace.header.to_lines()[-1]


def test_other_words_of_a_mapping(tmp_path: Path) -> None:
    """A header that is told, times without dates, waits, durations of hours and minutes, memory of each node."""
    mapping = """
columns:
  submit: {column: a, unit: s}
  wait_time: b
  run_time: {column: c, unit: text}
  allocated_nodes: d
  allocated_processors: {column: e, of: node}
  used_memory: {column: f, unit: MiB, of: node}
  dependency: {column: g}
dates: false
header: [a, b, c, d, e, f, g]
"""
    jobs = read(tmp_path, mapping, "7,3,01:00:05,2,8,64,\n9,1,0:30,1,4,64,x y\n").jobs
    assert jobs["submit_time"].tolist() == [0, 2]
    assert jobs["wait_time"].tolist() == [3, 1]
    assert jobs["run_time"].tolist() == [3605, 30]
    assert jobs["allocated_processors"].tolist() == [16, 4]
    assert jobs["used_memory"].tolist() == [64 * 1024 * 2 / 16, 64 * 1024 / 4]
    assert jobs["dependency"].tolist()[1] == "x y"


def test_json_that_is_deep(tmp_path: Path) -> None:
    """A name with dots leads into objects; lists are words with blanks between."""
    rows = '{"t": {"q": 1700000000, "s": 1700000009}, "w": 5, "n": ["a", "b"]}\n{"t": {"q": 1700000001}, "w": 5}\n'
    mapping = "columns: {submit: {column: t.q, unit: s}, start: {column: t.s, unit: s}, run_time: w, dependency: n}\n"
    trace = read(tmp_path, mapping, rows)
    assert trace.jobs["wait_time"].tolist() == [9]
    assert trace.jobs["dependency"].tolist() == ["a b"]
    assert trace.quarantine["reason"].tolist() == ["a run time without a start"]


@pytest.mark.parametrize(
    ("mapping", "told"),
    [
        ("columns: {submit: [", "not readable as YAML"),
        ("columns: {submit: Queued}\ncolumns: {submit: Queued}", "line 2: not readable as YAML: found duplicate key"),
        (
            "columns: {submit: Queued}\ndates: mdd",
            "dates='mdd' is not true or false, nor the order of dates: dmy, mdy, ymd",
        ),
        ("- a", "it must have keys, such as columns"),
        ("column: {submit: Queued}", "column"),
        ("columns: {}", "no columns: say which is which"),
        ("columns: {start: Begun}", "nothing is mapped to submit"),
        ("columns: {submit: Queued, strat: Begun}", "no 'strat' in jobs; there are submit"),
        ("columns: {submit: {column: Queued, unit: fortnight}}", "submit: unit='fortnight' is not one of text, s, ms"),
        ("columns: {submit: {unit: s}}", "submit: no column="),
        ("columns: {submit: {column: Queued, units: s}}", "units"),
        ("columns: {submit: {column: Queued, needed: often}}", "needed='often' is not true or false"),
        ("columns: {submit: {column: {a: b}}}", "is not a text, nor a list of texts"),
        (
            "columns: {submit: Queued, used_memory: {column: M, of: rack}}",
            "used_memory: of='rack' is not one of processor",
        ),
        ("columns: {submit: Queued, state: How}", "states says of none what it means"),
        ("columns: {submit: Queued, state: How}\nstates: {ok: 9}", "ok=9 is not a status of SWF"),
        ("columns: {submit: Queued}\ndates: maybe", "dates='maybe' is not true or false"),
        ("columns: {submit: Queued}\nseparator: ab", "separator='ab' is not one letter"),
        ("columns: {submit: Queued}\ntitle: [a]", "title=['a'] is not a text"),
        ("columns: {submit: Queued}\nstates: [a]", "states must be keys and values"),
    ],
)
def test_mappings_that_are_refused(tmp_path: Path, mapping: str, told: str) -> None:
    """The error names the file, and what is wrong in it."""
    with pytest.raises(ParameterError) as caught:
        read(tmp_path, mapping)
    assert told in str(caught.value)
    assert "mine.yaml" in str(caught.value)


def test_a_mapping_that_is_not_there(tmp_path: Path) -> None:
    """Nor is a folder one, nor a large file."""
    with pytest.raises(ParameterError, match="check the path"):
        read_log(io.BytesIO(b""), "table", mapping=str(tmp_path / "none.yaml"))
    (tmp_path / "big.yaml").write_bytes(b"a" * 2_000_000)
    with pytest.raises(ParameterError, match="is it the table itself"):
        read_log(io.BytesIO(b""), "table", mapping=str(tmp_path / "big.yaml"))


def test_a_mapping_that_changes_is_read_anew_and_is_another_version(tmp_path: Path) -> None:
    """What a stage's key says follows the content of the file."""
    keys = []
    for unit in ("min", "h"):
        trace = read(tmp_path, MAPPING.replace("unit: min", f"unit: {unit}"))
        keys.append(HowRead(f"table:mapping={tmp_path / 'mine.yaml'}").key)
        assert trace.jobs["run_time"].tolist()[0] == {"min": 150, "h": 9000}[unit]
    assert keys[0]["format"] == keys[1]["format"]
    assert keys[0] != keys[1]
    assert "mapping_sha256" not in HowRead("nrel").key


def test_a_column_has_short_words() -> None:
    """As formats declare them."""
    told = column("a", "b", times="c", missing="-1", round_up=True, needed=True)
    assert told == Column(("a", "b"), times=("c",), missing=("-1",), is_rounded_up=True, is_needed=True)
    assert told.in_words == "`a` or `b` times `c` (rounded up; missing: -1)"


_NOT_COLUMNS_ALONE = {"gwf-workflows", "supercloud", "spot-gpu", "openb", "openb-requests", "collected"}
"""What a mapping cannot declare; of collected, that jobs which run are jobs; that openb-requests has no times."""


@pytest.mark.parametrize("name", sorted({*WITH_HEADER} - _NOT_COLUMNS_ALONE))
def test_proposals_read_the_tables_that_are_known(name: str, tmp_path: Path) -> None:
    """What is proposed is read as it is, and finds the submissions, waits and run times that the format finds."""
    options = {"alcf": {"time_zone": "UTC"}}.get(name, {"time_zone": "UTC"} if name != "opendc" else {})
    expected = read_log(io.BytesIO(example(name)), name, **options)
    proposal = propose_mapping(io.BytesIO(example(name)))
    trace = read(tmp_path, proposal.text, example(name))
    for column_name in ("submit_time", "wait_time", "requested_processors"):
        if column_name != "requested_processors" or name in ("nrel", "opendc"):
            told = trace.jobs[column_name].tolist()
            assert told == pytest.approx(expected.jobs[column_name].tolist(), nan_ok=True), proposal.text
    assert all(f"# UNSURE {each}" in proposal.text for each in proposal.unsure)


def test_what_a_proposal_is_unsure_of() -> None:
    """Zones, units of limits, states, several candidates, no width."""
    header = "id,submit_time,queued_time,start_time,end_time,timelimit,status\n"
    rows = "1,2024-01-01 00:00:00,2024-01-01 00:00:00,2024-01-01 00:00:01,2024-01-01 00:01:00,60,weird\n"
    proposal = propose_mapping(io.BytesIO((header + rows).encode()))
    told = "\n".join(proposal.unsure)
    for word in (
        "submit: 'submit_time' was taken; it may be queued_time",
        "requested_time: 'timelimit'",
        "'weird' was taken",
    ):
        assert word in told
    assert "time_zone: dates have no zone" in told
    assert "no column tells the width" in told
    assert 'requested_time: {column: "timelimit", unit: s}' in proposal.text


@pytest.mark.parametrize(("scale", "unit"), [(1, "s"), (10**3, "ms"), (10**6, "us"), (10**9, "ns")])
def test_units_of_epochs_are_told_by_their_size(scale: int, unit: str) -> None:
    """Small numbers count from the beginning of the log."""
    rows = f"id,submit,runtime,cpus\n1,{1_700_000_000 * scale},5,4\n"
    assert f'submit: {{column: "submit", unit: {unit}}}' in propose_mapping(io.BytesIO(rows.encode())).text
    small = propose_mapping(io.BytesIO(b"id,submit,runtime,cpus\n1,12,5,4\n"))
    assert "dates: false" in small.text
    assert any(each.startswith("dates: ") for each in small.unsure)


def test_proposals_of_json_and_parquet(tmp_path: Path) -> None:
    """They have names too; a folder is looked at by its first file; what is no table is refused."""
    for text in (as_json_lines("nrel"), as_typed_parquet("nrel"), json.dumps(as_dicts("nrel")).encode()):
        assert 'submit: {column: "submit_time"}' in propose_mapping(io.BytesIO(text)).text
    stamps = pa.table({"submit_time": pa.array([1], pa.timestamp("ms", "UTC")), "cores": [4], "run_time": [1]})
    (tmp_path / "a.parquet").write_bytes(parquet(stamps))
    assert "time_zone" not in propose_mapping(tmp_path).text
    assert "time_zone" not in propose_mapping(tmp_path / "a.parquet").text
    for text, told in (
        (b"hello\n", "no table of columns"),
        (b"a,b,c\n1,2,3\n", "no column can be a time of submission"),
    ):
        with pytest.raises(LogFormatError, match=told):
            propose_mapping(io.BytesIO(text))


def test_on_the_console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mapping goes to standard output alone, and describes the table as it is."""
    monkeypatch.chdir(tmp_path)
    Path("jobs.csv").write_bytes(example("nrel"))
    result = CliRunner().invoke(main, ["formats", "propose", "jobs.csv"])
    assert result.exit_code == 0
    assert "unsure of time_zone" in result.stderr
    assert "unsure of" not in result.stdout
    Path("mine.yaml").write_text(result.stdout)
    assert "2" in CliRunner().invoke(main, ["describe", "jobs.csv", "--format", "table:mapping=mine.yaml"]).stdout
    told = json.loads(CliRunner().invoke(main, ["formats", "propose", "jobs.csv", "--json"]).stdout)
    assert set(told) == {"mapping", "unsure"}
    for words in (["formats", "propose"], ["formats", "nrel", "jobs.csv"]):
        assert CliRunner().invoke(main, words).exit_code == 2
    assert CliRunner().invoke(main, ["formats", "propose", "none.csv"]).exit_code != 0
    Path("t.parquet").write_bytes(as_typed_parquet("opendc"))
    assert "opendc" in CliRunner().invoke(main, ["describe", "t.parquet"]).output


def test_energy_and_power(tmp_path: Path) -> None:
    """In other units, and of each node; a mean power that is not told follows from energy and run time."""
    (tmp_path / "mine.yaml").write_text(
        "columns:\n  submit: {column: t, unit: s}\n  start: {column: t, unit: s}\n  run_time: r\n"
        "  allocated_nodes: n\n  energy: {column: e, unit: kWh, of: node}\n"
        "  mean_power: {column: p, unit: kW, of: node}\n  max_power: {column: m, unit: W}\n",
        encoding="utf-8",
    )
    rows = b"t,r,n,e,p,m\n1600000000,3600,4,2,3,900\n1600000001,1800,2,1,,\n1600000002,1800,2,,,-5\n"
    (tmp_path / "jobs.csv").write_bytes(rows)
    jobs = read_log(tmp_path / "jobs.csv", f"table:mapping={tmp_path / 'mine.yaml'}").jobs
    assert jobs["energy"].iloc[:2].tolist() == [8 * 3.6e6, 2 * 3.6e6]
    assert jobs["mean_power"].iloc[:2].tolist() == [12_000.0, 4_000.0]
    assert jobs["max_power"].tolist()[0] == 900.0
    assert jobs[["energy", "mean_power", "max_power"]].iloc[2].isna().all()


PROPOSED: dict[str, tuple[str, list[str], list[str]]] = {
    "objects in objects": (
        json.dumps([{"job": {"id": 7, "cpus": 3}, "submit": 1700000000, "start": 1700000001, "end": 1700000009}]),
        ['log_id: {column: "job.id"}', 'requested_processors: {column: "job.cpus"}'],
        [],
    ),
    "camel case, and words for missing times": (
        "JobId,SubmitTime,StartTime,EndTime,NCpus,EstimatedStart\n"
        "1,2024-01-01T00:00:00Z,Unknown,2024-01-01T00:00:09Z,4,N/A\n"
        "2,2024-01-01T00:00:00Z,2024-01-01T00:00:01Z,2024-01-01T00:00:09Z,4,2024-01-01T00:00:01Z\n",
        [
            'start: {column: "StartTime", missing: ["Unknown"]}',
            'estimated_start: {column: "EstimatedStart"}',
            'allocated_processors: {column: "NCpus"}',
        ],
        [],
    ),
    "units in names": (
        "id,created,queue_seconds,duration_min,n cores\n1,2024-01-01T00:00:00Z,30,1.5,2\n",
        [
            'wait_time: {column: "queue_seconds", unit: s}',
            'run_time: {column: "duration_min", unit: min}',
            'requested_processors: {column: "n cores"}',
        ],
        [],
    ),
    "ends without starts": (
        "id,submit_time,end_time,cpus\n1,1700000000,1700000009,4\n",
        ['submit: {column: "submit_time", unit: s}'],
        ["end: 'end_time' was left out, since no column tells when jobs started", "run_time: no column tells when"],
    ),
    "values that cannot be read": (
        "id;submit_time;start_time;run_time;cpus;exit_code\n1;1700000000;1700000001;3,5;4;0:0\n",
        ['start: {column: "start_time", unit: s}'],
        [
            "run_time: 'run_time' was left out, since its values, such as '3,5', are none",
            "exit_code: 'exit_code' was left out, since its values, such as '0:0', are none",
        ],
    ),
}


@pytest.mark.parametrize("name", PROPOSED)
def test_what_is_proposed_of_strange_tables(name: str, tmp_path: Path) -> None:
    """It is read by what was proposed in one go, and what it leaves out is told."""
    text, lines, unsure = PROPOSED[name]
    path = tmp_path / "jobs"
    path.write_text(text)
    proposal = propose_mapping(str(path))
    for line in lines:
        assert f"  {line}\n" in proposal.text
    for told in unsure:
        assert any(each.startswith(told) for each in proposal.unsure)
    if not unsure:
        assert not [each for each in proposal.unsure if "left out" in each]
    (tmp_path / "mine.yaml").write_text(proposal.text)
    trace = read_log(path, "table", mapping=str(tmp_path / "mine.yaml"))
    ended_early = name.startswith("camel")  # a job with an end and no start
    assert (len(trace), len(trace.quarantine)) == (1, int(ended_early))


SMALL = "columns: {submit: {column: Queued, unit: s}, run_time: Ran}\ndates: false\n"


def test_a_table_without_the_column_of_submissions(tmp_path: Path) -> None:
    """It is refused, since every job has one; other columns may lack."""
    assert read(tmp_path, SMALL, "Queued,Other\n5,1\n").jobs["submit_time"].tolist() == [0]
    with pytest.raises(LogFormatError, match="there is no column 'Queued'"):
        read(tmp_path, SMALL, "Ran,Other\n5,1\n")
    with pytest.raises(LogFormatError, match="there is no column 'Queued'"):
        read(tmp_path, "columns: {submit: Queued}", "Ran,Other\n5,1\n")


def test_what_is_missing_in_every_column(tmp_path: Path) -> None:
    """Words and numbers that a mapping says of the whole table."""
    trace = read(tmp_path, SMALL + 'missing: ["77", never]\n', "Queued,Ran\n5,77\n6,never\n7,78\n")
    assert trace.jobs["run_time"].fillna(-1).tolist() == [-1, -1, 78]
    assert "anomalies" not in trace.provenance


def test_a_date_that_says_that_there_is_none(tmp_path: Path) -> None:
    """However sound it is as a date."""
    mapping = 'columns: {submit: Queued, start: Begun}\nmissing: ["1900-01-01 00:00:00"]\ntime_zone: UTC\n'
    text = "Queued,Begun\n2024-01-01 00:00:00,1900-01-01 00:00:00\n2024-01-01 00:00:01,2024-01-01 00:00:03\n"
    assert read(tmp_path, mapping, text).jobs["wait_time"].fillna(-1).tolist() == [-1, 2]


@pytest.mark.parametrize("status", ["6", "-1", "true", "done"])
def test_a_status_that_is_none(status: str, tmp_path: Path) -> None:
    """SWF has 0 to 5."""
    with pytest.raises(ParameterError, match="is not a status of SWF"):
        read(
            tmp_path, SMALL.replace("run_time: Ran", "state: Ran") + f"states: {{ok: {status}}}\n", "Queued,Ran\n5,ok\n"
        )


def test_a_deeper_name_is_no_rival_of_a_plain_one(tmp_path: Path) -> None:
    """``host.cpus`` is not asked about where ``cpus`` is there."""
    path = tmp_path / "jobs"
    row = {"submit": 1700000000, "start": 1700000001, "end": 1700000009, "host": {"cpus": 64}, "cpus": 4}
    path.write_text(json.dumps(row))
    proposal = propose_mapping(str(path))
    assert 'requested_processors: {column: "cpus"}' in proposal.text
    assert not proposal.unsure


def test_tables_that_nothing_is_proposed_for(tmp_path: Path) -> None:
    """A column that is there twice; Parquet that is cut off; a name that is no time of submission."""
    path = tmp_path / "jobs"
    path.write_text("job_id,submit,submit,cpus\n1,2024-01-01 00:00:00,2024-01-01 00:00:01,4\n")
    with pytest.raises(LogFormatError, match="the column 'submit' twice"):
        propose_mapping(str(path))
    path.write_bytes(as_typed_parquet("helios")[:-90])
    with pytest.raises(UnreadableLogError, match="a Parquet file that is cut off"):
        propose_mapping(str(path))
    path.write_text("Job;Eingereicht;Kerne\n1;01.02.2024 10:00;4\n")
    with pytest.raises(LogFormatError, match=r"write a mapping that says which, as in 'submit: NAME'"):
        propose_mapping(str(path))
    names = ["job_id", "submit", "start", "end", "cpus", *(f"column{number}" for number in range(10_000))]
    path.write_text(f"{','.join(names)}\n{','.join('1' for _ in names)}\n")
    with pytest.raises(LogFormatError, match=r"first line has more than 65,536 bytes.*cut -d, -f1-20"):
        propose_mapping(str(path))


@pytest.mark.parametrize(
    ("state", "told"),
    [("Status", "log_id: 2 of the first 4 rows are steps"), ("State", "slurm reads this file as it is")],
)
def test_steps_of_slurm_are_known_by_their_ids(tmp_path: Path, state: str, told: str) -> None:
    """A mapping would make jobs of them; where sacct's columns are all there, its own reader takes the file."""
    path = tmp_path / "jobs.csv"
    times = "2024-01-01T00:00:00,2024-01-01T00:01:00,2024-01-01T00:02:00,4"
    rows = [f"{job_id},COMPLETED,{times}" for job_id in ("10", "10.batch", "11_3", "11_3.0")]
    path.write_text("\n".join([f"JobID,{state},Submit,Start,End,NCPUS", *rows, ""]))
    unsure = propose_mapping(str(path)).unsure
    assert unsure[0].startswith(told)
    assert any("such as '10.batch'" in each for each in unsure)


def test_a_table_of_sacct_without_times(tmp_path: Path) -> None:
    """What to ask sacct for."""
    path = tmp_path / "jobs.csv"
    path.write_text("JobID,JobName,State\n10,a,COMPLETED\n")
    with pytest.raises(LogFormatError, match="ask for Submit, Start and End too"):
        propose_mapping(str(path))


@pytest.mark.parametrize("chunk_bytes", [None, 64])
def test_equal_rows_of_several_files(tmp_path: Path, chunk_bytes: int | None) -> None:
    """Without an id, of rows that are equal as many count as the file with most of them has: files may overlap."""
    columns = "{submit: {column: s, unit: s}, start: {column: b, unit: s}, end: {column: e, unit: s}}"
    (tmp_path / "mine.yaml").write_text(f"columns: {columns[:-1]}, allocated_processors: n}}\n")
    log = tmp_path / "log"
    log.mkdir()
    early, late = "1700000100,1700000200,1700000300,4\n", "1700000400,1700000500,1700000600,4\n"
    (log / "a.csv").write_text("s,b,e,n\n" + early * 2 + late)
    (log / "b.csv").write_text("s,b,e,n\n" + late * 3)
    mapping = str(tmp_path / "mine.yaml")
    if chunk_bytes:
        traces = list(iter_log(log, "table", chunk_bytes=chunk_bytes, mapping=mapping))
    else:
        traces = [read_log(log, "table", mapping=mapping)]
    assert [time for trace in traces for time in trace.jobs["submit_time"]] == [0, 0, 300, 300, 300]
    assert [line for trace in traces for line in trace.jobs["line_number"]] == [2, 3, 4, 7, 8]
    assert [line for trace in traces for line in trace.merged["line_number"]] == [6]


def test_rows_of_several_files_that_differ_in_a_name(tmp_path: Path) -> None:
    """They are two jobs, and the row that is equal in the name too is one."""
    columns = "{submit: {column: s, unit: s}, start: {column: b, unit: s}, end: {column: e, unit: s}}"
    (tmp_path / "mine.yaml").write_text(f"columns: {columns[:-1]}, allocated_processors: n, user: u, queue: q}}\n")
    log = tmp_path / "log"
    log.mkdir()
    row = "1700000100,1700000200,1700000300,4"
    (log / "a.csv").write_text(f"s,b,e,n,u,q\n{row},ann,\n")
    (log / "b.csv").write_text(f"s,b,e,n,u,q\n{row},zoe,\n{row},ann,\n{row},,ann\n")
    trace = read_log(log, "table", mapping=str(tmp_path / "mine.yaml"))
    assert trace.merged["line_number"].tolist() == [5]  # lines count on, with the header of the second file
    assert trace.jobs["line_number"].tolist() == [2, 4, 6]


@pytest.mark.parametrize(
    ("dates", "order", "unsure"),
    [
        (
            ("03/04/2024", "05/06/2024"),
            None,
            "dates: 03/04/2024 is 3 April 2024 or 4 March 2024, and the first rows do not show which",
        ),
        (("03/04/2024", "25/06/2024"), "dmy", None),
        (("03/04/2024", "06/25/2024"), "mdy", None),
    ],
)
def test_a_proposed_order_of_day_and_month(
    tmp_path: Path, dates: tuple[str, ...], order: str | None, unsure: str | None
) -> None:
    """It is proposed where a day above 12 shows it, and asked for where none does."""
    path = tmp_path / "jobs.csv"
    rows = [f"{number},{day} 10:00:00,{day} 11:00:00,{day} 12:00:00,4" for number, day in enumerate(dates)]
    path.write_text("\n".join(["id,submit,start,end,cpus", *rows, ""]))
    proposal = propose_mapping(str(path))
    told = [each for each in proposal.unsure if each.startswith("dates: ")]
    assert [each[: len(unsure or "")] for each in told] == ([unsure] if unsure else [])
    assert (f"dates: {order}" in str(proposal.text).splitlines()) == (order is not None)
