# SPDX-License-Identifier: BSD-3-Clause
"""Logs as they were published, on the machines that come with them: who can run, and what of it is assumed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from swftools import read_log
from swftools.machines.asked import Asked
from swftools.machines.description import read_machine
from swftools.machines.requests import ask_of
from tests.machines.tables import machine
from tests.machines.test_requests import reasons


def _told(asked: Asked) -> list[str]:
    """Return what is assumed, up to the reason."""
    return [each.partition(",")[0].partition(":")[0] for each in asked.assumed]


def test_cerit_with_its_machines(shared: Path) -> None:
    """All jobs of wagap-2013 can run on its two clusters, each on that which it names."""
    folder = shared / "samples" / "modern"
    log, table = read_log(folder / "wagap-2013_4000.swf"), read_machine(folder / "wagap-2013.machines").table()
    asked = ask_of(log, table)
    assert not asked.code.any()
    assert (table.kinds, asked.assumed[-1]) == (
        ("zewura", "zegox"),
        "names in requests that nothing of the machine has are not followed: x86_64, brno, nfs4: 2,063 jobs",
    )
    requests = log.jobs["resource_request"]
    for name in table.kinds:
        wants = requests.str.contains(f":cl_{name}").to_numpy(bool)
        places = {int(place) for place in asked.place[wants]}
        assert all((table.kind[asked.places[place].nodes[0]] == table.kinds.index(name)).all() for place in places)
    other = asked.place[requests.str.contains(":^cl_zewura", regex=False).to_numpy(bool)]
    assert [asked.places[place].nodes[0].tolist() for place in other] == [list(range(20, 68))]
    assert (asked.is_exclusive == requests.str.endswith("#excl").to_numpy(bool)).all()
    width = log.jobs["requested_processors"].to_numpy(float)
    assert (np.abs(asked.nodes * asked.cores - width) <= 1).all()


def test_a_real_slurm(shared: Path) -> None:
    """All of its jobs can run on what its slurm.conf says; who was given more than its minimum of nodes is told."""
    folder = shared / "slurm"
    table = read_machine(folder / "conf" / "slurm.conf").table()
    log = read_log(folder / "snapshots" / "end" / "sacct_sched.txt.gz", "slurm", time_zone="UTC")
    asked = ask_of(log, table)
    assert not asked.code.any()
    assert _told(asked) == ["more nodes than the log tells"]
    lines = log.jobs["submit_line"].fillna("")
    alone = lines.str.contains(" --exclusive ").to_numpy(bool)
    in_exclusive = lines.str.contains("-p big").to_numpy(bool)
    assert (asked.is_exclusive == (alone | in_exclusive)).all()
    begins = lines.str.contains("--begin").to_numpy(bool)
    assert np.isfinite(asked.ready_time).sum() == begins.sum() > 0
    assert (asked.ready_time[begins] >= log.views.submit_time[begins]).all()
    gpus = log.jobs["requested_gpus"].fillna(0).to_numpy(float)
    assert (asked.nodes * asked.gpus >= 1000 * gpus).all()
    assert (asked.nodes * asked.cores >= log.jobs["requested_processors"].to_numpy(float)).all()
    as_json = ask_of(read_log(folder / "snapshots" / "end" / "sacct.json.gz", "slurm"), table)
    assert sorted(zip(as_json.nodes.tolist(), as_json.cores.tolist(), as_json.memory.tolist(), strict=True)) == sorted(
        zip(asked.nodes.tolist(), asked.cores.tolist(), asked.memory.tolist(), strict=True)
    )


@pytest.mark.parametrize(("name", "cannot"), [("default", 0), ("gpuspec33", 1)])
def test_openb_with_its_nodes(shared: Path, name: str, cannot: int) -> None:
    """Pods ask for shares of processors and of GPUs, on nodes with the type that they name."""
    folder = shared / "samples" / "openb"
    table = read_machine(folder / "openb_node_list_all_node.csv.gz").table()
    log = read_log(folder / f"openb_pod_list_{name}.csv.gz")
    asked = ask_of(log, table)
    assert int((asked.code > 0).sum()) == cannot
    runs = asked.code == 0
    assert (asked.nodes[runs] == 1).all()
    assert (asked.gpus[runs] == np.round(1000 * log.jobs["requested_gpus_per_node"].to_numpy(float)[runs])).all()
    assert (asked.cores[runs] == np.ceil(log.jobs["requested_cores_per_node"].to_numpy(float)[runs])).all()
    assert _told(asked) == ["the only partition of the machine", "cores rounded up to whole ones"]


def test_theta_counts_nodes(shared: Path) -> None:
    """Its header has as many nodes as processors: widths are whole nodes."""
    log = read_log(shared / "samples" / "modern" / "theta_2023_3000.swf")
    asked = ask_of(log, machine("knl 4392 64 196608 0"))
    assert not asked.code.any()
    assert (asked.nodes == log.views.width).all()
    assert asked.is_exclusive.all()


def test_eagle_counts_cores(shared: Path) -> None:
    """Nodes and cores of all are told; a GPU is on none of its plain nodes."""
    log = read_log(shared / "samples" / "modern" / "nrel_eagle_500.csv")
    plain = ask_of(log, machine("plain 2000 36 92160 0"))
    assert set(reasons(plain)) == {"", "asks for more GPUs on a node than any node of its partition has"}
    asked = ask_of(log, machine("plain 2000 36 92160 0 / gpu 50 36 768000 2"))
    assert not asked.code.any()
    assert (asked.nodes >= log.jobs["requested_nodes"].to_numpy(float)).all()
    assert (asked.nodes * asked.cores >= log.jobs["requested_processors"].to_numpy(float)).all()
