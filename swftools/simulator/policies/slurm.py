# SPDX-License-Identifier: BSD-3-Clause
"""Slurm: its main scheduler and its backfill, as a centre has them configured.

``slurm``
    Priorities by the multifactor plugin, with fair shares that decay; partitions with tiers; limits of associations and
    QOS; the main scheduler, which closes a partition when a job of it finds its nodes busy; backfill, which plans whole
    nodes. Both act at ticks of the controller, a second apart. It needs a machine whose description says how Slurm is
    configured there.

Guarantee
    None: Slurm itself gives none. A planned job may be delayed by jobs that the main scheduler starts, and by jobs that
    run longer than their limits.
Cost of a decision
    A pass of the main scheduler looks at each entry of the queue, and at the nodes of its partition until that is
    closed. A cycle of backfill looks for each of up to ``bf_max_job_test`` jobs at its nodes as they are when more and
    more running jobs have ended.

References
----------
Slurm 22.05 as its source and real runs show it; ``docs/slurm.md`` tells rule by rule what was seen.

Differs from Slurm
------------------
What is wall time there takes none here, but for cycles of backfill with ``test_time``. Licences, burst buffers,
federations and heterogeneous jobs are not simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from swftools.parameters import Parameters, choice, number
from swftools.simulator.machine.state import Machine
from swftools.simulator.registry import policy
from swftools.simulator.slurm.deciding import decide_as_slurm
from swftools.simulator.slurm.memory import slurm_memory
from swftools.simulator.slurm.reasons import wait_reasons, who_is_gone
from swftools.simulator.slurm.setting import Setting
from swftools.simulator.slurm.shown import columns_of_runs
from swftools.simulator.slurm.state import MECHANISMS, SlurmMemory


def _as_configured(unit: str = "") -> float:
    """Return the declaration of a parameter that is as the site has it, unless it is given."""
    return number(-1.0, least=-1.0, unit=unit)


@dataclass(frozen=True)
class SlurmParameters(Parameters):
    """Parameters of ``slurm``. Those that are -1 are as the machine's description has them.

    Parameters
    ----------
    phase : float
        When cycles and periods begin, from 0 to below 1: each value is another run of the same Slurm.
    without : str
        A mechanism that is left out, to see what it explains; ``nothing``.
    completing : float
        s that nodes clean up behind a job (COMPLETING), in which nobody starts on them.
    test_time : float
        s that backfill takes for each job that it tests; 0: a cycle takes no time.
    bf_interval, bf_resolution, bf_max_time, batch_sched_delay, sched_interval : float
        s.
    bf_yield_interval, bf_yield_sleep : float
        Microseconds.
    bf_continue : float
        1: a cycle goes on if something has changed while it let locks go; 0: it does not.
    bf_window : float
        Minutes.
    bf_max_job_test, default_queue_depth : float
        Jobs.
    weight_age, weight_fair_share, weight_job_size, weight_partition, weight_qos : float
        Of the priority's factors.
    half_life, max_age, calc_period : float
        s.
    """

    phase: float = number(0.0, least=0.0, most=0.999)
    without: str = choice(*MECHANISMS)
    completing: float = number(0.0, least=0.0, unit="s")
    test_time: float = number(0.0, least=0.0, unit="s")
    bf_interval: float = _as_configured("s")
    bf_resolution: float = _as_configured("s")
    bf_window: float = _as_configured("min")
    bf_max_job_test: float = _as_configured()
    bf_continue: float = _as_configured()
    bf_max_time: float = _as_configured("s")
    bf_yield_interval: float = _as_configured("us")
    bf_yield_sleep: float = _as_configured("us")
    batch_sched_delay: float = _as_configured("s")
    sched_interval: float = _as_configured("s")
    default_queue_depth: float = _as_configured()
    weight_age: float = _as_configured()
    weight_fair_share: float = _as_configured()
    weight_job_size: float = _as_configured()
    weight_partition: float = _as_configured()
    weight_qos: float = _as_configured()
    half_life: float = _as_configured("s")
    max_age: float = _as_configured("s")
    calc_period: float = _as_configured("s")


def remembered(
    jobs: int,
    processors: int,  # noqa: ARG001 (as all memories)
    parameters: Parameters,
    setting: Setting | None = None,
) -> SlurmMemory:
    """Return what the rules begin with."""
    return slurm_memory(setting, parameters.to_mapping(), jobs)


def for_site(memory: SlurmMemory) -> Callable[..., None]:
    """Return the policy without what a site does not use."""
    from swftools.simulator.slurm.forms import without_unused  # noqa: PLC0415 (where the policy is compiled only)

    return without_unused(slurm, memory)


@policy(
    "slurm",
    when="To see what your Slurm would do, decision by decision, and what a change of its configuration brings.",
    parameters=SlurmParameters,
    memory=remembered,
    of_memory=for_site,
    notes=wait_reasons,
    shown=columns_of_runs,
    gone=who_is_gone,
    allocates=False,
)
def slurm(machine: Machine, memory: Any) -> None:
    """Decide as Slurm's controller does."""
    decide_as_slurm(machine, memory.given, memory.state)
