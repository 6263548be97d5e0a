# SPDX-License-Identifier: BSD-3-Clause
"""The command that says when a job would start that is submitted now, by the state of a queue: whatif."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.asked_jobs import AskedJob, check_of_a_pool, check_of_no_slurm
from pipelines.cli.durations import Duration
from pipelines.cli.options import PROCESSORS
from pipelines.cli.output import json_option, print_json
from pipelines.cli.schedules import where_it_runs
from pipelines.cli.whatif_slurm import is_of_slurm, tell_starts
from swftools.parameters.durations import clock, seconds_of
from swftools.parameters.run_option_table import RUN_OPTIONS

if TYPE_CHECKING:
    import pandas as pd

    from swftools.formats.slurm.queue_snapshot import QueueSnapshot
    from swftools.machines.node_table import NodeTable


class _Away(click.ParamType):  # type: ignore[type-arg]  # as of which version it takes any
    """What goes away, as processors=32,in=3h,for=2h or nodes=n[01-04],in=3h,for=2h."""

    name = "away"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        """Return how many, after how long (s), and perhaps for how long; or the text of nodes; fail if it is none."""
        if isinstance(value, dict):
            return value
        if str(value).strip().startswith("nodes="):
            return {"nodes": str(value)}
        given = dict(part.partition("=")[::2] for part in str(value).replace(" ", "").split(","))
        if not {"processors"} <= set(given) <= {"processors", "in", "for"}:
            self.fail(
                f"{value!r}: write it as processors=32,in=3h,for=2h, of a --machine as nodes=n[01-04],in=3h,for=2h",
                param,
                ctx,
            )
        after = 0.0 if given.get("in", "0") in ("0", "now") else seconds_of(given["in"])
        time = seconds_of(given["for"]) if "for" in given else None
        if not given["processors"].isdecimal() or after is None or ("for" in given and not time):
            self.fail(f"{value!r}: give whole processors, and times such as 4h, 30m or 04:00:00", param, ctx)
        return {"processors": int(given["processors"]), "after": after} | ({"time": time} if time else {})


@click.command(short_help="Simulate when a job would start, from today's queue.", name="whatif")
@click.option("--running", "path", required=True, type=click.Path(), help="File with the output of squeue or sacct.")
@click.option("--processors", type=PROCESSORS, help="Processors of the machine; or --machine.")
@where_it_runs
@click.option("--less", type=click.IntRange(0), default=0, help="Processors that are out of order.")
@click.option(
    "--away",
    type=_Away(),
    multiple=True,
    help="Processors to lose: processors=32,in=3h,for=2h, or nodes=n[01-04],in=3h; may be repeated.",
)
@click.option(
    "--job",
    "jobs",
    type=AskedJob(),
    multiple=True,
    help="Job to submit: processors=64,time=4h[,priority=7000]; on nodes also nodes=2,cores=16,memory=64G; repeatable.",
)
@click.option("--policies", default="easy", help="Policies, separated by commas; default: easy.")
@click.option("--history", type=click.Path(), help="Of policy slurm: sacct's past, from which run times are learnt.")
@click.option("--waiting", is_flag=True, help="Of policy slurm: also when those start that wait already.")
@click.option(
    "--arrivals/--no-arrivals",
    default=None,
    help="Of policy slurm: others come meanwhile, as in --history; default: before the bound only.",
)
@click.option("--draws", type=click.IntRange(1), help="Of policy slurm: how often run times are drawn; default: 60.")
@click.option("--bound", type=float, help="Of policy slurm: chance of a start by the bound; default: .95.")
@click.option("--predictor", help="Of policy slurm: whose errors are drawn; default: request.")
@click.option("--seed", type=int, help="Of policy slurm: of the draws; default: 0.")
@click.option("--longest", type=Duration(), help="Time limit of jobs that have none, such as 7d.")
@json_option
def whatif(  # noqa: PLR0913, PLR0917 (options by name)
    path: str,
    processors: int | None,
    machine: str | None,
    changes: str | None,
    placement: str,
    heads: str,
    on_outage: str,
    less: int,
    away: tuple[dict[str, float], ...],
    jobs: tuple[dict[str, float], ...],
    policies: str,
    longest: float | None,
    as_json: bool,
    **of_slurm: Any,
) -> None:
    """Say when a job submitted now would start under some policies, given what runs and waits at the moment.

    Assumes that every job runs as long as it may, and that no other job comes. The queue is the output of squeue or
    sacct, as text or by --json. Jobs wait in the order of their priorities; a job without priority= comes last. Jobs
    that cannot start yet (held, dependent, ...) are left out and counted. No policy knows beforehand that processors go
    away (--away); jobs on them start over. With --machine jobs stand on the nodes that the queue names, and start where
    there is room for what they ask for; squeue --json tells it.

    Policy slurm answers by Slurm's own rules, with run times drawn from those of the past: a median and a bound.

    \b
    Example: squeue --array --format="%i|%T|%C|%l|%M|%V|%S|%Q|%r" > now.txt
             swftools whatif --running now.txt --processors 128 \\
                 --job processors=64,time=4h --policies easy,conservative
             squeue --json > now.json; scontrol show node > nodes.txt
             swftools whatif --running now.json --machine nodes.txt \\
                 --job nodes=2,cores=16,memory=64G,time=4h
             swftools whatif --running now.json --machine site.yaml \\
                 --policies slurm --history sacct.txt --waiting \\
                 --job nodes=2,gpus=1,account=phys,qos=high,time=4h
    """
    from swftools.formats.slurm.queue_snapshot import read_squeue
    from swftools.parameters.as_text import read_entries, write_entry

    asked = [write_entry(*entry) for entry in read_entries(policies)]
    if machine is None and is_of_slurm(asked):
        raise click.UsageError(
            "--policies slurm needs to know how Slurm is configured; give --machine, not --processors"
        )
    options = {"placement": placement, "heads": heads, "on_outage": on_outage}
    on = _machine(machine, changes, processors, less, away, options, jobs)
    if is_of_slurm(asked):
        _by_slurm(read_squeue(path, longest=longest, whole=True), on, jobs, asked[0], of_slurm, as_json=as_json)
        return
    check_of_no_slurm(jobs)
    for name, given in of_slurm.items():
        if given not in (None, False):
            raise click.UsageError(f"--{name} is of policy slurm; give --policies slurm")
    if not jobs:
        raise click.UsageError("which job is meant is not said; give --job, such as processors=64,time=4h")
    from swftools.simulator.questions.what_if import free_windows, what_if

    queue = read_squeue(path, longest=longest)
    if machine is not None:
        on["now"] = queue.present
    found = what_if(queue.running, queue.waiting, jobs, policies=asked, **on)
    table = on["machine"].simulated_from_now_on(0.0, queue.present) if machine is not None else None
    size = on["processors"] if table is None else _cores_there(queue.running, table)
    windows = free_windows(queue.running, size)
    if as_json:
        told = {
            "running": len(queue.running),
            "waiting": len(queue.waiting),
            "others": queue.others,
            "suspended": queue.suspended,
            "held": dict(queue.held),
            "later": dict(queue.later),
        }
        if table is not None:
            told |= {"never": found.attrs["left_out"], "assumptions": list(table.told)}
        answers = [
            {name: None if value == math.inf else value for name, value in row.items()}
            for row in found.to_dict("records")
        ]
        print_json({**told, "answers": answers, "free": windows.to_dict("records")})
    else:
        click.echo("\n".join(_lines(queue, found, windows, size, table)))


def _by_slurm(
    queue: QueueSnapshot,
    on: dict[str, Any],
    jobs: tuple[dict[str, Any], ...],
    policy: str,
    of_slurm: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """Answer by Slurm's rules.

    Raises
    ------
    click.UsageError
        Nothing is asked, or an option of other policies is given.
    """
    for name in ("placement", "heads", "on_outage"):
        if on[name] != RUN_OPTIONS[name].usual:
            raise click.UsageError(f"--{name.replace('_', '-')} says what Slurm decides itself; leave it out")
    history, waiting = of_slurm.pop("history"), of_slurm.pop("waiting")
    if not jobs and not waiting:
        raise click.UsageError(
            "nothing is asked; give --job, such as nodes=2,time=4h, or --waiting for those that wait"
        )
    given = {name: value for name, value in of_slurm.items() if value is not None}
    tell_starts(queue, on["machine"], jobs, policy, history, waiting=waiting, as_json=as_json, **given)


def _machine(
    machine: str | None,
    changes: str | None,
    processors: int | None,
    less: int,
    away: tuple[dict[str, Any], ...],
    options: dict[str, str],
    jobs: tuple[dict[str, Any], ...],
) -> dict[str, Any]:
    """Return the machine as ``what_if`` takes it: a pool, or nodes and what is of them.

    Raises
    ------
    click.UsageError
        Options are missing, or do not go together.
    """
    if machine is None:
        if changes:
            raise click.UsageError("--change is of a machine of nodes; give --machine too")
        for name, text in options.items():
            if text != RUN_OPTIONS[name].usual:
                raise click.UsageError(f"--{name.replace('_', '-')} is of a machine of nodes; give --machine too")
        if processors is None:
            raise click.UsageError("the size of the machine is not known; give --processors or --machine")
        if less >= processors:
            raise click.UsageError(f"--less {less} leaves nothing of --processors {processors}")
        if any("nodes" in each for each in away):
            raise click.UsageError("--away nodes= is of a machine of nodes; give --machine too, or processors=32,in=3h")
        check_of_a_pool(jobs)
        return {"processors": processors - less, "away": away}
    counted = [each for each in away if "nodes" not in each]
    for name, given in (("processors", processors), ("less", less), ("away", counted)):
        if given:
            instead = "give one" if name == "processors" else "give --away nodes=n[01-04],in=3h,for=2h"
            raise click.UsageError(f"--{name} counts processors of a pool, and --machine names nodes; {instead}")
    from pipelines.logs.machine import changed_machine

    made = [*json.loads(changes or "[]"), *(f"away: {each['nodes']}" for each in away)]
    return {"machine": changed_machine(machine, json.dumps(made)), **options}


def _cores_there(running: pd.DataFrame, table: NodeTable) -> int:
    """Return the cores of all nodes but those that are away now and have no job."""
    from swftools.machines.hostlist import expand_hosts

    lists = running["nodes"].dropna() if "nodes" in running else ()
    used = {name for text in lists for name in expand_hosts(text)}
    is_now = (table.outages.begin <= 0.0) & (table.outages.end > 0.0)
    gone = [node for node in sorted(set(table.outages.node[is_now].tolist())) if table.names[node] not in used]
    return table.processors - int(table.cores[gone].sum())


def _lines(
    queue: QueueSnapshot, found: pd.DataFrame, windows: pd.DataFrame, processors: int, table: NodeTable | None
) -> Iterator[str]:
    """Yield what is printed."""
    what = "processors" if table is None else "cores"
    free = f"{windows['free'].iloc[0]:,} of {processors:,} {what} are free"
    run, wait = (
        f"{len(jobs):,} {one if len(jobs) == 1 else several}"
        for jobs, one, several in ((queue.running, "job runs", "jobs run"), (queue.waiting, "waits", "wait"))
    )
    yield f"{run} and {wait}; {free}"
    yield from _left_out(queue)
    if table is not None:
        yield from _told_of_nodes(found, table)
    yield ""
    where = "" if table is None else f" {'nodes':>6}"
    yield f"{'policy':<24} {'processors':>10}{where} {'for':>12} {'starts in':>12}  behind"
    columns = (found[name] for name in ("policy", "processors", "requested_time", "wait", "behind"))
    nodes = [""] * len(found) if table is None else [f" {many:>6,}" for many in found["nodes"]]
    for policy, width, time, wait, behind, on in zip(*columns, nodes, strict=True):
        begin = "at once" if wait == 0 else "never" if wait == math.inf else clock(wait)
        yield f"{policy[:24]:<24} {width:>10,}{on} {clock(time):>12} {begin:>12}  {behind:,}"
    yield ""
    yield f"free {what}, if running jobs end as requested and no job starts:"
    for time, free_then in windows.head(8).itertuples(index=False, name=None):
        yield f"  {'now' if time == 0 else f'in {clock(time)}':<16} {free_then:>10,}"


def _told_of_nodes(found: pd.DataFrame, table: NodeTable) -> Iterator[str]:
    """Yield who could never run on the machine, and what of it is not simulated."""
    for reason, count in found.attrs["left_out"].items():
        yield from textwrap.wrap(f"left out, could never run here: {count:,}: {reason}", 80, subsequent_indent="  ")
    for text in table.told:
        yield from textwrap.wrap(f"machine: {text}", 80, subsequent_indent="  ")


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
