# SPDX-License-Identifier: BSD-3-Clause
"""The command that says how far an experiment is: status."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.options import data_root
from pipelines.cli.output import json_option, print_json
from pipelines.exit_statuses import FAILED, NOT_FINISHED
from swftools.output.amounts import counted, duration, percent
from swftools.output.shown_text import shown

if TYPE_CHECKING:
    from pipelines.store.runs import StoredRun

_FILES = (".yaml", ".yml")


@click.command(short_help="Say how far an experiment is.")
@click.argument("name", required=False)
@click.option("--only", default="", help="The subset of the experiment that is meant, if NAME is a file.")
@data_root
@json_option
def status(name: str | None, only: str, data_root: str, as_json: bool) -> None:
    """Say how many cells of an experiment are finished, who runs it, and how it ended.

    NAME is that of its data set, or the path of its file; without it all are listed. Comparisons and tables of papers
    that an engine runs are known too. The status is 0 if it is published, 1 if not yet, 30 if its run failed.

    \b
    Example: swftools status load
             swftools status experiments/load.yaml --only quick
    """
    from pipelines.config import work_root
    from pipelines.store.runs import StoredRun
    from swftools.errors import VersionNotFoundError

    work = work_root(data_root)
    edited = ""
    if name is not None and (name.endswith(_FILES) or Path(name).is_file()):
        name, edited = _name_in(name, only, work)
    names = [name] if name is not None else StoredRun.names(work)
    runs = {each: run for each in names if (run := StoredRun.find(work, each))}
    if not runs:
        what = f"no run of {shown(name)}" if name is not None else "no run"
        raise VersionNotFoundError(
            f"there is {what} in {work}: mend --data-root, or begin one: swftools experiment FILE"
        )
    found = [_facts(each, run) for each, run in runs.items()]
    if as_json:
        print_json(found[0] if name is not None else found)
    else:
        for line in [*filter(None, [edited]), *(line for facts in found for line in _lines(facts))]:
            click.echo(line)
    states = {each["state"] for each in found}
    sys.exit(FAILED if "failed" in states else 0 if states == {"published"} else NOT_FINISHED)


def _name_in(file: str, only: str, work: Path) -> tuple[str, str]:
    """Return the data set of an experiment's file, and a line where the file is not what was run."""
    from pipelines.experiments.file import read_experiment
    from pipelines.store.runs import StoredRun

    experiment = read_experiment(file)
    name = f"{experiment.name}-{only}" if only else experiment.name
    run = StoredRun.find(work, name)
    is_same = run is None or run.plan["parameters"].get("experiment") in (None, experiment.text)
    return name, "" if is_same else f"{shown(file)} was edited since: this is about the run before"


def _facts(name: str, run: StoredRun) -> dict[str, Any]:
    """Return how far a run is."""
    done, cells = run.count_cells()
    progress, now = run.progress, time.time()
    came, spent = done - run.plan["before"], now - run.plan["begun"]
    is_running = progress["state"] == "running" and not run.is_gone()
    return {
        "name": name,
        "subject": run.plan["subject"],
        "cells": cells,
        "done": done,
        "failed": progress["failed"],
        "state": "gone" if run.is_gone() else progress["state"],
        "error": progress.get("error"),
        "begun_seconds_ago": now - run.plan["begun"],
        "heard_seconds_ago": now - progress["at"],
        "seconds_left": spent / came * (cells - done) if is_running and came > 0 else None,
        "where": run.plan["cluster"] or "this machine",
        "run_by": f"{run.plan['host']}:{run.plan['process']}",
        "job": {**run.job, "listed": _listed(run.job)} if run.job else None,
    }


def _listed(job: dict[str, Any]) -> str:
    """Return what the batch system says of a job now."""
    from pipelines.tasks.engines.job_commands import CommandError, said_by
    from pipelines.tasks.engines.job_kinds import KINDS

    kind = KINDS[job["kind"]]
    try:
        listed = kind.read(said_by(kind.lists)).get(job["number"])
    except CommandError as error:
        return str(error)
    return f"{kind.lists[0]}: {listed.words if listed else 'not listed any more'}"


def _lines(facts: dict[str, Any]) -> list[str]:
    """Return how far a run is, for people."""
    done, cells = facts["done"], facts["cells"]
    share = percent(done, cells) if cells else "all"
    failed = f"; {facts['failed']} failed" if facts["failed"] else ""
    lines = [f"{shown(facts['subject'])}: {done:,} of {counted(cells, 'cell')} finished, {share}{failed}"]
    ago = f"{duration(round(facts['heard_seconds_ago']))} ago"
    by = f"{shown(facts['run_by'])} on {shown(facts['where'])}"
    begun = f"begun {duration(round(facts['begun_seconds_ago']))} ago by {by}"
    again = "the same command goes on from here"
    left = f"; about {duration(round(facts['seconds_left']))} left" if facts["seconds_left"] is not None else ""
    told = {
        "submitted": f"submitted {ago}, not begun",
        "running": f"{begun}; last heard of {ago}{left}",
        "published": f"published {ago}",
        "failed": f"failed {ago}: {shown(facts['error'] or '')}; {again}",
        "interrupted": f"interrupted {ago}; {again}",
        "gone": f"{begun}; its process is there no more, and did not say why; {again}",
    }
    lines.append(f"  {told[facts['state']]}")
    if facts["job"]:
        lines.append(f"  job {facts['job']['number']}: {shown(facts['job']['listed'])}; its log: {facts['job']['log']}")
    return lines
