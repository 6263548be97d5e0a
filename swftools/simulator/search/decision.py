# SPDX-License-Identifier: BSD-3-Clause
"""Why a job went first: one decision of a search, with the order it chose beside the one that it began with.

What is told stands in the notes of the search, of what was known at the decision: the jobs that waited, what they were
expected to take, and the jobs that ran.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from swftools.errors import ParameterError
from swftools.keyed_random import count_occurrences
from swftools.parameters import is_number, is_whole
from swftools.simulator.machine.state import SUBMITTED
from swftools.simulator.registry import find_policy
from swftools.simulator.schedule import Schedule
from swftools.simulator.search.explanation import Explanation
from swftools.simulator.search.search_parameters import Searching
from swftools.simulator.simulation import Simulation

KEYS = ["job_number", "job_occurrence"]


def explain_decision(
    schedule: Schedule | Simulation, time: float | None = None, *, decision: int | None = None
) -> Explanation:
    """Explain a decision of a search.

    Parameters
    ----------
    schedule : Schedule or Simulation
        By a policy that searches, ``search`` or ``genetic``, with ``explain=True``. A simulation need not be over.
    time : float, optional
        Explain the decision at this instant, s, or the last one before it; by default the last decision. There are
        several at one instant if a job without run time ended at once.
    decision : int, optional
        Number of the decision instead, as in the notes.

    Raises
    ------
    ParameterError
        There are no notes, or those of that decision are no longer kept, or nothing was decided by then; the time is
        not a number, or both time and decision are given.

    Examples
    --------
    >>> from swftools import Trace
    >>> from swftools.simulator import simulate
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2, 3], submit_time=[0, 1, 2],
    ...     run_time=[10, 100, 5], requested_time=[10, 100, 5], requested_processors=[4, 4, 4])
    >>> schedule = simulate(trace, "search", branching="fcfs", explain=True)
    >>> explanation = explain_decision(schedule, time=10)
    >>> explanation.jobs[["job_number", "chosen_place", "heuristic_place"]].values.tolist()
    [[3, 0, 1], [2, 1, 0]]
    """
    notes: Mapping[str, pd.DataFrame] = schedule.notes
    if "orders" not in notes:
        name = schedule.policy if isinstance(schedule, Schedule) else schedule.policy.name
        raise ParameterError(
            f"there are no notes of decisions of policy {name!r}: simulate search or genetic, with explain=True"
        )
    decisions, orders = notes["decisions"], notes["orders"]
    row = _decision_of(decisions, time) if decision is None else _numbered(decisions, decision, time)
    number, now = int(row["decision"]), float(row["time"])
    order = orders[orders["decision"] == number].sort_values("chosen_place", ignore_index=True)
    if len(order) != row["waiting"]:
        raise ParameterError(_lost(orders, decisions, number, now))
    chosen = policy_of(schedule)
    after = decisions["decision"][(decisions["decision"] > number) & (decisions["time"] == now)]
    jobs, running = _known_at(schedule, now, order, orders[orders["decision"].isin(after)])
    return Explanation(
        decision=number,
        time=now,
        parameters=chosen,
        nodes=int(row["nodes"]),
        paths=int(row["paths"]),
        is_exhausted=bool(row["is_exhausted"]),
        processors=schedule.processors,
        measures=_measures(chosen, row),
        jobs=jobs,
        running=running,
        improvements=_improvements(chosen, notes["improvements"], row),
        generations=_generations(notes.get("generations"), number),
    )


def _decision_of(decisions: pd.DataFrame, time: float | None) -> pd.Series[Any]:
    """Return the row of the decision at a time, or the last one before it."""
    if time is not None and not is_number(time):
        raise ParameterError(f"time={time!r} is neither a number (s) nor None, which is the last decision")
    by_then = decisions if time is None else decisions[decisions["time"] <= time]
    if by_then.empty:
        until = "" if time is None else f" by {time:.10g} s"
        known = f"; its first decision is at {decisions['time'].iloc[0]:.10g} s" if len(decisions) else ""
        raise ParameterError(f"the search decided nothing{until}{known}")
    return by_then.iloc[-1]


def _numbered(decisions: pd.DataFrame, decision: int, time: float | None) -> pd.Series[Any]:
    """Return the row of a decision by its number."""
    if time is not None:
        raise ParameterError("give the time of a decision or its number, not both")
    rows = decisions[decisions["decision"] == decision]
    if not is_whole(decision) or rows.empty:
        raise ParameterError(f"there is no decision {decision!r}: the search made {len(decisions):,}, the first is 0")
    return rows.iloc[0]


def _lost(orders: pd.DataFrame, decisions: pd.DataFrame, number: int, now: float) -> str:
    """Return what is said of a decision of which no order is kept."""
    known = decisions.set_index("decision")
    counts = orders.groupby("decision").size()
    whole = counts.index[counts == known["waiting"].reindex(counts.index)]
    kept = f"from decision {whole[0]:,}, at {known['time'][whole[0]]:.10g} s, on" if len(whole) else "for none"
    return (
        f"the orders of decision {number:,}, at {now:.10g} s, are no longer kept, only {kept}: the newest are. "
        f"Explain a Simulation that has come as far: Simulation(...).run(until={now:.10g})"
    )


def policy_of(schedule: Schedule | Simulation) -> Searching:
    """Return the parameters of the policy of a schedule that has notes of decisions."""
    found = find_policy(schedule.policy)
    given = [name for name in found.parameters.names() if name in schedule.options and name not in found.fixed]
    chosen = found.chosen({name: schedule.options[name] for name in given})
    if not isinstance(chosen, Searching):
        raise ParameterError(f"policy {found.name!r} is not known to search; explain search or genetic")
    return chosen


def _measures(chosen: Searching, row: pd.Series[Any]) -> pd.DataFrame:
    """Return the values of an objective's measures under the heuristic's order and under the chosen one."""
    places = range(1, len(chosen.value_names) + 1)
    return pd.DataFrame(
        {
            "measure": chosen.value_names,
            "heuristic": [float(row[f"first_{place}"]) for place in places],
            "chosen": [float(row[f"best_{place}"]) for place in places],
        }
    )


def _improvements(chosen: Searching, improvements: pd.DataFrame, row: pd.Series[Any]) -> pd.DataFrame:
    """Return the improvements of a decision, if all are kept, the values under the names of the measures."""
    names = {f"value_{place}": name for place, name in enumerate(chosen.value_names, 1)}
    rows = improvements[improvements["decision"] == row["decision"]]
    rows = rows if len(rows) == row["improvements"] + 1 else rows[:0]
    return rows[["nodes", "iteration", *names]].rename(columns=names).reset_index(drop=True)


def _generations(generations: pd.DataFrame | None, number: int) -> pd.DataFrame:
    """Return the generations of a decision, if all are kept: what the best so far and their mean are worth, or cost."""
    columns = ["generation", "best", "mean"]
    if generations is None:
        return pd.DataFrame({name: [] for name in columns})
    rows = generations.loc[generations["decision"] == number, columns].reset_index(drop=True)
    return rows if len(rows) and rows["generation"].iloc[0] == 0 else rows[:0]


def _known_at(
    schedule: Schedule | Simulation, now: float, order: pd.DataFrame, after: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the jobs that waited at a decision, in the chosen order, and those that ran.

    ``after`` has the orders of the decisions that followed at the same instant.
    """
    asked, runs = _of_schedule(schedule) if isinstance(schedule, Schedule) else _of_simulation(schedule)
    started, waited, waits_on = (
        pd.MultiIndex.from_frame(frame[KEYS]) for frame in (runs[runs["start_time"] == now], order, after)
    )
    jobs = order.merge(asked, on=KEYS, how="left", validate="one_to_one")
    jobs["waited"] = now - jobs["submit_time"]
    jobs["is_started"] = waited.isin(started) & ~waited.isin(waits_on)
    runs = runs[(runs["start_time"] <= now) & (runs["end_time"] > now)]
    columns = ["submit_time", "waited", "processors", "estimated_time", "heuristic_place", "chosen_place"]
    jobs = jobs[[*KEYS, *columns, "heuristic_planned_start", "planned_start", "is_started"]]
    running = runs[~pd.MultiIndex.from_frame(runs[KEYS]).isin(waited)].merge(asked, on=KEYS, how="left")
    end = running["start_time"] + running["estimated_time"]
    # Whoever outlives its estimate is expected to run to its limit.
    running["expected_end"] = end.where(end > now, running["start_time"] + running["limit"])
    return jobs, running[[*KEYS, "start_time", "expected_end", "processors"]].reset_index(drop=True)


def _of_schedule(schedule: Schedule) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what the jobs of a schedule ask for, and when they ran."""
    names = {"allocated_processors": "processors", "requested_time": "limit"}
    asked = schedule.jobs[[*KEYS, "submit_time", "allocated_processors", "estimated_time", "requested_time"]]
    return asked.rename(columns=names), schedule.segments[[*KEYS, "start_time", "end_time"]]


def _of_simulation(simulation: Simulation) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the same of a simulation, of the jobs submitted so far; who runs ends when nothing stops it."""
    trace, row = simulation.trace, simulation._rows
    keys = pd.DataFrame({"job_number": trace.jobs["job_number"], "job_occurrence": count_occurrences(trace.jobs)})
    requests, log = simulation._machine.requests, simulation._replay.log
    submitted, begun = int(simulation._machine.counts[SUBMITTED]), int(log.size[0])
    asked = keys.iloc[row[:submitted]].assign(
        submit_time=requests.submit_time[:submitted],
        processors=requests.processors[:submitted],
        estimated_time=requests.requested_time[:submitted],
        limit=requests.limit[:submitted],
    )
    return asked, keys.iloc[row[log.job[:begun]]].assign(start_time=log.start[:begun], end_time=log.end[:begun])
