# SPDX-License-Identifier: BSD-3-Clause
"""The column dictionary: complete, consistent, and the one source of schemas."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import FrozenInstanceError
from pathlib import Path

import pyarrow as pa
import pytest

from swftools.errors import SchemaError
from swftools.fields import dictionary, loader
from swftools.fields.definition import (
    BOOL,
    FLOAT64,
    INT64,
    INTEGERS,
    MAX_TIME,
    NEVER,
    RANGES,
    STRING,
    TIMESTAMP,
    UTILITY,
    Field,
)
from swftools.fields.dictionary import (
    AUGMENTATION_COLUMNS,
    COMMON_VERSION,
    JOBS,
    SWF_FIELDS,
    SWF_NAMES,
    TABLE_MEANINGS,
    TABLES,
    arrow_schema,
    generated_columns,
    highest_version,
    required_columns,
    table_fields,
    table_version,
)
from swftools.fields.generate import data_dictionary, json_schema
from swftools.fields.loader import COLUMNS

EVERY_COLUMN = [field for fields in TABLES.values() for field in fields]

SWF_2_2 = [
    *("job_number", "submit_time", "wait_time", "run_time", "allocated_processors", "average_cpu_time", "used_memory"),
    *("requested_processors", "requested_time", "requested_memory", "status", "user_id", "group_id", "executable_id"),
    *("queue_id", "partition_id", "preceding_job_number", "think_time"),
]


def test_swf_fields_are_those_of_the_format() -> None:
    """The first 18 columns of jobs are the fields of SWF 2.2 in order, numbered from 1."""
    assert tuple(SWF_2_2) == SWF_NAMES
    assert SWF_FIELDS == JOBS[:18]
    assert list(range(1, 19)) == [field.swf_position for field in SWF_FIELDS]
    assert {None} == {field.swf_position for field in JOBS[18:]}


def test_times_are_floats_and_counts_integers() -> None:
    """Times and memory are float64, since logs have fractions; counts and identifiers are int64."""
    floats = [field.name for field in SWF_FIELDS if field.type == FLOAT64]
    assert [name for name in SWF_2_2 if name.endswith(("_time", "_memory"))] == floats
    assert {INT64, FLOAT64} == {field.type for field in SWF_FIELDS}


STAGES = (
    *("read", "clean", "select", *AUGMENTATION_COLUMNS, "simulate", "measure", "price", "reserve", "replay"),
    *("evaluate", "reproduce", "experiment", "ingest", "reevaluate"),
)


def test_every_column_says_what_it_is() -> None:
    """Each has a snake_case name, a type, a unit, a meaning in a sentence, and a missing rule; others are listed."""
    kinds = (INT64, FLOAT64, STRING, BOOL, TIMESTAMP, UTILITY, INTEGERS, RANGES)
    wrong = {
        "name": [field for field in EVERY_COLUMN if not field.name.isidentifier() or field.name != field.name.lower()],
        "type": [field for field in EVERY_COLUMN if field.type not in kinds],
        "unit": [field for field in EVERY_COLUMN if not field.unit],
        "meaning": [field for field in EVERY_COLUMN if not field.meaning.endswith(".")],
        "missing": [field for field in EVERY_COLUMN if field.missing != NEVER and field.missing[:4] != "null"],
        "stage": [field for field in EVERY_COLUMN if field.stage not in STAGES],
        "word": [
            field
            for field in EVERY_COLUMN
            if field.type == BOOL and field.name[:3] != "is_" and field.name[:9] != "performs_"
        ],
    }
    assert {what: fields for what, fields in wrong.items() if fields} == {}


def test_arrow_fields_carry_the_dictionary() -> None:
    """Unit, meaning, missing value, when known, SWF position, growth: in the metadata; nullability in the schema."""
    for field in EVERY_COLUMN:
        expected = {b"unit": field.unit, b"meaning": field.meaning, b"missing": field.missing}
        expected |= {b"known": field.known}
        expected |= {} if field.swf_position is None else {b"swf_position": str(field.swf_position)}
        expected |= {} if field.stable_under_growth else {b"stable_under_growth": "false"}
        expected |= {b"origin": "generated, not logged"} if field.is_generated else {}
        assert {key: text.encode() for key, text in expected.items()} == field.arrow.metadata, field
        assert (field.missing != NEVER) == field.arrow.nullable, field
        assert (field.name, field.type) == (field.arrow.name, field.arrow.type)


def test_generated_columns_are_those_of_augmentations() -> None:
    """All of them but the rank of a queue, which the card of a log tells; the dictionary says so of each."""
    added = {column.name for columns in AUGMENTATION_COLUMNS.values() for column in columns}
    names = [column.name for column in JOBS]
    assert set(generated_columns(names)) == added - {"priority_rank"}
    rows = data_dictionary().partition("\n## jobs\n")[2].partition("\n## ")[0].splitlines()
    marked = {row.split("`")[1] for row in rows if "generated, not logged" in row}
    properties = json_schema("jobs")["properties"]
    assert marked == {name for name in names if "x-origin" in properties[name]} == set(generated_columns(names))


def test_a_name_means_the_same_in_every_table() -> None:
    """A column that stands in several tables has one type and unit; whether it may be missing depends on the table.

    But for ``nodes``: of a search they are those of its tree, which it counts, and of a run those of the machine.
    """
    seen: dict[str, Field] = {}
    for table, fields in TABLES.items():
        for field in fields:
            if (table, field.name) == ("segments", "nodes"):
                continue
            first = seen.setdefault(field.name, field)
            assert (first.type, first.unit) == (field.type, field.unit)


def test_names_in_a_table_are_unique() -> None:
    """No table has a column twice, and every table says what its rows are."""
    assert {table: len(fields) for table, fields in TABLES.items()} == {t: len(table_fields(t)) for t in TABLES}
    lines = [tuple(line[:2]) for line in csv.reader(COLUMNS.read_text(encoding="utf-8").splitlines())]
    assert len(lines) == len(set(lines))
    assert list(TABLES) == list(TABLE_MEANINGS)


def test_every_line_is_of_a_table() -> None:
    """Whoever mistypes a table would make a group of columns that none has."""
    lines = list(csv.reader(COLUMNS.read_text(encoding="utf-8").splitlines()))[1:]
    named = {name.partition(".")[0] for _, name, *_ in lines if "." in name}
    assert {table for table, *_ in lines} <= TABLES.keys() | named
    assert TABLES.keys() <= {table for table, *_ in lines}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("jobs,mine,integer", r"\['mine'\] cannot be read"),
        ("jobs,mine,number,1,,end,,,,,,,M", r"\['mine'\] cannot be read"),
        ("jobs,mine,text,1,,soon,,,,,,,M", r"\['mine'\] cannot be read"),
        ("jobs", r"\[\] cannot be read"),
        ("jobs,user_id,integer,1,,end,,,,,,,M", "jobs has 'user_id' already"),
        ("jobs,utility.*,,,,,,,,,,,", r"jobs has 'utility\.\*' already"),
    ],
)
def test_a_line_that_is_no_column_is_named(
    line: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One with a cell too few, a type or a time that there is none of, a second one: file and line are told."""
    text = COLUMNS.read_text(encoding="utf-8")
    (tmp_path / "columns.csv").write_text(f"{text}{line}\n", encoding="utf-8")
    monkeypatch.setattr(loader, "COLUMNS", tmp_path / "columns.csv")
    with pytest.raises(SchemaError, match=f"columns.csv, line {text.count(chr(10)) + 1}: {told}"):
        loader.load_columns(loader.load_tables())


@pytest.mark.parametrize(
    ("line", "told"), [("jobs,merged.texts", "'merged.texts'"), ("jobs,merge.*", "no line is of 'merge'")]
)
def test_a_column_of_another_table_must_be_there(
    line: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is named and is not there is told by its name."""
    (tmp_path / "columns.csv").write_text(f"{COLUMNS.read_text(encoding='utf-8')}{line}\n", encoding="utf-8")
    monkeypatch.setattr(loader, "COLUMNS", tmp_path / "columns.csv")
    with pytest.raises(SchemaError, match=f"columns.csv: {told}"):
        loader.load_columns(loader.load_tables())


def test_bounds_of_times_are_those_of_readers() -> None:
    """Readers refuse what lies beyond; a table that had another bound would refuse what they let through."""
    assert {MAX_TIME} == {field.maximum for field in SWF_FIELDS if field.unit == "s"}


def test_fields_cannot_be_changed() -> None:
    """The dictionary is constant."""
    with pytest.raises(FrozenInstanceError):
        JOBS[0].unit = "s"  # type: ignore[misc]


def test_required_columns() -> None:
    """A jobs table has at least the 18 SWF fields, a schedule what a simulation adds; any other has all its columns."""
    assert SWF_2_2 == required_columns("jobs")
    simulated = required_columns("schedule")
    assert {"job_number", "start_time", "is_backfilled"} <= set(simulated)
    assert "user_id" not in simulated
    assert [field.name for field in TABLES["repairs"]] == required_columns("repairs")


def test_an_unknown_table_is_refused() -> None:
    """Asking for a table that is not in the dictionary lists those that are."""
    for ask in (table_fields, required_columns, arrow_schema, json_schema):
        with pytest.raises(SchemaError, match="no table 'job' in the column dictionary; it has jobs, quarantine"):
            ask("job")


def test_arrow_schema_is_in_the_order_of_the_dictionary() -> None:
    """Columns may be asked for in any order and come in the dictionary's."""
    assert ["job_number", "run_time", "width"] == arrow_schema("jobs", ["width", "run_time", "job_number"]).names
    assert [field.name for field in JOBS] == arrow_schema("jobs").names
    assert [] == arrow_schema("jobs", []).names


def test_arrow_schema_refuses_unknown_columns() -> None:
    """Unknown columns are listed."""
    with pytest.raises(SchemaError, match=r"unknown columns \['a', 'b'\]"):
        arrow_schema("jobs", ["b", "run_time", "a"])


@pytest.mark.parametrize("table", TABLES)
def test_arrow_schema_names_table_and_version(table: str) -> None:
    """The metadata of a schema says which table of which version it is."""
    metadata = arrow_schema(table).metadata
    assert (table.encode(), str(table_version(table)).encode()) == (metadata[b"table"], metadata[b"schema_version"])


@pytest.mark.parametrize("table", TABLES)
def test_pandas_reads_the_declared_types(table: str) -> None:
    """The note for pandas makes integers with nulls Int64, and names no index."""
    note = json.loads(arrow_schema(table).metadata[b"pandas"])
    assert ([], []) == (note["index_columns"], note["column_indexes"])
    frame = arrow_schema(table).empty_table().to_pandas()
    expected = {INT64: "Int64", FLOAT64: "float64", STRING: "str", BOOL: "bool", TIMESTAMP: "datetime64[ms, UTC]"}
    declared = {field.name: expected.get(field.type, "object") for field in TABLES[table]}
    assert declared == {name: str(dtype) for name, dtype in frame.dtypes.items()}


def test_a_table_has_a_version_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands in the files' schema, in the table's JSON Schema and on the page; other tables keep theirs."""
    monkeypatch.setattr(dictionary, "RAISED_VERSIONS", {"names": COMMON_VERSION + 2})
    assert [COMMON_VERSION, COMMON_VERSION + 2] == [table_version("jobs"), table_version("names")]
    assert COMMON_VERSION + 2 == highest_version(["jobs", "names"])
    assert COMMON_VERSION == highest_version(["jobs"]) == highest_version([])
    for table in ("jobs", "names"):
        assert str(table_version(table)).encode() == arrow_schema(table).metadata[b"schema_version"]
        assert table_version(table) == json_schema(table)["x-schema-version"]
    assert [f"Schema version {COMMON_VERSION + 2}."] == re.findall(r"Schema version \d+\.", data_dictionary())
    with pytest.raises(SchemaError, match="no table 'job'"):
        table_version("job")


def test_only_tables_are_raised_and_only_upwards() -> None:
    """A version in the wrong place would move nothing."""
    assert dictionary.RAISED_VERSIONS.keys() <= TABLES.keys()
    assert all(version > COMMON_VERSION for version in dictionary.RAISED_VERSIONS.values())


def test_json_schema_holds_the_dictionary() -> None:
    """A JSON Schema has each column's type, bounds, meaning and annotations, and forbids other columns."""
    schema = json_schema("jobs")
    assert table_version("jobs") == schema["x-schema-version"]
    assert SWF_2_2 == schema["required"]
    assert schema["additionalProperties"] is False
    assert [field.name for field in JOBS] == list(schema["properties"])
    expected = {
        "type": ["number", "null"],
        "description": "Wall-clock time from start to end as logged.",
        "x-unit": "s",
        "x-missing": "null (-1 in SWF)",
        "x-arrow-type": "double",
        "x-stage": "read",
        "x-known": "end",
        "x-swf-position": 4,
        "minimum": 0,
        "maximum": 10_000_000_000,
    }
    assert expected == schema["properties"]["run_time"]
    assert schema["properties"]["status"]["minimum"] < 0
    assert schema["properties"]["is_cancelled"]["type"] == "boolean"


def test_utility_has_no_missing_parts() -> None:
    """A utility function is a list of structs without nulls inside."""
    assert pa.types.is_list(UTILITY)
    parts = [UTILITY.value_field, *(UTILITY.value_type.field(name) for name in ("time", "value"))]
    assert [False, False, False] == [part.nullable for part in parts]
