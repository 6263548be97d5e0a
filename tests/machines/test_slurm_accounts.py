# SPDX-License-Identifier: BSD-3-Clause
"""Accounts, QOS, usage and switches of Slurm, by what its commands print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from swftools import MachineDescription, read_machine
from swftools.errors import ParameterError
from tests.machines.same_tables import differences
from tests.machines.slurm_sites import FILES, read, site_of, write

PLAIN = "NodeName=n[1-4] CPUs=8\nPartitionName=p Nodes=ALL\n"
ASSOC = "Cluster|Account|User|Partition|Share|Priority|GrpJobs|GrpTRES|MaxJobs|MaxTRES|MaxWall|QOS|Def QOS|Par Name\n"


@pytest.fixture
def machine(tmp_path: Path) -> MachineDescription:
    """Four nodes, whose Slurm is as by default."""
    return read(tmp_path, PLAIN)


@pytest.fixture
def real() -> MachineDescription:
    """A real site, without its accounts."""
    return read_machine(FILES / "site.conf")


def with_accounts(machine: MachineDescription, folder: Path, text: str, **others: Path) -> MachineDescription:
    """Return the machine with the accounts of a text."""
    return machine.with_slurm(accounts=write(folder, text, "accounts.txt"), **others)


def shown(machine: MachineDescription) -> list[tuple[str, str, str, float | None]]:
    """Return of each association the account above, its account, user and shares."""
    found = site_of(machine).associations
    return [
        (found[each.parent].account if each.parent >= 0 else "", each.account, each.user, each.shares) for each in found
    ]


def test_the_accounts_of_a_real_site(real: MachineDescription, tmp_path: Path) -> None:
    """Of a dump and of a list they are the same; QOS and usage beside them; YAML has all of it."""
    files = {"qos": FILES / "qos.txt", "usage": FILES / "sshare.txt"}
    machine = real.with_slurm(accounts=FILES / "dump.cfg", **files)
    found = site_of(machine)
    assert shown(machine) == [
        ("", "root", "", 1),
        ("root", "root", "root", 1),
        ("root", "bio", "", 10),
        ("bio", "bio", "u5", 1),
        ("bio", "bio", "u6", 1),
        ("root", "chem", "", 30),
        ("chem", "chem", "u3", 1),
        ("chem", "chem", "u4", 1),
        ("root", "phys", "", 40),
        ("phys", "phys", "u1", 1),
        ("phys", "phys", "u2", 1),
    ]
    assert [each.usage for each in found.associations] == [
        *(164_877, 0, 50_526, 19_224, 31_302, 69_221, 60_389, 8832, 45_128, 16_037, 29_091)
    ]
    assert [each.qos for each in found.associations[2:4]] == [("normal",), ("high", "low", "normal")]
    assert [each.default_qos for each in found.associations[2:4]] == ["", "normal"]
    assert [each.limits.max_jobs for each in found.associations[3:5]] == [None, 8]
    assert [each.limits.grp_tres for each in found.associations[5:7]] == [{"cpu": 512}, {}]
    assert all(each.is_default == bool(each.user) for each in found.associations)
    assert [(each.name, each.priority, each.preempt, each.preempt_mode) for each in found.qos] == [
        ("normal", 50, (), "cluster"),
        ("low", 0, (), "requeue"),
        ("high", 100, ("low",), "cluster"),
    ]
    assert [each.limits.max_tres_pu for each in found.qos] == [{}, {}, {"cpu": 256}]
    assert found.has_usage
    assert machine.notes == ()
    by_list = real.with_slurm(accounts=FILES / "assoc.txt", **files)
    assert differences(by_list.table(), machine.table()) == []
    assert any("accounts are taken for those right below root" in note for note in by_list.notes)
    again = read(tmp_path, machine.to_yaml(), "site.yaml")
    assert again == machine
    assert differences(again.table(), machine.table()) == []


def test_usage_alone_tells_accounts_and_shares(real: MachineDescription) -> None:
    """As sshare prints them in a tree; what else is known of them counts first."""
    files = {"accounts": FILES / "dump.cfg", "qos": FILES / "qos.txt", "usage": FILES / "sshare.txt"}
    alone, whole = real.with_slurm(usage=FILES / "sshare.txt"), real.with_slurm(**files)
    assert shown(alone) == shown(whole)
    one, other = (
        [each.usage for each in found] for found in (site_of(alone).associations, site_of(whole).associations)
    )
    assert one == other
    assert shown(real.with_slurm(accounts=FILES / "sshare.txt")) == shown(whole)
    later = whole.with_slurm(usage=FILES / "sshare.txt")  # a description that has accounts keeps them
    assert later == whole


def test_accounts_of_a_tree(machine: MachineDescription, tmp_path: Path) -> None:
    """By indentation, by a column of parents, and by the lines of a dump."""
    rows = ["root||", " a||4", "  a|u|2", "  b||parent", "   c||1", " d||9", "  d|u|5"]
    tree = "Account|User|Share\n" + "\n".join(rows)
    parents = ["root||1|", "a||4|root", "a|u|2|", "b||parent|a", "c||1|b", "d||9|root", "d|u|5|"]
    listed = "Account|User|Share|Par Name\n" + "\n".join(parents)
    dump = (
        "Cluster - 'x'\nParent - 'root'\nAccount - 'a':Fairshare=4\nAccount - 'd':Fairshare=9\nParent - 'a'\n"
        "User - 'u':Fairshare=2:DefaultAccount='d'\nAccount - 'b':Fairshare=parent\nParent - 'b'\n"
        "Account - 'c':Fairshare=1\nParent - 'd'\nUser - 'u':DefaultAccount='d':Fairshare=5\n"
    )
    expected = [
        ("", "root", "", 1),
        ("root", "a", "", 4),
        ("a", "a", "u", 2),
        ("a", "b", "", None),
        ("b", "c", "", 1),
        ("root", "d", "", 9),
        ("d", "d", "u", 5),
    ]
    for text in (tree, listed, dump):
        found = with_accounts(machine, tmp_path, text)
        assert shown(found) == expected
        assert not any("right below root" in note for note in found.notes)
    of_u = [each for each in site_of(found).associations if each.user == "u"]
    assert [(each.account, each.is_default) for each in of_u] == [("a", False), ("d", True)]


def test_what_accounts_have_from_above(machine: MachineDescription, tmp_path: Path) -> None:
    """Limits that begin with Max, QOS and the default one; not limits of groups. Amounts each by itself."""
    text = ASSOC + (
        "c|root|||1||||||||normal|\n"
        "c|a|||1||7|cpu=9|3|cpu=8,node=2|1-00:00:00|high,low|low|root\n"
        "c|a|u||1|5||||cpu=4||||\n"
        "c|a|v|p|1||2||1||30|low|high|\n"
    )
    _, a, u, v = site_of(with_accounts(machine, tmp_path, text)).associations
    assert (a.limits.grp_jobs, a.limits.grp_tres, a.limits.max_jobs) == (7, {"cpu": 9}, 3)
    assert (u.limits.grp_jobs, u.limits.grp_tres, u.limits.max_jobs) == (None, {}, 3)
    assert (v.limits.grp_jobs, v.limits.max_jobs) == (2, 1)
    assert (u.limits.max_tres, v.limits.max_tres) == ({"cpu": 4, "node": 2}, {"cpu": 8, "node": 2})
    assert (u.limits.max_wall, v.limits.max_wall) == (86_400, 1800)
    assert (u.qos, v.qos) == (("high", "low"), ("low",))
    assert (u.default_qos, v.default_qos) == ("low", "high")
    assert (u.partition, v.partition) == ("", "p")
    assert (u.priority, v.priority) == (5, 0)


def test_every_limit_of_a_dump(machine: MachineDescription, tmp_path: Path) -> None:
    """Colons within values are no ends of them; what is not simulated is named."""
    found = with_accounts(
        machine,
        tmp_path,
        "Cluster - 'c':QOS='+normal'\nParent - 'root'\n"
        "Account - 'a':Description='a: b':Organization='o':Fairshare=2147483647:Priority=3:GrpJobs=1"
        ":GrpTRES=cpu=2,gres/gpu:a100=9:GrpTRESMins=cpu=3:GrpTRESRunMins=cpu=4:MaxJobs=5:MaxTRESPerJob=cpu=6"
        ":MaxTRESPerNode=cpu=7:MaxTRESMinsPerJob=cpu=8:MaxWallDurationPerJob=9:QOS='normal,high':DefaultQOS='high'"
        ":MaxSubmitJobs=4:GrpWall=8\n",
    )
    a = site_of(found).associations[1]
    limits = a.limits
    assert (a.shares, a.priority, a.qos, a.default_qos) == (None, 3, ("normal", "high"), "high")
    assert (limits.grp_jobs, limits.max_jobs, limits.max_wall) == (1, 5, 540)
    assert [limits.grp_tres, limits.grp_tres_mins, limits.grp_tres_run_mins] == [{"cpu": 2}, {"cpu": 3}, {"cpu": 4}]
    assert [limits.max_tres, limits.max_tres_per_node, limits.max_tres_mins] == [{"cpu": 6}, {"cpu": 7}, {"cpu": 8}]
    assert site_of(found).not_simulated == (
        "QOS that are added to or taken from those of the account above: not simulated (root)",
        "limits of gres/gpu:a100: not simulated (a)",
        "limit maxsubmitjobs: not simulated (a)",
        "limit grpwall: not simulated (a)",
    )


def test_every_column_of_qos(machine: MachineDescription, tmp_path: Path) -> None:
    """Each goes where it belongs, whatever the order of columns."""
    columns = {
        "Name": "q",
        "Priority": "1",
        "GraceTime": "00:00:02",
        "Preempt": "q",
        "PreemptExemptTime": "00:00:03",
        "PreemptMode": "requeue",
        "Flags": "DenyOnLimit,NoReserve",
        "UsageThres": "0.5",
        "UsageFactor": "4.500000",
        "GrpTRES": "cpu=5",
        "GrpTRESMins": "cpu=6",
        "GrpTRESRunMins": "cpu=7",
        "GrpJobs": "8",
        "GrpSubmit": "9",
        "MaxTRES": "cpu=10",
        "MaxTRESPerNode": "cpu=11",
        "MaxTRESMins": "cpu=12",
        "MaxWall": "00:13:00",
        "MaxTRESPU": "cpu=14,mem=1G,license/x=4",
        "MaxJobsPU": "15",
        "MaxTRESPA": "cpu=16",
        "MaxJobsPA": "17",
        "MinTRES": "cpu=18",
    }
    for names in ([*columns], [*reversed(columns)]):
        text = "|".join(names) + "\n" + "|".join(columns[name] for name in names) + "\n"
        found = site_of(machine.with_slurm(qos=write(tmp_path, text, "qos.txt")))
        (qos,) = found.qos
        limits = qos.limits
        assert (qos.name, qos.priority, qos.grace_time, qos.preempt_exempt_time) == ("q", 1, 2, 3)
        assert (qos.preempt, qos.preempt_mode, qos.usage_factor) == (("q",), "requeue", 4.5)
        assert qos.flags == {"denyonlimit", "noreserve"}
        assert [limits.grp_tres, limits.grp_tres_mins, limits.grp_tres_run_mins] == [{"cpu": 5}, {"cpu": 6}, {"cpu": 7}]
        assert (limits.grp_jobs, limits.max_jobs_pu, limits.max_jobs_pa, limits.max_wall) == (8, 15, 17, 780)
        assert [limits.max_tres, limits.max_tres_per_node] == [{"cpu": 10}, {"cpu": 11}]
        assert [limits.max_tres_mins, limits.min_tres] == [{"cpu": 12}, {"cpu": 18}]
        assert [limits.max_tres_pu, limits.max_tres_pa] == [{"cpu": 14, "mem": 1024}, {"cpu": 16}]
        assert {*found.not_simulated} == {
            "limits of license/x: not simulated (q)",
            "limit usagethres: not simulated (q)",
            "limit grpsubmit: not simulated (q)",
            "flags of QOS: not simulated (denyonlimit)",
        }


def test_exempt_time_of_the_machine(tmp_path: Path) -> None:
    """Is that of the QOS that have none themselves."""
    machine = read(tmp_path, f"PreemptExemptTime=00:01:00\n{PLAIN}")
    text = "Name|Priority|GraceTime|PreemptExemptTime|UsageFactor\na|0|00:00:00||1\nb|0|00:00:00|00:00:30|1\n"
    found = site_of(machine.with_slurm(qos=write(tmp_path, text, "qos.txt")))
    assert [each.preempt_exempt_time for each in found.qos] == [60, 30]


def test_usage_of_accounts_that_is_not_told(machine: MachineDescription, tmp_path: Path) -> None:
    """Is the sum of what is below them; of who is in no account it is told."""
    accounts = "Account|User|Share\nroot||1\n a||1\n  a|u|1\n  a|v|1\n  b||1\n   b|w|1\n"
    usage = "Account|User|RawShares|RawUsage\na|u|1|10\na|v|1|5\nb|w|1|100\nz|x|1|3\nz||1|3\n"
    found = with_accounts(machine, tmp_path, accounts, usage=write(tmp_path, usage, "usage.txt"))
    assert [each.usage for each in site_of(found).associations] == [115, 115, 10, 5, 100, 100]
    assert "left out: usage of who is in no account of these: x of z, z" in found.notes
    none = with_accounts(machine, tmp_path, accounts)
    assert not site_of(none).has_usage
    assert all(each.usage == 0 for each in site_of(none).associations)
    only = "Account|User|RawShares|RawUsage\nroot|||9\n a||1|9\n"
    told = with_accounts(machine, tmp_path, accounts, usage=write(tmp_path, only, "usage.txt")).notes
    assert "usage of users is not told: sshare -a -l -P tells it" in told


def test_tables_behind_one_another(machine: MachineDescription, tmp_path: Path) -> None:
    """In one file, which is then given once; blank lines and bars at the ends of lines do no harm."""
    text = "".join((FILES / f"{each}.txt").read_text() + "\n" for each in ("assoc", "qos", "sshare"))
    found = with_accounts(machine, tmp_path, text)
    apart = machine.with_slurm(accounts=FILES / "assoc.txt", qos=FILES / "qos.txt", usage=FILES / "sshare.txt")
    assert differences(found.table(), apart.table()) == []
    barred = "".join(f"{line}|\n" for line in (FILES / "assoc.txt").read_text().splitlines())  # as with -p
    assert shown(with_accounts(machine, tmp_path, barred)) == shown(apart)


def test_switches(machine: MachineDescription, tmp_path: Path) -> None:
    """Leaves first, then those above; scontrol prints the same with the nodes below."""
    conf = (
        "# the tree\nSwitchName=top Switches=s[1-2] LinkSpeed=9\nSwitchName=s1 Nodes=n[1-2] # here\n"
        "SwitchName=s2 Nodes=n3,n4\n"
    )
    printed = (
        "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[1-2]\nSwitchName=s2 Level=0 LinkSpeed=1 Nodes=n[3-4]\n"
        "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=s[1-2]\n"
    )
    for text in (conf, printed):
        found = site_of(machine.with_slurm(topology=write(tmp_path, text, "topology.conf")))
        assert [(each.name, each.parent, each.is_leaf, each.nodes) for each in found.switches] == [
            ("s1", 2, True, (0, 1)),
            ("s2", 2, True, (2, 3)),
            ("top", -1, False, (0, 1, 2, 3)),
        ]


def test_leaves_are_the_switches_of_nodes(machine: MachineDescription, tmp_path: Path) -> None:
    """In the order of their first nodes; -1 of nodes on none. Kinds that name their switch know it better."""
    text = "SwitchName=b Nodes=n4\nSwitchName=a Nodes=n[1,3]\nSwitchName=top Switches=a,b\n"
    path = write(tmp_path, text, "topology.conf")
    table = machine.with_slurm(topology=path).table()
    assert (table.switch.tolist(), table.switches) == ([0, -1, 0, 1], ("a", "b"))
    named = machine.changed(["nodes.cpu.switch=own"]).with_slurm(topology=path).table()
    assert (named.switch.tolist(), named.switches) == ([0] * 4, ("own",))
    assert machine.with_slurm(version="22.05").table().switches == ()


def test_switches_that_a_configuration_promises(tmp_path: Path) -> None:
    """That they lack is told until they are given."""
    machine = read(tmp_path, f"TopologyPlugin=topology/tree\n{PLAIN}")
    told = "TopologyPlugin=topology/tree: all nodes lie together until topology.conf is given"
    assert site_of(machine).not_simulated == (told,)
    assert site_of(machine.with_slurm(accounts=FILES / "dump.cfg")).not_simulated == (told,)
    path = write(tmp_path, "SwitchName=s Nodes=n[1-4]\n", "topology.conf")
    assert site_of(machine.with_slurm(topology=path)).not_simulated == ()


def test_a_tree_of_three_levels(machine: MachineDescription, tmp_path: Path) -> None:
    """Every switch stands behind those below it, and has all their nodes."""
    text = (
        "SwitchName=a Switches=b,c\nSwitchName=b Switches=d,e\nSwitchName=c Nodes=n4\nSwitchName=d Nodes=n[1-2]\n"
        "SwitchName=e Nodes=n3\nSwitchName=lone Nodes=n[5]\n"
    )
    bigger = machine.changed(["nodes.cpu.count+=1"])
    found = site_of(bigger.with_slurm(topology=write(tmp_path, text, "topology.conf"))).switches
    assert [each.name for each in found] == ["c", "d", "e", "lone", "b", "a"]
    assert [each.parent for each in found] == [5, 4, 4, -1, 5, -1]
    assert [each.nodes for each in found[-2:]] == [(0, 1, 2), (0, 1, 2, 3)]


def test_accounts_without_a_configuration(tmp_path: Path) -> None:
    """A description by hand takes them; that Slurm's settings are not known is told."""
    machine = read(tmp_path, "nodes: [{names: 'n[1-2]', cores: 4}]", "hand.yaml")
    found = machine.with_slurm(accounts=FILES / "dump.cfg")
    assert any("Slurm's settings are not told" in note for note in found.notes)
    assert len(site_of(found).associations) == 11
    assert [each.name for each in site_of(found).partitions] == ["all"]
    assert machine.slurm is None
    assert machine.table().slurm is None


def test_limits_by_threads_become_limits_by_cores(tmp_path: Path) -> None:
    """As Slurm's CPUs are threads where cores have several; rounded up."""
    machine = read(
        tmp_path, "NodeName=n1 CPUs=32 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2\nPartitionName=p Nodes=n1\n"
    )
    text = "Name|UsageFactor|GrpTRES|MaxTRESPU\nq|1|cpu=7,node=3|cpu=8,mem=10\n"
    limits = site_of(machine.with_slurm(qos=write(tmp_path, text, "qos.txt"))).qos[0].limits
    assert (limits.grp_tres, limits.max_tres_pu) == ({"cpu": 4, "node": 3}, {"cpu": 4, "mem": 10})


def _number(value: float | None) -> dict[str, Any]:
    return {"set": value is not None, "infinite": value is None, "number": value or 0}


def test_json_says_the_same(machine: MachineDescription, tmp_path: Path) -> None:
    """Accounts, users and QOS as Slurm's JSON has them, each number where it stands there."""
    jobs = {"per": {"count": _number(1), "wall_clock": _number(90)}, "active": _number(2), "total": _number(None)}
    tres = {
        "total": [{"type": "cpu", "name": "", "id": 1, "count": 3}],
        "group": {"minutes": [{"type": "cpu", "count": 4}], "active": [{"type": "cpu", "count": 5}]},
        "minutes": {"per": {"job": [{"type": "cpu", "count": 6}]}, "total": []},
        "per": {"job": [{"type": "mem", "count": 7}], "node": [{"type": "gres", "name": "gpu", "count": 8}]},
    }
    plain = {"cluster": "c", "partition": "", "parent_account": "root", "max": {}, "shares_raw": 1, "qos": []}
    associations = [
        plain | {"account": "root", "user": "", "parent_account": ""},
        plain
        | {"account": "a", "user": "", "shares_raw": 4, "max": {"jobs": jobs, "tres": tres}, "priority": _number(9)},
        plain | {"account": "a", "user": "u", "qos": ["q"], "default": {"qos": "q"}, "is_default": False},
        plain | {"account": "b", "user": "", "parent_account": "a"},
        plain | {"account": "b", "user": "u", "partition": "p", "is_default": True, "flags": []},
    ]
    most = {
        "active_jobs": {"count": _number(1)},
        "jobs": {"active_jobs": {"per": {"user": _number(2), "account": _number(3)}}, "per": {"user": _number(4)}},
        "tres": {
            "total": [{"type": "node", "count": 5}],
            "minutes": {"total": [{"type": "cpu", "count": 6}], "per": {"qos": [{"type": "cpu", "count": 7}]}},
            "per": {"job": [], "user": [{"type": "cpu", "count": 8}], "account": [{"type": "cpu", "count": 9}]},
        },
        "wall_clock": {"per": {"job": _number(10)}},
    }
    qos = {
        "name": "q",
        "priority": _number(11),
        "usage_factor": _number(1.5),
        "flags": ["NO_RESERVE", "DENY_LIMIT"],
        "preempt": {"list": ["q"], "mode": ["REQUEUE"], "exempt_time": _number(12)},
        "limits": {"grace_time": 13, "max": most, "min": {"tres": {"per": {"job": [{"type": "cpu", "count": 14}]}}}},
    }
    meta = {"meta": {"slurm": {"release": "23.02.7"}}, "errors": []}
    whole = json.dumps(meta | {"associations": associations, "qos": [qos]}, indent=1)
    apart = json.dumps(meta | {"associations": associations}) + "\n" + json.dumps(meta | {"qos": [qos]})
    for text in (whole, apart):
        found = with_accounts(machine, tmp_path, text)
        assert shown(found) == [
            ("", "root", "", 1),
            ("root", "a", "", 4),
            ("a", "a", "u", 1),
            ("a", "b", "", 1),
            ("b", "b", "u", 1),
        ]
        _, a, u, _, other = site_of(found).associations
        assert (a.priority, a.limits.grp_jobs, a.limits.max_jobs, a.limits.max_wall) == (9, 1, 2, 5400)
        assert [a.limits.grp_tres, a.limits.grp_tres_mins, a.limits.grp_tres_run_mins] == [
            {"cpu": 3},
            {"cpu": 4},
            {"cpu": 5},
        ]
        assert [a.limits.max_tres_mins, a.limits.max_tres, a.limits.max_tres_per_node] == [
            {"cpu": 6},
            {"mem": 7},
            {"gres/gpu": 8},
        ]
        assert (u.qos, u.default_qos, u.is_default, other.is_default, other.partition) == (
            ("q",),
            "q",
            False,
            True,
            "p",
        )
        (one,) = site_of(found).qos
        assert (one.priority, one.usage_factor, one.preempt, one.preempt_mode) == (11, 1.5, ("q",), "requeue")
        assert (one.grace_time, one.preempt_exempt_time, one.flags) == (13, 12, {"noreserve", "denyonlimit"})
        limits = one.limits
        assert (limits.grp_jobs, limits.max_jobs_pu, limits.max_jobs_pa, limits.max_wall) == (1, 2, 3, 600)
        assert [limits.grp_tres, limits.grp_tres_mins, limits.grp_tres_run_mins] == [
            {"node": 5},
            {"cpu": 6},
            {"cpu": 7},
        ]
        assert [limits.max_tres_pu, limits.max_tres_pa, limits.min_tres] == [{"cpu": 8}, {"cpu": 9}, {"cpu": 14}]
        assert "limit maxsubmitpu: not simulated (q)" in site_of(found).not_simulated


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Account|User|Share\na||1\na||2\n", "line 3: account 'a' is there twice; give each once"),
        ("Account|User|Share\na||1\na|u|1\na|u|2\n", "line 4: user 'u of a' is there twice; give each once"),
        ("Account|User|Share\na|u|1\n", "line 2: user 'u' is of account 'a', which is not there; add it"),
        ("Account|User|Share|Par Name\na||1|b\nb||1|a\n", "line 2: accounts go in a circle: a > b > a; say which"),
        ("Account|User|Share|Par Name\na||1|c\n", "line 2: no account is called 'c'; add it"),
        ("Account|User|Share\na||many\n", "line 2: shares=many is no number"),
        ("Account|User|Share\na||-3\n", "line 2: shares=-3 is below 0; write a number of shares, or parent"),
        ("Account|User|Share|MaxJobs\na||1|x\n", "line 2: maxjobs=x is no whole number"),
        ("Account|User|Share|GrpTRES\na||1|cpu\n", "line 2: grptres: 'cpu' is not RESOURCE=NUMBER"),
        ("Account|User|Share|Partition\na||1|\na|u|1|z\n", "line 3: no partition is called 'z'"),
        ("Account|User|Share\na|1\n", "line 2: has 2 columns, not 3 as the names above it"),
        ("a||1\nAccount|User|Share\n", "line 1: 'a||1' stands before any names of columns; print them"),
        ("Account|User|Share\n|u|1\n", "line 2: has no account; is the line whole?"),
        (
            "Cluster|Account|User|Share\nx|a||1\ny|b||1\n",
            "has accounts of clusters x, y; print those of one, by cluster",
        ),
        ("Account|User|Share\n", "tells no accounts; give what sacctmgr dump or"),
        ("   Cluster    Account       User\n--- ---\n c a\n", "tables         what sacctmgr -P list assoc or qos, or"),
        ("Account - 'a':Fairshare=1\nAccount - 'a'\n", "line 2: account 'a' is there twice"),
        ("Account - 'a':Fairshare=x\n", "line 1: shares=x is no number"),
        ("Account - 'a':Colour=1\n", "line 1: ':Colour=1' is not :KEY=VALUE as sacctmgr writes it"),
        ("Cluster - 'a'\nAccounts\n", "line 2: 'Accounts' is no line of sacctmgr dump"),
        ("Cluster - 'a'\nCluster - 'b'\n", "line 2: is of another cluster than 'a' above"),
        ("Parent - 'z'\nUser - 'u':Fairshare=1\nAccount - 'a'\n", "line 2: user 'u' is of account 'z', which is not"),
        ("Parent - 'b'\nAccount - 'a'\nParent - 'a'\nAccount - 'b'\n", "line 2: accounts go in a circle: a > b > a"),
        ('{"associations": [\n{"shares_raw": 1}]}', "line 2: an association has no account"),
        (
            '{"associations": [{"account": "a", "shares_raw": 1},\n\n{"account": "a"}]}',
            "line 3: account 'a' is there twice",
        ),
        (
            '{"associations": [{"account": "a", "cluster": "x", "shares_raw": 1},\n{"account": "b", "cluster": "y"}]}',
            "line 2: has accounts of clusters x, y; print those of one, by cluster=NAME",
        ),
        ("Account - :Fairshare=1\n", "line 1: 'Account - :Fairshare=1' is no line of sacctmgr dump"),
        ('{"associations": [\n1], "limits": 1}', "line 2: associations should be a list of mappings"),
        ('{"associations": [{"shares_raw": 1}', "line 1: not readable as JSON"),
        ('{"qos": [{"limits": 1}]}', "line 1: a QOS has no name"),
    ],
)
def test_what_is_refused_of_accounts(machine: MachineDescription, tmp_path: Path, text: str, said: str) -> None:
    """By file and line, with a remedy."""
    with pytest.raises(ParameterError) as caught:
        with_accounts(machine, tmp_path, text)
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "accounts.txt"))


def test_what_is_refused_of_files_together(tmp_path: Path) -> None:
    """A QOS that is not there, also of partitions; what two files tell; what a file is not."""
    conf = write(tmp_path, "NodeName=n1\n\nPartitionName=p Nodes=n1 QOS=part\n", "slurm.conf")
    machine = read_machine(conf)
    qos = write(tmp_path, "Name|Priority|UsageFactor|Preempt\nhigh|1|1|lwo\nlow|1|1|\n", "qos.txt")
    with pytest.raises(ParameterError) as caught:
        machine.with_slurm(qos=qos)
    assert f"{qos}, line 2: no QOS is called 'lwo'; did you mean low?" in str(caught.value)
    assert f"{conf}, line 3: no QOS is called 'part'; there are: high, low" in str(caught.value)
    accounts = write(tmp_path, "Account|User|QOS\na||\na|u|hihg\n", "accounts.txt")
    fine = write(tmp_path, "Name|Priority|UsageFactor\nhigh|1|1\npart|1|1\n", "fine.txt")
    with pytest.raises(ParameterError) as caught:
        machine.with_slurm(qos=fine, accounts=accounts)
    assert str(caught.value) == f"{accounts}, line 3: no QOS is called 'hihg'; did you mean high?"
    with pytest.raises(ParameterError, match=r"fine\.txt: tells no switches; give topology\.conf as topology"):
        machine.with_slurm(topology=fine)
    both = write(tmp_path, fine.read_text() + accounts.read_text().replace("hihg", "high"), "both.txt")
    with pytest.raises(ParameterError, match=r"fine\.txt: QOS are told by another file too; give one of both"):
        machine.with_slurm(accounts=both, qos=fine)
    with pytest.raises(
        ParameterError, match="is in no format of Slurm's accounts, QOS, usage and switches that is known"
    ):
        machine.with_slurm(accounts=conf)
    with pytest.raises(ParameterError, match=r"none: No such file or directory; give the path of what sshare"):
        machine.with_slurm(usage=tmp_path / "none")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SwitchName=a Nodes=n9\n", "line 1: no node 'n9' is in nodes"),
        (
            "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\n",
            "line 2: a node of switch 'b' is on 'a' too; put each on one",
        ),
        ("SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "line 1: switches go in a circle: a > b > a; cut it"),
        ("SwitchName=a Switches=x\n", "line 1: no switch is called 'x'; add it"),
        (
            "SwitchName=a Nodes=n1\nSwitchName=b Switches=a\nSwitchName=c Switches=a\n",
            "line 3: switch 'a' is below 'b'",
        ),
        ("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", "line 2: switch 'a' is there twice; give each once"),
        ("SwitchName=a\n", "line 1: switch a has neither Nodes nor Switches; name one of both"),
        ("SwitchName=a Nodes=n[1\n", "line 1: "),
        ("SwitchName=a Switches=n[1\n", "line 1: "),
        ("SwitchName=a Nodes\n", "line 1: 'Nodes' is not KEY=VALUE"),
        ("BlockName=a Nodes=n1\n", "line 1: topology/block is not modelled; give a topology.conf of topology/tree"),
        ("SwitchName=a Nodes=n1\nNodes=n2\n", "line 2: 'Nodes=n2' names no switch; write SwitchName=NAME Nodes=HOSTS"),
    ],
)
def test_what_is_refused_of_switches(machine: MachineDescription, tmp_path: Path, text: str, said: str) -> None:
    """By file and line, with a remedy."""
    path = write(tmp_path, text, "topology.conf")
    with pytest.raises(ParameterError) as caught:
        machine.with_slurm(topology=path)
    assert str(caught.value).startswith(f"{path}, {said}")
