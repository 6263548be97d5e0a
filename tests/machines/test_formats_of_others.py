# SPDX-License-Identifier: BSD-3-Clause
"""Machines as PBS, Torque, LoadLeveler and simulators describe them; samples are made from what is documented."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from swftools import read_machine, read_swf, simulate
from swftools.errors import ParameterError
from swftools.machines.description import MachineDescription
from tests.machines.same_tables import differences

PBS = """\
n1
     Mom = n1.site
     ntype = PBS
     state = free
     pcpus = 8
     resources_available.host = n1
     resources_available.mem = 16777216kb
     resources_available.ncpus = 8
     resources_available.ib = True
     resources_available.Qlist = day,night
     resources_assigned.ncpus = 4

n2
     Mom = n2.site
     ntype = PBS
     state = offline,job-busy
     comment = a fan
     resources_available.mem = 16gb
     resources_available.ncpus = 8
     resources_available.ib = True
     resources_available.Qlist = day

g[0]
     ntype = PBS
     state = free
     resources_available.mem = 65536mb
     resources_available.ncpus = 16
     resources_available.ngpus = 4

host
     ntype = PBS
     state = free
     resources_available.ncpus = 0
"""
JSON = """\
{
    "timestamp": 1700000000,
    "pbs_version": "22.05",
    "pbs_server": "srv",
    "nodes": {
        "n1": {"state": "free", "resources_available": {"ncpus": 8, "mem": "16777216kb", "ib": "True",
            "Qlist": "day,night"}},
        "n2": {"state": "offline,job-busy", "comment": "a fan", "resources_available": {"ncpus": 8, "mem": "16gb",
            "ib": "True", "Qlist": "day"}},
        "g[0]": {"state": "free", "resources_available": {"ncpus": 16, "mem": "65536mb", "ngpus": 4}},
        "host": {"state": "free", "resources_available": {"ncpus": 0}}
    }
}
"""
TORQUE = """\
t-1
     state = free
     np = 32
     properties = short,long
     ntype = cluster
     status = rectime=1,state=free,ncpus=32,physmem=529426924kb,totmem=1kb,uname=Linux a = b
     gpus = 2

t-2
     state = down
     np = 32
     properties = short,long
     ntype = cluster
     note = a disk
     status = physmem=529426924kb
     gpus = 2
"""
LOADLEVELER = """\
===============================================================================
Name                           = a1.site
Machine                        = a1.site
Arch                           = R6000
MACHPRIO                       = (0 - LoadAvg)
ConfiguredClasses              = small(2) large(4)
        No_Class(1)
Feature                        = "big" fast
Max_Starters                   = 4
Memory                         = 4096 mb
Cpus                           = 4
State                          = Idle
===============================================================================
Name                           = a2.site
Machine                        = a2.site
ConfiguredClasses              = large(4)
Feature                        =
Max_Starters                   = 2
ConsumableResources            = ConsumableCpus(1,6) ConsumableMemory(1.000 gb,8.000 gb)
Memory                         = 16384 mb
Cpus                           = 8
State                          = Drained
===============================================================================
Name                           = submit
ConfiguredClasses              =
Max_Starters                   = 0
"""
BATSIM = """\
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://example.org/simgrid.dtd">
<platform version="4.1">
 <zone id="all" routing="Full">
  <host id="master_host" speed="1Gf"/>
  <cluster id="acme" prefix="node-" suffix=".org" radical="0-3,7" speed="2Gf, 1Gf" core="8" bw="1MBps" lat="1us">
    <prop id="wattage_per_state" value="100:110:180, 90:95:120"/>
  </cluster>
  <host id="fat" speed="1000.0Mf" core="32"/>
  <host id="store" speed="1Gf"><prop id="role" value="storage"/></host>
 </zone>
</platform>
"""
RAPS = """\
{
\t"NUM_CDUS": 2, "RACKS_PER_CDU": 2, "NODES_PER_RACK": 4,
\t"MISSING_RACKS": [1], "DOWN_NODES": [0, 5, 9],
\t"CPUS_PER_NODE": 2, "CORES_PER_CPU": 12, "GPUS_PER_NODE": 4
}
"""
OPENDC = """\
{
    "clusters": [
        {"name": "C", "count": 2, "hosts": [
            {"name": "H", "count": 3,
             "cpu": {"coreCount": 8, "coreSpeed": 2000, "count": 2},
             "memory": {"memorySize": 100000},
             "powerModel": {"modelType": "linear", "idlePower": 200.0, "maxPower": 360.0}},
            {"cpus": [{"coreCount": 4, "coreSpeed": 3000}, {"coreCount": 4, "coreSpeed": 1000}],
             "memory": {"memorySize": "64 GiB"}, "gpu": {"modelName": "a100", "count": 2}}
        ]}
    ]
}
"""
RAPS_YAML = "system:\n  num_cdus: 1\n  racks_per_cdu: 1\n  nodes_per_rack: 2\n  cpus_per_node: 1\n  gpus_per_node: 0\n"
ALL = {
    "pbsnodes": PBS,
    "pbsnodes-json": JSON,
    "torque": TORQUE,
    "llstatus": LOADLEVELER,
    "simgrid": BATSIM,
    "raps": RAPS,
    "raps-yaml": RAPS_YAML,
    "opendc": OPENDC,
}

_REST = "-1 1 1 1 1 1 1 -1 -1"


def read(tmp_path: Path, text: str) -> MachineDescription:
    """Return the machine of a file without a suffix that would say what it is."""
    path = tmp_path / "file"
    path.write_text(text)
    return read_machine(path)


@pytest.mark.parametrize("name", ALL)
def test_read_written_and_simulated(tmp_path: Path, name: str) -> None:
    """Each is found by its text; its YAML is the same machine; jobs run on it."""
    machine = read(tmp_path, ALL[name])
    assert differences(read(tmp_path, machine.to_yaml()).table(), machine.table()) == []
    trace = read_swf(io.BytesIO("".join(f"{job} {job} -1 10 1 -1 -1 1 20 {_REST}\n" for job in (1, 2)).encode()))
    assert len(simulate(trace, "fcfs", machine=machine).segments) == 2


def test_nodes_of_pbs(tmp_path: Path) -> None:
    """Text and JSON say the same; queues are partitions; who has none is in all; hosts of vnodes are left out."""
    machine = read(tmp_path, PBS)
    assert differences(read(tmp_path, JSON).table(), machine.table()) == []
    table = machine.table()
    assert table.names == ("g-0", "n1", "n2")
    assert (table.cores.tolist(), table.memory.tolist()) == ([16, 8, 8], [65536, 16384, 16384])
    assert (table.gpus.tolist(), table.features[1]) == ([4000, 0, 0], {"ib"})
    assert {part.name: part.nodes.tolist() for part in table.partitions} == {"day": [0, 1, 2], "night": [0, 1]}
    assert [(each.nodes, each.kind, each.reason) for each in machine.outages] == [(("n2",), "drain", "a fan")]
    assert any("host" in note for note in machine.notes)
    assert any("n[0] is n-0" in note for note in machine.notes)
    assert read(tmp_path, JSON).name == "srv"


def test_nodes_of_torque(tmp_path: Path) -> None:
    """Processors are np, memory is what the node reports, properties are features."""
    machine = read(tmp_path, TORQUE)
    table = machine.table()
    assert (table.cores.tolist(), table.memory.tolist()) == ([32, 32], [529426924 // 1024] * 2)
    assert (table.gpus.tolist(), table.features) == ([2000, 2000], (frozenset({"short", "long"}),))
    assert [(each.nodes, each.kind, each.reason) for each in machine.outages] == [(("t-2",), "down", "a disk")]


def test_machines_of_loadleveler(tmp_path: Path) -> None:
    """Classes are partitions, also on a second line; what may be consumed counts; who starts nothing is left out."""
    machine = read(tmp_path, LOADLEVELER)
    table = machine.table()
    assert (table.names, table.cores.tolist()) == (("a1.site", "a2.site"), [4, 6])
    assert table.memory.tolist() == [4096, 8192]
    assert table.features[table.kind[0]] == {"big", "fast"}
    assert {part.name: part.nodes.tolist() for part in table.partitions} == {"small": [0], "large": [0, 1]}
    assert [(each.nodes, each.kind) for each in machine.outages] == [(("a2.site",), "drain")]
    assert sum("Max_Starters" in note for note in machine.notes) == 2


def test_platform_of_batsim(tmp_path: Path) -> None:
    """Ranges of numbers, speeds beside the first's, W of a host and its cores; masters and storage are left out."""
    machine = read(tmp_path, BATSIM)
    table = machine.table()
    assert table.names == (*(f"node-{number}.org" for number in (0, 1, 2, 3, 7)), "fat")
    assert table.cores.tolist() == [8] * 5 + [32]
    assert table.speed.tolist() == [1.0] * 5 + [0.5]
    power = machine.nodes[0].power
    assert power is not None
    assert (power.static, power.idle, power.busy) == (100, 0, 10)
    assert machine.nodes[1].power is None


def test_system_of_raps(tmp_path: Path) -> None:
    """Numbers of nodes stay, those of missing racks are away for good, those that are down now are an outage."""
    machine = read(tmp_path, RAPS)
    table = machine.table()
    assert table.names == tuple(f"node{number}" for number in (*range(4), *range(8, 16)))
    assert (set(table.cores.tolist()), set(table.gpus.tolist())) == ({24}, {4000})
    assert [each.nodes for each in machine.outages] == [("node[0,9]",)]
    small = read(tmp_path, RAPS_YAML)
    assert (small.table().processors, any("cores_per_cpu" in note for note in small.notes)) == (2, True)


def test_topology_of_opendc(tmp_path: Path) -> None:
    """Counts of clusters and hosts multiply; memory is MB without a unit; CPUs of a host come together."""
    machine = read(tmp_path, OPENDC)
    table = machine.table()
    assert table.kinds == ("C-H", "C-Host")
    assert (table.cores.tolist(), table.memory.tolist()) == ([16] * 6 + [8] * 2, [100_000] * 6 + [65_536] * 2)
    assert (table.gpus.tolist(), table.gpu_types[1]) == ([0] * 6 + [2000] * 2, {"a100"})
    assert table.speed.tolist() == [1.0] * 8
    power = machine.nodes[0].power
    assert power is not None
    assert (power.static, power.busy) == (200, 10)
    in_bytes = read(tmp_path, OPENDC.replace("100000", str(3 << 30)))
    assert in_bytes.table().memory[0] == 3072


@pytest.mark.parametrize(
    ("text", "old", "new", "said"),
    [
        (PBS, "ncpus = 16", "ncpus = x", r"line 23: ncpus of g\[0\]: 'x' is no whole number"),
        (PBS, "     resources_available.ncpus = 16\n", "", r"line 23: node g\[0\] has neither"),
        (PBS, "\nn2\n", "\nn1\n", "line 13: node n1 is there twice"),
        (PBS, "16gb", "16xb", "line 13: memory of n2: '16xb' is no amount of memory"),
        (PBS, "     comment = a fan", "     comment", "line 17: 'comment' is no key = value"),
        (JSON, '"ncpus": 16', '"ncpus": "x"', "line 10: nodes > g"),
        (JSON, '"pbs_version": "22.05",', '"pbs_version": "22.05"', "line 4: not readable as JSON"),
        (LOADLEVELER, "Cpus                           = 4\n", "", "line 2: machine a1.site: has no Cpus"),
        (LOADLEVELER, "= 4096 mb", "= many", "line 2: machine a1.site, Memory: 'many' is no amount"),
        (BATSIM, 'speed="1000.0Mf"', "", "line 9: a host lacks speed"),
        (BATSIM, "1000.0Mf", "quick", "line 9: 'quick' is no speed"),
        (BATSIM, "0-3,7", "3-0", "line 6: radical '3-0' is no number or range"),
        (BATSIM, "0-3,7", "0-999999999", "line 6: radical names more than 200,000"),
        (BATSIM, 'id="fat"', 'id="node-7.org"', "line 9: host node-7.org is there twice"),
        (BATSIM, 'id="fat"', 'id="a b"', "line 9: host 'a b'"),
        (BATSIM, "</platform>", "", "line 13: not readable as XML"),
        (BATSIM, '"https://example.org/simgrid.dtd"', '"x" [<!ENTITY a "b">]', "line 2: declares an entity"),
        (RAPS, '"NODES_PER_RACK": 4', '"NODES_PER_RACK": 0', "line 2: NODES_PER_RACK: '0' is no whole number"),
        (RAPS, '"NUM_CDUS": 2, ', "", "num_cdus is missing"),
        (RAPS, "9]", "16]", "line 3: DOWN_NODES: '16' is no number from 0 to 15"),
        (OPENDC, '"coreCount": 8', '"coreCount": 0', "line 5: .* > coreCount: '0' is no whole number"),
        (OPENDC, "64 GiB", "64 GiX", "line 9: .* > memorySize: '64 GiX' is no amount"),
        (OPENDC, '"count": 3', '"count": 300000', "line 4: .* more than 200,000 hosts"),
        (OPENDC, '"hosts": [', '"host": [', "line 3: .*should be a list"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, old: str, new: str, said: str) -> None:
    """By file and line."""
    assert old in text
    with pytest.raises(ParameterError, match=rf"file, {said}" if said.startswith("line") else said):
        read(tmp_path, text.replace(old, new, 1))
