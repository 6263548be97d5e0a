# SPDX-License-Identifier: BSD-3-Clause
"""What is found to differ between two versions: how they were made, their results, their tables and files."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import fs
from scipy import stats

from pipelines.names import MANIFEST
from pipelines.store import comparison as module
from pipelines.store.compare_facts import compare_facts
from pipelines.store.compare_metrics import compare_metrics
from pipelines.store.compared_tables import COMPARED_TABLES, ComparedTable, Value
from pipelines.store.comparison import compare_versions
from pipelines.store.data_root import DataRoot
from swftools.errors import SchemaError, StorageError, VersionNotFoundError
from swftools.fields.dictionary import SWF_NAMES, arrow_schema, table_fields
from tests.pipelines.conftest import BUCKET
from tests.pipelines.store.samples import date, jobs, quarantine

Row = tuple[str, str, str, str, int, float | None]
"""Policy, class, measure, statistic, seed, value."""


def comparison(rows: Iterable[Row]) -> pa.Table:
    """Make a table of comparison."""
    listed = [
        {
            "policy": policy,
            "classed_by": "all" if name == "all" else "queue_id",
            "job_class": name,
            "measure": measure,
            "statistic": statistic,
            "jobs": 5,
            "unit": "s",
            "seed": seed,
            "value": value,
        }
        for policy, name, measure, statistic, seed, value in rows
    ]
    return pa.Table.from_pylist(listed, schema=arrow_schema("comparison"))


def waits(policy: str, values: Sequence[float | None], name: str = "all") -> list[Row]:
    """Make the rows of the mean wait under a policy by seed."""
    return [(policy, name, "wait", "mean", seed, value) for seed, value in enumerate(values)]


def table_of(name: str, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Make a table of which only some columns matter: numbers are 0 elsewhere, words empty."""
    blank = {
        field.name: "" if field.type == pa.string() else pa.scalar(0).cast(field.type).as_py()
        for field in table_fields(name).values()
        if pa.types.is_string(field.type) or pa.types.is_boolean(field.type) or pa.types.is_integer(field.type)
    }
    return pa.Table.from_pylist([{**blank, **row} for row in rows], schema=arrow_schema(name))


@pytest.fixture
def root(tmp_path: Path) -> DataRoot:
    """Open a data root without anything in it."""
    return DataRoot.open(tmp_path / "data")


RECORD: dict[str, Any] = {
    "licence": "none stated",
    "log": {"name": "sdsc", "key": "a" * 64, "sha256": "a" * 64, "bytes": 100},
    "parameters": {"options": {"load": 0.9, "semantics": "instant"}, "rules": [{"rule": "x"}, {"rule": "y"}]},
    "seed": 0,
    "software": {"numpy": "2.1.0"},
}


def publish(root: DataRoot, version: str, tables: Mapping[str, pa.Table] | None = None, **record: Any) -> None:
    """Publish a version with other facts than the usual ones."""
    root.publish("sdsc", version, tables or {"jobs": jobs()}, manifest=RECORD | record)


def compared(root: DataRoot, a: str = "v1", b: str = "v2") -> dict[str, Any]:
    """Compare two versions; what comes of it is JSON."""
    found = compare_versions(root, "sdsc", a, b)
    assert found == json.loads(json.dumps(found, allow_nan=False))
    return found


# Facts


def changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return what differs between facts as tuples."""
    return [
        (each["group"], each["path"], each["change"], *(each[side] for side in "ab" if side in each))
        for each in compare_facts(a, b)
    ]


def test_facts_are_compared_leaf_by_leaf() -> None:
    """What determines the content comes first; what only one has is added or gone, as a whole."""
    a = {
        "version": "v1",
        "tables": {"jobs": {}},
        "licence": "none",
        "seed": 0,
        "software": {"numpy": "2.1.0", "numba": "1"},
        "parameters": {"options": {"load": 0.9}, "utility": {"globmax": 1.0}},
        "log": {"name": "x", "sha256": "a", "bytes": 1},
        "nights": 3,
    }
    b = {
        "version": "v2",
        "tables": {},
        "licence": "free",
        "seeds": [0],
        "software": {"numpy": "2.2.0", "numba": "1"},
        "parameters": {"options": {"load": 1}, "arrivals": {"model": "p"}},
        "log": {"name": "x", "sha256": "b", "bytes": 2},
        "nights": 4,
    }
    assert [
        ("inputs", "log.bytes", "changed", 1, 2),
        ("inputs", "log.sha256", "changed", "a", "b"),
        ("parameters", "parameters.arrivals", "added", {"model": "p"}),
        ("parameters", "parameters.options.load", "changed", 0.9, 1),
        ("parameters", "parameters.utility", "gone", {"globmax": 1.0}),
        ("seeds", "seed", "gone", 0),
        ("seeds", "seeds", "added", [0]),
        ("software", "software.numpy", "changed", "2.1.0", "2.2.0"),
        ("terms", "licence", "changed", "none", "free"),
        ("other", "nights", "changed", 3, 4),
    ] == changes(a, b)
    assert [] == changes(a, a | {"version": "v2"})


def test_elements_of_lists_are_differences_of_their_own() -> None:
    """Named ones are compared by name, others are there or not as often as they are, and order counts."""
    assert [("seeds", "seeds", "gone", 1), ("seeds", "seeds", "added", 3)] == changes(
        {"seeds": [0, 1, 2]}, {"seeds": [0, 2, 3]}
    )
    assert [("parameters", "parameters.p", "added", 5)] == changes(
        {"parameters": {"p": [5, 6]}}, {"parameters": {"p": [5, 5, 6]}}
    )
    assert [("seeds", "seeds", "reordered", [1, 2], [2, 1])] == changes({"seeds": [1, 2]}, {"seeds": [2, 1]})
    rules = [{"rule": "x", "action": "flag"}, {"rule": "y"}]
    assert [("parameters", "parameters.rules.x.action", "changed", "flag", "drop")] == changes(
        {"parameters": {"rules": rules}}, {"parameters": {"rules": [{"rule": "x", "action": "drop"}, {"rule": "y"}]}}
    )
    assert [("parameters", "parameters.rules", "reordered", rules, rules[::-1])] == changes(
        {"parameters": {"rules": rules}}, {"parameters": {"rules": rules[::-1]}}
    )
    twice = [{"rule": "x"}, {"rule": "x", "action": "flag"}]
    assert [("parameters", "parameters.rules", "gone", {"rule": "x"})] == changes(
        {"parameters": {"rules": twice}}, {"parameters": {"rules": twice[1:]}}
    )
    sources = [{"log": {"name": name, "bytes": 1}} for name in ("a", "b")]
    assert [("inputs", "sources.b.log.bytes", "changed", 1, 2)] == changes(
        {"sources": sources}, {"sources": [sources[0], {"log": {"name": "b", "bytes": 2}}]}
    )


def test_true_is_not_one_and_one_is_not_a_fraction() -> None:
    """What is written otherwise in JSON made another key, hence another version."""
    assert (
        3
        == len(changes({"parameters": {"a": 1, "b": 1, "c": [1]}}, {"parameters": {"a": True, "b": 1.0, "c": [True]}}))
        - 1
    )


# Versions


def test_versions_tell_who_they_are(root: DataRoot, tmp_path: Path) -> None:
    """By name, time and tags; both may be given by tags, beginnings, or latest."""
    publish(root, "v1-long-name")
    publish(root, "v2", seed=3)
    date(tmp_path / "data", "v1-long-name", "v2")
    root.tag("sdsc", "v1-long-name", "paper")
    found = compared(root, "paper", "latest")
    assert {
        "version": "v1-long-name",
        "published_at": "2026-01-01T00:00:00+00:00",
        "is_latest": False,
        "tags": ["paper"],
    } == found["a"]
    assert ("v2", True, []) == tuple(found["b"][key] for key in ("version", "is_latest", "tags"))
    assert found["is_different"]
    assert compared(root, "v1-l", "v2") == found
    with pytest.raises(VersionNotFoundError, match=r"no version 'v9'"):
        compare_versions(root, "sdsc", "v2", "v9")
    with pytest.raises(VersionNotFoundError, match=r"no data set 'ctc'"):
        compare_versions(root, "ctc", "v1", "v2")


def test_on_s3(bucket: fs.S3FileSystem) -> None:
    """Versions there are compared as here."""
    root = DataRoot.open(f"s3://{BUCKET}/x")
    publish(root, "v1", {"comparison": comparison(waits("easy", [1.0]))})
    publish(root, "v2", {"comparison": comparison(waits("easy", [2.0]))})
    assert "v1" == root.previous("sdsc")
    assert [1.0] == [row["difference"] for row in compared(root)["metrics"]["comparison"]["rows"]]


def test_the_same_content_is_no_difference(root: DataRoot) -> None:
    """Files that tell the version's name always differ; only their size says whether they do by more."""
    publish(root, "v1")
    publish(root, "v2")
    found = compared(root)
    assert (False, [], {}, {}) == tuple(found[key] for key in ("is_different", "facts", "tables", "metrics"))
    (file,) = found["files"]["changed"]
    assert ("jobs/part-0.parquet", True) == (file["name"], file["tells_version"])
    assert file["bytes"]["a"] == file["bytes"]["b"]
    assert not compared(root, "v1", "v1")["is_different"]
    publish(root, "version-three")
    assert not compared(root, "v1", "version-three")["is_different"]


def test_rows_that_differ_in_words_alone_are_a_difference(root: DataRoot) -> None:
    """No statistic of a manifest tells of them, but the size of the file does."""
    line = {"line_number": 7, "rule": "read", "reason": "17 fields, not 18", "text": "7 0 -1"}
    other = pa.Table.from_pylist([line | {"reason": "16 fields, and not 18"}], schema=arrow_schema("quarantine"))
    publish(root, "v1", {"quarantine": quarantine()})
    publish(root, "v2", {"quarantine": other})
    found = compared(root)
    assert (True, {}, []) == tuple(found[key] for key in ("is_different", "tables", "facts"))


# Tables, columns, files


def test_tables_and_columns(root: DataRoot) -> None:
    """New and gone ones are named; of the others rows, and the statistics that moved, the furthest first."""
    model = pa.field("model_submit_time", pa.float64())
    publish(root, "v1", {"jobs": jobs(3).append_column(model, [[0.0, 1.0, 2.0]]), "quarantine": quarantine()})
    less = jobs(3)
    run_time = pa.array([0.0, 2.0, 2.5], pa.float64())
    less = less.set_column(less.column_names.index("run_time"), less.schema.field("run_time"), run_time)
    publish(root, "v2", {"jobs": less, "comparison": comparison(waits("easy", [1.0]))})
    tables = compared(root)["tables"]
    assert {"change": "added", "rows": {"a": None, "b": 1}} == tables["comparison"]
    assert {"change": "gone", "rows": {"a": 1, "b": None}} == tables["quarantine"]
    columns = tables["jobs"]["columns"]
    assert (["model_submit_time"], [], []) == (columns["gone"], columns["added"], columns["redefined"])
    (moved,) = columns["moved"]
    assert {"nulls": {"a": 1, "b": 0}, "mean": {"a": 1.25, "b": 1.5}} == {key: moved[key] for key in ("nulls", "mean")}
    assert ("run_time", 1 / 3) == (moved["column"], moved["by"])
    back = compared(root, "v2", "v1")["tables"]
    assert ["model_submit_time"] == back["jobs"]["columns"]["added"]
    assert ("gone", "added") == (back["comparison"]["change"], back["quarantine"]["change"])


def test_columns_are_sorted_by_how_far_they_moved(root: DataRoot) -> None:
    """That is the mean as a share of the range, or by how much the share of nulls changed, whatever is more."""
    publish(root, "v1", {"jobs": jobs(8)})
    publish(root, "v2", {"jobs": jobs(9)})
    changed = compared(root)["tables"]["jobs"]
    assert {"a": 8, "b": 9} == changed["rows"]
    moved = changed["columns"]["moved"]
    assert [each["by"] for each in moved] == sorted((each["by"] for each in moved), reverse=True)
    by = {each["column"]: each["by"] for each in moved}
    assert 5 / 80 == by["submit_time"]
    assert 0 == by["wait_time"]
    assert pytest.approx(abs(7.5 / 17.5 - 8.75 / 17.5)) == by["run_time"]
    assert {"job_number", "submit_time", "run_time", "allocated_processors"} < by.keys()


def test_a_column_that_was_defined_otherwise(root: DataRoot, tmp_path: Path) -> None:
    """Type, unit and meaning are compared as the manifests have them."""
    publish(root, "v1")
    publish(root, "v2")
    path = tmp_path / "data" / "sdsc" / "v1" / MANIFEST
    manifest = json.loads(path.read_text())
    manifest["tables"]["jobs"]["columns"]["run_time"] |= {"type": "int64", "unit": "min"}
    path.write_text(json.dumps(manifest))
    found = compared(root)
    assert [{"column": "run_time", "type": {"a": "int64", "b": "double"}, "unit": {"a": "min", "b": "s"}}] == found[
        "tables"
    ]["jobs"]["columns"]["redefined"]
    assert found["is_different"]


def test_files(root: DataRoot, tmp_path: Path) -> None:
    """New, gone and changed ones with their bytes, and the number of equal ones."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"1")
    other.write_bytes(b"22")
    root.publish("sdsc", "v1", {}, manifest=RECORD, files={"a.csv": one, "b.csv": one, "README.md": one, "c": one})
    root.publish(
        "sdsc", "v2", {}, manifest=RECORD, files={"a.csv": other, "d.csv": other, "README.md": other, "c": one}
    )
    found = compared(root)
    assert {
        "added": [{"name": "d.csv", "bytes": 2}],
        "gone": [{"name": "b.csv", "bytes": 1}],
        "changed": [
            {"name": "README.md", "bytes": {"a": 1, "b": 2}, "tells_version": True},
            {"name": "a.csv", "bytes": {"a": 1, "b": 2}, "tells_version": False},
        ],
        "equal": 1,
    } == found["files"]
    assert found["is_different"]


def test_parts_of_a_table_do_not_tell_the_version() -> None:
    """A table in several parts shares them between versions, so that one that changed is a change."""
    whole = {"tables": {"jobs": {}}}
    parts = {"tables": {"jobs": {"parts": {}}}}
    tells = module._tells_version
    assert [True, False, False, True] == [
        tells("jobs/part-0.parquet", whole),
        tells("jobs/part-0.parquet", parts),
        tells("other/part-0.parquet", whole),
        tells("README.md", parts),
    ]


def test_large_tables_are_never_read(root: DataRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a version the manifest is read, and tables of results."""
    both = {"jobs": jobs(), "comparison": comparison(waits("easy", [1.0]))}
    publish(root, "v1", both)
    publish(root, "v2", {"jobs": jobs(9), "comparison": comparison(waits("easy", [2.0]))})
    read: list[str] = []
    original = type(root.storage).open

    def note(self: Any, key: str) -> Any:
        read.append(key.rpartition("/")[0])
        return original(self, key)

    monkeypatch.setattr(type(root.storage), "open", note)
    compared(root)
    assert {"sdsc", "sdsc/v1", "sdsc/v2", "sdsc/v1/comparison", "sdsc/v2/comparison"} == set(read)
    assert not {"jobs", "wait_predictions", "schedule"} & COMPARED_TABLES.keys()


# Results


def results(a: Iterable[Row], b: Iterable[Row]) -> dict[str, Any]:
    """Compare two tables of comparison."""
    return compare_metrics(comparison(a), comparison(b), COMPARED_TABLES["comparison"])


@given(
    st.lists(st.integers(-50, 50), min_size=2, max_size=6),
    st.lists(st.integers(-50, 50), min_size=2, max_size=6),
)
def test_over_seeds_it_is_welchs_test(a: list[int], b: list[int]) -> None:
    """Mean and standard deviation are numpy's, the verdict is scipy's; what has no spread differs for certain."""
    found = results(waits("easy", list(map(float, a))), waits("easy", list(map(float, b))))
    if math.isclose(np.mean(a), np.mean(b), rel_tol=1e-12):
        assert (1, []) == (found["equal"], found["rows"])
        return
    (row,) = found["rows"]
    for side, values in (("a", a), ("b", b)):
        assert len(values) == row[side]["runs"]
        np.testing.assert_allclose(row[side]["mean"], np.mean(values), rtol=1e-12)
        np.testing.assert_allclose(row[side]["spread"], np.std(values, ddof=1), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(row["difference"], np.mean(b) - np.mean(a))
    told = [number for v in (a, b) for number in (np.mean(v), np.std(v, ddof=1), len(v))]
    is_alike = len(set(a)) == len(set(b)) == 1
    expected = 0.0 if is_alike else stats.ttest_ind_from_stats(*told, equal_var=False).pvalue
    np.testing.assert_allclose(row["p_value"], expected, rtol=1e-9, atol=1e-300)
    assert row["is_beyond_spread"] == (expected < 0.05)


@pytest.mark.parametrize(
    ("a", "b"), [([1.0], [5.0]), ([1.0, 2.0], [5.0]), ([1.0], [5.0, 6.0]), ([1.0, None], [5.0, 6.0])]
)
def test_one_run_has_no_spread(a: list[float | None], b: list[float | None]) -> None:
    """The difference is told, and that it cannot be judged; a seed without the measure is no run."""
    (row,) = results(waits("easy", a), waits("easy", b))["rows"]
    assert (None, None) == (row["p_value"], row["is_beyond_spread"])
    assert 3.5 <= row["difference"] <= 5.0
    assert None in (row["a"]["spread"], row["b"]["spread"])


def test_equal_numbers_over_more_seeds_are_equal() -> None:
    """A mean of three, and of seven, differ by rounding alone."""
    found = results(waits("fcfs", [0.1] * 3), waits("fcfs", [0.1] * 7))
    assert ([], 1) == (found["rows"], found["equal"])
    (row,) = results(waits("fcfs", [0.1] * 3), waits("fcfs", [0.2] * 7))["rows"]
    assert (0.0, 0.0, True) == (row["a"]["spread"], row["p_value"], row["is_beyond_spread"])


def test_what_only_one_has_and_what_is_missing() -> None:
    """Keys of one version are listed; a value that only one has is a difference that nothing judges."""
    a = [*waits("easy", [1.0, 2.0]), *waits("sjf", [1.0]), *waits("fcfs", [None, None]), *waits("none", [None])]
    b = [
        *waits("easy", [1.0, 2.0]),
        *waits("fcfs", [3.0, 4.0]),
        *waits("easy", [7.0], name="3"),
        *waits("none", [None]),
    ]
    found = results(a, b)
    assert (2, ["sjf"], [("easy", "3")]) == (
        found["equal"],
        [key["policy"] for key in found["only_a"]],
        [(key["policy"], key["job_class"]) for key in found["only_b"]],
    )
    (row,) = found["rows"]
    assert {"mean": None, "spread": None, "runs": 0} == row["a"]
    assert ("fcfs", None, None) == (row["key"]["policy"], row["difference"], row["is_beyond_spread"])


def test_parameters_and_classes_tell_results_apart() -> None:
    """The order of rows does not matter, a missing parameter is a key too, and the usual measures are marked first."""
    rows = [
        ("easy", "all", "wait", "mean", 0, 1.0),
        ("easy", "all", "wait", "p98", 0, 2.0),
        ("easy", "3", "wait", "mean", 0, 3.0),
        ("fcfs", "all", "makespan", "value", 0, 4.0),
    ]
    doubled = [(*row[:5], 2 * float(row[5] or 0)) for row in rows]
    found = results(rows, reversed(doubled))
    told = {(row["key"]["policy"], row["key"]["job_class"], row["key"]["statistic"]): row for row in found["rows"]}
    assert [1.0, 2.0, 3.0, 4.0] == [told[key]["difference"] for key in ((r[0], r[1], r[3]) for r in rows)]
    assert [True, False, False, True] == [told[key]["is_first"] for key in ((r[0], r[1], r[3]) for r in rows)]
    assert {None} == {row["key"]["parameter"] for row in found["rows"]}


def test_correctness_is_judged_by_its_standard_error() -> None:
    """Of waits, of all jobs and by queue; the other measures have no spread, and months are not compared."""

    def evaluation(correctness: float, error: float) -> pa.Table:
        row = {"method": "binomial", "correctness": correctness, "standard_error": error, "rms_ratio": 1.0}
        places = [("all", "all"), ("queue", "3"), ("month", "2001-03")]
        rows = [row | {"grouped_by": by, "group": group, "median_tightness": 1 / error} for by, group in places]
        return table_of("wait_evaluation", rows)

    how = COMPARED_TABLES["wait_evaluation"]
    found = compare_metrics(evaluation(0.95, 0.003), evaluation(0.96, 0.004), how)
    assert {"all", "queue"} == {row["key"]["grouped_by"] for row in found["rows"]}
    assert 2 == found["equal"]
    judged = [row for row in found["rows"] if row["value"] == "correctness"]
    assert [pytest.approx(2 * stats.norm.sf(2.0))] * 2 == [row["p_value"] for row in judged]
    assert [True, True] == [row["is_beyond_spread"] for row in judged]
    assert {None} == {row["is_beyond_spread"] for row in found["rows"] if row["value"] == "median_tightness"}
    again = compare_metrics(evaluation(0.95, 0.003), evaluation(0.957, 0.004), how)
    assert [False, False] == [row["is_beyond_spread"] for row in again["rows"] if row["value"] == "correctness"]
    assert {"correctness": "standard error", "rms_ratio": None, "median_tightness": None} == found["spreads"]


def test_a_reproduction_is_compared_by_cell() -> None:
    """Ours, with the spread that is known of it, and without a verdict, since it is of no one kind."""
    cell = {"paper": "p", "place": "Table 1", "row": "easy", "column": "wait", "reading": "first", "unit": "s"}
    a = table_of("reproduction", [cell | {"ours": 1.0, "spread": 0.1}, cell | {"column": "jobs", "ours": 5.0}])
    b = table_of("reproduction", [cell | {"ours": 2.0, "spread": 0.2}, cell | {"column": "jobs", "ours": 5.0}])
    found = compare_metrics(a, b, COMPARED_TABLES["reproduction"])
    (row,) = found["rows"]
    assert (1, 1.0, None, "wait") == (found["equal"], row["difference"], row["is_beyond_spread"], row["key"]["column"])
    assert [0.1, 0.2] == [row[side]["spread"] for side in "ab"]


def test_means_with_a_spread_over_runs_are_judged_like_runs() -> None:
    """A table that has mean, standard deviation and number of runs gives what the runs themselves give."""
    how = ComparedTable(("policy",), (Value("value", "spread", "seeds"),))
    runs = ([1.0, 2.0, 4.0], [5.0, 6.0, 6.5, 7.0])
    tables = [
        pa.table({"policy": ["easy"], "value": [np.mean(v)], "spread": [np.std(v, ddof=1)], "seeds": [len(v)]})
        for v in runs
    ]
    (row,) = compare_metrics(*tables, how)["rows"]
    (expected,) = results(waits("easy", runs[0]), waits("easy", runs[1]))["rows"]
    assert row["p_value"] == pytest.approx(expected["p_value"])
    assert row["is_beyond_spread"] == expected["is_beyond_spread"]
    once = pa.table({"policy": ["easy"], "value": [9.0], "spread": [0.0], "seeds": [1]})
    for pair in ((once, tables[1]), (tables[1], once)):
        (row,) = compare_metrics(*pair, how)["rows"]
        assert row["is_beyond_spread"] is None


def test_every_compared_table_is_in_the_dictionary() -> None:
    """Its keys, values and replications are columns of the table."""
    for table, how in COMPARED_TABLES.items():
        values = [name for value in how.values for name in (value.column, value.spread, value.runs)]
        named = {*how.keys, *values, how.over, *how.only, *how.first} - {""}
        assert named <= table_fields(table).keys()
        assert {*how.only, *how.first} <= set(how.keys)


def test_results_of_another_schema_are_not_compared(root: DataRoot, tmp_path: Path) -> None:
    """That is told with the version and the column, and the rest is compared; results in one version alone are not."""
    one = {"comparison": comparison(waits("easy", [1.0])), "metrics": table_of("metrics", [{"policy": "x"}])}
    publish(root, "v1", one)
    publish(root, "v2", {"comparison": comparison(waits("easy", [2.0]))}, seed=5)
    path = tmp_path / "data" / "sdsc" / "v1" / MANIFEST
    whole = json.loads(path.read_text())
    assert ["comparison"] == list(compared(root)["metrics"])
    for column in ("seed", "colour"):
        manifest = json.loads(json.dumps(whole)) | {"schema_version": 2}
        columns = manifest["tables"]["comparison"]["columns"]
        columns[column] = columns.pop("seed")
        if column == "seed":
            del columns["value"]
        path.write_text(json.dumps(manifest))
        found = compared(root)
        problem = found["metrics"]["comparison"]["problem"]
        assert problem.startswith("version v1 was made under schema version 2, in which column ")
        assert ("value" if column == "seed" else "colour") in problem
        assert ["schema_version", "seed"] == sorted(fact["path"] for fact in found["facts"])


def test_damaged_results_are_an_error(root: DataRoot, tmp_path: Path) -> None:
    """It is not said that there is no difference where it could not be looked for."""
    for version in ("v1", "v2"):
        publish(root, version, {"comparison": comparison(waits("easy", [1.0]))})
    folder = tmp_path / "data" / "sdsc" / "v2"
    (folder / "comparison" / "part-0.parquet").write_bytes(b"PAR1")
    with pytest.raises(SchemaError, match=r"part-0.parquet: damaged Parquet file"):
        compare_versions(root, "sdsc", "v1", "v2")
    (folder / MANIFEST).write_text("{")
    with pytest.raises(StorageError, match=r"v2/manifest.json: damaged manifest"):
        compare_versions(root, "sdsc", "v1", "v2")


# The version before


def test_the_version_before_the_latest(root: DataRoot, tmp_path: Path) -> None:
    """By time of publication, whatever is newer than the latest; damaged ones are passed over."""
    for version in ("v3", "v1", "v2", "v4"):
        publish(root, version)
    date(tmp_path / "data", "v3", "v1", "v2", "v4")
    assert "v2" == root.previous("sdsc")
    root.promote("sdsc", "v2")
    assert "v1" == root.previous("sdsc")
    (tmp_path / "data" / "sdsc" / "v1" / MANIFEST).write_text("{")
    date(tmp_path / "data", "v3", "v1", "v2", "v4")
    assert "v3" == root.previous("sdsc")
    root.promote("sdsc", "v3")
    with pytest.raises(VersionNotFoundError, match=r"'sdsc' has no version before 'v3'; it has v4, v2, v1, v3 \(list"):
        root.previous("sdsc")
    (tmp_path / "data" / "sdsc" / "latest").unlink()
    with pytest.raises(VersionNotFoundError, match=r"no version before None"):
        root.previous("sdsc")
    assert len(SWF_NAMES) == len(root.read_table("sdsc", "jobs", "v4").column_names)
