# SPDX-License-Identifier: BSD-3-Clause
"""What commands and resources of Slurm ask of nodes, form by form, in text and JSON."""

from __future__ import annotations

import io
import json
import math
from typing import Any

import pytest

from swftools import read_log
from swftools.formats.slurm.submit_line import asks_of


@pytest.mark.parametrize(
    ("line", "alone", "begins", "most"),
    [
        ("sbatch run.sh --exclusive -b now", 0, 0, None),
        ("sbatch --exclusive run.sh", 1, 0, None),
        ("sbatch --exclusive=user run.sh", 0, 0, None),
        ("sbatch -b now+60 run.sh", 0, 1, None),
        ("sbatch -bnow+60 run.sh", 0, 1, None),
        ("sbatch --begin=18:00 run.sh", 0, 1, None),
        ("sbatch --begin 18:00 run.sh", 0, 1, None),
        ("sbatch --ntasks-per-node=4 run.sh", 0, 0, 4),
        ("sbatch --ntasks-per-node 4 -c 3 run.sh", 0, 0, 12),
        ("sbatch -c3 --ntasks-per-node=4 --exclusive run.sh", 1, 0, 12),
        ("sbatch --cpus-per-task=2 --ntasks-per-node=4 run.sh", 0, 0, 8),
        ("sbatch --ntasks-per-node=0 run.sh", 0, 0, None),
        ("sbatch --ntasks-per-node=four run.sh", 0, 0, None),
        ("sbatch --wrap srun --exclusive -b x", 0, 0, None),
        ("sbatch --ntasks-per-node", 0, 0, None),
        ("", 0, 0, None),
    ],
)
def test_commands(line: str, alone: float, begins: float, most: float | None) -> None:
    """Options before the script count."""
    found = asks_of(line)
    assert (found.is_exclusive, found.has_begin) == (alone, begins)
    assert math.isnan(found.most_cores) if most is None else found.most_cores == most


def _job(number: int, requested: list[dict[str, Any]]) -> dict[str, Any]:
    time = {"submission": 1700000000 + number, "eligible": 1700000000, "start": 1700000600, "end": 1700004200}
    tres = {"allocated": [{"type": "cpu", "name": "", "count": 4}], "requested": requested}
    return {"job_id": number, "state": {"current": "COMPLETED"}, "time": time, "tres": tres, "nodes": "n1"}


def test_types_of_gpu_in_json() -> None:
    """A type that is told alone; of several each would be needed, so none is told."""
    gpu = [{"type": "gres", "name": f"gpu:{name}", "count": 1} for name in ("a100", "v100")]
    document = {"jobs": [_job(1, gpu[:1]), _job(2, gpu), _job(3, [{"type": "gres", "name": "gpu", "count": 2}])]}
    jobs = read_log(io.BytesIO(json.dumps(document).encode()), "slurm").jobs
    assert jobs["gpu_types"].fillna("-").tolist() == ["a100", "-", "-"]


def test_a_log_that_asks_nothing_has_no_such_columns() -> None:
    """What was published of it stays as it is."""
    text = (
        "JobID|State|Submit|Eligible|Start|End|NCPUS|ReqTRES|SubmitLine\n"
        "1|COMPLETED|2024-03-01T09:00:00|2024-03-01T09:05:00|2024-03-01T09:10:00|2024-03-01T10:10:00|4|cpu=4|sbatch a\n"
    )
    columns = read_log(io.BytesIO(text.encode()), "slurm", time_zone="UTC").jobs.columns
    assert not {"is_exclusive", "begin_time", "most_cores_per_node", "gpu_types"} & set(columns)
