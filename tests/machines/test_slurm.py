# SPDX-License-Identifier: BSD-3-Clause
"""Machines of Slurm: its configuration, what scontrol prints of the same machine, as text and JSON, say the same."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from swftools import read_machine
from swftools.errors import ParameterError
from swftools.machines.description import MachineDescription
from swftools.machines.formats.slurm_words import gres_of
from tests.folders import ROOT
from tests.machines.same_tables import differences

SLURM = ROOT / "tests/machines/slurm"
PRINTED = "".join(
    (SLURM / f"{each}.txt").read_text() for each in ("node", "partition", "reservation", "config", "licenses")
)


def read(tmp_path: Path, text: str, name: str = "machine.txt") -> MachineDescription:
    """Return what a file says."""
    path = tmp_path / name
    path.write_text(text)
    return read_machine(path)


def test_what_a_configuration_says() -> None:
    """Cores without those of the system, threads told, GPUs of several types, sets of nodes, defaults of lines."""
    machine = read_machine(SLURM / "slurm.conf")
    table = machine.table()
    assert machine.name == "tested"
    assert table.names == ("down1", "g01", "g02", "g03", "g04", "h1", "h2", "k7", "n1", "n2")
    assert table.cores.tolist() == [4, 30, 30, 30, 30, 32, 32, 32, 8, 8]
    assert table.memory.tolist() == [256_000] + [252_000] * 4 + [256_000] * 3 + [16_000] * 2
    assert table.gpus.tolist() == [0] + [6000] * 4 + [2000] * 3 + [0] * 2
    assert table.weight.tolist() == [1] + [10] * 4 + [1] * 5
    assert table.gpu_types == (frozenset(), frozenset({"a100", "v100"}), frozenset(), frozenset())
    assert table.features == (frozenset(), frozenset({"gpu", "ib"}), frozenset({"gpu"}), frozenset())
    batch, gpu, exclusive = table.partitions
    assert batch.nodes.tolist() == list(range(10))
    assert gpu.nodes.tolist() == list(range(1, 8))
    assert exclusive.nodes.tolist() == [1, 2, 3, 4, 7]
    assert [part.max_time for part in table.partitions] == [86_400.0, 172_800.0, np.inf]
    assert [part.tier for part in table.partitions] == [1, 5, 5]
    assert [part.default_memory_per_core for part in table.partitions] == [2000, 3000, 0]
    assert (gpu.min_nodes, gpu.max_nodes, gpu.max_cores, gpu.max_memory_per_core) == (2, 3, 24, 8000)
    assert (batch.is_default, gpu.is_default, exclusive.is_exclusive, batch.is_exclusive) == (True, False, True, False)
    assert machine.licences == {"matlab": 10, "ansys": 2}
    assert machine.notes == (
        "cores that Slurm keeps for the system are left out",
        "memory that Slurm keeps for the system is left out",
        "not modelled: generic resources besides GPUs: nvme",
        "this Slurm does not count memory (CR_Core); simulations do, for jobs that ask for it, but for policy slurm",
    )


def test_scontrol_says_the_same(tmp_path: Path) -> None:
    """Tables are equal, whether records are of many lines or of one, compressed or not; outages are of the moment."""
    conf = read_machine(SLURM / "slurm.conf")
    printed = read(tmp_path, PRINTED)
    assert differences(printed.table(), conf.table()) == []
    assert printed.licences == conf.licences
    down, drained, kept = printed.outages
    assert (down.nodes, down.kind, down.reason, down.begin) == (("down1",), "down", "broken", None)
    assert (drained.nodes, drained.kind, drained.reason) == (("n2",), "drain", "bad disk")
    assert drained.begin == "2026-11-27T22:45:51"
    assert (kept.nodes, kept.kind, kept.name, kept.users) == (("g[01-02]",), "reservation", "maint", ("root",))
    assert (kept.begin, kept.end) == ("2026-11-27T23:45:51", "2026-11-28T01:45:51")
    (tmp_path / "one.txt.gz").write_bytes(gzip.compress(_one_line_each(PRINTED).encode()))
    assert read_machine(tmp_path / "one.txt.gz") == printed
    again = read(tmp_path, printed.to_yaml(), "written.yaml")
    assert again == printed
    assert differences(again.table(), printed.table()) == []


def _one_line_each(text: str) -> str:
    """Return records as ``scontrol --oneliner`` prints them."""
    return re.sub(r" *\n +", " ", text)


def test_what_is_not_printed_is_told(tmp_path: Path) -> None:
    """Without its settings the defaults of the machine are missing; without nodes there is no machine."""
    without = PRINTED.replace((SLURM / "config.txt").read_text(), "")
    machine = read(tmp_path, without)
    assert machine.table().partitions[0].default_memory_per_core == 0
    assert any("scontrol show config prints: not there" in note for note in machine.notes)
    with pytest.raises(ParameterError, match="no node is described; put what scontrol show node prints into the same"):
        read(tmp_path, (SLURM / "partition.txt").read_text())


def _said(text: str, name: str) -> dict[str, str]:
    """Return the words of one record of scontrol."""
    record = next(each for each in text.split("\n\n") if each.split("\n")[0].split()[0].endswith(f"Name={name}"))
    return dict(word.split("=", 1) for word in record.replace("\n", " ").split() if "=" in word)


def _number(value: str) -> dict[str, Any]:
    """Return a number as Slurm's JSON has it."""
    is_infinite = value in ("UNLIMITED", "-1")
    is_set = value.isdecimal()
    return {"set": is_set, "infinite": is_infinite, "number": int(value) if is_set else 0}


def as_json(text: str) -> str:
    """Return nodes, partitions and reservations of scontrol as three documents, in the form that Slurm 23.02 has."""
    nodes, parts = [], []
    for name in re.findall(r"^NodeName=(\S+)", text, re.MULTILINE):
        said = _said(text, name)
        features = [] if said["AvailableFeatures"] == "(null)" else said["AvailableFeatures"].split(",")
        nodes.append(
            {
                "name": name,
                "cpus": int(said["CPUTot"]),
                "sockets": int(said["Sockets"]),
                "cores": int(said["CoresPerSocket"]),
                "threads": int(said["ThreadsPerCore"]),
                "real_memory": int(said["RealMemory"]),
                "specialized_memory": int(said.get("MemSpecLimit", 0)),
                "specialized_cores": int(said.get("CoreSpecCount", 0)),
                "gres": "" if said["Gres"] == "(null)" else said["Gres"],
                "features": features,
                "weight": int(said["Weight"]),
                "state": said["State"].split("+"),
                "reason": {"down1": "broken", "n2": "bad disk"}.get(name, ""),
                "reason_set_by_user": "root" if name == "n2" else "",
                "reason_changed_at": _number("1795819551" if name == "n2" else ""),
            }
        )
    for name in re.findall(r"^PartitionName=(\S+)", text, re.MULTILINE):
        said = _said(text, name)
        minutes = {"1-00:00:00": "1440", "2-00:00:00": "2880", "UNLIMITED": "UNLIMITED"}[said["MaxTime"]]
        parts.append(
            {
                "name": name,
                "nodes": {"configured": said["Nodes"], "total": int(said["TotalNodes"])},
                "priority": {"tier": int(said["PriorityTier"]), "job_factor": 1},
                "maximums": {
                    "time": _number(minutes),
                    "nodes": _number(said["MaxNodes"]),
                    "cpus_per_node": _number(said["MaxCPUsPerNode"]),
                    "partition_memory_per_cpu": _number(said.get("MaxMemPerCPU", "")),
                    "partition_memory_per_node": _number(said.get("MaxMemPerNode", "")),
                    "oversubscribe": {"jobs": 0 if said["OverSubscribe"] == "EXCLUSIVE" else 1, "flags": []},
                },
                "minimums": {"nodes": int(said["MinNodes"])},
                "defaults": {
                    "time": _number(""),
                    "partition_memory_per_cpu": _number(said.get("DefMemPerCPU", "")),
                    "partition_memory_per_node": _number(said.get("DefMemPerNode", "")),
                },
                "accounts": {"allowed": "" if said["AllowAccounts"] == "ALL" else said["AllowAccounts"]},
                "groups": {"allowed": "" if said["AllowGroups"] == "ALL" else said["AllowGroups"]},
                "qos": {"allowed": ""},
                "partition": {"state": ["UP"]},
            }
        )
    kept = {
        "name": "maint",
        "node_list": "g[01-02]",
        "users": "root",
        "accounts": "",
        "start_time": _number("1795823151"),
        "end_time": _number("1795830351"),
    }
    meta = {"meta": {"slurm": {"release": "23.02.7"}}, "errors": []}
    documents = [meta | {"nodes": nodes}, meta | {"partitions": parts}, meta | {"reservations": [kept]}]
    return "\n".join(json.dumps(each, indent=2) for each in documents)


def test_json_says_the_same(tmp_path: Path) -> None:
    """But for which partition is the default, and the settings of the machine, which are not in it: both are told."""
    text = PRINTED.replace((SLURM / "config.txt").read_text(), "")
    printed, machine = read(tmp_path, text), read(tmp_path, as_json(text), "machine.json")
    printed = printed.with_slurm(version="23.02")  # which the JSON tells
    expected = printed.changed(["partitions.batch.default=false"])
    assert differences(machine.table(), expected.table()) == []
    assert "no partition is said to be the default" in machine.notes
    assert [each.nodes for each in machine.outages] == [each.nodes for each in printed.outages]
    assert [each.kind for each in machine.outages] == ["down", "drain", "reservation"]
    assert [each.reason for each in machine.outages] == ["broken", "bad disk", None]
    assert machine.outages[1].begin == "2026-11-27T22:45:51+00:00"
    assert machine.outages[2].begin == "2026-11-27T23:45:51+00:00"
    assert machine.outages[2].end == "2026-11-28T01:45:51+00:00"
    assert machine.partitions[1].allow == printed.partitions[1].allow
    flagged = as_json(text).replace('"name": "batch",', '"name": "batch", "flags": ["DEFAULT"],')
    assert differences(read(tmp_path, flagged).table(), printed.table()) == []


@pytest.mark.parametrize(
    ("words", "cores"),
    [
        ("CPUs=16", 16),
        ("CPUs=64 Sockets=2 CoresPerSocket=16 ThreadsPerCore=2", 32),
        ("CPUs=32 Sockets=2 CoresPerSocket=16 ThreadsPerCore=2", 32),
        ("Sockets=2 CoresPerSocket=16 ThreadsPerCore=2", 32),
        ("Boards=2 SocketsPerBoard=2 CoresPerSocket=4", 16),
        ("CPUs=64 ThreadsPerCore=2", 32),
        ("CPUs=64 CoresPerSocket=16 ThreadsPerCore=2", 32),
        ("CPUs=20 Sockets=2 CoresPerSocket=16", 20),
        ("Procs=12", 12),
        ("", 1),
        ("cpus=8 CORESPECCOUNT=2", 6),
    ],
)
def test_cores(tmp_path: Path, words: str, cores: int) -> None:
    """As Slurm counts them from what is given; threads of a core are one."""
    assert read(tmp_path, f"NodeName=n1 {words}\n").table().cores.tolist() == [cores]


@pytest.mark.parametrize(
    ("text", "gpus", "others"),
    [
        ("gpu:4", {"gpu": 4}, []),
        ("gpu", {"gpu": 1}, []),
        ("gpu:a100", {"a100": 1}, []),
        ("gpu:a100:4(S:0-1),nvme:2", {"a100": 4}, ["nvme"]),
        ("gpu:a100:no_consume:2,gpu:a100:1,gpu:v100:1", {"a100": 3, "v100": 1}, []),
        ("gpu:a100:1K(S:0,2)", {"a100": 1024}, []),
        ("", {}, []),
    ],
)
def test_generic_resources(text: str, gpus: dict[str, int], others: list[str]) -> None:
    """GPUs by type, whatever stands behind them; others by name."""
    assert gres_of(text, "here") == (gpus, others)


def test_words_that_go_on_in_the_next_line(tmp_path: Path) -> None:
    """A list of hosts may: nothing stands between its parts, as Slurm has it."""
    machine = read(
        tmp_path,
        "NodeName=a[1-2],\\\nb[1-2] \\\n   CPUs=4\nPartitionName=p AllowGroups=x,\\\ny \\\n\tNodes=\\\na[1-2],\\\nb1\n",
    )
    assert machine.table().names == ("a1", "a2", "b1", "b2")
    (part,) = machine.partitions
    assert (part.nodes, part.allow.groups) == (("a[1-2]", "b1"), ("x", "y"))


def test_lines_of_a_configuration(tmp_path: Path) -> None:
    """Comments, lines that go on, quotes, blanks around =, capitals; DEFAULT holds until it is given anew."""
    machine = read(
        tmp_path,
        "# NodeName=no[1-9]\n"
        "clustername = c1 # of us\n"
        "NODENAME=DEFAULT cpus=8 \\\n  realmemory=4000\n"
        'NodeName=a[1-2] Feature="x,y"  State=DOWN Reason="no power" # broken\n'
        "NodeName=DEFAULT CPUs=4\n"
        "NodeName=b1\n"
        "NodeName=f[1-3] State=FUTURE\n"
        "Include gpus.conf\n"
        "DownNodes=b1 State=DRAIN\n"
        "NodeSet=ours Nodes=a1,b1\n"
        "PartitionName=DEFAULT State=UP MaxTime=90\n"
        "PartitionName=p Nodes=ours Shared=EXCLUSIVE\n"
        "PartitionName=q Nodes=all State=DOWN MaxTime=1-12\n"
        "PartitionName=empty",
    )
    table = machine.table()
    assert machine.name == "c1"
    assert table.names == ("a1", "a2", "b1")
    assert table.cores.tolist() == [8, 8, 4]
    assert table.memory.tolist() == [4000] * 3
    assert table.features == (frozenset({"x", "y"}), frozenset())
    assert [(part.name, part.nodes.tolist()) for part in table.partitions] == [("p", [0, 2]), ("q", [0, 1, 2])]
    assert [part.max_time for part in table.partitions] == [5400.0, 129_600.0]
    assert [part.is_exclusive for part in table.partitions] == [True, False]
    assert [(each.nodes, each.kind, each.reason) for each in machine.outages] == [
        (("a[1-2]",), "down", "no power"),
        (("b1",), "drain", None),
    ]
    assert machine.notes == (
        "nodes of the future are left out: f[1-3]",
        "Include is not followed; put the text of the file in its place: gpus.conf",
        "taken for up, though it is DOWN: q",
        "SelectType is not said: taken for select/cons_tres, which is usual since 23.11; of an older Slurm write "
        "SelectType=select/linear, which gives each job whole nodes",
        "left out: partitions without nodes: empty",
        "no partition is said to be the default",
    )


def test_whole_nodes_of_select_linear(tmp_path: Path) -> None:
    """All jobs have them, and it is told; memory of 1 MB is that of which nobody said more."""
    text = "SelectType=select/linear\nNodeName=n[1-2] RealMemory=1\nPartitionName=p Nodes=ALL Default=YES\n"
    machine = read(tmp_path, text)
    assert machine.table().partitions[0].is_exclusive
    assert machine.notes == ("all jobs have whole nodes (select/linear)",)
    assert machine.nodes[0].memory is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("NodeName=n1 CPUs=x\n", "line 1: cpus=x is no whole number"),
        ("ClusterName=c\nNodeName=n[1-2 CPUs=1\n", "line 2: .*a bracket is not closed"),
        ("NodeName=n[1-300000] CPUs=1\n", "line 1: .*names 300,000 hosts, more than 200,000"),
        ("NodeName=n1 CPUs\n", "line 1: 'CPUs' is not KEY=VALUE"),
        ("NodeName=n1\n\nNodeName=n1\n", "line 3: node n1 is there twice"),
        ("NodeName=n1 CPUs=2 CoreSpecCount=2\n", "line 1: CoreSpecCount=2 leaves no core"),
        ("NodeName=n1 Gres=gpu:a100:x\n", "line 1: Gres=gpu:a100:x does not say how many GPUs"),
        ("NodeName=n1\nPartitionName=p Nodes=n1 MaxTime=soon\n", "line 2: maxtime=soon is no time such as 90"),
        ("NodeName=n1\nPartitionName=p Nodes=n1\nPartitionName=p Nodes=n1\n", "line 3: partition p is there twice"),
        ("NodeName=n1\nPartitionName=p Nodes=n2\n", r"line 2: no NodeName or NodeSet is 'n2'"),
        ("ClusterName=c\n", "no node is described"),
        (f"NodeName=n1 Gres=gpu:a100:{'9' * 5000}\n", "line 1: Gres=gpu:a100:9+ does not say how many"),
        (f'{{"meta": 1, "nodes": [{"9" * 5000}]}}', "line 1: not readable as JSON: .* digits"),
        ("NodeName=n1 CPUTot=\n", "line 1: node n1 has no CPUTot; its record is cut off"),
        ("NodeName=n1 CPUTot=4\n", "line 1: node n1 has no RealMemory; its record is cut off"),
        ("NodeName=n1 CPUTot=4\n   RealMemory=\n", "line 1: node n1 has no RealMemory; its record is cut off"),
        ("NodeName=n1 CPUTot=4 RealMemory=9 S\n", "line 1: node n1 has no State; its record is cut off"),
        (
            "NodeName=n1 CPUTot=4 RealMemory=9 State=IDLE\nPartitionName=p\n   AllowGroups=ALL\n",
            "line 2: partition p has no TotalNodes",
        ),
        ("NodeName=n1 CPUTot=4 RealMemory=many State=IDLE\n", "line 1: realmemory=many is no whole number"),
        ('{"meta": 1, "nodes": [{"name": "n1"}]}', "nodes 'n1': has no cpus and real_memory"),
        ('{"meta": 1, "nodes": [{"cpus": 1}]}', "one of nodes has no name"),
        ('{"meta": 1, "nodes": [1]}', "nodes should be a list of mappings"),
        ('{"meta": 1,\n "nodes": [', "line 2: not readable as JSON: .*; is the file whole"),
        ('{"meta": 1} []', "is no JSON of scontrol"),
        ('{"meta": 1, "partitions": []}', "no node is described"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """By file and line."""
    with pytest.raises(ParameterError, match=said) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(str(tmp_path / "machine.txt"))


def test_a_machine_of_64_nodes(shared: Path, tmp_path: Path) -> None:
    """Its configuration, and five moments of what scontrol printed: one machine."""
    conf = read_machine(shared / "slurm/conf/slurm.conf")
    assert (len(conf.table()), conf.table().processors, int(conf.table().gpus.sum())) == (64, 1024, 32_000)
    seen = 0
    for folder in sorted((shared / "slurm/snapshots").iterdir()):
        if not (folder / "scontrol_part.txt.gz").exists():
            continue
        parts = ("node", "part", "res", "config")
        files = [path for each in parts if (path := folder / f"scontrol_{each}.txt.gz").exists()]
        text = b"".join(gzip.decompress(path.read_bytes()) for path in files)
        machine = read(tmp_path, text.decode())
        assert differences(machine.table(), conf.table()) == []
        seen += 1
    assert seen
