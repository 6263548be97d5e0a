# SPDX-License-Identifier: BSD-3-Clause
"""Generated files: in step with the column dictionary, and true of real rows."""

from __future__ import annotations

import gzip
import io
import json
import shutil
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pyarrow as pa
import pytest

from pipelines.experiments.advice import advice_of
from pipelines.experiments.candidate_runs import figures_of
from pipelines.experiments.candidates import study_candidates
from pipelines.experiments.differences import compare_with_baseline, rank_policies
from pipelines.papers import find_paper
from pipelines.papers.cells import compare
from pipelines.papers.paper import Measurements
from swftools import Trace, UtilityParameters, clean, generate_utility, read_log, read_swf
from swftools.checkpoints.inference import infer_checkpoints
from swftools.checkpoints.synthetic_survey import generate_checkpoint_survey
from swftools.drift import measure_drift
from swftools.fields import dictionary, generate
from swftools.fields.dictionary import TABLES, table_version
from swftools.fields.generate import data_dictionary, generated_files, json_schema, main, stale_files, write_files
from swftools.history.book import HistoryBook, TakenRecords
from swftools.history.records import file_records
from swftools.market import price
from swftools.models.arrivals import generate_arrivals
from swftools.models.moldability import SpeedupParameters, generate_speedup
from swftools.models.requested_times import generate_requested_times
from swftools.qbets import WaitPredictor, evaluate, replay
from swftools.qbets.evaluation import count_coverage
from swftools.reservations import simulate_reservations
from swftools.selection import select_jobs
from swftools.simulator import Schedule, measure, simulate, watch_policies
from swftools.tables import empty_frame, to_arrow
from tests.folders import ROOT


def test_generated_files_are_in_step() -> None:
    """Schemas are what the column dictionary makes; if not: python -m swftools.fields.generate."""
    assert [] == stale_files(ROOT)


def test_every_table_has_a_schema() -> None:
    """There is one schema a table."""
    expected = {f"schemas/{table}.schema.json" for table in TABLES}
    assert expected == set(generated_files())


def test_data_dictionary_has_every_column() -> None:
    """The data dictionary has a section a table and a row a column."""
    sections = data_dictionary().split("\n## ")[1:]
    assert list(TABLES) == [section.partition("\n")[0] for section in sections]
    for section, fields in zip(sections, TABLES.values(), strict=True):
        rows = [line for line in section.splitlines() if line.startswith("| `")]
        assert [f"`{field.name}`" for field in fields] == [row.split("|")[1].strip() for row in rows]
        assert {10} == {row.count("|") + 1 for row in rows}


def test_check_finds_drift(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--check fails, naming the files, until they are written; then it fails for each change, and changes nothing."""
    arguments = ["--root", str(tmp_path), "--check"]
    assert main(arguments) == 1
    assert [] == list(tmp_path.iterdir())
    assert "schemas/jobs.schema.json: differs" in capsys.readouterr().out
    assert main(arguments[:2]) == 0
    assert set(generated_files()) == {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")}
    assert main(arguments) == 0
    path = tmp_path / "schemas" / "merged.schema.json"
    path.write_text(path.read_text().replace("integer", "number", 1))
    capsys.readouterr()
    assert main(arguments) == 1
    assert "schemas/merged.schema.json: differs from swftools/fields; run python -m swftools.fields.generate\n" == (
        capsys.readouterr().out
    )


def test_a_table_with_other_columns_gets_the_next_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In tables.csv and the schema, once; not for other words, nor for a column that only some files have."""
    monkeypatch.setattr(dictionary, "RAISED_VERSIONS", raised := dict(dictionary.RAISED_VERSIONS))
    monkeypatch.setattr(generate, "RAISED_VERSIONS", raised)
    versions = tmp_path / "swftools" / "fields" / "tables.csv"
    versions.parent.mkdir(parents=True)
    shutil.copy(ROOT / "swftools" / "fields" / "tables.csv", versions)
    before = versions.read_text(encoding="utf-8")
    write_files(tmp_path)
    columns, arguments = dict(TABLES), ["--root", str(tmp_path)]
    first, *others = columns["merged"]
    in_other_words = replace(first, meaning="In other words.", known="never")
    for same in ([in_other_words, *others], [first, *others, replace(first, name="now_and_then", optional=True)]):
        monkeypatch.setitem(TABLES, "merged", tuple(same))
        assert main(arguments) == 0
        assert versions.read_text(encoding="utf-8") == before
    monkeypatch.setitem(TABLES, "merged", (replace(first, unit="s"), *others))
    assert main([*arguments, "--check"]) == 1
    assert versions.read_text(encoding="utf-8") == before
    capsys.readouterr()
    assert main(arguments) == 0
    version = table_version("merged")
    assert f"merged has other columns: its version in tables.csv is {version} now\n" in capsys.readouterr().out
    after = versions.read_text(encoding="utf-8")
    assert after == before.replace(f"\nmerged,{version - 1},", f"\nmerged,{version},") != before
    assert json.loads((tmp_path / "schemas" / "merged.schema.json").read_bytes())["x-schema-version"] == version
    assert main(arguments) == 0
    assert versions.read_text(encoding="utf-8") == after


def test_schemas_of_no_table_are_surplus(tmp_path: Path) -> None:
    """A schema left over from a table that is no more is drift, and is removed by writing."""
    write_files(tmp_path)
    old = tmp_path / "schemas" / "gone.schema.json"
    old.write_text("{}")
    (tmp_path / "schemas" / "README").touch()
    assert ["schemas/gone.schema.json"] == stale_files(tmp_path)
    write_files(tmp_path)
    assert (False, True) == (old.exists(), (tmp_path / "schemas" / "README").exists())


@pytest.mark.parametrize("table", TABLES)
def test_schemas_are_schemas(table: str) -> None:
    """Each file is a valid JSON Schema of draft 2020-12."""
    text = (ROOT / "schemas" / f"{table}.schema.json").read_text(encoding="utf-8")
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


def listing(name: str) -> Trace:
    """Return a sample of an accounting log, read."""
    return read_log(ROOT / "tests" / "formats" / "loadleveler" / "samples" / name, processors_per_node=8)


def _counts(taken: TakenRecords) -> dict[str, int]:
    """Return what the table of files says of what became of its records."""
    counts = asdict(taken)
    counts["withdrawn"] = counts.pop("gone")
    return counts


def history_tables(log: Path, predictions: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The tables of a history, made by its own parts."""
    with gzip.open(log) as lines:
        text = b"".join([line for _, line in zip(range(900), lines, strict=False)]) + b"no job\n"
    file = file_records(read_swf(io.BytesIO(text)))
    book = HistoryBook(pd.DataFrame, {}, empty_frame("names"), None)
    taken = book.take(file, 1)
    hashes = {"sha256": "0" * 64, "resumes_sha256": "0" * 64, "resumes_bytes": 9, "resumes_lines": 1}
    row = {"file_number": 1, "file": "a.swf", "format": "swf", "bytes": 10, "continues": 0, **hashes}
    row |= {"computer": "IBM SP", "processors": 1152, "widest": 1024}
    submit = file.records["submit_time"]
    return {
        "records": book.month(book.labels[0]),
        "provisional": book.month(book.labels[0]).tail(1),
        "rejected": file.rejected.assign(file_number=1),
        "ingested": pd.DataFrame([{**row, **_counts(taken), "begins": submit.min(), "ends": submit.max()}]),
        "waiting": pd.DataFrame([{"file": "b", "sha256": None, "outcome": "unreadable", "reason": "it is none"}]),
        "wait_coverage": count_coverage(predictions, "all", quantile=0.95, chance=0.01),
    }


@pytest.fixture(scope="module")
def tables(shipped_log: Path) -> dict[str, pa.Table]:
    """Every table, made from the shipped log with a part of its lines spoilt."""
    trace = read_swf(shipped_log)
    jobs = trace.jobs.copy()
    jobs.loc[3, "allocated_processors"] = jobs.loc[3, "requested_processors"] = pd.NA
    jobs.loc[[10, 11], "status"] = [2, 3]
    jobs.loc[[10, 11], ["job_number", "user_id"]] = 77
    jobs.loc[12, "status"] = 99
    cleaned, report = clean(trace.with_jobs(jobs))
    inference = infer_checkpoints(cleaned, generate_checkpoint_survey(cleaned))
    columns = {
        "utility": generate_utility(cleaned, UtilityParameters(queue_ranks={1: 0, 2: 1})),
        "checkpoints": inference.columns,
        "arrivals": generate_arrivals(cleaned),
        "speedup": generate_speedup(cleaned, SpeedupParameters(moldable_share=0.7)),
        "estimates": generate_requested_times(cleaned),
    }
    keys = cleaned.jobs[["job_number", "job_occurrence"]]
    augmented = cleaned.with_jobs(pd.concat([cleaned.jobs, *columns.values()], axis=1))
    schedule = simulate(select_jobs(augmented, lines=(0, 999)), "easy", 576)
    searched = simulate(select_jobs(augmented, lines=(0, 199)), "search", 576, nodes=50, explain=True)
    metrics = measure(schedule)
    predictions = replay(augmented)
    waits = WaitPredictor("binomial", by="queue", training=50)
    part = select_jobs(cleaned, lines=(0, 999))
    reserved = simulate_reservations(part, "easy", 576, waits=waits, share=0.2, probability=0.5)
    paper = find_paper("nurmi2009")
    run = paper.runs([paper.tables[0]], "CTC-SP2-1996-3.1-cln", quick=True)[0]
    found = paper.experiments[run.experiment].function(augmented, run.parameters, 0)
    measurements = found.assign(
        paper=paper.name, log="CTC-SP2-1996-3.1-cln", experiment=run.text, seed=0, unit=["jobs", "s", "s", "s"]
    )
    frames = {
        "prices": price(schedule, "fixed").jobs,
        "reservations": reserved.reservations,
        "wait_predictions": predictions,
        "wait_evaluation": evaluate(predictions),
        "reproduction": compare(paper, [paper.tables[0]], Measurements(measurements)),
        "measurements": measurements,
        "schedule": schedule.jobs,
        "segments": schedule.segments,
        "excluded": schedule.excluded,
        **{f"search_{name}": frame.rename(columns={"place": "chosen_place"}) for name, frame in searched.notes.items()},
        "workload_drift": measure_drift(augmented.jobs, 1152, now=float(augmented.jobs["submit_time"].max())),
        "policy_watch": watch_policies(select_jobs(augmented, lines=(0, 999)), ["fcfs"], seeds=2),
        **history_tables(shipped_log, predictions),
        "metrics": metrics,
        "comparison": metrics.assign(seed=0),
        **experiment_tables(metrics),
        **candidate_tables(schedule),
        "jobs": augmented.jobs,
        "quarantine": cleaned.quarantine,
        "merged": report.merged,
        "names": listing("llsummary-l_mixed_aix.txt").names,
        "repairs": report.repairs,
        "cleaning_report": report.steps,
        "checkpoint_survey": inference.answers,
        "checkpoint_summary": inference.summary,
        **{name: pd.concat([keys, made], axis=1) for name, made in columns.items()},
    }
    return {table: to_arrow(frame, table) for table, frame in frames.items()}


def experiment_tables(metrics: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the tables of an experiment that has these metrics of one cell, and few values to compare."""
    words = dict.fromkeys(("window", "predictor", "requests", "overrun", "cancelled", "restart_overhead", "semantics"))
    setting = {"log": "a", "load": 0.0, "processors": 0, **dict.fromkeys(words, "")}
    values = pd.DataFrame(
        [
            {
                **setting,
                "policy": policy,
                "seed": 0,
                "shake": shake,
                "measure": "wait_mean",
                "unit": "s",
                "value": value,
            }
            for policy, given in {"easy": (1.0, 2.0), "fcfs": (3.0, 5.0)}.items()
            for shake, value in enumerate(given)
        ]
    )
    return {
        "experiment": metrics.assign(**setting, seed=0, shake=0),
        "experiment_differences": compare_with_baseline(values, list(setting), "easy"),
        "experiment_ranks": rank_policies(values, list(setting), {"wait_mean": 1}),
    }


def candidate_tables(schedule: Schedule) -> dict[str, pd.DataFrame]:
    """Return the tables of a candidate under which all wait as they do; a schedule of days becomes one of weeks."""
    figures = figures_of(schedule)
    figures = replace(figures, jobs=figures.jobs.assign(submit_time=100 * figures.jobs["submit_time"]))
    study = study_candidates([figures], {"policy=same": [figures]})
    tables = {"candidates": study.candidates, "candidate_blocks": study.blocks}
    return {**tables, "candidate_advice": advice_of(study)}


def json_rows(table: pa.Table) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON has them."""

    def text(value: object) -> str:
        assert isinstance(value, datetime)
        return value.isoformat()

    return list(json.loads(json.dumps(table.to_pylist(), default=text, allow_nan=False)))


@pytest.mark.parametrize("which", ["some", pytest.param("every", marks=pytest.mark.slow)])
@pytest.mark.parametrize("table", TABLES)
def test_real_rows_are_valid(tables: dict[str, pa.Table], table: str, which: str) -> None:
    """Rows of every table, cleaned and augmented, satisfy the published schema of the table."""
    schema = json.loads((ROOT / "schemas" / f"{table}.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    made = tables[table]
    if which == "some":
        made = made.take([*range(min(len(made), 40)), *range(40, len(made), 100)])
    rows = json_rows(made)
    assert rows
    assert [] == [error.message for row in rows for error in validator.iter_errors(row)]


@pytest.mark.parametrize("table", ["jobs", "quarantine", "merged", "names"])
def test_rows_of_accounting_logs_are_valid(table: str) -> None:
    """Also the columns that SWF does not have."""
    schema = json.loads((ROOT / "schemas" / f"{table}.schema.json").read_text(encoding="utf-8"))
    for name in ("llsummary-l_mixed_aix.txt", "llsummary-l_broken_latin1_crlf.txt"):
        rows = json_rows(to_arrow(getattr(listing(name), table), table))
        assert rows or (table in ("quarantine", "merged") and "mixed" in name)
        assert [] == [
            error.message for row in rows for error in jsonschema.Draft202012Validator(schema).iter_errors(row)
        ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"run_time": -1}, "-1 is less than the minimum of 0"),
        ({"run_time": 1e11}, "is greater than the maximum"),
        ({"user_id": "root"}, "is not of type 'integer', 'null'"),
        ({"is_cancelled": None}, "None is not of type 'boolean'"),
        ({"line_number": 0}, "0 is less than the minimum of 1"),
        ({"node": 1}, "Additional properties are not allowed"),
        ({"utility": [{"time": 0, "value": 1}]}, "is too short"),
        ({"utility": [{"time": 0, "value": 1}, {"time": 5}]}, "'value' is a required property"),
    ],
)
def test_wrong_rows_are_not_valid(tables: dict[str, pa.Table], change: dict[str, Any], message: str) -> None:
    """The schema of jobs refuses values and columns that the dictionary does not allow."""
    validator = jsonschema.Draft202012Validator(json_schema("jobs"))
    row = json_rows(tables["jobs"].slice(0, 1))[0]
    (error,) = validator.iter_errors(row | change)
    assert message in error.message


def test_rows_lack_no_swf_field(tables: dict[str, pa.Table]) -> None:
    """The schema of jobs demands the 18 SWF fields and nothing else."""
    validator = jsonschema.Draft202012Validator(json_schema("jobs"))
    row = json_rows(tables["jobs"].slice(0, 1))[0]
    lacking = {name: value for name, value in row.items() if name not in ("run_time", "width")}
    assert ["'run_time' is a required property"] == [error.message for error in validator.iter_errors(lacking)]
