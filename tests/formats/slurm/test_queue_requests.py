# SPDX-License-Identifier: BSD-3-Clause
"""What jobs of a queue ask of nodes, as squeue prints it as text, and as documents of two versions."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from swftools.formats import read_squeue
from swftools.formats.slurm.queue_requests import COLUMNS, QueueRequest, request_of

HEAD = (
    "JOBID|STATE|CPUS|TIME_LIMIT|TIME|SUBMIT_TIME|PARTITION|NODES|NODELIST|MIN_MEMORY|TRES_PER_NODE|FEATURES|"
    "OVER_SUBSCRIBE"
)

LINES = [
    "1|RUNNING|32|1:00:00|10:00|2026-11-24T08:00:00|gpu|2|n[01-02]|64G|gres/gpu:a100:2|(null)|OK",
    "2|PENDING|8|1:00:00|0:00|2026-11-24T08:00:00|short,batch|1-2||2000M|N/A|ssd&ib|NO",
    "3|PENDING|4|1:00:00|0:00|2026-11-24T08:00:00|batch|1||4Gc|gpu:1|(null)|OK",
]


def test_text(tmp_path: Path) -> None:
    """What is not told is missing; a range of nodes counts as the fewest."""
    path = tmp_path / "now.txt"
    path.write_text("\n".join([HEAD, *LINES]), encoding="utf-8")
    queue = read_squeue(path)
    ran, waits = queue.running.iloc[0], queue.waiting
    assert (ran["partition"], ran["nodes"], ran["requested_nodes"]) == ("gpu", "n[01-02]", 2)
    assert (ran["requested_memory_per_node"], ran["requested_gpus_per_node"], ran["gpu_types"]) == (65536, 2, "a100")
    assert waits["partition"].tolist() == ["short,batch", "batch"]
    assert waits["requested_nodes"].tolist() == [1, 1]
    assert waits["constraints"].fillna("").tolist() == ["ssd&ib", ""]
    assert waits["is_exclusive"].tolist() == [True, False]
    assert waits["requested_memory"].tolist()[1] == 4 * 1024 * 1024
    assert math.isnan(waits["requested_memory"].tolist()[0])
    assert waits["requested_memory_per_node"].tolist()[0] == 2000
    assert "gpu_types" not in waits  # of which none is told
    assert "is_exclusive" not in queue.running


def test_columns_that_nothing_is_told_of(tmp_path: Path) -> None:
    """A queue without them has the columns that it had."""
    path = tmp_path / "now.txt"
    path.write_text("JOBID|STATE|CPUS|TIME_LIMIT\n1|R|4|1:00\n2|PD|4|1:00", encoding="utf-8")
    queue = read_squeue(path)
    assert not set(COLUMNS) & {*queue.running, *queue.waiting}


def document(job: dict[str, Any]) -> dict[str, Any]:
    """Return what squeue --json prints of one running job."""
    known = {"job_id": 7, "job_state": "RUNNING", "cpus": 6, "time_limit": 60, "start_time": 100, "submit_time": 50}
    return {"jobs": [known | {"node_count": 2, "nodes": "n[1-2]", "partition": "batch"} | job]}


SOCKETS = {
    "0": {"cores": {"0": "allocated", "1": "allocated_and_in_use", "2": "allocated"}},
    "1": {"cores": {"0": "allocated"}},
}


@pytest.mark.parametrize(
    ("job", "want"),
    [
        ({"memory_per_cpu": 2000, "shared": "none"}, {"requested_memory": 2000 * 1024, "is_exclusive": True}),
        ({"memory_per_node": {"set": True, "number": 512}}, {"requested_memory_per_node": 512}),
        ({"memory_per_node": {"set": False, "number": 512}, "shared": ["user"]}, {}),
        ({"tres_req_str": "cpu=6,mem=12G,node=2,gres/gpu:v100=4"}, {"requested_gpus": 4, "gpu_types": "v100"}),
        ({"tres_per_node": "gres:gpu:2"}, {"requested_gpus_per_node": 2}),
        ({"features": "ssd", "nodes": ""}, {"constraints": "ssd", "nodes": None}),
        (
            {
                "job_resources": {
                    "allocated_nodes": [{"sockets": SOCKETS}, {"sockets": {"0": {"cores": {"3": "allocated"}}}}]
                }
            },
            {"node_cores": (3.0, 1.0)},
        ),
        (
            {"job_resources": {"nodes": {"allocation": [{"cpus": {"count": 4}}, {"cpus": {"count": 2}}]}}},
            {"node_cores": (4.0, 2.0)},
        ),
        ({"job_resources": {"nodes": "n[1-2]", "allocated_nodes": [{"nodename": "n1"}]}}, {}),
        ({"job_resources": None}, {}),
    ],
)
def test_documents(tmp_path: Path, job: dict[str, Any], want: dict[str, Any]) -> None:
    """Of Slurm 22.05, and of later ones, which count cores by node."""
    path = tmp_path / "now.json"
    path.write_text(json.dumps(document(job)), encoding="utf-8")
    jobs = read_squeue(path).running
    found = {name: jobs[name].iloc[0] for name in COLUMNS if name in jobs}
    usual = {"partition": "batch", "nodes": "n[1-2]", "requested_nodes": 2.0}
    assert found == {name: value for name, value in (usual | want).items() if value is not None}


@pytest.mark.parametrize("text", ["", "N/A", "(null)", "none", "8 GB", "x"])
def test_memory_that_is_none(text: str) -> None:
    """It is not told."""
    assert request_of({"MIN_MEMORY": text}) == pytest.approx(QueueRequest(), nan_ok=True)
