# SPDX-License-Identifier: BSD-3-Clause
"""How Slurm is configured, as a description by hand says it: checked, written, changed, taken by policies."""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path
from typing import Any

import pytest

from swftools import MachineDescription
from swftools.errors import ParameterError
from swftools.machines.slurm_parts import Account, Priority, Qos, Slurm, Switch, User
from swftools.machines.slurm_site import DEFAULTS, SlurmSite
from swftools.machines.table_document import document_of, table_of_document
from tests.machines.same_tables import differences
from tests.machines.slurm_sites import SMALL, read, site_of, small

LIMITS: dict[str, Any] = {
    "grp_jobs": 1,
    "max_jobs": 2,
    "max_wall": "3h",
    "grp_tres": {"cpu": 4},
    "max_tres": {"mem": "1G"},
    "max_tres_per_node": {"node": 6},
    "grp_tres_mins": {"gres/gpu": 7},
    "grp_tres_run_mins": {"billing": 8},
    "max_tres_mins": {"cpu": 9},
}
WHOLE: dict[str, Any] = {
    "version": 23.11,
    "scheduler_type": "builtin",
    "scheduler": {"bf_interval": 60, "bf_continue": 1, "unheard_of": "x"},
    "select": "CR_CPU,CR_LLN",
    "preempt_type": "partition_prio",
    "preempt_mode": "SUSPEND",
    "preempt_exempt_time": "1m",
    "enforce": ["limits", "QOS"],
    "priority": {
        "type": "basic",
        "age": 1,
        "association": 2,
        "fair_share": 3,
        "job_size": 4,
        "partition": 5,
        "qos": 6,
        "tres": {"cpu": 7, "mem": 0.5},
        "max_age": "1d",
        "half_life": 0,
        "calc_period": 60,
        "favors_small": True,
        "damping": 2,
        "flags": ["max_tres"],
    },
    "qos": [
        {"name": "other"},
        LIMITS
        | {
            "name": "q",
            "priority": 1,
            "usage_factor": 0.5,
            "preempt": "other",
            "preempt_mode": "cancel",
            "grace_time": 30,
            "preempt_exempt_time": 40,
            "flags": "NoReserve",
            "max_jobs_pu": 10,
            "max_jobs_pa": 11,
            "max_tres_pu": {"cpu": 12},
            "max_tres_pa": {"cpu": 13},
            "min_tres": {"cpu": 14},
        },
    ],
    "accounts": [
        {"name": "root", "default_qos": "other"},
        LIMITS
        | {
            "name": "a",
            "shares": "parent",
            "qos": ["q", "other"],
            "priority": 5,
            "usage": 1e6,
            "users": [LIMITS | {"name": "u", "partition": "p", "default": True, "usage": 3, "shares": 0}],
        },
        {"name": "b", "parent": "a"},
    ],
    "switches": SMALL["slurm"]["switches"],
    "default_memory_per_cpu": 1000,
    "default_memory_per_node": "2G",
    "requeue_delay": 1,
    "kill_wait": 2,
    "over_time_limit": "1h",
    "not_simulated": ["something else"],
}


def whole() -> MachineDescription:
    """Return a machine that says everything that there is to say."""
    return MachineDescription.from_mapping(SMALL | {"slurm": copy.deepcopy(WHOLE), "partitions": [{"name": "p"}]})


def test_everything_is_said_in_the_description() -> None:
    """No key is forgotten above: with one that is by default, the tests below would not see it."""
    for kind, content in (
        (Slurm, WHOLE),
        (Priority, WHOLE["priority"]),
        (Qos, WHOLE["qos"][1]),
        (Account, WHOLE["accounts"][1] | WHOLE["accounts"][0] | WHOLE["accounts"][2]),
        (User, WHOLE["accounts"][1]["users"][0] | WHOLE["accounts"][1] | {"default_qos": ""}),
        (Switch, SMALL["slurm"]["switches"][0] | SMALL["slurm"]["switches"][1]),
    ):
        assert {each.name for each in dataclasses.fields(kind)} - set(content) == set()


def test_what_policies_take() -> None:
    """Every part of it, with what it has in the description."""
    found = site_of(whole())
    assert (found.version, found.has_backfill, found.scheduler) == (
        (23, 11),
        False,
        {"bf_interval": 60, "bf_continue": 1},
    )
    assert (found.select, found.preempt_type, found.preempt_mode) == ({"cr_cpu", "cr_lln"}, "partition_prio", "suspend")
    assert found.enforce == {"limits", "qos", "associations"}
    priority = found.priority
    assert not priority.is_multifactor
    assert (priority.age, priority.association, priority.fair_share, priority.job_size) == (1, 2, 3, 4)
    assert (priority.partition, priority.qos, priority.tres) == (5, 6, {"cpu": 7, "mem": 0.5})
    assert (priority.max_age, priority.half_life, priority.calc_period) == (86_400, 0, 60)
    assert (priority.favors_small, priority.damping, priority.flags) == (True, 2, {"max_tres"})
    other, qos = found.qos
    assert (other.preempt_exempt_time, qos.preempt_exempt_time) == (60, 40)
    assert (qos.priority, qos.usage_factor, qos.preempt, qos.preempt_mode) == (1, 0.5, ("other",), "cancel")
    assert (qos.grace_time, qos.flags) == (30, {"noreserve"})
    limits = dataclasses.asdict(qos.limits)
    assert limits == LIMITS | {
        "max_wall": 10_800,
        "max_tres": {"mem": 1024},
        "max_jobs_pu": 10,
        "max_jobs_pa": 11,
        "max_tres_pu": {"cpu": 12},
        "max_tres_pa": {"cpu": 13},
        "min_tres": {"cpu": 14},
    }
    root, a, u, b = found.associations
    assert [each.parent for each in found.associations] == [-1, 0, 1, 1]
    assert [each.shares for each in found.associations] == [1, None, 0, 1]
    assert [each.default_qos for each in found.associations] == ["other"] * 4
    assert [each.qos for each in found.associations] == [(), ("q", "other"), ("q", "other"), ("q", "other")]
    assert [each.usage for each in found.associations] == [1e6, 1e6, 3, 0]
    assert (u.partition, u.is_default, a.priority, root.priority) == ("p", True, 5, 0)
    assert dataclasses.asdict(b.limits) == dataclasses.asdict(root.limits) | {
        "max_jobs": 2,
        "max_wall": 10_800,
        "max_tres": {"mem": 1024},
        "max_tres_per_node": {"node": 6},
        "max_tres_mins": {"cpu": 9},
    }
    assert a.limits == u.limits
    assert (found.default_memory_per_cpu, found.default_memory_per_node) == (1000, 2048)
    assert (found.requeue_delay, found.kill_wait, found.over_time_limit, found.preempt_exempt_time) == (1, 2, 3600, 60)
    assert found.has_usage
    assert found.not_simulated == (
        "something else",
        "SchedulerParameters: not simulated (unheard_of=x)",
        "SelectTypeParameters: not simulated (cr_lln)",
    )


def test_written_and_read_again(tmp_path: Path) -> None:
    """YAML has all of it; so has what is kept of a simulation's state."""
    for machine in (whole(), small()):
        again = read(tmp_path, machine.to_yaml(), "again.yaml")
        assert again == machine
        assert again.to_yaml() == machine.to_yaml()
        table = machine.table()
        assert differences(again.table(), table) == []
        assert differences(table_of_document(document_of(table)), table) == []


def test_a_centre_of_many_users(tmp_path: Path) -> None:
    """Is read from more than files that are written by hand may have."""
    names = [f"{'u' * 1000}{place}" for place in range(1100)]
    users = ", ".join(f"{{name: {name}}}" for name in names)
    text = f"nodes: [{{names: n1, cores: 1}}]\nslurm: {{accounts: [{{name: a, users: [{users}]}}]}}\n"
    assert len(text) > 1 << 20
    found = site_of(read(tmp_path, text, "site.yaml")).associations
    assert [each.user for each in found[2:]] == names


def test_states_of_machines_without_slurm() -> None:
    """Also such as were saved before anything was known of it."""
    table = MachineDescription.from_mapping({"nodes": SMALL["nodes"]}).table()
    document = document_of(table)
    assert document.pop("slurm") is None
    assert differences(table_of_document(document), table) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), "new"),
        (("associations", 1, "parent"), 1),
        (("associations", 0, "parent"), -2),
        (("switches", 0, "parent"), 9),
        (("switches", 0, "nodes"), [99]),
        (("partitions",), []),
        (("qos", 0, "priority"), "high"),
    ],
)
def test_states_that_somebody_broke(path: tuple[Any, ...], value: Any) -> None:
    """Are refused, whatever is wrong with them."""
    document = document_of(small().table())
    part = document["slurm"]
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    with pytest.raises(ParameterError, match="how Slurm is configured"):
        table_of_document(document)


def test_usual_values_are_those_of_policies() -> None:
    """A description that says nothing gives what policies take by default, but for partitions."""
    machine = MachineDescription.from_mapping({"nodes": SMALL["nodes"], "slurm": {}})
    usual = site_of(machine)
    assert differences(dataclasses.replace(usual, partitions=()), SlurmSite()) == []
    assert machine.to_mapping()["slurm"] == {}


@pytest.mark.parametrize(
    ("slurm", "said"),
    [
        ({"version": "x"}, "slurm.version: 'x' is no version of Slurm such as 22.05"),
        ({"bf_interval": 3}, "slurm.bf_interval: unknown key"),
        ({"scheduler": {"bf_interval": "often"}}, "slurm.scheduler: bf_interval: 'often' is no number"),
        ({"scheduler": {"bf_interval": float("nan")}}, "slurm.scheduler: bf_interval: 'nan' is no number"),
        ({"scheduler": {"bf_continue": True}}, "slurm.scheduler: bf_continue: 'True' is no number"),
        ({"scheduler": {"bf_yield_sleep": -5}}, "slurm.scheduler: bf_yield_sleep: -5 is below 0"),
        ({"scheduler_type": "wiki"}, "slurm.scheduler_type"),
        ({"preempt_mode": "gang"}, "slurm.preempt_mode"),
        ({"priority": {"age": "much"}}, "slurm.priority.age"),
        ({"priority": {"age": -1}}, "slurm.priority.age"),
        ({"priority": {"calc_period": 0}}, "slurm.priority.calc_period: 0 is not above 0"),
        ({"priority": {"type": "lottery"}}, "slurm.priority.type"),
        ({"priority": {"tres": {"gpus": 1}}}, "no resource 'gpus' is simulated; there are: cpu, mem"),
        ({"priority": {"tres": {"cpu": "1G"}}}, "cpu: '1G' is no number"),
        ({"qos": [{"name": "a", "max_tres_pu": {"cpu": -1}}]}, "slurm.qos.0.max_tres_pu: cpu: '-1' is no number"),
        (
            {"qos": [{"name": "a", "max_tres_pu": {"mem": "1X"}}]},
            "slurm.qos.0.max_tres_pu: '1X' is no amount of memory",
        ),
        ({"qos": [{"name": "a", "max_wall": "long"}]}, "slurm.qos.0.max_wall: 'long' is no time"),
        ({"qos": [{"priority": 1}]}, "slurm.qos.0.name: missing; add it"),
        ({"qos": [{"name": "a"}, {"name": "a"}]}, "slurm.qos.1.name: QOS 'a' is there twice"),
        ({"qos": [{"name": "a", "preempt": ["b"]}]}, "slurm.qos.0.preempt: no QOS is called 'b'"),
        ({"accounts": [{"name": "a", "shares": "some"}]}, "slurm.accounts.0.shares: 'some' is neither a number"),
        ({"accounts": [{"name": "a", "usrs": []}]}, "slurm.accounts.0.usrs: unknown key; did you mean users?"),
        ({"accounts": [{"name": "a"}, {"name": "a"}]}, "slurm.accounts.1.name: account 'a' is there twice"),
        ({"accounts": [{"name": "a", "parent": "a"}]}, "slurm.accounts.0.parent: accounts go in a circle: a > a"),
        (
            {"accounts": [{"name": "x", "parent": "y"}, {"name": "y", "parent": "z"}, {"name": "z", "parent": "y"}]},
            "accounts go in a circle: y > z > y; say which of them is below root",
        ),
        ({"accounts": [{"name": "a", "default_qos": "hig"}]}, "slurm.accounts.0.default_qos: no QOS is called 'hig'"),
        (
            {"accounts": [{"name": "a", "users": [{"name": "u"}, {"name": "u"}]}]},
            "slurm.accounts.0.users.1.name: user 'u' is there twice in a; give each once",
        ),
        (
            {"accounts": [{"name": "a", "users": [{"name": "u", "partition": "pp"}]}]},
            "slurm.accounts.0.users.0.partition: no partition is called 'pp'",
        ),
        ({"switches": [{"name": "s"}]}, "slurm.switches.0: switch 's' has either nodes or switches"),
    ],
)
def test_what_is_refused(slurm: dict[str, Any], said: str) -> None:
    """With the key, in one line where there is one thing wrong."""
    with pytest.raises(ParameterError) as caught:
        small(**slurm)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_messages_of_files_name_the_line(tmp_path: Path) -> None:
    """Of what is wrong with a value, and with what is named elsewhere; partitions too."""
    text = (
        "nodes: [{names: 'n[1-2]', cores: 1}]\npartitions:\n  - {name: p, qos: hihg}\nslurm:\n  qos:\n"
        "    - {name: high}\n  accounts:\n    - name: a\n      qos: [low]\n"
    )
    with pytest.raises(ParameterError) as caught:
        read(tmp_path, text, "site.yaml")
    assert "line 3: partitions > 0 > qos: no QOS is called 'hihg'; did you mean high?" in str(caught.value)
    assert "line 9: slurm > accounts > 0 > qos: no QOS is called 'low'" in str(caught.value)
    with pytest.raises(ParameterError, match=r"site\.yaml, line 9: slurm > accounts > 0 > shares: 'x' is neither"):
        read(tmp_path, text.replace("qos: [low]", "shares: x").replace("qos: hihg", "qos: high"), "site.yaml")


def test_qos_that_nobody_describes() -> None:
    """May be named where none is described at all."""
    machine = small(qos=[], accounts=[{"name": "a", "qos": ["x"], "default_qos": "x"}])
    assert site_of(machine).associations[1].qos == ("x",)


def test_changes() -> None:
    """Of every part, by its name; names may have points in them."""
    machine = small()
    found = site_of(
        machine.changed(
            [
                "slurm.scheduler.bf_interval=60",
                "slurm.scheduler.bf_max_job_test+=100",
                "slurm.priority.age=1000",
                "slurm.priority.half_life=14d",
                "slurm.priority.calc_period-=1m",
                "slurm.priority.flags+=MAX_TRES",
                "slurm.priority.tres.cpu=5",
                "slurm.qos.high.priority=500",
                "slurm.qos.high.max_tres_pu.cpu-=2",
                "slurm.qos.high.max_tres_pu.gres/gpu=4",
                "slurm.qos.high.max_tres_pu.mem=1G",
                "slurm.qos.low.preempt+=high",
                "slurm.qos.high.preempt-=low",
                "slurm.qos.high.max_wall=2d",
                "slurm.qos.high.max_wall+=12h",
                "slurm.accounts.phys.shares=60",
                "slurm.accounts.phys.max_jobs+=2",
                "slurm.accounts.phys.users.ann.shares+=3",
                "slurm.accounts.phys.users.j.doe.shares=parent",
                "slurm.accounts.lab.users.ann/p.max_jobs=1",
                "slurm.accounts.lab.qos+=low",
                "slurm.enforce+=limits",
                "slurm.kill_wait=1m",
                "slurm.version=17.11",
                "slurm.preempt_type=qos",
                "partitions.p.tier=5",
                "partitions.p.job_factor+=2",
                "partitions.p.qos=low",
                "partitions.q.grace_time=2m",
                "partitions.q.billing_weights.mem=0.5G",
                "partitions.q.deny.qos=[low]",
            ]
        )
    )
    assert found.scheduler == {"bf_interval": 60, "bf_max_job_test": DEFAULTS["bf_max_job_test"] + 100}
    assert (found.priority.age, found.priority.half_life, found.priority.calc_period) == (1000, 14 * 86_400, 240)
    assert (found.priority.flags, found.priority.tres) == ({"max_tres"}, {"cpu": 5})
    low, high = found.qos
    assert (low.preempt, high.preempt, high.priority) == (("high",), (), 500)
    assert high.limits.max_tres_pu == {"cpu": 6, "gres/gpu": 4, "mem": 1024}
    assert high.limits.max_wall == 2.5 * 86_400
    _, phys, ann, doe, lab, of_p = found.associations
    assert (phys.shares, phys.limits.max_jobs, ann.shares, doe.shares) == (60, 7, 4, None)
    assert (of_p.partition, of_p.limits.max_jobs, lab.limits.max_jobs, lab.qos) == ("p", 1, 7, ("low",))
    assert (found.enforce, found.kill_wait) == ({"limits", "associations"}, 60)
    assert (found.version, found.preempt_type, found.priority.is_fair_tree) == ((17, 11), "qos", False)
    p, q = found.partitions
    assert (p.job_factor, p.qos, q.grace_time, q.deny_qos) == (3, "low", 120, ("low",))
    assert q.billing_weights == {"mem": 0.5 / 1024}
    assert machine == small()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("slurm.scheduler.bf_intervall=3", "no key 'bf_intervall' of slurm.scheduler; there are: .* mean bf_interval"),
        ("slurm.prioriti.age=3", "no key 'prioriti' of slurm; there are: .* did you mean priority"),
        ("slurm.qos.hihg.priority=3", "no QOS 'hihg'; there are: low, high; did you mean high"),
        ("slurm.qos.high=3", r"write slurm\.qos\.high\.KEY; names are: low, high"),
        ("slurm.qos=3", r"write slurm\.qos\.NAME\.KEY; names are: low, high"),
        ("slurm.accounts.phys.users.bob.shares=3", "no user 'bob'; there are: ann, j.doe"),
        ("slurm.accounts.phys.max_wall+=3h", r"max_wall has no value that could be changed; set it by ="),
        ("slurm.qos.high.max_jobs_pu+=3", r"max_jobs_pu has no value that could be changed; set it by ="),
        ("slurm.qos.high.max_tres_pu.node-=1", r"node has no value that could be changed; set it by ="),
        ("slurm.qos.high.max_tres_pu.cores=1", "no key 'cores' of slurm.qos.high.max_tres_pu; there are: "),
        ("slurm.qos.high.max_tres_pu=1", "no key '' of slurm.qos.high.max_tres_pu"),
        ("slurm.qos.high.preempt-=high", "preempt has no 'high'"),
        ("slurm.kill_wait.soon=1", "slurm.kill_wait has no 'soon' in it"),
        ("slurm.priority.age-=5", "leaves -5 of age, which is below 0"),
        ("slurm.accounts.lab.parent=lab", "accounts go in a circle: lab > lab"),
        ("slurm.qos.high.name=low", "QOS 'low' is there twice"),
        ("partitions.p.qos=none", "no QOS is called 'none'"),
    ],
)
def test_changes_that_are_refused(change: str, said: str) -> None:
    """With what can be changed, and how it is written."""
    with pytest.raises(ParameterError, match=said):
        small().changed([change])


def test_names_that_begin_alike() -> None:
    """Of j and j.doe the longest that fits is meant; of a key that is none, too."""
    users = [{"name": "j"}, {"name": "j.doe"}, {"name": "j.doe.shares"}]
    machine = small(accounts=[{"name": "a", "users": users}])
    changes = ["slurm.accounts.a.users.j.shares=2", "slurm.accounts.a.users.j.doe.shares=3"]
    found = site_of(machine.changed([*changes, "slurm.accounts.a.users.j.doe.shares.shares=4"]))
    assert [each.shares for each in found.associations[2:]] == [2, 3, 4]


def test_a_change_of_what_is_not_told() -> None:
    """How Slurm is configured must be known first; so must accounts."""
    plain = MachineDescription.from_mapping({"nodes": SMALL["nodes"]})
    with pytest.raises(ParameterError, match=r"does not say how Slurm is configured; read it from slurm\.conf or"):
        plain.changed(["slurm.kill_wait=1"])
    with pytest.raises(ParameterError, match=r"the machine has no slurm\.accounts; describe them first"):
        small(accounts=[]).changed(["slurm.accounts.a.shares=1"])


def test_nodes_that_come_and_go_and_their_switches() -> None:
    """New ones are on the switch of the last of their kind; switches without nodes go, and those above them."""
    machine = small()
    more = site_of(machine.changed(["nodes.n.count+=2"]))
    assert [(each.name, each.nodes) for each in more.switches] == [
        ("a", (0, 1, 2, 3)),
        ("b", (4, 5, 6, 7, 8, 9)),
        ("top", tuple(range(10))),
    ]
    fewer = site_of(machine.changed(["nodes.n.count=5"]))
    assert [(each.name, each.nodes) for each in fewer.switches] == [
        ("a", (0, 1, 2, 3)),
        ("b", (4,)),
        ("top", (0, 1, 2, 3, 4)),
    ]
    gone = site_of(machine.changed(["nodes.n.count=4"]))
    assert [(each.name, each.parent) for each in gone.switches] == [("a", 1), ("top", -1)]
    tree = [{"name": "t", "switches": ["u", "x"]}, {"name": "u", "switches": ["y"]}]
    tree += [{"name": "x", "nodes": "n[1-4]"}, {"name": "y", "nodes": "n[5-8]"}]
    deep = site_of(small(switches=tree).changed(["nodes.n.count=4"]))
    assert [each.name for each in deep.switches] == ["x", "t"]
    by_kind = small(switches=[{"name": "s", "nodes": "n"}]).changed(["nodes.n.count+=2"])
    assert by_kind.to_mapping()["slurm"]["switches"] == [{"name": "s", "nodes": ["n"]}]
    assert site_of(by_kind).switches[0].nodes == tuple(range(10))


def test_what_no_rule_reads_is_named() -> None:
    """Words of SchedulerParameters, jobs that would take turns, and limits that nobody looks at, each by itself."""
    plain = small().not_simulated()
    for part, changed, sentence in (
        ({"scheduler": {"max_rpc_cnt": 150}}, {}, "SchedulerParameters: not simulated (max_rpc_cnt=150)"),
        ({"scheduler": {"bf_busy_nodes": 1}}, {}, "SchedulerParameters: not simulated (bf_busy_nodes)"),
        (
            {"preempt_type": "qos", "preempt_mode": "suspend"},
            {},
            "PreemptMode suspend: jobs of one partition take no turns, the preempted one stands (gang)",
        ),
        (
            {"preempt_type": "qos", "qos": [{"name": "low", "preempt_mode": "suspend"}]},
            {},
            "PreemptMode suspend: jobs of one partition take no turns, the preempted one stands (gang)",
        ),
        (
            {},
            {"max_memory_per_node": 1000},
            "the most memory that a job may ask for of a node: by policy slurm only (p)",
        ),
    ):
        content = SMALL | {"slurm": SMALL["slurm"] | part, "partitions": [{"name": "p"} | changed]}
        said = MachineDescription.from_mapping(copy.deepcopy(content)).not_simulated()
        assert set(said) - set(plain) == {sentence}
    as_here = {"bf_continue": 1, "defer": 1, "defer_batch": 1, "pack_serial_at_end": 1, "enable_user_top": 1}
    suspending = {"preempt_type": "partition_prio", "preempt_mode": "suspend"}
    quiet = SMALL | {"slurm": SMALL["slurm"] | suspending | {"scheduler": as_here}}
    assert MachineDescription.from_mapping(copy.deepcopy(quiet)).not_simulated() == plain
