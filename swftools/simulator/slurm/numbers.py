# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of a site: its scheduler, its weights, its periods; and the clock before the first tick."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from swftools.kernel import FloatArray
from swftools.machines.slurm_site import DEFAULTS, SlurmSite
from swftools.simulator.slurm import state as places
from swftools.simulator.slurm.holders import RESOURCE_PLACES
from swftools.simulator.slurm.setting import Setting
from swftools.simulator.slurm.state import MECHANISMS, NUMBERS


def numbers_of(site: SlurmSite, setting: Setting, parameters: Mapping[str, Any]) -> FloatArray:
    """Return the numbers of a site, by their places in ``state``; parameters of the policy count before it."""
    number = np.zeros(NUMBERS)
    chosen = {**DEFAULTS, **site.scheduler}
    for name in DEFAULTS:
        given = parameters.get(name, -1.0)
        if given >= 0:
            chosen[name] = float(given)
    priority, phase = site.priority, float(parameters.get("phase", 0.0))

    def set_to(**values: float) -> None:
        for name, value in values.items():
            number[getattr(places, name)] = value

    def own(name: str, value: float) -> float:
        given = float(parameters.get(name, -1.0))
        return given if given >= 0 else float(value)

    follows = setting.logged is not None and setting.logged.is_followed
    half_life = own("half_life", priority.half_life)
    set_to(
        PHASE=phase,
        TICK=np.floor(64.0 * ((29.0 * phase) % 1.0)) / 64.0,
        BEGIN=np.floor(setting.submit_time.min()) if len(setting.submit_time) else 0.0,
        BF_INTERVAL=chosen["bf_interval"],
        BF_TESTS=chosen["bf_max_job_test"],
        BF_RESOLUTION=max(chosen["bf_resolution"], 1.0),
        BF_WINDOW=60.0 * chosen["bf_window"],
        BF_LINEAR=chosen["bf_window_linear"],
        BF_PER_USER=chosen["bf_max_job_user"],
        BF_PER_PARTITION=chosen["bf_max_job_part"],
        BF_PER_USER_PARTITION=chosen["bf_max_job_user_part"],
        BF_PER_ASSOCIATION=chosen["bf_max_job_assoc"],
        BF_STARTS=chosen["bf_max_job_start"],
        BF_PER_ARRAY=chosen["bf_max_job_array_resv"],
        BF_MIN_AGE=chosen["bf_min_age_reserve"],
        BF_MIN_PRIORITY=chosen["bf_min_prio_reserve"],
        DELAY=chosen["batch_sched_delay"],
        DEPTH=chosen["default_queue_depth"],
        INTERVAL=chosen["sched_interval"],
        MAIN_STARTS=chosen["sched_max_job_start"],
        PARTITION_DEPTH=chosen["partition_job_depth"],
        LIMIT_STOPS=chosen["assoc_limit_stop"],
        HAS_BACKFILL=site.has_backfill,
        HAS_MAIN=chosen["sched_interval"] >= 0,
        W_AGE=own("weight_age", priority.age),
        W_ASSOCIATION=own("weight_association", priority.association),
        W_FAIR_SHARE=own("weight_fair_share", priority.fair_share),
        W_SIZE=own("weight_job_size", priority.job_size),
        W_PARTITION=own("weight_partition", priority.partition),
        W_QOS=own("weight_qos", priority.qos),
        MAX_AGE=own("max_age", priority.max_age),
        DECAY=1.0 - 0.693 / half_life if half_life > 0 else 1.0,
        CALC_PERIOD=max(own("calc_period", priority.calc_period), 1.0),
        FAVORS_SMALL=priority.favors_small,
        IS_FAIR_TREE=priority.is_fair_tree,
        DAMPING=max(priority.damping, 1e-9),
        IS_MULTIFACTOR=priority.is_multifactor,
        ENFORCES="limits" in site.enforce or "safe" in site.enforce,
        HAS_TOPOLOGY=bool(site.switches),
        REQUEUE_DELAY=site.requeue_delay,
        VERSION=site.version[0] + site.version[1] / 100.0,
        FOLLOWS=follows,
        PREEMPTS_BY=max(("none", "qos", "partition_prio").index(site.preempt_type), 0),
        SUSPENDS=suspends(site),
        YOUNGEST_FIRST=chosen["preempt_youngest_first"],
        STRICT_ORDER=chosen["preempt_strict_order"],
        REORDERS=chosen["preempt_reorder_count"],
        KEEPS_USAGE=not (priority.is_multifactor and half_life > 0),
        BILLS_MOST="max_tres" in priority.flags,
        EVERY=setting.logged.every if setting.logged is not None else 0.0,
        ORIGIN=setting.origin,
        COMPLETING=own("completing", 0.0),
        TEST_TIME=0.0 if follows else own("test_time", 0.0),
        BF_CONTINUES=chosen["bf_continue"],
        BF_MOST_TIME=chosen["bf_max_time"] or chosen["bf_interval"],
        YIELD_INTERVAL=max(chosen["bf_yield_interval"], 1.0) / 1e6,
        YIELD_SLEEP=max(chosen["bf_yield_sleep"], 1.0) / 1e6,
        PACKS_SERIAL=chosen["pack_serial_at_end"] > 0 and "linear" not in site.select,
        LEFT_OUT=MECHANISMS.index(str(parameters.get("without", "nothing"))),
    )
    for name, resource in RESOURCE_PLACES.items():
        number[places.W_CPU + resource] = priority.tres.get(name, 0.0)
    return number


def suspends(site: SlurmSite) -> bool:
    """Return whether jobs of any QOS or partition are suspended when they are preempted."""
    holders: tuple[Any, ...] = {"qos": site.qos, "partition_prio": site.partitions}.get(site.preempt_type, ())
    return site.preempt_type != "none" and "suspend" in {site.preempt_mode, *(each.preempt_mode for each in holders)}


def clock_of(number: FloatArray) -> FloatArray:
    """Return the clock before the first tick at which anything is due."""
    begin, phase, tick = number[places.BEGIN], number[places.PHASE], number[places.TICK]

    def first(after: float) -> float:
        return begin + max(np.ceil(after - tick), 0.0)

    clock = np.zeros(places.CLOCKS)
    number[places.FIRST_PASS] = first(phase * number[places.INTERVAL])
    clock[places.LAST_FULL] = number[places.FIRST_PASS] - number[places.INTERVAL]
    clock[places.LAST_MAIN] = clock[places.LAST_LOOK] = clock[places.LAST_TICK] = -1e9
    interval, period = number[places.BF_INTERVAL], number[places.CALC_PERIOD]
    clock[places.LAST_BACKFILL] = first((7 * phase) % 1.0 * interval) - interval
    clock[places.NEXT_CALC] = first((13 * phase) % 1.0 * period)
    clock[places.LAST_CALC] = begin
    clock[places.CLEANS_UNTIL], clock[places.SHIFTS_OF] = np.inf, np.nan
    return clock
