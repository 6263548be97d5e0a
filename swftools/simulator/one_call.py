"""simulate(): replay a trace under a policy, in one call."""

from __future__ import annotations

from typing import Any

from swftools.simulator.predictors.kinds import Predictor, PythonPredictor
from swftools.simulator.registry import Policy
from swftools.simulator.requested import Logged
from swftools.simulator.restart import Column, Uniform
from swftools.simulator.schedule import Schedule
from swftools.simulator.simulation import Progress, Simulation
from swftools.trace import Trace


def simulate(  # noqa: PLR0913 (options by name)
    trace: Trace,
    policy: str | Policy,
    processors: int | None = None,
    *,
    overrun: str = "extend",
    cancelled: str = "drop",
    requests: str | Logged = "logged",
    predictor: str | Predictor | PythonPredictor = "request",
    restart_overhead: float | str | Uniform | Column = 0.0,
    semantics: str = "instant",
    seed: int = 0,
    compiled: bool | str = True,
    progress: Progress | None = None,
    **parameters: Any,
) -> Schedule:
    """Replay a trace under a scheduling policy, from its first submission to its last completion.

    Parameters
    ----------
    trace : Trace
        Jobs with their submissions, widths (allocated processors where known, else requested ones), run times and
        requested times; see ``swftools.simulator.workload`` for what is missing.
    policy : str or Policy
        Name of a policy, also with parameters as in ``easy:reservations=2``; ``module:name`` of one of yours; or the
        policy itself.
    processors : int, optional
        Of the machine; the trace's own by default.
    overrun : {"extend", "kill", "run-on"}
        Jobs that ran longer than requested: raise the request, cut the run, or leave both.
    cancelled : {"drop", "end-at-once", "full-request"}
        Jobs without a run time: leave them out, let them run 1 s, or as long as requested.
    requests : str or Logged
        What users ask for: logged, factor:factor=2, tsafrir.
    predictor : str, Predictor or PythonPredictor
        What policies are told of run times: request, exact, tightened, last-model, user-average,
        gradient-boosting, virtual:error=0.5, ``module:name`` of one of yours, or an object of Python that learns.
    restart_overhead : float, str, Uniform or Column
        What a run begins with that goes on with work done before: seconds, uniform:per_processor=0.1, or
        column:name=mine.
    semantics : {"instant", "pyss", "cqsim", "dr_evt", "raps"}
        Order of events at one instant, and how often is decided; the last two restate those simulators.
    seed : int
        For requests, predictors and policies that draw.
    compiled : bool or "checked"
        "checked" compiles with a look at each index of an array: one that is outside is a PolicyError, where it would
        otherwise crash, or change what is not its own. False interprets engine and policy: slow, for finding mistakes
        in a policy. The schedule is the same.
    progress : callable, optional
        Called with the numbers of jobs that ended and of all jobs, and the simulated time (s): ten times a second at
        most, and at the end. What it raises ends the simulation.
    **parameters
        Of the policy.

    Returns
    -------
    Schedule
        Jobs of equal submission are taken in order of (job_number, job_occurrence).

    Raises
    ------
    ParameterError
        An option, policy or parameter is unknown, or the machine's size is; the trace lacks what policy or predictor
        needs; or a job's submission or run time is negative or infinite.
    PolicyError
        Policy or predictor did what cannot be done or raised an error itself, or a job is never started; says who, when
        and of which job.

    Examples
    --------
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2, 3], submit_time=[0, 1, 2],
    ...     run_time=[10, 10, 5], requested_time=[10, 10, 5], requested_processors=[3, 4, 1])
    >>> simulate(trace, "easy").jobs["start_time"].tolist()
    [0.0, 10.0, 2.0]
    """
    simulation = Simulation(
        trace,
        policy,
        processors,
        overrun=overrun,
        cancelled=cancelled,
        requests=requests,
        predictor=predictor,
        restart_overhead=restart_overhead,
        semantics=semantics,
        seed=seed,
        compiled=compiled,
        **parameters,
    )
    return simulation.finish(progress=progress)
