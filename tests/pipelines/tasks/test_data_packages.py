# SPDX-License-Identifier: BSD-3-Clause
"""datapackage.json of each kind of version: what it says is so, and Frictionless finds no fault in the data."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import frictionless
import luigi
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pipelines.store.data_package import csv_form, table_schema_text
from pipelines.store.data_root import DataRoot
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.compare import ComparePolicies
from pipelines.tasks.evaluate_waits import EvaluateWaitPredictions
from pipelines.tasks.reproduce_paper import ReproducePaper
from swftools.fields.dictionary import PRIMARY_KEYS, table_fields
from tests.pipelines.accounting_logs import FORMAT, listing
from tests.pipelines.history.nights import HEADER, Site, days
from tests.pipelines.small_logs import build

# Frictionless leaves files to the collector of garbage.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{kind}")
    for kind in ("ResourceWarning", "pytest.PytestUnraisableExceptionWarning")
]

KINDS = ("trace", "accounting", "policies", "waits", "history", "shipped", "paper")


def by_day(*kinds: str) -> pytest.MarkDecorator:
    """Return a test of all kinds, of which some are looked at by day."""
    given = [pytest.param(kind, marks=() if kind in kinds else pytest.mark.slow) for kind in KINDS]
    return pytest.mark.parametrize("kind", given)


ODD = "; Acknowledge: Ann\n; Copyright: (c) 1999 A. Site\n" + HEADER
"""A header with terms."""
ODD_JOBS = """\
-1 80000 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1
99 90000 -1 -1 -1 -1 -1 8 -1 -1 5 7 -1 -1 3 -1 -1 -1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for logs and versions."""
    return tmp_path_factory.mktemp("packages")


def task_of(kind: str, folder: Path) -> luigi.Task:
    """Return the task that publishes a kind of version of a small log."""
    (folder / "log.swf").write_text(ODD + "".join(days(1)) + ODD_JOBS + "no job\n")
    (folder / "log.txt").write_text(listing())
    where: dict[str, Any] = {"log": str(folder / "log.swf"), "data_root": str(folder / "data"), "data_set": kind}
    if kind == "accounting":
        return BuildAugmentedTrace(**{**where, "log": str(folder / "log.txt")}, format=FORMAT)
    if kind == "policies":
        return ComparePolicies(**where, policies="fcfs,easy", augment="none")
    if kind == "waits":
        return EvaluateWaitPredictions(**where, methods="binomial")
    if kind == "paper":
        return ReproducePaper(paper="nurmi2009", quick=True, data_root=where["data_root"], data_set=kind)
    if kind == "shipped":
        return BuildAugmentedTrace(data_root=where["data_root"], data_set=kind)
    return BuildAugmentedTrace(**where)


def version_of(kind: str, folder: Path) -> Path:
    """Return the folder of a version of a kind, published if it is not there."""
    if kind == "history":
        site = Site(folder / "site", name=kind)
        if not site.store.data_sets():
            site.put("log.swf", "".join(days(4, first=28)))
            site.night()
        return Path(site.store.path(kind))
    task = task_of(kind, folder)
    assert task.complete() or build(task)
    return Path(DataRoot.open(folder / "data").path(kind))


def package_of(version: Path) -> dict[str, Any]:
    """Return the descriptor of a version."""
    package: dict[str, Any] = json.loads((version / "datapackage.json").read_text())
    return package


def schema_of(version: Path, resource: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a resource, which may be a file."""
    schema = resource["schema"]
    return dict(json.loads((version / schema).read_text()) if isinstance(schema, str) else schema)


@by_day("trace")
def test_frictionless_finds_no_fault(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in the descriptor nor in the data of all its tables and files."""
    monkeypatch.chdir(version_of(kind, folder))
    report = frictionless.Package("datapackage.json").validate()
    assert report.valid, report.flatten(["name", "rowNumber", "fieldName", "message"])
    assert len(report.tasks) == len(package_of(Path())["resources"])
    assert sum(task.stats["rows"] for task in report.tasks if "rows" in task.stats)


@by_day("trace")
# mlcroissant's own use of rdflib and pandas.
@pytest.mark.filterwarnings("ignore:ConjunctiveGraph:DeprecationWarning", "ignore:The inplace keyword")
def test_mlcroissant_finds_no_fault(
    kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It misses nothing but the date, which a version has not, and reads every row of every table."""
    mlcroissant = pytest.importorskip("mlcroissant")
    monkeypatch.chdir(version_of(kind, folder))
    data_set = mlcroissant.Dataset(jsonld="croissant.json")
    assert data_set.metadata.ctx.issues.errors == set()
    (warning,) = data_set.metadata.ctx.issues.warnings
    assert 'Property "https://schema.org/datePublished" is recommended, but does not exist' in warning
    assert "The JSON-LD `@context` is not standard" not in caplog.text
    tables = json.loads(Path("manifest.json").read_text())["tables"]
    rows = {each.name: sum(1 for _ in data_set.records(each.name)) for each in data_set.metadata.record_sets}
    assert rows == {table: described["rows"] for table, described in tables.items()}
    monkeypatch.chdir(folder)


@by_day("trace", "accounting", "policies", "waits", "history")
def test_what_the_package_says_is_so(kind: str, folder: Path) -> None:
    """Each file is there with size and hash, each table with its columns, keys and without NaN; nothing is left out."""
    version = version_of(kind, folder)
    package = package_of(version)
    beside = {"manifest.json", "datapackage.json", "croissant.json", "README.md"}
    there = {path.relative_to(version).as_posix() for path in version.rglob("*") if path.is_file()}
    assert there - beside == {resource["path"] for resource in package["resources"]}
    assert len({resource["name"] for resource in package["resources"]}) == len(package["resources"])
    for resource in package["resources"]:
        data = (version / resource["path"]).read_bytes()
        assert f"sha256:{hashlib.sha256(data).hexdigest()}" == resource["hash"]
        if resource.get("format") == "parquet":
            check_table(version, resource)
        else:
            assert len(data) == resource["bytes"]


def check_table(version: Path, resource: dict[str, Any]) -> None:
    """Assert that a Parquet file is what a resource says."""
    table, data = resource["path"].partition("/")[0], pq.read_table(version / resource["path"])
    schema, fields = schema_of(version, resource), table_fields(table)
    assert [field["name"] for field in schema["fields"]] == data.column_names
    for field in schema["fields"]:
        described = fields[field["name"]]
        assert (described.unit, described.meaning) == (field["unit"], field["description"])
        if pa.types.is_floating(described.type):
            assert not pc.any(pc.is_nan(data[field["name"]])).as_py(), "null is null, not NaN"
    assert schema.get("primaryKey", []) == list(PRIMARY_KEYS.get(table, ()))
    if key := schema.get("primaryKey"):
        assert data.select(key).group_by(key).aggregate([]).num_rows == data.num_rows


def test_keys_are_columns_without_nulls() -> None:
    """Of tables that there are; a job's number alone may be missing, whose occurrence then tells it from others."""
    for table, key in PRIMARY_KEYS.items():
        fields = table_fields(table)
        assert {"never"} == {fields[name].missing for name in key if name != "job_number"}, table


def test_an_empty_text_is_a_text() -> None:
    """Some columns that are never missing have it; a null is what a reader through pandas makes of it."""
    schema = json.loads(table_schema_text("measurements", ["x"]))
    assert [] == schema["missingValues"]
    frame = pd.DataFrame({"x": ["", "a"]})
    resource = frictionless.Resource(data=frame, format="pandas", schema=frictionless.Schema.from_descriptor(schema))
    assert resource.validate().valid


def test_terms_are_told(folder: Path) -> None:
    """As they were stated; that none were is told by the name for that."""
    assert [{"path": "README.md", "title": "by the log's header: (c) 1999 A. Site"}] == package_of(
        version_of("trace", folder)
    )["licenses"]
    (licence,) = package_of(version_of("accounting", folder))["licenses"]
    assert ("notspecified", "README.md") == (licence["name"], licence["path"])


def test_the_comments_of_csv_files_are_told(folder: Path) -> None:
    """Where the header stands behind them, and which columns it has."""
    resources = {each["path"]: each for each in package_of(version_of("trace", folder))["resources"]}
    found = {path: each for path, each in resources.items() if path.endswith(".csv")}
    assert 2 == len(found)
    for path, each in found.items():
        (row,) = each["dialect"]["headerRows"]
        lines = (version_of("trace", folder) / path).read_text().splitlines()
        assert all(line.startswith("#") for line in lines[: row - 1])
        assert [field["name"] for field in each["schema"]["fields"]] == lines[row - 1].split(",")


def test_a_csv_file_without_comments_has_none(tmp_path: Path) -> None:
    """And one that is empty has no columns."""
    (tmp_path / "a.csv").write_text('a,"b,c"\n#1,2\n')
    (tmp_path / "b.csv").write_text("")
    assert (("a", "b,c"), 0) == (csv_form(tmp_path / "a.csv").columns, csv_form(tmp_path / "a.csv").comments)
    assert ((), 0) == (csv_form(tmp_path / "b.csv").columns, csv_form(tmp_path / "b.csv").comments)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"type": "integer"', '"type": "number of"'),
        ('"hash": "sha256:', '"hash": "sha256:0'),
        *(
            pytest.param(*mistake, marks=pytest.mark.slow)
            for mistake in (
                ('"headerRows"', '"headlines"'),
                ('"nan"', '"null"'),
                ('"maximum": ', '"maximum": -'),
                ('"name": "submit_time"', '"name": "submitted"'),
            )
        ),
    ],
)
def test_a_package_with_a_mistake_is_found(
    old: str, new: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check above can fail."""
    shutil.copytree(version_of("trace", folder), tmp_path / "version")
    monkeypatch.chdir(tmp_path / "version")
    text = Path("datapackage.json").read_text()
    assert old in text
    Path("datapackage.json").write_text(text.replace(old, new))
    try:
        is_valid = frictionless.Package("datapackage.json").validate().valid
    except frictionless.FrictionlessException:
        is_valid = False
    assert not is_valid
