# SPDX-License-Identifier: BSD-3-Clause
"""What candidates bring, simulated here for a report that is not published."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from pipelines.cli.on_nodes import load_on, schedules_on
from pipelines.cli.schedules import policy_entry

if TYPE_CHECKING:
    from pipelines.experiments.candidate_runs import RunFigures
    from pipelines.experiments.candidate_words import Candidate
    from pipelines.logs.load import LoadedLog
    from pipelines.logs.machine import ChosenMachine
    from pipelines.reports.report import Section
    from swftools.simulator.schedule import Schedule


def parts_with_candidates(
    log: str, cleaned: bool, rules: str, machine: str | None, changes: str, **options: Any
) -> list[Section]:
    """Return the parts of a report on what each change would bring; each is a candidate, simulated once.

    Parameters
    ----------
    log, cleaned, rules, machine, changes
        As the options of commands have them.
    **options
        Of ``simulate``.
    """
    from pipelines.experiments.advice import advice_of
    from pipelines.experiments.candidate_runs import figures_of
    from pipelines.experiments.candidate_words import read_candidates
    from pipelines.experiments.candidates import study_candidates
    from pipelines.reports.candidates import parts_of_candidates
    from swftools.simulator.metrics.beside_log import beside_log

    chosen = read_candidates(json.loads(changes))
    loaded, nodes = load_on(log, cleaned, rules, machine, None)
    policy = _usual_policy(nodes)
    runs = [_of_candidate(each, loaded, (log, cleaned, rules, machine), policy, options) for each in chosen]
    base = _simulated(loaded, nodes, policy, options)
    beside = beside_log(base, loaded.trace)
    logged = None if beside is None else figures_of(beside.logged, (), where=beside.is_shared)
    own = _figures(base, nodes, None)
    figures = {run.label: [_figures(_simulated(*run[1:]), run.nodes, ())] for run in runs}
    study = study_candidates([own], figures, logged)
    return parts_of_candidates(study.candidates, advice_of(study, beside.sentence if beside else ""))


def _usual_policy(nodes: ChosenMachine) -> str:
    described = nodes.description
    return "slurm" if described is not None and described.slurm is not None else "easy"


class _Run(NamedTuple):
    """What a candidate is called, its log and machine, its policy, and the options of its run."""

    label: str
    loaded: LoadedLog
    nodes: ChosenMachine
    policy: str
    options: dict[str, Any]


def _of_candidate(
    candidate: Candidate,
    loaded: LoadedLog,
    read_as: tuple[str, bool, str, str | None],
    policy: str,
    options: dict[str, Any],
) -> _Run:
    """Return the run of a candidate; what is wrong with it is told before any run."""
    from pipelines.logs.machine import changes_text, chosen_machine, machine_text
    from swftools.simulator.run_options import check_options

    given = {**options, **dict(candidate.options)}
    policy = given.pop("policy", policy)
    policy_entry(policy)
    if "processors" in given:
        raise click.UsageError(f"candidate {candidate.text!r}: a machine of nodes has its own; change its nodes")
    check_options(**given)
    changes = changes_text(list(candidate.changes))
    if loaded.log.how.privacy.tells_words:
        nodes = chosen_machine(loaded.log, machine_text(read_as[3]), changes)
    else:  # a machine that names others may call them otherwise, in the log too
        loaded, nodes = load_on(*read_as, changes)
    label = candidate.text
    for written, told in zip(candidate.changes, nodes.changes, strict=True):
        label = label.replace(written, told)
    return _Run(label, loaded, nodes, policy, given)


def _simulated(loaded: LoadedLog, nodes: ChosenMachine, policy: str, options: dict[str, Any]) -> Schedule:
    """Return the schedule of a policy."""
    entry = policy_entry(policy)
    parameters = {name: value for name, value in entry.items() if name != "policy"}
    (schedule,) = schedules_on(loaded, nodes, [(entry["policy"], parameters)], **options)
    return schedule


def _figures(schedule: Schedule, nodes: ChosenMachine, by: tuple[str, ...] | None) -> RunFigures:
    """Return what is kept of a schedule; jobs are in the groups in which they are as it is."""
    from pipelines.experiments.candidate_runs import figures_of
    from swftools.energy import powers_of

    return figures_of(schedule, by, powers=powers_of(nodes.description) if nodes.description else None)
