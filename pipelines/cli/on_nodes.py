# SPDX-License-Identifier: BSD-3-Clause
"""A log with the machine that options name, and the schedules that policies make of it there, for who only looks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.options import load
from swftools.parameters.run_option_table import ON_NODES, RUN_OPTIONS

if TYPE_CHECKING:
    from pipelines.logs.load import LoadedLog
    from pipelines.logs.machine import ChosenMachine
    from swftools.simulator.schedule import Schedule


def check_has_policy(policy: str | None, options: dict[str, Any]) -> None:
    """Refuse options that say where a policy's schedule runs, if there is no policy.

    Raises
    ------
    click.UsageError
        One of them is given.
    """
    for name in () if policy else ("machine", "changes", *ON_NODES):
        usual = RUN_OPTIONS[name].usual if name in ON_NODES else None
        if options[name] != usual:
            word = "change" if name == "changes" else name
            raise click.UsageError(f"--{word} says how a policy's schedule runs; give --policy too, as --policy easy")


def load_on(
    log: str, cleaned: bool, rules: str, machine: str | None, changes: str | None
) -> tuple[LoadedLog, ChosenMachine]:
    """Load a log, and find the machine that the options of ``on_nodes`` name; its file is read first.

    Where names are withheld, the log that runs on nodes is read with them too, since they say where its jobs may run,
    and for whom; then users and accounts are called otherwise, in the log and its machine. ``withheld_columns`` says
    what of it may not be told.
    """
    from pipelines.logs.find import is_stream
    from pipelines.logs.machine import changes_text, chosen_machine, machine_text

    text, changed = machine_text(machine), changes_text(changes or "")
    loaded = load(log, cleaned, rules)
    meta = click.get_current_context().meta
    nodes = chosen_machine(loaded.log, text, changed, meta.get("swftools.processors"))
    privacy = loaded.log.how.privacy
    if privacy.tells_words or nodes.description is None or is_stream(log):
        return loaded, as_withheld(loaded, nodes)
    from swftools.machines.people import People
    from swftools.machines.withheld_log import withhold_log

    named = load(log, cleaned, rules, says_odd=False, anonymise="no")
    trace, called = withhold_log(named.trace, nodes.description, privacy)
    meta[_WITHHELD] = tuple(name for name in trace.jobs if name not in loaded.trace.jobs)
    return replace(loaded, trace=trace), nodes.told_as(People(nodes.description, privacy, called=called))


def as_withheld(loaded: LoadedLog, nodes: ChosenMachine) -> ChosenMachine:
    """Return a machine with users and accounts as the log calls them, where names of the log are withheld."""
    privacy = loaded.log.how.privacy
    if privacy.tells_words:
        return nodes
    return nodes.told_as(nodes.people(privacy, loaded.trace.known_names.get("user", {}).values()))


_WITHHELD = "swftools.withheld_columns"


def withheld_columns() -> tuple[str, ...]:
    """Return the columns of the log that was loaded last which may not be written, nor shown."""
    found: tuple[str, ...] = click.get_current_context().meta.get(_WITHHELD, ())
    return found


def logged_on(
    log: str, cleaned: bool, rules: str, machine: str | None, changes: str | None
) -> tuple[LoadedLog, Schedule]:
    """Return a log and the schedule that it tells itself, on the machine that the options of ``on_nodes`` name.

    Where names are withheld the log is read with them, since they say where its jobs ran, and for whom; then users and
    accounts are called otherwise, in the schedule and its machine.
    """
    from pipelines.logs.how_read import HowRead
    from pipelines.logs.machine import changes_text, chosen_machine, machine_text
    from swftools.simulator.logged import logged_schedule
    from swftools.waits.withheld import withhold_people

    meta = click.get_current_context().meta
    text, changed = machine_text(machine), changes_text(changes or "")
    privacy = HowRead(meta.get("swftools.format") or "", meta.get("swftools.anonymise") or "no").checked().privacy
    loaded = load(log, cleaned, rules, anonymise="no")
    nodes = chosen_machine(loaded.log, text, changed, meta.get("swftools.processors"))
    table = nodes.description.simulated(loaded.trace.header) if nodes.description else None
    return loaded, withhold_people(nodes.says(logged_schedule(loaded.trace, table)), privacy)


def schedules_on(
    loaded: LoadedLog, nodes: ChosenMachine, entries: Iterable[tuple[str, dict[str, Any]]], **options: Any
) -> list[Schedule]:
    """Return the schedule of a loaded log under each policy; each tells what is changed of the machine.

    Parameters
    ----------
    entries : iterable of (str, dict)
        Each policy's name and parameters; ``logged``: what the log itself tells.
    **options
        Of ``simulate``.
    """
    from swftools.simulator.entry_points import simulate
    from swftools.simulator.logged import LOGGED, logged_schedule

    table = nodes.description.simulated(loaded.trace.header) if nodes.description else None
    made = (
        logged_schedule(loaded.trace, table)
        if name == LOGGED
        else simulate(loaded.trace, name, **options, **parameters, **nodes.of_policy, machine=table)
        for name, parameters in entries
    )
    return [nodes.says(schedule) for schedule in made]
