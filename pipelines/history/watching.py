"""What is looked at anew on the last days of a history: how its workload drifts, and how policies fare."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd

from pipelines.tasks.measure import MeasureSchedule
from pipelines.tasks.parameters import PoliciesParameter
from pipelines.tasks.simulate import SimulatePolicy, source_hash
from swftools.drift import JOB_COLUMNS, measure_drift
from swftools.parameter_text import write_entry
from swftools.simulator.registry import find_policy
from swftools.simulator.watching import find_worse, watch_policies
from swftools.tables import empty_frame

if TYPE_CHECKING:
    from pipelines.history.night import Run

DAY = 86_400.0


def drift_of(run: Run) -> pd.DataFrame:
    """Return the table ``workload_drift``: the last days of a history beside the time before."""
    chosen = run.settings.drift
    since = run.until - (chosen.days + chosen.reference_days) * DAY
    jobs = run.columns_since(since, JOB_COLUMNS)
    return measure_drift(
        jobs,
        run.making.processors,
        now=run.until,
        recent_days=chosen.days,
        reference_days=chosen.reference_days,
        thresholds=chosen.thresholds,
    )


def policies_of(run: Run) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the table ``policy_watch`` of the last days, and what got worse since as many days before.

    Both are replayed from the jobs of the history, so that they do not depend on when it was last looked at. The first
    policy is watched by itself, and the others beside it, so that jobs which fare worse under all are told once.
    """
    chosen = run.settings.policies
    labels = names_of(chosen.names)
    if not labels or run.making.processors is None:
        return empty_frame("policy_watch"), pd.DataFrame()
    days, warm_up = chosen.days, chosen.warm_up_days
    trace = run.trace_since(run.until - (2 * days + warm_up) * DAY)
    window: dict[str, Any] = {"days": days, "warm_up_days": warm_up, "seeds": chosen.seeds, "shake": chosen.shake}
    run.tell(f"{', '.join(labels)} on the last {days:g} days")
    now = watch_policies(trace, labels, **window)
    earlier = trace.jobs[trace.jobs["submit_time"] <= run.until - days * DAY].reset_index(drop=True)
    if earlier.empty:
        return now, pd.DataFrame()
    run.tell(f"{', '.join(labels)} on as many days before")
    before = watch_policies(trace.with_jobs(earlier), labels, **window)
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
