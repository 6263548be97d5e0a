# SPDX-License-Identifier: BSD-3-Clause
"""What is looked at anew on the last days of a history: how its workload drifts, and how policies fare."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pandas as pd

from pipelines.history.settings import Settings
from pipelines.tasks.measure import MeasureSchedule
from pipelines.tasks.own_code import source_hash
from pipelines.tasks.simulate import SimulatePolicy
from pipelines.tasks.simulation_parameters import PoliciesParameter
from swftools.drift import measure_drift
from swftools.parameters.as_text import write_entry
from swftools.simulator.questions.policy_watch import find_worse, watch_policies
from swftools.simulator.registry import find_policy
from swftools.tables import empty_frame
from swftools.trace import Trace

DAY = 86_400.0


def drift_of(settings: Settings, jobs: pd.DataFrame, processors: int | None, until: float) -> pd.DataFrame:
    """Return the table ``workload_drift``: the last days of a history beside the time before."""
    chosen = settings.drift
    return measure_drift(
        jobs,
        processors,
        now=until,
        recent_days=chosen.days,
        reference_days=chosen.reference_days,
        thresholds=chosen.thresholds,
    )


def policies_of(
    settings: Settings,
    trace_since: Callable[[float], Trace],
    until: float,
    tell: Callable[[str], None],
    done: Callable[[int, int], None] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the table ``policy_watch`` of the last days, and what got worse since as many days before.

    Both are replayed from the jobs of the history, so that they do not depend on when it was last looked at. The first
    policy is watched by itself, and the others beside it, so that jobs which fare worse under all are told once.
    ``tell`` takes what is done, ``done`` how many of how many runs are.
    """
    chosen = settings.policies
    labels = names_of(chosen.names)
    days, warm_up = chosen.days, chosen.warm_up_days
    trace = trace_since(until - (2 * days + warm_up) * DAY) if labels else None
    if trace is None or trace.processors is None:
        return empty_frame("policy_watch"), pd.DataFrame()
    window: dict[str, Any] = {"days": days, "warm_up_days": warm_up, "seeds": chosen.seeds, "shake": chosen.shake}
    runs = len(labels) * chosen.seeds

    def count(before: int) -> Callable[[int, int], None] | None:
        return (lambda runs_done, _: done(before + runs_done, 2 * runs)) if done else None

    tell(f"{', '.join(labels)} on the last {days:g} days")
    now = watch_policies(trace, labels, progress=count(0), **window)
    earlier = trace.jobs[trace.jobs["submit_time"] <= until - days * DAY].reset_index(drop=True)
    if earlier.empty:
        return now, pd.DataFrame()
    tell(f"{', '.join(labels)} on as many days before")
    before = watch_policies(trace.with_jobs(earlier), labels, progress=count(runs), **window)
    first = labels[0]
    alone = [watch[watch["policy"] == first] for watch in (now, before)]
    limits: dict[str, Any] = {"noises": chosen.noises, "floor": chosen.floor}
    worse = [find_worse(*alone, **limits)]
    if len(labels) > 1:
        worse.append(find_worse(now, before, beside=first, **limits))
    return now, pd.concat(worse, ignore_index=True)


def names_of(policies: tuple[Any, ...]) -> list[str]:
    """Return policies as texts, with the parameters that were given."""
    if not policies:
        return []
    entries = json.loads(PoliciesParameter().normalize(list(policies)))
    return [write_entry(entry.pop("policy"), entry) for entry in entries]


def code_of_policies(policies: tuple[Any, ...]) -> dict[str, Any]:
    """Return the versions of the code that replays policies and measures what comes of it; none where none is named."""
    if not policies:
        return {}
    names = {entry["policy"] for entry in json.loads(PoliciesParameter().normalize(list(policies)))}
    return {
        "simulate": SimulatePolicy.code_version,
        "measure": MeasureSchedule.code_version,
        "policies": {name: [find_policy(name).version, source_hash(name)] for name in sorted(names)},
    }
