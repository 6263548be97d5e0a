# SPDX-License-Identifier: BSD-3-Clause
"""Hand-drawn E records of PBS, a variation each: processors, nodes and GPUs that jobs had and asked for."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from swftools.machines.requests import ask_of
from tests.formats.pbs.compared import read
from tests.formats.pbs.records import job, reason, record
from tests.machines.tables import machine


@pytest.mark.parametrize(
    ("hosts", "processors", "nodes"),
    [
        ("h/0+h/1", 2, 1),
        ("h/0-3", 4, 1),
        ("h/0-1,5", 3, 1),
        ("h/0*13", 13, 1),
        ("h/0*13+g/1*2", 15, 2),
        ("a/0+b/0+a/1", 3, 2),
        ("node", 1, 1),
        ("n1/0-3+n2/0-3", 8, 2),
        ("a/7-7", 1, 1),
        ("n1,n2", 2, 2),
        ("n1/0-1,5,n2/3", 4, 2),
        ("n[01-04,7]", 5, 5),
        ("r[1-2]n[1-4]/0-3", 32, 8),
        ("n[01-04]ib,m", 5, 5),
        ("0-4,6-7", 7, 7),
        ("5", 1, 1),
        ("n1:ppn=4+n2:ppn=4:fast", 8, 2),
        ("n1:fast:ncpus=2", 2, 1),
        ("n1:15002/0*4+n2:15002/0*4", 8, 2),
        ("10.0.0.1/0-3", 4, 1),
        ("R10-M0-N03", 1, 1),
        ("n[1-x]", 1, 1),
        ("n[4-1]", 1, 1),
        ("9-3", 1, 1),
    ],
)
def test_exec_host(hosts: str, processors: int, nodes: int) -> None:
    """Slots one by one, in ranges, in lists, and counted; a host counts once wherever it stands."""
    row = job(exec_host=hosts, **{"resources_used.cput": "00:10:00", "resources_used.mem": f"{processors}mb"})
    assert (row["allocated_processors"], row["allocated_nodes"]) == (processors, nodes)
    assert row["average_cpu_time"] == pytest.approx(600 / processors)
    assert row["used_memory"] == 1024


@pytest.mark.parametrize(
    "hosts", ["h/", "h/3-1", "h/a", "h,", ",h", "h:ppn=x", "h/0,", "+h/0", "h/0+", "h/0*", "h/0-", "h/9999999999"]
)
def test_exec_host_that_cannot_be_read(hosts: str) -> None:
    """Nothing is guessed."""
    assert reason(exec_host=hosts) == f"exec_host cannot be read: {hosts!r}"


def test_without_exec_host() -> None:
    """What there is counts: exec_vnode, resources_used.ncpus, total_execution_slots; else nothing is known."""
    vnodes = {"exec_vnode": "(n1:ncpus=8:ngpus=2:mem=1gb)+(n2:ncpus=8+n2[1]:ncpus=1)"}
    row = job(**vnodes, **{"resources_used.ncpus": 3})
    assert (row["allocated_processors"], row["allocated_gpus"]) == (17, 2)
    assert job(**{"resources_used.ncpus": 3, "total_execution_slots": 4})["allocated_processors"] == 3
    assert job(total_execution_slots=4)["allocated_processors"] == 4
    row = job()
    assert pd.isna(row["allocated_processors"])
    assert row["trace"].provenance["anomalies"] == {"started, and nothing says on how many processors": 1}


SHORT = "exec_host names fewer processors than nodect, ncpus or procs: the larger count was taken"


@pytest.mark.parametrize(
    ("given", "processors", "nodes"),
    [
        ({"exec_host": "h/0*2", "resources_used.ncpus": 8}, 8, 1),
        ({"exec_host": "h/0*2", "Resource_List.ncpus": 8}, 8, 1),
        ({"exec_host": "h/0*2", "Resource_List.procs": 8}, 8, 1),
        ({"exec_host": "h/0*2", "Resource_List.mppwidth": 4, "Resource_List.mppdepth": 2}, 8, 1),
        ({"exec_host": "h/0*2", "Resource_List.size": 8}, 8, 1),
        ({"exec_host": "R10-M0", "Resource_List.nodect": 512}, 512, 512),
        ({"exec_host": "n1", "Resource_List.nodect": 2, "Resource_List.ncpus": 16}, 16, 2),
    ],
)
def test_hosts_that_do_not_expand(given: dict[str, Any], processors: int, nodes: int) -> None:
    """The larger count wins, and that is told; not of one that is no count."""
    row = job(**given)
    assert (row["allocated_processors"], row["allocated_nodes"]) == (processors, nodes)
    assert row["trace"].provenance["anomalies"] == {SHORT: 1}
    sound = job(exec_host="h/0*8", **{"Resource_List.nodect": -1, "resources_used.ncpus": 8, "Resource_List.procs": 8})
    assert sound["allocated_processors"] == 8
    assert "anomalies" not in sound["trace"].provenance


def test_vnodes() -> None:
    """The first of several vnodes has no slots in exec_host; exec_vnode says all, and nothing is odd."""
    vnodes = {"exec_vnode": "(n[0]:ncpus=4+n[1]:ncpus=4)"}
    for hosts, processors in (("n/0*0", 8), ("n/0*0+m/0*4", 8), ("n/0*9", 9)):
        row = job(exec_host=hosts, **vnodes)
        assert row["allocated_processors"] == processors
        assert "anomalies" not in row["trace"].provenance
    assert job(exec_host="n/0*0", **{"Resource_List.ncpus": 72})["allocated_processors"] == 72
    assert pd.isna(job(exec_host="n/0*0")["allocated_processors"])


def test_allocation() -> None:
    """The most that hosts and ncpus say, or ncpus; that they differ is told."""
    given = {"exec_host": "h/0*2", "exec_vnode": "(h:ncpus=4)", "resources_used.ncpus": 8}
    row = job(**given)
    assert row["allocated_processors"] == 8
    assert row["trace"].provenance["anomalies"] == {SHORT: 1}
    assert job(options={"allocation": "ncpus"}, **given)["allocated_processors"] == 4
    del given["exec_vnode"]
    assert job(options={"allocation": "ncpus"}, **given)["allocated_processors"] == 8
    row = job(exec_host="h/0*9", **{"resources_used.ncpus": 8})
    assert row["allocated_processors"] == 9
    assert row["trace"].provenance["anomalies"] == {"the slots of exec_host are not as many as resources_used.ncpus": 1}


@pytest.mark.parametrize(
    ("given", "processors", "nodes", "gpus"),
    [
        ({"select": "2:ncpus=4:mpiprocs=4:ngpus=1+1:ncpus=1", "place": "scatter"}, 9, 3, 2),
        ({"select": "2:ncpus=4", "ncpus": 8, "nodect": 1, "place": "vscatter:excl"}, 8, 1, None),
        ({"select": "ncpus=4:mem=2gb"}, 4, 1, None),
        ({"select": "3", "ncpus": 6, "ngpus": 1}, 6, None, 1),
        ({"nodes": "2:ppn=4", "ncpus": 1}, 8, 2, None),
        ({"nodes": "1:ppn=8+2:ppn=4"}, 16, 3, None),
        ({"nodes": "n1+n2"}, 2, 2, None),
        ({"nodes": "n1:ppn=3+2:ppn=2:gpus=2#shared", "nodect": 3}, 7, 3, 4),
        ({"procs": 12, "ncpus": 1}, 12, None, None),
        ({"ncpus": 5}, 5, None, None),
        ({"nodes": "1", "nodect": 1, "procs": 16}, 16, 1, None),
        ({"nodes": "1", "nodect": 1, "ncpus": 16}, 16, 1, None),
        ({"nodes": "2:ppn=4", "procs": 16}, 16, 2, None),
        ({"nodes": "2:ppn=4", "procs": 3}, 8, 2, None),
        ({"nodes": "2:ppn=4", "mppwidth": 32, "mppdepth": 2}, 64, 2, None),
        ({"select": "1", "ncpus": 1, "mppwidth": 128}, 128, 1, None),
        ({"size": 24, "ncpus": 1}, 24, None, None),
    ],
)
def test_requests(given: dict[str, Any], processors: int, nodes: int | None, gpus: int | None) -> None:
    """What is asked for, in the words of PBS Professional and of Torque."""
    row = job(**{f"Resource_List.{key}": value for key, value in given.items()})
    told = (row["requested_processors"], row.get("requested_nodes"), row.get("requested_gpus"))
    assert [None if pd.isna(value) else value for value in told] == [processors, nodes, gpus]


@pytest.mark.parametrize(
    ("place", "nodes", "cores", "memory"),
    [
        (None, None, None, None),
        ("free", None, None, None),
        ("excl", None, None, None),
        ("free:group=scatterer", None, None, None),
        ("pack", 1, 12, None),
        ("pack:exclhost", 1, 12, None),
        ("scatter", 3, 4, 2048),
        ("vscatter:excl", 3, 4, 2048),
    ],
)
def test_chunks_are_nodes_where_they_are_scattered(
    place: str | None, nodes: int | None, cores: int | None, memory: int | None
) -> None:
    """Else a job asks for so much in all: on one node if packed, on any number of them if not."""
    given = {"Resource_List.select": "3:ncpus=4:mem=2gb:ngpus=1", "Resource_List.nodect": 3, "exec_host": "a/0*12"}
    row = job(**given, **({"Resource_List.place": place} if place else {}))
    names = ("requested_nodes", "requested_cores_per_node", "requested_memory_per_node", "requested_gpus_per_node")
    told = [None if pd.isna(row.get(name)) else row[name] for name in names]
    assert told == [nodes, cores, memory, 1 if memory else None]
    assert (row["requested_processors"], row["requested_gpus"]) == (12, 3)
    if not memory:
        assert row["requested_memory"] == 3 * 2 * 2**20 / 12
    assert job(**given | {"Resource_List.mem": "12gb"})["requested_memory"] == 2**20


def test_one_chunk_is_a_node() -> None:
    """Wherever it is placed; chunks that differ are told of only where they are nodes."""
    row = job(**{"Resource_List.select": "1:ncpus=4", "Resource_List.place": "free"})
    assert (row["requested_nodes"], row["requested_cores_per_node"]) == (1, 4)
    for place, count in (("free", 0), ("pack", 0), ("scatter", 1)):
        given = {"Resource_List.select": "1:ncpus=4+2:ncpus=1", "Resource_List.place": place}
        told = job(exec_host="a/0*6", **given)["trace"].provenance.get("anomalies", {})
        assert sum("nodes of several kinds" in each for each in told) == count


def test_chunks_on_a_machine() -> None:
    """As few nodes as hold them, although each chunk counts as a node in PBS's own words."""
    select = {"Resource_List.select": "32:ncpus=1:mem=1gb", "Resource_List.nodect": 32, "exec_host": "a/0*32"}
    lines = [
        record(job_id=f"{at}.s", **select, **{"Resource_List.place": place})
        for at, place in enumerate(("free", "pack", "scatter", "free:excl"))
    ]
    asked = ask_of(read(b"".join(lines)), machine("small 4 8 16384 0"))
    assert asked.nodes.tolist() == [4, 0, 0, 4]
    assert asked.cores.tolist() == [8, 0, 0, 8]
    assert asked.memory.tolist() == [8192, 0, 0, 8192]
    assert [asked.reasons[code] for code in asked.code[1:3]] == [
        "asks for more cores on a node than any node of its partition has",
        "asks for more nodes than its partition has that are large enough",
    ]
    large = ask_of(read(b"".join(lines)), machine("large 32 64 65536 0"))
    assert large.nodes.tolist() == [1, 1, 32, 1]
    assert large.cores.tolist() == [32, 32, 1, 32]


def test_nodes_and_procs_together() -> None:
    """Torque gives both where a job asks for both, which its hosts show."""
    given = {"Resource_List.nodes": "2:ppn=4", "Resource_List.procs": 3}
    assert job(exec_host="a/0-3+b/0-3+c/0-2", **given)["requested_processors"] == 11
    assert job(exec_host="a/0-3+b/0-3", **given)["requested_processors"] == 8


def test_request_that_cannot_be_read() -> None:
    """A job is a job though its request is odd, and that is told."""
    row = job(**{"Resource_List.select": "2:ncpus=x"})
    assert pd.isna(row["requested_processors"])
    assert row["trace"].provenance["anomalies"]["Resource_List.select cannot be read"] == 1
