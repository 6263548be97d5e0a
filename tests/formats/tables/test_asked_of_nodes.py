# SPDX-License-Identifier: BSD-3-Clause
"""What tables say of what jobs asked of each node: published ones, and a user's own by a mapping."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from swftools import read_log
from swftools.errors import LogFormatError
from swftools.formats.tables.published.acme import Acme
from swftools.formats.tables.published.alcf import Alcf
from swftools.formats.tables.published.fdata import Fdata
from swftools.formats.tables.published.helios import Helios
from swftools.formats.tables.published.openb import OpenB
from swftools.formats.tables.published.pm100 import Pm100
from swftools.formats.tables.table_format import TableFormat

OWN = """id,submit,cpus,hosts,mem,gpu,kind,alone,after,props
1,1000000000,8,2,4096,1,a100,1,1000000600,fast
2,1000000005,8,0,,0,,0,,
3,1000000010,7,2,x,0.5,a100|v100,,yesterday,
"""
MAPPING = """
columns:
  submit: {column: submit, unit: s}
  log_id: id
  requested_nodes: hosts
  requested_cores_per_node: {column: cpus, over: hosts}
  requested_memory_per_node: {column: mem, unit: KB}
  requested_gpus_per_node: gpu
  gpu_types: kind
  is_exclusive: alone
  constraints: props
  begin: {column: after, unit: s}
"""


def _example(table: type[TableFormat]) -> Any:
    options = {"time_zone": "UTC"} if table is Alcf else {}
    return read_log(io.BytesIO(table.EXAMPLE.encode()), table.NAME, **options).jobs


def _known(values: Any) -> list[Any]:
    """Return values with None for missing ones."""
    return [None if missing else value for value, missing in zip(values, values.isna(), strict=True)]


def test_openb_tells_processors_memory_and_shares_of_gpus() -> None:
    """Of one node, with the types of GPU where a pod names them."""
    jobs = _example(OpenB)
    assert jobs["requested_cores_per_node"].tolist() == [6.0, 20.0, 88.0, 11.908]
    assert jobs["requested_memory_per_node"].tolist() == [12288.0, 65536.0, 327680.0, 47104.0]
    assert jobs["requested_gpus_per_node"].tolist() == pytest.approx([0.46, 0.0, 8.0, 1.0])
    assert "gpu_types" not in jobs
    named = OpenB.EXAMPLE.replace("1,460,,LS", "1,460,V100M16|V100M32,LS")
    jobs = read_log(io.BytesIO(named.encode()), "openb").jobs
    assert _known(jobs["gpu_types"]) == ["V100M16|V100M32", None, None, None]


def test_helios_and_acme_tell_processors_of_all_nodes() -> None:
    """So they are divided by the nodes; the memory of a pod is that of a node."""
    assert _example(Helios)["requested_cores_per_node"].tolist() == [1.0, 16.0, 1.0]
    jobs = _example(Acme)
    assert jobs["requested_cores_per_node"].tolist() == [120.0, 120.0]
    assert jobs["requested_memory_per_node"].tolist() == [1024000.0, 1024000.0]


@pytest.mark.parametrize("table", [Pm100, Alcf, Fdata])
def test_machines_that_give_nodes_whole(table: type[TableFormat]) -> None:
    """Every job has its nodes alone."""
    assert _example(table)["is_exclusive"].tolist() == [True, True]


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    """Each column may be mapped; what cannot be read is missing, and counted."""
    path = tmp_path / "mine.yaml"
    path.write_text(MAPPING, encoding="utf-8")
    trace = read_log(io.BytesIO(OWN.encode()), "table", mapping=str(path))
    jobs = trace.jobs
    assert _known(jobs["requested_cores_per_node"]) == [4.0, None, 3.5]
    assert _known(jobs["requested_memory_per_node"]) == [4.0, None, None]
    assert _known(jobs["requested_gpus_per_node"]) == [1.0, 0.0, 0.5]
    assert _known(jobs["gpu_types"]) == ["a100", None, "a100|v100"]
    assert _known(jobs["is_exclusive"]) == [True, None, None]
    assert _known(jobs["constraints"]) == ["fast", None, None]
    assert _known(jobs["begin_time"]) == [600.0, None, None]
    assert trace.provenance["anomalies"] == {
        "a requested_memory_per_node that cannot be read: taken for missing": 1,
        "begin is no time: taken for missing": 1,
    }


def test_a_column_that_another_is_divided_by_must_be_there(tmp_path: Path) -> None:
    """A name that is not in the table is told."""
    path = tmp_path / "mine.yaml"
    path.write_text(MAPPING.replace("over: hosts", "over: host"), encoding="utf-8")
    with pytest.raises(LogFormatError, match=r"host.*requested_cores_per_node is divided by"):
        read_log(io.BytesIO(OWN.encode()), "table", mapping=str(path))


def test_amounts_that_cannot_be(tmp_path: Path) -> None:
    """They are missing, and counted; the job stays."""
    path = tmp_path / "mine.yaml"
    path.write_text(MAPPING, encoding="utf-8")
    table = "\n".join([OWN.splitlines()[0], "1,1000000000,-8,2,4096,1e30,,,99999999999,", "2,1000000001,,,,,,,0,"])
    trace = read_log(io.BytesIO(table.encode()), "table", mapping=str(path))
    assert len(trace) == 2
    assert not {"requested_cores_per_node", "requested_gpus_per_node", "begin_time"} & set(trace.jobs)
    assert trace.provenance["anomalies"] == {
        "begin beyond the year 2286: taken for missing": 1,
        "requested_cores_per_node is below 0 or beyond 2.14748e+09: taken for missing": 1,
        "requested_gpus_per_node is below 0 or beyond 2.14748e+09: taken for missing": 1,
    }
