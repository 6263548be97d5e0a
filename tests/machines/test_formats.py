# SPDX-License-Identifier: BSD-3-Clause
"""Files of machines of other programs, and how a format is found by the text."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from swftools import read_machine
from swftools.errors import ParameterError
from swftools.machines.formats.registry import FORMATS
from swftools.machines.kinds import Node, kinds_of

OPENB = """\
sn,cpu_milli,memory_mib,gpu,model
openb-node-0000,32000,262144,0,
openb-node-0001,96000,393216,8,G2
openb-node-0002,32000,262144,0,

openb-node-0003,96000,393216,8,G2
openb-node-0004,8000,32768,1,V100M16
"""


def write(tmp_path: Path, text: str) -> Path:
    """Return the path of a file without a suffix that would say what it is."""
    path = tmp_path / "file"
    path.write_text(text)
    return path


def test_nodes_of_openb(tmp_path: Path) -> None:
    """Kinds of nodes whose numbers are mixed; thousandths of CPUs; compressed too."""
    path = tmp_path / "nodes.csv.gz"
    path.write_bytes(gzip.compress(OPENB.encode()))
    machine = read_machine(path)
    table = machine.table()
    assert table.names == tuple(f"openb-node-000{number}" for number in range(5))
    assert table.cores.tolist() == [32, 96, 32, 96, 8]
    assert table.memory.tolist() == [262_144, 393_216, 262_144, 393_216, 32_768]
    assert table.gpus.tolist() == [0, 8000, 0, 8000, 1000]
    assert [sorted(types) for types in table.gpu_types] == [[], ["G2"], ["V100M16"]]
    assert table.kinds == ("cpu", "G2", "V100M16")
    assert [part.name for part in table.partitions] == ["all"]


def test_all_nodes_of_openb(shared: Path) -> None:
    """As many as the list has lines, with all its GPUs."""
    table = read_machine(shared / "samples/openb/openb_node_list_all_node.csv.gz").table()
    assert (len(table), len(table.kinds), table.processors, int(table.gpus.sum())) == (1523, 27, 125_514, 6_212_000)
    assert table.names == tuple(sorted(table.names))


def test_text_that_is_no_table(tmp_path: Path) -> None:
    """A quote that is not closed makes one cell of all that follows."""
    with pytest.raises(ParameterError, match=r"file, line 9: is no CSV: field larger"):
        read_machine(write(tmp_path, f'{OPENB}"{"x" * 200_000}\n'))


@pytest.mark.parametrize("line", ["n1,32500,1,0,", "n1,32000,1", ",32000,1,0,", "n1,x,1,0,", "n1,1000,1,0.5,G2"])
def test_lines_of_openb_that_are_none(tmp_path: Path, line: str) -> None:
    """By file and line."""
    path = write(tmp_path, f"{OPENB}{line}\n")
    with pytest.raises(ParameterError, match=r"file, line 8: .* is not a node's name, thousandths of whole CPUs"):
        read_machine(path)


def test_machines_beside_logs(tmp_path: Path) -> None:
    """CERIT-SC's clusters are kinds of nodes, with their memory in MB."""
    path = write(tmp_path, "# id name\n0\tzewura\t20\t80\t1\t529426432\n1\tzegox\t48\t12\t1.5\t94035968\n")
    machine = read_machine(path)
    table = machine.table()
    assert table.kinds == ("zewura", "zegox")
    assert (table.names[0], table.names[20]) == ("zewura1", "zegox1")
    assert (len(table), table.processors) == (68, 20 * 80 + 48 * 12)
    assert (table.memory[0], table.memory[-1], table.speed[-1]) == (529_426_432 // 1024, 94_035_968 // 1024, 1.5)
    with pytest.raises(ParameterError, match="two clusters have one name"):
        read_machine(write(tmp_path, "0 a 1 1 1 0\n1 a 1 1 1 0\n"))
    with pytest.raises(ParameterError, match=r"file, line 1: '0 a 1 1 1 1e999': nodes, processors and speed"):
        read_machine(write(tmp_path, "0 a 1 1 1 1e999\n"))
    with pytest.raises(ParameterError, match=r"file, line 2: '1 b' is not number, name"):
        read_machine(write(tmp_path, "0 a 1 1 1 0\n1 b\n"))


def test_every_format_says_what_is_missing(tmp_path: Path) -> None:
    """Where none fits; and a file that looks like two is refused."""
    with pytest.raises(ParameterError, match="is in no format of machines that is known") as caught:
        read_machine(write(tmp_path, "hello\n"))
    told = str(caught.value).splitlines()
    assert [line.split()[0] for line in told[1:]] == list(FORMATS.list())
    with pytest.raises(ParameterError, match=r"looks like .* and .*; put what is of each into a file of its own"):
        read_machine(write(tmp_path, "nodes: [{names: n1, cores: 1}]\nNodeName=n1 CPUTot=4\n"))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the file is empty"),
        (b"\n \n", "the file is empty"),
        (b"nodes: \xff\n", "line 1: is no text in UTF-8"),
        (b"nodes:\n- [\n", "line 3: not readable as YAML"),
        (b"PK\x03\x04", "zip"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, data: bytes, said: str) -> None:
    """Empty, no text, damaged."""
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(ParameterError, match=said):
        read_machine(path)


def test_paths_that_are_none(tmp_path: Path) -> None:
    """No such file, a folder, a device, a path with a zero byte."""
    for path in (tmp_path / "none", tmp_path, "/dev/zero", "a\0b"):
        with pytest.raises(ParameterError) as caught:
            read_machine(path)
        assert len(str(caught.value).splitlines()) == 1


def test_kinds_are_named_by_what_tells_them_apart() -> None:
    """Features if they do, else GPUs, else cores, and so on; as little as will do."""
    thin, fat, gpu = Node(8, 1024), Node(16, 1024), Node(8, 1024, gpus=(("a100", 4),))

    def names(*nodes: Node) -> list[str]:
        return [kind["kind"] for kind in kinds_of((f"n{number}", node) for number, node in enumerate(nodes))]

    assert names(thin._replace(features=("a", "b")), fat._replace(features=("c",))) == ["a-b", "c"]
    assert names(thin, gpu) == ["cpu", "a100"]
    assert names(thin, fat) == ["8c", "16c"]
    assert names(thin, fat, gpu) == ["8c", "16c", "8c-4xa100"]
    assert names(thin, fat, thin._replace(memory=2048)) == ["8c-1G", "16c-1G", "8c-2G"]
    assert names(thin, thin._replace(weight=2)) == ["8c-1G-1", "8c-1G-2"]
    assert names(thin, thin) == ["cpu"]


def test_order_of_nodes_does_not_matter() -> None:
    """Whichever program lists them, kinds and names are the same."""
    nodes = [(f"n{number}", Node(8 if number % 3 else 16, 1024)) for number in range(12)]
    assert kinds_of(nodes) == kinds_of(reversed(nodes))
    assert [kind["names"] for kind in kinds_of(nodes)] == ["n[0,3,6,9]", "n[1-2,4-5,7-8,10-11]"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NodeName=n[1-4] CPUs=4\n\nPartitionName=p Nodes=n[1-2],m[1-2]\n", "line 3: no NodeName or NodeSet is 'm1'"),
        ("NodeName=n[1-4] CPUs=4\nPartitionName=p Nodes=n[1\n", "line 2: 'n[1' is no list of hosts"),
        ("NodeName=n[1-4] CPUs=4\nNodeSet=s Nodes=n[1\nPartitionName=p Nodes=s\n", "line 2: 'n[1' is no list of hosts"),
        ("NodeName=n[1-4] CPUs=4\nNodeSet=s Nodes=m1\nPartitionName=p Nodes=s\n", "line 3: no NodeName"),
        ("sn,cpu_milli,memory_mib,gpu,model\na,4000,1,0,\nb,0,1,0,\n", "line 3: 'b,0,1,0,' is not a node's name"),
        ("sn,cpu_milli,memory_mib,gpu,model\na,4000,-1,0,\n", "line 2: 'a,4000,-1,0,' is not a node's name"),
        ("sn,cpu_milli,memory_mib,gpu,model\na,4000,1,-1,x\n", "line 2: 'a,4000,1,-1,x' is not a node's name"),
        ("sn,cpu_milli,memory_mib,gpu,model\na,4000,1,0,\na,4000,1,0,\n", "line 3: node 'a' is there twice"),
    ],
)
def test_what_does_not_fit_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    """File and line, also where two lines do not go together."""
    (tmp_path / "machine").write_text(text)
    with pytest.raises(ParameterError, match=re.escape(f"machine, {message}")):
        read_machine(tmp_path / "machine")
