"""A log made ready for episodes, once for all environments that play on it; and the machine that each of them has."""

from __future__ import annotations

from typing import Any

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel.layout import Layout
from swftools.kernel.outside import Lent, place_of_compiled
from swftools.learning.costs import LEAST_RUN_TIME
from swftools.learning.episode import (
    REFERENCE,
    THRESHOLD,
    TOTAL,
    begin_kernel,
    empty_episode,
    episode_at,
    play_kernel,
    reference_kernel,
)
from swftools.learning.observation import Seen
from swftools.learning.rules import Rules
from swftools.simulator.engine.calling import CHECKED, Called, called_for, engine_kernel
from swftools.simulator.engine.entry import machine_at, pack
from swftools.simulator.engine.loop import Options, Run, run_at
from swftools.simulator.engine.replay import (
    DECIDED,
    DECIDING,
    LEFT,
    STEPS,
    Ends,
    Replay,
    begin_replay,
    coming_at,
    replay_at,
)
from swftools.simulator.machine.state import Machine, Requests, empty_machine, no_requests
from swftools.simulator.machine.waiting_queue import empty_queue
from swftools.simulator.outcome import schedule_of, what_was_done
from swftools.simulator.registry import Policy, list_policies, read_policy
from swftools.simulator.schedule import Schedule
from swftools.simulator.simulation import Simulation
from swftools.trace import Trace

_BY_JOB = ("row", "run_time", "limit", "told", "restart_overhead")


class EpisodeLog:
    """A log made ready for episodes: its jobs in order of submission, once in memory however many play on it.

    Parameters
    ----------
    trace : Trace
        With requested times: run times would be told in advance without them.
    processors : int, optional
        Of the machine; those of the log by default.
    policy : str
        What decides the first jobs of each episode. It must remember nothing, as ``fcfs``, ``easy``, ``sjf``, ``lxf``,
        ``lxf-backfill`` and ``narrowest`` do.
    reference : str, optional
        Whose cost is subtracted in rewards; likewise.
    overrun : {"run-on", "kill", "extend"}
        As ``simulate`` takes it. ``"extend"`` raises a request to a longer run time, which is a look into the future.
    **options
        As ``simulate`` takes them: ``requests``, ``predictor``, ``cancelled``, ``seed``, ``compiled``.

    Raises
    ------
    ParameterError
        A job has no requested time, policy or predictor remember; what ``Simulation`` raises.
    """

    def __init__(
        self,
        trace: Trace,
        processors: int | None = None,
        *,
        policy: str | Policy = "easy",
        reference: str | Policy | None = None,
        overrun: str = "run-on",
        **options: Any,
    ) -> None:
        self.policy = _memoryless(policy)
        self.reference = None if reference is None else _memoryless(reference)
        simulation = Simulation(trace, policy, processors, overrun=overrun, **options)
        driver, workload = simulation._driver, simulation._workload
        lacking = workload.assumed.run_time_as_request
        if lacking:
            raise ParameterError(
                f"{lacking} of {workload.assumed.jobs} jobs have no requested time, so that the run time would be told "
                "in advance; give requests='tsafrir', which draws some of a model, or leave these jobs out"
            )
        if driver.asked or driver.predictor.observes:
            raise ParameterError(f"predictor {driver.predictor.name!r} learns, which episodes do not; take 'request'")
        self.trace, self.processors = trace, simulation.processors
        self.workload, self.coming, self.restart = workload, workload.coming, workload.restart
        self.options, self.semantics = dict(simulation.options), driver.options.semantics
        self.observer, self._predictor = driver.observer, driver.predictor
        self._compiled: bool | str = options.get("compiled", True)
        self.costs: dict[Rules, dict[int, float]] = {}

    def __len__(self) -> int:
        """Return how many jobs there are."""
        return len(self.coming.row)

    def check_length(self, jobs: int) -> None:
        """Refuse episodes of more jobs than there are."""
        if jobs > len(self):
            raise ParameterError(
                f"an episode has {jobs} jobs with its warm-up, and the log {len(self)} that can be simulated; give "
                "smaller jobs= and warm_up=, or a longer log"
            )

    @property
    def is_checked(self) -> bool:
        """Whether compiled code looks at each index."""
        return self._compiled == CHECKED

    def empty_requests(self, jobs: int) -> Requests:
        """Return the requests of jobs of which none was submitted yet, with the columns that the log has."""
        coming = self.coming
        return no_requests(
            jobs,
            checkpoints=len(coming.checkpoint_interval) > 0,
            curves=len(coming.speedup) > 0,
            points=coming.utility.shape[1],
            overheads=len(coming.restart_overhead) > 0,
        )

    def called(self, policy: tuple[Policy, Any]) -> Called:
        """Return what runs a policy."""
        return called_for(*policy, self._predictor, compiled=self._compiled)


class Slot:
    """A machine for the episodes of an environment, which is used again and again.

    Parameters
    ----------
    log : EpisodeLog
        The log.
    rules : Rules
        What an episode is.
    seen : Seen
        What is written to at each decision; its arrays may be parts of larger ones.
    """

    def __init__(self, log: EpisodeLog, rules: Rules, seen: Seen) -> None:
        log.check_length(rules.length)
        self.log, self.rules, jobs = log, rules, rules.length
        called, compared = log.called(log.policy), log.called(log.reference or log.policy)
        self.is_compiled = called.is_compiled and compared.is_compiled
        # What engine and predictor write of each job is the episode's own; all else is the log's, whoever plays on it.
        own = {name: getattr(log.coming, name)[:jobs].copy() for name in _BY_JOB}
        coming = log.coming._replace(**own)
        self.requests = log.empty_requests(jobs)
        self.machine = _roomy(empty_machine(self.requests, log.processors, log.restart), jobs)
        self.replay = _with_ends(begin_replay(self.requests, log.processors), len(self.machine.started))
        self._kept: list[Any] = [called, compared]  # what lies at a place must stay there
        places = (self._lay(coming, coming_at), self._lay(self.machine, machine_at), self._lay(self.replay, replay_at))
        observer, runs = self._lay(log.observer, called.observer_at), []
        for (policy, chosen), calls in ((log.policy, called), (log.reference or log.policy, compared)):
            memory = policy.empty_memory(1, log.processors, chosen)  # of its kind; it is not used
            decider = self._lay(pack(chosen.values(), memory, np.random.default_rng(0)), calls.decider_at)
            run = Run(*places, Options(log.semantics, 1, 0, 0), calls.observe, observer, calls.decide, decider)
            runs.append(self._lay(run, run_at))
        engine = place_of_compiled(engine_kernel(), checked=log.is_checked) if self.is_compiled else called.engine
        episode = empty_episode((engine, *runs, self._lay(log.coming, coming_at), *places), seen)
        episode.kinds[:] = rules.kinds()
        episode.numbers[THRESHOLD] = LEAST_RUN_TIME
        self.episode, self.place = episode, self._lay(episode, episode_at)
        self._begin, self.play, self._cost_of_reference = (
            each.compiled if self.is_compiled else each.py_func
            for each in (begin_kernel(), play_kernel(), reference_kernel())
        )
        self.coming, self.first = coming, -1

    def begin(self, first: int) -> None:
        """Begin an episode at a job of the log."""
        cost = self._reference_at(first) if self.log.reference else 0.0
        self.first = first
        self._begin(self.place, first)
        self.episode.numbers[REFERENCE] = cost

    def ended(self) -> float:
        """Return the reward that is known only at the end of an episode: 0 where each start has its own."""
        if not self.rules.cost.is_of_schedule:
            return 0.0
        self.episode.numbers[TOTAL] = self.rules.cost.of_schedule(self.schedule())
        return -float(self.episode.numbers[TOTAL])

    def schedule(self) -> Schedule:
        """Return the schedule of the episode with its warm-up; whoever has not started is started by the policy."""
        counts = self.replay.counts
        counts[STEPS], counts[LEFT] = 0, 2**62
        if counts[DECIDING]:
            counts[DECIDING] = DECIDED
        engine, run = self.episode.engine, self.episode.run
        if self.is_compiled:
            engine_kernel().compiled(run)
        else:
            engine(run)
        return self._schedule()

    def _schedule(self) -> Schedule:
        """Return the schedule of what was done, all jobs having ended."""
        trace, rows = self.log.trace, self.coming.row
        order = np.argsort(rows, kind="stable")
        place = np.empty(len(rows), np.int32)
        place[order] = np.arange(len(rows))
        part = trace.with_jobs(trace.jobs.iloc[rows[order]].reset_index(drop=True))
        workload = self.log.workload._replace(
            coming=self.coming._replace(row=place),
            is_cut=self.log.workload.is_cut[self.first : self.first + len(rows)],
            excluded=self.log.workload.excluded[:0],
        )
        done = what_was_done(workload, self.requests, self.replay.log, np.zeros(0), copies=True)
        over = np.ones(len(rows), np.bool_)
        return schedule_of(part, done, over, "", self.log.processors, "", self.log.options)

    def _reference_at(self, first: int) -> float:
        """Return the cost of an episode's jobs under the reference, which is simulated once for each beginning."""
        known = self.log.costs.setdefault(self.rules, {})
        if first not in known:
            known[first] = float(self._cost_of_reference(self.place, first))
            if self.rules.cost.is_of_schedule:
                self.first = first
                known[first] = self.rules.cost.of_schedule(self._schedule())
        return known[first]

    def _lay(self, value: Any, like: Lent) -> Any:
        """Return what compiled code is handed for a tuple, which is kept; interpreted the tuple itself."""
        if not self.is_compiled:
            return value
        self._kept.append(Layout(value, like.example))
        return self._kept[-1].address


def _memoryless(name: str | Policy) -> tuple[Policy, Any]:
    """Return a policy and its parameters; refuse one that remembers, or looks where no job fits."""
    policy, given = read_policy(name)
    chosen = policy.chosen(given)
    if not _forgets(policy, chosen):
        usable = [each.name for each in list_policies().values() if _forgets(each, each.chosen({}))]
        raise ParameterError(
            f"policy {policy.name!r} remembers what it saw, or needs what episodes lack; they take {', '.join(usable)}"
        )
    return policy, chosen


def _forgets(policy: Policy, chosen: Any) -> bool:
    """Whether a policy remembers, draws and needs nothing, and has nothing to do while no waiting job fits."""
    remembers = policy.in_python or set(policy.made_for(chosen).own) - {"parameters"}
    return policy.rests and not remembers and not policy.needed(chosen.to_mapping())


def _with_ends(replay: Replay, most: int) -> Replay:
    """Return a progress that has room for the ends of all runs and of another decision, likewise."""
    ends = Ends(np.zeros(2 * most), np.zeros(2 * most, np.int64), np.zeros(1, np.int64))
    return replay._replace(ends=ends)


def _roomy(machine: Machine, jobs: int) -> Machine:
    """Return a machine whose queue never lacks places, so that the engine never stops for more."""
    places = 256
    while places <= jobs:
        places *= 2
    held = np.zeros(2 * places), np.zeros(2 * places, np.int64)
    return machine._replace(queue=empty_queue(jobs, places), held_until=held[0], held=held[1])
