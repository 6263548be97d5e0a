# SPDX-License-Identifier: BSD-3-Clause
"""``publish`` adds nothing to a log; ``augment`` says what it adds, and a version marks each such column everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq

import swftools
from pipelines.cli.tasks import augment, publish
from pipelines.reports.report import Version, parts_of
from pipelines.store.data_root import DataRoot
from tests.pipelines.luigi_runs import SWFTOOLS, run

LOG = "; MaxProcs: 8\n; UnixStartTime: 0\n" + "".join(
    f"{job} {60 * job} 5 600 4 -1 -1 4 900 -1 1 7 -1 -1 3 -1 -1 -1\n" for job in range(1, 4)
)
MARK = "generated, not logged"


def columns_of(tmp_path: Path, name: str) -> tuple[set[str], set[str]]:
    """Return the columns of published jobs, and those that their Parquet file marks."""
    schema = pq.read_schema(tmp_path / "data" / name / "current" / "jobs" / "part-0.parquet")
    return set(schema.names), {field.name for field in schema if field.metadata.get(b"origin") == MARK.encode()}


def test_what_was_logged_and_what_is_generated(tmp_path: Path) -> None:
    """A plain version has no generated column; an augmented one says of the same columns everywhere that they are."""
    (tmp_path / "log.swf").write_text(LOG)
    plain = run([*SWFTOOLS, "publish", "log.swf", "--data-set", "plain"], tmp_path)
    added = run([*SWFTOOLS, "augment", "log.swf", "--augment", "utility", "--data-set", "added"], tmp_path)
    assert (plain.returncode, added.returncode) == (0, 0), plain.stderr + added.stderr
    assert f"added, {MARK}: utility (3 columns); without them: swftools publish" in added.stderr
    assert MARK not in plain.stderr
    columns, marked = columns_of(tmp_path, "plain")
    generated = {"utility_decay", "utility", "logged_utility"}
    assert not marked | columns & generated
    assert columns_of(tmp_path, "added") == (columns | generated | {"priority_rank"}, generated)
    version = tmp_path / "data/added/current"
    resources = json.loads((version / "datapackage.json").read_text())["resources"]
    fields = next(each["schema"]["fields"] for each in resources if each["name"] == "jobs")
    manifest = json.loads((version / "manifest.json").read_text())["tables"]["jobs"]["columns"]
    assert {each["name"] for each in fields if each.get("origin") == MARK} == generated
    assert {name for name, told in manifest.items() if told.get("origin") == MARK} == generated
    assert (version / "croissant.json").read_text().count(MARK) == 2  # it has no utility functions
    assert "3 columns of `jobs` are **generated, not logged**" in (version / "README.md").read_text()
    assert MARK not in (tmp_path / "data/plain/current/README.md").read_text()
    for name in ("plain", "added"):
        data = Version(root := DataRoot.open(tmp_path / "data"), root.manifest(name))
        told = " ".join(" ".join(part.sentences) for part in parts_of(data)[1])
        assert ("Generated, not logged: logged_utility, utility, utility_decay." in told) is (name == "added"), told
    trace = swftools.load("added", data_root=tmp_path / "data")
    assert f"3 columns {MARK}" in repr(trace)
    assert set(swftools.describe(trace)["generated_columns"]) == generated
    assert "generated_columns" not in swftools.describe(swftools.load("plain", data_root=tmp_path / "data"))


def test_it_takes_what_augment_takes() -> None:
    """But for what says what is added."""
    augmented, published = ({each.name for each in command.params} for command in (augment, publish))
    assert augmented - published == {"augmentations", "seed", "parameters", "settings"}
    assert published - augmented == set()
    assert {"log", "rules", "by_month", "data_set", "report", "dry_run", "as_json"} <= published
