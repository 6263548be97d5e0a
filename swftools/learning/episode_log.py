# SPDX-License-Identifier: BSD-3-Clause
"""A log made ready for episodes, once for all environments that play on it."""

from __future__ import annotations

from typing import Any

from swftools.errors import ParameterError
from swftools.learning import episode_away, observed_away  # noqa: F401 (kernels to be known before a simulation)
from swftools.learning.observed_nodes import form_of
from swftools.learning.rules import Rules
from swftools.simulator.registry import Policy, list_policies, read_policy
from swftools.simulator.run.compiled_calls import CHECKED, Called, called_for
from swftools.simulator.simulation import Simulation
from swftools.simulator.state.arena import Arena
from swftools.trace import Trace


class EpisodeLog:
    """A log prepared for episodes: its jobs in order of submission, in memory once for all environments.

    Parameters
    ----------
    trace : Trace
        With requested times: without them, run times would be known in advance.
    processors : int, optional
        Size of the machine; those of the log by default. Or ``machine=``, of nodes.
    policy : str
        The policy that schedules the first jobs of each episode. It must have no memory: ``fcfs``, ``easy``, ``sjf``,
        ``lxf``, ``lxf-backfill`` or ``narrowest``.
    reference : str, optional
        The policy whose cost is the baseline of rewards; also without memory.
    overrun : {"run-on", "kill", "extend"}
        As for ``simulate``. ``"extend"`` raises a request to a longer run time, which reveals something of the future.
    **options
        As for ``simulate``: ``machine``, ``placement``, ``heads``, ``compiled``, and the others of a run that
        ``EnvOptions`` names.

    Raises
    ------
    ParameterError
        A job has no requested time, policy or predictor have a memory, or for the reasons of ``Simulation``.
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
        self.nodes, self.form = simulation.nodes, form_of(simulation.nodes)
        driver, workload = simulation._driver, simulation._workload
        lacking = workload.assumed.run_time_as_request
        if lacking:
            raise ParameterError(
                f"{lacking} of {workload.assumed.jobs} jobs have no requested time, so that the run time would be told "
                "in advance; give requests='tsafrir', which draws some of a model, or leave these jobs out"
            )
        if driver.asked or driver.predictor.observes:
            raise ParameterError(
                f"predictor {driver.predictor.name!r} learns, and episodes take none that does; use 'request'"
            )
        self.trace, self.processors = trace, simulation.processors
        self.workload, self.coming, self.restart = workload, workload.coming, workload.restart
        self.replay, self.kind = driver.replay, driver.called.kind
        self.on_nodes: Arena[Any] | None = None if self.nodes is None else driver.seat.arena
        """The simulation of the log before its first event, on a machine of nodes; None on a pool."""
        self.options, self.semantics = dict(simulation.options), driver.options.semantics
        self.observer, self._predictor = driver.observer, driver.predictor
        self.compiled: bool | str = options.get("compiled", True)
        """How episodes run, and who plays them beside an agent: as for ``simulate``."""
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
        return self.compiled == CHECKED

    def called(self, policy: tuple[Policy, Any]) -> Called:
        """Return what runs a policy."""
        return called_for(*policy, self._predictor, compiled=self.compiled, kind=self.kind)


def _memoryless(name: str | Policy) -> tuple[Policy, Any]:
    """Return a policy and its parameters; refuse one that remembers, or looks where no job fits."""
    policy, given = read_policy(name)
    chosen = policy.chosen(given)
    if not _forgets(policy, chosen):
        usable = [each.name for each in list_policies().values() if _forgets(each, each.chosen({}))]
        raise ParameterError(
            f"policy {policy.name!r} has a memory, or needs columns that episodes lack; episodes take "
            f"{', '.join(usable)}"
        )
    return policy, chosen


def _forgets(policy: Policy, chosen: Any) -> bool:
    """Whether a policy remembers, draws and needs nothing, and has nothing to do while no waiting job fits."""
    remembers = policy.in_python or set(policy.made_for(chosen).own) - {"parameters"}
    return policy.rests and not remembers and not policy.needed(chosen)
