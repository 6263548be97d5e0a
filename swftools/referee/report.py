# SPDX-License-Identifier: BSD-3-Clause
"""The referee: a real run of Slurm beside its rules, decision by decision, and beside runs of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import FloatArray
from swftools.machines.node_table import NodeTable
from swftools.output.amounts import counted
from swftools.referee.figures import by_scheduler, figures_of, first_differences, judge, priorities_alike
from swftools.referee.followed import followed_run, with_all_ends
from swftools.referee.forced import ForcedRun
from swftools.referee.likeness import likeness
from swftools.referee.phases import bands, scatter, waits_over_phases
from swftools.referee.unseen import logged_priorities, phase_of, with_starters
from swftools.simulator.slurm.setting import SampledPriorities
from swftools.simulator.slurm.state import MECHANISMS
from swftools.trace import Trace

EACH = "each"
"""The word for all mechanisms, one after the other."""

COMPLETING = 0.04
"""s: where no epilog is configured nodes took 1 to 40 ms, as the log of a real controller shows."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Report:
    """What the referee found.

    Parameters
    ----------
    figures : dict of str to float
        Of ``figures_of``; and ``priorities``: the share of starts whose priority is that of the log.
    schedulers : pandas.DataFrame
        ``scheduler``, ``starts``, ``right``, ``on_nodes``, by who made the start in the real run.
    without : pandas.DataFrame
        ``mechanism`` and ``figures_of`` where it is left out.
    differences : pandas.DataFrame
        The first starts that the rule makes otherwise; see ``first_differences``.
    bands : pandas.DataFrame
        ``measure``, ``real``, ``least``, ``median``, ``most`` of the policy left to itself, over phases; no rows if
        that was not asked for.
    repeats : pandas.DataFrame
        The same of repeated real runs.
    phase : float
        That of the policy by which the log's priorities are met best; 0 where the log has none.
    tolerance : float
        s.
    told : tuple of str
        What was left out or assumed, in words.
    likeness : dict of str to float
        How far the policy left to itself is like the real run; see ``likeness``.
    """

    figures: dict[str, float]
    schedulers: pd.DataFrame
    without: pd.DataFrame
    differences: pd.DataFrame
    bands: pd.DataFrame
    repeats: pd.DataFrame
    phase: float
    tolerance: float
    told: tuple[str, ...] = field(default=())
    likeness: dict[str, float] = field(default_factory=dict)


def referee(  # noqa: PLR0913 (options by name)
    trace: Trace,
    table: NodeTable,
    *,
    tolerance: float = 5.0,
    every: float = 0.0,
    without: Sequence[str] = (),
    first: int = 10,
    phases: int = 0,
    also: Sequence[Trace] = (),
    priorities: SampledPriorities | None = None,
    completing: float = COMPLETING,
    compiled: bool = True,
    progress: Progress | None = None,
) -> Report:
    """Hold a real run of Slurm against its rules.

    At each instant the state is that of the real run: who runs where, who waits. In it the rules are tried: would they
    start a job now, and on which nodes? Then they are undone, and the run goes on as it did.

    Parameters
    ----------
    trace : Trace
        The real run: ``sacct`` with starts and nodes.
    table : NodeTable
        The machine, with how Slurm is configured there.
    tolerance : float
        s; a start is right that differs by no more.
    every : float
        The rules are tried every so many seconds. 0: when a pass or a cycle is due, and whenever the run shows one.
    without : sequence of str
        Mechanisms that are left out in turn, or ``each``; names are ``MECHANISMS``.
    first : int
        How many differing starts are shown.
    phases : int
        Under how many phases the policy is left to itself; 0: under one, for ``likeness`` only.
    also : sequence of Trace
        Repeated real runs of the same jobs.
    priorities : SampledPriorities, optional
        Priorities that were kept, as ``read_priorities`` reads them: while they held they are those of the queue.
    completing : float
        s that nodes may clean up behind a job (COMPLETING): the rules are tried before and after that as well.
    compiled : bool
        Whether kernels are compiled.
    progress : callable, optional
        Is told what is done, how much of it is over, and of how much.

    Raises
    ------
    ParameterError
        The machine does not say how Slurm is configured, the log has no starts or no nodes, or a mechanism is unknown.
    """
    if table.slurm is None:
        raise ParameterError(
            "the machine does not say how Slurm is configured there; make its file from slurm.conf, by swftools machine"
        )
    mechanisms = _mechanisms(without)
    trace = with_all_ends(trace)
    run = followed_run(trace, table)
    if (np.isfinite(run.logged.start)).sum() == 0:
        raise ParameterError("no job of the log started on nodes that it names; nothing can be held against the rules")
    run = replace(run, logged=replace(run.logged, every=every))
    tell = progress or (lambda _, __, ___: None)
    phase = phase_of(trace, table, run, tolerance, compiled, tell)
    run = replace(run, logged=replace(run.logged, sampled=priorities))
    options: dict[str, Any] = {"compiled": compiled, "phase": phase, "completing": completing}
    seen = with_starters(trace, table, run, tolerance, options)

    def judged_without(mechanism: str) -> dict[str, float]:
        decided = ForcedRun(trace, table, seen, without=mechanism, **options).run().decisions()
        return figures_of(judge(run, decided, tolerance), run, decided)

    tell("the run", 0, 1)
    beside = ForcedRun(trace, table, seen, **options).run()
    decisions = beside.decisions()
    judged = judge(run, decisions, tolerance)
    figures = figures_of(judged, run, decisions) | {"priorities": priorities_alike(decisions, logged_priorities(trace))}
    rows = []
    for number, mechanism in enumerate(mechanisms):
        tell("without " + mechanism, number, len(mechanisms))
        rows.append({"mechanism": mechanism} | judged_without(mechanism))
    others = ForcedRun(trace, table, seen, **options)
    real = run.logged.start - run.eligible_time
    many = max(phases, 1)
    waits = waits_over_phases(trace, table, run, many, lambda done: tell("phases", done, many), compiled=compiled)
    left_out = others.excluded["reason"].value_counts()
    return Report(
        figures,
        by_scheduler(judged, run),
        pd.DataFrame(rows),
        first_differences(trace, table, run, judged, decisions, others, first) if first else pd.DataFrame(),
        bands(waits, real) if phases else pd.DataFrame(),
        scatter([_waits_like(trace, each) for each in also], real) if also else pd.DataFrame(),
        phase,
        tolerance,
        (
            *(f"left out: {sentence}" for sentence in run.told),
            *(f"left out: {counted(int(number), 'job')}, {reason}" for reason, number in left_out.items()),
        ),
        likeness(waits, real, run.eligible_time),
    )


def _mechanisms(without: Sequence[str]) -> list[str]:
    known = MECHANISMS[1:]
    unknown = [name for name in without if name not in (*known, EACH)]
    if unknown:
        raise ParameterError(f"there is no mechanism {unknown[0]!r}; those that can be left out: {', '.join(known)}")
    return list(known) if EACH in without else list(dict.fromkeys(without))


def _waits_like(trace: Trace, other: Trace) -> FloatArray:
    """Return the waits of another run's jobs by the rows of this one: by ids, where both have them, else by order.

    NaN of a job that the other has not.
    """
    eligible = np.asarray(other.jobs.get("eligible_time", other.jobs["submit_time"]), np.float64)
    submit, wait = other.views.submit_time, other.views.wait_time
    waits = pd.Series(submit + wait - np.fmax(np.where(np.isfinite(eligible), eligible, submit), submit))
    if "log_id" in trace.jobs and "log_id" in other.jobs:
        own, theirs = (pd.MultiIndex.from_arrays([t.jobs["log_id"], _lives(t)]) for t in (trace, other))
        return np.asarray(waits.set_axis(theirs).reindex(own), np.float64)
    return np.asarray(waits.reindex(range(len(trace))), np.float64)


def _lives(trace: Trace) -> pd.Series[int]:
    """Return which life of its job each row is, from 0 on."""
    return trace.jobs.groupby("log_id").cumcount()
