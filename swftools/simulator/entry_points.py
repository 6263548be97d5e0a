# SPDX-License-Identifier: BSD-3-Clause
"""simulate() and compare(): replay a trace under a policy, or several, in one call.

The options of a run in signature and docstring are written by ``make run-options``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pandas as pd

from swftools.errors import ParameterError
from swftools.formats.as_trace import as_trace
from swftools.machines.node_table import NodeTable
from swftools.parameters.run_option_table import RunOptions
from swftools.simulator.measures_table import Measures
from swftools.simulator.metrics.measures import measure, measure_logged
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.nodes.away.on_outage import Lost, OnOutage
from swftools.simulator.nodes.placement import Placement
from swftools.simulator.predictors.kinds import Predictor, PythonPredictor
from swftools.simulator.registry import Policy
from swftools.simulator.requested_times import Logged
from swftools.simulator.restart import Column, Uniform
from swftools.simulator.schedule import Schedule
from swftools.simulator.simulation import Progress, Simulation
from swftools.trace import Trace


def simulate(  # noqa: PLR0913 (options by name)
    trace: Trace | str | os.PathLike[str],
    policy: str | Policy,
    processors: int | None = None,
    *,
    predictor: str | Predictor | PythonPredictor = "request",
    requests: str | Logged = "logged",
    overrun: str = "extend",
    cancelled: str = "drop",
    restart_overhead: float | str | Uniform | Column = 0.0,
    semantics: str = "instant",
    dependencies: str = "follow",
    placement: str | Placement = "first-fit",
    heads: str = "partition",
    on_outage: str | OnOutage | Lost = "requeue",
    seed: int = 0,
    compiled: bool | str = True,
    machine: str | os.PathLike[str] | NodeTable | Any = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> Schedule:
    """Replay a trace under a scheduling policy, from its first submission to its last completion.

    Parameters
    ----------
    trace : Trace, or path of a log
        Jobs with their submissions, widths (allocated processors where known, else requested ones), run times and
        requested times; ``swftools.simulator.workload`` says how missing values are treated. A path is read by
        ``read_log``, which does not clean.
    policy : str or Policy
        Name of a policy, also with parameters as in ``easy:reservations=2``; ``module:name`` of one of yours; or the
        policy itself.
    processors : int, optional
        Size of the machine; the trace's own by default.
    predictor : str, Predictor or PythonPredictor
        The run times that policies plan with: request, exact, tightened, last-model, user-average, gradient-boosting,
        virtual:error=0.5, module:name of one of yours, or a Python object that learns.
    requests : str or Logged
        What users ask for: logged, factor:factor=2, or tsafrir where the log has none.
    overrun : {"extend", "kill", "run-on"}
        Jobs that ran longer than requested: raise the request to the run time, cut the run at the request, or leave
        both as they are.
    cancelled : {"drop", "end-at-once", "full-request"}
        Jobs without a run time: leave them out, let them run 1 s, or as long as requested.
    restart_overhead : float, str, Uniform or Column
        Time that a run needs to continue earlier work: seconds, uniform:per_processor=0.1, or column:name=mine.
    semantics : {"instant", "pyss", "cqsim", "dr_evt", "raps"}
        Order of events at one instant, and how often the policy decides: our own, or that of another simulator.
    dependencies : {"follow", "ignore"}
        Jobs that wait for others by the log: let them into the queue when these have ended and their think time is
        over, or at their submission.
    placement : str or Placement
        On a machine of nodes, which of the nodes that fit a job it gets: first-fit, lowest-weight, best-fit, worst-fit,
        fewest-switches, contiguous, gpu-packing, dot-product, or each also as first-fit:sparing=false.
    heads : {"partition", "machine"}
        On a machine of nodes, whose first waiting job nobody overtakes, or has a reservation: that of each partition,
        or the first of the machine.
    on_outage : str, OnOutage or Lost
        On a machine whose nodes go down, what becomes of the jobs there: they begin anew, go on from their last
        checkpoints, or are lost: requeue, requeue:delay=60, checkpoint, or lost.
    seed : int
        Seed for requests, predictors and policies that draw at random.
    compiled : bool or "checked"
        "checked" compiles with a check of every index: an index outside its array raises a PolicyError, where it would
        otherwise crash or change other data. False interprets engine and policy: slow, for finding mistakes in a
        policy. The schedule is the same.
    machine : path, MachineDescription or NodeTable, optional
        A machine of nodes in place of a pool of processors; ``swftools.machines`` says what a file of one is.
    progress : callable, optional
        Called with the number of jobs that ended, the number of all jobs, and the simulated time (s): at most ten times
        a second, and at the end. An exception from it ends the simulation.
    **parameters
        Parameters of the policy.

    Returns
    -------
    Schedule
        The schedule. Jobs with equal submission times are taken in order of (job_number, job_occurrence).

    Raises
    ------
    ParameterError
        An option, policy or parameter is unknown; the size of the machine is unknown; the trace lacks what the policy
        or predictor needs; or a submission or run time is negative or infinite.
    PolicyError
        The policy or predictor did something impossible or raised an exception, or a job never starts; the message says
        which policy or predictor, when, and which job.

    Examples
    --------
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2, 3], submit_time=[0, 1, 2],
    ...     run_time=[10, 10, 5], requested_time=[10, 10, 5], requested_processors=[3, 4, 1])
    >>> simulate(trace, "easy").jobs["start_time"].tolist()
    [0.0, 10.0, 2.0]
    """
    run = RunOptions.among(locals()).to_mapping()
    simulation = Simulation(trace, policy, processors, **run, compiled=compiled, machine=machine, **parameters)
    return simulation.finish(progress=progress)


def compare(
    trace: Trace | str | os.PathLike[str],
    policies: Sequence[str | Policy],
    parameters: MetricParameters | None = None,
    *,
    logged: bool = False,
    **options: Any,
) -> Measures:
    """Simulate a trace under each of several policies, and measure the schedules.

    Parameters
    ----------
    trace : Trace, or path
        As ``simulate`` takes it.
    policies : sequence of str or Policy
        At least one, each once: ``["fcfs", "easy:reservations=2"]``.
    parameters : MetricParameters, optional
        How it is measured; defaults if not given.
    logged : bool
        Behind the policies stands what the log itself tells, as policy ``logged``, of the jobs of the first one.
    **options
        Of ``simulate``, the same for all policies: processors, predictor, seed.

    Returns
    -------
    Measures
        The rows of ``measure`` of each policy, one below the other, the column policy as they were given;
        ``compare(...).summary()`` shows the dozen most important numbers side by side.

    Raises
    ------
    ParameterError, PolicyError
        As ``simulate`` raises them; also without policies, or if one stands twice.

    Examples
    --------
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2, 3], submit_time=[0, 1, 2],
    ...     run_time=[10, 10, 5], requested_time=[10, 10, 5], requested_processors=[3, 4, 1])
    >>> compare(trace, ["fcfs", "easy"]).summary().loc["mean wait", ["fcfs", "easy"]].tolist()
    [9.0, 3.0]
    """
    if isinstance(policies, str | Policy):
        raise ParameterError(f"policies={policies!r}: give a list, such as ['fcfs', 'easy']")
    labels = [policy if isinstance(policy, str) else policy.name for policy in policies]
    if not labels or len(set(labels)) < len(labels):
        raise ParameterError(f"policies={labels}: give at least one policy, and each only once")
    read = as_trace(trace)
    tables: list[pd.DataFrame] = []
    of_log: list[pd.DataFrame] = []
    for policy, label in zip(policies, labels, strict=True):
        schedule = simulate(read, policy, **options)
        tables.append(measure(schedule, parameters, label=label))
        if logged and not of_log:
            of_log.append(measure_logged(schedule, read, parameters or MetricParameters()))
    return Measures(pd.concat([*tables, *(each for each in of_log if len(each))], ignore_index=True))
