# SPDX-License-Identifier: BSD-3-Clause
"""The lines of docs/data_sets.md that read a version from S3, each against an emulated one."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from pipelines.store.data_root import DataRoot
from tests.pages import DOCS
from tests.pipelines.conftest import BUCKET
from tests.pipelines.store.samples import jobs, publish

PLACE = f"{BUCKET}/some/prefix"
BLOCKS = re.findall(r"```\n# (.*?)```", (DOCS / "data_sets.md").read_text(encoding="utf-8"), flags=re.DOTALL)
WAYS = [way for block in BLOCKS for way in re.split(r"^# ", block, flags=re.MULTILINE)]
"""Each a name, and the lines below it."""

pytestmark = pytest.mark.slow


def test_the_page_has_its_ways() -> None:
    """So that no change of the page empties this file."""
    assert [way.partition("\n")[0] for way in WAYS] == [
        *("pandas, by pyarrow", "pyarrow", "polars", "DuckDB, without an extension, by pyarrow", "this package"),
        *("pandas or pyarrow", "polars"),
    ]


@pytest.mark.parametrize("way", WAYS)
def test_a_way_reads_the_jobs(way: str, bucket: fs.S3FileSystem, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines as they stand on the page, but for the names of places, and for keys where the page has KEY."""
    root = DataRoot.open(f"s3://{PLACE}")
    publish(root, "v1")
    if "KEY" in way:  # then the environment is not what makes it work
        for name in ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
            monkeypatch.delenv(name)
    known: dict[str, Any] = {"pd": pd, "pq": pq, "ds": ds, "fs": fs, "DataRoot": DataRoot}
    known |= {"pl": pytest.importorskip("polars"), "duckdb": pytest.importorskip("duckdb")}
    lines = way.partition("\n")[2].strip()
    for name, value in {
        "traces/data": PLACE,
        "NAME": "sdsc",
        "VERSION": "v1",
        "https://s3.example.org": server,
        "KEY": "testing",
        "SECRET": "testing",
    }.items():
        lines = lines.replace(name, value)
    *before, last = [part.strip() for line in lines.splitlines() for part in line.split("; ")]
    exec("\n".join(before), known)
    found = eval(last, known)
    rows = found.fetchall()[0][0] if "duckdb" in last else len(found)
    assert rows == jobs().num_rows
