# SPDX-License-Identifier: BSD-3-Clause
"""What ``whatif --policies slurm`` prints: when jobs start under Slurm's rules, as a median and a bound."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.output import print_json
from pipelines.cli.text_tables import text_table
from swftools.parameters.durations import clock

if TYPE_CHECKING:
    import pandas as pd

    from pipelines.cli.progress import Bar
    from swftools.formats.slurm.queue_snapshot import QueueSnapshot
    from swftools.machines.description import MachineDescription
    from swftools.simulator.questions.slurm_starts import SlurmStarts

ONLY_POLICY = "slurm"

NO_PRIORITIES = (
    "the queue tells no priorities, so they are as the machine's description makes them; print them by squeue's %Q"
)


def is_of_slurm(policies: list[str]) -> bool:
    """Whether policies are Slurm's rules.

    Raises
    ------
    click.UsageError
        They are among others, which answer another question.
    """
    of_slurm = [policy for policy in policies if policy.partition(":")[0].lower() == ONLY_POLICY]
    if of_slurm and len(policies) > 1:
        raise click.UsageError("--policies slurm answers by draws of run times, others by requests: ask one by one")
    return bool(of_slurm)


def tell_starts(
    queue: QueueSnapshot,
    machine: MachineDescription,
    jobs: tuple[dict[str, Any], ...],
    policy: str,
    history: str | None,
    *,
    waiting: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Print when jobs start, each that is asked about by itself.

    Parameters
    ----------
    queue, machine
        As they are now.
    jobs : tuple of dict
        Those to ask about.
    policy : str
        ``slurm``, perhaps with parameters.
    history : str, optional
        Path of what sacct printed of jobs that have ended.
    waiting : bool
        Whether those that wait are told too.
    as_json : bool
        For programs.
    **options
        ``draws``, ``bound``, ``predictor`` and ``seed`` of ``slurm_starts``.
    """
    from pipelines.cli.progress import Bar
    from swftools import read_log
    from swftools.parameters.as_text import read_entry
    from swftools.simulator.questions.slurm_starts import slurm_starts

    past = None if history is None else read_log(history, "slurm:time_zone=UTC")
    parameters = read_entry(policy)[1]
    asked = [[job] for job in jobs] or [[]]
    found, bar = [], Bar("what if", " draws")
    for number, some in enumerate(asked):
        found.append(
            slurm_starts(
                queue,
                machine,
                some,
                past=past,
                parameters=parameters,
                progress=partial(_show, bar, number, len(asked)),
                **options,
            )
        )
    bar.close()
    answers = [each.jobs[each.jobs["asked"]].assign(job=f"job {number}") for number, each in enumerate(found, start=1)]
    rows = [row for each in answers for row in _rows(each)]
    others = _rows(found[0].jobs[~found[0].jobs["asked"]]) if waiting else []
    first = found[0]
    told = [*([NO_PRIORITIES] if _lacks_priorities(queue) else []), *first.told]
    if as_json:
        print_json(
            {
                "running": len(queue.running),
                "waiting": len(queue.waiting),
                "others": queue.others,
                "suspended": queue.suspended,
                "held": dict(queue.held),
                "never": first.left_out,
                "draws": first.draws,
                "bound": first.bound,
                "learnt_from": first.learnt_from,
                "assumptions": told,
                "answers": rows,
                **({"queue": others} if waiting else {}),
            }
        )
    else:
        click.echo("\n".join(_lines(queue, first, rows + others, told)))


def _show(bar: Bar, number: int, jobs: int, done: int, draws: int) -> None:
    """Show how many draws are done, of all jobs that are asked about."""
    bar.show(number * draws + done, jobs * draws)


def _lacks_priorities(queue: QueueSnapshot) -> bool:
    return bool(len(queue.waiting)) and bool(queue.waiting["priority"].isna().all())


def _rows(jobs: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows for programs: what never comes, and what is not told, is null."""

    def plain(value: Any) -> Any:
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return [
        {str(name): plain(value) for name, value in row.items()}
        for row in jobs.drop(columns="asked").astype(object).to_dict("records")
    ]


def _lines(queue: QueueSnapshot, starts: SlurmStarts, rows: list[dict[str, Any]], told: list[str]) -> Iterator[str]:
    """Yield what is printed."""
    run = "1 job runs" if len(queue.running) == 1 else f"{len(queue.running):,} jobs run"
    wait = "1 waits" if len(queue.waiting) == 1 else f"{len(queue.waiting):,} wait"
    yield f"{run} and {wait}; {starts.draws:,} draws"
    if starts.learnt_from:
        yield f"run times learnt from {starts.learnt_from:,} jobs that have ended"
    else:
        yield "every job runs to its time limit: --history with sacct's past says how long"
    if queue.held:
        yield f"left out: waiting jobs that only a person can release: {sum(queue.held.values()):,}"
        words = ", ".join(f"{reason} {count:,}" for reason, count in sorted(queue.held.items()))
        yield from textwrap.wrap(words, 78, initial_indent="  ", subsequent_indent="  ")
    for reason, count in starts.left_out.items():
        yield from textwrap.wrap(f"left out, could never run here: {count:,}: {reason}", 80, subsequent_indent="  ")
    if queue.suspended:
        yield f"suspended jobs, which hold no processors: {queue.suspended:,}"
    for text in told:
        yield from textwrap.wrap(f"assumed: {text}", 80, subsequent_indent="  ")
    yield ""
    bound = f"{100 * starts.bound:g} % by"
    heads = ("job", "partition", "priority", "for", "median", bound)
    yield from text_table([heads, *(_cells(row) for row in rows)], "<<>>>>")


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a row of the table."""
    priority = "" if row["priority"] is None else f"{row['priority']:,.0f}"
    starts = ("never" if row[name] is None else clock(row[name]) for name in ("median", "bound"))
    return (str(row["job"])[:20], str(row["partition"] or "")[:16], priority, clock(row["requested_time"]), *starts)
