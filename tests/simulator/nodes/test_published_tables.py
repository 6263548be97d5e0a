# SPDX-License-Identifier: BSD-3-Clause
"""Tables that sites publish, from their text to a schedule on nodes; the rows are made from the lists of columns."""

from __future__ import annotations

import io

import numpy as np
import pytest

from swftools import MachineDescription, read_log, simulate
from swftools.simulator import allocations_of, validate
from tests.formats.tables.made import longer

NODES = {
    "pm100": {"kind": "node", "count": 980, "cores": 32, "memory": "256G", "gpus": 4},
    "helios": {"kind": "node", "count": 143, "cores": 48, "memory": "376G", "gpus": 8},
}


@pytest.mark.parametrize("name", NODES)
def test_jobs_run_on_as_many_nodes_as_the_table_says(name: str) -> None:
    """All jobs that ran can run, each on its nodes with its GPUs; those of PM100 have them alone."""
    trace = read_log(io.BytesIO(longer(name)), name)
    machine = MachineDescription.from_mapping({"nodes": [NODES[name]]})
    schedule = simulate(trace, "easy", machine=machine)
    assert len(schedule) > 10
    assert set(schedule.excluded["reason"]) <= {"no run_time (cancelled=drop)"}
    asked = trace.jobs.set_index("job_number").loc[schedule.segments["job_number"]]
    held = allocations_of(schedule)
    assert np.bincount(held.run).tolist() == asked["requested_nodes"].tolist()
    assert (schedule.segments["is_exclusive"] == (name == "pm100")).all()
    gpus = schedule.segments["gpus_per_node"].to_numpy(float) * asked["requested_nodes"].to_numpy(float)
    if name == "helios":
        assert gpus.tolist() == asked["requested_gpus"].tolist()
    assert validate(schedule, trace=trace).ok
