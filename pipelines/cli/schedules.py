# SPDX-License-Identifier: BSD-3-Clause
"""The command that makes a schedule: simulate; and the options that simulations have in common."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.completion import complete_policy, complete_predictor
from pipelines.cli.on_nodes import load_on, withheld_columns
from pipelines.cli.options import (
    LOAD,
    on_nodes,
    reads_a_log,
    says_its_progress,
    takes_a_log,
    together,
)
from pipelines.cli.output import check_folder, check_output, json_option, print_json
from pipelines.cli.schedule_checks import print_report, report_as_mapping
from pipelines.cli.schedule_figures import logged_mapping, print_figures
from pipelines.exit_statuses import FOUND_FAULTS
from swftools.output.amounts import counted, duration
from swftools.output.shown_text import WIDTH, shown
from swftools.parameters.run_option_table import ON_NODES, RUN_OPTIONS, RunOption

if TYPE_CHECKING:
    from pipelines.logs.machine import ChosenMachine
    from swftools.simulator.schedule import Schedule
    from swftools.simulator.simulation import Simulation

_COMPLETED = {"predictor": complete_predictor}
"""What completes the value of an option in a shell."""

_BY_TYPE: dict[type, click.ParamType[Any]] = {
    str: click.STRING,
    int: click.INT,
    float: click.FLOAT,
    bool: click.BOOL,
}


if TYPE_CHECKING:
    _AnyType = click.ParamType[Any]
else:  # older versions of click take no type there
    _AnyType = click.ParamType


class _WithinBounds(_AnyType):
    """The value of an option of a run, refused where it is outside its domain."""

    def __init__(self, option: RunOption) -> None:
        self.option, self.inner = option, _BY_TYPE[option.type]
        self.name = self.inner.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value; fail if it is none."""
        found = self.inner.convert(value, param, ctx)
        if not self.option.domain.admits(found):
            self.fail(f"{value!r} is not {self.option.domain.words}", param, ctx)
        return found


def option_of(name: str) -> Callable[[Any], Any]:
    """Return the option of commands for an option of a run."""
    option = RUN_OPTIONS[name]
    return click.option(
        f"--{name.replace('_', '-')}",
        type=click.Choice(option.choices, case_sensitive=False) if option.choices else _WithinBounds(option),
        default=option.usual,
        show_default=True,
        shell_complete=_COMPLETED.get(name),
        help=option.sentence(),
    )


where_it_runs = together(on_nodes, *map(option_of, ON_NODES))
"""The options of a machine of nodes where only a schedule, or an answer, is looked at."""


NO_PARTITIONS = (
    "warning: with --anonymise what is published does not tell in which partition a job ran, so all are simulated in "
    "the default one; swftools simulate uses the partitions of the log, or leave out --anonymise and publish below a "
    "--data-root of your own"
)
"""What is said before schedules on nodes are made of a log whose names are withheld."""

simulates = together(
    *(option_of(name) for name, option in RUN_OPTIONS.items() if not option.is_repetition),
    on_nodes,
    click.option("--load", type=LOAD, help="Offered load, by scaling the times between submissions."),
)
"""The options that simulations have in common."""

seed_option = option_of("seed")

synthetic_option = click.option(
    "--synthetic", is_flag=True, help="Also show measures of made-up utility functions, if jobs have them."
)


@click.command(short_help="Replay a log under one policy.", name="simulate")
@takes_a_log
@reads_a_log
@click.option(
    "--policy",
    default="easy",
    show_default=True,
    shell_complete=complete_policy,
    help="Name or module:name, also easy:reservations=2.",
)
@simulates
@seed_option
@click.option("-o", "--output", help="Write the schedule into this file: .csv or .parquet.")
@synthetic_option
@click.option("--notes", metavar="FOLDER", help="Write the policy's notes (explain=true) into this folder.")
@click.option("--phases", type=click.IntRange(2), help="Of slurm: simulate with so many beginnings of its cycles.")
@json_option
@says_its_progress
def simulate_log(
    log: str,
    cleaned: bool,
    rules: str,
    policy: str,
    output: str | None,
    notes: str | None,
    phases: int | None,
    as_json: bool,
    synthetic: bool,
    **options: Any,
) -> None:
    """Replay a log under one policy, check the schedule, and print its metrics.

    \b
    Example: swftools simulate KTH-SP2-1996-2.1-cln.swf.gz --policy easy \\
                 --output easy.csv
    """
    if output:
        check_output(output, tuple(_WRITERS), [log])
    if notes:
        check_folder(notes)
    from pipelines.cli.progress import simulation_shown
    from pipelines.tasks.simulate import label_of
    from swftools.kernel.memory import give_back_memory
    from swftools.simulator.metrics.beside_log import beside_log
    from swftools.simulator.validation.report import validate
    from swftools.tables import LONG

    entry = policy_entry(policy)
    if phases is not None:
        if output or notes:
            raise click.UsageError("--phases makes several schedules: leave out --output and --notes, or --phases")
        _print_phases(log, cleaned, rules, entry, phases, as_json=as_json, **options)
        return
    nodes, simulation = begin_simulation(log, cleaned, rules, entry, **options)
    if notes and not simulation.notes:
        raise click.UsageError(
            f"--notes: {label_of(entry)} keeps no notes; use search:explain=true, or leave out --notes"
        )
    with simulation_shown() as progress:
        simulation.run(progress=progress)
    trace, thought = simulation.trace, simulation.predictor_seconds if simulation.predictor else None
    schedule = nodes.says(simulation.finish())  # which gives the memory of the simulation away
    if len(schedule) > LONG:
        give_back_memory()
    beside = None if options["load"] is not None else beside_log(schedule, trace)
    if as_json:
        found = {"log": log, "policy": label_of(entry), **_as_mapping(schedule), **logged_mapping(beside)}
        written = _written(schedule, output, notes)
        report = validate(schedule, trace=trace)
        print_json({**found, "written": written, "validation": report_as_mapping(report)})
        sys.exit(0 if report.ok else FOUND_FAULTS)
    said = "standard input" if log == "-" else shown(log)
    click.echo(f"{said}, {label_of(entry)} on {size_of(schedule)}: {counted(len(schedule), 'job')}")
    if thought is not None:
        click.echo(f"  the predictor in Python took {duration(thought)}")
    print_assumptions(schedule.assumptions, options["load"])
    print_figures(schedule, beside, synthetic=synthetic)
    del beside
    for path in _written(schedule, output, notes):
        click.echo(f"  {shown(path)}: written")
    if len(schedule) > LONG:
        give_back_memory()
    report = validate(schedule, trace=trace)
    if not report.ok:
        print_report(report, err=True)
        sys.exit(FOUND_FAULTS)


def _print_phases(
    log: str, cleaned: bool, rules: str, entry: dict[str, Any], phases: int, *, as_json: bool, **options: Any
) -> None:
    """Simulate with several beginnings of the cycles, and print the bands of the measures."""
    from pipelines.cli.phases import band_lines, simulate_phases
    from pipelines.tasks.simulate import label_of

    bands, assumed = simulate_phases(
        entry, phases, lambda each: begin_simulation(log, cleaned, rules, each, **options)[1]
    )
    if as_json:
        print_json({"log": log, "policy": label_of(entry), "phases": phases, "bands": bands})
        return
    click.echo(f"{shown(log)}, {label_of(entry)}")
    print_assumptions(assumed, options["load"])
    click.echo("\n".join(["", *band_lines(bands, phases)]))


def _written(schedule: Schedule, output: str | None, notes: str | None) -> list[str]:
    """Write the files that are asked for, and return their paths."""
    from pipelines.tasks.notes import write_notes

    if output:
        told = schedule.jobs.drop(columns=[name for name in withheld_columns() if name in schedule.jobs])
        _WRITERS[Path(output.lower()).suffix](replace(schedule, jobs=told), output)
    return [*([output] if output else []), *map(str, write_notes(schedule, Path(notes)) if notes else ())]


def _as_mapping(schedule: Schedule) -> dict[str, Any]:
    """Return what came of a simulation, for programs."""
    from swftools.simulator.metrics.measures import measure

    rows = measure(schedule).dropna(subset=["value"])
    return {
        "processors": schedule.processors,
        "jobs": len(schedule),
        "left_out": schedule.excluded["reason"].value_counts().to_dict(),
        "measures": rows[["measure", "statistic", "value", "unit"]].to_dict("records"),
    }


def policy_entry(policy: str) -> dict[str, Any]:
    """Return the policy that an option names, with its parameters, as tasks have it."""
    from pipelines.tasks.simulation_parameters import PoliciesParameter

    (entry,) = json.loads(PoliciesParameter().normalize(policy if policy.lstrip().startswith("{") else [policy]))
    return dict(entry)


def begin_simulation(
    log: str, cleaned: bool, rules: str, entry: dict[str, Any], **options: Any
) -> tuple[ChosenMachine, Simulation]:
    """Load a log and begin its simulation, as the options of ``reads_a_log`` and ``simulates`` say.

    Returns
    -------
    ChosenMachine, Simulation
        Where it runs, and the run.
    """
    from swftools.selection import scale_to_load, stretch_of
    from swftools.simulator.run_options import check_options
    from swftools.simulator.simulation import Simulation

    offered_load, machine, changes = (options.pop(name) for name in ("load", "machine", "changes"))
    check_options(**options)
    loaded, nodes = load_on(log, cleaned, rules, machine, changes)
    trace, described, stretch = loaded.trace, nodes.description, None
    if offered_load is not None:
        trace = scale_to_load(loaded.trace, offered_load, described.table().processors if described else None)
        stretch, nodes = stretch_of(loaded.trace, trace), replace(nodes, is_stretched=True)
    table = described.in_log_time(trace.header, stretch).table() if described else None
    parameters = {name: value for name, value in entry.items() if name != "policy"} | nodes.of_policy
    return nodes, Simulation(trace, entry["policy"], **options, **parameters, machine=table)


def size_of(schedule: Schedule) -> str:
    """Return the size of the machine in words."""
    if schedule.machine is None:
        return counted(schedule.processors, "processor")
    return f"{counted(len(schedule.machine), 'node')} ({counted(schedule.processors, 'core')})"


def print_assumptions(assumptions: Iterable[str], offered_load: float | None, *, err: bool = False) -> None:
    """Print what a run assumed, in lines that fit 80 columns."""
    scaled = [] if offered_load is None else [f"submissions are scaled to an offered load of {offered_load:g}"]
    for sentence in (*assumptions, *scaled):
        click.echo(click.wrap_text(sentence, WIDTH, initial_indent="  ", subsequent_indent="    "), err=err)


def _write_parquet(schedule: Schedule, output: str) -> None:
    """Write the jobs of a schedule as Parquet; on nodes with where each ran."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from swftools.output.whole_files import create_file
    from swftools.tables import PARQUET_OPTIONS, to_arrow, write_table

    jobs = to_arrow(schedule.jobs, "schedule")
    with create_file(output) as file:
        if schedule.machine is None:
            write_table(jobs, file, "schedule")
            return
        told = schedule.with_nodes()
        for name in [name for name in told if name not in schedule.jobs]:
            jobs = jobs.append_column(name, pa.array(told[name].array, pa.string(), from_pandas=True))
        pq.write_table(jobs.combine_chunks(), file, **PARQUET_OPTIONS)


def _write_csv(schedule: Schedule, output: str) -> None:
    """Write the jobs of a schedule as CSV, without columns of lists, for which CSV has no cell."""
    import pandas as pd

    from swftools.output.whole_files import create_file

    jobs = schedule.with_nodes()
    plain = [name for name in jobs if not isinstance(jobs[name].dtype, pd.ArrowDtype)]
    with create_file(output) as file:
        jobs[plain].to_csv(file, index=False, lineterminator="\n")


_WRITERS: dict[str, Callable[[Schedule, str], None]] = {".csv": _write_csv, ".parquet": _write_parquet}
"""How a schedule is written, by the suffix of the file."""
