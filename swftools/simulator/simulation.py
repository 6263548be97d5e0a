"""simulate(): replay a trace under a policy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.choices import CANCELLED, OVERRUN, PYSS, SEMANTICS
from swftools.errors import ParameterError, PolicyError
from swftools.keyed_random import count_occurrences, generator
from swftools.parameters import is_whole
from swftools.simulator.engine import Log, Options, Replay, compiled_engine, empty_machine, simulate_events
from swftools.simulator.interface import FAULT, FAULT_FREE, FAULT_JOB, FAULTS, NOW, WAITING, Machine
from swftools.simulator.options import check_choice
from swftools.simulator.predictors import Predictor, find_predictor
from swftools.simulator.registry import Policy, read_policy
from swftools.simulator.running import Progress, run_to_the_end
from swftools.simulator.schedule import Schedule
from swftools.simulator.workload import Workload, prepare
from swftools.trace import Trace

RESTATED = {
    "pyss": ("fcfs", "easy", "sjf-backfill", "conservative"),
    "cqsim": ("fcfs", "easy", "sjf-backfill", "conservative-replanned"),
}
"""The policies for which the semantics of another simulator are known."""

_REMEDIES = {
    "priority_rank": "let generate_utility (tasks: --augment utility) make it from the ranks of the log's queues, "
}
"""How a trace comes by what policies need."""


def simulate(  # noqa: PLR0913 (options by name)
    trace: Trace,
    policy: str | Policy,
    processors: int | None = None,
    *,
    overrun: str = "extend",
    cancelled: str = "drop",
    predictor: str | Predictor = "request",
    semantics: str = "instant",
    seed: int = 0,
    compiled: bool = True,
    progress: Progress | None = None,
    **parameters: Any,
) -> Schedule:
    """Replay a trace under a scheduling policy.

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
    predictor : str or Predictor
        What policies are told: request, exact, last-model, virtual:error=0.5, factor:factor=2, tsafrir.
    semantics : {"instant", "pyss", "cqsim"}
        Order of events at one instant, and how often is decided; the last two restate those simulators.
    seed : int
        For predictors and policies that draw.
    compiled : bool
        False interprets engine and policy: slow, for finding mistakes in a policy. The schedule is the same.
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
        An option, policy or parameter is unknown, or the machine's size is; or the trace lacks what the policy needs.
    PolicyError
        The policy did what cannot be done, raised an error itself, or never starts a job; says when and which.

    Examples
    --------
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2, 3], submit_time=[0, 1, 2],
    ...     run_time=[10, 10, 5], requested_time=[10, 10, 5], requested_processors=[3, 4, 1])
    >>> simulate(trace, "easy").jobs["start_time"].tolist()
    [0.0, 10.0, 2.0]
    """
    (chosen, given), told = read_policy(policy, parameters), find_predictor(predictor)
    machine_size = processors if processors is not None else trace.processors
    if machine_size is None:
        raise ParameterError("the trace does not say how many processors the machine has; pass processors=")
    if not is_whole(machine_size, 1, 2**31 - 1):
        raise ParameterError(f"processors={machine_size!r} is not an integer from 1 to 2**31 - 1")
    if not is_whole(seed, 0, 2**64 - 1):
        raise ParameterError(f"seed={seed!r} is not an integer from 0 to 2**64 - 1")
    check_options(overrun=overrun, cancelled=cancelled, predictor=told, semantics=semantics)
    _check_needs(chosen, trace)
    if chosen.name not in RESTATED.get(semantics, (chosen.name,)):
        known = ", ".join(RESTATED[semantics])
        raise ParameterError(f"semantics={semantics!r} is known for {known}, not for {chosen.name!r}")
    if semantics == "pyss" and (told.NAME in ("last-model", "virtual") or overrun == "run-on"):
        raise ParameterError(
            f"semantics='pyss' with predictor={told.NAME!r}, overrun={overrun!r}: it frees processors when a job is "
            "expected to end, so no job may outlive what policies are told"
        )
    if semantics == "cqsim" and told.NAME != "exact":
        raise ParameterError(f"semantics='cqsim' needs predictor='exact', not {told.NAME!r}: it plans by run times")
    workload = prepare(
        trace,
        machine_size,
        overrun=overrun,
        cancelled=cancelled,
        predictor=told,
        seed=seed,
        least=1.0 if SEMANTICS[semantics] == PYSS else 0.0,
    )
    log = _run(
        workload,
        chosen,
        machine_size,
        Options(SEMANTICS[semantics], int(told.learns), int(chosen.rests)),
        chosen.parameter_array(given),
        seed,
        compiled,
        progress,
    )
    options = {
        "overrun": overrun,
        "cancelled": cancelled,
        "predictor": told.to_text(),
        "semantics": semantics,
        "seed": seed,
        **chosen.chosen(given).to_mapping(),
    }
    return _schedule(trace, workload, log, machine_size, chosen.name, options)


def check_options(*, overrun: str, cancelled: str, predictor: str | Predictor, semantics: str) -> None:
    """Raise ParameterError unless the options of a simulation are what they may be."""
    check_choice("overrun", overrun, OVERRUN)
    check_choice("cancelled", cancelled, CANCELLED)
    check_choice("semantics", semantics, SEMANTICS)
    find_predictor(predictor)


def _check_needs(policy: Policy, trace: Trace) -> None:
    """Raise ParameterError unless the jobs have the columns that a policy needs."""
    if lacking := [name for name in policy.needs if name not in trace.jobs]:
        raise ParameterError(
            f"policy {policy.name!r} needs {', '.join(lacking)}, which the trace lacks; {_REMEDIES.get(lacking[0], '')}"
            "or choose another policy"
        )


def _run(
    workload: Workload,
    policy: Policy,
    processors: int,
    options: Options,
    values: npt.NDArray[np.float64],
    seed: int,
    compiled: bool,
    progress: Progress | None,
) -> Log:
    """Run the events, and say in words what went wrong."""
    jobs = len(workload.row)
    machine = empty_machine(jobs, processors)
    decide = policy.compiled if compiled else None
    run_events = compiled_engine() if decide else simulate_events
    decide = decide or _checked(policy)
    memory, rng = policy.empty_memory(jobs, processors), generator(seed, f"simulate/{policy.name}")
    state = (workload.run_time, workload.requests, machine, options, values, memory, rng)

    def run_some(replay: Replay) -> None:
        try:
            run_events(*state, decide, replay)
        except PolicyError:
            raise
        except Exception as error:
            if machine.counts[FAULT]:
                raise PolicyError(f"policy {policy.name!r}, {_told(machine, workload)}") from error
            where = f"policy {policy.name!r}, at {machine.clock[NOW]:g} s"
            raise PolicyError(f"{where}: raised {type(error).__name__}: {error}") from error

    return run_to_the_end(run_some, jobs, machine, progress)


def _checked(policy: Policy) -> Any:
    """Return the policy as it is interpreted; it must return nothing."""
    function: Any = policy.decide

    def decide(*arguments: Any) -> None:
        answer = function(*arguments)
        if answer is not None:
            raise PolicyError(
                f"policy {policy.name!r} returned {answer!r}; a policy acts by start(), it returns nothing"
            )

    return decide


def _told(machine: Machine, workload: Workload) -> str:
    """Return what the policy did wrong."""
    index = int(machine.counts[FAULT_JOB])
    requests = workload.requests
    known = 0 <= index < len(workload.row)
    return f"at {machine.clock[NOW]:g} s: " + FAULTS[int(machine.counts[FAULT])].format(
        job=f"{index} of the queue (submitted at {requests.submit_time[index]:g} s)" if known else index,
        index=index,
        width=requests.processors[index] if known else "?",
        free=machine.counts[FAULT_FREE],
        waiting=machine.counts[WAITING],
    )


def _schedule(
    trace: Trace, workload: Workload, log: Log, processors: int, policy: str, options: dict[str, Any]
) -> Schedule:
    """Return what happened, in the columns of the schedule's tables."""
    runs = int(log.size[0])
    job, start, end = log.job[:runs], log.start[:runs], log.end[:runs]
    last = np.empty(len(workload.row), np.int64)
    last[job] = np.arange(runs)  # of several runs of a job the last
    requests = workload.requests
    width = log.processors[:runs][last]
    order = np.argsort(workload.row, kind="stable")
    keys = pd.DataFrame({"job_number": trace.jobs["job_number"].array, "job_occurrence": count_occurrences(trace.jobs)})
    columns = pd.DataFrame(
        {
            "submit_time": requests.submit_time,
            "start_time": start[last],
            "end_time": end[last],
            "wait_time": start[last] - requests.submit_time,
            "run_time": np.where(width == requests.processors, workload.run_time, end[last] - start[last]),
            "allocated_processors": pd.array(width, dtype="Int64"),
            "requested_time": requests.limit,
            "estimated_time": requests.requested_time,
            "is_backfilled": log.overtook[:runs][last],
            "preemptions": pd.array(np.bincount(job, minlength=len(last)) - 1, dtype="Int64"),
        }
    ).iloc[order]
    rows = workload.row[order]
    rest = trace.jobs.drop(columns=[*columns, *keys], errors="ignore")
    taken = [part if len(rows) == len(trace) else part.iloc[rows] for part in (keys, rest)]  # all of them: no copy
    parts = [part.reset_index(drop=True) for part in (taken[0], columns, taken[1])]
    jobs = pd.concat(parts, axis=1)
    segments = (
        keys.iloc[workload.row[job]]
        .reset_index(drop=True)
        .assign(
            start_time=start,
            end_time=end,
            allocated_processors=pd.array(log.processors[:runs], dtype="Int64"),
            is_preempted=last[job] != np.arange(runs),
        )
    )
    excluded = keys.iloc[workload.excluded["row"]].reset_index(drop=True)
    excluded["reason"] = workload.excluded["reason"].astype("str").to_numpy()
    return Schedule(jobs, segments, excluded, processors, policy, options)
