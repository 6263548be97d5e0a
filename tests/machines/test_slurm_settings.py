# SPDX-License-Identifier: BSD-3-Clause
"""How Slurm is configured, by slurm.conf and by what scontrol prints of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swftools import MachineDescription, read_machine
from swftools.errors import ParameterError
from swftools.machines.formats.slurm_settings import tres_of
from tests.machines.same_tables import differences
from tests.machines.slurm_sites import FILES, NODES, read, site_of
from tests.machines.test_slurm import as_json

NO_ACCOUNTS = "fair share is alike for all, as no accounts are told: sacctmgr dump tells them (--accounts)"
NO_QOS = "QOS are alike for all, as none are told: sacctmgr -P list qos tells them (--qos)"

NODE = "NodeName=n[1-4] CPUs=8 RealMemory=1000\nPartitionName=p Nodes=ALL Default=YES\n"


def site(tmp_path: Path, text: str) -> MachineDescription:
    """Return a machine of four nodes with some settings."""
    return read(tmp_path, f"{text}\n{NODE}")


def test_scontrol_says_the_same_as_the_configuration(tmp_path: Path) -> None:
    """Of a real site: priorities, scheduler, preemption, partitions; both are written as YAML and read again."""
    conf = read_machine(FILES / "site.conf")
    printed = read(tmp_path, NODES + (FILES / "site.txt").read_text(), "site.txt")
    assert differences(printed.table(), conf.table()) == []
    assert printed.slurm == conf.slurm
    again = read(tmp_path, printed.to_yaml(), "site.yaml")
    assert again == printed
    assert differences(again.table(), printed.table()) == []
    found = site_of(conf)
    assert found.version == (22, 5)
    assert found.has_backfill
    assert found.scheduler == {
        "bf_interval": 5.0,
        "bf_resolution": 1.0,
        "bf_window": 120.0,
        "bf_continue": 1.0,
        "bf_max_job_test": 1000.0,
        "sched_interval": 30.0,
    }
    assert (found.preempt_type, found.preempt_mode, found.kill_wait) == ("qos", "requeue", 2.0)
    assert found.enforce == {"associations", "limits", "qos"}
    assert found.select == {"cr_core_memory"}
    assert found.default_memory_per_cpu == 2000.0
    weights = found.priority
    assert (weights.age, weights.association, weights.fair_share, weights.job_size) == (1000, 0, 10_000, 1000)
    assert (weights.partition, weights.qos) == (1000, 5000)
    assert (weights.max_age, weights.half_life, weights.calc_period) == (600, 300, 60)
    assert (weights.is_multifactor, weights.is_fair_tree, weights.favors_small) == (True, True, False)
    assert [(each.name, each.job_factor, each.preempt_mode) for each in found.partitions] == [
        ("batch", 10, "cluster"),
        ("short", 20, "cluster"),
        ("gpu", 10, "cluster"),
        ("big", 50, "cluster"),
    ]
    assert [each.default_time for each in found.partitions] == [180, None, 180, 120]
    assert found.not_simulated == (NO_ACCOUNTS, NO_QOS)


def test_what_has_weight_and_is_not_told(tmp_path: Path) -> None:
    """Accounts, usage, QOS: each with the command that tells it, until it is there; without weight nothing is said."""
    weights = "PriorityType=priority/multifactor\nPriorityWeightFairshare={}\nPriorityWeightQOS={}"
    machine = site(tmp_path, weights.format(5, 6))
    files = {
        name: FILES / f"{path}"
        for name, path in (("accounts", "dump.cfg"), ("usage", "sshare.txt"), ("qos", "qos.txt"))
    }
    assert site_of(machine).not_simulated == (NO_ACCOUNTS, NO_QOS)
    no_usage = (
        "fair share begins as if nobody had run anything, as no usage is told: sshare -a -l -P tells it (--usage)"
    )
    assert site_of(machine.with_slurm(accounts=files["accounts"])).not_simulated[0] == no_usage
    assert site_of(machine.with_slurm(**files)).not_simulated == ()
    assert site_of(site(tmp_path, weights.format(0, 0))).not_simulated == ()
    assert site_of(site(tmp_path, weights.format(5, 6).replace("multifactor", "basic"))).not_simulated == ()


def test_limits_of_partitions_that_are_not_told(tmp_path: Path) -> None:
    """A partition names a QOS: that its limits do not count is said until there are QOS."""
    machine = site(
        tmp_path, "PartitionName=q Nodes=ALL QOS=high SuspendTime=GLOBAL\nPartitionName=r Nodes=ALL QOS=high"
    )
    told = [text for text in machine.not_simulated() if "QOS" in text or "Suspend" in text]
    assert told == [
        "limits of the QOS of partitions do not count, as no QOS is told (high): sacctmgr -P list qos tells them "
        "(--qos)"
    ]
    assert not any("no QOS is told" in text for text in machine.with_slurm(qos=FILES / "qos.txt").not_simulated())


def test_every_setting(tmp_path: Path) -> None:
    """Each goes where it belongs: no two of these have the same value."""
    found = site_of(
        site(
            tmp_path,
            "PriorityType=priority/multifactor\nPriorityWeightAge=1\nPriorityWeightAssoc=2\nPriorityWeightFairshare=3\nPriorityWeightJobSize=4\n"
            "PriorityWeightPartition=5\nPriorityWeightQOS=6\nPriorityWeightTRES=CPU=7,Mem=8,GRES/gpu=9\n"
            "PriorityMaxAge=1-0\nPriorityDecayHalfLife=14-0\nPriorityCalcPeriod=10\nPriorityFavorSmall=YES\n"
            "FairShareDampeningFactor=3\nPriorityFlags=NO_FAIR_TREE,MAX_TRES\nSchedulerType=sched/builtin\n"
            "SchedulerParameters=default_queue_depth=11,max_job_bf=12,assoc_limit_stop,requeue_delay=13\n"
            "SelectTypeParameters=CR_CPU_Memory\nPreemptType=preempt/partition_prio\nPreemptMode=SUSPEND,GANG\n"
            "PreemptExemptTime=00:00:14\nAccountingStorageEnforce=safe\nKillWait=15\nOverTimeLimit=16\n"
            "DefMemPerNode=17\n",
        )
    )
    priority = found.priority
    assert (priority.age, priority.association, priority.fair_share, priority.job_size) == (1, 2, 3, 4)
    assert (priority.partition, priority.qos, priority.tres) == (5, 6, {"cpu": 7, "mem": 8, "gres/gpu": 9})
    assert (priority.max_age, priority.half_life, priority.calc_period) == (86_400, 14 * 86_400, 600)
    assert (priority.favors_small, priority.damping, priority.is_fair_tree) == (True, 3, False)
    assert priority.flags == {"no_fair_tree", "max_tres"}
    assert not found.has_backfill
    assert found.scheduler == {"default_queue_depth": 11, "bf_max_job_test": 12, "assoc_limit_stop": 1}
    assert (found.requeue_delay, found.preempt_exempt_time, found.kill_wait, found.over_time_limit) == (13, 14, 15, 960)
    assert (found.preempt_type, found.preempt_mode, found.select) == ("partition_prio", "suspend", {"cr_cpu_memory"})
    assert found.enforce == {"safe", "limits", "associations"}
    assert (found.default_memory_per_cpu, found.default_memory_per_node) == (0, 17)
    assert found.not_simulated == (
        "PreemptMode: not simulated (gang)",
        NO_ACCOUNTS,
        NO_QOS,
    )


def test_who_is_preempted_first(tmp_path: Path) -> None:
    """It stands among PreemptParameters, or with another name among SchedulerParameters."""
    found = site_of(site(tmp_path, "PreemptParameters=Reorder_Count=2,youngest_first,strict_order"))
    assert found.scheduler == {"preempt_reorder_count": 2, "preempt_youngest_first": 1, "preempt_strict_order": 1}
    assert found.not_simulated == ()
    found = site_of(site(tmp_path, "SchedulerParameters=preempt_reorder_count=3,preempt_youngest_first"))
    assert found.scheduler == {"preempt_reorder_count": 3, "preempt_youngest_first": 1}


def test_weights_without_a_type(tmp_path: Path) -> None:
    """Are taken for those of multifactor, which is told; without weights it makes no difference."""
    found = site_of(site(tmp_path, "PriorityWeightAge=5"))
    assert found.priority.is_multifactor
    assert found.not_simulated == ("PriorityType is not said: taken for priority/multifactor, as there are weights",)
    assert not site_of(site(tmp_path, "PriorityType=priority/basic\nPriorityWeightAge=5")).priority.is_multifactor


def test_misspelt_settings(tmp_path: Path) -> None:
    """Of the machine, of a partition and of a node: each is told with what was meant; those of Slurm are not."""
    text = "PriortyWeightAge=1\nSuspendTimeout=3\nPrEpParameters=x\n" + NODE.replace("RealMemory", "RealMemry")
    notes = read(tmp_path, text.replace("Default=YES", "Default=YES MaxTme=3 SuspendTime=60")).notes
    assert [note for note in notes if note.startswith("passed over")] == [
        "passed over: priortyweightage, which is no setting of Slurm; did you mean PriorityWeightAge?",
        "passed over: realmemry, which is no setting of Slurm; did you mean RealMemory?",
        "passed over: maxtme, which is no setting of Slurm; did you mean MaxTime?",
    ]
    assert not any(note.startswith("passed over") for note in read_machine(FILES / "site.conf").notes)


def test_the_most_memory_of_a_node(tmp_path: Path) -> None:
    """That of the machine is of each partition that says none itself, neither of a node nor of a CPU."""
    lines = "".join(f"PartitionName={each} Nodes=ALL\n" for each in ("a", "b MaxMemPerNode=30", "c MaxMemPerCPU=4"))
    machine = read(tmp_path, f"MaxMemPerNode=900\nNodeName=n[1-4] CPUs=8 RealMemory=1000\n{lines}")
    assert [(each.max_memory_per_node, each.max_memory_per_core) for each in machine.partitions] == [
        (900, 0),
        (30, 0),
        (0, 4),
    ]


def test_a_configuration_without_a_way_to_select(tmp_path: Path) -> None:
    """What is taken for usual is told, as it was another before; its defaults are known, so that nothing lacks."""
    told = "SelectType is not said: taken for select/cons_tres"
    machine = site(tmp_path, "KillWait=30")
    assert [told in note for note in machine.notes] == [True]
    assert machine.with_slurm(version="23.11").notes == machine.notes
    for text in ("SelectType=select/cons_res", "SelectTypeParameters=CR_Core_Memory"):
        assert not any(told in note for note in site(tmp_path, text).notes)


def test_whole_nodes(tmp_path: Path) -> None:
    """Of select/linear are among what is selected."""
    assert site_of(site(tmp_path, "SelectType=select/linear")).select == {"linear"}
    found = site_of(site(tmp_path, "SelectType=select/linear\nSelectTypeParameters=CR_Memory"))
    assert (found.select, found.not_simulated) == ({"linear", "cr_memory"}, ())


def test_weights_below_0(tmp_path: Path) -> None:
    """Of billing, as slurm.conf(5) has it; written and read again."""
    machine = read(tmp_path, "NodeName=n1\nPartitionName=p Nodes=n1 TRESBillingWeights=CPU=-1,Mem=-0.5G\n")
    assert site_of(machine).partitions[0].billing_weights == {"cpu": -1, "mem": -0.5 / 1024}
    assert read(tmp_path, machine.to_yaml(), "again.yaml") == machine


def test_times_without_a_unit(tmp_path: Path) -> None:
    """Are minutes, as slurm.conf(5) has them, but for KillWait, which is seconds; unlimited is very long."""
    text = "PriorityMaxAge=90\nPriorityDecayHalfLife=30\nPriorityCalcPeriod=2\nPreemptExemptTime=3\nKillWait=40\n"
    found = site_of(site(tmp_path, f"{text}OverTimeLimit=UNLIMITED"))
    priority = found.priority
    assert (priority.max_age, priority.half_life, priority.calc_period) == (5400, 1800, 120)
    assert (found.preempt_exempt_time, found.kill_wait, found.over_time_limit) == (180, 40, 1e10)
    assert site_of(site(tmp_path, "PriorityDecayHalfLife=0")).priority.half_life == 0


def test_what_is_not_said(tmp_path: Path) -> None:
    """Is as Slurm has it by default; nothing of it is told as not simulated."""
    found = site_of(site(tmp_path, ""))
    assert (found.version, found.has_backfill, found.scheduler) == ((22, 5), True, {})
    assert (found.priority.max_age, found.priority.half_life, found.priority.calc_period) == (604_800, 604_800, 300)
    assert (found.kill_wait, found.requeue_delay, found.over_time_limit) == (30, 121, 0)
    assert (found.preempt_type, found.preempt_mode, found.enforce) == ("none", "off", frozenset())
    assert (found.priority.is_fair_tree, found.priority.damping) == (True, 1)
    assert found.associations == found.qos == found.switches == found.not_simulated == ()
    assert not found.has_usage


@pytest.mark.parametrize(
    ("version", "flags", "is_fair_tree"),
    [
        ("22.05.8", "", True),
        ("19.05.0", "", True),
        ("18.08.9", "", False),
        ("17.11.2", "FAIR_TREE", True),
        ("23.11.1", "NO_FAIR_TREE", False),
        ("23.11.1", "FAIR_TREE", True),
    ],
)
def test_fair_tree_is_usual_since_19_05(tmp_path: Path, version: str, flags: str, *, is_fair_tree: bool) -> None:
    """Before it had to be asked for, since then to be refused."""
    text = f"{NODES}Configuration data as of now\nSLURM_VERSION = {version}\nPriorityFlags = {flags}\n"
    found = site_of(read(tmp_path, text, "site.txt"))
    assert found.version == tuple(map(int, version.split(".")[:2]))
    assert found.priority.is_fair_tree == is_fair_tree


def test_versions_without_the_settings(tmp_path: Path) -> None:
    """Of text it is that of a node, of JSON that of the document; the settings know better."""
    nodes = NODES.replace("State=IDLE", "State=IDLE Version=20.11.9")
    assert site_of(read(tmp_path, nodes, "site.txt")).version == (20, 11)
    settings = "Configuration data as of now\nSLURM_VERSION = 21.08.1\n"
    assert site_of(read(tmp_path, nodes + settings, "site.txt")).version == (21, 8)
    text = "".join((FILES / f"{each}.txt").read_text() for each in ("node", "partition", "reservation"))
    assert site_of(read(tmp_path, as_json(text), "site.json")).version == (23, 2)
    with pytest.raises(ParameterError, match=r"site\.txt: .* is no version of Slurm such as 22\.05"):
        read(tmp_path, nodes.replace("20.11.9", "old"), "site.txt")


def test_the_version_that_a_user_gives(tmp_path: Path) -> None:
    """Where no file tells it, and in place of the one that a file tells."""
    assert site_of(site(tmp_path, "").with_slurm(version="17.11")).version == (17, 11)
    with pytest.raises(ParameterError, match=r"version: 'new' is no version of Slurm such as 22\.05"):
        site(tmp_path, "").with_slurm(version="new")


def test_a_partition(tmp_path: Path) -> None:
    """What Slurm knows of it beside nodes and limits of size, from the line, and from what DEFAULT said before."""
    machine = read(
        tmp_path,
        "NodeName=n[1-4] CPUs=8\nPreemptMode=CANCEL\nPartitionName=DEFAULT PriorityJobFactor=3\n"
        "PartitionName=p Nodes=ALL QOS=part PreemptMode=OFF GraceTime=120 AllowAccounts=a,b AllowQos=high\n"
        'PartitionName=q Nodes=ALL PriorityJobFactor=5 TRESBillingWeights="CPU=1.0,Mem=0.25G,GRES/gpu=2" '
        "DenyAccounts=c DenyQos=low,mid DefMemPerNode=100 MaxMemPerNode=200 PreemptMode=CANCEL DefaultTime=5\n"
        "PartitionName=r Nodes=ALL Priority=7\n",
    )
    p, q, r = site_of(machine).partitions
    assert (p.job_factor, p.qos, p.preempt_mode, p.grace_time) == (3, "part", "off", 120)
    assert (p.allow_accounts, p.allow_qos, p.deny_accounts, p.billing_weights) == (("a", "b"), ("high",), (), {})
    assert (q.job_factor, q.qos, q.preempt_mode, q.default_time) == (5, "", "cluster", 300)
    assert q.billing_weights == {"cpu": 1, "mem": 0.25 / 1024, "gres/gpu": 2}
    assert (q.deny_accounts, q.deny_qos, q.default_memory_per_node, q.max_memory_per_node) == (
        ("c",),
        ("low", "mid"),
        100,
        200,
    )
    assert (r.job_factor, machine.table().partitions[2].tier) == (3, 7)
    assert read(tmp_path, machine.to_yaml(), "again.yaml") == machine


def test_threads_count_as_cores(tmp_path: Path) -> None:
    """What Slurm counts by CPUs, which are threads there, is said by cores."""
    text = "NodeName=n1 CPUs=32 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=9\nDefMemPerCPU=100\n"
    machine = read(tmp_path, f'{text}PartitionName=p Nodes=ALL\nPartitionName=q Nodes=ALL TRESBillingWeights="CPU=3"\n')
    found = site_of(machine)
    assert found.default_memory_per_cpu == 200
    assert [each.billing_weights for each in found.partitions] == [{"cpu": 2}, {"cpu": 6}]


def test_all_that_is_not_simulated_is_named(tmp_path: Path) -> None:
    """Settings that decide what starts when, each by its name; others are passed over."""
    machine = site(
        tmp_path,
        "JobSubmitPlugins=lua\nPrioritySiteFactorPlugin=site_factor/x\nPriorityUsageResetPeriod=MONTHLY\n"
        "PriorityParameters=x\nPreemptParameters=min_exempt_priority=2\nCompleteWait=32\nResvOverRun=5\n"
        "JobDefaults=DefCpuPerGPU=2\nEnforcePartLimits=ALL\nFederationParameters=fed_display\nSuspendTime=600\n"
        "SuspendProgram=/bin/off\nNodeFeaturesPlugins=knl\nTopologyParam=TopoOptional\nMCSPlugin=mcs/user\n"
        "DependencyParameters=kill_invalid_depend\nJobRequeue=0\nTopologyPlugin=topology/block\n"
        "SelectType=select/cray_aries\nSchedulerType=sched/wiki\nPreemptType=preempt/job_prio\n"
        "SelectTypeParameters=CR_Core_Memory,CR_LLN\nPriorityFlags=DEPTH_OBLIVIOUS\n"
        "PriorityWeightTRES=license/x=3\nPriorityWeightAge=1\n"
        "SchedulerParameters=bf_interval=9,bf_yield_sleep=500000,max_rpc_cnt=150,Salloc_Wait_Nodes,Ignore_NUMA\n"
        "SlurmctldDebug=info\nAuthType=auth/munge\nMinJobAge=300",
    )
    told = "\n".join(machine.not_simulated())
    for name in (
        "JobSubmitPlugins=lua",
        "PrioritySiteFactorPlugin=site_factor/x",
        "PriorityUsageResetPeriod=MONTHLY",
        "PriorityParameters=x",
        "PreemptParameters: not simulated (min_exempt_priority=2)",
        "CompleteWait=32",
        "ResvOverRun=5",
        "JobDefaults=DefCpuPerGPU=2",
        "EnforcePartLimits=ALL",
        "federation, FederationParameters=fed_display",
        "power saving, SuspendTime=600",
        "power saving, SuspendProgram=/bin/off",
        "NodeFeaturesPlugins=knl",
        "TopologyParam=TopoOptional",
        "MCSPlugin=mcs/user",
        "DependencyParameters=kill_invalid_depend",
        "JobRequeue=0",
        "TopologyPlugin=block",
        "SelectType=cray_aries: taken for select/cons_tres",
        "SchedulerType, taken for sched/builtin: not simulated (wiki)",
        "PreemptType: not simulated (job_prio)",
        "SelectTypeParameters: not simulated (cr_lln)",
        "PriorityFlags: not simulated (depth_oblivious)",
        "weights of resources besides those simulated: not simulated (license/x)",
        "SchedulerParameters: not simulated (max_rpc_cnt=150)",
        "SchedulerParameters: of no effect without test_time of policy slurm (bf_yield_sleep=500000)",
    ):
        assert name in told
    assert "Debug" not in told
    assert "munge" not in told
    assert set(site_of(machine).not_simulated) <= set(machine.table().told)
    assert site_of(machine).scheduler == {"bf_interval": 9, "bf_yield_sleep": 500_000}
    again = read(tmp_path, machine.to_yaml(), "again.yaml")
    assert again.not_simulated() == machine.not_simulated()


def test_a_partition_of_which_not_all_is_simulated(tmp_path: Path) -> None:
    """What is not, is named with the partitions that have it."""
    machine = read(
        tmp_path,
        "NodeName=n1\nPartitionName=p Nodes=n1 LLN=YES ReqResv=YES RootOnly=YES AllocNodes=login OverTimeLimit=5 "
        "Alternate=q MaxCPUsPerSocket=4 PowerDownOnIdle=YES SelectTypeParameters=CR_Socket PreemptMode=WITHIN\n"
        "PartitionName=q Nodes=n1 LLN=YES LLN=NO RootOnly=YES\n",
    )
    told = site_of(machine).not_simulated
    names = [
        "PreemptMode=WITHIN",
        "OverTimeLimit=5",
        "LLN=YES",
        "ReqResv=YES",
        "RootOnly=YES (p, q)",
        "AllocNodes=login",
    ]
    names += ["Alternate=q", "SelectTypeParameters=CR_Socket", "MaxCPUsPerSocket=4", "PowerDownOnIdle=YES"]
    expected = [
        f"{name.removesuffix(' (p, q)')}: not simulated ({'p, q' if name.endswith('(p, q)') else 'p'})"
        for name in names
    ]
    assert [*told] == [each.replace("PreemptMode=WITHIN", "PreemptMode=within") for each in expected]


def test_no_backfill_by_its_interval(tmp_path: Path) -> None:
    """-1 switches it off."""
    assert not site_of(site(tmp_path, "SchedulerParameters=bf_interval=-1")).has_backfill


def test_partitions_as_json(tmp_path: Path) -> None:
    """Say what Slurm knows of them, too; the settings of the machine are those by default."""
    text = "".join((FILES / f"{each}.txt").read_text() for each in ("node", "partition", "reservation"))
    document = json.dumps(
        [json.loads(each) for each in as_json(text).replace("\n}\n{", "\n}\x00{").split("\x00")][1]["partitions"]
    )
    parts = json.loads(document)
    parts[1] |= {
        "priority": {"tier": 5, "job_factor": 30},
        "qos": {"allowed": "high", "deny": "", "assigned": "part"},
        "tres": {"billing_weights": "CPU=2.0,Mem=1G"},
        "grace_time": 60,
    }
    nodes = as_json(text).split("\n}\n{")[0] + "\n}"
    machine = read(tmp_path, f"{nodes}\n{json.dumps({'meta': 1, 'partitions': parts})}", "site.json")
    batch, gpu, _ = site_of(machine).partitions
    assert (gpu.job_factor, gpu.qos, gpu.allow_qos, gpu.grace_time) == (30, "part", ("high",), 60)
    assert gpu.billing_weights == {"cpu": 2, "mem": 1 / 1024}
    assert (batch.job_factor, batch.qos, batch.allow_qos) == (1, "", ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("PriorityWeightAge=much", "line 1: PriorityWeightAge=much is no number; write one, such as 1000"),
        (
            "\nPriorityType=priority/lottery",
            "line 2: PriorityType=priority/lottery is not modelled; priority/multifactor",
        ),
        ("SchedulerParameters=bf_interval=often", "line 1: SchedulerParameters: bf_interval=often is no number"),
        ("PreemptParameters=reorder_count=x", "line 1: PreemptParameters: reorder_count=x is no number"),
        ("PriorityMaxAge=old", "line 1: PriorityMaxAge=old is no time"),
        ("PriorityWeightTRES=cpu", "line 1: PriorityWeightTRES: 'cpu' is not RESOURCE=NUMBER, such as cpu=512"),
        ("PriorityWeightTRES=cpu=x", "line 1: PriorityWeightTRES: 'cpu=x' is no number of cpu"),
        ("PriorityCalcPeriod=0", "priority.calc_period: 0 is not above 0"),
        ("FairShareDampeningFactor=0", "priority.damping: 0 is not above 0"),
        ("PartitionName=x Nodes=n1 PriorityJobFactor=y", "line 1: PriorityJobFactor=y is no number"),
        (
            "PartitionName=x Nodes=n1 TRESBillingWeights=CPU=y",
            "line 1: TRESBillingWeights: 'CPU=y' is no number of cpu",
        ),
        ("PartitionName=x Nodes=n9", "line 1: no NodeName or NodeSet is 'n9'; add it, or take it out of Nodes"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """In one line, by file and line, with a remedy."""
    with pytest.raises(ParameterError) as caught:
        site(tmp_path, text)
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "slurm.conf"))
    assert "\n" not in str(caught.value)


def test_settings_of_scontrol_name_their_line(tmp_path: Path) -> None:
    """Not that in which the settings begin."""
    text = f"{NODES}Configuration data as of now\nKillWait = 30 sec\nPriorityWeightQOS = lots\n"
    with pytest.raises(ParameterError, match="line 67: PriorityWeightQOS=lots is no number"):
        read(tmp_path, text, "site.txt")


def test_a_partition_of_scontrol_with_a_node_that_is_not_there(tmp_path: Path) -> None:
    """The line of the partition is named."""
    with pytest.raises(ParameterError, match=r"site\.txt, line 65: no node 'x1' is in nodes"):
        read(tmp_path, f"{NODES}PartitionName=p\n   TotalNodes=1 Nodes=x1\n", "site.txt")


@pytest.mark.parametrize(
    ("text", "amounts", "others"),
    [
        ("cpu=512", {"cpu": 512}, []),
        ("CPU=1,Mem=64G,Node=2", {"cpu": 1, "mem": 65_536, "node": 2}, []),
        ("mem=512000M,mem=1T", {"mem": 1024**2}, []),
        ("mem=1000", {"mem": 1000}, []),
        ("mem=2048K", {"mem": 2}, []),
        ("gres/gpu=4,gres/gpu:a100=2,billing=9", {"gres/gpu": 4, "billing": 9}, ["gres/gpu:a100"]),
        ("cpu=-1,node=3", {"node": 3}, []),
        ("", {}, []),
    ],
)
def test_amounts_by_resource(text: str, amounts: dict[str, float], others: list[str]) -> None:
    """Memory in MB; what is not simulated by name; -1 is none."""
    assert tres_of(text, "here") == (amounts, others)
