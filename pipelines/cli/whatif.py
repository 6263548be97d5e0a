# SPDX-License-Identifier: BSD-3-Clause
"""The command that says when a job would start that is submitted now, by the state of a queue: whatif."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.durations import Duration
from pipelines.cli.options import PROCESSORS
from pipelines.cli.output import json_option, print_json
from swftools.parameters.durations import clock, seconds_of

if TYPE_CHECKING:
    import pandas as pd

    from swftools.formats.slurm.queue_snapshot import QueueSnapshot


class _Job(click.ParamType):  # type: ignore[type-arg]  # as of which version it takes any
    """A job, as processors=64,time=4h or processors=64,time=4h,priority=7000."""

    name = "job"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, float] | Any:
        """Return its processors, its requested time (s), and its priority if it has one; fail if it is none."""
        if isinstance(value, dict):
            return value
        given = dict(part.partition("=")[::2] for part in str(value).replace(" ", "").split(","))
        if set(given) - {"priority"} != {"processors", "time"}:
            self.fail(f"{value!r}: write a job as processors=64,time=4h, or with priority=7000", param, ctx)
        seconds = seconds_of(given["time"])
        if not given["processors"].isdecimal() or not seconds:
            self.fail(f"{value!r}: give whole processors, and a time such as 4h, 30m or 04:00:00", param, ctx)
        asked = {"processors": int(given["processors"]), "requested_time": seconds}
        if "priority" not in given:
            return asked
        if not given["priority"].isdecimal() or not int(given["priority"]):
            self.fail(f"{value!r}: give a whole priority above 0, as squeue --format=%Q prints it", param, ctx)
        return {**asked, "priority": float(given["priority"])}


class _Away(click.ParamType):  # type: ignore[type-arg]  # as above
    """Processors that go away, as processors=32,in=3h,for=2h."""

    name = "away"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, float] | Any:
        """Return how many, after how long (s), and for how long (s) if they come back; fail if it is no such text."""
        if isinstance(value, dict):
            return value
        given = dict(part.partition("=")[::2] for part in str(value).replace(" ", "").split(","))
        if not {"processors"} <= set(given) <= {"processors", "in", "for"}:
            self.fail(f"{value!r}: write it as processors=32,in=3h,for=2h", param, ctx)
        after = 0.0 if given.get("in", "0") in ("0", "now") else seconds_of(given["in"])
        time = seconds_of(given["for"]) if "for" in given else None
        if not given["processors"].isdecimal() or after is None or ("for" in given and not time):
            self.fail(f"{value!r}: give whole processors, and times such as 4h, 30m or 04:00:00", param, ctx)
        return {"processors": int(given["processors"]), "after": after} | ({"time": time} if time else {})


@click.command(short_help="Simulate when a job would start, from today's queue.", name="whatif")
@click.option("--running", "path", required=True, type=click.Path(), help="File with the output of squeue or sacct.")
@click.option("--processors", type=PROCESSORS, help="Processors of the machine.  [required]")
@click.option("--machine", metavar="FILE", help="Not known here yet: a queue's jobs do not say what they ask of nodes.")
@click.option("--change", "changes", multiple=True, metavar="TEXT", help="Of a machine of nodes: not known here yet.")
@click.option("--less", type=click.IntRange(0), default=0, help="Processors that are out of order.")
@click.option(
    "--away", type=_Away(), multiple=True, help="Processors to lose: processors=32,in=3h,for=2h; may be repeated."
)
@click.option(
    "--job",
    "jobs",
    type=_Job(),
    multiple=True,
    required=True,
    help="Job to submit: processors=64,time=4h[,priority=7000]; may be repeated.",
)
@click.option("--policies", default="easy", help="Policies, separated by commas; default: easy.")
@click.option("--longest", type=Duration(), help="Time limit of jobs that have none, such as 7d.")
@json_option
def whatif(  # noqa: PLR0913, PLR0917 (options by name)
    path: str,
    processors: int | None,
    machine: str | None,
    changes: tuple[str, ...],
    less: int,
    away: tuple[dict[str, float], ...],
    jobs: tuple[dict[str, float], ...],
    policies: str,
    longest: float | None,
    as_json: bool,
) -> None:
    """Say when a job submitted now would start under some policies, given what runs and waits at the moment.

    Assumes that every job runs as long as it may, and that no other job comes. The queue is the output of squeue or
    sacct, as text or by --json. Jobs wait in the order of their priorities; a job without priority= comes last. Jobs
    that cannot start yet (held, dependent, ...) are left out and counted. No policy knows beforehand that processors go
    away (--away); jobs on them start over.

    \b
    Example: squeue --array --format="%i|%T|%C|%l|%M|%V|%S|%Q|%r" > now.txt
             swftools whatif --running now.txt --processors 128 \\
                 --job processors=64,time=4h --policies easy,conservative
    """
    if machine is not None or changes:
        raise click.UsageError(
            f"--{'change' if machine is None else 'machine'}: whatif does not know machines of nodes yet; give "
            "--processors, the cores of the nodes in use"
        )
    if processors is None:
        raise click.UsageError("Missing option '--processors'.")
    if less >= processors:
        raise click.UsageError(f"--less {less} leaves nothing of --processors {processors}")
    from swftools.formats.slurm.queue_snapshot import read_squeue
    from swftools.parameters.as_text import read_entries, write_entry
    from swftools.simulator.questions.what_if import free_windows, what_if

    queue = read_squeue(path, longest=longest)
    asked = [write_entry(*entry) for entry in read_entries(policies)]
    found = what_if(queue.running, queue.waiting, jobs, processors - less, asked, away=away)
    windows = free_windows(queue.running, processors - less)
    if as_json:
        told = {
            "running": len(queue.running),
            "waiting": len(queue.waiting),
            "others": queue.others,
            "suspended": queue.suspended,
            "held": dict(queue.held),
            "later": dict(queue.later),
        }
        answers = [
            {name: None if value == math.inf else value for name, value in row.items()}
            for row in found.to_dict("records")
        ]
        print_json({**told, "answers": answers, "free": windows.to_dict("records")})
    else:
        click.echo("\n".join(_lines(queue, found, windows, processors - less)))


def _lines(queue: QueueSnapshot, found: pd.DataFrame, windows: pd.DataFrame, processors: int) -> Iterator[str]:
    """Yield what is printed."""
    free = f"{windows['free'].iloc[0]:,} of {processors:,} processors are free"
    run, wait = (
        f"{len(jobs):,} {one if len(jobs) == 1 else several}"
        for jobs, one, several in ((queue.running, "job runs", "jobs run"), (queue.waiting, "waits", "wait"))
    )
    yield f"{run} and {wait}; {free}"
    yield from _left_out(queue)
    yield ""
    yield f"{'policy':<24} {'processors':>10} {'for':>12} {'starts in':>12}  behind"
    columns = (found[name] for name in ("policy", "processors", "requested_time", "wait", "behind"))
    for policy, width, time, wait, behind in zip(*columns, strict=True):
        begin = "at once" if wait == 0 else "never" if wait == math.inf else clock(wait)
        yield f"{policy[:24]:<24} {width:>10,} {clock(time):>12} {begin:>12}  {behind:,}"
    yield ""
    yield "free processors, if running jobs end as requested and no job starts:"
    for time, free_then in windows.head(8).itertuples(index=False, name=None):
        yield f"  {'now' if time == 0 else f'in {clock(time)}':<16} {free_then:>10,}"


def _left_out(queue: QueueSnapshot) -> Iterator[str]:
    """Yield which jobs of the queue have no part in the answer, and why."""
    for what, counts in (
        ("left out: waiting jobs that only a person can release", queue.held),
        ("left out: waiting jobs that wait for something else than processors", queue.later),
    ):
        if counts:
            yield f"{what}: {sum(counts.values()):,}"
            words = ", ".join(f"{reason} {count:,}" for reason, count in sorted(counts.items()))
            yield from textwrap.wrap(words, 78, initial_indent="  ", subsequent_indent="  ")
    if queue.suspended:
        yield f"suspended jobs, which hold no processors: {queue.suspended:,}"
    if queue.others:
        yield f"jobs in other states, passed over: {queue.others:,}"
