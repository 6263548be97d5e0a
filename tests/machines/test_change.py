# SPDX-License-Identifier: BSD-3-Clause
"""Changes of a machine, each one text."""

from __future__ import annotations

from typing import Any

import pytest

from swftools import MachineDescription
from swftools.errors import ParameterError
from swftools.machines.change import split_changes
from swftools.machines.node_table import NodeTable

CONTENT: dict[str, Any] = {
    "nodes": [
        {"kind": "thin", "names": "n[01-10]", "cores": 8, "memory": "64G", "features": ["a", "b"]},
        {"kind": "gpu.big", "count": 2, "cores": 32, "gpus": {"a100": 4}},
        {"names": "m[1-2],login", "cores": 4},
    ],
    "partitions": [
        {"name": "day", "nodes": ["n[01-10]", "m1"], "max_time": "1d", "default": True},
        {"name": "part", "nodes": "n[01-09]"},
        {"name": "of.kind", "nodes": ["gpu.big", "m[1-2],login"]},
        {"name": "every", "nodes": "ALL", "max_nodes": 4},
    ],
    "outages": [{"nodes": "n[09-10]"}],
}


@pytest.fixture
def machine() -> MachineDescription:
    """Ten nodes of a kind, two, and three."""
    return MachineDescription.from_mapping(CONTENT)


def names_of(table: NodeTable) -> dict[str, list[str]]:
    """Return the names of the nodes of each partition."""
    return {part.name: [table.names[node] for node in part.nodes] for part in table.partitions}


def test_more_nodes(machine: MachineDescription) -> None:
    """They are numbered on, and are in the partitions that have all of their kind; the machine itself stays."""
    table = machine.changed(["nodes.thin.count+=2"]).table()
    parts, before = names_of(table), names_of(machine.table())
    assert len(table) == 17
    assert parts["day"] == [f"n{number:02}" for number in range(1, 13)] + ["m1"]
    assert parts["part"] == before["part"]
    assert parts["every"] == list(table.names)
    assert len(machine.table()) == 15
    assert machine == MachineDescription.from_mapping(CONTENT)


def test_fewer_nodes(machine: MachineDescription) -> None:
    """The last ones go, from partitions too, and outages of which nothing is left."""
    table = machine.changed(["nodes.thin.count-=1"]).table()
    parts = names_of(table)
    assert parts["day"] == [f"n{number:02}" for number in range(1, 10)] + ["m1"]
    assert parts["part"] == [f"n{number:02}" for number in range(1, 10)]
    assert [each.nodes for each in machine.changed(["nodes.thin.count=9"]).outages] == [("n09",)]
    assert machine.changed(["nodes.thin.count=8"]).outages == ()
    with pytest.raises(ParameterError, match="leaves 0 nodes of 10; 1 to 200,000 can be"):
        machine.changed(["nodes.thin.count-=10"])


def test_fewer_nodes_where_lists_mix_kinds_and_hosts() -> None:
    """Hosts that went are no longer named; kinds and ALL stay as they are; a partition must have a node left."""
    kinds = [{"kind": "a", "names": "n[1-4]", "cores": 1}, {"kind": "b", "names": "m[1-2]", "cores": 1}]
    parts = [{"name": "p", "nodes": ["a", "n[3-4]", "m1"]}, {"name": "q", "nodes": ["ALL", "n4"]}]
    machine = MachineDescription.from_mapping(
        {"nodes": kinds, "partitions": parts, "outages": [{"nodes": ["b", "n[2-4]"]}, {"nodes": "n4"}, {"nodes": "a"}]}
    )
    fewer = machine.changed(["nodes.a.count=3"])
    assert [part.nodes for part in fewer.partitions] == [("a", "n3", "m1"), ("ALL",)]
    assert [each.nodes for each in fewer.outages] == [("b", "n[2-3]"), ("a",)]
    assert names_of(fewer.table()) == {"p": ["n1", "n2", "n3", "m1"], "q": ["n1", "n2", "n3", "m1", "m2"]}
    last = MachineDescription.from_mapping({"nodes": kinds, "partitions": [{"name": "last", "nodes": "n4"}]})
    with pytest.raises(ParameterError, match="leaves no node of last"):
        last.changed(["nodes.a.count-=1"])


def test_counts_of_kinds_without_names(machine: MachineDescription) -> None:
    """Names follow from the count; partitions that name the kind go along, whatever points its name has."""
    table = machine.changed(["nodes.gpu.big.count=3"]).table()
    assert names_of(table)["of.kind"] == ["gpu.big1", "gpu.big2", "gpu.big3", "m1", "m2", "login"]
    with pytest.raises(ParameterError, match="'login' has no number that others could follow"):
        machine.changed(["nodes.m[1-2],login.count+=1"])
    table = machine.changed(["nodes.m[1-2],login.count=1"]).table()
    assert names_of(table)["of.kind"] == ["gpu.big1", "gpu.big2", "m1"]
    assert table.kinds == ("thin", "gpu.big", "m[1-2],login")


def test_names_that_others_have_are_passed_over() -> None:
    """New nodes have names of their own."""
    content = {"nodes": [{"kind": "a", "names": "n1", "cores": 1}, {"kind": "b", "names": "n2", "cores": 2}]}
    machine = MachineDescription.from_mapping(content)
    assert machine.changed(["nodes.a.count=3"]).table().names == ("n1", "n3", "n4", "n2")


def test_the_longest_name_is_meant() -> None:
    """Where one kind's name is the beginning of another's."""
    kinds = [{"kind": name, "count": 1, "cores": 1} for name in ("a", "a.b", "a.b.c")]
    changed = MachineDescription.from_mapping({"nodes": kinds}).changed(["nodes.a.b.cores=2", "nodes.a.b.c.cores=3"])
    assert changed.table().cores.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("change", "place", "value"),
    [
        ("nodes.thin.memory=512G", ("nodes", 0, "memory"), 524_288),
        ("nodes.thin.memory+=1G", ("nodes", 0, "memory"), 66_560),
        ("nodes.thin.memory -= 536", ("nodes", 0, "memory"), 65_000),
        ("nodes.thin.cores+=8", ("nodes", 0, "cores"), 16),
        ("nodes.thin.weight+=4", ("nodes", 0, "weight"), 5),
        ("nodes.thin.speed-=0.5", ("nodes", 0, "speed"), 0.5),
        ("nodes.thin.features+=c,b", ("nodes", 0, "features"), ("a", "b", "c")),
        ("nodes.thin.features-=a", ("nodes", 0, "features"), ("b",)),
        ("nodes.thin.features-=a,b", ("nodes", 0, "features"), ()),
        ("nodes.thin.features=[x]", ("nodes", 0, "features"), ("x",)),
        ("nodes.thin.gpus.a100=4", ("nodes", 0, "gpus"), {"a100": 4}),
        ("nodes.gpu.big.gpus.a100+=4", ("nodes", 1, "gpus"), {"a100": 8}),
        ("nodes.gpu.big.gpus.v100+=1", ("nodes", 1, "gpus"), {"a100": 4, "v100": 1}),
        ("nodes.gpu.big.gpus=2", ("nodes", 1, "gpus"), {"gpu": 2}),
        ("nodes.thin.memory=null", ("nodes", 0, "memory"), None),
        ("partitions.day.max_time=2d", ("partitions", 0, "max_time"), 172_800.0),
        ("partitions.day.max_time+=12h", ("partitions", 0, "max_time"), 129_600.0),
        ("partitions.day.max_time=unlimited", ("partitions", 0, "max_time"), None),
        ("partitions.day.exclusive=true", ("partitions", 0, "exclusive"), True),
        ("partitions.day.nodes+=m2", ("partitions", 0, "nodes"), ("n[01-10]", "m1", "m2")),
        ("partitions.day.nodes=[thin]", ("partitions", 0, "nodes"), ("thin",)),
        ("partitions.day.nodes-=n[02-09],m1", ("partitions", 0, "nodes"), ("n[01,10]",)),
        ("partitions.of.kind.nodes-=gpu.big", ("partitions", 2, "nodes"), ("m[1-2],login",)),
        ("partitions.every.max_nodes-=1", ("partitions", 3, "max_nodes"), 3),
        ("partitions.every.min_nodes+=2", ("partitions", 3, "min_nodes"), 2),
    ],
)
def test_keys(machine: MachineDescription, change: str, place: tuple[str, int, str], value: Any) -> None:
    """Numbers, times, memory, lists, and what stands within others."""
    section, number, key = place
    changed = machine.changed([change])
    assert getattr(getattr(changed, section)[number], key) == value
    now, before = changed.to_mapping()[section][number], machine.to_mapping()[section][number]
    assert now | {key: None} == before | {key: None}


def test_several_changes_one_after_another(machine: MachineDescription) -> None:
    """Each sees what those before have made."""
    changed = machine.changed(["nodes.thin.count+=2", "partitions.part.nodes+=n[11-12]", "nodes.thin.count-=1"])
    assert names_of(changed.table())["part"] == [*(f"n{number:02}" for number in range(1, 10)), "n11"]
    assert machine.changed([]) == machine


def test_nodes_that_are_away(machine: MachineDescription) -> None:
    """An outage, in seconds from the beginning; without an end it lasts."""
    first, second = machine.changed(
        ["away: nodes=n[01-02],m1,in=3h,for=2h", "away: nodes=thin,kind=drain,reason=leak,users=a,b"]
    ).outages[1:]
    assert (first.nodes, first.kind, first.begin, first.end) == (("n[01-02]", "m1"), "down", 10_800.0, 18_000.0)
    assert (second.nodes, second.kind, second.begin, second.end) == (("thin",), "drain", 0.0, None)
    assert (second.reason, second.users) == ("leak", ("a", "b"))


def test_parameters_of_the_policy_are_apart() -> None:
    """By their keys, with the values that YAML has."""
    of_machine, parameters = split_changes(
        ["nodes.thin.count+=1", "priority.weights.fairshare=0", "priority.order=sjf", "away: nodes=n1"]
    )
    assert of_machine == ["nodes.thin.count+=1", "away: nodes=n1"]
    assert parameters == {"weights.fairshare": 0, "order": "sjf"}
    for wrong, said in (
        (["priority.x+=1"], "is set by ="),
        (["priority.x"], "is not readable"),
        (["priority.x=1", "priority.x=2"], "x of the policy is given twice"),
        (["priority.x=[1"], "its value is line 1: not readable as YAML"),
    ):
        with pytest.raises(ParameterError, match=said):
            split_changes(wrong)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("nodes.thinn.count+=8", "no kind of nodes 'thinn'; there are: thin, .*; did you mean thin"),
        ("nodes.thin.cuont+=8", "no key 'cuont' of nodes; .*; did you mean count"),
        ("nodes.thin=8", r"write nodes\.NAME\.KEY; names are: thin"),
        ("nodes.count=8", r"write nodes\.NAME\.KEY; names are: thin"),
        ("nodes=8", "write nodes.NAME.KEY; names are: thin"),
        ("partitions.dya.max_time=2d", "no partition 'dya'; .*; did you mean day"),
        ("partitions.day.max_tiem=2d", "did you mean max_time"),
        ("partitions.day.max_time=soon", "partitions.0.max_time: 'soon' is no time"),
        ("partitions.day.max_time+=soon", "'soon' is no time to add"),
        ("partitions.day.max_time-=2d", "leaves -86,400 of max_time, which is below 0"),
        ("partitions.part.max_time+=1h", "max_time has no value that could be changed; set it by ="),
        ("partitions.day.max_nodes+=1", "max_nodes is 0, which is no limit; set one by ="),
        ("partitions.day.max_cores-=1", "max_cores is 0, which is no limit; set one by ="),
        ("partitions.day.max_memory_per_core+=1G", "max_memory_per_core is 0, which is no limit; set one by ="),
        ("partitions.every.max_nodes-=4", "leaves 0 of max_nodes, which would be no limit; set it by ="),
        ("partitions.every.min_nodes=99", "min_nodes: 99 is more than it has, which is 15"),
        ("partitions.day.nodes+=n99", r"partitions\.0\.nodes: no node 'n99'"),
        ("partitions.part.nodes-=n10", "part has no node 'n10'"),
        ("partitions.part.nodes-=n99", "there is no node 'n99'"),
        ("partitions.part.nodes-=n[01-09]", "leaves no node of part"),
        ("partitions.day.default+=1", "default is no number; set it by ="),
        ("partitions.every.default=true", "'day' is the default too"),
        ("partitions.day.max_time.x=1", "max_time has no 'x' in it; write max_time=VALUE"),
        ("partitions.day.allow.acounts=a", "no key 'acounts' of allow; .*; did you mean accounts"),
        ("nodes.thin.memory=64GB", r"nodes\.0\.memory: '64GB' is no amount of memory"),
        ("nodes.gpu.big.memory+=1G", "memory has no value that could be changed"),
        ("nodes.thin.memory+=1GB", "'1GB' is no amount of memory"),
        ("nodes.thin.features-=c", "features has no 'c'"),
        ("nodes.thin.count=x", "'x' is no number of nodes"),
        ("nodes.thin.count=1.5", "'1.5' is no number of nodes"),
        ("nodes.thin.count+=1000000", "leaves 1,000,010 nodes of 10"),
        ("nodes.thin.cores=[", "its value is line 1: not readable as YAML"),
        ("nodes.thin.cores=0", r"nodes\.0\.cores: should be greater than or equal to 1"),
        ("node.thin.cores=4", "'node' cannot be changed; there are: nodes, .*; did you mean nodes"),
        ("awy: nodes=n01", "'awy' cannot be changed; .*; did you mean away:"),
        ("away=3", "'away' cannot be changed; .*; did you mean away:"),
        ("away:=3", "no key '' of away"),
        ("away: in=3h", "say which nodes"),
        ("away: n01", "is not readable; write it as away: nodes="),
        ("away: nodes=n01,form=2h", "no key 'form' of away; .*; did you mean for"),
        ("away: nodes=n01,for=soon", "for=soon is no time such as"),
        ("away: nodes=n01,for=0", "for=0 is no time such as"),
        ("away: nodes=n01,in=1,in=2", "in is given twice"),
        ("away: nodes=n99,for=2h", r"outages\.1\.nodes: no node 'n99'"),
        ("away: nodes=n01,kind=gone", "'down', 'drain' or 'reservation'"),
        ("priority.x=1", "is of the policy's parameters, and not of the machine"),
        ("nodes.thin.cores", "is not readable; write it as one of"),
        ("=4", "is not readable"),
        ("", "is not readable"),
    ],
)
def test_what_is_refused(machine: MachineDescription, change: str, said: str) -> None:
    """The text is named, and what may be meant."""
    with pytest.raises(ParameterError, match=said) as caught:
        machine.changed([change])
    assert str(caught.value).startswith(f"change {change!r}: ")
    assert len(str(caught.value).splitlines()) == 1


def test_machines_without_partitions_have_none_to_change() -> None:
    """And one text is no list of them."""
    machine = MachineDescription.from_mapping({"nodes": [{"names": "n1", "cores": 1}]})
    with pytest.raises(ParameterError, match="the machine has no partitions of its own; describe them first"):
        machine.changed(["partitions.all.max_time=1h"])
    with pytest.raises(ParameterError, match="changes are a list of texts"):
        machine.changed("nodes.n1.count=2")
