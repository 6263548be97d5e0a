# SPDX-License-Identifier: BSD-3-Clause
"""How Slurm is configured on a machine: priorities, scheduler, QOS, accounts and users: what policy ``slurm`` takes.

Names are Slurm's own, written small with underscores. What is None, or not in a mapping, is not limited, or as usual.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SlurmLimits:
    """Limits of an association or a QOS.

    Parameters
    ----------
    grp_jobs, max_jobs : int, optional
        Most running jobs of all, and of the association itself.
    max_jobs_pu, max_jobs_pa : int, optional
        Of a QOS: most running jobs of each user, of each account.
    max_wall : float, optional
        Longest time limit of a job, s.
    grp_tres, max_tres, max_tres_per_node, max_tres_pu, max_tres_pa, min_tres : mapping of str to float
        By name of a resource (``cpu``, ``mem`` in MB, ``node``, ``gres/gpu``, ``billing``): of all running jobs
        together, of a job, of a job on each node, of the jobs of a user, of an account, least of a job.
    grp_tres_mins, grp_tres_run_mins, max_tres_mins : mapping of str to float
        Resources x minutes: used in all, decayed; of running jobs to their limits; of a job to its limit.
    """

    grp_jobs: int | None = None
    max_jobs: int | None = None
    max_jobs_pu: int | None = None
    max_jobs_pa: int | None = None
    max_wall: float | None = None
    grp_tres: Mapping[str, float] = field(default_factory=dict)
    max_tres: Mapping[str, float] = field(default_factory=dict)
    max_tres_per_node: Mapping[str, float] = field(default_factory=dict)
    max_tres_pu: Mapping[str, float] = field(default_factory=dict)
    max_tres_pa: Mapping[str, float] = field(default_factory=dict)
    min_tres: Mapping[str, float] = field(default_factory=dict)
    grp_tres_mins: Mapping[str, float] = field(default_factory=dict)
    grp_tres_run_mins: Mapping[str, float] = field(default_factory=dict)
    max_tres_mins: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SlurmQos:
    """A quality of service.

    Parameters
    ----------
    name : str
        Its name.
    priority : float
        Divided by the largest of all it is the QOS factor.
    usage_factor : float
        What usage of its jobs counts.
    preempt : tuple of str
        Names of the QOS whose jobs its jobs may preempt.
    preempt_mode : str
        ``cluster`` (as the machine), ``requeue``, ``cancel``, ``suspend``, ``off``: how its own jobs are preempted.
    grace_time, preempt_exempt_time : float
        s.
    flags : frozenset of str
        Small letters, such as ``noreserve``.
    limits : SlurmLimits
        Its limits.
    """

    name: str
    priority: float = 0.0
    usage_factor: float = 1.0
    preempt: tuple[str, ...] = ()
    preempt_mode: str = "cluster"
    grace_time: float = 0.0
    preempt_exempt_time: float = 0.0
    flags: frozenset[str] = frozenset()
    limits: SlurmLimits = field(default_factory=SlurmLimits)


@dataclass(frozen=True)
class SlurmAssociation:
    """An account, or a user in an account.

    Parameters
    ----------
    account : str
        The account.
    user : str
        The user; empty: it is the account itself.
    partition : str
        Where a user's association is of one partition only; empty: of all.
    parent : int
        The association of the account above it, as a place in ``SlurmSite.associations``; -1: it is the root. A parent
        stands before its children.
    shares : float, optional
        None: it shares as its parent does (``parent``).
    qos : tuple of str
        Which it may use; none: all.
    default_qos : str
        Of jobs that name none.
    priority : float
        Of the association factor.
    usage : float
        What was used before the log begins, in billing units x s; of an account with that of all who are below it.
    limits : SlurmLimits
        Its limits; ``max_jobs``, ``max_wall``, ``max_tres...`` are those of the account above where it has none itself.
    is_default : bool
        Of a user: whether jobs that name no account are of this one.
    """

    account: str
    user: str = ""
    partition: str = ""
    parent: int = -1
    shares: float | None = 1.0
    qos: tuple[str, ...] = ()
    default_qos: str = ""
    priority: float = 0.0
    usage: float = 0.0
    limits: SlurmLimits = field(default_factory=SlurmLimits)
    is_default: bool = False


@dataclass(frozen=True)
class SlurmPartition:
    """What Slurm knows of a partition beside its nodes and limits of size.

    Parameters
    ----------
    name : str
        As in ``NodeTable.partitions``.
    job_factor : float
        Divided by the largest of all it is the partition factor.
    qos : str
        The partition's QOS; empty: none.
    preempt_mode : str
        As of a QOS.
    billing_weights : mapping of str to float
        ``TRESBillingWeights``; none: a CPU is 1.
    grace_time : float
        s.
    allow_accounts, deny_accounts, allow_qos, deny_qos : tuple of str
        Who may use it; none: all, none denied.
    default_time : float, optional
        Time limit of jobs that ask for none, s; None: the partition's longest.
    default_memory_per_node, max_memory_per_node : float
        MB on each node: of a job that asks for none, and the most it may ask for; 0: not said.
    """

    name: str
    job_factor: float = 1.0
    qos: str = ""
    preempt_mode: str = "cluster"
    billing_weights: Mapping[str, float] = field(default_factory=dict)
    grace_time: float = 0.0
    allow_accounts: tuple[str, ...] = ()
    deny_accounts: tuple[str, ...] = ()
    allow_qos: tuple[str, ...] = ()
    deny_qos: tuple[str, ...] = ()
    default_time: float | None = None
    default_memory_per_node: float = 0.0
    max_memory_per_node: float = 0.0


@dataclass(frozen=True)
class SlurmPriority:
    """How priorities are made.

    Parameters
    ----------
    is_multifactor : bool
        ``priority/multifactor``; else ``priority/basic``: in order of submission.
    age, association, fair_share, job_size, partition, qos : float
        The weights.
    tres : mapping of str to float
        Weights of resources.
    max_age : float
        s from which on age counts as 1.
    half_life : float
        s in which usage decays by half; 0: it does not.
    calc_period : float
        s between two calculations.
    favors_small : bool
        Small jobs have the larger size factor.
    is_fair_tree : bool
        Fair Tree; else the classic formula.
    damping : float
        ``FairShareDampeningFactor`` of the classic formula.
    flags : frozenset of str
        ``PriorityFlags`` in small letters.
    """

    is_multifactor: bool = True
    age: float = 0.0
    association: float = 0.0
    fair_share: float = 0.0
    job_size: float = 0.0
    partition: float = 0.0
    qos: float = 0.0
    tres: Mapping[str, float] = field(default_factory=dict)
    max_age: float = 7 * 86400.0
    half_life: float = 7 * 86400.0
    calc_period: float = 300.0
    favors_small: bool = False
    is_fair_tree: bool = True
    damping: float = 1.0
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SlurmSwitch:
    """A switch of a tree: of nodes (a leaf), or of switches that stand before it.

    ``parent`` is a place in ``SlurmSite.switches``, -1 of the top; ``nodes`` are numbers of the nodes below it.
    """

    name: str
    parent: int
    is_leaf: bool
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class SlurmSite:
    """How Slurm is configured.

    Parameters
    ----------
    version : tuple of int
        Such as (22, 5).
    has_backfill : bool
        ``sched/backfill``; else ``sched/builtin``.
    scheduler : mapping of str to float
        ``SchedulerParameters`` that are simulated, by their names in Slurm; words without a value are 1.
    select : frozenset of str
        ``SelectTypeParameters`` in small letters, and ``linear`` of ``select/linear``.
    preempt_type : str
        ``none``, ``qos`` or ``partition_prio``.
    preempt_mode : str
        ``off``, ``requeue``, ``cancel``, ``suspend``.
    enforce : frozenset of str
        ``AccountingStorageEnforce`` in small letters, such as ``limits``, ``qos``, ``associations``, ``safe``.
    priority : SlurmPriority
        How priorities are made.
    qos : tuple of SlurmQos
        All of them.
    associations : tuple of SlurmAssociation
        The root first, parents before children; none: nobody has an account.
    partitions : tuple of SlurmPartition
        In the order of ``NodeTable.partitions``.
    switches : tuple of SlurmSwitch
        The tree of ``topology.conf``; none: all nodes lie together.
    default_memory_per_cpu, default_memory_per_node : float
        MB of jobs that ask for none, where their partition does not say it; 0: not said.
    requeue_delay : float
        s after which a job that was requeued may start again.
    kill_wait, over_time_limit : float
        s that a job may run on beyond its limit.
    has_usage : bool
        Whether ``SlurmAssociation.usage`` is told; else it begins with none.
    not_simulated : tuple of str
        What the configuration has and is not simulated, a sentence each.
    preempt_exempt_time : float
        s for which a job cannot be preempted, where it has no QOS; those of ``qos`` have it already.
    """

    version: tuple[int, int] = (22, 5)
    has_backfill: bool = True
    scheduler: Mapping[str, float] = field(default_factory=dict)
    select: frozenset[str] = frozenset({"cr_core_memory"})
    preempt_type: str = "none"
    preempt_mode: str = "off"
    enforce: frozenset[str] = frozenset()
    priority: SlurmPriority = field(default_factory=SlurmPriority)
    qos: tuple[SlurmQos, ...] = ()
    associations: tuple[SlurmAssociation, ...] = ()
    partitions: tuple[SlurmPartition, ...] = ()
    switches: tuple[SlurmSwitch, ...] = ()
    default_memory_per_cpu: float = 0.0
    default_memory_per_node: float = 0.0
    requeue_delay: float = 121.0
    kill_wait: float = 30.0
    over_time_limit: float = 0.0
    has_usage: bool = False
    not_simulated: tuple[str, ...] = ()
    preempt_exempt_time: float = 0.0


DEFAULTS: Mapping[str, float] = {
    "bf_interval": 30.0,
    "bf_max_job_test": 500.0,
    "bf_max_job_user": 0.0,
    "bf_max_job_user_part": 0.0,
    "bf_max_job_part": 0.0,
    "bf_max_job_assoc": 0.0,
    "bf_max_job_start": 0.0,
    "bf_max_job_array_resv": 20.0,
    "bf_min_age_reserve": 0.0,
    "bf_min_prio_reserve": 0.0,
    "bf_resolution": 60.0,
    "bf_window": 1440.0,
    "bf_window_linear": 0.0,
    "batch_sched_delay": 3.0,
    "default_queue_depth": 100.0,
    "partition_job_depth": 0.0,
    "sched_interval": 60.0,
    "sched_max_job_start": 0.0,
    "assoc_limit_stop": 0.0,
    "preempt_youngest_first": 0.0,
    "preempt_strict_order": 0.0,
    "preempt_reorder_count": 1.0,
    "pack_serial_at_end": 0.0,
    "bf_continue": 0.0,
    "bf_max_time": 0.0,
    "bf_yield_interval": 2_000_000.0,
    "bf_yield_sleep": 500_000.0,
}
"""``SchedulerParameters`` that are simulated, with Slurm's defaults. ``bf_window`` is in minutes, ``bf_yield_interval``
and ``bf_yield_sleep`` are in microseconds, all other times in s. ``bf_max_time`` 0 is ``bf_interval``.

The last four matter only where a cycle of backfill takes time (parameter ``test_time`` of policy ``slurm``).
"""

DECIDE_NOTHING = frozenset(
    {
        *("defer", "defer_batch", "disable_hetjob_steps", "disable_job_shrink", "disable_user_top"),
        *("enable_hetjob_steps", "enable_job_state_cache", "enable_stepmgr", "enable_user_top"),
        *("ignore_constraint_validation", "ignore_numa", "ignore_prefer_validation", "max_array_tasks"),
        *("max_depend_depth", "max_script_size", "max_submit_line_size", "no_backup_scheduling", "salloc_wait_nodes"),
        *("sbatch_wait_nodes", "spec_cores_first", "step_retry_count", "step_retry_time"),
    }
)
"""``SchedulerParameters`` that change no start of a batch job here: what may be submitted, how steps run, and the like.

Passes are those that Slurm makes with ``defer``. Without it Slurm also tries an interactive job when it is submitted,
and makes a pass as soon as an epilog is over.
"""

OF_LONG_CYCLES = ("bf_continue", "bf_max_time", "bf_yield_interval", "bf_yield_sleep")
"""Those of cycles that take time: none of them is below 0."""

RESOURCES = ("cpu", "mem", "node", "gres/gpu", "billing")
"""Names of the resources of limits and weights that are simulated."""

PRIORITY_FLAGS = frozenset({"fair_tree", "no_fair_tree", "max_tres"})
"""``PriorityFlags`` that are simulated; others are told as not simulated."""

QOS_FLAGS = frozenset({"noreserve"})
"""Flags of a QOS that are simulated."""

SELECT = frozenset({"cr_cpu", "cr_cpu_memory", "cr_core", "cr_core_memory", "linear", "cr_memory"})
"""``SelectTypeParameters`` that are simulated; ``linear`` is of ``select/linear``."""
